"""``POST /embeddings`` as OpenAI's API has it, which Ollama, vLLM and others follow: its body, its reply, its price.

Source: https://platform.openai.com/docs/api-reference/embeddings/create (``model``, ``input``, ``encoding_format``,
``dimensions``; ``data`` of ``index`` and ``embedding``; ``usage.prompt_tokens``).
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from eval_assets.models.budget import BUDGET, Budget
from judges.tokens import estimate_tokens
from providers.local.embedding import Vectors
from providers.local.settings import EmbeddingSettings
from providers.remote.errors import OutOfQuota, Stop, Unreadable, one_line
from providers.remote.http import HttpWire
from providers.remote.retry import Again
from providers.remote.wire import Read, Reply, Request, T

PATH: Final = "/embeddings"
UNREADABLE_TRIES: Final = 3
"""How often an unreadable reply is asked for again, the first time included: each is paid for."""
WIRE_TYPE: Final = np.dtype("<f4")
_MILLION: Final = 1_000_000


class WrongDimensions(Stop):
    """The model's vectors are longer or shorter than the settings say: so all would be, and each is paid for."""


def embed_request(settings: EmbeddingSettings, texts: Sequence[str]) -> Request:
    """The request for vectors of texts; it holds nothing but them and the model's parameters."""
    body: dict[str, Any] = {"model": settings.model, "input": list(texts)}
    if settings.format == "base64":
        body["encoding_format"] = "base64"
    if settings.shorten:
        body["dimensions"] = settings.dimensions
    return Request("POST", PATH, "embed", body=body, repeatable=True)


def cut(text: str, max_tokens: int) -> str:
    """The longest beginning of a text that is estimated to have no more tokens."""
    if estimate_tokens(text) <= max_tokens:
        return text
    fits, over = 0, len(text)
    while over - fits > 1:
        middle = (fits + over) // 2
        fits, over = (middle, over) if estimate_tokens(text[:middle]) <= max_tokens else (fits, middle)
    return text[:fits]


def vectors_of(body: Any, count: int, dimensions: int) -> npt.NDArray[np.float32]:
    """The vectors of a reply as they came, in the order of the texts.

    Raises:
        Unreadable: another number of them, a place twice, or what is no vector: not a number, infinite, all zeros.
        WrongDimensions: they are of another length.
    """
    data = body.get("data") if isinstance(body, Mapping) else None
    if not isinstance(data, list) or not all(isinstance(one, Mapping) for one in data):
        raise Unreadable("the reply has no list of vectors")
    if len(data) != count:
        raise Unreadable(f"the reply has {len(data)} vectors for {count} texts")
    found: dict[int, npt.NDArray[np.float32]] = {}
    for one in data:
        index = one.get("index")
        if type(index) is not int or not 0 <= index < count or index in found:
            raise Unreadable(f"the reply has a vector in place {index!r} of {count}")
        found[index] = unpacked(one.get("embedding"))
    wrong = next((len(vector) for vector in found.values() if len(vector) != dimensions), None)
    if wrong is not None:
        raise WrongDimensions(
            f"the model's vectors have {wrong} dimensions, not {dimensions}: set embedding.dimensions to {wrong}, or "
            f"embedding.shorten to true if the endpoint can shorten them"
        )
    vectors = np.stack([found[index] for index in range(count)])
    if not np.isfinite(vectors).all() or not vectors.any(axis=1).all():
        raise Unreadable("the reply has a vector of zeros, or one with what is no finite number")
    return vectors


def of_length_1(vectors: npt.NDArray[np.float32]) -> Vectors:
    """The same directions; in double precision, where no square is too large or too small."""
    wide = vectors.astype(np.float64)
    unit: Vectors = (wide / np.linalg.norm(wide, axis=-1, keepdims=True)).astype(np.float32)
    return unit


def packed(vector: npt.NDArray[np.float32]) -> str:
    """As the ledger keeps it: base64 of float32, little-endian."""
    return base64.b64encode(vector.astype(WIRE_TYPE).tobytes()).decode()


