"""Ids in line formats whose columns are divided by white space."""

from __future__ import annotations

from typing import Final
from urllib.parse import quote, unquote

# Marks that neither divide a column nor begin a comment or a quotation in any reader of these formats.
_KEPT: Final = ":/@+,="


def encode_id(text: str) -> str:
    """Percent-encode (RFC 3986) all but ASCII letters, digits and ``_.-~:/@+,=``: no white space, no quotation mark.

    Ids of LongMemEval and session keys come out as they are. ``decode_id`` is the inverse. ``text`` is not empty.
    """
    return quote(text, safe=_KEPT)


def decode_id(text: str) -> str:
    """The inverse of ``encode_id``; what is no percent-encoding stays as it is.

    Raises:
        UnicodeDecodeError: what is encoded is not UTF-8.
    """
    return unquote(text, errors="strict")
