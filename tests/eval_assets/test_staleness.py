"""What the rest relies on of Dagster's own idea of staleness."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import dagster as dg
import pytest
from dagster._core.definitions.data_version import CachingStaleStatusResolver, StaleStatus

from eval_assets.staleness import EDGE_LIMIT, Cause, Status, StatusReader, refusals

TWO = ("x", "y")
A, B, C = (dg.AssetKey(name) for name in "abc")


@pytest.fixture
def instance() -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.ephemeral() as made:
        yield made


def graph(
    codes: Mapping[str, str], data: Mapping[str, str], partitions: tuple[str, ...] = TWO, *, passes: bool = True
) -> dg.Definitions:
    """a -> b -> c, with these code versions and data versions."""
    definition = dg.StaticPartitionsDefinition(list(partitions))

    def asset(name: str, upstream: list[str]) -> dg.AssetsDefinition:
        @dg.asset(name=name, deps=upstream, partitions_def=definition, code_version=codes[name])
        def made() -> dg.MaterializeResult[None]:
            return dg.MaterializeResult(data_version=dg.DataVersion(data[name]))

        return made

    @dg.asset_check(asset="b", blocking=True, partitions_def=definition)
    def passing() -> dg.AssetCheckResult:
        return dg.AssetCheckResult(passed=passes)

    return dg.Definitions(
        assets=[asset("a", []), asset("b", ["a"]), asset("c", ["b"])],
        asset_checks=[passing],
        executor=dg.in_process_executor,
    )


def run(instance: dg.DagsterInstance, definitions: dg.Definitions, partition: str, *keys: dg.AssetKey) -> None:
    job = definitions.resolve_implicit_global_asset_job_def()
    quiet = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}
    selection = list(keys) or [A, B, C]
    job.execute_in_process(
        instance=instance, partition_key=partition, asset_selection=selection, run_config=quiet, raise_on_error=False
    )


def statuses(instance: dg.DagsterInstance, definitions: dg.Definitions, partition: str = "x") -> dict[str, Status]:
    reader = StatusReader(instance, definitions)
    return {key.to_user_string(): reader.status(key, partition) for key in (A, B, C)}


ONE = dict.fromkeys("abc", "1")
FRESH = Status(missing=False, causes=())


def test_a_partition_that_ran_is_fresh_and_the_other_is_missing(instance: dg.DagsterInstance) -> None:
    definitions = graph(ONE, ONE)
    run(instance, definitions, "x")
    assert set(statuses(instance, definitions).values()) == {FRESH}
    assert all(status.missing for status in statuses(instance, definitions, "y").values())


def test_the_status_of_the_whole_asset_says_nothing(instance: dg.DagsterInstance) -> None:
    run(instance, graph(ONE, ONE), "x")
    changed = graph({**ONE, "b": "2"}, ONE)
    assert statuses(instance, changed)["b"].causes == ((Cause.CODE, None),)
    whole = CachingStaleStatusResolver(instance, changed.resolve_asset_graph(), _context(instance))
    assert whole.get_status(B) == StaleStatus.FRESH


def _context(instance: dg.DagsterInstance) -> object:
    from eval_assets.staleness import _Context

    return _Context(instance)


def test_code_makes_stale_and_reaches_no_further(instance: dg.DagsterInstance) -> None:
    run(instance, graph(ONE, ONE), "x")
    found = statuses(instance, graph({**ONE, "a": "2"}, ONE))
    assert found == {"a": Status(missing=False, causes=((Cause.CODE, None),)), "b": FRESH, "c": FRESH}


def test_data_makes_stale_one_step_down(instance: dg.DagsterInstance) -> None:
    run(instance, graph(ONE, ONE), "x")
    changed = graph(ONE, {**ONE, "a": "2"})
    run(instance, changed, "x", A)
    assert statuses(instance, changed) == {
        "a": FRESH,
        "b": Status(missing=False, causes=((Cause.DATA, A),)),
        "c": FRESH,
    }


def test_an_equal_data_version_leaves_what_is_below_fresh(instance: dg.DagsterInstance) -> None:
    run(instance, graph(ONE, ONE), "x")
    changed = graph({**ONE, "a": "2"}, ONE)
    run(instance, changed, "x", A)
    assert set(statuses(instance, changed).values()) == {FRESH}


def test_one_partition_does_not_disturb_the_other(instance: dg.DagsterInstance) -> None:
    for partition in TWO:
        run(instance, graph(ONE, ONE), partition)
    changed = graph(ONE, {**ONE, "a": "2"})
    run(instance, changed, "x", A)
    assert statuses(instance, changed, "x")["b"].causes == ((Cause.DATA, A),)
    assert set(statuses(instance, changed, "y").values()) == {FRESH}


def test_a_new_input_is_a_cause(instance: dg.DagsterInstance) -> None:
    run(instance, graph(ONE, ONE), "x")

    @dg.asset(name="c", deps=["a", "b"], partitions_def=dg.StaticPartitionsDefinition(list(TWO)), code_version="1")
    def more() -> None: ...

    others = [made for made in graph(ONE, ONE).assets or [] if made.key != C]  # type: ignore[union-attr]
    found = StatusReader(instance, dg.Definitions(assets=[*others, more])).status(C, "x")
    assert found.causes == ((Cause.DEPENDENCIES, A),)


def test_an_edge_with_too_many_partitions_is_never_stale(instance: dg.DagsterInstance) -> None:
    """Why a benchmark is a partition, and the leaderboard asks its inputs itself."""

    def many(n: int, data: str) -> dg.Definitions:
        @dg.asset(name="a", partitions_def=dg.StaticPartitionsDefinition([str(i) for i in range(n)]))
        def up() -> dg.MaterializeResult[None]:
            return dg.MaterializeResult(data_version=dg.DataVersion(data))

        @dg.asset(name="b", deps=[dg.AssetDep("a", partition_mapping=dg.AllPartitionMapping())])
        def all_of() -> None: ...

        return dg.Definitions(assets=[up, all_of], executor=dg.in_process_executor)

    for n, causes in ((2, ((Cause.DATA, A),)), (EDGE_LIMIT, ())):
        with dg.DagsterInstance.ephemeral() as own:
            for partition, key, data in (("0", A, "1"), (None, B, "1"), ("0", A, "2")):
                run_one(own, many(n, data), key, partition)
            assert StatusReader(own, many(n, "2")).status(B, None).causes == causes


def run_one(instance: dg.DagsterInstance, definitions: dg.Definitions, key: dg.AssetKey, partition: str | None) -> None:
    job = definitions.resolve_implicit_global_asset_job_def()
    quiet = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}
    job.execute_in_process(instance=instance, partition_key=partition, asset_selection=[key], run_config=quiet)


def test_a_blocking_check_that_failed_is_told_by_partition(instance: dg.DagsterInstance) -> None:
    run(instance, graph(ONE, ONE), "y")
    bad = graph(ONE, ONE, passes=False)
    run(instance, bad, "x")
    assert refusals(instance, bad, "y") == {}
    (refusal,) = refusals(instance, bad, "x")[B]
    assert refusal.check == "passing"
    assert StatusReader(instance, bad).status(C, "x").missing
    run(instance, graph(ONE, ONE), "x", B)
    assert refusals(instance, bad, "x") == {}
