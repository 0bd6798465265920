"""What goes wrong between a client and a server, by the share of requests that it happens to."""

from __future__ import annotations

import random
import threading
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

Kind = Literal[
    "busy",  # 429, and nothing said of how long
    "pause",  # 429 with Retry-After
    "500",  # before anything was done
    "502",  # the same, from a proxy, in HTML
    "reset",  # the connection ends before anything was done
    "lost",  # it is done, and the connection ends before the answer
    "late",  # it is done, and the answer comes after the client gave up
    "html",  # it is done, and the answer is a page
    "cut",  # it is done, and half of the answer comes
    "inside",  # nothing is done, and 200 says so in its body
]
ALL: tuple[Kind, ...] = ("busy", "pause", "500", "502", "reset", "lost", "late", "html", "cut", "inside")
DONE: frozenset[Kind] = frozenset({"lost", "late", "html", "cut"})


@dataclass
class Faults:
    """Which requests fail how.

    Attributes:
        share: of requests that fail.
        kinds: how.
        seed: of the choice.
        only: words that a request's "METHOD path" holds one of, if it is to fail; all where empty.
        first: this many requests fail, then none (with share 1).
    """

    share: float = 0.0
    kinds: Sequence[Kind] = ALL
    seed: int = 0
    only: Sequence[str] = ()
    first: int | None = None
    happened: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)
        self._lock = threading.Lock()

    def draw(self, what: str) -> Kind | None:
        """What happens to a request."""
        if self.only and not any(word in what for word in self.only):
            return None
        with self._lock:
            if self.first is not None and self.happened.total() >= self.first:
                return None
            if self._random.random() >= self.share:
                return None
            kind = self._random.choice(self.kinds)
            self.happened[kind] += 1
            return kind
