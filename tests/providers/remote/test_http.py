"""What the wire does with every kind of answer and failure, over real HTTP."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest
from fakes.connect import FAST
from fakes.faults import ALL, DONE, Faults
from fakes.server import Answer, Fake, Seen

from providers.remote.errors import (
    BadKey,
    CallFailed,
    OutOfQuota,
    Refused,
    Unavailable,
    UnknownOutcome,
    Unreachable,
    Unreadable,
)
from providers.remote.http import HttpWire, retry_after
from providers.remote.retry import Manners
from providers.remote.values import mapping
from providers.remote.wire import Reply, Request

ASK = Request("GET", "/thing", "search", repeatable=True)
DO = Request("POST", "/thing", "ingest", body={"content": "hello"})


class Scripted(Fake):
    """Gives these answers, then 200."""

    texts = frozenset({"content"})

    def __init__(self, *answers: Answer, **more: Any) -> None:
        super().__init__(**more)
        self.answers = list(answers)

    def answer(self, seen: Seen) -> Answer:
        return self.answers.pop(0) if self.answers else Answer(200, {"fine": True})


@contextmanager
def wired(
    *answers: Answer, manners: Manners = FAST, faults: Faults | None = None
) -> Iterator[tuple[HttpWire, Scripted]]:
    with Scripted(*answers, faults=faults) as fake:
        wire = HttpWire("thing", fake.url, {"x-key": "planted"}, ["planted"], manners)
        try:
            yield wire, fake
        finally:
            wire.close()


def fine(reply: Reply) -> bool:
    body = mapping(reply.body)
    if "fine" not in body:
        raise Unreadable("no fine")
    return bool(body["fine"])


@pytest.mark.parametrize("status", [408, 425, 429, 500, 502, 503, 504])
def test_what_passes_is_asked_again(status: int) -> None:
    with wired(Answer(status, {"error": "later"})) as (wire, fake):
        assert wire.send(ASK, fine)
        assert len(fake.seen) == 2


@pytest.mark.parametrize(
    ("status", "kind"),
    [(400, Refused), (404, Refused), (422, Refused), (401, BadKey), (403, BadKey), (402, OutOfQuota)],
)
def test_what_does_not_pass_is_asked_once(status: int, kind: type[Exception]) -> None:
    with wired(Answer(status, {"detail": "planted says no"})) as (wire, fake):
        with pytest.raises(kind, match=r"status 4\d\d: \[key\] says no"):
            wire.send(ASK, fine)
        assert len(fake.seen) == 1


@pytest.mark.parametrize("kind", ALL)
def test_a_repeatable_call_survives_every_fault(kind: Any) -> None:
    with wired(faults=Faults(1.0, [kind], first=2), manners=replace(FAST, timeout_s=0.2)) as (wire, fake):
        assert wire.send(ASK, fine)
        assert len(fake.seen) == 3


@pytest.mark.parametrize("kind", ALL)
def test_a_call_that_must_not_be_repeated_is_sent_once_unless_nothing_was_done(kind: Any) -> None:
    with wired(faults=Faults(1.0, [kind], first=1), manners=replace(FAST, timeout_s=0.2)) as (wire, fake):
        if kind in ("busy", "pause"):
            assert wire.send(DO, fine)
            assert len(fake.seen) == 2
            return
        with pytest.raises(UnknownOutcome):
            wire.send(DO, fine)
        assert len(fake.seen) == 1
        assert kind in DONE or kind in ("500", "502", "reset", "inside")


def test_an_outage_that_lasts_is_unavailable() -> None:
    with wired(*[Answer(503, {"message": "down"})] * 9) as (wire, fake):
        with pytest.raises(Unavailable, match="status 503: down"):
            wire.send(ASK, fine)
        assert len(fake.seen) == FAST.attempts


def test_a_pause_longer_than_the_deadline_is_not_waited_for() -> None:
    with wired(Answer(429, {}, {"Retry-After": "50"})) as (wire, fake):
        with pytest.raises(Unavailable):
            wire.send(ASK, fine)
        assert len(fake.seen) == 1


def test_nobody_there_is_one_line_with_the_address() -> None:
    with wired(manners=replace(FAST, attempts=2)) as (wire, fake):
        fake.__exit__(None)
        with pytest.raises(Unreachable, match=f"no connection to {fake.url}") as caught:
            wire.send(DO, fine)
        assert "\n" not in str(caught.value)


def test_a_judge_of_its_own_comes_first() -> None:
    def judge(status: int, headers: object, body: Any) -> Exception | None:
        return OutOfQuota("no credit") if body == {"reason": "trial"} else None

    with Scripted(Answer(429, {"reason": "trial"}), Answer(429, {})) as fake:
        wire = HttpWire("thing", fake.url, manners=FAST, judge=judge)
        with pytest.raises(OutOfQuota, match="no credit"):
            wire.send(ASK, fine)
        assert wire.send(ASK, fine)
        wire.close()


@pytest.mark.parametrize(
    "body", [b"", b"null", b"[]", b"{", b"\xff\xfe", b'"text"', b"NaN", b"[" * 100_000, b'{"a":1}', b"\x00"]
)
def test_what_is_not_what_was_agreed_is_unreadable(body: bytes) -> None:
    with wired(*[Answer(200, body)] * 9) as (wire, _), pytest.raises(CallFailed) as caught:
        wire.send(ASK, fine)
    assert isinstance(caught.value, Unreadable)
    assert len(str(caught.value)) < 400


def test_redirects_are_not_followed() -> None:
    with wired(Answer(302, b"", {"Location": "http://127.0.0.1:1/"})) as (wire, _), pytest.raises(Refused):
        wire.send(ASK, fine)


@pytest.mark.parametrize(
    ("value", "seconds"), [("7", 7.0), ("0.5", 0.5), ("-3", None), ("soon", None), ("1e9", None), ("", None)]
)
def test_retry_after(value: str, seconds: float | None) -> None:
    assert retry_after({"retry-after": value}) == seconds


def test_retry_after_as_a_date() -> None:
    assert retry_after({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}) == 0.0
    assert (retry_after({"retry-after": "Wed, 21 Oct 2999 07:28:00 GMT"}) or 0) > 10**9


@pytest.mark.parametrize(
    ("url", "environment", "taken"),
    [
        ("http://service.example/v1", {"HTTP_PROXY": "{proxy}"}, True),
        ("http://service.example/v1", {"ALL_PROXY": "{proxy}"}, True),
        ("http://service.example/v1", {"http_proxy": "{proxy}"}, True),
        ("http://service.example/v1", {"HTTPS_PROXY": "{proxy}"}, False),
        ("http://service.example/v1", {"HTTP_PROXY": "{proxy}", "NO_PROXY": "other.example,service.example"}, False),
        ("http://service.example/v1", {"HTTP_PROXY": "{proxy}", "NO_PROXY": "*"}, False),
        ("{direct}/v1", {"HTTP_PROXY": "{proxy}", "NO_PROXY": "127.0.0.1"}, False),
    ],
)
def test_the_way_is_the_environment_s(
    url: str, environment: dict[str, str], taken: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    with Scripted() as proxy, Scripted() as direct:
        for name, value in environment.items():
            monkeypatch.setenv(name, value.format(proxy=proxy.url.removeprefix("http://")))
        wire = HttpWire("thing", url.format(direct=direct.url), manners=replace(FAST, attempts=1))
        if url.startswith("{direct}") or taken:
            assert wire.send(ASK, fine)
        else:
            # No such host is known, nor asked for: names are looked up on the machine itself.
            monkeypatch.setattr("socket.getaddrinfo", _no_such_host)
            with pytest.raises(Unreachable):
                wire.send(ASK, fine)
        wire.close()
        assert (len(proxy.seen), len(direct.seen)) == (int(taken), int("direct" in url))
        assert [seen.path for seen in proxy.seen + direct.seen] in ([], ["/v1/thing"])


def _no_such_host(*_: object, **__: object) -> list[object]:
    raise socket.gaierror("no such host")
