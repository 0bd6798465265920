"""Vectors from an endpoint, each text asked for once: the ledger answers what was answered before."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from converters.errors import BadInput
from eval_assets.ledger.ledger import Call, CallStatus, Ledger, Mode, call_key
from eval_assets.ledger.settings import ledger_mode, open_ledger
from eval_assets.models.budget import BUDGET, OverBudget, limit_of_environment, limited
from eval_assets.project import Project
from eval_assets.remote.access import manners_of
from eval_assets.remote.embedding_keys import ACCESS, key_lacking, key_variable
from eval_assets.remote.embedding_wire import (
    PATH,
    EmbeddingWire,
    cost_usd,
    cut,
    embed_request,
    judged,
    of_length_1,
    packed,
    shares,
    tokens_of,
    unpacked,
    vectors_of,
)
from eval_assets.settings_systems import Store
from judges.tokens import estimate_tokens
from providers.local.embedding import Embedded, Lacking, Vectors
from providers.local.settings import EmbeddingSettings
from providers.protocol import Progress, quiet
from providers.remote.errors import CallFailed, NotRecorded, Refused, Stop, Unreadable
from providers.remote.pace import threads
from providers.remote.wire import Reply, Wire

REQUEST_TOKENS: Final = 250_000
"""Tokens of a request, estimated, at most; OpenAI's limit is 300,000."""
_LOOKED_FOR: Final = 500


def text_key(settings: EmbeddingSettings, revision: str | int, text: str) -> str:
    """What the ledger finds a text's vector by; the text is as it is sent."""
    return call_key(["embedding", settings.model, settings.dimensions, settings.shorten, str(revision), text])


def batches(texts: Mapping[str, str], size: int) -> Iterator[list[tuple[str, str]]]:
    """Keys and texts, in order, as many a request as it may hold."""
    some: list[tuple[str, str]] = []
    tokens = 0
    for key, text in texts.items():
        more = estimate_tokens(text)
        if some and (len(some) == size or tokens + more > REQUEST_TOKENS):
            yield some
            some, tokens = [], 0
        some.append((key, text))
        tokens += more
    if some:
        yield some


def estimated(
    settings: EmbeddingSettings, revision: str | int, texts: Iterable[str], batch: int, ledger: Ledger | None
) -> tuple[int, int, int, float | None]:
    """Texts whose vectors ``ledger`` does not hold; the requests, the tokens and the US dollars that they take."""
    sent = (cut(text, settings.max_tokens) for text in texts if text.strip())
    wanted = {text_key(settings, revision, text): text for text in sent}
    held = ledger.holds(list(wanted)) if ledger else set()
    missing = {key: text for key, text in wanted.items() if key not in held}
    tokens = sum(map(estimate_tokens, missing.values()))
    return len(missing), sum(1 for _ in batches(missing, batch)), tokens, cost_usd(settings, tokens)


@dataclass
class _Round:
    """What comes of the texts of one call of ``embed``; written by several threads, each its own rows and keys."""

    rows: Mapping[str, int]
    out: Vectors
    there: set[str] = field(default_factory=set)
    lacking: dict[str, Lacking] = field(default_factory=dict)
    latency_ms: dict[str, float] = field(default_factory=dict)
    held: int = 0
    requests: int = 0
    stopped: bool = False
    lock: threading.Lock = field(default_factory=threading.Lock)


