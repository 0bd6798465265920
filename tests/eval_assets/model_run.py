"""Answers and judgments in a process of their own, to be killed: URL FOLDER QUESTIONS CONCURRENCY are its arguments."""

from __future__ import annotations

import sys
from pathlib import Path

from asking import answered, asks, chat, judged

if __name__ == "__main__":
    url, folder, number, concurrency = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
    made = asks(number, wrong=range(0, number, 3))
    with chat(url, folder, "gpt_4o", concurrency=concurrency) as reader:
        answers = answered(made, reader)
        judgments = judged(made, reader, answers)
    with chat(url, folder, "gpt_5_mini", concurrency=concurrency) as other:
        seconds = judged(made, other, answers)
    answers.write_parquet(folder / "answers.parquet")
    judgments.vstack(seconds).write_parquet(folder / "judgments.parquet")
