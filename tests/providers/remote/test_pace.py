"""Turns and pauses, by a clock that only waiting moves."""

from __future__ import annotations

from providers.remote.pace import Pace


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
