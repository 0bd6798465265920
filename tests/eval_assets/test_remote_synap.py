"""A batch of Synap's that gets no answer."""

from __future__ import annotations

from pathlib import Path

from fakes.connect import FAST
from fakes.faults import Faults
from fakes.synap import FakeSynap

from eval_assets.ledger.ledger import Ledger
from eval_assets.remote.documents import Planned
from eval_assets.remote.fill import Filler
from eval_assets.remote.link import Link
from providers.registry import PROVIDERS
from providers.remote.access import Access
from providers.remote.pieces import Piece
from providers.remote.service import Document, Message


def test_a_batch_without_an_answer_begins_its_container_anew(tmp_path: Path) -> None:
    documents = [Document(f"s{index}", [Message("user", f"tea {index}")]) for index in range(3)]
    plan = [Planned(Piece(one, 0, 0), one.id, one.id) for one in documents]
    entry = PROVIDERS["synap"]
    ingest = entry.ingest_settings({})
    with FakeSynap(faults=Faults(1.0, kinds=["lost"], only=["/memories/batch"], first=1)) as fake:
        wire = entry.open_wire(ingest, Access(fake.url, fake.key, FAST))
        ledger = Ledger(f"sqlite:///{tmp_path / 'ledger.sqlite'}")
        link = Link(entry, ingest, None, wire, ledger, "record", "there", "chats")
        filled = Filler(link, "c0ffee", plan, lambda _: None, lambda: False).fill()
        assert [filled.documents[one.id].state for one in plan] == ["done"] * 3
        assert len(fake.stored) == 3
        assert [one.body["dry_run"] for one in fake.seen if one.path == "/v1/data/delete"].count(False) == 1
        assert fake.stored_twice == 0
        ledger.close()
        wire.close()  # type: ignore[attr-defined]
