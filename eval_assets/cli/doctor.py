"""``eval-assets doctor``."""

from __future__ import annotations

import typer

from eval_assets.cli.errors import FAILED


def doctor() -> None:
    """Say where things are, and whether the files on disk are those that the instance names. Changes nothing."""
    from eval_assets.cli.session import open_session
    from eval_assets.doctor import examine, facts

    with open_session() as session:
        typer.echo("\n".join(facts(session.graph)))
        checked, findings = examine(session.instance, session.graph)
    for finding in findings:
        typer.echo(f"{finding.what}; {finding.remedy}")
    typer.echo(f"{checked} stored partitions compared with the instance: {len(findings) or 'nothing'} to mend")
    if findings:
        raise typer.Exit(FAILED)
