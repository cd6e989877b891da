# Everything runs in .venv/ inside the checkout, which these targets create.
PYTHON ?= python3
VENV := .venv
READY := $(VENV)/.ready

.PHONY: demo test lint types check models benchmarks clean

demo: $(READY)
	$(VENV)/bin/python examples/fair_survey.py -o demo-output

test: lint types check

lint: $(READY)
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .

types: $(READY)
	$(VENV)/bin/mypy

check: $(READY)
	$(VENV)/bin/python -m pytest

# Solve every model of the library again and put the certificate beside it.
models: $(READY)
	for model in models/*/*.toml; do $(VENV)/bin/dalenius solve $$model --gap 1e-3 -o $$(dirname $$model) || exit 1; done

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
