"""Made LoCoMo samples in the shape of the published file, with its quirks, for tests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl

from converters.conversion import Conversion
from converters.convert import convert_corpus
from converters.corpus import read_corpus

QUIRKS: dict[str, Any] = {
    "What did Mel paint?": ["D1:2; D2:1"],
    "What did she do then?": ["D1:1 D2:1 D2:2"],
    "Who called?": ["D:1:3"],
    "When was it?": ["D2:02"],
    "What else?": ["D"],
    "Which trip?": ["D1:19", "D1:1"],
    "Where?": ["D2:1; D4:36"],
    "Would she?": [],
    "How?": ["D1:1 ", "D1:1"],
}


def turn(speaker: str, dia_id: str, text: str, **photo: Any) -> dict[str, Any]:
    return {"speaker": speaker, **photo, "dia_id": dia_id, "text": text}


def question(text: str, category: int, evidence: list[str], **answers: Any) -> dict[str, Any]:
    return {"question": text, **answers, "evidence": evidence, "category": category}


def conversation(**fields: Any) -> dict[str, Any]:
    """Two sessions, a photo, a date of a session that is not there, and one session that is empty."""
    return {
        "speaker_a": "Carol",
        "speaker_b": "Mel",
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": [
            turn("Carol", "D1:1", "I went to Oslo \u2013 by train."),
            turn(
                "Mel",
                "D1:2",
                "Look at this.",
                img_url=["http://photos.example/1.jpg"],
                blip_caption="a photo of a painting of a sunset over a lake",
                query="painting sunrise",
            ),
            turn("Carol", "D1:3", "My brother called.", **{"re-download": True}),
        ],
        "session_2_date_time": "12:09 am on 13 September, 2023",
        "session_2": [turn("Mel", "D2:1", "I painted a horse."), turn("Carol", "D2:2", "I ran a race.")],
        "session_3_date_time": "10:31 am on 13 October, 2023",
        "session_3": [],
        "session_20_date_time": "10:31 am on 14 October, 2023",
        **fields,
    }


def sample(sample_id: str = "conv-1", qa: list[dict[str, Any]] | None = None, **talk: Any) -> dict[str, Any]:
    """A sound sample, its keys in the order of the published file."""
    return {
        "qa": [
            question("Where did Carol go?", 4, ["D1:1"], answer="Oslo"),
            question("In which year?", 2, ["D1:1"], answer=2023),
            question("What did Carol paint?", 5, ["D2:1"], adversarial_answer="a horse"),
        ]
        if qa is None
        else qa,
        "conversation": conversation(**talk),
        "event_summary": {"events_session_1": {"Carol": [], "Mel": [], "date": "8 May, 2023"}},
        "observation": {"session_1_observation": {"Carol": [["Carol went to Oslo.", "D1:1"]]}},
        "session_summary": {"session_1_summary": "They talked."},
        "sample_id": sample_id,
    }


def quirky() -> dict[str, Any]:
    """A sample whose evidence is written in every way that the published file writes it, and some more."""
    qa = [
        question(text, 1 + number % 4, evidence, answer="x") for number, (text, evidence) in enumerate(QUIRKS.items())
    ]
    return sample("conv-42", qa)


def write(path: Path, *samples: Any) -> Path:
    path.write_text(json.dumps(list(samples), indent=2), encoding="utf-8")
    return path


def convert(folder: Path, *samples: Any) -> tuple[Conversion, dict[str, pl.DataFrame]]:
    """Write, convert, and read back."""
    conversion = convert_corpus(write(folder / "locomo.json", *samples), "locomo", folder / "corpus")
    return conversion, dict(read_corpus(folder / "corpus"))
