"""A wire with the ledger in front of it: searches that were answered before are not asked again."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from eval_assets.ledger.ledger import Call, CallStatus, Ledger, Mode, call_key
from eval_assets.models.budget import OverBudget
from providers.remote.errors import Absent, CallFailed, Degraded, NotRecorded, Stop, Unreadable
from providers.remote.wire import Read, Reply, Request, T, Wire

_REPLAYABLE: Final = ("search", "answer", "judge")


@dataclass
class LedgerWire:
    """The calls of one question, or of one container. See ``providers.remote.wire.Wire``.

    Attributes:
        inner: what carries the calls that are made; None where none may be made.
        ledger: where they are kept.
        service: name of the service and its interface's version.
        mode: record: ask what was not answered before; replay: ask nothing; refresh: ask all again.
        context: what determines an answer beside the request: revision, the container's build.
        before_asking: called before a search that the ledger cannot answer; what it raises stops the search.
        latency_ms: of all searches so far, as their real calls took.
        made: calls made.
        replayed: calls answered by the ledger.
        identity: stands for ``service`` in what determines an answer, where that is only a name of ours.
    """

    inner: Wire | None
    ledger: Ledger
    service: str
    mode: Mode
    context: Mapping[str, Any] = field(default_factory=dict)
    before_asking: Callable[[], None] = field(default=lambda: None)
    latency_ms: float = 0.0
    made: int = 0
    replayed: int = 0
    identity: str | None = None

    def send(self, request: Request, read: Read[T]) -> T:
        """See ``providers.remote.wire.Wire``; raises ``NotRecorded`` as well."""
        key = self.key(request) if request.purpose in _REPLAYABLE else None
        if key and self.mode != "refresh":
            kept = self.ledger.look(key)
            if kept:
                self.replayed += 1
                self.latency_ms += kept.latency_ms
                return read(
                    Reply(
                        200,
                        kept.reply,
                        kept.latency_ms,
                        replayed=True,
                        input_tokens=kept.input_tokens,
                        output_tokens=kept.output_tokens,
                        cost_usd=kept.cost_usd,
                    )
                )
        if self.inner is None or self.mode == "replay":
            raise NotRecorded(f"{self.service}: {request.method} {request.path} is not in the ledger, to be replayed")
        if key:
            self.before_asking()
        self.made += 1
        return self._ask(self.inner, request, read, key)

    def key(self, request: Request) -> str:
        """Digest of all that determines the answer to a request."""
        asked = [request.method, request.path, dict(request.params), request.body]
        return call_key([self.identity or self.service, dict(self.context), asked])

    def _ask(self, inner: Wire, request: Request, read: Read[T], key: str | None) -> T:
        replies: list[Reply] = []

        def watched(reply: Reply) -> T:
            replies.append(reply)
            try:
                return read(reply)
            except Degraded as error:
                self._keep(request, key, "degraded", reply, str(error))
                raise
            except CallFailed as error:
                self._keep(request, key, "unreadable", reply, str(error))
                raise

        try:
            value = inner.send(request, watched)
        except (Degraded, OverBudget):
            # The one is kept already; the other was no call.
            raise
        except (CallFailed, Stop) as error:
            if not isinstance(error, Unreadable) or not replies:
                # Whether something is there was the question, where it is no search of it.
                answered = isinstance(error, Absent) and key is None
                self._keep(request, key, "usable" if answered else "failed", None, str(error))
            raise
        self._keep(request, key, "usable", replies[-1])
        if key:
            self.latency_ms += replies[-1].latency_ms
        return value

    def _keep(
        self, request: Request, key: str | None, status: CallStatus, reply: Reply | None, error: str | None = None
    ) -> None:
        whole = key is not None
        self.ledger.keep(
            Call(
                service=self.service,
                purpose=request.purpose,
                endpoint=f"{request.method} {request.path}",
                status=status,
                key=key,
                request=json.dumps({"params": dict(request.params), "body": request.body}) if whole else None,
                reply=_text(reply) if whole and reply else None,
                error=error,
                latency_ms=reply.latency_ms if reply else None,
                input_tokens=reply.input_tokens if reply else None,
                output_tokens=reply.output_tokens if reply else None,
                cost_usd=reply.cost_usd if reply else None,
            )
        )


def _text(reply: Reply) -> str:
    return json.dumps(reply.body) if reply.text is None else reply.text
