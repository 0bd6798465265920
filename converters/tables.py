"""The registry of tables that travel between the stages. Enforced when a table is written and when it is read.

Times are UTC with minutes (a source without a zone is read as UTC). Digests are lower-case hex.
"""

from __future__ import annotations

from typing import Final

import polars as pl

from converters.schema import Table, dy

STATUSES: Final = ("ok", "empty", "degraded", "error", "not_run")
SCORED_STATUSES: Final = ("ok", "empty")
BASE_OVERLAY: Final = "base"


def _text(description: str, *, primary_key: bool = False, nullable: bool = False) -> dy.String:
    return dy.String(primary_key=primary_key, nullable=nullable, description=description)


def _time(description: str, *, nullable: bool = True) -> dy.Datetime:
    return dy.Datetime(time_unit="us", time_zone="UTC", nullable=nullable, description=description)


def _count(description: str, *, primary_key: bool = False, nullable: bool = False) -> dy.UInt32:
    return dy.UInt32(primary_key=primary_key, nullable=nullable, description=description)


class Questions(dy.Schema):
    """One row a question, in the order of the source."""

    question_id = _text("the source's id; never told to a provider", primary_key=True)
    ordinal = _count("position in the source, from 0")
    haystack_id = _text("the haystack that the question is answered from")
    question = _text("text of the question")
    question_date = _time("when it is asked")
    as_of = _time("the later of question_date and the haystack's last session: the reference date told to providers")


class Haystacks(dy.Schema):
    """One row a session of a haystack, in the order of the source. Questions may share a haystack."""

    haystack_id = _text("which haystack", primary_key=True)
    position = _count("place in the haystack, from 0", primary_key=True)
    session_key = _text("digest of content_hash and date: stable, opaque, free of the source's id")
    content_hash = _text("digest of the session's roles and texts")
    session_date = _time("when the session took place")


class Sessions(dy.Schema):
    """One row a distinct session text, however many haystacks hold it."""

    content_hash = _text("digest of the roles and texts", primary_key=True)
    n_turns = _count("turns, blank ones included")
    n_chars = _count("characters of all its turns")


class Turns(dy.Schema):
    """One row a turn of a distinct session."""

    content_hash = _text("which session", primary_key=True)
    turn_index = _count("place in the session, from 0", primary_key=True)
    role = _text("user or assistant; memory for the content of a fixture's memory")
    content = _text("text, as in the source; may be blank")

    @dy.rule()
    def known_role(cls) -> pl.Expr:  # noqa: D102, N805
        return pl.col("role").is_in(["user", "assistant", "memory"])


class Memories(dy.Schema):
    """Fixtures only: one row a memory, with the attributes that its owner gave it. Null where the file says nothing."""

    memory_id = _text("the caller's id", primary_key=True)
    ordinal = _count("position in the file, from 0")
    content_hash = _text("its text, as a session of one turn")
    session_key = _text("digest of content_hash and created_at")
    type = _text("event, fact, decision, status", nullable=True)
    key = _text("what a fact is about: a newer one with this key replaces the older", nullable=True)
    subject = _text("what a status is about", nullable=True)
    importance = _text("critical, high, medium, low", nullable=True)
    client_id = _text("the container it belongs to", nullable=True)
    knowledge_category = _text("brand, strategy, meeting, content, technical, relationship, general", nullable=True)
    category = _text("free", nullable=True)
    confidence = dy.Float64(nullable=True, description="0 to 1")
    created_at = _time("when it was created")
    metadata = _text("JSON object", nullable=True)
    unit = _text("name of the text that it is a chunk of; a ranking counts such chunks once", nullable=True)


class QueryOptions(dy.Schema):
    """Fixtures only: one row a query, with what it asks for beside its text."""

    question_id = _text("which query", primary_key=True)
    k = dy.UInt32(nullable=True, min=1, description="a cut-off of its own")
    client_id = _text("search only this client's memories", nullable=True)


class GroundTruth(dy.Schema):
    """One row a question and overlay. Seen by scoring and reports alone."""

    overlay = _text("base, or the name of a set of corrections", primary_key=True)
    question_id = _text("which question", primary_key=True)
    question_type = _text("as in the source")
    is_abstention = dy.Bool(description="the haystack does not hold the answer")
    answer = _text("as text", nullable=True)
    answer_type = _text("JSON type of the source's answer: str or int", nullable=True)
    source_session_ids = dy.List(dy.String(), description="the source's ids of the haystack's sessions, by position")
    answer_session_ids = dy.List(dy.String(), description="the source's ids of the evidence, in its order")
    evidence_hashes = dy.List(dy.String(), description="content_hash of each evidence session, each once")
    evidence_turns = dy.List(
        dy.Struct({"content_hash": dy.String(), "turn_index": dy.UInt32()}),
        description="the turns that hold the answer; empty where the source marks none",
    )
    turn_labels = dy.List(
        dy.Struct({"position": dy.UInt32(), "turn_index": dy.UInt32(), "has_answer": dy.Bool()}),
        description="what the source says of turns, by the session's position in the haystack: LongMemEval says of "
        "some that they do not hold the answer, and nothing of most",
    )


