"""``refresh`` for the UI: a job with a config schema, and a sensor that is off until someone turns it on.

Both read the settings and the code from disk as they are then, not as they were when the UI was started.
"""

import dagster as dg
from pydantic import Field

from converters.errors import Told
from eval_assets.build import build_definitions, build_graph
from eval_assets.locks import refreshing
from eval_assets.models.budget import limit_of_environment, limited
from eval_assets.plan import make_plan
from eval_assets.project import Project
from eval_assets.refresh import refresh
from eval_assets.scope import Scope
from eval_assets.storage import kept_engines


class RefreshConfig(dg.Config):
    """What to refresh; all that is stale by default."""

    systems: list[str] = Field(default=[], description="only these systems; all if empty")
    benchmarks: list[str] = Field(default=[], description="only these benchmarks; all if empty")
    to: str | None = Field(
        default=None, description="up to this stage: corpus, store, search, scores, answers, judgments, report"
    )


@dg.op(description="Materialize what is stale, missing or incomplete, wave by wave, and nothing else.")
def refresh_stale(context: dg.OpExecutionContext, config: RefreshConfig) -> None:
    """The command ``eval-assets refresh`` as an op; each wave is a run of its own beside this one."""
    project = Project.find()
    try:
        graph = build_graph(project)
        scope = Scope(graph, tuple(config.systems), tuple(config.benchmarks), config.to)
        scope.check()
        limit = limit_of_environment()
        with kept_engines(), refreshing(project, f"the refresh job (run {context.run_id})"), limited(limit):
            done = refresh(
                context.instance,
                build_definitions(graph),
                scope,
                before_wave=lambda todo: context.log.info("next: %s", ", ".join(str(work.part) for work in todo)),
                after_wave=lambda wave: context.log.info("%d ran in %.1f s", len(wave.ran), wave.seconds),
            )
    except Told as error:
        raise dg.Failure(str(error), allow_retries=False) from None
    context.log.info("%d parts ran in %d waves", done.runs, len(done.waves))
    if done.failures:
        raise dg.Failure("; ".join(failure.line for failure in done.failures), allow_retries=False)


@dg.job(name="refresh", executor_def=dg.in_process_executor)
def refresh_job() -> None:
    """Re-run only what is stale."""
    refresh_stale()


@dg.sensor(
    name="refresh_when_stale",
    job=refresh_job,
    minimum_interval_seconds=60,
    default_status=dg.DefaultSensorStatus.STOPPED,
    description="Starts the refresh job when anything in the targets is stale. Off until it is turned on.",
)
def refresh_sensor(context: dg.SensorEvaluationContext) -> dg.RunRequest | dg.SkipReason:
    """One request while anything is stale and no refresh is under way."""
    project = Project.find()
    try:
        # Held for no longer than it takes to see that it is free: a refresh that starts now must not be refused.
        with refreshing(project, "the refresh sensor"):
            pass
        graph = build_graph(project)
        plan = make_plan(context.instance, build_definitions(graph), Scope(graph))
    except Told as error:
        return dg.SkipReason(str(error))
    if not plan.work:
        return dg.SkipReason("nothing is stale")
    return dg.RunRequest(tags={"eval_assets/why": str(plan.work[0].why[0])[:200]})
