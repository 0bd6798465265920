"""Asking a model: the request, its way through the ledger, and the text of the reply."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

from converters.errors import BadInput
from eval_assets.ledger.ledger import Ledger, Mode
from eval_assets.ledger.settings import ledger_mode, open_ledger
from eval_assets.ledger.wire import LedgerWire
from eval_assets.models.budget import BUDGET, limit_of_environment, limited
from eval_assets.models.settings import Model
from eval_assets.project import Project
from providers.remote.errors import Degraded, Unreadable
from providers.remote.wire import Reply, Request, Wire

T = TypeVar("T")
Purpose = Literal["answer", "judge"]


@dataclass(frozen=True)
class Said:
    """What came of one request: what was made of the reply, and what it took.

    Attributes:
        value: what ``read`` made of the text.
        latency_ms: of the real call, also where the ledger answers.
        input_tokens: of the prompt, as the endpoint counts them.
        output_tokens: of the reply.
        cost_usd: of the real call.
        replayed: the ledger answers.
    """

    value: Any
    latency_ms: float
    input_tokens: int | None
    output_tokens: int | None
    cost_usd: float | None
    replayed: bool


@dataclass
class Took:
    """What one question took, however it ended; replies that could not be read count, too: they are paid for.

    Attributes:
        replies: all that came, of the ledger or of the model.
    """

    replies: list[Reply] = field(default_factory=list)

    @property
    def row(self) -> dict[str, Any]:
        """Columns of ``Answers`` and ``Judgments``: the last call's latency, the tokens and the cost of all calls."""
        if not self.replies:
            return {}
        sums = {
            name: None if None in (values := [getattr(one, name) for one in self.replies]) else sum(values)
            for name in ("input_tokens", "output_tokens", "cost_usd")
        }
        return {"latency_ms": self.replies[-1].latency_ms, **sums}


@dataclass(frozen=True)
class Chat:
    """A model that can be asked, from several threads.

    Attributes:
        name: in models.yaml.
        model: its settings.
        wire: what carries calls; None while the ledger is replayed.
        ledger: where they are kept.
        mode: see ``LedgerWire``.
    """

    name: str
    model: Model
    wire: Wire | None
    ledger: Ledger
    mode: Mode

    def ask(
        self,
        purpose: Purpose,
        messages: Sequence[Mapping[str, str]],
        read: Callable[[str], T],
        *,
        schema: Mapping[str, Any] | None = None,
        parameters: Mapping[str, Any] | None = None,
        cut_ok: bool = False,
        took: Took | None = None,
    ) -> Said:
        """Ask, and read the reply's text; what determines the answer is the model, its parameters and the messages.

        Args:
            purpose: what the call is for.
            messages: role and content.
            read: makes a value of the text, or raises ``Unreadable``, after which it is asked again.
            schema: of the reply, where the endpoint honours one.
            parameters: in place of the model's own.
            cut_ok: a reply that was cut off is read like another.
            took: is told of every reply.

        Raises:
            Degraded: the reply was cut off; its ``value`` is the text so far.
            CallFailed: the call failed.
            Stop: no further call is of use.
        """
        replies = (took or Took()).replies

        def read_reply(reply: Reply) -> T:
            replies.append(reply)
            return read(text_of(reply.body, cut_ok=cut_ok))

        request = Request(
            "POST", "/chat/completions", purpose, body=self.body(messages, schema, parameters or {}), repeatable=True
        )
        value = self.through_ledger().send(request, read_reply)
        last = replies[-1]
        return Said(
            value, last.latency_ms, last.input_tokens, last.output_tokens, last.cost_usd, replayed=last.replayed
        )

    def through_ledger(self) -> LedgerWire:
        """What carries one question's calls; what determines an answer beside the body is in its context."""
        context = {"base_url": self.model.base_url, "revision": str(self.model.revision)}
        return LedgerWire(self.wire, self.ledger, f"model {self.name}", self.mode, context, identity=self.model.model)

    def body(
        self, messages: Sequence[Mapping[str, str]], schema: Mapping[str, Any] | None, parameters: Mapping[str, Any]
    ) -> dict[str, Any]:
        """The request's body: only parameters that the endpoint honours."""
        model = self.model
        body: dict[str, Any] = {"model": model.model, "messages": [dict(message) for message in messages]}
        longest = parameters.get("max_tokens", model.max_output_tokens)
        # What a reasoning model thinks counts, too: a judge's ten tokens would leave no room for a word.
        body[model.token_parameter] = max(longest, model.max_output_tokens) if model.reasoning_effort else longest
        if model.temperature is not None:
            body["temperature"] = parameters.get("temperature", model.temperature)
        if model.seed is not None:
            body["seed"] = model.seed
        if model.reasoning_effort is not None:
            body["reasoning_effort"] = model.reasoning_effort
        if schema is not None and model.structured == "json_schema":
            named = {"name": "reply", "strict": True, "schema": dict(schema)}
            body["response_format"] = {"type": "json_schema", "json_schema": named}
        elif schema is not None and model.structured == "json_object":
            body["response_format"] = {"type": "json_object"}
        return body


def text_of(body: Any, *, cut_ok: bool = False) -> str:
    """The text of a chat completion.

    Raises:
        Unreadable: there is none, or the model refused to answer.
        Degraded: it was cut off, and that is not ``cut_ok``; the value is the text so far.
    """
    choices = body.get("choices") if isinstance(body, Mapping) else None
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, Mapping) else None
    if not isinstance(choice, Mapping) or not isinstance(message, Mapping):
        raise Unreadable("the reply has no choices")
    if message.get("refusal") or choice.get("finish_reason") == "content_filter":
        raise Unreadable("the model refused to answer")
    content = message.get("content")
    if not isinstance(content, str) or not content.strip():
        ended = choice.get("finish_reason") == "length"
        raise Unreadable("the reply was cut off before its first word" if ended else "the reply has no text")
    if choice.get("finish_reason") == "length" and not cut_ok:
        raise Degraded("the reply was cut off", content)
    return content


def key_lacking(model: Model) -> str | None:
    """What a person can do about a model whose key is not in the environment; None where it is, or none is needed."""
    if model.key_env is None or os.environ.get(model.key_env, "").strip():
        return None
    return f"model {model.model} needs a key: set the environment variable {model.key_env}"


@contextmanager
def chat_with(project: Project, name: str, model: Model) -> Iterator[Chat]:
    """A model, ready to be asked.

    Raises:
        BadInput: it has no key, or no price where money is limited; not where the ledger is only replayed.
    """
    from eval_assets.models.wire import ModelWire

    mode = ledger_mode()
    lacking = key_lacking(model)
    if lacking and mode != "replay":
        raise BadInput(f"models.{name}", "there is no key in the environment", lacking)
    limit = limit_of_environment() if BUDGET.limit_usd is None else BUDGET.limit_usd
    if limit is not None and mode != "replay" and None in (model.input_usd, model.output_usd):
        remedy = "give input_usd and output_usd in data/models.yaml, or leave the limit out"
        raise BadInput(f"models.{name}", "without a price no limit of money can be kept", remedy)
    ledger = open_ledger(project)
    key = os.environ.get(model.key_env, "").strip() if model.key_env else ""
    wire = None if mode == "replay" else ModelWire(f"model {name}", model, key)
    # A step that nobody refreshes, but somebody started in the UI, has the limit for itself.
    alone = limited(limit) if BUDGET.limit_usd is None and limit is not None else nullcontext()
    try:
        with alone:
            yield Chat(name, model, wire, ledger, mode)
    finally:
        ledger.close()
        if wire is not None:
            wire.close()
