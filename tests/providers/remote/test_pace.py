"""Turns and pauses, by a clock that only waiting moves."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from providers.remote.pace import Pace, threads


class Clock:
    def __init__(self) -> None:
        self.now = 100.0
        self.slept: list[float] = []

    def sleep(self, seconds: float) -> None:
        self.slept.append(round(seconds, 6))
        self.now += seconds


def pace(clock: Clock, per_minute: float | None) -> Pace:
    return Pace(per_minute, clock=lambda: clock.now, sleep=clock.sleep)


def test_so_many_a_minute() -> None:
    clock = Clock()
    turns = pace(clock, 30)
    for _ in range(4):
        turns.wait()
    assert clock.slept == [2.0, 2.0, 2.0]


def test_no_limit_waits_for_nothing() -> None:
    clock = Clock()
    turns = pace(clock, None)
    for _ in range(100):
        turns.wait()
    assert not clock.slept


def test_a_pause_holds_everybody_until_its_end() -> None:
    clock = Clock()
    turns = pace(clock, 60)
    turns.wait()
    turns.hold(10)
    turns.hold(3)
    turns.wait()
    turns.wait()
    assert clock.slept == [10.0, 1.0]


@pytest.mark.parametrize("at_once", [1, 2, 5])
def test_no_more_calls_than_allowed_at_a_time_and_no_fewer(at_once: int) -> None:
    turns = Pace(at_once=at_once)
    lock = threading.Lock()
    full = threading.Event()
    inside, most = 0, 0

    def call(_: int) -> None:
        nonlocal inside, most
        with turns.turn():
            with lock:
                inside += 1
                most = max(most, inside)
                if inside == at_once:
                    full.set()
            assert full.wait(10)
            with lock:
                inside -= 1

    with ThreadPoolExecutor(threads(at_once)) as pool:
        list(pool.map(call, range(20)))
    assert most == at_once


def test_a_call_that_fails_gives_its_place_back() -> None:
    turns = Pace(at_once=1)
    for _ in range(3):
        with pytest.raises(KeyError), turns.turn():
            raise KeyError
