"""A store and its searches at every service, from the corpus to the report: one project, refreshed once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from fakes.mem0 import FakeMem0
from fakes.mem0_server import FakeMem0Server
from fakes.server import Fake
from fakes.supermemory import FakeSupermemory
from fakes.synap import FakeSynap
from fakes.zengram import FakeZengram
from fakes.zep import FakeZep
from fakes.zep_v3 import FakeZepV3
from remote_projects import Far, Several, several

from providers import mem0_oss


def services() -> dict[str, Far]:
    """By the name of their system; mem0's library is the real one, without a network."""
    synap = FakeSynap()
    synap.excerpts = True
    return {
        "zengram": Far("zengram", FakeZengram()),
        "mem0": Far("mem0", FakeMem0()),
        "mem0_server": Far("mem0_server", FakeMem0Server()),
        "mem0_oss": Far("mem0_oss"),
        "supermemory": Far("supermemory", FakeSupermemory()),
        "synap": Far("synap", synap),
        "zep": Far("zep", FakeZep(), {"api": "v4", "mode": "messages"}, {"scope": "edges"}),
        "zep_v3": Far("zep", FakeZepV3(), {"api": "v3", "mode": "messages"}, {"scope": "episodes"}),
    }


NAMES = ("zengram", "mem0", "mem0_server", "mem0_oss", "supermemory", "synap", "zep", "zep_v3")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Several]:
    """For reading alone."""
    root = tmp_path_factory.mktemp("services")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(mem0_oss.FOLDER_VARIABLE, str(root / "library"))
        with several(root / "project", services()) as found:
            assert tuple(found.far) == NAMES
            yield found


@pytest.mark.parametrize("name", NAMES)
def test_from_the_corpus_to_the_report(made: Several, name: str) -> None:
    assert made.failures(name) == []
    results = made.table(f"{name}/search_results")
    assert results["status"].to_list() == ["ok"] * 3
    hits = results.row(0, named=True)["hits"]
    # What Zep makes of a text stands in no order.
    first = next(hit for hit in hits if "I adopted a beagle" in hit["content"]) if "zep" in name else hits[0]
    assert first["session_keys"] == [made.table("corpus/haystacks")["session_key"][0]]
    assert all(hit["session_keys"] for hit in hits)
    assert made.table(f"stores/{name}", "receipts")["status"].unique().to_list() == ["done"]
    assert made.table(f"{name}/report").height


def test_nothing_is_left_to_do(made: Several) -> None:
    assert not made.done.failures
    assert not made.box.plan().work


def test_a_hit_names_its_turns_where_the_service_keeps_them(made: Several) -> None:
    firsts = {name: made.table(f"{name}/search_results").row(0, named=True)["hits"][0] for name in NAMES[:3]}
    assert {name: hit["turns"] for name, hit in firsts.items()} == {
        "zengram": [0, 1],
        "mem0": None,
        "mem0_server": None,
    }


def test_a_document_is_told_by_the_ids_of_its_two_memories(made: Several) -> None:
    for name in ("synap", "mem0_oss"):
        receipts = made.table(f"stores/{name}", "receipts")
        assert receipts["provider_ids"].list.len().unique().to_list() == [2], name


def test_as_much_is_asked_and_stored_as_there_is(made: Several) -> None:
    asked: Mapping[str, Any] = {
        "zengram": {"/memory/search": 3},
        "mem0": {"/search/": 3, "/add/": 7},
        "mem0_server": {"/search": 3, "POST /memories": 7},
        "supermemory": {"/search": 3},
        "synap": {"/fetch": 3},
    }
    for name, counts in asked.items():
        fake = server(made, name)
        assert {path: fake.count(path) for path in counts} == counts, name
    supermemory, synap = server(made, "supermemory"), server(made, "synap")
    assert isinstance(supermemory, FakeSupermemory) and isinstance(synap, FakeSynap)
    assert supermemory.stored_twice == supermemory.unchanged == 0
    assert synap.undated == synap.stored_twice == 0


@pytest.mark.parametrize(("name", "searches"), [("zep", 6), ("zep_v3", 3)])
def test_zep_keeps_a_user_a_question_and_searches_each_scope(made: Several, name: str, searches: int) -> None:
    fake = server(made, name)
    assert isinstance(fake, FakeZep | FakeZepV3)
    assert len(fake.users) == 3 and fake.stored_twice == 0
    asked = [one for one in fake.seen if "search" in one.path or ("/episodes/list" in one.path and one.body)]
    assert len(asked) == searches


def server(made: Several, name: str) -> Fake:
    fake = made.far[name].fake
    assert fake is not None
    return fake
