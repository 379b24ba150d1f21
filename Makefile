# make demo   the paper's experiments in short, on data that needs no files, within three minutes on two cores;
#             writes report/index.html
# make quick  the first tests of every file that is not slow, within two minutes
# make test   run all tests, within twelve minutes on two cores
# make docs   the site, from docs/ and examples/, into build/docs/index.html
# make check  lint, format and types
# make oldest all tests with the oldest versions that are supported
# make bench  speed, memory and quality, beside other libraries; hours, most of them YDF's
# make fuzz   anything thrown at the estimators for MINUTES=4; SEED=1 draws other cases
# make bench-check  a few ratios to scikit-learn, held against their floors; under a minute

PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
STAMP = $(VENV)/.installed
MINUTES ?= 4
SEED ?= 0

.PHONY: demo quick test docs check format oldest fuzz bench bench-check clean

demo: $(STAMP)
	$(BIN)/sublearn reproduce --quick --datasets bundled

quick: $(STAMP)
	$(BIN)/python -m pytest --quick

test: $(STAMP)
	$(BIN)/python -m pytest --numprocesses auto --dist worksteal

docs: $(VENV)/.docs
	$(BIN)/python -m sphinx -n -W --keep-going -d build/doctrees docs build/docs

check: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(STAMP)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

oldest: .venv-oldest/.installed
	.venv-oldest/bin/python -m pytest

fuzz: $(STAMP)
	$(BIN)/python -m fuzz --minutes $(MINUTES) --seed $(SEED)

bench: $(VENV)/.peers
	$(BIN)/sublearn bench --goals
	$(BIN)/python benchmarks/scoring.py
	$(BIN)/python benchmarks/kernels.py
	$(BIN)/python benchmarks/multiclass.py
	$(BIN)/python benchmarks/convergence.py
	$(BIN)/python benchmarks/quality.py
	$(BIN)/python benchmarks/defaults.py
	$(BIN)/python benchmarks/mixed.py
	$(BIN)/python benchmarks/gaps.py
	$(BIN)/python benchmarks/feature_tests.py
	$(BIN)/python benchmarks/times.py
	$(BIN)/python benchmarks/stress.py

bench-check: $(STAMP)
	$(BIN)/sublearn bench --check

$(STAMP): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	@touch $@

$(VENV)/.docs: $(STAMP)
	$(BIN)/python -m pip install --quiet --editable '.[docs]'
	@touch $@

$(VENV)/.peers: $(STAMP)
	$(BIN)/python -m pip install --quiet --editable '.[bench]'
	@touch $@

.venv-oldest/.installed: pyproject.toml constraints-oldest.txt
	$(PYTHON) -m venv .venv-oldest
	.venv-oldest/bin/python -m pip install --quiet --editable '.[test]' --constraint constraints-oldest.txt
	@touch $@

clean:
	rm -rf .venv .venv-oldest build docs/api docs/gallery report bench
