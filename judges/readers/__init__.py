"""Readers: from a question and what was retrieved to an answer. Nothing here asks a model."""
