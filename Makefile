# Everything runs in .venv with the pinned dependencies of requirements.lock. Nothing else is needed but Python >= 3.11.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready

.PHONY: demo test soak ui lint clean lock

demo: $(READY)
	$(BIN)/eval-assets demo

test: lint
	$(BIN)/pytest

# Twenty times as many damaged inputs a reader as `make test`, sources of hostile sizes, runs against services that are
# killed at 20 points, and more hostile replies: more than half an hour.
soak: $(READY)
	FUZZ_INPUTS=2000 $(BIN)/pytest tests/converters/fuzz --dist load
	$(BIN)/python -m tests.converters.hostile
	KILL_POINTS=20 $(BIN)/pytest tests/eval_assets/test_remote_kill.py tests/eval_assets/test_remote_killed.py
	HOSTILE_SEEDS=12 $(BIN)/pytest tests/eval_assets/test_remote_hostile.py
	HYPOTHESIS_EXAMPLES=500 $(BIN)/pytest tests/converters tests/judges tests/providers

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

ui: $(READY)
	$(BIN)/eval-assets ui

$(READY): requirements.lock pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed: make PYTHON=python3.11")'
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	touch $@

# Pins every dependency with its hashes and without a host; run after changing pyproject.toml.
lock: $(READY)
	$(BIN)/uv pip compile pyproject.toml --group dev --universal --python-version 3.11 --generate-hashes \
	  --no-emit-index-url --no-strip-extras --no-annotate --no-header --quiet --output-file requirements.lock

# Removes the environment and caches; data/ stays.
clean:
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache build dist *.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
