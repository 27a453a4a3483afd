# Everything runs inside .venv, which the first target that needs it creates. `make help` lists the targets.

.DEFAULT_GOAL := help
.PHONY: help demo test fleet lint bench clean
.DELETE_ON_ERROR:

BIN := .venv/bin
# The first of these that starts and is recent enough; `make PYTHON=/path/to/python test` overrides.
PYTHON ?= $(shell for p in python3.11 python3 python3.12 python3.13; do \
	"$$p" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo "$$p" && break; done)

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-10s  %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: .venv/.installed-runtime  ## the whole story in a minute: plan, run, estimate, report, audit; it goes to build/demo/
	@$(BIN)/python -m shuffledp.cli.demo

# One BLAS thread per worker: two workers are already as many as the cores they are meant for.
test fleet: export MPLBACKEND := Agg
test fleet: export OMP_NUM_THREADS := 1
test fleet: export OPENBLAS_NUM_THREADS := 1
# Compiled modules are kept, whatever the environment says: without them every worker and every command that a test
# starts compiles all of them again, and collecting takes twice as long.
test fleet: export PYTHONDONTWRITEBYTECODE :=
test: .venv/.installed  ## the tests, every docstring, and every example in README.md and docs/, all but what make fleet runs
	@$(BIN)/python -m pytest -q -n 2 --dist worksteal --durations=10 -m "not fleet and not long"

# What shares nothing in two processes; then all others in one, so that each cluster, database and browser is started
# once, and has the other core to itself.
fleet: .venv/.installed  ## the tests on a Spark cluster, on PostgreSQL, in browsers and of the site, and those that kill under load or take long
	@$(BIN)/python -m pytest -q -n 2 --dist loadfile --durations=10 -m "long and not fleet" tests
	@$(BIN)/python -m pytest -q --durations=10 -m fleet tests

# One BLAS thread per worker, as for the tests.
.PHONY: literature
literature: export OMP_NUM_THREADS := 1
literature: export OPENBLAS_NUM_THREADS := 1
literature: .venv/.installed  ## a million comparisons of published bounds with exact answers, a few minutes
	@$(BIN)/python -m tests.literature

# Before the package is rebuilt, and after: no honest page may fail, and none that passed may not.
.PHONY: verdicts
verdicts: export OMP_NUM_THREADS := 1
verdicts: export OPENBLAS_NUM_THREADS := 1
verdicts: .venv/.installed  ## every question, mechanism and number of rounds, released and verified, about 20 minutes
	@$(BIN)/python -m tests.pins.verdicts

lint: .venv/.installed  ## style, formatting, types, and the boundaries between packages
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-logo

# Figures that are there and whole are kept: after a change to one, run .venv/bin/shuffledp papers reproduce NAME --force --out docs/figures first.
.PHONY: docs
docs: .venv/.installed  ## the computed pages of docs/ and their figures, about three minutes
	@$(BIN)/shuffledp papers reproduce --all --out docs/figures
	@$(BIN)/python -m pages

.PHONY: schemas
schemas: .venv/.installed  ## docs/schemas, and with npm the browser's types that follow from them
	@$(BIN)/python -m pages.schemas
	@if command -v npm > /dev/null; then npm --silent --prefix clients/web run schema; fi

.PHONY: site
# The theme announces its successor on every build; that is for us to read in the changelog of the theme, not in a log.
site: export NO_MKDOCS_2_WARNING := 1
site: .venv/.installed  ## the documentation as a web site, in build/site
	@$(BIN)/mkdocs build --quiet --strict --site-dir build/site
	@echo "open build/site/index.html; its search needs a server: python3 -m http.server -d build/site"

# One thread for everybody, so that ratios do not depend on how busy the other cores are.
bench: export OMP_NUM_THREADS := 1
bench: export OPENBLAS_NUM_THREADS := 1
bench: .venv/.installed  ## side by side with the published algorithms, about five minutes
	@$(BIN)/python -m benchmarks

