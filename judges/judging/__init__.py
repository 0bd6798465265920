"""Judges: is an answer right? Prompts, the reading of replies, and the judge without a model. Nothing here asks one."""
