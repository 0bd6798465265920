"""From a URL to a database, without ever showing the password that may be in it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from sqlalchemy import (
    URL,
    Connection,
    Engine,
    ExceptionContext,
    Inspector,
    create_engine,
    event,
    inspect,
    make_url,
    text,
)
from sqlalchemy.exc import ArgumentError, DBAPIError, OperationalError, SQLAlchemyError

from converters.errors import BadInput, Told
from eval_assets.ledger.tables import METADATA
from providers.remote.errors import one_line

VARIABLE: Final = "EVAL_ASSETS_LEDGER"
_REMEDY: Final = "give sqlite:///PATH or postgresql://USER@HOST/NAME"
_TOLD: Final = ("host", "port", "dbname", "sslmode")
"""Parameters of a URL that may be shown: any other may be a password, if only a misspelt one."""
_WAIT_S: Final = 60
_MAKING: Final = 0x1ED6E4
"""What those who make the tables wait in line for, in PostgreSQL's advisory locks: any number."""


def open_engine(url: str) -> Engine:
    """A database with the ledger's tables in it, made where they lack.

    Raises:
        BadInput: it cannot be, in words that hold no password.
    """
    parsed = _parsed(url)
    try:
        if parsed.get_backend_name() == "sqlite":
            Path(str(parsed.database)).parent.mkdir(parents=True, exist_ok=True)
        engine = create_engine(parsed, pool_size=64, max_overflow=-1)
    except ModuleNotFoundError:
        raise BadInput(VARIABLE, "psycopg is not installed", 'pip install "eval-assets[postgres]"') from None
    except SQLAlchemyError as error:
        raise BadInput(VARIABLE, _said(error, parsed), _REMEDY) from None
    if is_sqlite(engine):
        event.listen(engine, "connect", _prepare_sqlite)
    try:
        _make_tables(engine)
    except DBAPIError as error:
        engine.dispose()
        said = f"the ledger cannot be opened: {_said(error.orig, parsed)}"
        raise BadInput(shown(parsed), said, f"look at {VARIABLE}") from None
    if not is_sqlite(engine):
        event.listen(engine, "handle_error", _told_of_loss)
    return engine


class LedgerGone(Told):
    """The ledger's server does not answer any more."""


def _told_of_loss(context: ExceptionContext) -> None:
    """A server that is stopped, restarted or cut off in the middle of a command is no bug of ours."""
    refused = context.connection is None and isinstance(context.sqlalchemy_exception, OperationalError)
    if not (context.is_disconnect or refused) or context.engine is None:
        return
    url = context.engine.url
    raise LedgerGone(
        f"the ledger at {shown(url)} does not answer any more ({_said(context.original_exception, url)}); "
        f"what it had taken is kept: run this again when it is back"
    )


def is_sqlite(engine: Engine) -> bool:
    """Whether it is a file of this machine's, which takes one writer at a time."""
    return engine.dialect.name == "sqlite"


def shown(url: URL) -> str:
    """A URL without what is or may be secret."""
    secret = [name for name in url.query if name not in _TOLD]
    return url.difference_update_query(secret).render_as_string(hide_password=True)


@contextmanager
def alone(engine: Engine) -> Iterator[Connection]:
    """A transaction beside which nobody writes, so that what it read stays true until it ends."""
    with engine.begin() as connection:
        if is_sqlite(engine):
            connection.exec_driver_sql("BEGIN IMMEDIATE")
        else:
            connection.exec_driver_sql(f"LOCK TABLE {', '.join(METADATA.tables)} IN EXCLUSIVE MODE")
        yield connection


@contextmanager
def snapshot(engine: Engine) -> Iterator[Connection]:
    """A connection whose queries all see one state, whoever writes meanwhile."""
    with engine.connect() as connection:
        if is_sqlite(engine):
            connection.exec_driver_sql("BEGIN")
        else:
            connection.execution_options(isolation_level="REPEATABLE READ")
        yield connection
        connection.rollback()


def size_bytes(engine: Engine) -> int:
    """What the ledger takes on disk."""
    if is_sqlite(engine):
        files = (Path(f"{engine.url.database}{end}") for end in ("", "-wal"))
        return sum(file.stat().st_size for file in files if file.exists())
    with engine.connect() as connection:
        sizes = (
            connection.scalar(text("SELECT pg_total_relation_size(to_regclass(:name))"), {"name": name})
            for name in METADATA.tables
        )
        return sum(int(size) for size in sizes)


def reclaim(engine: Engine) -> None:
    """Give the room of removed rows back."""
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        if is_sqlite(engine):
            connection.exec_driver_sql("VACUUM")
            connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)").close()
        else:
            connection.exec_driver_sql(f"VACUUM {', '.join(METADATA.tables)}")


def _parsed(url: str) -> URL:
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError):
        # What was not understood may be a password.
        raise BadInput(VARIABLE, "it is not a URL of a database", _REMEDY) from None
    backend = parsed.get_backend_name()
    if backend not in ("sqlite", "postgresql"):
        raise BadInput(VARIABLE, f"{backend} is not supported", _REMEDY)
    if backend == "sqlite" and parsed.database in (None, "", ":memory:"):
        raise BadInput(VARIABLE, "a ledger in memory keeps nothing", _REMEDY)
    return parsed.set(drivername="postgresql+psycopg") if parsed.drivername == "postgresql" else parsed


def _said(error: BaseException | None, url: URL) -> str:
    said = str(error)
    secrets = [url.password, *(value for name, value in url.query.items() if name not in _TOLD)]
    for secret in secrets:
        if isinstance(secret, str) and secret:
            said = said.replace(secret, "***")
    return one_line(said)


def _make_tables(engine: Engine) -> None:
    inspector: Inspector = inspect(engine)
    if set(METADATA.tables) <= set(inspector.get_table_names()):
        return
    with engine.begin() as connection:
        if is_sqlite(engine):
            connection.exec_driver_sql("BEGIN IMMEDIATE")
        else:
            connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_MAKING})")
        METADATA.create_all(connection)


def _prepare_sqlite(connection: Any, _: Any) -> None:
    # A killed process loses nothing in this mode; only a power cut could take the last calls.
    for pragma in (f"busy_timeout={_WAIT_S * 1000}", "journal_mode=WAL", "synchronous=NORMAL"):
        connection.execute(f"PRAGMA {pragma}").close()
