"""Ledgers in SQLite and in a real PostgreSQL."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import quote

import psycopg
import pytest
from ledger_rows import ENGINES
from postgres import NoServer, postgres_server

from eval_assets.ledger.ledger import Ledger

_numbers = itertools.count()


@pytest.fixture(scope="session")
def postgres() -> Iterator[Path]:
    """The folder of a server's socket."""
    server = postgres_server()
    try:
        folder = server.__enter__()
    except NoServer as error:
        pytest.skip(f"no PostgreSQL server can be started: {error}")
    yield folder
    server.__exit__(None, None, None)


@pytest.fixture
def new_url(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[str], str]:
    """The URL of an empty place: ``new_url("postgres")``."""

    def make(engine: str) -> str:
        number = next(_numbers)
        if engine == "sqlite":
            return f"sqlite:///{tmp_path / f'ledger-{number}.sqlite'}"
        folder = request.getfixturevalue("postgres")
        with psycopg.connect(f"host={folder} user=postgres dbname=postgres", autocommit=True) as connection:
            connection.execute(f"CREATE SCHEMA s{number}")
        return f"postgresql://postgres@/postgres?host={folder}&options={quote(f'-csearch_path=s{number}')}"

    return make


@pytest.fixture
def new_ledger(new_url: Callable[[str], str]) -> Iterator[Callable[[str], Ledger]]:
    """An empty ledger: ``new_ledger("postgres")``."""
    made: list[Ledger] = []

    def make(engine: str) -> Ledger:
        made.append(Ledger(new_url(engine)))
        return made[-1]

    yield make
    for one in made:
        one.close()


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def ledger(engine: str, new_ledger: Callable[[str], Ledger]) -> Ledger:
    """An empty ledger of each kind."""
    return new_ledger(engine)
