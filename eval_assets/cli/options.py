"""Options that several commands take."""

from __future__ import annotations

from typing import Annotated

import typer

Systems = Annotated[
    list[str] | None,
    typer.Option("--system", "-s", help="Only this system (a sweep's name stands for its systems). Repeatable."),
]
Benchmarks = Annotated[list[str] | None, typer.Option("--benchmark", "-b", help="Only this benchmark. Repeatable.")]
To = Annotated[
    str | None,
    typer.Option(
        "--to",
        help="Up to this stage: source, corpus, store, search, scores, answers, judgments, agreement, relevance, "
        "report, comparison or leaderboard.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]
Metrics = Annotated[
    list[str] | None,
    typer.Option(
        "--metric", "-m", help="As hit@5, turn.ndcg@10, accuracy or accuracy[JUDGE]; else the headlines. Repeatable."
    ),
]
Unlike = Annotated[
    bool, typer.Option("--unlike", help="Compare runs of other conditions (hits asked for, judge, prompts), too.")
]
