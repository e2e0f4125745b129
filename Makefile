# Needs Python 3.11 or newer with venv, make and git; everything else goes into .venv.

PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip install -q --disable-pip-version-check --no-compile

# Compiled modules are kept: without them each process compiles all that it imports, for seconds.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help demo check test test-wheel test-oldest docs vignettes evidence format kernels

help:
	@echo "make demo       install, then select variables on the Titanic data: summary and titanic.html"
	@echo "make check      style, types and the tests that are not slow: what each commit must pass"
	@echo "make test       install with the tools for development, then check style, types, tests,"
	@echo "                vignettes and site"
	@echo "make test-wheel   the tests against the wheel, as users install it"
	@echo "make test-oldest  the same with the oldest versions of what it needs"
	@echo "make docs       run the vignettes and write the site, docs/_build/html/index.html"
	@echo "make vignettes  run the vignettes and write vignettes/html/*.html"
	@echo "make evidence   run all benchmarks that are not done, for hours; what was stopped resumes;"
	@echo "                PARTS=\"truth noise\" runs some of them, OPTIONS=--list says what is done"
	@echo "make kernels    compile the kernels that come with the package, after a change of the engine"
	@echo "make format     let ruff write the code's format and mend what it can"
	@echo "PYTHON=...      the Python that makes .venv (default: $(PYTHON))"

demo: .venv/installed
	@$(BIN)/treeselect demo

# All parts run, and it fails at the end if one of them did: a red part hides no other.
PARTS_OF_CODE = red=; part() { echo "$$*"; "$$@" || red="$$red\n  $$*"; }; \
	part $(BIN)/ruff format --check .; \
	part $(BIN)/ruff check .; \
	part $(BIN)/mypy
VERDICT = [ -z "$$red" ] || { printf "Failed:$$red\n" >&2; exit 1; }
PYTEST = $(BIN)/pytest -n auto --dist worksteal

check: .venv/installed-dev
	@$(PARTS_OF_CODE); \
	part $(PYTEST) -q -m "not slow" --timeout 120 tests; \
	$(VERDICT)

test: .venv/installed-dev
	@$(PARTS_OF_CODE); \
	part $(PYTEST); \
	part $(BIN)/python -m vignettes.build; \
	part $(BIN)/sphinx-build -q -W --keep-going docs docs/_build/html; \
	$(VERDICT)

test-wheel:
	PYTHON=$(PYTHON) bash .ci/installed

test-oldest:
	PYTHON=$(PYTHON) bash .ci/installed --oldest

docs: .venv/installed-dev
	@$(BIN)/sphinx-build -q -W --keep-going docs docs/_build/html
	@echo "docs/_build/html/index.html"

vignettes: .venv/installed-dev
	@$(BIN)/python -m vignettes.build

# Peers of the comparisons, which only this target needs.
evidence: .venv/installed-dev .venv/installed-peers
	$(BIN)/python benchmarks/evidence.py $(if $(PARTS),--parts $(PARTS)) $(OPTIONS)

kernels: .venv/installed-dev
	@$(BIN)/python .ci/kernels.py

format: .venv/installed-dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# The stamps are empty files: nothing is installed again until pyproject.toml changes.
.venv/installed: pyproject.toml | $(BIN)/python
	@echo "Installing treeselect into .venv ..."
	@$(PIP) -e .
	@touch $@

.venv/installed-dev: pyproject.toml | $(BIN)/python
	@echo "Installing treeselect and the tools for development into .venv ..."
	@$(PIP) -e ".[dev]"
	@touch $@ .venv/installed

.venv/installed-peers: benchmarks/requirements.txt .venv/installed-dev
	@echo "Installing the packages to compare with into .venv ..."
	@$(PIP) -r benchmarks/requirements.txt
	@touch $@

# `import venv` alone is not enough: Debian has it without ensurepip, which makes an environment
# without pip.
$(BIN)/python:
	@$(PYTHON) -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	|| { echo "treeselect needs Python 3.11 or newer with venv, which '$(PYTHON)' is not:" \
	  "install it (on Debian or Ubuntu the packages python3 and python3-venv)" \
	  "or name another one, as in 'make demo PYTHON=python3.12'." >&2; exit 1; }
	@$(PYTHON) -m venv .venv
