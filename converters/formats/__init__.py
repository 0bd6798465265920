"""Corpus tables, search results and answers in the formats of other tools; see docs/formats.md."""