@dataclass(frozen=True)
class LedgerEmbedder:
    """See ``providers.local.embedding.Embedder``.

    Attributes:
        settings: model, dimensions, and how it is asked.
        wire: what carries requests; None while the ledger is replayed.
        ledger: where vectors are kept.
        mode: see ``eval_assets.ledger.wire.LedgerWire``.
        revision: the store's: part of what a vector is found by.
        concurrency: requests at a time.
        facts: of what was asked so far: requests made, and texts that the ledger answered.
    """

    settings: EmbeddingSettings
    wire: Wire | None
    ledger: Ledger
    mode: Mode
    revision: str | int = 1
    concurrency: int = 8
    facts: dict[str, Any] = field(default_factory=lambda: {"calls made": 0, "calls replayed": 0})

    @property
    def name(self) -> str:
        """Model and dimensions."""
        return f"{self.settings.model} {self.settings.dimensions}"

    @property
    def dimensions(self) -> int:
        """As the settings say."""
        return self.settings.dimensions

    def embed(self, texts: Sequence[str], progress: Progress = quiet) -> Embedded:
        """Vectors of a store's texts, in batches.

        Raises:
            Stop: the endpoint gives nothing more, or the ledger is replayed and lacks a text; what came is kept.
        """
        found = self._embedded(texts, self.settings.batch, progress)
        unknown = sum(one.status == "not_run" for one in found.errors.values())
        if unknown:
            raise Stop(f"{self.name}: the vectors of {unknown} texts are not in the ledger, to be replayed")
        return found

    def embed_questions(self, texts: Sequence[str]) -> Embedded:
        """Vectors of questions, a request each, so that each has its own latency; raises ``Stop`` like ``embed``."""
        return self._embedded(texts, 1, quiet)

    def _embedded(self, texts: Sequence[str], size: int, progress: Progress) -> Embedded:
        sent = [cut(text, self.settings.max_tokens) for text in texts]
        keys = [text_key(self.settings, self.revision, text) for text in sent]
        wanted = dict(zip(keys, sent, strict=True))
        rows = {key: row for row, key in enumerate(wanted)}
        now = _Round(rows, np.zeros((len(rows), self.dimensions), dtype=np.float32))
        if self.mode != "refresh":
            self._look(list(wanted), now)
        now.held = len(now.there)
        blank = {key for key, text in wanted.items() if not text.strip()}
        now.lacking |= dict.fromkeys(blank, Lacking("a blank text has no vector", retryable=False))
        missing = {key: text for key, text in wanted.items() if key not in now.there and key not in blank}
        try:
            if self.wire is None or self.mode == "replay":
                why = str(NotRecorded(f"{self.name}: POST {PATH} is not in the ledger, to be replayed"))
                now.lacking |= dict.fromkeys(missing, Lacking(why, retryable=True, status="not_run"))
            else:
                self._ask_all(missing, size, now, lambda: progress("embedding", _settled(now), len(wanted)))
        finally:
            self.facts["calls made"] += now.requests
            self.facts["calls replayed"] += now.held
        return self._gathered(keys, now, cut_texts=sum(a != b for a, b in zip(texts, sent, strict=True)))

    def _gathered(self, keys: Sequence[str], now: _Round, cut_texts: int) -> Embedded:
        out = now.out if len(now.rows) == len(keys) else now.out[[now.rows[key] for key in keys]]
        return Embedded(
            out,
            {row: now.lacking[key] for row, key in enumerate(keys) if key in now.lacking},
            {row: now.latency_ms[key] for row, key in enumerate(keys) if key in now.latency_ms},
            {"texts cut": cut_texts, "texts from the ledger": now.held, "embedding requests": now.requests},
        )

    def _look(self, keys: Sequence[str], now: _Round) -> None:
        for start in range(0, len(keys), _LOOKED_FOR):
            for key, kept in self.ledger.look_many(keys[start : start + _LOOKED_FOR]).items():
                vector = np.zeros(0, dtype=np.float32)
                # What somebody else wrote there is asked for again.
                with suppress(Unreadable):
                    vector = unpacked(kept.reply)
                if len(vector) == self.dimensions:
                    now.out[now.rows[key]] = of_length_1(vector)
                    now.there.add(key)
                    now.latency_ms[key] = kept.latency_ms

    def _ask_all(self, missing: Mapping[str, str], size: int, now: _Round, told: Any) -> None:
        def one(batch: Sequence[tuple[str, str]]) -> None:
            try:
                ask(batch)
            except Stop:
                # Here, as batches before this one may take long to come to their end.
                now.stopped = True
                raise

        def ask(batch: Sequence[tuple[str, str]]) -> None:
            self._ask(batch, now)
            refused = [
                now.lacking[key].why for key, _ in batch if key in now.lacking and not now.lacking[key].retryable
            ]
            if len(batch) == len(refused) > 1 and not now.there:
                raise Stop(f"every text was refused: {refused[0]}")

        with ThreadPoolExecutor(threads(self.concurrency)) as pool:
            try:
                for _ in pool.map(one, batches(missing, size)):
                    told()
            except BaseException:
                now.stopped = True
                pool.shutdown(wait=True, cancel_futures=True)
                raise

    def _ask(self, batch: Sequence[tuple[str, str]], now: _Round) -> None:
        """Ask for some; where they are refused, find out which of them is at fault."""
        if now.stopped:
            return
        try:
            vectors, latency = self._send(batch, now)
        except Refused as error:
            if len(batch) > 1:
                middle = len(batch) // 2
                self._ask(batch[:middle], now)
                self._ask(batch[middle:], now)
                return
            now.lacking[batch[0][0]] = Lacking(str(error), error.retryable)
        except CallFailed as error:
            now.lacking |= {key: Lacking(str(error), error.retryable) for key, _ in batch}
        else:
            keys = [key for key, _ in batch]
            now.out[[now.rows[key] for key in keys]] = of_length_1(vectors)
            now.latency_ms |= dict.fromkeys(keys, latency)
            now.there |= set(keys)

    def _send(self, batch: Sequence[tuple[str, str]], now: _Round) -> tuple[npt.NDArray[np.float32], float]:
        assert self.wire is not None
        texts = [text for _, text in batch]
        unreadable = False

        def read(reply: Reply) -> tuple[npt.NDArray[np.float32], int | None, float]:
            nonlocal unreadable
            tokens = tokens_of(reply.body)
            try:
                unreadable = False
                return vectors_of(reply.body, len(batch), self.dimensions), tokens, reply.latency_ms
            except (CallFailed, Stop) as error:
                unreadable = True
                self._keep_failed("unreadable", error, reply.latency_ms, tokens)
                raise

        with now.lock:
            now.requests += 1
        try:
            vectors, tokens, latency = self.wire.send(embed_request(self.settings, texts), read)
        except (CallFailed, Stop) as error:
            # An unreadable reply is kept already, and what the budget forbids was no call.
            if not unreadable and not isinstance(error, OverBudget):
                self._keep_failed("failed", error)
            raise
        counts: list[int | None] = [None] * len(batch)
        if tokens is not None:
            counts = list(shares(tokens, [max(estimate_tokens(text), 1) for text in texts]))
        self.ledger.keep_many(
            [
                self._call("usable", latency, count, key=key, reply=f'"{packed(vector)}"')
                for (key, _), vector, count in zip(batch, vectors, counts, strict=True)
            ]
        )
        return vectors, latency

    def _keep_failed(
        self, status: CallStatus, error: Exception, latency_ms: float | None = None, tokens: int | None = None
    ) -> None:
        self.ledger.keep(self._call(status, latency_ms, tokens, error=str(error)))

    def _call(
        self,
        status: CallStatus,
        latency_ms: float | None,
        tokens: int | None,
        *,
        key: str | None = None,
        reply: str | None = None,
        error: str | None = None,
    ) -> Call:
        """A text's row, or a failed request's. The request is not kept: a store's texts are in the corpus."""
        return Call(
            service=f"embedding {self.settings.model}",
            purpose="embed",
            endpoint=f"POST {PATH}",
            status=status,
            key=key,
            reply=reply,
            error=error,
            latency_ms=latency_ms,
            input_tokens=tokens,
            cost_usd=cost_usd(self.settings, tokens),
        )


