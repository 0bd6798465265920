"""Removes calls that are kept for nothing but their story, and replies that nobody is to use again."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import ColumnElement, Connection, and_, delete, exists, false, func, or_, select

from eval_assets.ledger.engine import reclaim, size_bytes
from eval_assets.ledger.ledger import Ledger
from eval_assets.ledger.tables import CALLS

_DAY_S = 86_400


@dataclass(frozen=True)
class Pruned:
    """How many calls went (or would), by status, superseded ones apart; and the bytes that came free."""

    calls: Mapping[str, int]
    freed_bytes: int


def prune_ledger(
    ledger: Ledger, *, older_than_days: float | None = None, answers: bool = False, dry_run: bool = False
) -> Pruned:
    """Remove failed, unreadable and degraded calls, and usable replies that a newer one of their key supersedes.

    None of them is ever looked up, but what they cost and why they failed is forgotten.

    Args:
        ledger: what is pruned.
        older_than_days: only calls that were made so long ago.
        answers: usable replies as well, which must then be paid for again.
        dry_run: count alone.
    """
    since = None if older_than_days is None else time.time() - older_than_days * _DAY_S
    age = CALLS.c.at < since if since is not None else CALLS.c.at.is_not(None)
    usable = CALLS.c.status == "usable"
    going = and_(age, or_(~usable, _superseded(), usable if answers else false()))
    size = size_bytes(ledger.engine)
    if dry_run:
        with ledger.reading() as connection:
            return Pruned(_counted(connection, going), 0)
    with ledger.alone() as connection:
        calls = _counted(connection, going)
        connection.execute(delete(CALLS).where(going))
    if calls:
        reclaim(ledger.engine)
    return Pruned(calls, max(size - size_bytes(ledger.engine), 0))


def _superseded() -> ColumnElement[bool]:
    newer = CALLS.alias("newer")
    later = or_(newer.c.at > CALLS.c.at, and_(newer.c.at == CALLS.c.at, newer.c.id > CALLS.c.id))
    return and_(
        CALLS.c.status == "usable", exists().where(newer.c.key == CALLS.c.key, newer.c.status == "usable", later)
    )


def _counted(connection: Connection, going: ColumnElement[bool]) -> dict[str, int]:
    counts: dict[str, int] = {}
    superseded = _superseded()
    for name, which in (("superseded", superseded), (None, ~superseded)):
        wanted = select(CALLS.c.status, func.count()).where(going, which).group_by(CALLS.c.status)
        counts |= {name or status: number for status, number in connection.execute(wanted.order_by(CALLS.c.status))}
    return counts
