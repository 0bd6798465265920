"""Damage: to the tree of a source before it is written, or to the bytes of a sound one. The same for the same seed."""

from __future__ import annotations

import copy
import gzip
import random
from collections.abc import Callable, Mapping
from typing import Any, Final

from .hostile_values import DATES, DEEP, IDS, NESTED, NUMBERS, STRINGS, SWAPS, YAML

Place = tuple[Any, Any]
"""A list or an object, and an index or a key of it."""


class Tree:
    """A copy of a source's tree under mutation.

    Attributes:
        root: the tree; ``{"": tree}`` while it is under mutation, so that the whole may be replaced.
        raw: tokens by the marker that stands for them in the tree; written as they are, however wrong.
        doubled: whether a key stands twice in an object, so that one of its values cannot be read.
    """

    def __init__(self, tree: Any, rng: random.Random) -> None:
        self.root = {"": copy.deepcopy(tree)}
        self.raw: dict[str, bytes] = {}
        self.doubled = False
        self.rng = rng

    def token(self, token: bytes | str) -> str:
        marker = f"RAW{len(self.raw)}RAW"
        self.raw[marker] = token.encode("utf-8", "surrogatepass") if isinstance(token, str) else token
        return marker

    def places(self, accept: Callable[[Any, Any], bool] = lambda _, __: True) -> list[list[Place]]:
        """All places by depth, of those whose (key, value) is accepted."""
        levels: list[list[Place]] = []
        holders: list[Any] = [self.root]
        while holders:
            found = [(holder, key) for holder in holders for key in _keys(holder)]
            levels.append([(holder, key) for holder, key in found if accept(key, holder[key])])
            holders = [holder[key] for holder, key in found if isinstance(holder[key], dict | list)]
        return [level for level in levels if level]

    def pick(self, accept: Callable[[Any, Any], bool] = lambda _, __: True) -> Place:
        """A place; each depth is as likely as another."""
        return self.rng.choice(self.rng.choice(self.places(accept) or self.places()))

    def put(self, value: Any, accept: Callable[[Any, Any], bool] = lambda _, __: True) -> None:
        holder, key = self.pick(accept)
        holder[key] = value


def _keys(holder: Any) -> list[Any]:
    return list(holder) if isinstance(holder, dict) else list(range(len(holder)))


def _is_text(_: Any, value: Any) -> bool:
    return isinstance(value, str)


def _is_date(_: Any, value: Any) -> bool:
    return isinstance(value, str) and ":" in value and any(character.isdigit() for character in value)


def _is_id(key: Any, value: Any) -> bool:
    return isinstance(value, str) and " " not in value and (isinstance(key, int) or "id" in str(key))


def _drop(tree: Tree) -> None:
    holder, key = tree.pick()
    del holder[key]


def _double(tree: Tree) -> None:
    """A key twice; a list's element twice."""
    holder, key = tree.pick(lambda key, _: key != "")
    if isinstance(holder, list):
        holder.insert(key, copy.deepcopy(holder[key]))
    else:
        tree.doubled = True
        holder[f"DUP{key}DUP"] = tree.rng.choice([*SWAPS, copy.deepcopy(holder[key])])


def _swap_places(tree: Tree) -> None:
    (one, key), (other, name) = tree.pick(), tree.pick()
    one[key], other[name] = copy.deepcopy(other[name]), copy.deepcopy(one[key])


def _merge(tree: Tree) -> None:
    """Two records in one, or a record of another place beside it."""
    holder, key = tree.pick(lambda _, value: isinstance(value, dict | list))
    other, name = tree.pick(lambda _, value: isinstance(value, type(holder[key])))
    added = copy.deepcopy(other[name])
    if isinstance(holder[key], dict) and isinstance(added, dict):
        holder[key].update(added)
    elif isinstance(holder[key], list) and isinstance(added, list):
        holder[key].extend(added)


def _wrap(tree: Tree) -> None:
    holder, key = tree.pick()
    holder[key] = tree.rng.choice([[holder[key]], {"a": holder[key]}, [[holder[key]]], str(holder[key])])


def _shuffle(tree: Tree) -> None:
    holder, key = tree.pick(lambda _, value: isinstance(value, dict | list))
    held = holder[key]
    if isinstance(held, dict):
        names = list(held)
        tree.rng.shuffle(names)
        holder[key] = {name: held[name] for name in names}
    elif isinstance(held, list):
        tree.rng.shuffle(held)


