"""Composed haystacks, case by case."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from composed import load, moment, text_of
from records import MORNING, NOON, record, turn, write, write_gzip

from converters.compose.evidence import Evidence
from converters.compose.haystack import Length
from converters.compose.pool import read_pool
from converters.compose.write import Plan, Written, compose
from converters.detect import sniff_format
from converters.errors import BadInput
from converters.longmemeval import read_longmemeval

THREE = Length(sessions=3)
SECRET = "My cousin keeps the spare key under the third flower pot."


def filler_file(path: Path, *sessions: list[dict[str, Any]], date: str = MORNING) -> Path:
    """A file of one question without evidence, whose haystack is filler."""
    n = len(sessions)
    made = record(
        "filler",
        haystack_dates=[date] * n,
        haystack_session_ids=[f"f{number}" for number in range(n)],
        haystack_sessions=list(sessions),
        answer_session_ids=[],
    )
    return write(path, made)


def talk(*contents: str) -> list[dict[str, Any]]:
    return [turn("user", content) for content in contents]


def talks(n: int) -> list[list[dict[str, Any]]]:
    return [talk(f"This is talk {number}.") for number in range(n)]


def run(folder: Path, filler: Path, *questions: Any, length: Length = THREE, **options: Any) -> Written:
    return compose(
        Plan(write(folder / "q.json", *questions), [filler], length, **{"seed": 0, **options}), folder / "o.json"
    )


def test_evidence_stays_and_the_questions_own_filler_goes(tmp_path: Path) -> None:
    made = load(run(tmp_path, filler_file(tmp_path / "f", *talks(5)), record()).path)[0]
    assert len(made["haystack_sessions"]) == 3
    at = made["haystack_session_ids"].index("answer_1")
    assert made["haystack_dates"][at] == NOON
    assert made["haystack_sessions"][at] == record()["haystack_sessions"][1]
    assert "Tell me of owls." not in json.dumps(made)


def test_what_tells_evidence_is_no_filler(tmp_path: Path) -> None:
    marked = [turn("user", SECRET, True), turn("assistant", "Ah.", True)]
    asked = record(haystack_sessions=[talk("x"), marked])
    other = record("q2", haystack_sessions=[talk("x"), [turn("user", "Oslo is where I live.", True)]])
    unmarked = record("q3", haystack_sessions=[talk("x"), talk("Nobody marked this.", "Nor this.")])
    spaced = SECRET.replace(" ", "\n ")
    path = filler_file(
        tmp_path / "f",
        [turn("user", SECRET), turn("assistant", "Ah.")],
        talk("Hello.", spaced),
        talk(f"Well: {spaced} And so on."),
        talk(" Oslo is where I live. "),
        talk("ah", "Ah."),
        talk("They say Ah. often."),
        talk("He lives in Oslo."),
        talk("Nobody marked this.", "Nor this."),
        talk("Nobody marked this."),
        talk(" ", ""),
        [],
    )
    evidence = Evidence()
    for one in read_longmemeval(write(tmp_path / "q", asked, other, unmarked)):
        evidence.add(one)
    pool = read_pool([path], evidence)
    assert [filler.turns[0][1] for filler in pool.fillers] == [
        "They say Ah. often.",
        "He lives in Oslo.",
        "Nobody marked this.",
    ]
    assert pool.counts == {"sessions": 11, "distinct": 11, "evidence": 2, "blank": 2, "telling": 4, "usable": 3}


def test_evidence_of_questions_that_are_not_written_is_no_filler_either(tmp_path: Path) -> None:
    path = filler_file(tmp_path / "f", talk("I moved to Oslo."), *talks(2))
    questions = [record(), record("q2", question_type="other", answer_session_ids=[])]
    run(tmp_path, path, *questions, types=["other"], length=Length(sessions=2))
    assert "Oslo." not in json.dumps([one["haystack_sessions"] for one in load(tmp_path / "o.json")])


def test_one_text_is_one_filler_whatever_its_files_call_it(tmp_path: Path) -> None:
    paths = [filler_file(tmp_path / name, *talks(4)) for name in ("f", "g")]
    plan = Plan(write(tmp_path / "q", record()), paths, Length(sessions=5), 0)
    compose(plan, tmp_path / "o.json")
    with pytest.raises(BadInput, match="6 sessions need 5 fillers, and there are 4 distinct ones"):
        compose(Plan(plan.questions, paths, Length(sessions=6), 0), tmp_path / "p.json")


@pytest.mark.parametrize(
    ("own", "kept"),
    [
        ("2023/05/20 (Sat) 20:40", True),
        ("2023/05/20 (Sat) 20:41", False),
        ("2023/05/20 (Sat) 23:00", False),
        ("2023/05/10 (Wed) 00:00", True),
        ("2023/05/09 (Tue) 23:59", False),
        ("2021/01/01 (Fri) 07:30", False),
        ("2024/02/29 (Thu) 21:30", False),
    ],
)
def test_dates_of_filler(tmp_path: Path, own: str, kept: bool) -> None:
    """A question at 2023/05/20 20:41, with evidence on that day: the window is the ten days before it."""
    made = load(
        run(tmp_path, filler_file(tmp_path / "f", *talks(40), date=own), record(), length=Length(sessions=41)).path
    )[0]
    dates = [
        date
        for date, name in zip(made["haystack_dates"], made["haystack_session_ids"], strict=True)
        if name != "answer_1"
    ]
    assert {date[-5:] for date in dates} == {own[-5:]}
    assert all(moment("2023/05/10 (Wed) 00:00") <= moment(date) < moment(made["question_date"]) for date in dates)
    assert (set(dates) == {own}) is kept
    assert kept or len(set(dates)) > 7


def test_the_window_reaches_beyond_the_evidence(tmp_path: Path) -> None:
    asked = record(haystack_dates=[MORNING, "2023/01/20 (Fri) 12:00"])
    path = filler_file(tmp_path / "f", *talks(300), date="2020/01/01 (Wed) 12:00")
    made = load(run(tmp_path, path, asked, length=Length(sessions=301)).path)[0]
    days = sorted(date[:10] for date in made["haystack_dates"])
    assert days[0] >= "2023/01/17"
    assert days[0] < "2023/01/20"
    assert days[-1] > "2023/05/10"


def test_a_question_before_its_evidence_stays_so(tmp_path: Path) -> None:
    asked = record(question_date=MORNING)
    made = load(run(tmp_path, filler_file(tmp_path / "f", *talks(3), date=NOON), asked).path)[0]
    assert made["question_date"] == MORNING
    assert made["haystack_session_ids"][-1] == "answer_1"
    assert made["haystack_dates"][-1] == NOON


def test_evidence_longer_than_asked_is_kept_and_said(tmp_path: Path) -> None:
    gold = record()["haystack_sessions"][1]
    asked = record(
        haystack_session_ids=["answer_1", "answer_2"],
        haystack_sessions=[gold, gold],
        answer_session_ids=["answer_2", "answer_1"],
    )
    for length in (Length(sessions=1), Length(tokens=1)):
        written = run(
            tmp_path,
            filler_file(tmp_path / "f", *talks(1)),
            asked,
            record("q2", answer_session_ids=[]),
            length=length,
            force=True,
        )
        assert [len(one["haystack_sessions"]) for one in load(written.path)] == [2, 1]
        assert written.longer == ["q1"]
        assert written.manifest["longer_than_asked"] == ["q1"]


def test_tokens_are_reached_and_not_by_more_than_a_session(tmp_path: Path) -> None:
    path = filler_file(tmp_path / "f", *[talk("x" * 100 + str(n)) for n in range(10, 60)])
    made = load(run(tmp_path, path, record(), length=Length(tokens=500)).path)[0]
    # 102 characters at 4.25 a token are 24; the evidence has 21, which are 5.
    assert len(made["haystack_sessions"]) == 1 + -(-(500 - 5) // 24)
    with pytest.raises(BadInput, match="all 50 distinct fillers and the evidence come to about 1205 tokens only"):
        run(tmp_path, path, record(), length=Length(tokens=1206), force=True)
    run(tmp_path, path, record(), length=Length(tokens=1205), force=True)


def test_seeds_and_questions_draw_differently(tmp_path: Path) -> None:
    path = filler_file(tmp_path / "f", *talks(200))
    drawn = []
    for seed in (0, 1):
        for one in load(
            run(tmp_path, path, record(), record("q2"), length=Length(sessions=11), seed=seed, force=True).path
        ):
            drawn.append(frozenset(map(text_of, one["haystack_sessions"])))
    assert len(set(drawn)) == 4


def test_the_manifest_says_what_it_was_made_of(tmp_path: Path) -> None:
    asked = write_gzip(tmp_path / "q", record(), record("q2_abs"))
    filler = filler_file(tmp_path / "f.json", *talks(9))
    written = compose(Plan(asked, [filler], Length(sessions=4), 7, types=["multi-session"]), tmp_path / "o.json")
    told = json.loads((tmp_path / "o.manifest.json").read_text("ascii"))
    assert told == written.manifest
    content = gzip.decompress(asked.read_bytes())
    assert told["questions"] == {
        "name": "q",
        "sha256": hashlib.sha256(content).hexdigest(),
        "n_bytes": len(content),
        "compressed": True,
    }
    assert told["fillers"][0]["sha256"] == hashlib.sha256(filler.read_bytes()).hexdigest()
    assert told["settings"] == {"sessions": 4, "tokens": None, "seed": 7, "types": ["multi-session"], "limit": None}
    output = (tmp_path / "o.json").read_bytes()
    assert told["output"]["sha256"] == hashlib.sha256(output).hexdigest()
    assert told["output"]["n_bytes"] == len(output)
    counts = {name: told["output"][name] for name in ("questions", "evidence_sessions", "filler_sessions", "turns")}
    assert counts == {"questions": 2, "evidence_sessions": 2, "filler_sessions": 6, "turns": 10}
    assert str(tmp_path) not in json.dumps(told)


def test_the_file_is_as_the_published_ones(tmp_path: Path) -> None:
    asked = record(question="caf\u00e9 \u2028 \U0001f600?", answer=3)
    path = run(tmp_path, filler_file(tmp_path / "f", talk("\x0b\u2029\x7f"), *talks(2)), asked).path
    assert path.read_bytes() == json.dumps(load(path), indent=4).encode()
    assert sniff_format(path) == "longmemeval"


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ({"length": Length()}, "--sessions, --tokens: are two ways to say how long; give one of them"),
        ({"length": Length(3, 3)}, "--sessions, --tokens: are two ways to say how long; give one of them"),
        ({"length": Length(sessions=0)}, "--sessions: 0 is below 1; ask for at least one"),
        ({"length": Length(tokens=-1)}, "--tokens: -1 is below 1; ask for at least one"),
        ({"limit": 0}, "--limit: 0 is below 1; ask for at least one question"),
        ({"types": ["x"]}, "--types: no question is of the type 'x'; choose from: multi-session"),
        ({"length": Length(sessions=7)}, "--sessions: q1: 7 sessions need 6 fillers, and there are 5 distinct ones; "
         "give more --filler files, or ask for less"),
    ],
    ids=["neither", "both", "no sessions", "no tokens", "limit", "types", "pool"],
)  # fmt: skip
def test_one_line_and_nothing_written(tmp_path: Path, options: dict[str, Any], line: str) -> None:
    filler = filler_file(tmp_path / "f", *talks(5))
    with pytest.raises(BadInput) as caught:
        run(tmp_path, filler, record(), **options)
    assert caught.value.line == line
    assert sorted(path.name for path in tmp_path.iterdir()) == ["f", "q.json"]


def test_what_is_there_stays(tmp_path: Path) -> None:
    filler = filler_file(tmp_path / "f", *talks(5))
    first = run(tmp_path, filler, record()).path.read_bytes()
    with pytest.raises(BadInput, match="exists already; choose another name, or replace it with --force"):
        run(tmp_path, filler, record(), seed=1)
    assert (tmp_path / "o.json").read_bytes() == first
    run(tmp_path, filler, record(), seed=1, force=True)
    assert (tmp_path / "o.json").read_bytes() != first
    asked = tmp_path / "q.json"
    with pytest.raises(BadInput, match="is what is read from"):
        compose(Plan(asked, [filler], Length(sessions=2), 0, force=True), asked)
    with pytest.raises(BadInput, match="would not be gzipped"):
        compose(Plan(asked, [filler], Length(sessions=2), 0), tmp_path / "o.json.gz")
    with pytest.raises(BadInput, match="is a folder"):
        compose(Plan(asked, [filler], Length(sessions=2), 0, force=True), tmp_path)


def test_a_question_at_the_beginning_of_time(tmp_path: Path) -> None:
    asked = record(question_date="0001/01/02 (Tue) 00:00")
    with pytest.raises(BadInput, match="q1: question_date: leaves no days in the calendar for sessions before it"):
        run(tmp_path, filler_file(tmp_path / "f", *talks(5)), asked)


def test_hashes_of_the_process_have_no_say(tmp_path: Path) -> None:
    """Sets and dictionaries come in another order in each process."""
    filler = filler_file(tmp_path / "f", *[talk(f"talk {n}", SECRET * (n % 3)) for n in range(60)])
    asked = write(tmp_path / "q", *[record(f"q{n}") for n in range(4)])
    digests = set()
    for number in (1, 2):
        out = tmp_path / f"{number}.json"
        words = ["compose", str(asked), "--filler", str(filler), "--sessions", "9", "--seed", "5", "--out", str(out)]
        subprocess.run(
            [sys.executable, "-c", "from eval_assets.cli import main; main()", *words],
            check=True,
            capture_output=True,
            timeout=60,
            env={**os.environ, "PYTHONHASHSEED": str(number)},
        )
        digests.add(hashlib.sha256(out.read_bytes()).hexdigest())
    assert len(digests) == 1
