"""A password in a ledger's URL is shown nowhere."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from pathlib import Path

import pytest

from converters.errors import BadInput
from eval_assets.ledger.engine import shown
from eval_assets.ledger.ledger import Ledger
from eval_assets.ledger.portable import export_ledger
from eval_assets.ledger.stats import ledger_stats, stats_lines

SECRET = "pa55-w0rd"


@pytest.mark.parametrize(
    "url",
    [
        f"postgresql://me:{SECRET}@127.0.0.1:1/ledger",
        f"postgresql://me@127.0.0.1:1/ledger?password={SECRET}",
        f"postgresql://me@127.0.0.1:1/ledger?nonsense={SECRET}&password={SECRET}",
        f"postgresql://me:{SECRET}@127.0.0.1:port/ledger",
        f"postgresql://me:x/{SECRET}@127.0.0.1:1/ledger",
        f"mysql://me:{SECRET}@127.0.0.1/ledger",
        f"postgresql+nothing://me:{SECRET}@127.0.0.1/ledger",
        f"me:{SECRET}",
    ],
)
def test_what_cannot_be_opened_does_not_show_it(url: str, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG), pytest.raises(BadInput) as raised:
        Ledger(url)
    assert raised.value.line
    assert SECRET not in raised.value.line
    assert SECRET not in caplog.text
    assert raised.value.__cause__ is None


@pytest.mark.parametrize("url", ["sqlite://", "sqlite:///:memory:", "", "data/ledger.sqlite"])
def test_what_is_no_place_is_said_to_be_none(url: str) -> None:
    with pytest.raises(BadInput, match=r"EVAL_ASSETS_LEDGER: .*; give sqlite:///PATH or postgresql://USER@HOST/NAME"):
        Ledger(url)


def test_a_file_that_is_no_database(tmp_path: Path) -> None:
    (tmp_path / "ledger.sqlite").write_text("a text, and a long one at that. " * 40)
    with pytest.raises(BadInput, match="the ledger cannot be opened: file is not a database; "):
        Ledger(f"sqlite:///{tmp_path / 'ledger.sqlite'}")


def test_neither_stats_nor_files_show_it(new_url: Callable[[str], str], tmp_path: Path) -> None:
    ledger = Ledger(new_url("postgres").replace("postgres@", f"postgres:{SECRET}@"))
    try:
        assert ledger.engine.url.password == SECRET
        stats = ledger_stats(ledger)
        export_ledger(ledger, tmp_path / "ledger.parquet")
        told = [ledger.place, shown(ledger.engine.url), json.dumps(stats.as_dict()), *stats_lines(stats), repr(ledger)]
        assert not [one for one in told if SECRET in one]
        assert SECRET.encode() not in (tmp_path / "ledger.parquet").read_bytes()
    finally:
        ledger.close()
