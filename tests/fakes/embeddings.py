"""A server that speaks OpenAI's embeddings: vectors are hashed bags of words, so that texts that share words are near.

Limits and errors are OpenAI's: 2,048 texts a request, 8,192 tokens a text, none of them empty.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections import Counter
from collections.abc import Callable, Collection

import numpy as np

from fakes.faults import Faults
from fakes.server import Answer, Fake, Seen

PATH = "/v1/embeddings"
MOST_TEXTS = 2_048
MOST_TOKENS = 8_192


class FakeEmbeddings(Fake):
    """See the module.

    Attributes:
        dimensions: of its one model, which can be shortened.
        refused: words whose texts are refused.
        broken: what is done to the list of vectors before it goes out.
        usage: whether it says how many tokens it read.
        embedded: how often a vector was made of each text.
        spent: tokens of all that was answered.
    """

    texts: Collection[str] = ("input",)
    key = "sk-fake-0123456789"

    def __init__(self, dimensions: int = 64, *, faults: Faults | None = None, usage: bool = True) -> None:
        super().__init__(faults=faults)
        self.dimensions = dimensions
        self.refused: Collection[str] = ()
        self.broken: Callable[[list[dict[str, object]]], object] = lambda data: data
        self.usage = usage
        self.embedded: Counter[str] = Counter()
        self.spent = 0

    def answer(self, seen: Seen) -> Answer:
        if (seen.method, seen.path) != ("POST", PATH):
            return _error(404, f"Invalid URL ({seen})", "invalid_url")
        given = seen.headers.get("authorization", "")
        if self.key and given != f"Bearer {self.key}":
            return _error(401, f"Incorrect API key provided: {given.removeprefix('Bearer ')}.", "invalid_api_key")
        texts = seen.body["input"]
        # Text is free to say anything but who is who in the source.
        self.breaches += [name for name in self.known_ids if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", str(texts))]
        if extra := seen.body.keys() - {"model", "input", "encoding_format", "dimensions"}:
            return _error(400, f"Unrecognized request argument supplied: {extra}", "unsupported_parameter")
        if not texts or len(texts) > MOST_TEXTS:
            return _error(400, f"'$.input' is invalid: {len(texts)} items")
        if any(not text for text in texts):
            return _error(400, "'$.input' is invalid: a text is empty")
        if any(tokens(text) > MOST_TOKENS for text in texts):
            return _error(400, f"This model's maximum context length is {MOST_TOKENS} tokens")
        if any(word in text for word in self.refused for text in texts):
            return _error(400, "a text is not acceptable")
        length = seen.body.get("dimensions", self.dimensions)
        as_base64 = seen.body.get("encoding_format") == "base64"
        data = []
        for index, text in enumerate(texts):
            vector = bag_of_words(text, length)
            told = base64.b64encode(vector.astype("<f4").tobytes()).decode() if as_base64 else vector.tolist()
            data.append({"object": "embedding", "index": index, "embedding": told})
        self.embedded.update(texts)
        read = sum(map(tokens, texts))
        self.spent += read
        usage = {"usage": {"prompt_tokens": read, "total_tokens": read}} if self.usage else {}
        # The contract says a place of each, and no order.
        return Answer(200, {"object": "list", "data": self.broken(data[::-1]), "model": seen.body["model"], **usage})


def tokens(text: str) -> int:
    """As the fake counts them."""
    return len(text) // 4 + 1


def bag_of_words(text: str, dimensions: int) -> np.ndarray:
    """Not of length 1: who compares must see to it."""
    vector = np.full(dimensions, 0.01, dtype=np.float32)
    for word in re.findall(r"\w+", text.lower()):
        vector[int.from_bytes(hashlib.sha256(word.encode()).digest()[:4], "big") % dimensions] += 1
    return vector


def _error(status: int, message: str, code: str | None = None) -> Answer:
    return Answer(status, {"error": {"message": message, "type": "invalid_request_error", "param": None, "code": code}})
