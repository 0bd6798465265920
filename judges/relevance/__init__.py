"""Relevance of hits as a model judges it: prompt, reply and metrics. Nothing here asks a model."""
