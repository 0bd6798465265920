"""The checks: each takes a ``Subject``, and fails with an ``AssertionError`` that says what is wrong.

::

    @pytest.mark.parametrize("check", checks(SUBJECT), ids=lambda check: check.__name__)
    def test_kit(check): check(SUBJECT)

Every check plays in containers of its own and watches each request: beside the fields that hold text, none may tell
what must not leave (``providers.testing.blind``).
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Final, get_args

from providers.remote.errors import BadKey, CallFailed, Stop, UnknownOutcome
from providers.remote.pieces import measured, pieces
from providers.remote.retry import Manners
from providers.remote.service import Document, Measure, Recovery
from providers.remote.wire import Wire
from providers.testing.stage import DATE, Stage, Subject, document, opened, stage
from providers.testing.wires import Losing, Recorder, Replaying

Check = Callable[[Subject], None]

_LONG: Final = 20_000
_ENGINE_NAMES: Final = 32
_ODD: Final = "Zoë's naïve café: 東京 🦊 \u202bשלום\u202c line\u2028separator tab\tend"
_HASTY: Final = Manners(concurrency=2, timeout_s=0.2, deadline_s=1.0, attempts=2, backoff_s=0.01)


def describes_itself(subject: Subject) -> None:
    """What it says of itself is possible, is the same each time, and needs no call."""
    with subject.wire() as wire:
        recorder = Recorder(wire, subject.texts)
        about = subject.service(recorder).describe()
        assert about == subject.service(recorder).describe(), "describe() says something else each time"
        assert not recorder.seen, "describe() made a call"
    assert about.name == subject.entry.name, f"it calls itself {about.name}, the registry {subject.entry.name}"
    assert about.api, "api is empty"
    assert about.container_length >= _ENGINE_NAMES, f"containers are named by {_ENGINE_NAMES} characters"
    assert about.batch >= 1, f"batch is {about.batch}"
    assert about.max_hits >= 1, f"max_hits is {about.max_hits}"
    assert about.longest is None or about.longest >= 100, f"longest is {about.longest}"
    assert about.measure in get_args(Measure), f"measure is {about.measure}"
    assert about.recovery in get_args(Recovery), f"recovery is {about.recovery}"


def is_probed(subject: Subject) -> None:
    """The probe answers with words, and makes calls of that purpose alone."""
    with subject.wire() as wire:
        recorder = Recorder(wire, subject.texts)
        said = subject.service(recorder).probe()
        assert all(isinstance(one, str) for pair in said.items() for one in pair), f"not words: {said}"
        assert recorder.purposes() == {"probe"}, f"the probe made calls of other purposes: {recorder.purposes()}"
        assert subject.key == "" or subject.key not in str(said), "the probe tells the key"


def finds_what_is_stored(subject: Subject) -> None:
    """Each document is found by its words, under the id that it was sent with."""
    with stage(subject) as here:
        sent = _three()
        here.done(sent)
        for one, words in zip(sent, ("beagle Biscuit", "saffron market", "telescope garage"), strict=True):
            assert one.id in here.found(words), f"{one.id} is not among the hits of {words!r}"


def dates_are_the_conversations(subject: Subject) -> None:
    """A hit has the date of the conversation, or none; never that of its upload."""
    with stage(subject) as here:
        sent = [document("d1", "my beagle is called Biscuit"), document("d2", "the beagle sleeps", date=None)]
        sent[1:] = [document("d2", "the beagle sleeps", date=DATE - timedelta(days=400))]
        here.done(sent)
        dates = {one.id: one.date for one in sent}
        for hit in here.search("beagle"):
            names = here.documents(hit)
            if hit.date is not None and names:
                assert hit.date in {dates[name] for name in names}, f"the date of {names} is {hit.date}"


def counts_and_clears(subject: Subject) -> None:
    """An empty container counts 0, a filled one more; cleared, it is empty, also when it is cleared again."""
    with stage(subject) as here:
        assert here.service.count(here.scope) == 0, "a new container is not empty"
        here.done(_three())
        assert here.service.count(here.scope) > 0, "a filled container counts 0"
        here.service.clear(here.scope)
        assert here.service.count(here.scope) == 0, "a cleared container is not empty"
        again = Stage(subject, here.recorder, here.service, opened(here.service))
        assert again.found("beagle Biscuit") == [], "what was cleared is found elsewhere"
        here.service.clear(here.scope)


def containers_are_apart(subject: Subject) -> None:
    """What is in one is not found in another, and is still there when the other is cleared."""
    with stage(subject) as here:
        there = Stage(subject, here.recorder, here.service, opened(here.service))
        here.done([document("a", "my beagle is called Biscuit")])
        there.done([document("b", "my beagle is called Waffle")])
        assert here.found("beagle") == ["a"], "a search found what is in another container"
        there.service.clear(there.scope)
        assert here.found("beagle") == ["a"], "clearing a container cleared another"


def recovers_from_lost_replies(subject: Subject) -> None:
    """Whichever reply is lost while documents are stored, they end up stored once."""
    with stage(subject) as whole:
        whole.done(_three())
        wanted = whole.service.count(whole.scope)
        calls = sum(request.purpose == "ingest" for request in whole.recorder.seen)
    assert calls, "storing made no call of the purpose ingest"
    for at in range(calls):
        _recover(subject, at, wanted)


def finds_only_what_is_there(subject: Subject) -> None:
    """``find`` gives no receipt for a document that was never sent (where recovery is to look)."""
    with stage(subject) as here:
        sent = _three()
        here.store(sent[:2])
        found = [one.document for one in here.service.find(here.scope, [*sent[:2], sent[2]])]
        assert sorted(found) == sorted(one.id for one in sent[:2]), f"find gives receipts for {found}"


def takes_long_documents(subject: Subject) -> None:
    """A document longer than the limit is stored in pieces, and each is found under its id."""
    with stage(subject) as here:
        about = here.service.describe()
        room = about.longest or _LONG
        turns = [f"turn {number} says {'filler ' * (room // 50)}" for number in range(16)]
        turns[-1] += " and hides a kumquat"
        parts = pieces(document("long", *turns), about.longest, about.measure)
        longest = max(measured(about.measure, one.document.text) for one in parts)
        assert about.longest is None or longest <= about.longest, f"a piece is {longest} long"
        here.done([one.document for one in parts])
        last = parts[-1].document.id
        assert last in here.found("kumquat"), f"the last piece, {last}, is not found"


def keeps_the_limit(subject: Subject) -> None:
    """There are never more hits than were asked for."""
    with stage(subject) as here:
        here.done([document(f"n{number}", f"beagle number {number} barks") for number in range(6)])
        for limit in (1, 3):
            got = len(here.search("beagle", limit))
            assert 1 <= got <= limit, f"{got} hits where at most {limit} were asked for, and six would fit"


def ranks_the_best_first(subject: Subject) -> None:
    """What shares all words with the question comes before what shares one."""
    with stage(subject) as here:
        here.done(
            [
                document("weak", "the lantern is broken, alas, said the electrician on the phone yesterday"),
                document("best", "amber lantern bridge"),
                document("none", "please book two seats for the opera"),
            ]
        )
        found = here.found("amber lantern bridge")
        assert found[:1] == ["best"], f"hits are not in the order of their rank: {found}"


def keeps_unicode(subject: Subject) -> None:
    """Any text is stored and asked for; a hit that is the whole document holds all of it."""
    with stage(subject) as here:
        here.done([document("odd", _ODD, f"I see: {_ODD}")])
        hits = here.search(f"café 東京 🦊 {_ODD[:40]}")
        assert "odd" in [name for hit in hits for name in here.documents(hit)], "it is not found"
        for hit in hits:
            assert not hit.whole or _ODD in hit.content, f"what came back is {hit.content!r}"


def finds_nothing_in_nothing(subject: Subject) -> None:
    """A search of an empty container gives no hits, and no error."""
    with stage(subject) as here:
        assert here.search("beagle") == [], "an empty container has hits"


def takes_identical_texts(subject: Subject) -> None:
    """Two documents that say the same are done or skipped, and one of them is found; another container has its own."""
    with stage(subject) as here:
        twins = [document(name, "my beagle is called Biscuit") for name in ("one", "two")]
        states = {one.document: one.status for one in here.store(twins).values()}
        assert set(states.values()) <= {"done", "skipped"}, f"the same text twice ended so: {states}"
        assert {"one", "two"} & set(here.found("beagle")), "neither of them is found"
        there = Stage(subject, here.recorder, here.service, opened(here.service))
        there.done([document("three", "my beagle is called Biscuit")])
        assert there.found("beagle") == ["three"], "its like in another container stood in the way"
        there.service.clear(there.scope)


def takes_blank_documents(subject: Subject) -> None:
    """A document without text has a receipt, and does no harm to others."""
    with stage(subject) as here:
        receipts = here.store([document("blank", " "), document("full", "my beagle is called Biscuit")])
        assert receipts["full"].status == "done", f"beside a blank one, another is {receipts['full']}"
        assert "full" in here.found("beagle"), "beside a blank one, another is not found"


def answers_searches_from_a_record(subject: Subject) -> None:
    """All calls of a search are of that purpose, so that kept replies give the same hits without a server."""
    with stage(subject) as here:
        here.done(_three())
        before = len(here.recorder.seen)
        hits = here.search("beagle Biscuit")
        purposes = here.recorder.purposes(before)
        assert purposes == {"search"}, f"a search made calls of the purposes {purposes}"
        again = subject.service(Replaying(here.recorder.replies))
        replayed = list(again.search(here.scope, "beagle Biscuit", limit=10, as_of=DATE))
        assert replayed == hits, "the same replies gave other hits"


def gives_up_in_time(subject: Subject) -> None:
    """A server that takes a call and never answers is not waited for beyond the deadline."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"http://127.0.0.1:{silent.getsockname()[1]}"
        with subject.wire(base_url=address, manners=_HASTY) as wire:
            try:
                subject.service(wire).probe()
            except (CallFailed, Stop):
                return
    raise AssertionError("a server that answers nothing was taken for one that is there")


