"""The hub client: the part of ``huggingface_hub`` that a resumable download needs.

``hf_hub_download`` is not it: in 2.4 it begins anew after a process that was stopped, and it fetches a list for its
user-agent header that it keeps in the home folder. ``http_get`` beneath it goes on from any offset, tries again where a
connection breaks, and sends the headers that it is given and no others. Import this when something is fetched.
"""

from __future__ import annotations

import os
import shutil
from logging import CRITICAL
from pathlib import Path
from typing import IO, Any, Final, cast

import httpx2
from huggingface_hub import get_session, hf_hub_url
from huggingface_hub.errors import HfHubHTTPError, OfflineModeIsEnabled
from huggingface_hub.file_download import http_get
from huggingface_hub.utils import logging

from converters.errors import BadInput
from converters.published import Published

_OFFLINE: Final = "HF_HUB_OFFLINE"
_TRUE: Final = {"1", "ON", "YES", "TRUE"}
_RAW: Final = "https://raw.githubusercontent.com"
_SECONDS: Final = 10.0
# Lengths and offsets are those of the file, not of something packed on the way.
_HEADERS: Final = {"Accept-Encoding": "identity"}


class Broken(Exception):  # noqa: N818 - named for what it is
    """A download that did not come to its end, in a few words for a reader."""


def address(published: Published, endpoint: str | None) -> str:
    """Where a file is; ``endpoint`` is another hub than the public one, for files of the hub."""
    if published.host == "github":
        return f"{_RAW}/{published.repo}/{published.revision}/{published.file}"
    base = endpoint.rstrip("/") if endpoint else None
    return hf_hub_url(published.repo, published.file, repo_type="dataset", revision=published.revision, endpoint=base)


def receive(published: Published, file: IO[bytes], have: int, endpoint: str | None, progress: Any) -> None:
    """Append to an open file what follows after its first ``have`` bytes.

    Args:
        published: which file.
        file: open for appending, ``have`` bytes long.
        have: how much of it is there.
        endpoint: see ``address``.
        progress: told what is under way, bytes done and bytes in all.

    Raises:
        Broken: no connection, an HTTP error, or the server has another file.
        BadInput: there is no room for it.
        OSError: it cannot be written.
    """
    if os.environ.get(_OFFLINE, "").upper() in _TRUE:
        raise Broken(f"{_OFFLINE} is set")
    said = logging.get_verbosity()
    # Its warnings about attempts that follow are no news to a reader; the last one's failure is told below.
    logging.set_verbosity(CRITICAL)
    try:
        url = address(published, endpoint)
        size = _examined(url, published)
        _room(Path(file.name), size, have)
        bar = cast(Any, _bar(progress))
        http_get(url, cast(Any, file), resume_size=have, headers=_HEADERS, expected_size=size, tqdm_class=bar)
    except OfflineModeIsEnabled:
        raise Broken(f"{_OFFLINE} is set") from None
    except (HfHubHTTPError, httpx2.HTTPStatusError) as error:
        raise Broken(f"HTTP {error.response.status_code} from {error.response.url.host}") from None
    except httpx2.TransportError as error:
        raise Broken(f"no connection to {httpx2.URL(url).host}: {str(error) or type(error).__name__}") from None
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        raise Broken(str(error)) from None
    except OSError as error:
        if error.errno is not None:
            raise
        raise Broken("the server sent another number of bytes than it said") from None
    finally:
        logging.set_verbosity(said)


def _examined(url: str, published: Published) -> int | None:
    """The file's length; refuses another file before a byte of it is sent.

    Wire facts, from the hub client's ``get_hf_file_metadata``: a large file answers HEAD with a redirect whose
    X-Linked-Size is its length and whose X-Linked-Etag is its sha256; other files answer with Content-Length.
    """
    response = get_session().head(url, headers=_HEADERS, follow_redirects=False, timeout=_SECONDS)
    if not response.has_redirect_location:
        response.raise_for_status()
    linked = response.headers.get("X-Linked-Etag", "").removeprefix("W/").strip('"')
    if len(linked) == 64 and published.sha256 not in (None, linked):
        raise Broken(f"the server has another file there: sha256 {linked}, not {published.sha256}")
    of_the_file = not response.has_redirect_location and "Content-Encoding" not in response.headers
    length = response.headers.get("X-Linked-Size") or (response.headers.get("Content-Length") if of_the_file else None)
    if length is None:
        return published.n_bytes
    if published.n_bytes not in (None, int(length)):
        raise Broken(f"the server has another file there: {int(length):,} bytes, not {published.n_bytes:,}")
    return int(length)


def _room(part: Path, size: int | None, have: int) -> None:
    free = shutil.disk_usage(part.parent).free
    if size is not None and size - have > free:
        problem = f"has {free:,} bytes free, and {size - have:,} are to come"
        raise BadInput(part.parent, problem, "free some space, or choose another place")


def _bar(progress: Any) -> type:
    """What the hub client takes for a tqdm: tells ``progress`` instead of drawing."""

    class Bar:
        def __init__(self, *, total: int | None = None, initial: int = 0, **_: object) -> None:
            self._done, self._total = initial, total or 0

        def update(self, n: int) -> None:
            self._done += n
            progress("fetching", self._done, max(self._total, self._done))

        def __enter__(self) -> Bar:
            return self

        def __exit__(self, *_: object) -> None:
            return None

    return Bar
