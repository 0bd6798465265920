"""Chat completions through the openai package, as a ``providers.remote.wire.Wire``.

The package does the talking: addresses, keys, headers, errors. Retries are ours, because every try is to be paced, and
to be paid for in the ledger.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from eval_assets.models.budget import BUDGET, Budget
from eval_assets.models.settings import Model
from judges.tokens import estimate_tokens
from providers.remote.errors import (
    BadKey,
    CallFailed,
    OutOfQuota,
    Refused,
    Stop,
    Unavailable,
    Unreachable,
    Unreadable,
    one_line,
)
from providers.remote.http import retry_after
from providers.remote.pace import Pace
from providers.remote.retry import Again, Manners, persistently
from providers.remote.wire import Read, Reply, Request, T

if TYPE_CHECKING:
    from openai import APIStatusError, OpenAI

UNREADABLE_TRIES: Final = 3
"""How often an unreadable reply is asked for again, the first time included: each is paid for."""
_MILLION: Final = 1_000_000
_A_MESSAGE: Final = 4
_NO_KEY: Final = "none"


class ModelWire:
    """Carries requests whose body is a chat completion's. Safe to use from several threads; close it when done."""

    def __init__(self, name: str, model: Model, key: str, budget: Budget = BUDGET) -> None:
        self._name = name
        self._model = model
        self._key = key
        self._budget = budget
        self._pace = Pace(model.requests_per_minute, model.concurrency)
        self._manners = Manners(
            concurrency=model.concurrency,
            requests_per_minute=model.requests_per_minute,
            timeout_s=model.timeout_s,
            deadline_s=model.deadline_s,
            attempts=model.attempts,
            backoff_s=model.backoff_s,
        )
        self._client = _client(model, key)

    def close(self) -> None:
        """Close its connections."""
        self._client.close()

    def send(self, request: Request, read: Read[T]) -> T:
        """See ``providers.remote.wire.Wire``; raises ``OverBudget`` as well."""
        return persistently(self._manners, lambda: self._once(request, read))

    def _once(self, request: Request, read: Read[T]) -> T:
        most = most_usd(self._model, request.body)
        with self._budget.reserving(most):
            reply = self._ask(request.body, most)
            # Without usage figures nobody knows: a limit is kept by the worst case.
            self._budget.pay(most if reply.cost_usd is None else reply.cost_usd)
        try:
            return read(reply)
        except Unreadable as error:
            raise Again(error, tries=UNREADABLE_TRIES) from None

    def _ask(self, body: Mapping[str, Any], most: float) -> Reply:
        import httpx2
        import openai

        try:
            with self._pace.turn():
                began = time.perf_counter()
                # Not chat.completions.create: looking through a body for what it might have to rename takes as long
                # as sending it, and building an object of the reply is of no use here.
                raw = self._client.post("/chat/completions", body=dict(body), cast_to=httpx2.Response)
                text, status = raw.text, raw.status_code
                latency = (time.perf_counter() - began) * 1000
        except openai.APITimeoutError as error:
            self._pay_for_silence(error, most)
            raise Again(Unavailable(f"{self._name}: no answer within {self._model.timeout_s:g} s")) from None
        except openai.APIConnectionError as error:
            self._pay_for_silence(error, most)
            raise Again(self._unreachable(error)) from None
        except openai.APIStatusError as error:
            raise self._failure(error) from None
        return self._reply(self._clean(text), status, latency)

    def _reply(self, text: str, status: int, latency: float) -> Reply:
        try:
            decoded = json.loads(text)
        except (ValueError, RecursionError):
            # A page of something in between: no word of the model's.
            raise Again(Unavailable(f"{self._name}: not JSON: {text!r}"), tries=UNREADABLE_TRIES) from None
        usage = decoded.get("usage") if isinstance(decoded, Mapping) else None
        given, made = _counted(usage)
        return Reply(status, decoded, latency, False, given, made, cost_usd(self._model, given, made), text)

    def _pay_for_silence(self, error: Exception, most: float) -> None:
        """A request that was sent may be answered, and billed, though nobody here heard it."""
        if not _not_connected(error):
            self._budget.pay(most)

    def _unreachable(self, error: Exception) -> Stop | CallFailed:
        cause = error.__cause__
        if _not_connected(error):
            said = (
                f"{self._name}: no connection to {self._model.base_url} ({one_line(str(cause))}); is it running there?"
            )
            return Unreachable(self._clean(said))
        return Unavailable(self._clean(f"{self._name}: no answer ({cause or error})"))

    def _failure(self, error: APIStatusError) -> Exception:
        """What an answer that is not 2xx means; the codes are those of OpenAI's API, which the others follow.

        Not everywhere: Google answers a wrong key, and Anthropic an account without money, with 400 and a sentence.
        """
        status, body = error.status_code, _error_body(error)
        said = one_line(self._clean(f"{self._name}: status {status}: {body.get('message') or error.message}"))
        code = str(body.get("code") or body.get("type") or "")
        words = said.lower()
        if status in (401, 403) or (status == 400 and "api key not valid" in words):
            return BadKey(said)
        poor = status == 400 and "credit balance is too low" in words
        if status == 402 or poor or code in ("insufficient_quota", "billing_hard_limit_reached"):
            return OutOfQuota(said)
        if status in (408, 409, 425, 429):
            seconds = retry_after(error.response.headers)
            if seconds is not None:
                self._pace.hold(min(seconds, self._manners.deadline_s))
            return Again(Unavailable(said), seconds)
        if status >= 500:
            return Again(Unavailable(said), retry_after(error.response.headers))
        if code in ("unsupported_parameter", "unsupported_value", "model_not_found") or status == 404:
            return Stop(f"{said}; mend the model in data/models.yaml")
        return Refused(said)

    def _clean(self, text: str) -> str:
        return text.replace(self._key, "[key]") if self._key else text