def refuses_a_wrong_key(subject: Subject) -> None:
    """A wrong key ends the step, and is not in what is said of it."""
    with subject.wire(key="wrong-key-of-the-kit") as wire:
        try:
            subject.service(wire).probe()
        except BadKey as error:
            assert "wrong-key-of-the-kit" not in str(error), "the key is in the message"
            return
    raise AssertionError("a wrong key was taken, or the probe needs none")


_ALWAYS: Final[tuple[Check, ...]] = (
    describes_itself,
    is_probed,
    finds_what_is_stored,
    dates_are_the_conversations,
    counts_and_clears,
    containers_are_apart,
    recovers_from_lost_replies,
    takes_long_documents,
    keeps_the_limit,
    ranks_the_best_first,
    keeps_unicode,
    finds_nothing_in_nothing,
    takes_identical_texts,
    takes_blank_documents,
    answers_searches_from_a_record,
)


def checks(subject: Subject) -> Sequence[Check]:
    """Those that apply to it: what has no server has no deadline, what has no key no wrong one."""
    found = list(_ALWAYS)
    with subject.wire() as wire:
        if subject.service(wire).describe().recovery == "look":
            found.append(finds_only_what_is_there)
    if subject.over_http:
        found.append(gives_up_in_time)
    if subject.key:
        found.append(refuses_a_wrong_key)
    return found


def _three() -> list[Document]:
    return [
        document("s1", "I adopted a beagle called Biscuit.", "How lovely."),
        document("s2", "Where do I buy saffron?", "The market has it."),
        document("s3", "My telescope stands in the garage.", "It should be kept dry."),
    ]


def _recover(subject: Subject, at: int, wanted: int) -> None:
    losing: list[Losing] = []

    def wrap(wire: Wire) -> Wire:
        losing.append(Losing(wire, at))
        return losing[0]

    with stage(subject, wrap) as here:
        sent = _three()
        try:
            here.done(sent)
        except UnknownOutcome:
            recovery = here.service.describe().recovery
            if recovery == "clear":
                here.service.clear(here.scope)
                here.scope = opened(here.service)
                here.done(sent)
            elif recovery == "resend":
                here.done(sent)
            else:
                there = {one.document: one for one in here.service.find(here.scope, sent)}
                here.settled(there)
                here.done([one for one in sent if one.id not in there])
        assert losing[0].lost, f"no reply number {at} to lose"
        held = here.service.count(here.scope)
        assert held == wanted, f"without reply {at} the container counts {held} instead of {wanted}"
        assert "s1" in here.found("beagle Biscuit"), f"without reply {at} the first document is not found"
