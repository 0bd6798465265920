from __future__ import annotations

from typing import Any

import dagster as dg
import pytest
from projects import Box

from eval_assets.jobs import refresh_job, refresh_sensor
from eval_assets.locks import refreshing
from eval_assets.project import Project

QUIET = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}
CHANGE = {"systems": {"hybrid": {"revision": 2}}}


@pytest.fixture
def box(copied: Box, monkeypatch: pytest.MonkeyPatch) -> Box:
    monkeypatch.setenv("EVAL_ASSETS_ROOT", str(copied.root))
    return copied


def run_job(box: Box, **config: Any) -> dg.ExecuteInProcessResult:
    with box.open() as session:
        return refresh_job.execute_in_process(
            instance=session.instance,
            raise_on_error=False,
            run_config={**QUIET, "ops": {"refresh_stale": {"config": config}}},
        )


def why_failed(result: dg.ExecuteInProcessResult) -> str:
    (event,) = result.filter_events(lambda event: event.is_step_failure)
    told = event.step_failure_data.user_failure_data
    assert told is not None
    return str(told.description)


def test_the_job_refreshes_what_it_is_told_to(box: Box) -> None:
    box.edit_systems(CHANGE)
    before = box.events()
    assert run_job(box, systems=["bm25"]).success
    assert box.events() == before
    assert run_job(box, systems=["hybrid"], benchmarks=["tiny"], to="search").success
    after = box.events()
    assert {name for name in after if after[name] != before[name]} == {"hybrid/search_results [tiny]"}


def test_the_job_fails_with_one_line(box: Box) -> None:
    result = run_job(box, systems=["bm52"])
    assert not result.success
    assert why_failed(result).startswith("--system: unknown system 'bm52'; known are: ")
    with refreshing(Project.at(box.root), "eval-assets refresh"):
        assert why_failed(run_job(box)).startswith("eval-assets refresh is under way: process ")


def tick(box: Box) -> dg.SensorResult | dg.RunRequest | dg.SkipReason:
    with dg.DagsterInstance.from_config(str(box.home)) as instance:
        found = refresh_sensor(dg.build_sensor_context(instance=instance))
    assert isinstance(found, dg.RunRequest | dg.SkipReason)
    return found


def test_the_sensor_is_off_and_asks_for_a_run_only_where_something_is_stale(box: Box) -> None:
    assert refresh_sensor.default_status == dg.DefaultSensorStatus.STOPPED
    assert tick(box) == dg.SkipReason("nothing is stale")
    box.edit_systems(CHANGE)
    request = tick(box)
    assert isinstance(request, dg.RunRequest)
    assert request.tags["eval_assets/why"] == "setting revision: 1 -> 2"
    with refreshing(Project.at(box.root), "eval-assets refresh"):
        busy = tick(box)
    assert isinstance(busy, dg.SkipReason)
    assert str(busy.skip_message).startswith("eval-assets refresh is under way")
    box.systems_file.write_text("systems: 1")
    broken = tick(box)
    assert isinstance(broken, dg.SkipReason)
    assert str(box.systems_file) in str(broken.skip_message)
