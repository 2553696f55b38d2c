# Each target sets up what it needs in .venv: Python >= 3.11 and make are all it takes.
.DEFAULT_GOAL := help
.NOTPARALLEL:
.DELETE_ON_ERROR:
SHELL := /bin/bash

PYTHON ?= $(shell for p in python3.13 python3.12 python3.11 python3; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 && { echo $$p; break; }; done)
BIN := .venv/bin
PYTEST := $(BIN)/python -m pytest
WORKERS ?= 2
PEERS := .venv/.oracles .venv/.engines .venv/.studio
TESTS := -n $(WORKERS) --dist loadfile

.PHONY: help demo test test-slow test-all check static lint types layers doctests docs api coverage studio site notebooks bench bench-check \
	kills oracles engines tumult browser clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "make %-11s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))

demo: .venv/.run ## the main job, on the bundled data set
	@$(BIN)/utmost demo

studio: .venv/.studio ## the web page, on the bundled data set; what it writes goes to ./studio
	@mkdir -p studio && $(BIN)/utmost studio studio

test: .venv/.test ## the fast tests, in 3 minutes; those that need an oracle skip when it is not installed
	$(PYTEST) $(TESTS) --tier=fast tests

test-slow: .venv/.test ## what make test left out: slow tests, and Hypothesis tests with all their examples
	$(PYTEST) $(TESTS) --tier=slow tests

test-all: .venv/.test ## all tests
	$(PYTEST) $(TESTS) --tier=all tests

static: lint types layers doctests ## what is checked without the tests

check: static docs coverage ## everything a change must pass

lint: .venv/.check ## ruff: rules and format
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: .venv/.check ## mypy --strict over src
	$(BIN)/mypy --strict src

layers: .venv/.check ## upper layers import lower ones only
	$(BIN)/lint-imports

doctests: .venv/.check ## the examples in docstrings
	$(PYTEST) --doctest-modules src

docs: .venv/.check ## the code blocks of README and docs
	$(PYTEST) tests/test_docs.py

api: .venv/.check ## write docs/api.md and the type stub from the docstrings
	$(BIN)/python docs/make_api.py

coverage: .venv/.check ## the tests, measured
	$(BIN)/coverage erase
	$(BIN)/coverage run -m pytest $(TESTS) --tier=all --ignore=tests/test_docs.py tests
	$(BIN)/coverage combine -q
	$(BIN)/coverage report

site: .venv/.docs ## the documentation as a web site, in site/
	$(BIN)/python docs/site/build.py site
	@echo "open site/index.html"

notebooks: .venv/.docs .venv/.oracles ## run the notebooks of the examples and store their outputs
	$(BIN)/python examples/notebooks/run.py

bench: $(PEERS) .venv/.tumult ## ratios against peers in one run of at most 30 minutes, written to bench/figures.json and the pages; PARTS="counts types" prints some
	$(BIN)/python bench/run.py $(PARTS)

bench-check: $(PEERS) ## the quick ratios against their ceilings, 3 minutes
	$(BIN)/python bench/run.py --check $(PARTS)

kills: .venv/.test ## kill 1000 releases at random points, and look for one without its charge
	UTMOST_KILLS=1000 $(PYTEST) -s tests/publish/test_process_kill.py

oracles: .venv/.oracles ## install the test oracles

engines: .venv/.engines ## install the clients of PostgreSQL and Spark, and POT

tumult: .venv/.tumult ## install Tumult Analytics, a peer of the benchmark, in .venv/tumult; it runs with Java

browser: .venv/.browser ## install the studio and what its tests need; Chromium itself is Debian's package chromium

clean: ## remove .venv and all that was built
	rm -rf .venv build dist site .coverage .coverage.* .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find src tests -name __pycache__ -type d -prune -exec rm -rf {} +

# A stamp says that its extra was installed for this pyproject.toml; a failed install leaves none.
.venv/.run: EXTRA :=
.venv/.test: EXTRA := [test,studio]
.venv/.check: EXTRA := [test,check,studio]
.venv/.oracles: EXTRA := [test,oracles]
.venv/.engines: EXTRA := [test,postgres,spark,transport]
.venv/.studio: EXTRA := [studio]
.venv/.browser: EXTRA := [test,studio,browser]
.venv/.docs: EXTRA := [docs]
.venv/.run .venv/.test .venv/.check .venv/.oracles .venv/.engines .venv/.studio .venv/.browser .venv/.docs: pyproject.toml | $(BIN)/python
	@echo "installing utmost$(EXTRA) into .venv"
	@rm -f $@
	@$(BIN)/python -m pip install -q --disable-pip-version-check -e '.$(EXTRA)' || \
		{ echo "make: could not install utmost$(EXTRA): pip's reason is above; put it right and run make again" >&2; exit 1; }
	@touch $@

# Tumult needs older versions of numpy and pandas than utmost, so it has an environment of its own. Without it the
# benchmark says that it is missing.
.venv/.tumult: | $(BIN)/python
	@echo "installing tmlt.analytics into .venv/tumult"
	@{ $(BIN)/python -m venv .venv/tumult && \
		.venv/tumult/bin/python -m pip install -q --disable-pip-version-check 'tmlt.analytics>=0.21' && touch $@; } || \
		echo "make: could not install tmlt.analytics: pip's reason is above; its figures will be missing" >&2

$(BIN)/python:
	@[ -n "$(PYTHON)" ] || { echo "make: no Python >= 3.11 found: install one, or say make PYTHON=/path/to/python3" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "make: $(PYTHON) does not run, or is older than Python 3.11: say make PYTHON=/path/to/python3" >&2; exit 1; }
	@$(PYTHON) -m venv .venv || { rm -rf .venv; \
		echo "make: $(PYTHON) could not make .venv: install its venv module (python3-venv on Debian)" >&2; exit 1; }
