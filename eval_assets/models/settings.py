"""Models, readers and judges as the YAML settings name them."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from pydantic import Field, StringConstraints

from eval_assets.strict import Name, Strict

EXTRACTIVE: Final = "extractive"
LEXICAL: Final = "lexical"
_Price = Annotated[float, Field(ge=0)]


class Model(Strict):
    """A model behind an endpoint that speaks OpenAI's chat completions.

    Attributes:
        model: as the endpoint names it.
        base_url: of the endpoint; its paths begin after it.
        key_env: name of the environment variable that holds the key; None where there is none, as of a local server.
        revision: change it when the endpoint's model changes behind its name.
        context_tokens: prompt and reply together, at most.
        max_output_tokens: of a reply; of a reasoning model its thoughts included.
        token_parameter: how the endpoint wants that to be called.
        temperature: None for models that refuse one.
        seed: None for endpoints that refuse or ignore one.
        reasoning_effort: of a reasoning model.
        structured: how a reply's form can be asked for: by schema, as any JSON object, or not at all.
        input_usd: dollars for a million tokens of prompts; None where no price is known.
        output_usd: dollars for a million tokens of replies.
        concurrency: calls at a time.
        requests_per_minute: at most; None for no limit of ours.
        timeout_s: seconds for one try of a call.
        deadline_s: seconds for a call with all its retries.
        attempts: tries of a call, at most.
        backoff_s: seconds before the second try.
    """

    model: Annotated[str, StringConstraints(min_length=1)]
    base_url: Annotated[str, StringConstraints(pattern=r"^https?://[^\s@]+$")]
    key_env: Annotated[str, StringConstraints(pattern=r"^[A-Za-z_]\w*$")] | None = None
    revision: str | int = 1
    context_tokens: Annotated[int, Field(ge=1000)] = 128_000
    max_output_tokens: Annotated[int, Field(ge=1)] = 1024
    token_parameter: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    temperature: Annotated[float, Field(ge=0, le=2)] | None = 0.0
    seed: int | None = None
    reasoning_effort: str | None = None
    structured: Literal["json_schema", "json_object", "none"] = "none"
    input_usd: _Price | None = None
    output_usd: _Price | None = None
    concurrency: Annotated[int, Field(ge=1, le=64)] = 20
    requests_per_minute: Annotated[float, Field(gt=0)] | None = None
    timeout_s: Annotated[float, Field(gt=0)] = 120.0
    deadline_s: Annotated[float, Field(gt=0)] = 600.0
    attempts: Annotated[int, Field(ge=1, le=20)] = 6
    backoff_s: Annotated[float, Field(ge=0)] = 0.5

    @property
    def decides(self) -> dict[str, Any]:
        """What of it may change an answer: neither prices nor manners."""
        names = ("model", "base_url", "revision", "max_output_tokens", "temperature", "seed", "reasoning_effort")
        return {name: getattr(self, name) for name in (*names, "structured")}


class Reader(Strict):
    """What makes an answer of hits.

    Attributes:
        kind: a model, or the extractive reader, which needs none.
        model: name of the model.
        budget_tokens: of a prompt; None for what the model's context leaves beside a reply.
        hits: the best so many are read; None for all.
    """

    kind: Literal["model", "extractive"] = "model"
    model: Name | None = None
    budget_tokens: Annotated[int, Field(ge=200)] | None = None
    hits: Annotated[int, Field(ge=1)] | None = None


class JudgeSettings(Strict):
    """What says whether an answer is right.

    Attributes:
        kind: a model, or the lexical judge, which needs none.
        model: name of the model.
        prompts: our five, or LongMemEval's own.
    """

    kind: Literal["model", "lexical"] = "model"
    model: Name | None = None
    prompts: Literal["default", "official"] = "default"