def unpacked(value: Any) -> npt.NDArray[np.float32]:
    """A vector from base64 of float32, or from a list of numbers; raises ``Unreadable``."""
    if isinstance(value, str):
        try:
            raw = base64.b64decode(value, validate=True)
        except (binascii.Error, ValueError):
            raise Unreadable("the reply has a vector that is no base64") from None
        if not raw or len(raw) % WIRE_TYPE.itemsize:
            raise Unreadable(f"the reply has a vector of {len(raw)} bytes")
        return np.frombuffer(raw, dtype=WIRE_TYPE).astype(np.float32)
    if not isinstance(value, list) or not value or not {*map(type, value)} <= {float, int}:
        raise Unreadable("the reply has a vector that is neither numbers nor base64")
    try:
        with np.errstate(over="ignore"):
            return np.asarray(value, dtype=np.float64).astype(np.float32)
    except OverflowError:
        raise Unreadable("the reply has a vector with a number that is too large") from None


def tokens_of(body: Any) -> int | None:
    """Tokens that the endpoint counted; None where it does not say."""
    usage = body.get("usage") if isinstance(body, Mapping) else None
    counts = [usage.get(name) for name in ("prompt_tokens", "total_tokens")] if isinstance(usage, Mapping) else []
    return next((one for one in counts if type(one) is int and one >= 0), None)


def cost_usd(settings: EmbeddingSettings, tokens: int | None) -> float | None:
    """What so many tokens cost; None where the price or their number is not known."""
    return None if settings.input_usd is None or tokens is None else tokens * settings.input_usd / _MILLION


def shares(total: int, weights: Sequence[int]) -> list[int]:
    """A number in parts that add up to it, in proportion to weights of at least 1."""
    whole = sum(weights)
    return [end - start for start, end in pairwise([0, *(total * so_far // whole for so_far in accumulate(weights))])]


def judged(status: int, headers: Mapping[str, str], body: Any) -> Exception | None:
    """What concerns all texts alike, by OpenAI's codes: no money, or a request that no text would mend."""
    told = body.get("error") if isinstance(body, Mapping) else None
    said = told if isinstance(told, Mapping) else {}
    code = str(said.get("code") or said.get("type") or "")
    message = one_line(str(said.get("message") or f"status {status}"))
    if code in ("insufficient_quota", "billing_hard_limit_reached"):
        return OutOfQuota(f"embeddings: {message}")
    if status == 404 or code in ("model_not_found", "unsupported_parameter", "unsupported_value"):
        return Stop(f"embeddings: {message}; mend the store's embedding settings, or service.base_url")
    return None


@dataclass
class EmbeddingWire(HttpWire):
    """HTTP within a budget. Each try is paid for that may have been answered.

    Attributes:
        settings: with the price.
        budget: of this process.
    """

    settings: EmbeddingSettings | None = None
    budget: Budget = field(default_factory=lambda: BUDGET)

    def once(self, request: Request, read: Read[T]) -> T:
        """See ``HttpWire.once``; raises ``OverBudget`` as well."""
        assert self.settings is not None
        # Twice what we count: numbers and rare scripts have more tokens than we estimate.
        most = cost_usd(self.settings, 2 * sum(estimate_tokens(text) + 1 for text in request.body["input"])) or 0.0
        answered = False

        def paid(reply: Reply) -> T:
            nonlocal answered
            answered = True
            cost = cost_usd(self.settings, tokens_of(reply.body)) if self.settings else None
            # Without usage figures nobody knows: a limit is kept by the worst case.
            self.budget.pay(most if cost is None else cost)
            return read(reply)

        with self.budget.reserving(most):
            try:
                return super().once(request, paid)
            except Again as again:
                if not isinstance(again.failure, Unreadable):
                    raise
                if answered:
                    raise Again(again.failure, tries=UNREADABLE_TRIES) from None
                # It may have been answered, and billed, though nobody here heard it.
                self.budget.pay(most)
                raise
