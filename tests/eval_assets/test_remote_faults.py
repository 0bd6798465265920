"""Every service over a bad line: one project, refreshed once. Nothing is stored twice, and what lacks is marked."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl
import pytest
from fakes.faults import ALL, Faults, Kind
from fakes.mem0 import FakeMem0
from fakes.mem0_server import FakeMem0Server
from fakes.supermemory import FakeSupermemory
from fakes.synap import FakeSynap
from fakes.zep import FakeZep
from fakes.zep_v3 import FakeZepV3
from remote_projects import Far, Several, several

# "late" is "lost" with a wait.
KINDS = [kind for kind in ALL if kind != "late"]
PATIENT = {"attempts": 12}
SHORT = {"attempts": 12, "timeout_s": 0.5}
# One call at a time, so that the same requests fail in every run.
ALONE = {**SHORT, "concurrency": 1}


class Losing(Faults):
    """Whatever else goes wrong, the first answers about what was sent are lost."""

    lost = 0

    def draw(self, what: str) -> Kind | None:
        if "/batch" in what and self.lost < 3:
            self.lost += 1
            return "lost"
        return super().draw(what)


def services() -> dict[str, Far]:
    """By the name of their system."""
    bad = {
        "mem0": Faults(0.3, KINDS, seed=1, only=["/v3/", "/v1/event/", "DELETE"]),
        "mem0_as_it_is": Faults(0.3, KINDS, seed=1, only=["/v3/", "/v1/event/", "DELETE"]),
        "mem0_server": Faults(0.3, KINDS, seed=1, only=["POST", "DELETE"]),
        "synap": Faults(0.3, seed=7, only=["/memories", "/fetch", "/data/delete"]),
        "supermemory": Losing(0.3, seed=1),
        "supermemory_v4": Losing(0.3, seed=1),
        "zep_that_forgets_keys": Faults(0.3, seed=3),
        "zep_v3": Faults(0.3, seed=3),
    }
    of_supermemory = {"attempts": 10, "timeout_s": 0.5}
    return {
        "mem0": Far("mem0", FakeMem0(faults=bad["mem0"]), {"infer": True}, service=PATIENT),
        "mem0_as_it_is": Far("mem0", FakeMem0(faults=bad["mem0_as_it_is"]), {"infer": False}, service=PATIENT),
        "mem0_server": Far("mem0_server", FakeMem0Server(faults=bad["mem0_server"]), service=PATIENT),
        "synap": Far("synap", FakeSynap(faults=bad["synap"]), service=SHORT),
        "supermemory": Far(
            "supermemory", FakeSupermemory(faults=bad["supermemory"]), {"api": "v5"}, service=of_supermemory
        ),
        "supermemory_v4": Far(
            "supermemory", FakeSupermemory(faults=bad["supermemory_v4"]), {"api": "v4"}, service=of_supermemory
        ),
        "zep_that_forgets_keys": Far(
            "zep", FakeZep(faults=bad["zep_that_forgets_keys"], remembers=False), {"api": "v4"}, service=ALONE
        ),
        "zep_v3": Far("zep", FakeZepV3(faults=bad["zep_v3"]), {"api": "v3"}, service=ALONE),
    }


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Several]:
    """For reading alone."""
    with several(tmp_path_factory.mktemp("faults") / "project", services(), to="search") as found:
        yield found


@pytest.mark.parametrize("name", ["mem0", "mem0_as_it_is", "mem0_server"])
def test_mem0_is_complete_or_its_rows_are_marked(made: Several, name: str) -> None:
    fake = made.far[name].fake
    assert isinstance(fake, FakeMem0 | FakeMem0Server)
    receipts, results = made.table(f"stores/{name}", "receipts"), made.table(f"{name}/search_results")
    lacking = set(receipts.filter(pl.col("status").is_in(["failed", "pending"]) & pl.col("retryable"))["container"])
    assert receipts.filter(pl.col("status") == "skipped").is_empty()
    assert results.height == 3
    assert (results["status"] == "error").sum() == len(lacking)
    assert not lacking or name != "mem0_as_it_is"
    assert fake.stored_twice == 0
    assert fake.faults.happened.total() > 0


def test_synap_is_complete(made: Several) -> None:
    fake = made.far["synap"].fake
    assert isinstance(fake, FakeSynap)
    complete(made, "synap")
    assert len(fake.stored) == made.table("stores/synap", "receipts").height
    assert fake.stored_twice == 0
    assert fake.faults.happened.total() > 3


@pytest.mark.parametrize("name", ["supermemory", "supermemory_v4"])
def test_supermemory_is_complete(made: Several, name: str) -> None:
    fake = made.far[name].fake
    assert isinstance(fake, FakeSupermemory)
    receipts = complete(made, name)
    assert len(fake.docs) == receipts.height and fake.stored_twice == 0
    assert fake.faults.happened.total() > 10


@pytest.mark.parametrize("name", ["zep_that_forgets_keys", "zep_v3"])
def test_zep_is_complete(made: Several, name: str) -> None:
    fake = made.far[name].fake
    assert isinstance(fake, FakeZep | FakeZepV3)
    receipts = complete(made, name)
    sent = [thread for thread in fake.threads.values() if thread.messages]
    assert len(sent) == receipts.height and fake.stored_twice == 0
    assert fake.faults.happened.total() > 10


def complete(made: Several, name: str) -> pl.DataFrame:
    """The receipts of a service that answered everything in the end."""
    assert made.failures(name) == []
    assert made.table(f"{name}/search_results")["status"].to_list() == ["ok"] * 3
    receipts = made.table(f"stores/{name}", "receipts")
    assert receipts["status"].unique().to_list() == ["done"]
    return receipts
