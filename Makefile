# Everything runs in .venv/ inside the checkout, which these targets create.
PYTHON ?= python3
VENV := .venv
READY := $(VENV)/.ready
# Bytecode is kept, as commands are run in processes of their own. One process a core, so one thread of linear algebra each; a file's cases share its fixtures, so a file stays with one process.
PYTEST := PYTHONDONTWRITEBYTECODE= OPENBLAS_NUM_THREADS=1 $(VENV)/bin/python -m pytest -n auto --maxprocesses 8 --dist loadfile
# What talks to other people's solvers, readers and packages.
INTEROP := tests/unit/export tests/unit/programs/test_solvers.py tests/laws/agreement/test_second_route.py \
    tests/laws/agreement/test_other_packages.py
# A little of every room: what the declared minimum versions must get through.
SMOKE := tests/unit/model tests/unit/atoms/test_information.py tests/unit/programs/test_marginal.py \
    tests/unit/designs/test_rational.py tests/unit/cli tests/unit/export/test_standard.py tests/laws/closed_forms/test_audits.py

.PHONY: help test test-all lint types pins check check-all coverage campaigns browser formal formal-tools interop minimum sanitizers docs demo reproduction models verify-models benchmarks clean

help: ## This list.
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | expand -t 16

test: $(READY) ## What must pass before a commit, in some four minutes on two idle cores: lint, types, tests with thin campaigns.
	$(MAKE) -j3 lint types check

test-all: lint types pins coverage check-all docs interop minimum sanitizers formal ## Everything: long draws, coverage, other people's packages, the oldest versions, theorems.

lint: $(READY) ## Style, format, and the house: who may import whom.
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/lint-imports --no-cache

types: $(READY) ## mypy, strict.
	$(VENV)/bin/mypy

pins: $(READY) ## constraints.txt pins everything that is installed.
	! $(VENV)/bin/python -m pip freeze --exclude-editable | grep -vixFf constraints.txt

check: $(READY) ## The tests, each campaign as a fixed thin draw.
	@$(VENV)/bin/python tests/browser.py
	@$(VENV)/bin/python -c "from dalenius.audits.bounds.rows import _compiled; _compiled(None)"
	$(PYTEST)

check-all: $(READY) ## The tests, each campaign as a long draw.
	$(PYTEST) --thorough

coverage: $(READY) ## The tests of every day, which run at least 92 % of the package's lines.
	$(PYTEST) --cov --cov-report=term:skip-covered

campaigns: $(READY) ## Hours of random cases, before a release: what the tests mark `campaign`, where each says how many minutes it takes.
	$(PYTEST) --dist load --campaigns --durations 0 --durations-min 60

browser: ## Install Debian's chromium, in which the tests open reports; needs root.
	apt-get install -y --no-install-recommends chromium

formal: $(READY) ## The theory of formal/ and certificates as theorems, proved by Coq (docs/formal.md).
	@$(VENV)/bin/python formal/prove.py

formal-tools: ## Install Debian's Coq and coq-interval, which prove theorems; needs root.
	apt-get install -y --no-install-recommends coq libcoq-interval

interop: $(VENV)-interop/.ready ## The tests that other packages take part in, in .venv-interop: an unlicensed MOSEK breaks plain cvxpy.
	OPENBLAS_NUM_THREADS=1 $(VENV)-interop/bin/python -m pytest -rs --thorough $(INTEROP)

sanitizers: $(VENV)-torch/.ready ## The tests of learned sanitizers, in .venv-torch: torch is larger than everything else together.
	OPENBLAS_NUM_THREADS=1 $(VENV)-torch/bin/python -m pytest -rs --thorough tests/unit/sanitizers

minimum: $(VENV)-minimum/.ready ## A smoke test on the oldest versions that pyproject.toml allows, in .venv-minimum.
	OPENBLAS_NUM_THREADS=1 $(VENV)-minimum/bin/python -m pytest $(SMOKE)

docs: $(READY) ## The site: build/site/html/index.html, without network; a warning is an error.
	$(VENV)/bin/python docs/site/stage.py build/site/source
	$(VENV)/bin/python -m sphinx -b html -q -E -W --keep-going -c docs/site build/site/source build/site/html

demo: $(READY) ## The first story: pictures and tables in demo-output/.
	$(VENV)/bin/python examples/fair_survey.py -o demo-output

reproduction: $(READY) ## The source paper's tables and figures (docs/reproduction.md): a quarter of an hour.
	for script in examples/paper_*.py; do $(VENV)/bin/python $$script -o demo-output || exit 1; done

models: $(READY) ## Solve the models of the library again that are still open, and keep whichever ends are better.
	$(VENV)/bin/dalenius library tighten

verify-models: $(READY) ## Prove every certificate of the library with the checker alone, by both its arithmetics.
	$(VENV)/bin/python models/verify.py --arithmetic both

benchmarks: $(READY) ## Timings and comparisons; each script says what it measures.
	$(VENV)/bin/python benchmarks/capacity.py
	$(VENV)/bin/python benchmarks/audit.py
	$(VENV)/bin/python benchmarks/programs.py
	$(VENV)/bin/python benchmarks/solvers.py --quick
	$(VENV)/bin/python benchmarks/design.py
	$(VENV)/bin/python benchmarks/baselines.py --quick
	$(VENV)/bin/python benchmarks/limits.py
	$(VENV)/bin/python benchmarks/imports.py

$(READY): pyproject.toml constraints.txt Makefile
	$(PYTHON) -c 'import sys; sys.exit("dalenius needs Python 3.11 or newer; set PYTHON=...") if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	touch $(READY)

$(VENV)-interop/.ready: pyproject.toml constraints.txt Makefile
	$(PYTHON) -m venv $(VENV)-interop
	$(VENV)-interop/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev,interop]'
	touch $@

$(VENV)-torch/.ready: pyproject.toml constraints.txt Makefile
	$(PYTHON) -m venv $(VENV)-torch
	$(VENV)-torch/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[tests,torch]'
	touch $@

# The lower ends of pyproject.toml's ranges, as pins.
$(VENV)-minimum/.ready: pyproject.toml Makefile
	$(PYTHON) -m venv $(VENV)-minimum
	sed -n 's/^  "\([a-z-]*\)>=\([0-9.]*\)",$$/\1==\2/p' pyproject.toml > $(VENV)-minimum/oldest.txt
	$(VENV)-minimum/bin/python -m pip install --quiet --disable-pip-version-check -c $(VENV)-minimum/oldest.txt -e '.[tests]'
	touch $@

clean: ## Remove what these targets made.
	rm -rf $(VENV) $(VENV)-interop $(VENV)-minimum $(VENV)-torch demo-output .pytest_cache .mypy_cache .ruff_cache .hypothesis
