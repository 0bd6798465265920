"""Filling one container so that every document is stored once, whatever was lost on the way.

A document is marked as sent before it is, and gets a receipt after. What is marked and has no receipt is in doubt: the
service is asked for it, or it is sent again, or the container is emptied and begun anew, as the service's contract
allows (``providers.remote.service.Recovery``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import stamina

from eval_assets.ledger.ledger import SENT, ContainerRow, DocumentRow
from eval_assets.remote.documents import Planned, batches
from eval_assets.remote.errors import Foreign
from eval_assets.remote.link import Link
from providers.remote.errors import CallFailed, Refused, Stop, TimedOut, Unavailable, UnknownOutcome
from providers.remote.service import Receipt, RemoteService, Scope

_ROUNDS: Final = 6
"""How often a container whose outcome is in doubt is looked at again in one run."""


@dataclass(frozen=True)
class Filled:
    """A container after a run: its row, what became of every document sent to it, and why it was not filled."""

    row: ContainerRow
    documents: dict[str, DocumentRow]
    error: str | None = None


@dataclass(frozen=True)
class Filler:
    """Fills one container.

    Attributes:
        link: the store's.
        container: its name.
        plan: what it is to hold, in the order of sending.
        told: called with the number of documents that were settled.
        stopped: whether the run is at its end, so that nothing more is begun.
    """

    link: Link
    container: str
    plan: Sequence[Planned]
    told: Callable[[int], None]
    stopped: Callable[[], bool]

    def fill(self) -> Filled:
        """Bring the container to what the plan says; raises ``Stop`` and ``Foreign``.

        A call that fails is made again in the next round, at whose beginning what is in doubt is looked at; after the
        last one the container is what it is, and its documents say why.
        """
        error: CallFailed | None = None
        for _ in range(_ROUNDS):
            try:
                row = self._resolve(self._opened())
                self._send(row)
                self._settle(row)
                return self._closed(row)
            except CallFailed as failure:
                error = failure
        about = self.link.ledger.container(self.link.name, self.container)
        nothing = ContainerRow(
            self.link.name, self.container, self.link.store, self.link.benchmark, 1, "open", {}, None
        )
        known = self.link.ledger.documents(self.link.name, self.container)
        return Filled(about or nothing, known, str(error))

    def replayed(self) -> Filled:
        """What the ledger says, without asking the service; raises ``Stop`` where it says nothing."""
        link = self.link
        row = link.ledger.container(link.name, self.container)
        if row is None:
            raise Stop(f"store {link.store}: container {self.container} is not in the ledger, to be replayed")
        self.told(len(self.plan))
        return Filled(row, link.ledger.documents(link.name, self.container))

    def _opened(self) -> ContainerRow:
        ledger, link = self.link.ledger, self.link
        row = ledger.container(link.name, self.container)
        if row is None or row.state in ("lost", "cleared"):
            return self._begin((row.build if row else 0) + 1)
        if row.state == "ready" and self._service().count(self._scope(row)) < (row.counted or 0):
            ledger.set_container(link.name, self.container, "lost")
            return self._begin(row.build + 1)
        return row

    def _begin(self, build: int) -> ContainerRow:
        service, link = self._service(), self.link
        scope = Scope(self.container, service.prepare(self.container))
        held = service.count(scope)
        if held:
            if not link.clear:
                raise Foreign(
                    f"store {link.store}: {link.name} holds {held} things in container {self.container} that the "
                    f"ledger did not put there; to have it emptied, run: eval-assets refresh --clear"
                )
            service.clear(scope)
            # Clearing may have taken the container away with all that the service called it.
            scope = Scope(self.container, service.prepare(self.container))
        row = ContainerRow(
            link.name, self.container, link.store, link.benchmark, build, "open", dict(scope.handle), counted=None
        )
        link.ledger.open_container(row)
        return row

    def _resolve(self, row: ContainerRow) -> ContainerRow:
        """Find out about the documents in doubt; a container that must be begun anew is."""
        known = self.link.ledger.documents(row.service, row.container)
        doubtful = [one for one in self.plan if one.id in known and known[one.id].state == SENT]
        if not doubtful:
            return row
        service = self._service()
        recovery = service.describe().recovery
        if recovery == "clear":
            service.clear(self._scope(row))
            self.link.ledger.set_container(row.service, row.container, "cleared")
            return self._begin(row.build)
        found: list[Receipt] = []
        if recovery == "look":
            found = list(service.find(self._scope(row), [one.piece.document for one in doubtful]))
            self._receive(row, found)
        there = {receipt.document for receipt in found}
        self.link.ledger.not_sent(row.service, row.container, [one.id for one in doubtful if one.id not in there])
        return row

    def _send(self, row: ContainerRow) -> None:
        known = self.link.ledger.documents(row.service, row.container)
        again = [name for name, one in known.items() if one.state == "failed" and one.retryable]
        self.link.ledger.not_sent(row.service, row.container, again)
        left = [one for one in self.plan if one.id not in known or one.id in set(again)]
        service = self._service()
        self.told(len(self.plan) - len(left))
        for some in batches(left, service.describe().batch):
            if self.stopped():
                return
            self._send_batch(service, row, some)
            self.told(len(some))

    def _send_batch(self, service: RemoteService, row: ContainerRow, some: Sequence[Planned]) -> None:
        names = [one.id for one in some]
        self.link.ledger.sending(row.service, row.container, row.build, names)
        try:
            self._receive(row, service.ingest(self._scope(row), [one.piece.document for one in some]))
        except Refused as error:
            if len(some) == 1:
                self._receive(row, [Receipt(names[0], "failed", error=str(error))])
                return
            self.link.ledger.not_sent(row.service, row.container, names)
            # One of them is at fault; the others need not suffer for it.
            for one in some:
                self._send_batch(service, row, [one])
        except Unavailable as error:
            receipts = [Receipt(name, "failed", error=str(error)) for name in names]
            self.link.ledger.receive(row.service, row.container, receipts, retryable=True)
        except UnknownOutcome:
            raise
        except CallFailed as error:
            raise UnknownOutcome(str(error)) from None

    def _receive(self, row: ContainerRow, receipts: Sequence[Receipt]) -> None:
        self.link.ledger.receive(row.service, row.container, receipts)

    def _settle(self, row: ContainerRow) -> None:
        """Ask after pending documents until there is none, less and less often, until the deadline."""
        if self.stopped():
            return
        service = self._service()

        def ask() -> None:
            known = self.link.ledger.documents(row.service, row.container)
            pending = [one.receipt for one in known.values() if one.receipt and one.receipt.status == "pending"]
            if not pending:
                return
            try:
                after = service.settle(self._scope(row), pending)
            except CallFailed as error:
                raise TimedOut(str(error)) from None
            self._receive(row, [receipt for receipt in after if receipt.status != "pending"])
            waiting = sum(receipt.status == "pending" for receipt in after)
            if waiting and not self.stopped():
                raise TimedOut(f"{waiting} documents are not indexed after {self.link.index_deadline_s:g} s")

        try:
            for attempt in stamina.retry_context(
                on=TimedOut,
                attempts=None,
                timeout=self.link.index_deadline_s,
                wait_initial=0.05,
                wait_max=10.0,
                wait_jitter=0.05,
            ):
                with attempt:
                    ask()
        except TimedOut as error:
            known = self.link.ledger.documents(row.service, row.container)
            late = [one.receipt for one in known.values() if one.receipt and one.receipt.status == "pending"]
            said = [Receipt(one.document, "pending", one.provider_ids, one.ticket, str(error)) for one in late]
            self._receive(row, said)

    def _closed(self, row: ContainerRow) -> Filled:
        ledger = self.link.ledger
        known = ledger.documents(row.service, row.container)
        settled = (self._is_settled(known.get(one.id)) for one in self.plan)
        if row.state != "ready" and all(settled):
            counted = self._service().count(self._scope(row))
            ledger.set_container(row.service, row.container, "ready", counted)
        return Filled(row, known)

    @staticmethod
    def _is_settled(one: DocumentRow | None) -> bool:
        """Done, skipped, or refused for good."""
        return one is not None and (one.state in ("done", "skipped") or (one.state == "failed" and not one.retryable))

    def _service(self) -> RemoteService:
        return self.link.service()

    def _scope(self, row: ContainerRow) -> Scope:
        return Scope(row.container, row.handle)