TREE: Final[Mapping[str, Callable[[Tree], None]]] = {
    "drop": _drop,
    "double": _double,
    "swap_type": lambda tree: tree.put(copy.deepcopy(tree.rng.choice(SWAPS))),
    "number": lambda tree: tree.put(tree.token(tree.rng.choice(NUMBERS))),
    "string": lambda tree: tree.put(tree.token(tree.rng.choice(STRINGS)), _is_text),
    "date": lambda tree: tree.put(tree.rng.choice(DATES), _is_date),
    "id": lambda tree: tree.put(tree.rng.choice(IDS), _is_id),
    "text": lambda tree: tree.put(tree.rng.choice(IDS), _is_text),
    "nest": lambda tree: tree.put(tree.token(tree.rng.choice(NESTED))),
    "yaml": lambda tree: tree.put(tree.token(tree.rng.choice(YAML))),
    "wrap": _wrap,
    "swap_places": _swap_places,
    "merge": _merge,
    "shuffle": _shuffle,
}


def _flip(data: bytes, rng: random.Random, n: int, masks: Callable[[], int]) -> bytes:
    damaged = bytearray(data)
    for _ in range(n if damaged else 0):
        damaged[rng.randrange(len(damaged))] ^= masks()
    return bytes(damaged)


def _span(data: bytes, rng: random.Random) -> tuple[int, int]:
    first = rng.randrange(len(data) + 1)
    return first, min(len(data), first + rng.choice([1, 2, 8, 64, 1_000]))


def _cut(data: bytes, rng: random.Random) -> bytes:
    first, last = _span(data, rng)
    return data[:first] + data[last:]


def _repeat(data: bytes, rng: random.Random) -> bytes:
    first, last = _span(data, rng)
    return data[:last] + data[first:last] * rng.choice([1, 2, 100]) + data[last:]


def _insert(data: bytes, rng: random.Random) -> bytes:
    at = rng.randrange(len(data) + 1)
    odd = [b"\0", b"\xff", b"\xef\xbb\xbf", b"\r", b"\n", b'"', b",", b"[", b"}", b"\\", b"\xe2\x80\xa8", b"\x1a", b" "]
    return data[:at] + rng.choice([*odd, b"[" * DEEP, b'{"a":' * DEEP]) + data[at:]


def _gzip_damage(data: bytes, rng: random.Random) -> bytes:
    packed = gzip.compress(data, mtime=0)
    return rng.choice(
        [
            packed[: rng.randrange(1, len(packed))],
            _flip(packed, rng, 1, lambda: 1 << rng.randrange(8)),
            packed[:-8] + b"\0" * 8,
            packed + b"garbage",
            packed + packed,
            gzip.compress(packed, mtime=0),
            packed + gzip.compress(b"", mtime=0),
            packed[:10],
        ]
    )


def _recoded(data: bytes, rng: random.Random) -> bytes:
    text = data.decode("utf-8", "replace")
    return text.encode(rng.choice(["utf-16", "utf-16-le", "utf-32", "utf-8-sig", "latin-1", "cp037"]), "replace")


def _blank(_: bytes, rng: random.Random) -> bytes:
    return rng.choice(
        [b"", b" ", b"\n\n\n", b"\xef\xbb\xbf", b"\0", b"\t\r\n ", b" " * 100_000, b"[", b"{", b"\x1f\x8b"]
    )


BYTES: Final[Mapping[str, Callable[[bytes, random.Random], bytes]]] = {
    "truncate": lambda data, rng: data[: rng.randrange(len(data) + 1)],
    "flip_bit": lambda data, rng: _flip(data, rng, rng.choice([1, 3]), lambda: 1 << rng.randrange(8)),
    "flip_bytes": lambda data, rng: _flip(data, rng, rng.choice([1, 2, 20]), lambda: rng.randrange(1, 256)),
    "cut": _cut,
    "repeat": _repeat,
    "insert": _insert,
    "twice": lambda data, rng: data + rng.choice([b"", b"\n", b" x", b","]) + data,
    "wrapped": lambda data, rng: rng.choice([b"[" + data + b"]", b"[" * DEEP + data, b"[" * DEEP + data + b"]" * DEEP]),
    "line_ends": lambda data, rng: data.replace(b"\n", rng.choice([b"\r\n", b"\r", b"\n\n", b"\x0b", b" "])),
    "recoded": _recoded,
    "gzip": lambda data, _: gzip.compress(data, mtime=0),
    "gzip_damage": _gzip_damage,
    "blank": _blank,
}
