"""A server that speaks OpenAI's chat completions as four families of models do: OpenAI's two, Google's, Anthropic's.

What each takes, ignores and refuses is theirs: reasoning models refuse ``max_tokens`` and any ``temperature`` but 1, in
OpenAI's words; Google says errors as a list and leaves thoughts out of ``completion_tokens``; Anthropic's layer ignores
``response_format`` and ``seed``. What is answered is up to a script; by itself it reads the first memory out loud, and
judges an answer right that holds the reference.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from fakes.faults import Faults
from fakes.server import Answer, Fake, Seen

Family = Literal["chat", "reasoning", "google", "anthropic"]
_FENCED = re.compile(
    r"<<(?P<label>.*?) \| (?P<marker>[0-9a-f]{16})>>\n(?P<text>.*?)\n<<end \| (?P=marker)>>", re.DOTALL
)
_OFFICIAL = re.compile(
    r"(?:Correct Answer|Rubric|Explanation): (?P<gold>.*?)\n\nModel Response: (?P<said>.*?)\n\n", re.DOTALL
)
PATHS: dict[Family, str] = {
    "chat": "/v1/chat/completions",
    "reasoning": "/v1/chat/completions",
    "google": "/v1beta/openai/chat/completions",
    "anthropic": "/v1/chat/completions",
}


@dataclass(frozen=True)
class Asked:
    """One request to a model.

    Attributes:
        model: as named in it.
        body: all of it.
        time: how often this very body came, this time included.
    """

    model: str
    body: Mapping[str, Any]
    time: int

    @property
    def text(self) -> str:
        """What the user's message says."""
        return str(self.body["messages"][-1]["content"])

    @property
    def judges(self) -> bool:
        """A judge is asked, not a reader."""
        return "Today: " not in self.text

    def fenced(self, label: str) -> list[str]:
        """Texts in the prompt under labels that begin so."""
        return [found["text"] for found in _FENCED.finditer(self.text) if found["label"].startswith(label)]

    @property
    def question(self) -> str:
        """What is asked of a reader, or was."""
        return next(iter(self.fenced("question")), "")

    @property
    def graded(self) -> tuple[str, str]:
        """The reference and the answer that a judge is shown."""
        found = _OFFICIAL.search(self.text)
        if found:
            return found["gold"], found["said"]
        return self.fenced("reference")[0], self.fenced("answer to grade")[0]


@dataclass(frozen=True)
class Say:
    """A reply: its text, why it ended, what the model says when it refuses, and whether there is any choice."""

    text: str | None
    finish: str = "stop"
    refusal: str | None = None
    choices: bool = True
    usage: bool = True


@dataclass(frozen=True)
class Fail:
    """An error, in OpenAI's form."""

    status: int
    code: str | None
    message: str
    kind: str = "invalid_request_error"
    param: str | None = None
    headers: Mapping[str, str] | None = None


Script = Callable[[Asked], Say | Fail]


def verdict(right: bool, why: str = "as the reference says") -> str:
    """A judge's reply, in the form that it is asked for."""
    return json.dumps({"explanation": why, "score": float(right), "label": "correct" if right else "incorrect"})


def usual(asked: Asked) -> Say:
    """A reader reads the first memory out loud; a judge looks for the reference in the answer."""
    if not asked.judges:
        return Say(next(iter(asked.fenced("memory")), "I don't know."))
    gold, said = asked.graded
    right = gold.lower() in said.lower()
    return Say(verdict(right) if asked.fenced("reference") else ("yes" if right else "no"))


