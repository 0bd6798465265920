"""Replies made to hurt: what a service may send by mistake or on purpose, one change a reply."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any

from fakes.server import Answer, Fake, Seen
from providers.remote.wire import Read, Reply, Request, T, Wire

HEADER = "x-purpose"
HUGE = 10 * 2**20
_ODD: tuple[Any, ...] = (
    None,
    True,
    -1,
    10**30,
    1e308,
    float("nan"),
    float("inf"),
    "",
    "../../etc/passwd",
    "a/b?c=d#e%2f\n\x00\u202e",
    "\ud800 alone",
    [],
    {},
    [[None]],
    [{"id": "x"}],
    {"message": {"message": 1}},
    "9999-12-31T23:59:59-14:00",
    "0001-01-01T00:00:00+14:00",
)


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every key of every object and every index of every array, with what it is in."""
    if isinstance(value, dict | list):
        keys = list(value) if isinstance(value, dict) else list(range(len(value)))
        for key in keys:
            yield value, key
            yield from _places(value[key])


def _somewhere(value: Any, chance: random.Random, put: Callable[[Any], Any]) -> Any:
    places = list(_places(value))
    if not places:
        return put(value)
    holder, key = chance.choice(places)
    holder[key] = put(holder[key])
    return value


def _odd(value: Any, chance: random.Random) -> Any:
    return _somewhere(value, chance, lambda _: deepcopy(chance.choice(_ODD)))


def _many_odd(value: Any, chance: random.Random) -> Any:
    for _ in range(4):
        value = _odd(value, chance)
    return value


def _huge_text(value: Any, chance: random.Random) -> Any:
    texts = [(holder, key) for holder, key in _places(value) if isinstance(holder[key], str)]
    if texts:
        holder, key = chance.choice(texts)
        holder[key] = "x" * HUGE
    return value


def _nothing_but_nulls(value: Any, _: random.Random) -> Any:
    for holder, key in list(_places(value)):
        if not isinstance(holder[key], dict | list):
            holder[key] = None
    return value


def _unknown_fields(value: Any, _: random.Random) -> Any:
    for holder in {id(one): one for one, _ in _places(value) if isinstance(one, dict)}.values():
        holder["brand_new"] = {"deep": [1, {"er": None}]}
    return value


def _twice(value: Any, chance: random.Random) -> Any:
    """Everything of every list once more, under the same ids."""
    for holder in {id(one): one for one, _ in _places(value) if isinstance(one, list)}.values():
        holder[len(holder) :] = json.loads(json.dumps(holder))
    return value


def _slashes(value: Any, _: random.Random) -> Any:
    for holder, key in list(_places(value)):
        if isinstance(key, str) and key.endswith(("id", "uuid")) and isinstance(holder[key], str):
            holder[key] = f"../{holder[key]}/..%2f?#"
    return value


def _nans(value: Any, _: random.Random) -> Any:
    for holder, key in list(_places(value)):
        if isinstance(holder[key], float):
            holder[key] = float("nan")
    return value


def _deep(depth: int) -> Callable[[Any, random.Random], Any]:
    def deeper(value: Any, chance: random.Random) -> Any:
        def put(_: Any) -> Any:
            nested: Any = "bottom"
            for _ in range(depth):
                nested = [nested]
            return nested

        return _somewhere(value, chance, put)

    return deeper


def _wrong_whole(_: Any, chance: random.Random) -> Any:
    return deepcopy(chance.choice(_ODD))


CHANGES: dict[str, Callable[[Any, random.Random], Any]] = {
    "one odd value": _odd,
    "some odd values": _many_odd,
    "10 MB": _huge_text,
    "nulls": _nothing_but_nulls,
    "unknown fields": _unknown_fields,
    "twice": _twice,
    "slashes": _slashes,
    "NaN": _nans,
    "deep": _deep(200),
    "deeper": _deep(850),
    "another thing": _wrong_whole,
}
BYTES: dict[str, bytes] = {
    "bottomless": b"[" * 200_000 + b"]" * 200_000,
    "a page": b"<html>Log in</html>",
    "no UTF-8": b'{"results": "\xff\xfe"}',
    "a large number": b'{"results": [' + b"9" * 5000 + b"]}",
    "empty": b"",
}
ALL = (*CHANGES, *BYTES)


@dataclass
class Hostility:
    """Changes replies to requests of these purposes, in turn; counts what it did.

    Attributes:
        purposes: see ``providers.remote.wire.Purpose``.
        seed: of the choice.
        share: of replies that are changed.
        only: names of the changes that are made.
    """

    purposes: Collection[str]
    seed: int
    share: float = 1.0
    only: tuple[str, ...] = ALL

    def __post_init__(self) -> None:
        self.made: Counter[str] = Counter()
        self._chance = random.Random(self.seed)
        self._next = self.seed

    def changed(self, purpose: str, body: Any) -> Any:
        """A body; bytes where it is no JSON."""
        if purpose not in self.purposes or self._chance.random() >= self.share:
            return body
        name = self.only[self._next % len(self.only)]
        self._next += 1
        self.made[name] += 1
        if name in BYTES:
            return BYTES[name]
        return CHANGES[name](json.loads(json.dumps(body)), self._chance)


@dataclass(frozen=True)
class Tagged:
    """A wire that tells the server what a request is for; where there is no server, it changes replies itself."""

    inner: Wire
    here: Hostility | None = None

    def send(self, request: Request, read: Read[T]) -> T:
        def changed(reply: Reply) -> T:
            if self.here is None:
                return read(reply)
            body = self.here.changed(request.purpose, reply.body)
            return read(replace(reply, body=body if not isinstance(body, bytes) else body.decode("utf-8", "replace")))

        return self.inner.send(replace(request, headers={**request.headers, HEADER: request.purpose}), changed)


def make_hostile(fake: Fake, how: Hostility) -> None:
    """From now on its answers are changed, by what ``Tagged`` says that they are for."""
    kind = fake.answer

    def answer(seen: Seen) -> Answer:
        given = kind(seen)
        if given.status >= 300:
            return given
        body = how.changed(seen.headers.get(HEADER, ""), given.body)
        return replace(given, body=body if isinstance(body, bytes) else _encoded(body))

    fake.answer = answer  # type: ignore[method-assign]


def _encoded(body: Any) -> bytes:
    return json.dumps(body).encode()
