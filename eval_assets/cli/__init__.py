"""The command line. Nothing heavy is imported until a command runs."""

from __future__ import annotations

import typer

from eval_assets.cli.benchmarks import benchmarks
from eval_assets.cli.compare import compare
from eval_assets.cli.compose import compose
from eval_assets.cli.containers import clear, containers
from eval_assets.cli.convert import convert
from eval_assets.cli.demo import demo
from eval_assets.cli.doctor import doctor
from eval_assets.cli.errors import one_line
from eval_assets.cli.export import export
from eval_assets.cli.fetch import fetch
from eval_assets.cli.gate import accept, gate
from eval_assets.cli.inspect import inspect
from eval_assets.cli.ledger import ledger
from eval_assets.cli.plan import plan
from eval_assets.cli.prune import prune
from eval_assets.cli.refresh import refresh
from eval_assets.cli.report import report
from eval_assets.cli.ui import ui

app = typer.Typer(
    help="Measure long-term-memory systems on LongMemEval and on your own fixtures; re-run only what is stale.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
for command in (
    plan,
    refresh,
    report,
    compare,
    accept,
    gate,
    benchmarks,
    fetch,
    convert,
    compose,
    inspect,
    export,
    containers,
    clear,
    doctor,
    prune,
    demo,
    ui,
):
    app.command()(one_line()(command))
app.add_typer(ledger, name="ledger")


def main() -> None:
    """Run a command; see ``eval_assets.cli.errors`` for how it fails."""
    app()