# An environment of its own: nothing of theirs is installed beside ours.
.PHONY: peers
peers: .venv/.installed  ## the same questions asked of other people's software; it writes docs/peers.md, about ten minutes
	@"$(PYTHON)" -m venv build/peers
	@build/peers/bin/python -m pip install -qq --disable-pip-version-check -r benchmarks/peers/requirements.txt
	@$(BIN)/python -m benchmarks.peers build/peers/bin/python

# Two cores for everybody; Java must be there for Spark.
.PHONY: engines
engines: export OMP_NUM_THREADS := 1
engines: export OPENBLAS_NUM_THREADS := 1
engines: .venv/.installed  ## what privacy costs on Spark and Beam, 1e7 and 1e8 rows; it writes docs/engines-measured.md
	@$(BIN)/python -m benchmarks.engines --rows 1e7 --rows 1e8 --page docs/engines-measured.md

# Two cores for everybody; PostgreSQL is started for it where its server is installed.
.PHONY: network
network: .venv/.installed  ## how many reports a shuffler takes, and how fast they are opened; it writes docs/network-measured.md
	@$(BIN)/python -m benchmarks.network --page docs/network-measured.md

# One core for everybody, as above.
.PHONY: accuracy
accuracy: export OMP_NUM_THREADS := 1
accuracy: export OPENBLAS_NUM_THREADS := 1
accuracy: .venv/.installed  ## every way to ask beside a trusted curator, half a minute; it writes docs/accuracy-measured.md and its figure
	@$(BIN)/python -m benchmarks.accuracy --page docs/accuracy-measured.md --figure docs/figures/accuracy-by-users.png

.PHONY: quantiles
quantiles: export OMP_NUM_THREADS := 1
quantiles: export OPENBLAS_NUM_THREADS := 1
quantiles: .venv/.installed  ## how far quantiles are from the truth, how often intervals cover, and what a million people cost; it writes docs/quantiles-measured.md
	@$(BIN)/python -m benchmarks.quantiles --page docs/quantiles-measured.md

.PHONY: top-words
top-words: export OMP_NUM_THREADS := 1
top-words: export OPENBLAS_NUM_THREADS := 1
top-words: .venv/.installed  ## top words beside published figures, and what they cost; it writes docs/top-words-measured.md
	@$(BIN)/python -m benchmarks.top_words --page docs/top-words-measured.md

clean:  ## remove what the targets wrote, except .venv
	rm -rf build dist .pytest_cache .hypothesis .mypy_cache .ruff_cache .import_linter_cache
	find src tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +

# What the package needs to run, and no more: enough for the demo.
.venv/.installed-runtime: pyproject.toml | .venv/bin/python
	@echo "installing shuffledp into .venv"
	@$(BIN)/python -m pip install -qq --disable-pip-version-check -e '.[network]'
	@touch $@

# The same and all that tests, lint and benchmarks need.
.venv/.installed: pyproject.toml | .venv/bin/python
	@echo "installing shuffledp and its development tools into .venv"
	@$(BIN)/python -m pip install -qq --disable-pip-version-check -e '.[dev]'
	@touch $@ .venv/.installed-runtime

.venv/bin/python:
	@test -n "$(PYTHON)" || { echo "shuffledp needs Python 3.11 or later, and none was found. If you have one elsewhere: make PYTHON=/path/to/python3.11 ..." >&2; exit 1; }
	@"$(PYTHON)" -c 'import sys; v = sys.version_info; sys.exit(None if v >= (3, 11) else "shuffledp needs Python 3.11 or later, but $(PYTHON) is %d.%d" % v[:2])'
	@"$(PYTHON)" -m venv .venv || { rm -rf .venv; echo "no virtual environment could be made; on Debian and Ubuntu, install the package python3-venv." >&2; exit 1; }