def _settled(now: _Round) -> int:
    return len(now.there) + len(now.lacking)


@contextmanager
def embedder_for(
    project: Project, name: str, store: Store, settings: EmbeddingSettings, *, silent: bool = False
) -> Iterator[LedgerEmbedder]:
    """What makes the vectors of a store and of questions to it; ``silent``: it will ask nothing, and needs no key.

    Raises:
        BadInput: it has no key, or no price where money is limited; not where the ledger is only replayed.
    """
    mode: Mode = "replay" if silent else ledger_mode()
    lacking = key_lacking(name, store)
    if lacking and mode != "replay":
        raise BadInput(f"stores.{name}", "there is no key in the environment", lacking)
    limit = limit_of_environment() if BUDGET.limit_usd is None else BUDGET.limit_usd
    if limit is not None and mode != "replay" and settings.input_usd is None:
        remedy = "give ingest.embedding.input_usd in the settings, or leave the limit out"
        raise BadInput(f"stores.{name}", "without a price no limit of money can be kept", remedy)
    ledger = open_ledger(project)
    wire = None if mode == "replay" else _wire(store, settings)
    # As for models: a step that nobody refreshes has the limit for itself.
    alone = limited(limit) if BUDGET.limit_usd is None and limit is not None else nullcontext()
    try:
        with alone:
            concurrency = store.service.concurrency or ACCESS.concurrency
            yield LedgerEmbedder(settings, wire, ledger, mode, store.revision, concurrency)
    finally:
        ledger.close()
        if wire is not None:
            wire.close()


def _wire(store: Store, settings: EmbeddingSettings) -> EmbeddingWire:
    variable = key_variable(store)
    key = os.environ.get(variable, "").strip() if variable else ""
    return EmbeddingWire(
        f"embedding {settings.model}",
        store.service.base_url or ACCESS.base_url,
        {"Authorization": f"Bearer {key}"} if key else {},
        (key,) if key else (),
        manners_of(store.service, ACCESS),
        judged,
        settings=settings,
    )
