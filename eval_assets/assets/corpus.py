"""``corpus/*``: the tables of a benchmark, converted in one streaming pass over its file."""

import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import dagster as dg

from converters.conversion import Conversion
from converters.convert import convert_corpus
from converters.errors import BadInput
from converters.folder_digest import source_files
from converters.tables import CORPUS
from eval_assets.code_version import CodeVersion, code_version
from eval_assets.graph import Graph, described, output
from eval_assets.keys import SOURCE, corpus_key
from eval_assets.progress import logged
from eval_assets.sources import SHA256, source_of
from eval_assets.stored import last_event

_DESCRIPTIONS: Final[Mapping[str, str]] = {
    name: (table.schema.__doc__ or name).strip().splitlines()[0] for name, table in CORPUS.items()
}


def corpus_version() -> CodeVersion:
    """What decides the corpus beside the file: the converters."""
    return code_version(
        settings={},
        roots=("converters.convert", __name__),
        libraries=("ijson", "msgspec", "pydantic-core", "datasets"),
    )


def corpus(graph: Graph) -> dg.AssetsDefinition:
    """All corpus tables of a benchmark. One file makes them all, so they run together."""
    version = corpus_version()

    @dg.multi_asset(
        name="corpus",
        partitions_def=graph.partitions,
        group_name="corpus",
        deps=[SOURCE],
        outs={
            name: dg.AssetOut(
                key=corpus_key(name),
                description=_DESCRIPTIONS[name],
                metadata=described(table),
                code_version=version.digest,
                kinds={"parquet"},
                owners=["team:memory"],
            )
            for name, table in CORPUS.items()
        },
    )
    def build(context: dg.AssetExecutionContext) -> Iterator[dg.Output[Any]]:
        started = time.perf_counter()
        name = context.partition_key
        graph.project.tables.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".corpus-", dir=graph.project.tables) as folder:
            with graph.working(dg.AssetKey("corpus"), name):
                conversion = _convert(context, graph, name, Path(folder) / "corpus")
            context.log.info("%s: %s", conversion.variant.name, conversion.variant.detail)
            for table, written in conversion.corpus.tables.items():
                yield output(
                    written,
                    version,
                    data_version=written.digest,
                    started=started,
                    metadata=_facts(conversion) if table == "questions" else None,
                    output_name=table,
                )

    return build


def _convert(context: dg.AssetExecutionContext, graph: Graph, name: str, folder: Path) -> Conversion:
    source = source_of(graph.project, graph.settings, name)
    path = source.path
    tell, size = logged(context.log), sum(file.stat().st_size for file in source_files(path))
    conversion = convert_corpus(
        path,
        source.format,
        folder,
        {"asset": "corpus", "partition": name, "run": context.run_id},
        lambda done: tell("converting", done, size),
        source.mapping,
    )
    for note in conversion.notes:
        context.log.warning("%s", note)
    event = last_event(context.instance, SOURCE, name)
    if event and event.metadata.get(SHA256) != conversion.fingerprint.sha256:
        raise BadInput(path, "it changed while it was being read", "refresh again")
    return conversion


def _facts(conversion: Conversion) -> dict[str, Any]:
    variant = conversion.variant
    return {
        "variant": f"{variant.name} ({variant.how}: {variant.detail})",
        **{name.replace("_", " "): count for name, count in conversion.counts.items()},
        **({"notes": dg.MetadataValue.text("\n".join(conversion.notes))} if conversion.notes else {}),
    }
