"""The adapter of Zep against servers that do what the contracts of v4 and v3 say: clearing, searching, refusing."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from fakes.connect import connected, prepared, stored
from fakes.faults import Faults
from fakes.server import Answer
from fakes.zep import FakeZep
from fakes.zep_graph import ZepGraph
from pydantic import ValidationError
from zep_kit import MAKING, NAME, V3, document, either, fake, long_document, said_in, settled  # noqa: F401

from providers.registry import PROVIDERS
from providers.remote.errors import BadKey, Unavailable, UnknownOutcome, Unreadable
from providers.remote.service import Scope
from providers.zep.texts import asked


def test_clearing_waits_until_the_user_is_gone(either: tuple[ZepGraph, dict[str, Any]]) -> None:
    server, ingest = either
    with connected(server, "zep", ingest=ingest) as service:
        scope, other = prepared(service, NAME), prepared(service, "other")
        stored(service, scope, [document("s1", "a beagle")])
        stored(service, other, [document("s1", "stays")])
        service.clear(scope)
        assert service.count(scope) == 0 and service.count(other) == 1
        again = prepared(service, NAME)
        assert service.count(again) == 0
        assert [one.status for one in stored(service, again, [document("s1", "a beagle")])] == ["done"]
        service.clear(again)
        service.clear(again)


def test_threads_are_counted_where_the_list_does_not_say_how_many() -> None:
    with FakeZep(says_total=False) as fake, connected(fake, "zep") as service:
        scope = prepared(service, NAME)
        said_in(fake, scope, {f"s{index}": "cat" for index in range(120)})
        assert service.count(scope) == 120


def test_size_of_a_page_is_in_the_query_string_and_bounded(fake: FakeZep) -> None:
    with connected(fake, "zep", retrieval={"reranker": "mmr", "mmr_lambda": 0.5}) as service:
        scope = prepared(service, NAME)
        said_in(fake, scope, {f"s{index}": f"cat {index}" for index in range(60)})
        assert len(service.search(scope, "cat", limit=1000, as_of=None)) == 50
        assert len(service.search(scope, "cat", limit=3, as_of=None)) == 3
    searches = [one for one in fake.seen if "/search/" in one.path]
    assert [one.params for one in searches] == [{"page_size": "50"}, {"page_size": "3"}]
    assert searches[0].body == {"query": "cat", "reranker": "mmr", "mmr_lambda": 0.5}


def test_a_long_question_is_cut_between_words_and_said(
    either: tuple[ZepGraph, dict[str, Any]], caplog: pytest.LogCaptureFixture
) -> None:
    server, ingest = either
    question = "which beagle " * 50
    with connected(server, "zep", ingest=ingest) as service, caplog.at_level(logging.WARNING, "providers.zep.texts"):
        service.search(prepared(service, NAME), question, limit=5, as_of=None)
    (body,) = [one.body for one in server.seen if "search" in one.path]
    assert len(body["query"]) <= 400 and question.startswith(body["query"] + " ")
    assert "one of 650 was cut" in caplog.text and "beagle" not in caplog.text


@pytest.mark.parametrize("length", [399, 400, 401, 1000])
def test_a_question_of_one_word_is_cut_anyway(length: int) -> None:
    assert asked("x" * length) == "x" * min(length, 400)


def test_a_whole_session_may_be_one_episode(fake: FakeZep) -> None:
    fake.remembers = False
    with connected(fake, "zep", ingest={"mode": "episodes"}) as service:
        assert service.describe().longest == 10_000
        scope = prepared(service, NAME)
        (receipt,) = stored(service, scope, [document("s1", "a beagle")])
        fake.faults = Faults(1.0, ["lost"], only=["/episodes"], first=1)
        with pytest.raises(UnknownOutcome):
            service.ingest(scope, [document("s2", "tea")])
        (found,) = service.find(scope, [document("s2", "tea"), document("s3", "absent")])
        assert [one.status for one in settled(service, scope, [found])] == ["done"]
        hit = service.search(scope, "beagle", limit=1, as_of=None)[0]
        assert hit.whole and hit.content == "user: a beagle\nassistant: I see."
        assert hit.sources == receipt.provider_ids and hit.documents == ("s1",)
        assert service.count(scope) == 2 and fake.stored_twice == 0
        service.clear(scope)
        assert service.count(scope) == 0


def test_searches_are_made_of_searches_only(fake: FakeZep) -> None:
    with connected(fake, "zep", retrieval={"scope": "edges"}) as service:
        stored(service, prepared(service, NAME), [document("s1", "a beagle")])
        purposes: list[str] = []
        wire = service.api.wire  # type: ignore[attr-defined]
        send = wire.send
        wire.send = lambda request, read: (purposes.append(request.purpose), send(request, read))[1]
        assert service.search(Scope(NAME), "beagle", limit=1, as_of=None)
        # A look-up of the container, the search, and the list of episodes.
        assert purposes == ["search"] * 3


@pytest.mark.parametrize(
    "items",
    ["text", [5], [{"uuid": None}], [{"uuid": {}}], [{"uuid": "a", "content": 7}]],
    ids=["no array", "no object", "no id", "an id of parts", "no text"],
)
def test_an_answer_of_another_shape_is_unreadable(fake: FakeZep, items: Any) -> None:
    with connected(fake, "zep") as service:
        scope = prepared(service, NAME)
        fake._search = lambda *_: _answer({"items": items})  # type: ignore[method-assign]
        with pytest.raises(Unreadable):
            service.search(scope, "beagle", limit=1, as_of=None)


def test_odd_answers_are_kept_and_bounded(fake: FakeZep) -> None:
    odd = {"uuid": "a/../b", "content": "x" * 10**6, "score": "high", "metadata": ["s1"], "reference_time": 5e300}
    with connected(fake, "zep") as service:
        scope = prepared(service, NAME)
        fake._search = lambda *_: _answer({"items": [odd, odd], "strange": 1})  # type: ignore[method-assign]
        first, second = service.search(scope, "beagle", limit=5, as_of=None)
        assert first == second and first.provider_id == "a/../b" and len(first.content) == 65_536
        assert (first.score, first.date, first.documents) == (None, None, ())


@pytest.mark.parametrize("body", [{"error": {"message": "no"}}, {"error": "no", "status": 500}], ids=["v4", "other"])
def test_an_error_in_a_good_answer_is_no_empty_result(fake: FakeZep, body: dict[str, Any]) -> None:
    with connected(fake, "zep") as service:
        scope = prepared(service, NAME)
        fake._search = lambda *_: _answer(body)  # type: ignore[method-assign]
        with pytest.raises(Unreadable):
            service.search(scope, "beagle", limit=1, as_of=None)


def _answer(body: Any) -> Answer:
    return Answer(200, body)


def test_an_overload_that_outlasts_the_tries_may_be_tried_again(fake: FakeZep) -> None:
    with connected(fake, "zep") as service:
        scope = prepared(service, NAME)
        fake.faults = Faults(1.0, ["pause"], only=["/search/"])
        with pytest.raises(Unavailable):
            service.search(scope, "beagle", limit=1, as_of=None)
        assert fake.count("/search/") == 6


def test_a_wrong_key_ends_it_and_is_not_repeated(either: tuple[ZepGraph, dict[str, Any]]) -> None:
    server, ingest = either
    with connected(server, "zep", ingest=ingest, key="planted-secret") as service, pytest.raises(BadKey) as caught:
        service.probe()
    assert "planted-secret" not in str(caught.value)


def test_the_key_is_sent_as_zep_wants_it(fake: FakeZep) -> None:
    with connected(fake, "zep") as service:
        assert service.probe() == {"api": "v4"}
    assert {one.headers["authorization"] for one in fake.seen} == {"Api-Key fake-key"}


@pytest.mark.parametrize(
    ("ingest", "retrieval"),
    [({"api": "v3", "mode": "episodes"}, {}), ({}, {"reranker": "mmr"}), ({}, {"mmr_lambda": 0.5})],
    ids=["episodes of v3", "mmr without weight", "weight without mmr"],
)
def test_settings_that_cannot_be_are_refused(ingest: dict[str, Any], retrieval: dict[str, Any]) -> None:
    entry = PROVIDERS["zep"]
    with pytest.raises(ValidationError):
        entry.ingest_settings(ingest)
        entry.retrieval_settings(retrieval)
