"""All adapters, each with the fake of its service; mem0's library needs none."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import stamina

from fakes.connect import FAST
from fakes.mem0 import FakeMem0
from fakes.mem0_server import FakeMem0Server
from fakes.server import Fake
from fakes.supermemory import FakeSupermemory
from fakes.synap import FakeSynap
from fakes.zengram import FakeZengram
from fakes.zep import FakeZep
from fakes.zep_v3 import FakeZepV3
from providers import mem0_oss
from providers.registry import PROVIDERS
from providers.testing.stage import Subject


class Library:
    """mem0's library where a fake is expected."""

    url = mem0_oss.ACCESS.base_url
    key = ""
    texts = frozenset({"content", "query"})
    stored_twice = 0


Server = Fake | Library


@dataclass(frozen=True)
class Service:
    """A provider with the settings of a store, and its server.

    Attributes:
        name: of the test.
        provider: in the registry.
        fake: makes its server; None for what runs in this process.
        ingest: settings.
    """

    name: str
    provider: str
    fake: Callable[[], Fake] | None
    ingest: Mapping[str, Any] = field(default_factory=dict)

    @contextmanager
    def served(self, folder: Path) -> Iterator[Server]:
        """Its server, while it runs; a library keeps what it stores in ``folder``."""
        if self.fake is not None:
            with self.fake() as server:
                yield server
            return
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv(mem0_oss.FOLDER_VARIABLE, str(folder / "library"))
            yield Library()

    def subject(self, server: Server) -> Subject:
        """For the kit."""
        entry = PROVIDERS[self.provider]
        return Subject(entry, server.url, server.key, server.texts, self.ingest, manners=FAST)


EVERYONE = (
    Service("zengram", "zengram", FakeZengram),
    Service("mem0", "mem0", FakeMem0, {"infer": True}),
    Service("mem0-as-it-is", "mem0", FakeMem0, {"infer": False}),
    Service("mem0_server", "mem0_server", FakeMem0Server, {"infer": True}),
    Service("mem0_server-as-it-is", "mem0_server", FakeMem0Server, {"infer": False}),
    Service("zep", "zep", FakeZep),
    Service("zep-episodes", "zep", FakeZep, {"mode": "episodes"}),
    Service("zep-v3", "zep", FakeZepV3, {"api": "v3"}),
    Service("supermemory", "supermemory", FakeSupermemory),
    Service("supermemory-v4", "supermemory", FakeSupermemory, {"api": "v4"}),
    Service("synap", "synap", FakeSynap),
    Service("mem0_oss", "mem0_oss", None),
)


@contextmanager
def at_once(tries: int) -> Iterator[None]:
    """Pauses before another try take no time, and there are at most so many tries, instead of a deadline."""
    with stamina.set_testing(True, attempts=tries, cap=True):
        yield


everyone = pytest.mark.parametrize("one", EVERYONE, ids=lambda one: one.name)
