"""``eval-assets refresh``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from eval_assets.cli.bar import progress_bar
from eval_assets.cli.errors import BAD_INPUT, FAILED, stop
from eval_assets.cli.options import Benchmarks, Systems, To
from eval_assets.cli.plan import work_lines

if TYPE_CHECKING:
    from eval_assets.plan import Work
    from eval_assets.refresh import Failure, Refresh, Wave


Clear = Annotated[
    bool, typer.Option("--clear", help="Empty a remote container that holds what the ledger did not put there.")
]


MaxCost = Annotated[
    float | None,
    typer.Option(
        "--max-cost-usd",
        min=0,
        help="Stop before models cost more than this many US dollars; else what EVAL_ASSETS_MAX_COST_USD says.",
    ),
]


def refresh(
    systems: Systems = None,
    benchmarks: Benchmarks = None,
    to: To = None,
    clear: Clear = False,
    max_cost_usd: MaxCost = None,
) -> None:
    """Materialize what is stale, missing or incomplete, wave by wave, and nothing else."""
    from eval_assets.cli.session import open_session
    from eval_assets.locks import refreshing
    from eval_assets.models.budget import limit_of_environment, limited
    from eval_assets.progress import listening
    from eval_assets.refresh import refresh as run
    from eval_assets.scope import Scope

    with open_session(clear_foreign=clear) as session:
        scope = Scope(session.graph, tuple(systems or ()), tuple(benchmarks or ()), to)
        scope.check()
        limit = limit_of_environment() if max_cost_usd is None else max_cost_usd
        lock = refreshing(session.graph.project, "eval-assets refresh")
        with lock, limited(limit) as budget, progress_bar() as bar, listening(bar):
            done = run(session.instance, session.definitions, scope, before_wave=_announce, after_wave=_tell)
            spent = budget.spent_usd
    if spent:
        typer.echo(f"models: {spent:.4f} USD")
    close(done)


def _announce(todo: Sequence[Work]) -> None:
    typer.echo("\n".join(work_lines(todo)))


def _tell(wave: Wave) -> None:
    same = sum(not one.changed for one in wave.ran)
    told = f", {same} came out unchanged" if same else ""
    typer.echo(f"wave: {len(wave.ran)} ran in {wave.seconds:.1f} s{told}")


def _once(failures: Sequence[Failure]) -> list[Failure]:
    """All failures, but where money ran out the first place where it did, last."""
    from eval_assets.models.budget import OVER

    over = [failure for failure in failures if failure.line.startswith(OVER)]
    return [*(failure for failure in failures if failure not in over), *over[:1]]


def close(done: Refresh) -> None:
    """Say how a refresh ended; exits if anything failed."""
    for name, why in done.unavailable.items():
        typer.echo(f"unavailable: {name}: {why}")
    failures = _once(done.failures)
    if failures:
        for failure in failures[:-1]:
            typer.echo(f"{failure.part}: {failure.line}", err=True)
        last = failures[-1]
        bad = all(failure.bad_input for failure in done.failures)
        stop(last.line if last.bad_input else f"{last.part}: {last.line}", BAD_INPUT if bad else FAILED)
    if done.unsettled:
        stop(f"does not settle: {', '.join(map(str, done.unsettled))} came out different each time it ran")
    typer.echo(f"{done.runs} ran, up to date" if done.runs else "nothing is stale, nothing ran")