class FakeOpenAI(Fake):
    """See the module.

    Attributes:
        script: what is answered.
        spent_usd: by the prices given, of all that was answered.
    """

    texts: Collection[str] = ("content",)
    key = "sk-fake-0123456789"

    def __init__(
        self,
        script: Script = usual,
        *,
        prices: tuple[float, float] = (0.0, 0.0),
        faults: Faults | None = None,
        latency_s: float = 0.0,
    ) -> None:
        super().__init__(faults=faults, latency_s=latency_s)
        self.script = script
        self.prices = prices
        self.spent_usd = 0.0
        self._times: Counter[bytes] = Counter()

    @property
    def asked(self) -> list[Asked]:
        """All that models were asked, in order."""
        return [Asked(one.body["model"], one.body, 1) for one in self.seen]

    @property
    def readers(self) -> list[Asked]:
        return [one for one in self.asked if not one.judges]

    @property
    def judges(self) -> list[Asked]:
        return [one for one in self.asked if one.judges]

    def answer(self, seen: Seen) -> Answer:
        model = str(seen.body["model"])
        family = family_of(model)
        # Text is free to say anything but who is who in the source.
        said = " ".join(message["content"] for message in seen.body["messages"])
        self.breaches += [name for name in self.known_ids if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", said)]
        if seen.method != "POST" or seen.path != PATHS[family]:
            return _error(family, Fail(404, "model_not_found", f"no model {model} at {seen.path}"))
        if seen.headers.get("authorization") != f"Bearer {self.key}":
            return _error(family, _bad_key(family, seen.headers.get("authorization", "")))
        refused = _refused(family, seen.body)
        if refused:
            return _error(family, refused)
        self._times[seen.raw] += 1
        found = self.script(Asked(model, seen.body, self._times[seen.raw]))
        if isinstance(found, Fail):
            return _error(family, found)
        return Answer(200, self._completion(family, seen.body, found))

    def _completion(self, family: Family, body: Mapping[str, Any], say: Say) -> dict[str, Any]:
        message = {"role": "assistant", "content": say.text, "refusal": say.refusal}
        given = sum(len(str(one["content"])) // 4 + 4 for one in body["messages"])
        visible = len(say.text or "") // 4 + 1
        thoughts = 40 if family in ("reasoning", "google") else 0
        self.spent_usd += (given * self.prices[0] + (visible + thoughts) * self.prices[1]) / 1e6
        usage = {
            "prompt_tokens": given,
            "completion_tokens": visible if family == "google" else visible + thoughts,
            "total_tokens": given + visible + thoughts,
        }
        return {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1,
            "model": body["model"],
            "choices": [{"index": 0, "message": message, "finish_reason": say.finish}] if say.choices else [],
            "usage": usage if say.usage else None,
        }


def family_of(model: str) -> Family:
    """By the model's name."""
    if model.startswith(("gpt-5", "o1", "o3", "o4")):
        return "reasoning"
    if model.startswith("gemini"):
        return "google"
    return "anthropic" if model.startswith("claude") else "chat"


def _refused(family: Family, body: Mapping[str, Any]) -> Fail | None:
    """What a family does not take."""
    if family == "reasoning" and "max_tokens" in body:
        said = (
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
        )
        return Fail(400, "unsupported_parameter", said, param="max_tokens")
    if family == "reasoning" and body.get("temperature", 1) != 1:
        said = (
            "Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) value is "
            "supported."
        )
        return Fail(400, "unsupported_value", said, param="temperature")
    if family == "chat" and "reasoning_effort" in body:
        said = "Unsupported parameter: 'reasoning_effort' is not supported with this model."
        return Fail(400, "unsupported_parameter", said, param="reasoning_effort")
    return None


def _bad_key(family: Family, given: str) -> Fail:
    shown = given.removeprefix("Bearer ")
    if family == "google":
        return Fail(400, None, "API key not valid. Please pass a valid API key.")
    return Fail(401, "invalid_api_key", f"Incorrect API key provided: {shown}.")


def _error(family: Family, fail: Fail) -> Answer:
    if family == "google":
        body: Any = [{"error": {"code": fail.status, "message": fail.message, "status": "INVALID_ARGUMENT"}}]
    elif family == "anthropic":
        body = {"error": {"type": fail.kind, "code": fail.code, "message": fail.message, "param": None}}
    else:
        body = {"error": {"message": fail.message, "type": fail.kind, "param": fail.param, "code": fail.code}}
    return Answer(fail.status, body, fail.headers or {})