def cost_usd(model: Model, given: int | None, made: int | None) -> float | None:
    """What so many tokens cost; None where the price or a count is not known."""
    if model.input_usd is None or model.output_usd is None or given is None or made is None:
        return None
    return (given * model.input_usd + made * model.output_usd) / _MILLION


def prompt_tokens(messages: Sequence[Mapping[str, str]]) -> int:
    """Tokens of a prompt, estimated, with the few that each message adds."""
    return sum(estimate_tokens(message["content"]) + _A_MESSAGE for message in messages)


def most_usd(model: Model, body: Mapping[str, Any]) -> float:
    """What a request may cost at most: its prompt, and the longest reply; 0 without a price.

    The prompt is taken to have twice as many tokens as we count: numbers and rare scripts have more than we estimate.
    """
    prompt = 2 * prompt_tokens(body["messages"])
    return cost_usd(model, prompt, longest_reply(model, body)) or 0.0


def longest_reply(model: Model, body: Mapping[str, Any]) -> int:
    """Tokens that a reply to a request may have, thoughts included."""
    return int(body.get("max_completion_tokens") or body.get("max_tokens") or model.max_output_tokens)


def _client(model: Model, key: str) -> OpenAI:
    from openai import OpenAI

    return OpenAI(api_key=key or _NO_KEY, base_url=model.base_url, timeout=model.timeout_s, max_retries=0)


def _not_connected(error: Exception) -> bool:
    """Nothing was sent: httpx says so by ``ConnectError`` and ``ConnectTimeout``."""
    return error.__cause__ is not None and "Connect" in type(error.__cause__).__name__


def _counted(usage: Any) -> tuple[int | None, int | None]:
    """Tokens of the prompt, and of all that was generated.

    OpenAI counts thoughts among ``completion_tokens``, Google's layer in ``total_tokens`` alone; both bill them.
    """
    given, made, total = (_tokens(usage, name) for name in ("prompt_tokens", "completion_tokens", "total_tokens"))
    if given is not None and made is not None and total is not None:
        made = max(made, total - given)
    return given, made


def _tokens(usage: Any, name: str) -> int | None:
    value = usage.get(name) if isinstance(usage, Mapping) else None
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _error_body(error: APIStatusError) -> Mapping[str, Any]:
    """What it says, whether the package unwrapped it or not; Google sends a list of one."""
    body: Any = error.body
    if isinstance(body, list) and body:
        body = body[0]
    inner = body.get("error", body) if isinstance(body, Mapping) else None
    return inner if isinstance(inner, Mapping) else {}
