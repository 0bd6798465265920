"""The asset graph, its staleness, and the command line: the only package that imports Dagster."""
