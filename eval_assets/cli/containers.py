"""``eval-assets containers`` and ``eval-assets clear``: what services hold of this project."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

import typer

from eval_assets.cli.options import Json

if TYPE_CHECKING:
    from eval_assets.remote.held import Held

Orphans = Annotated[bool, typer.Option("--orphans", help="Only containers that no store uses any more.")]
Named = Annotated[str | None, typer.Argument(metavar="[SYSTEM]", help="The system whose containers are emptied.")]


def containers(orphans: Orphans = False, as_json: Json = False) -> None:
    """List the containers at remote services that the ledger knows of."""
    from eval_assets.cli.session import open_session
    from eval_assets.remote.held import held

    with open_session() as session:
        found = [one for one in held(session.graph, session.instance) if one.orphaned or not orphans]
    if as_json:
        typer.echo(json.dumps([_as_dict(one) for one in found], indent=2))
        return
    for one in found:
        row, use = one.row, "orphaned" if one.orphaned else "in use"
        typer.echo(f"{row.service}  {row.store} [{row.benchmark}]  {row.container}  {one.documents} documents  {use}")
    typer.echo(f"{len(found)} containers, {sum(one.orphaned for one in found)} orphaned")


def clear(system: Named = None, orphans: Orphans = False) -> None:
    """Empty a system's containers at its service, or with --orphans those that no store uses any more."""
    from converters.errors import BadInput
    from eval_assets.cli.session import open_session
    from eval_assets.remote.held import clear as empty
    from eval_assets.remote.held import held, of_system

    if system is None and not orphans:
        raise BadInput("clear", "nothing is named", "name a system, or give --orphans")
    with open_session() as session:
        found = [one for one in held(session.graph, session.instance) if one.orphaned or not orphans]
        if system is not None:
            found = of_system(session.graph, system, found)
        empty(session.graph, found, lambda done, total: None)
    typer.echo(f"{len(found)} containers cleared")


def _as_dict(one: Held) -> dict[str, object]:
    return {
        "service": one.row.service,
        "store": one.row.store,
        "benchmark": one.row.benchmark,
        "container": one.row.container,
        "state": one.row.state,
        "documents": one.documents,
        "orphaned": one.orphaned,
    }
