"""A source file, plain or gzipped whatever its name, and the digest of its content."""

from __future__ import annotations

import gzip
import hashlib
import zlib
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass
from io import BufferedIOBase
from pathlib import Path
from typing import Final

from converters.errors import BadInput
from converters.surrogates import SurrogateFilter

_GZIP_MAGIC: Final = b"\x1f\x8b"
_UTF8_MARK: Final = b"\xef\xbb\xbf"
_CHUNK_BYTES: Final = 1 << 19
_AHEAD: Final = 16
_FETCH_AGAIN: Final = "fetch it again, or unpack it yourself"


@dataclass(frozen=True)
class SourceFingerprint:
    """Which bytes a source holds.

    Attributes:
        sha256: hex digest of the content, unpacked: the same for a file and its gzip.
        n_bytes: length of the content, unpacked.
        compressed: whether the file is gzipped.
    """

    sha256: str
    n_bytes: int
    compressed: bool


class SourceReader:
    """Reads JSON bytes on behalf of a parser, and hashes what it reads.

    A UTF-8 byte order mark is left out. Unless ``mark_surrogates`` is off, a lone surrogate's escape reads as
    ``\\u0000`` (see ``converters.surrogates``).
    """

    def __init__(
        self,
        path: Path,
        raw: BufferedIOBase,
        stream: BufferedIOBase,
        progress: Callable[[int], None] | None,
        mark_surrogates: bool,
    ) -> None:
        self.path = path
        self.compressed = raw is not stream
        self._raw = raw
        self._stream = stream
        self._progress = progress
        self._digest = hashlib.sha256()
        self._n_bytes = 0
        self._filter = SurrogateFilter() if mark_surrogates else None
        self._ended = False
        # Reading, unpacking and hashing leave the interpreter free: the next pieces are made ready beside the caller.
        self._beside = ThreadPoolExecutor(max_workers=1, thread_name_prefix="read")
        self._ahead = deque(self._beside.submit(self._fetch) for _ in range(_AHEAD))

    @property
    def n_lone_surrogates(self) -> int:
        """Lone surrogates marked so far."""
        return self._filter.n_lone if self._filter else 0

    def read(self, size: int = -1) -> bytes:
        """Some bytes, or all if ``size`` is negative; none only at the end.

        Raises:
            BadInput: the gzip stream is damaged or cut off.
        """
        if size == 0:
            return b""
        pieces = []
        while not self._ended:
            piece = self._piece()
            if piece and size > 0:
                return piece
            pieces.append(piece)
        return b"".join(pieces)

    def fingerprint(self) -> SourceFingerprint:
        """The digest of the whole content: what is not yet read is read now."""
        while not self._ended:
            self._piece()
        return SourceFingerprint(self._digest.hexdigest(), self._n_bytes, self.compressed)

    def close(self) -> None:
        """Wait for the piece under way, and read no more."""
        self._beside.shutdown(wait=True, cancel_futures=True)

    def _fetch(self) -> bytes:
        data = self._stream.read(_CHUNK_BYTES)
        self._digest.update(data)
        return data

    def _piece(self) -> bytes:
        try:
            data = self._ahead.popleft().result()
        except EOFError:
            raise BadInput(self.path, "is a gzip file that is cut off", _FETCH_AGAIN) from None
        except (gzip.BadGzipFile, zlib.error) as error:
            raise BadInput(self.path, f"is a damaged gzip file ({error})", _FETCH_AGAIN) from None
        if data:
            self._ahead.append(self._beside.submit(self._fetch))
        if self._n_bytes == 0:
            self._n_bytes = len(data)
            data = data.removeprefix(_UTF8_MARK)
        else:
            self._n_bytes += len(data)
        self._ended = not data
        if self._progress is not None:
            self._progress(self._raw.tell())
        return self._filter.feed(data, last=self._ended) if self._filter else data


@contextmanager
def open_source(
    path: Path, progress: Callable[[int], None] | None = None, *, mark_surrogates: bool = True
) -> Iterator[SourceReader]:
    """Open a source.

    Args:
        path: plain or gzipped, whatever its name.
        progress: told how many bytes of the file are read.
        mark_surrogates: for a parser that would let lone surrogates pass unseen.

    Raises:
        BadInput: there is no such file, it cannot be read, or it is empty.
    """
    try:
        raw = path.open("rb")
    except OSError as error:
        raise BadInput(path, f"cannot be read ({error.strerror})", "give the path of an existing file") from None
    with raw:
        magic = raw.read(len(_GZIP_MAGIC))
        raw.seek(0)
        if not magic:
            raise BadInput(path, "is empty", "fetch it again")
        if magic != _GZIP_MAGIC:
            with closing(SourceReader(path, raw, raw, progress, mark_surrogates)) as reader:
                yield reader
            return
        with (
            gzip.GzipFile(fileobj=raw) as stream,
            closing(SourceReader(path, raw, stream, progress, mark_surrogates)) as reader,
        ):
            yield reader


def fingerprint(path: Path) -> SourceFingerprint:
    """Which bytes a file holds, unpacked.

    Raises:
        BadInput: it cannot be read, is empty, or is a damaged gzip file.
    """
    with open_source(path, mark_surrogates=False) as reader:
        return reader.fingerprint()
