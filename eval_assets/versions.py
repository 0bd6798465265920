"""The code version that each asset has now."""

from __future__ import annotations

from collections.abc import Mapping

import dagster as dg

from converters.tables import CORPUS
from eval_assets import keys
from eval_assets.assets.answers import answers_version
from eval_assets.assets.comparison import comparison_version
from eval_assets.assets.corpus import corpus_version
from eval_assets.assets.corrected import (
    corrected_judgments_version,
    corrected_scores_version,
    corrections_version,
)
from eval_assets.assets.imported import imported_answers_version, imported_search_version
from eval_assets.assets.judgments import agreement_version, judgments_version
from eval_assets.assets.leaderboard import leaderboard_version
from eval_assets.assets.relevance import relevance_version
from eval_assets.assets.report import report_version
from eval_assets.assets.scores import scores_version
from eval_assets.assets.search import search_version
from eval_assets.assets.store import store_version
from eval_assets.code_version import CodeVersion
from eval_assets.graph import Graph
from eval_assets.settings_systems import ImportedSystem


def versions(graph: Graph) -> Mapping[dg.AssetKey, CodeVersion]:
    """By asset key. The sources have none: how a file is read is part of its data version."""
    settings = graph.settings
    found = {keys.corpus_key(table): corpus_version() for table in CORPUS}
    found |= {keys.store_key(name): store_version(store) for name, store in settings.stores.items()}
    for name, system in settings.systems.items():
        if isinstance(system, ImportedSystem):
            found[keys.search_key(name)] = imported_search_version(system)
            found |= dict.fromkeys((keys.answers_key(name), keys.judgments_key(name)), imported_answers_version())
        else:
            found[keys.search_key(name)] = search_version(settings.stores[system.store], system)
            if system.reader is not None:
                found[keys.answers_key(name)] = answers_version(settings, system)
            found |= {keys.judgments_key(name, judge): judgments_version(settings, judge) for judge in system.judges}
            found[keys.agreement_key(name)] = agreement_version(system)
            if system.relevance is not None:
                found[keys.relevance_key(name)] = relevance_version(settings, system)
        found[keys.scores_key(name)] = scores_version()
        for judge in getattr(system, "judges", ()):
            found[keys.corrected_judgments_key(name, judge)] = corrected_judgments_version(settings, judge)
        found[keys.corrected_scores_key(name)] = corrected_scores_version()
        found[keys.report_key(name)] = report_version(system, settings.corrections)
    found[keys.COMPARISON] = comparison_version(graph)
    found[keys.LEADERBOARD] = leaderboard_version(graph)
    found[keys.CORRECTIONS] = corrections_version(settings)
    return {key: version for key, version in found.items() if key in graph.shelf.layout}
