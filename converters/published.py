"""Published benchmark files: where they are, how large, and their digests. The only home of these facts.

Sources: commits, sizes and digests are those that several independent projects pin for these files. The oracle's digest
was also computed from the real file; the others were not. A digest names the same bytes wherever they come from, so it
decides, and the commit only says where to ask. What nobody has pinned is None, never a guess.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

Host: TypeAlias = Literal["hub", "github"]

_ON: Final[Mapping[Host, str]] = {
    "hub": "of the data set {} on the Hugging Face hub",
    "github": "of the GitHub repository {}",
}


@dataclass(frozen=True)
class Published:
    """One published file.

    Attributes:
        name: the variant, for instance ``longmemeval_s_cleaned``.
        detail: what it is, in a few words.
        host: what kind of place it is in.
        repo: ``owner/name`` of the data set or repository.
        revision: the commit, 40 hex digits.
        file: its path there.
        sha256: hex digest of the content, unpacked; None if not known.
        n_bytes: length of the content, unpacked; None if not known.
        licence: as its publisher names it.
    """

    name: str
    detail: str
    host: Host
    repo: str
    revision: str
    file: str
    sha256: str | None
    n_bytes: int | None
    licence: str

    @property
    def label(self) -> str:
        """Where a person gets it."""
        return f"{self.file} {_ON[self.host].format(self.repo)}"


def _cleaned(name: str, detail: str, sha256: str, n_bytes: int) -> Published:
    revision = "98d7416c24c778c2fee6e6f3006e7a073259d48f"
    return Published(
        name, detail, "hub", "xiaowu0162/longmemeval-cleaned", revision, f"{name}.json", sha256, n_bytes, "MIT"
    )


def _original(name: str, detail: str, file: str, sha256: str, n_bytes: int) -> Published:
    revision = "2ec2a557f339b6c0369619b1ed5793734cc87533"
    return Published(name, detail, "hub", "xiaowu0162/longmemeval", revision, file, sha256, n_bytes, "MIT")


_ALL: Final = (
    _cleaned(
        "longmemeval_oracle",
        "the published oracle file",
        "821a2034d219ab45846873dd14c14f12cfe7776e73527a483f9dac095d38620c",
        15_388_478,
    ),
    _cleaned(
        "longmemeval_s_cleaned",
        "the published S file, cleaned",
        "d6f21ea9d60a0d56f34a05b609c79c88a451d2ae03597821ea3d5a9678c3a442",
        277_383_467,
    ),
    _cleaned(
        "longmemeval_m_cleaned",
        "the published M file, cleaned",
        "9d79e5524794a2e6900a3aa9cb7d9152c5a3e8319c9a87c25494ba1eacee495f",
        2_737_100_077,
    ),
    _original(
        "longmemeval_s_original",
        "the published S file before cleaning",
        "longmemeval_s",
        "08d8dad4be43ee2049a22ff5674eb86725d0ce5ff434cde2627e5e8e7e117894",
        278_025_796,
    ),
    _original(
        "longmemeval_m_original",
        "the published M file before cleaning",
        "longmemeval_m",
        "fb5413e3b077c62927daab794836991a2fcfa61ceacab57dc679fb02daaff2d9",
        2_745_274_681,
    ),
    # The hub has copies of this file, none of them by its authors.
    Published(
        "locomo10",
        "the published LoCoMo file",
        "github",
        "snap-research/locomo",
        "3eb6f2c585f5e1699204e3c3bdf7adc5c28cb376",
        "data/locomo10.json",
        "79fa87e90f04081343b8c8debecb80a9a6842b76a7aa537dc9fdf651ea698ff4",
        2_805_274,
        "CC BY-NC 4.0",
    ),
)
PUBLISHED: Final[Mapping[str, Published]] = {one.name: one for one in _ALL}


def by_digest(sha256: str) -> Published | None:
    """The published file whose content, unpacked, has this digest."""
    return next((one for one in PUBLISHED.values() if one.sha256 == sha256), None)
