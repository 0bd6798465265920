"""Requests answered by mem0's library in this process: a folder a container, a few of them open at a time."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import shutil
import sqlite3
import threading
import time
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote

from providers.local.embedding import embed, model_name
from providers.local.store import DIMENSIONS
from providers.remote.errors import CallFailed, Refused, Stop, Unavailable, UnknownOutcome, Unreachable, one_line
from providers.remote.pace import Pace
from providers.remote.wire import Read, Reply, Request, T

_OPEN: Final = 16
_COLLECTION: Final = "memories"
_LOCKED: Final = "already accessed by another instance"
_MOST: Final = 10_000_000
_EMPTY: Final = {"results": [], "count": 0}
_IMPORTING: Final = threading.Lock()


@dataclass
class _Slot:
    """A container in use: its memory is opened by the first who needs it, and used by one thread at a time."""

    folder: Path
    lock: threading.Lock = field(default_factory=threading.Lock)
    users: int = 0
    memory: Any = None

    def close(self) -> None:
        if self.memory is not None:
            self.memory.vector_store.client.close()
            self.memory.close()
            self.memory = None


@dataclass
class LibraryWire:
    """See ``providers.remote.wire.Wire``. Safe to use from several threads; close it when done.

    A container's folder is locked while it is open: another process that wants it gets ``Unreachable``.

    Attributes:
        folder: where the containers' folders are.
        at_once: calls at a time.
    """

    folder: Path
    at_once: int = 2

    def __post_init__(self) -> None:
        self._pace = Pace(at_once=self.at_once)
        self._lock = threading.Lock()
        self._slots: OrderedDict[str, _Slot] = OrderedDict()

    def close(self) -> None:
        """Close all containers."""
        with self._lock:
            while self._slots:
                self._slots.popitem()[1].close()

    def send(self, request: Request, read: Read[T]) -> T:
        """See ``providers.remote.wire.Wire``; nothing is tried twice."""
        try:
            with self._pace.turn():
                began = time.perf_counter()
                body = json.loads(json.dumps(self._answer(request), default=str))
        except (CallFailed, Stop):
            raise
        except (OSError, sqlite3.Error) as error:
            raise Stop(f"mem0_oss: {self.folder}: {one_line(str(error))}") from None
        except Exception as error:
            raise self._failure(request, error) from None
        return read(Reply(200, body, (time.perf_counter() - began) * 1000))

    def _failure(self, request: Request, error: Exception) -> Exception:
        said = f"mem0_oss: {request.method} {request.path}: {type(error).__name__}: {error}"
        if _LOCKED in str(error):
            return Unreachable(f"mem0_oss: a folder in {self.folder} is open in another process; wait until it ends")
        if isinstance(error, ValueError):
            return Refused(said)
        return Unavailable(said) if request.repeatable else UnknownOutcome(said)

    def _answer(self, request: Request) -> Any:
        if request.path == "/health":
            self.folder.mkdir(parents=True, exist_ok=True)
            return {"mem0ai": version("mem0ai"), "qdrant-client": version("qdrant-client"), "model": model_name()}
        user = _user(request)
        if (request.method, request.path) == ("DELETE", "/memories"):
            return self._remove(user)
        with self._memory(user, make=request.purpose == "ingest") as memory:
            return _EMPTY if memory is None else _called(memory, request, user)

    def _remove(self, user: str) -> Any:
        with self._slot(user) as slot:
            if slot.folder.exists():
                # Opened even if it is not, because that takes the lock.
                self._opened(slot)
                slot.close()
                # Gone at once, also if the removal is interrupted.
                gone = slot.folder.with_suffix(".gone")
                shutil.rmtree(gone, ignore_errors=True)
                slot.folder.rename(gone)
                shutil.rmtree(gone)
        return {}

    @contextmanager
    def _memory(self, user: str, *, make: bool = False) -> Iterator[Any]:
        """A container's memory; None if there is none and it is not to be made."""
        with self._slot(user) as slot:
            yield self._opened(slot) if make or slot.folder.exists() else None

    @contextmanager
    def _slot(self, user: str) -> Iterator[_Slot]:
        with self._lock:
            # A container's name is no file name.
            folder = self.folder / hashlib.sha256(user.encode("utf-8", "replace")).hexdigest()[:32]
            slot = self._slots.setdefault(user, _Slot(folder))
            self._slots.move_to_end(user)
            slot.users += 1
        try:
            with slot.lock:
                yield slot
        finally:
            with self._lock:
                slot.users -= 1
                idle = [name for name, one in self._slots.items() if not one.users]
                for name in idle[: max(len(self._slots) - _OPEN, 0)]:
                    self._slots.pop(name).close()

    def _opened(self, slot: _Slot) -> Any:
        if slot.memory is None:
            slot.memory = _open(_library(self.folder), slot.folder)
        return slot.memory


def _user(request: Request) -> str:
    told: Any = request.body or request.params
    return str(told["filters"]["user_id"] if "filters" in told else told["user_id"])


def _called(memory: Any, request: Request, user: str) -> Any:
    match (request.method, request.path):
        case ("POST", "/memories"):
            return memory.add(**request.body)
        case ("POST", "/search"):
            return memory.search(**request.body)
        case ("GET", "/memories"):
            return memory.get_all(filters={"user_id": user}, top_k=_MOST)
        case ("GET", "/count"):
            return {"count": memory.vector_store.client.count(_COLLECTION).count}
    return memory.delete(unquote(request.path.removeprefix("/memories/")))


class _Embedder:
    """What the library expects of an embedder."""

    class config:  # noqa: N801
        embedding_dims = DIMENSIONS

    def embed(self, text: str, memory_action: str | None = None) -> Sequence[float]:
        vector: list[float] = embed([text])[0].tolist()
        return vector

    def embed_batch(self, texts: Sequence[str], memory_action: str | None = None) -> Sequence[Sequence[float]]:
        vectors: list[list[float]] = embed(texts).tolist()
        return vectors


def _library(folder: Path) -> Any:
    """The class ``Memory``, imported such that nothing is sent, fetched, or written into a person's home."""
    with _IMPORTING:
        os.environ["MEM0_TELEMETRY"] = "False"
        os.environ.setdefault("MEM0_DIR", str(folder / "settings"))
        memory = import_module("mem0").Memory
        logging.getLogger("mem0").setLevel(logging.ERROR)
        # Where spaCy is installed, it would download a model, and change what is found.
        models: Any = import_module("mem0.utils.spacy_models")
        models._load_failed_full = models._load_failed_lemma = True
    return memory


def _open(library: Any, folder: Path) -> Any:
    unused = {"provider": "openai", "config": {"api_key": "unused"}}
    store = {
        "path": str(folder),
        "on_disk": True,
        "collection_name": _COLLECTION,
        "embedding_model_dims": DIMENSIONS,
    }
    config = {"vector_store": {"provider": "qdrant", "config": store}, "llm": unused, "embedder": unused}
    # A history of changes would be kept beside the folder, and nothing changes.
    memory = library.from_config({**config, "history_db_path": ":memory:"})
    memory.embedding_model = _Embedder()
    # Where fastembed is installed, it would download a model, and change what is found.
    memory.vector_store._bm25_encoder = False
    return memory
