"""The service of the tutorial."""

from __future__ import annotations

import re
from typing import Any

from fakes.server import Answer, Fake, Seen

_WORD = re.compile(r"\w+")


class FakeNotebook(Fake):
    """See ``docs/examples/notebook_provider.py``."""

    texts = frozenset({"text", "query"})

    def __init__(self, **more: Any) -> None:
        super().__init__(**more)
        self.books: dict[str, dict[str, dict[str, Any]]] = {}

    def answer(self, seen: Seen) -> Answer:
        if seen.headers.get("authorization") != f"Bearer {self.key}":
            return Answer(401, {"error": "wrong key"})
        match (seen.method, *seen.path.strip("/").split("/")):
            case ("GET", "ping"):
                return Answer(200, {})
            case ("PUT", "notebooks", book, "notes", note):
                if len(seen.body["text"]) > 5_000:
                    return Answer(400, {"error": "text holds 5,000 characters"})
                self.books.setdefault(book, {})[note] = {"id": note, **seen.body}
                return Answer(200, {"id": note})
            case ("GET", "notebooks", book):
                return Answer(200, {"count": len(self.books.get(book, {}))})
            case ("DELETE", "notebooks", book):
                self.books.pop(book, None)
                return Answer(200, {})
            case ("POST", "notebooks", book, "search"):
                return self._search(book, seen.body)
        return Answer(404, {"error": "not found"})

    def _search(self, book: str, body: Any) -> Answer:
        asked = set(_WORD.findall(body["query"].lower()))
        scored = [
            {**note, "score": float(len(asked & set(_WORD.findall(note["text"].lower()))))}
            for note in self.books.get(book, {}).values()
        ]
        found = sorted((one for one in scored if one["score"]), key=lambda one: -one["score"])
        return Answer(200, {"notes": found[: body["limit"]]})
