"""A dataset folder, really loaded by ``datasets``, without a network."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import yaml
from corpora import ODD_IDS, Ask, corpus, fixture_corpus, left

from converters.corpus import read_corpus
from converters.formats import datasets
from converters.tables import CORPUS

# In a process of its own: importing the package takes seconds and patches others.
LOAD = """
import json, sys
from datasets import get_dataset_config_names, load_dataset
folder, cache = sys.argv[1:]
names = get_dataset_config_names(folder)
loaded = {name: load_dataset(folder, name, split="test", cache_dir=cache) for name in names}
rows = {name: json.loads(json.dumps(found.to_list(), default=str)) for name, found in loaded.items()}
default = load_dataset(folder, cache_dir=cache)["test"].column_names
print("\\n" + json.dumps({"rows": rows, "default": default}))
"""


def _load(folder: Path, tmp_path: Path) -> dict[str, object]:
    home = {"HF_HOME": str(tmp_path / "home"), "HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1"}
    done = subprocess.run(
        [sys.executable, "-c", LOAD, str(folder), str(tmp_path / "cache")],
        env={**os.environ, **home},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, object] = json.loads(done.stdout.split("\n")[-2])
    return found


def test_every_table_is_loaded_as_it_is(tmp_path: Path) -> None:
    tables = corpus(tmp_path / "corpus", *(Ask(name, labels=[(0, 0, True)]) for name in ODD_IDS))
    names = ["questions", "haystacks", "sessions", "turns", "ground_truth"]
    assert datasets.write(tables, tmp_path / "out") == [
        f"wrote {tmp_path / 'out'}: 5 configurations to load ({', '.join(names)}), and a card"
    ]
    files = sorted(f"data/{name}.parquet" for name in CORPUS)
    assert left(tmp_path / "out") == ["README.md", "data", *files]
    found = _load(tmp_path / "out", tmp_path)
    assert found["default"] == tables["questions"].columns
    rows = found["rows"]
    assert isinstance(rows, dict)
    assert sorted(rows) == sorted(names)
    for name in names:
        assert rows[name] == json.loads(json.dumps(tables[name].to_dicts(), default=str))


def test_the_card_says_what_the_tables_are(tmp_path: Path) -> None:
    datasets.write(fixture_corpus(tmp_path), tmp_path / "out", licence="cc0-1.0")
    _, head, text = (tmp_path / "out" / "README.md").read_text("utf-8").split("---\n", 2)
    meta = yaml.safe_load(head)
    assert (meta["license"], meta["size_categories"]) == ("cc0-1.0", ["n<1K"])
    configs = {one["config_name"]: one["data_files"] for one in meta["configs"]}
    assert list(configs) == list(CORPUS)
    for name, files in configs.items():
        assert [(one["split"], (tmp_path / "out" / one["path"]).is_file()) for one in files] == [("test", True)]
        columns = CORPUS[name].schema.columns()
        assert all(f"| `{column}` |" in text for column in columns)
        assert all((found.description or "") in text for found in columns.values())
    assert "1 question about memories" in text
    assert "one row a query, with what it asks for beside its text. 1 row." in text


def test_its_data_are_corpus_tables(tmp_path: Path) -> None:
    tables = corpus(tmp_path / "corpus", Ask("q"))
    datasets.write(tables, tmp_path / "out")
    back = read_corpus(tmp_path / "out" / "data")
    assert all(back[name].equals(frame) for name, frame in tables.items())