HIT: Final = dy.Struct(
    {
        "rank": dy.UInt32(),
        "provider_id": dy.String(),
        "session_keys": dy.List(dy.String()),
        "turns": dy.List(dy.UInt32(), nullable=True),
        "content": dy.String(),
        "score": dy.Float64(nullable=True),
        "date": dy.Datetime(time_unit="us", time_zone="UTC", nullable=True),
    }
)


class SearchResults(dy.Schema):
    """One row a question, always all questions."""

    question_id = _text("which question", primary_key=True)
    status = _text("ok, empty (no hits), degraded, error or not_run")
    error = _text("what failed", nullable=True)
    retryable = dy.Bool(description="whether asking again may help")
    limit = _count("hits asked for")
    latency_ms = dy.Float64(nullable=True, description="milliseconds that the real call took")
    hits = dy.List(
        HIT,
        description="rank from 1; session_keys empty where a hit cannot be mapped; turns: indices within the "
        "session that the hit covers, null where unknown",
    )

    @dy.rule()
    def known_status(cls) -> pl.Expr:  # noqa: D102, N805
        return pl.col("status").is_in(list(STATUSES))


class RetrievalScores(dy.Schema):
    """One row a question, always all questions; its metrics as a list."""

    question_id = _text("which question", primary_key=True)
    ordinal = _count("position in the source, from 0")
    question = _text("text of the question")
    question_type = _text("as in the source")
    is_abstention = dy.Bool(description="the haystack does not hold the answer")
    status = _text("of its search: ok, empty, degraded, error or not_run")
    excluded = _text("why no metric is defined (abstention, no evidence); null where they are", nullable=True)
    limit = _count("hits asked for")
    own_k = _count("the query's own cut-off", nullable=True)
    n_hits = _count("hits returned")
    n_unmapped = _count("hits that map to no session of the haystack")
    n_ranked = _count("distinct sessions in the ranking")
    n_haystack = _count("distinct sessions in the haystack")
    n_evidence = _count("evidence sessions")
    n_evidence_turns = _count("turns marked as evidence; 0 where the source marks none")
    evidence_ranks = dy.List(dy.UInt32(), description="ranks at which evidence sessions were found, ascending")
    latency_ms = dy.Float64(nullable=True, description="milliseconds of the search scored here")
    scores = dy.List(
        dy.Struct(
            {
                "level": dy.String(),
                "metric": dy.String(),
                "k": dy.UInt32(),
                "value": dy.Float64(nullable=True),
            }
        ),
        description="level session or turn; metric hit, recall, recall_all, precision, f1, mrr or ndcg; "
        "value null where not defined",
    )


class Answers(dy.Schema):
    """One row a question, always all questions: what a reader answered, an LLM or somebody else's system."""

    question_id = _text("which question", primary_key=True)
    status = _text("ok, empty (no answer), degraded, error or not_run")
    error = _text("what failed", nullable=True)
    retryable = dy.Bool(description="whether asking again may help")
    answer = _text("text of the answer; null where there is none", nullable=True)
    n_hits_read = _count("hits that the reader was given", nullable=True)
    n_hits_cut = _count("hits left out for lack of space", nullable=True)
    latency_ms = dy.Float64(nullable=True, description="milliseconds that the real call took")
    input_tokens = _count("tokens of the prompt", nullable=True)
    output_tokens = _count("tokens of the answer", nullable=True)
    cost_usd = dy.Float64(nullable=True, description="what the real call cost, where a price is known")

    @dy.rule()
    def known_status(cls) -> pl.Expr:  # noqa: D102, N805
        return pl.col("status").is_in(list(STATUSES))

    @dy.rule()
    def answered_if_ok(cls) -> pl.Expr:  # noqa: D102, N805
        return (pl.col("status") != "ok") | pl.col("answer").is_not_null()


