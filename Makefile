# From a clean clone: `make run` or `make test`. Needs make and Python 3.11 or newer.

PYTHON ?= python3
VENV   ?= .venv
# Further arguments of pytest, for example: make test ARGS="-k doctor -x"
ARGS   ?=
# Worker processes of pytest: a number, auto = one per core, 0 = everything in one process.
JOBS   ?= auto

PY    := $(VENV)/bin/python
STAMP := $(VENV)/.setup-done

# Pictures go to files: no window, no display needed.
MPLBACKEND ?= Agg
export MPLBACKEND

.DEFAULT_GOAL := help
.PHONY: help setup run test lint format bench examples clean distclean

help: ## show this list
	@echo "planar: planar multibody mechanisms"
	@awk -F':.*## ' '/^[a-z]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@echo "Variables: PYTHON=python3.12  VENV=.venv  ARGS='-k name'  JOBS=2  PLANAR_CHOLMOD=0 (do not try to install CHOLMOD)"

$(STAMP): pyproject.toml tools/setup.sh
	@PYTHON="$(PYTHON)" VENV="$(VENV)" bash tools/setup.sh
	@touch $@

setup: ## create or renew .venv, try again to get CHOLMOD
	@rm -f $(STAMP)
	@$(MAKE) --no-print-directory $(STAMP)

run: $(STAMP) ## run examples/fourbar.py, results in out/
	@mkdir -p out
	$(PY) examples/fourbar.py

test: $(STAMP) ## run the tests
	$(PY) -m pytest -q -n $(JOBS) $(ARGS)

lint: $(STAMP) ## check the code with ruff, change nothing
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .

format: $(STAMP) ## format the code and repair what ruff can
	$(PY) -m ruff check --fix .
	$(PY) -m ruff format .

# Engines to compare with: $(VENV)/bin/pip install -e .[bench]; without them the benchmarks leave them out.
BENCHMARKS := kinematics linear forward inverse

bench: $(STAMP) ## run the benchmarks, results in out/
	@mkdir -p out
	@failed=; for name in $(BENCHMARKS); do f=benchmarks/$$name.py; [ -e $$f ] || continue; \
	  echo "== $$f"; $(PY) $$f || failed="$$failed $$name"; done; \
	  [ -z "$$failed" ] || { echo "failed:$$failed"; exit 1; }

examples: $(STAMP) ## run every example, results in out/
	@mkdir -p out
	@set -e; for f in examples/*.py; do echo "== $$f"; $(PY) "$$f"; done

clean: ## remove results and caches, keep .venv
	rm -rf out build dist *.egg-info .pytest_cache .ruff_cache .hypothesis
	find planar tests examples benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +

distclean: clean ## remove .venv too
	rm -rf $(VENV)
