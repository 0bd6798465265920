"""``eval-assets plan``."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

import typer

from eval_assets.cli.options import Benchmarks, Json, Systems, To

if TYPE_CHECKING:
    from eval_assets.models.estimate import Asking
    from eval_assets.plan import Plan, Work
    from eval_assets.remote.estimate import Remote


def plan(systems: Systems = None, benchmarks: Benchmarks = None, to: To = None, as_json: Json = False) -> None:
    """Say what is stale, missing or incomplete, why, and what re-running it may cost. Changes nothing."""
    from eval_assets.cli.session import open_session
    from eval_assets.plan import make_plan
    from eval_assets.scope import Scope

    with open_session() as session:
        scope = Scope(session.graph, tuple(systems or ()), tuple(benchmarks or ()), to)
        scope.check()
        found = make_plan(session.instance, session.definitions, scope)
    typer.echo(json.dumps(_as_dict(found), indent=2) if as_json else "\n".join(lines(found)))


def lines(plan: Plan) -> list[str]:
    """A plan for a reader: what runs and why, what may follow, what is fresh, what cannot run, and the cost."""
    told = []
    if plan.work:
        told += ["will run", *work_lines(plan.work)]
    else:
        told.append("nothing is stale")
    if plan.may_follow:
        told.append("may follow, if results come out different")
        told += [f"  {part}" for part in plan.may_follow]
    told.append(f"fresh: {plan.fresh}")
    told += [f"unavailable: {name}: {why}" for name, why in plan.unavailable.items()]
    told += [_remote_line(one) for one in plan.remote]
    told += [_model_line(one) for one in plan.models]
    costs = [one.cost_usd for one in plan.models] + [one.cost_usd for one in plan.remote if one.texts is not None]
    bound = "more than" if None in costs else "at most"
    paid = f", {bound} {plan.cost_usd:,.2f} USD for models" if costs else ""
    told.append(f"cost: {_calls(plan)}{paid}, about {plan.seconds:.1f} s of work going by the last runs")
    return told


def _calls(plan: Plan) -> str:
    known = f"at most {plan.remote_calls} remote calls"
    if all(one.requests is not None for one in plan.remote):
        return known
    return f"{known} and those not known yet" if plan.remote_calls else "remote calls not known yet"


def _remote_line(one: Remote) -> str:
    if one.requests is None:
        return f"remote: {one.part}: documents and requests are not known before the corpus is made"
    documents = f"{one.documents} documents, " if one.documents else ""
    minutes = "" if one.minutes is None else f", {one.minutes:.1f} minutes at the configured rate"
    if one.texts is not None:
        money = "price not known" if one.cost_usd is None else f"{one.cost_usd:,.2f} USD"
        return (
            f"remote: {one.part}: vectors of {one.texts:,} texts, at most {one.requests} requests, "
            f"{one.tokens:,} tokens, {money}{minutes}"
        )
    return f"remote: {one.part}: {documents}at most {one.requests} requests{minutes}"


def _model_line(one: Asking) -> str:
    if one.calls is None:
        return f"model: {one.part}: calls of {one.model} are not known before the corpus is made"
    money = "price not known" if one.cost_usd is None else f"{one.cost_usd:,.2f} USD"
    basis = {
        "prompts": "",
        "nothing": "",
        "last results": ", going by the last results",
        "limits": ", going by the limits of a prompt",
    }[one.basis]
    return (
        f"model: {one.part}: at most {one.calls} calls of {one.model}, {one.input_tokens:,} tokens in and "
        f"{one.output_tokens:,} out, {money}{basis}"
    )


def work_lines(work: Sequence[Work]) -> list[str]:
    """A line a part: what, and why. The tables of a corpus run together and share one."""
    rows: dict[tuple[str, str], None] = {}
    for one in work:
        name = f"corpus/* [{one.part.partition}]" if one.part.key.path[0] == "corpus" else str(one.part)
        rows[name, f"{one.kind}: {'; '.join(one.why)}"] = None
    width = max(len(name) for name, _ in rows)
    return [f"  {name:{width}}  {why}" for name, why in rows]


def _as_dict(plan: Plan) -> dict[str, object]:
    return {
        "work": [
            {"asset": one.part.key.to_user_string(), "partition": one.part.partition, "kind": one.kind, "why": one.why}
            for one in plan.work
        ],
        "may_follow": [{"asset": part.key.to_user_string(), "partition": part.partition} for part in plan.may_follow],
        "fresh": plan.fresh,
        "unavailable": dict(plan.unavailable),
        "remote": [
            {
                "asset": one.part.key.to_user_string(),
                "partition": one.part.partition,
                "documents": one.documents,
                "requests": one.requests,
                "minutes": one.minutes,
                "texts": one.texts,
                "tokens": one.tokens,
                "cost_usd": one.cost_usd,
            }
            for one in plan.remote
        ],
        "remote_calls": plan.remote_calls,
        "models": [
            {
                "asset": one.part.key.to_user_string(),
                "partition": one.part.partition,
                "model": one.model,
                "calls": one.calls,
                "input_tokens": one.input_tokens,
                "output_tokens": one.output_tokens,
                "cost_usd": one.cost_usd,
                "basis": one.basis,
            }
            for one in plan.models
        ],
        "tokens": plan.tokens,
        "cost_usd": plan.cost_usd,
        "seconds": plan.seconds,
    }
