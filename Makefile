# Two commands set everything up on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: setup demo test check lint types docs bench soak clean

setup: $(STAMP)

# Anew only when what is to be installed has changed.
$(STAMP): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	touch $(STAMP)

demo: setup
	$(BIN)/qassay demo

test: setup
	$(BIN)/python -m pytest -n 2

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: setup
	$(BIN)/mypy

docs: setup
	$(BIN)/python scripts/generate_docs.py --check
	$(BIN)/mkdocs build --quiet --strict

# The gate: what CI and the pre-commit hook run.
check: lint types test docs

# Peers are measured in an environment of their own, so that the tool's stays small.
bench: setup
	$(BIN)/python -m benchmarks

soak: setup
	$(BIN)/python -m pytest -m slow -n 2

clean:
	rm -rf $(VENV) site dist .pytest_cache .mypy_cache .ruff_cache .hypothesis benchmarks/.work