class Judgments(dy.Schema):
    """One row a question, always all questions: whether its answer is right."""

    question_id = _text("which question", primary_key=True)
    ordinal = _count("position in the source, from 0")
    question_type = _text("as in the source")
    is_abstention = dy.Bool(description="the haystack does not hold the answer")
    status = _text("ok, empty (there is no answer, which is wrong), degraded, error or not_run (nobody judged)")
    error = _text("what failed", nullable=True)
    retryable = dy.Bool(description="whether judging again may help")
    excluded = _text("why no answer can be right or wrong (no reference answer); null where one can", nullable=True)
    judge = _text("who judged, for instance a model", nullable=True)
    label = dy.Bool(nullable=True, description="whether the answer is right; null unless status is ok or empty")
    score = dy.Float64(nullable=True, description="the judge's score, where it gives one")
    explanation = _text("the judge's reason, where it gives one", nullable=True)
    prompt = _text("which prompt was used, with its version", nullable=True)
    latency_ms = dy.Float64(nullable=True, description="milliseconds that the real call took")
    input_tokens = _count("tokens of the judge's prompt", nullable=True)
    output_tokens = _count("tokens of the judge's reply", nullable=True)
    cost_usd = dy.Float64(nullable=True, description="what the real call cost, where a price is known")

    @dy.rule()
    def known_status(cls) -> pl.Expr:  # noqa: D102, N805
        return pl.col("status").is_in(list(STATUSES))

    @dy.rule()
    def labelled_if_scored(cls) -> pl.Expr:  # noqa: D102, N805
        return pl.col("status").is_in(list(SCORED_STATUSES)) == pl.col("label").is_not_null()


class Relevance(dy.Schema):
    """One row a question, always all questions: which of its hits a judge takes for relevant."""

    question_id = _text("which question", primary_key=True)
    ordinal = _count("position in the source, from 0")
    question_type = _text("as in the source")
    is_abstention = dy.Bool(description="the haystack does not hold the answer")
    status = _text("ok, empty (there are no hits), degraded, error or not_run (nobody judged)")
    error = _text("what failed", nullable=True)
    retryable = dy.Bool(description="whether judging again may help")
    judge = _text("who judged", nullable=True)
    prompt = _text("which prompt was used, with its version", nullable=True)
    relevance = dy.List(
        dy.UInt8(), nullable=True, description="0 or 1 of each hit, best first; null unless status is ok or empty"
    )
    n_shortened = _count("hits of which the judge was shown the beginning only", nullable=True)
    latency_ms = dy.Float64(nullable=True, description="milliseconds that the real call took")
    input_tokens = _count("tokens of the judge's prompt", nullable=True)
    output_tokens = _count("tokens of the judge's reply", nullable=True)
    cost_usd = dy.Float64(nullable=True, description="what the real call cost, where a price is known")

    @dy.rule()
    def known_status(cls) -> pl.Expr:  # noqa: D102, N805
        return pl.col("status").is_in(list(STATUSES))

    @dy.rule()
    def judged_if_scored(cls) -> pl.Expr:  # noqa: D102, N805
        return pl.col("status").is_in(list(SCORED_STATUSES)) == pl.col("relevance").is_not_null()


class Agreement(dy.Schema):
    """One row a pair of judges and slice: how far they agree on the same answers."""

    left = _text("one judge", primary_key=True)
    right = _text("the other", primary_key=True)
    slice = _text("all, or type:<question_type>", primary_key=True)
    n = _count("questions that both labelled")
    n_both_right = _count("right to both")
    n_only_left = _count("right to the left one alone: a flip")
    n_only_right = _count("right to the right one alone: a flip")
    n_both_wrong = _count("wrong to both")
    n_unlabelled = _count("questions without a label on one side or both")
    agreement = dy.Float64(nullable=True, description="share of equal labels")
    kappa = dy.Float64(nullable=True, description="Cohen's: agreement beyond chance")


class Report(dy.Schema):
    """One row a slice, level, metric, cut-off, judge and overlay."""

    slice = _text("all, or type:<question_type>", primary_key=True)
    level = _text(
        "session or turn for retrieval, judged or memorybench for hits that a model judged, answer for judged answers",
        primary_key=True,
    )
    metric = _text(
        "hit, recall, recall_all, precision, f1, mrr or ndcg; of answers accuracy, accuracy_task_averaged or "
        "accuracy_abstention",
        primary_key=True,
    )
    k = _count("cut-off; 0 for each query's own, and of answers", primary_key=True)
    judge = _text("who judged answers or hits; empty for retrieval, and where nobody says so", primary_key=True)
    overlay = _text("against which labels: base, or the name of a set of corrections", primary_key=True)
    value = dy.Float64(nullable=True, description="mean over scored questions; null where any of them is undefined")
    ci_low = dy.Float64(nullable=True, description="95 % interval, lower end: bootstrap; of answers Wilson's")
    ci_high = dy.Float64(nullable=True, description="95 % interval, upper end")
    strict = dy.Float64(nullable=True, description="mean with failed questions as zero")
    n = _count("questions scored: neither excluded nor failed")
    n_excluded = _count(
        "questions without evidence to find (abstention, no evidence; at turn level, no marked turn); of "
        "accuracy_abstention those that the haystack answers"
    )
    n_failed = _count("questions whose search failed; of answers those that could not be, or were not, judged")
    n_undefined = _count("of n, questions whose list was cut before k, or whose hits do not say which turns they cover")


