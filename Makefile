# Everything runs in .venv/ inside the checkout, which these targets create.
PYTHON ?= python3
VENV := .venv
READY := $(VENV)/.ready

.PHONY: demo reproduction test lint types check models verify-models benchmarks clean

demo: $(READY)
	$(VENV)/bin/python examples/fair_survey.py -o demo-output

# The source paper's tables and figures (docs/reproduction.md): a quarter of an hour.
reproduction: $(READY)
	for script in examples/paper_*.py; do $(VENV)/bin/python $$script -o demo-output || exit 1; done

test: lint types check

lint: $(READY)
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .

types: $(READY)
	$(VENV)/bin/mypy

# One process a core, so one thread of linear algebra each.
check: $(READY)
	OPENBLAS_NUM_THREADS=1 $(VENV)/bin/python -m pytest -n auto --maxprocesses 8

# Solve the models of the library again that are still open, and keep whichever ends are better.
models: $(READY)
	$(VENV)/bin/dalenius library tighten

# Prove every certificate of the library with the checker alone.
verify-models: $(READY)
	$(VENV)/bin/python models/verify.py

benchmarks: $(READY)
	$(VENV)/bin/python benchmarks/capacity.py
	$(VENV)/bin/python benchmarks/audit.py
	$(VENV)/bin/python benchmarks/programs.py
	$(VENV)/bin/python benchmarks/design.py
	$(VENV)/bin/python benchmarks/baselines.py --quick

$(READY): pyproject.toml constraints.txt Makefile
	$(PYTHON) -c 'import sys; sys.exit("dalenius needs Python 3.11 or newer; set PYTHON=...") if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	touch $(READY)

clean:
	rm -rf $(VENV) demo-output .pytest_cache .mypy_cache .ruff_cache .hypothesis
