"""A ledger's server that is stopped in the middle of a command: one line, at whatever call that is noticed."""

from __future__ import annotations

import pytest
import typer
from postgres import NoServer, postgres_server

from eval_assets.cli.errors import one_line
from eval_assets.ledger.engine import LedgerGone
from eval_assets.ledger.ledger import Call, Ledger

CALL = Call(service="s", purpose="search", endpoint="GET /", status="usable", key="k", request="{}", reply="{}")


def test_a_server_that_vanishes_is_told_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    server = postgres_server()
    try:
        folder = server.__enter__()
    except NoServer as error:
        pytest.skip(f"no PostgreSQL server can be started: {error}")
    ledger = Ledger(f"postgresql://postgres:hunter2@/postgres?host={folder}")
    try:
        ledger.keep(CALL)
        with pytest.raises(LedgerGone, match="does not answer any more"), ledger.writing() as connection:
            server.__exit__(None, None, None)
            connection.exec_driver_sql("SELECT 1")
        # And every call after that, over a connection that was kept or a new one.
        for _ in range(2):
            for call in (lambda: ledger.look("k"), lambda: ledger.keep(CALL), ledger.containers):
                with pytest.raises(LedgerGone, match="run this again when it is back"):
                    call()
        with pytest.raises(typer.Exit) as left, one_line():
            ledger.look("k")
        assert left.value.exit_code == 1
    finally:
        ledger.close()
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "hunter2" not in said
    assert "the ledger at postgresql" in said
