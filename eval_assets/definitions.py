"""The code location that workspace.yaml names."""

from __future__ import annotations

from eval_assets.build import build_definitions, build_graph
from eval_assets.jobs import refresh_job, refresh_sensor
from eval_assets.project import Project

defs = build_definitions(build_graph(Project.find()), jobs=[refresh_job], sensors=[refresh_sensor])
