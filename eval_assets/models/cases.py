"""A judge is put to answers with known verdicts before its own are believed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import polars as pl

from converters.errors import BadInput
from eval_assets.ledger.settings import ledger_mode
from eval_assets.models.chat import Chat, Took, chat_with, key_lacking
from eval_assets.models.judgments import ask_judge
from eval_assets.models.rows import Row, rows_of
from eval_assets.models.settings import JudgeSettings
from eval_assets.project import Project
from eval_assets.settings import Settings
from judges.judging.cases import Case, bundled_cases, judge_accuracy
from judges.judging.lexical import lexical_verdict
from judges.judging.verdict import Unreadable as NoVerdict
from judges.judging.verdict import Verdict
from judges.report_values import NOTHING, cell, markdown_table, number
from providers.protocol import quiet
from providers.remote.errors import CallFailed, NotRecorded, Stop, Unreadable

TRUSTED_FROM: Final = 0.9
"""Share of the cases that a judge must get right."""
NOT_TRIED: Final = "not tried"
_EXAMPLES: Final = 3
_WIDTH: Final = 100


@dataclass(frozen=True)
class Trial:
    """How a judge did.

    Attributes:
        table: of ``judge_accuracy``, without the cases that got no reply.
        failed: why a case got no reply, by case.
        unrecorded: cases that the ledger does not hold while it is replayed.
        cost_usd: of the real calls, where prices are known; None where no model was asked.
    """

    table: pl.DataFrame
    failed: Mapping[str, str]
    unrecorded: int
    cost_usd: float | None

    @property
    def accuracy(self) -> float | None:
        """Share of right verdicts; an unreadable reply is not right. Null where there was no reply at all."""
        return float(self.table["right"].sum()) / self.table.height if self.table.height else None


def try_judge(judge: JudgeSettings, chat: Chat | None) -> Trial:
    """Put a judge to the bundled cases, through the ledger: what was asked once is not paid for again.

    Args:
        judge: its settings.
        chat: its model; None for the lexical judge.

    Raises:
        Stop: the model answers nothing more.
    """
    cases = bundled_cases()

    def one(asked: Mapping[str, Any]) -> Row:
        case: Case = asked["case"]
        given = (case.question, case.answer, case.hypothesis, case.question_type, case.is_abstention)
        if chat is None:
            return {"said": lexical_verdict(*given), "cost_usd": None}
        took = Took()
        said: Verdict | CallFailed
        try:
            said = ask_judge(judge, chat, *given, took)[0].value
        except CallFailed as error:
            said = error
        return {"said": said, "cost_usd": took.row.get("cost_usd")}

    rows = rows_of([{"case": case} for case in cases], one, chat.model.concurrency if chat else 1, quiet)
    said = {case.case: row["said"] for case, row in zip(cases, rows, strict=True)}
    failed = {
        name: str(one) for name, one in said.items() if isinstance(one, CallFailed) and not isinstance(one, Unreadable)
    }

    def again(case: Case) -> Verdict:
        found = said[case.case]
        if isinstance(found, Unreadable):
            raise NoVerdict(str(found))
        verdict: Verdict = found
        return verdict

    costs = [row["cost_usd"] for row in rows if row["cost_usd"] is not None]
    unrecorded = sum(isinstance(one, NotRecorded) for one in said.values())
    table = judge_accuracy(again, [case for case in cases if case.case not in failed])
    return Trial(table, failed, unrecorded, sum(costs) if costs else None)


def judge_is_fit(project: Project, settings: Settings, name: str) -> tuple[bool, dict[str, Any]]:
    """Whether a judge may be believed, and what to show: accuracy, the cases it gets wrong, what it cost.

    True, and only ``not tried``, where there is no key, or the ledger is replayed and does not hold the cases.
    """
    judge = settings.judges[name]
    if judge.model is None:
        return _told(try_judge(judge, None))
    model = settings.models[judge.model]
    lacking = key_lacking(model)
    if lacking and ledger_mode() != "replay":
        return True, {NOT_TRIED: lacking}
    try:
        with chat_with(project, judge.model, model) as chat:
            return _told(try_judge(judge, chat))
    except (BadInput, Stop) as error:
        return False, {"could not be asked": " ".join(str(error).split())}


def _told(trial: Trial) -> tuple[bool, dict[str, Any]]:
    n_cases = trial.table.height + len(trial.failed)
    if trial.unrecorded:
        return True, {NOT_TRIED: f"{trial.unrecorded} of {n_cases} cases are not in the ledger, to be replayed"}
    facts: dict[str, Any] = {"cases": n_cases, "least accuracy": TRUSTED_FROM}
    if trial.accuracy is not None:
        facts["accuracy"] = round(trial.accuracy, 4)
    if trial.failed:
        why = "; ".join(f"{case}: {said}" for case, said in list(trial.failed.items())[:_EXAMPLES])
        facts |= {"cases without a reply": len(trial.failed), "for instance": why}
    if trial.cost_usd is not None:
        facts["cost (USD)"] = round(trial.cost_usd, 6)
    facts["wrong"] = _wrong(trial.table)
    return not trial.failed and (trial.accuracy or 0.0) >= TRUSTED_FROM, facts


def _wrong(table: pl.DataFrame) -> str:
    words = {True: "right", False: "wrong", None: "unreadable"}
    rows = [
        [
            row["case"],
            row["kind"],
            row["prompt"],
            words[row["expected"]],
            words[row["got"]],
            number(row["score"]),
            cell(row["explanation"], _WIDTH) or NOTHING,
        ]
        for row in table.filter(~pl.col("right")).iter_rows(named=True)
    ]
    return markdown_table(["case", "kind", "prompt", "is", "judged", "score", "why"], rows) if rows else "none"
