"""Intervals, tests and decisions over scores of questions: pure functions. Definitions: docs/metrics.md."""
