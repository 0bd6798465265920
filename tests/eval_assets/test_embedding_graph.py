"""Vectors from an endpoint, from the corpus to hits; with plans, keys, replays and limits of money."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import Result
from embedding_projects import KEY_VARIABLE, embedding_project
from fakes.embeddings import FakeEmbeddings
from projects import Box
from remote_projects import table

from eval_assets.assets.search import search_version
from eval_assets.assets.store import store_version
from eval_assets.cli.plan import lines
from eval_assets.keys import store_key
from eval_assets.ledger.settings import MODE_VARIABLE
from eval_assets.plan import Plan
from eval_assets.remote.estimate import Remote
from eval_assets.scope import Part
from eval_assets.settings_systems import System

Command = Callable[..., Result]
TEXTS = {
    "I adopted a beagle called Bo.",
    "My bicycle has a flat tyre.",
    "I see.",
    "I flew to Oslo.",
    "Rain all day.",
    "I went to Rome by train.",
    "I like tea.",
}


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY_VARIABLE, "planted-secret")


@pytest.fixture
def fake() -> Iterator[FakeEmbeddings]:
    with FakeEmbeddings() as server:
        server.key = "planted-secret"
        yield server


@pytest.fixture
def box(tmp_path: Path, fake: FakeEmbeddings) -> Box:
    return embedding_project(tmp_path, fake)


def test_from_the_corpus_to_hits_and_again_offline(
    box: Box, fake: FakeEmbeddings, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    not_yet = "remote: stores/vectors [chats]: documents and requests are not known before the corpus is made"
    said = command(box, "plan").stdout
    assert not_yet in said
    assert "cost: remote calls not known yet, about 0.0 s" in said
    assert command(box, "refresh", "--to", "corpus").exit_code == 0
    said = command(box, "plan").stdout
    assert "remote: stores/vectors [chats]: vectors of 7 texts, at most 3 requests, 34 tokens, 0.03 USD" in said
    assert "remote: dense/search_results [chats]: vectors of 3 texts, at most 3 requests, 18 tokens, 0.02 USD" in said
    assert "remote: words/" not in said
    assert "cost: at most 9 remote calls, at most 0.07 USD for models" in said
    assert not fake.seen

    done = command(box, "refresh", "--to", "search")
    assert done.exit_code == 0, done.stderr
    assert "models: 0.0" in done.stdout
    # The two systems that need the questions' vectors share them, and one text stands for all its places.
    assert set(fake.embedded) >= TEXTS
    assert len(fake.embedded) == 10
    assert set(fake.embedded.values()) == {1}
    assert [len(one.body["input"]) for one in fake.seen].count(1) == 4
    vectors = table(box, "stores/vectors", "vectors")
    assert vectors["model"].unique().to_list() == ["bag 64"]
    dense = table(box, "dense/search_results")
    assert dense["status"].to_list() == ["ok"] * 3
    haystacks = table(box, "corpus/haystacks")
    assert dense["hits"][0][0]["content"] == "I adopted a beagle called Bo."
    assert dense["hits"][0][0]["session_keys"] == [haystacks["session_key"][0]]

    calls = len(fake.seen)
    looked = [path for path in box.root.rglob("*") if path.is_file()]
    assert any(path.name == "ledger.sqlite" for path in looked)
    assert not [path for path in looked if b"planted-secret" in path.read_bytes()]
    stats = json.loads(command(box, "ledger", "stats", "--json").stdout)["calls"]
    assert [(one["purpose"], one["calls"]["usable"], one["input_tokens"]) for one in stats] == [
        ("embed", 10, fake.spent)
    ]
    assert stats[0]["cost_usd"] == pytest.approx(fake.spent * 1000 / 1e6)

    # Another store of the same model: nothing is asked again, though its chunks are others.
    box.edit_systems({"stores": {"vectors": {"ingest": {"consolidate": True}}}})
    told = json.loads(command(box, "plan", "--system", "dense", "--json").stdout)
    assert [(one["texts"], one["requests"], one["cost_usd"]) for one in told["remote"]] == [(0, 0, 0.0)] * 2
    assert command(box, "refresh", "--to", "search", "--system", "dense").exit_code == 0
    assert len(fake.seen) == calls

    # On a machine that has the recording and no key.
    exported = box.root / "recorded.parquet"
    assert command(box, "ledger", "export", "--out", str(exported)).exit_code == 0
    (box.root / "data" / "ledger.sqlite").unlink()
    monkeypatch.delenv(KEY_VARIABLE)
    monkeypatch.setenv(MODE_VARIABLE, "replay")
    assert command(box, "ledger", "import", str(exported)).exit_code == 0
    box.edit_systems({"stores": {"vectors": {"ingest": {"consolidate": False}}}})
    replayed = command(box, "refresh", "--to", "search", "--system", "dense")
    assert replayed.exit_code == 0, replayed.stderr
    assert table(box, "dense/search_results").drop("latency_ms").equals(dense.drop("latency_ms"))
    assert len(fake.seen) == calls
    box.edit_systems({"stores": {"vectors": {"revision": 2}}})
    lacking = command(box, "refresh", "--to", "store")
    assert lacking.exit_code == 1
    assert "the vectors of 7 texts are not in the ledger, to be replayed" in lacking.stderr


@pytest.mark.parametrize(
    ("requests", "said"),
    [
        ((), "cost: at most 0 remote calls, "),
        ((3, 4), "cost: at most 7 remote calls, "),
        ((3, None), "cost: at most 3 remote calls and those not known yet, "),
        ((0, None), "cost: remote calls not known yet, "),
    ],
)
def test_a_plan_does_not_count_what_it_does_not_know(requests: tuple[int | None, ...], said: str) -> None:
    far = tuple(Remote(Part(store_key("far"), "chats"), None, number) for number in requests)
    assert lines(Plan((), (), 0, {}, 0.0, far))[-1].startswith(said)


def test_what_changes_no_vector_makes_nothing_stale(box: Box) -> None:
    with box.open() as session:
        before, systems = session.graph.settings.stores["vectors"], session.graph.settings.systems

    def version(**changes: object) -> str:
        ingest = {"embedding": {**before.ingest["embedding"], **changes}}
        return store_version(before.model_copy(update={"ingest": ingest})).digest

    usual = version()
    assert version(batch=7) == version(format="float") == version(input_usd=None) == usual
    others = {version(model="other"), version(dimensions=32), version(shorten=True), version(max_tokens=5)}
    assert len(others | {usual}) == 5
    plain = store_version(before.model_copy(update={"ingest": {}}))
    assert not [name for name in plain.settings if "embedding" in name]
    code = "eval_assets.remote.embedding_wire"
    assert code not in plain.modules
    assert code in store_version(before).modules
    searches = {name: search_version(before, system) for name, system in systems.items() if isinstance(system, System)}
    assert {name: code in version.modules for name, version in searches.items()} == {
        "dense": True,
        "hybrid": True,
        "words": False,
    }


def test_without_its_key_a_store_is_unavailable_and_words_need_none(
    box: Box, command: Command, monkeypatch: pytest.MonkeyPatch, fake: FakeEmbeddings
) -> None:
    box.refresh(to="store")
    calls = len(fake.seen)
    monkeypatch.delenv(KEY_VARIABLE)
    done = command(box, "refresh", "--to", "search")
    assert done.exit_code == 0
    why = f"store vectors needs a key for embeddings: set the environment variable {KEY_VARIABLE}"
    assert f"unavailable: store vectors: {why}" in done.stdout
    words = table(box, "words/search_results")
    assert set(words["status"]) == {"ok", "empty"}
    assert not words["error"].drop_nulls().len()
    assert len(fake.seen) == calls


def test_an_address_of_one_s_own_needs_no_key(box: Box, command: Command, fake: FakeEmbeddings) -> None:
    fake.key = ""
    systems = box.systems_file.read_text()
    box.systems_file.write_text("\n".join(line for line in systems.splitlines() if "key_env" not in line))
    assert command(box, "refresh", "--to", "store").exit_code == 0
    assert fake.seen
    assert not [one for one in fake.seen if "authorization" in one.headers]


def test_a_run_stops_before_its_limit_of_money_and_goes_on(box: Box, command: Command, fake: FakeEmbeddings) -> None:
    stopped = command(box, "refresh", "--to", "search", "--system", "dense", "--max-cost-usd", "0.04")
    assert stopped.exit_code == 1
    assert "stopped before the limit of 0.04 USD" in stopped.stderr
    assert 0 < fake.spent * 1000 / 1e6 <= 0.04
    assert command(box, "refresh", "--to", "search", "--system", "dense", "--max-cost-usd", "1").exit_code == 0
    assert set(fake.embedded.values()) == {1}
    box.edit_systems({"stores": {"vectors": {"revision": 2, "ingest": {"embedding": {"input_usd": None}}}}})
    priceless = command(box, "refresh", "--to", "store", "--max-cost-usd", "1")
    assert priceless.exit_code == 2
    assert "without a price no limit of money can be kept" in priceless.stderr


def test_without_a_refused_text_answers_by_vectors_are_degraded(
    box: Box, command: Command, fake: FakeEmbeddings
) -> None:
    fake.refused = ["Oslo", "cat"]
    done = command(box, "refresh", "--to", "search")
    assert done.exit_code == 0, done.stderr
    texts, vectors = table(box, "stores/vectors", "texts"), table(box, "stores/vectors", "vectors")
    left_out = texts.join(vectors, on="text_hash", how="anti")["text"].to_list()
    assert left_out == ["I flew to Oslo."]
    dense, words = table(box, "dense/search_results"), table(box, "words/search_results")
    assert dense["status"].to_list() == ["ok", "degraded", "error"]
    assert dense["error"][1] == "1 pieces of its container have no vector"
    assert "a text is not acceptable" in dense["error"][2]
    assert dense["retryable"].to_list() == [False] * 3
    assert "Oslo" not in str(dense["hits"].to_list())
    assert set(words["status"]) <= {"ok", "empty"}, "words need no vector"
    assert not box.plan(to="search").work, "what is refused for good is not tried again"


def test_a_wrong_key_stops_the_step_in_one_line_that_does_not_tell_it(
    box: Box, command: Command, fake: FakeEmbeddings
) -> None:
    fake.key = "another"
    done = command(box, "refresh", "--to", "store")
    assert done.exit_code == 1
    assert "Incorrect API key provided: [key]" in done.stderr
    assert "planted" not in done.stdout + done.stderr
