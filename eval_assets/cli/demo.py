"""``eval-assets demo``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from eval_assets.cli.plan import lines as plan_lines
from eval_assets.cli.refresh import close

if TYPE_CHECKING:
    from eval_assets.demo import Step


def demo() -> None:
    """Run three systems on the bundled benchmark, change one constant, and re-run only what that made stale."""
    from eval_assets import keys
    from eval_assets.cli.session import open_session
    from eval_assets.demo import BENCHMARK, CHANGED, SETTING, VALUE, step, with_change
    from eval_assets.locks import refreshing
    from eval_assets.settings_systems import System
    from judges.report_text import query_lines

    with open_session() as session, refreshing(session.graph.project, "eval-assets demo"):
        typer.echo(f"1. {BENCHMARK}: corpus -> store -> search -> scores -> report, three systems over one store\n")
        before = step(session.graph, session.instance)
        _tell(before)
        scores = session.graph.shelf.frame(session.instance, keys.scores_key(CHANGED), BENCHMARK)
        typer.echo(f"\n{CHANGED} on {BENCHMARK}, a line a query")
        typer.echo("\n".join(query_lines(scores)))
        typer.echo("")
        for system, line in before.lines.items():
            typer.echo(f"{system:8}{line}")

        changed = session.graph.settings.systems[CHANGED]
        old = changed.retrieval.get(SETTING, "(default)") if isinstance(changed, System) else "(default)"
        typer.echo(f"\n2. one retrieval constant changes: {CHANGED}'s {SETTING} {old} -> {VALUE}\n")
        after = step(with_change(session.graph), session.instance)
        typer.echo("\n".join(plan_lines(after.plan)))
        typer.echo("")
        _tell(after)
        typer.echo(f"not touched: {', '.join(part.key.to_user_string() for part in after.kept)}")
        typer.echo(f"\n{CHANGED} before  {before.lines[CHANGED]}\n{CHANGED} after   {after.lines[CHANGED]}")
    typer.echo(
        f"\nThe change is in a copy, data/demo/systems.yaml. In data/systems.yaml {SETTING} is still {old}, so there\n"
        f"{CHANGED} is out of date: `make ui` opens the UI, where {CHANGED}/search_results [{BENCHMARK}] is Unsynced,\n"
        "with the cause. `.venv/bin/eval-assets refresh` brings it back."
    )


def _tell(step: Step) -> None:
    for wave in step.done.waves:
        typer.echo(f"ran in {wave.seconds:4.1f} s: {', '.join(one.part.key.to_user_string() for one in wave.ran)}")
    close(step.done)
