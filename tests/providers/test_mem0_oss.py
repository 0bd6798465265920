"""mem0's library, for real: in this process, in a folder, without a network."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from fakes.connect import FAST, stored

from converters.errors import BadInput
from providers import mem0_oss
from providers.mem0_oss import wire as wires
from providers.mem0_oss.wire import LibraryWire
from providers.registry import PROVIDERS
from providers.remote.access import Access
from providers.remote.errors import Refused, Stop, UnknownOutcome, Unreachable
from providers.remote.service import Document, Message, RemoteService, Scope

HERE = Scope("c0ffee")
ENTRY = PROVIDERS["mem0_oss"]
Open = Callable[..., RemoteService]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(mem0_oss.FOLDER_VARIABLE, str(tmp_path / "mem0"))
    return tmp_path / "mem0"


@pytest.fixture
def opened(folder: Path) -> Iterator[Open]:
    """Opens the adapter, as often as wanted; all are closed at the end."""
    with ExitStack() as stack:

        def connect(**retrieval: Any) -> RemoteService:
            ingest = ENTRY.ingest_settings({})
            wire: Any = ENTRY.open_wire(ingest, Access(ENTRY.access.base_url, "", FAST))
            stack.callback(wire.close)
            return ENTRY.service(ingest, ENTRY.retrieval_settings(retrieval), wire)

        yield connect


@pytest.fixture
def service(opened: Open) -> RemoteService:
    return opened()


def document(name: str, *texts: str, day: int = 20) -> Document:
    messages = [Message(("user", "assistant")[index % 2], text) for index, text in enumerate(texts)]
    return Document(name, messages, datetime(2023, 5, day, 2, 21, tzinfo=UTC))


def test_what_is_stored_is_found_under_our_id(service: RemoteService) -> None:
    sent = [document("s1", "I adopted a beagle called Bo.", "How lovely."), document("s2", "The kettle is broken.")]
    receipts = stored(service, HERE, sent)
    assert [(one.status, len(one.provider_ids)) for one in receipts] == [("done", 2), ("done", 1)]
    hits = service.search(HERE, "What is my beagle called?", limit=2, as_of=None)
    assert (hits[0].documents, hits[0].content) == (("s1",), "I adopted a beagle called Bo.")
    assert hits[0].sources == receipts[0].provider_ids[:1]
    assert hits[0].date == datetime(2023, 5, 20, 2, 21, tzinfo=UTC)
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True, key=float)  # type: ignore[arg-type]
    assert (len(hits), service.count(HERE)) == (2, 3)


def test_it_is_there_after_the_folder_was_closed(opened: Open) -> None:
    first = opened()
    stored(first, HERE, [document("s1", "a beagle")])
    first.wire.close()  # type: ignore[attr-defined]
    second = opened()
    assert second.count(HERE) == 1
    assert [hit.documents for hit in second.search(HERE, "beagle", limit=5, as_of=None)] == [("s1",)]


def test_containers_do_not_see_each_other(service: RemoteService) -> None:
    other = Scope("decaf")
    stored(service, HERE, [document("s1", "a beagle")])
    stored(service, other, [document("s2", "a beagle")])
    assert [hit.documents for hit in service.search(other, "beagle", limit=5, as_of=None)] == [("s2",)]
    service.clear(HERE)
    assert (service.count(HERE), service.count(other)) == (0, 1)
    stored(service, HERE, [document("s3", "a beagle")])
    assert [hit.documents for hit in service.search(HERE, "beagle", limit=5, as_of=None)] == [("s3",)]


def test_a_container_that_is_not_there_is_empty_and_not_made(service: RemoteService, folder: Path) -> None:
    service.probe()
    assert service.prepare(HERE.name) == {}
    assert (service.count(HERE), service.search(HERE, "beagle", limit=5, as_of=None)) == (0, [])
    service.clear(HERE)
    assert not list(folder.iterdir())


def test_no_message_is_lost_whoever_said_it(service: RemoteService) -> None:
    said = [
        Message("system", "You are terse."),
        Message("user", "a\u2028b"),
        Message("tool", "42"),
        Message("user", " "),
    ]
    (receipt,) = stored(service, HERE, [Document("s1", said)])
    for text in ("You are terse.", "a\u2028b", "42"):
        hit = service.search(HERE, text, limit=10, as_of=None)[0]
        assert (hit.content, hit.date) == (text, None)
    assert len(receipt.provider_ids) == service.count(HERE) == 3


def test_the_library_never_finds_what_is_less_similar_than_0(service: RemoteService) -> None:
    stored(service, HERE, [document("s1", "a\u2028b", "terse")])
    assert [hit.content for hit in service.search(HERE, "terse", limit=10, as_of=None)] == ["terse"]


def test_a_session_without_text_is_skipped(service: RemoteService) -> None:
    blank = document("s1", "", " \n")
    assert [one.status for one in stored(service, HERE, [blank])] == ["skipped"]
    assert [one.status for one in service.find(HERE, [blank])] == ["skipped"]
    assert service.count(HERE) == 0


def test_a_memory_without_any_token_does_no_harm(service: RemoteService) -> None:
    stored(service, HERE, [document("s1", "\u200b"), document("s2", "a beagle")])
    assert service.search(HERE, "beagle", limit=5, as_of=None)[0].documents == ("s2",)


def test_the_threshold_is_a_setting(opened: Open, folder: Path) -> None:
    service = opened(threshold=0.9)
    stored(service, HERE, [document("s1", "a beagle called Bo"), document("s2", "tax law of 1911")])
    assert [hit.documents for hit in service.search(HERE, "a beagle called Bo", limit=5, as_of=None)] == [("s1",)]
    assert ENTRY.retrieval_settings({}).model_dump() == {"threshold": 0.0}


def test_find_names_whole_sessions_and_removes_halves(service: RemoteService, monkeypatch: pytest.MonkeyPatch) -> None:
    whole, half, absent = document("s1", "a", "b"), document("s2", "c", "d", "e"), document("s3", "f")
    stored(service, HERE, [whole])
    embed, calls = wires.embed, []

    def failing(texts: Sequence[str]) -> Any:
        calls.append(texts)
        if len(calls) > 2:
            raise RuntimeError("killed")
        return embed(texts)

    monkeypatch.setattr(wires, "embed", failing)
    with pytest.raises(UnknownOutcome, match="killed"):
        service.ingest(HERE, [half])
    monkeypatch.undo()
    assert service.count(HERE) == 4
    assert [one.document for one in service.find(HERE, [whole, half, absent])] == ["s1"]
    assert service.count(HERE) == 2
    assert [one.status for one in service.ingest(HERE, [half])] == ["done"]
    assert {one.document for one in service.find(HERE, [whole, half, absent])} == {"s1", "s2"}


def test_a_blank_query_is_refused(service: RemoteService) -> None:
    stored(service, HERE, [document("s1", "a beagle")])
    with pytest.raises(Refused, match="cannot be empty"):
        service.search(HERE, " ", limit=5, as_of=None)


def test_more_containers_than_are_open_at_a_time(
    service: RemoteService, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wires, "_OPEN", 2)
    scopes = [Scope(f"c{index}") for index in range(4)]
    for scope in scopes:
        stored(service, scope, [document("s1", "a beagle")])
    wire: Any = service.wire  # type: ignore[attr-defined]
    assert isinstance(wire, LibraryWire)
    assert sum(slot.memory is not None for slot in wire._slots.values()) == 2
    assert [service.count(scope) for scope in scopes] == [1] * 4
    assert len([one for one in folder.iterdir() if one.name != "settings"]) == 4


# The library leaves its lock file open where it does not get the lock.
@pytest.mark.filterwarnings("ignore:.*lock:pytest.PytestUnraisableExceptionWarning")
def test_a_folder_that_is_open_elsewhere_ends_it(opened: Open) -> None:
    first, second = opened(), opened()
    stored(first, HERE, [document("s1", "a beagle")])
    with pytest.raises(Unreachable, match="open in another process"):
        second.search(HERE, "beagle", limit=5, as_of=None)


def test_a_folder_that_cannot_be_written_ends_it(service: RemoteService, folder: Path) -> None:
    folder.write_text("in the way")
    with pytest.raises(Stop, match=r"mem0_oss: .*in the way|mem0_oss: .*exists"):
        service.probe()


def test_without_the_library_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    settings = ENTRY.ingest_settings({})
    monkeypatch.setattr(mem0_oss, "find_spec", lambda _: None)
    with pytest.raises(BadInput, match=r'pip install "eval-assets\[mem0\]"'):
        ENTRY.open_wire(settings, Access("data/mem0", "", FAST))
    with pytest.raises(ValueError, match=r'pip install "eval-assets\[mem0\]"'):
        ENTRY.ingest_settings({})


def test_an_address_is_refused() -> None:
    with pytest.raises(BadInput, match="leave it out"):
        ENTRY.open_wire(ENTRY.ingest_settings({}), Access("http://127.0.0.1:1", "", FAST))


def test_where_the_folder_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    ingest = ENTRY.ingest_settings({})
    monkeypatch.setenv(mem0_oss.FOLDER_VARIABLE, "/a/b")
    wire: Any = ENTRY.open_wire(ingest, Access("/given", "", FAST))
    assert wire.folder == Path("/a/b")
    monkeypatch.delenv(mem0_oss.FOLDER_VARIABLE)
    wire = ENTRY.open_wire(ingest, Access("/given", "", FAST))
    assert wire.folder == Path("/given")


def test_the_library_tells_nobody_and_loads_no_models(service: RemoteService) -> None:
    stored(service, HERE, [document("s1", "Bo met Ann in Oslo.")])
    assert service.search(HERE, "Where did Ann meet Bo?", limit=5, as_of=None)
    assert sys.modules["mem0.memory.telemetry"].MEM0_TELEMETRY is False  # type: ignore[attr-defined]
    assert "spacy" not in sys.modules and "fastembed" not in sys.modules


def test_the_library_is_loaded_only_when_it_is_used() -> None:
    code = "import sys; from providers.registry import PROVIDERS; entry = PROVIDERS['mem0_oss']; "
    code += "entry.access; entry.ingest_settings({}); entry.retrieval_settings({}); print('mem0' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