class Leaderboard(dy.Schema):
    """One row a system and benchmark that has a report, best strict hit@5 first within a benchmark."""

    benchmark = _text("which benchmark", primary_key=True)
    system = _text("which system", primary_key=True)
    n = _count("questions with evidence to find, failed ones included; null without retrieval", nullable=True)
    n_failed = _count("of these, those whose search failed", nullable=True)
    n_excluded = _count("questions without evidence to find", nullable=True)
    hit_5 = dy.Float64(nullable=True, description="session hit@5, strict: failed questions count as zero")
    recall_5 = dy.Float64(nullable=True, description="session recall@5, strict")
    mrr_5 = dy.Float64(nullable=True, description="session mrr@5, strict")
    hit_10 = dy.Float64(nullable=True, description="session hit@10, strict")
    recall_10 = dy.Float64(nullable=True, description="session recall@10, strict")
    ndcg_10 = dy.Float64(nullable=True, description="session ndcg@10, strict")
    n_answers = _count("questions whose answer counts, those that nobody could judge included", nullable=True)
    accuracy = dy.Float64(nullable=True, description="share of right answers, strict: not judged counts as wrong")
    judge = _text("who judged them", nullable=True)


CORPUS: Final = {
    table.name: table
    for table in (
        Table("questions", Questions),
        Table("haystacks", Haystacks, meaning=("haystack_id", "position", "content_hash", "session_date")),
        Table("sessions", Sessions, meaning=("content_hash",)),
        Table("turns", Turns, meaning=("content_hash",), prose=frozenset({"content"})),
        Table("memories", Memories),
        Table("query_options", QueryOptions),
        Table("ground_truth", GroundTruth),
    )
}
SEARCH_RESULTS: Final = Table("search_results", SearchResults, volatile=frozenset({"latency_ms", "error"}))
RETRIEVAL_SCORES: Final = Table("retrieval_scores", RetrievalScores, volatile=frozenset({"latency_ms"}))
_OF_A_CALL: Final = frozenset({"latency_ms", "error", "input_tokens", "output_tokens", "cost_usd"})
ANSWERS: Final = Table("answers", Answers, volatile=_OF_A_CALL)
JUDGMENTS: Final = Table("judgments", Judgments, volatile=_OF_A_CALL)
RELEVANCE: Final = Table("relevance", Relevance, volatile=_OF_A_CALL)
AGREEMENT: Final = Table("agreement", Agreement)
REPORT: Final = Table("report", Report)
LEADERBOARD: Final = Table("leaderboard", Leaderboard)


class Comparison(dy.Schema):
    """One row a pair of systems, slice and metric, on the questions that both have. Failed questions count as zero."""

    left = _text("which system", primary_key=True)
    right = _text("compared with which", primary_key=True)
    slice = _text("all, or type:<question_type>", primary_key=True)
    judge = _text("whose labels; empty for retrieval", primary_key=True)
    level = _text("session or turn for retrieval, answer for judged answers", primary_key=True)
    metric = _text("as in the report; or score, the judge's own", primary_key=True)
    k = _count("cut-off; 0 for each query's own, and of answers", primary_key=True)
    value_left = dy.Float64(nullable=True, description="mean of the left; null where any question is undefined")
    value_right = dy.Float64(nullable=True, description="mean of the right")
    difference = dy.Float64(nullable=True, description="right minus left")
    ci_low = dy.Float64(nullable=True, description="95 % interval of the difference, lower end: paired bootstrap")
    ci_high = dy.Float64(nullable=True, description="95 % interval of the difference, upper end")
    p = dy.Float64(nullable=True, description="two-sided, of no difference: exact McNemar or sign flips")
    p_adjusted = dy.Float64(nullable=True, description="p by Holm, over all rows of the table")
    verdict = _text("of the right: better, worse or not separable; null where there is no difference", nullable=True)
    n = _count("questions compared")
    n_gained = _count("of n, questions on which the right is better", nullable=True)
    n_lost = _count("of n, questions on which the left is better", nullable=True)
    n_failed_left = _count("questions of both on which the left failed or was not run")
    n_failed_right = _count("questions of both on which the right failed or was not run")
    n_undefined = _count("of n, questions that have no value on one side or both")
    n_only_left = _count("questions that only the left has")
    n_only_right = _count("questions that only the right has")


COMPARISON: Final = Table("comparison", Comparison)
