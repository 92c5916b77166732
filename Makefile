# What each target needs is installed by it. Linux x86-64 and Python 3.11 or newer; about 3 GB for the engine.

PYTHON ?= python3
VENV := .venv
# The engine-free part uses the engine's environment where there is one, else a small one of its own.
CORE_VENV := $(if $(wildcard $(VENV)/toolglot-stamps.json),$(VENV),.venv-core)

.PHONY: help demo demo-lmdeploy test test-core install install-core lint types core quick vllm lmdeploy closure \
	closure-full package docs test-compat fuzz fuzz-quick soak bench clean

help:
	@echo "make demo       a tool call through a real vLLM server on the CPU, with a tiny random model"
	@echo "make demo-lmdeploy  the same through LMDeploy's API server, on a stand-in for its engine"
	@echo "make test       all checks and tests"
	@echo "make test-core  those that need no engine, with fewer splits and examples"
	@echo "make test-compat  the vLLM plugin's tests inside other versions of vLLM (downloads their wheels)"
	@echo "make closure-full  every tag against every schema and tool choice, and the table in docs/structural_tags.md"
	@echo "make fuzz       10^8 characters through the core, guided by coverage; FUZZ_CHARACTERS, FUZZ_SECONDS limit it"
	@echo "make soak       5,000 responses through each engine's parser objects, then its server under load"
	@echo "make docs       the documentation as a site, in site/"
	@echo "make bench      speed of the core, and beside the engines' own parsers: writes docs/benchmarks.md"
	@echo "make clean      remove what builds and tests leave behind (not the environments)"

demo: install
	$(VENV)/bin/python scripts/demo.py

demo-lmdeploy: install
	$(VENV)/bin/python scripts/demo.py --engine lmdeploy

test: install
	$(MAKE) --no-print-directory lint types core fuzz-quick vllm lmdeploy closure package

test-core: install-core
	$(MAKE) --no-print-directory lint types quick

install:
	$(PYTHON) scripts/install_engines.py --venv $(VENV)

install-core:
	$(PYTHON) scripts/install_engines.py --venv $(CORE_VENV) --only project

lint:
	$(CORE_VENV)/bin/ruff check .

types:
	$(CORE_VENV)/bin/python scripts/link_sources.py
	$(CORE_VENV)/bin/mypy
	$(CORE_VENV)/bin/mypy scripts bench

core:
	$(CORE_VENV)/bin/python -m pytest tests/core -n auto

quick:
	TOOLGLOT_TEST_PROFILE=quick $(CORE_VENV)/bin/python -m pytest tests/core -n auto

vllm:
	$(VENV)/bin/python -m pytest tests/vllm

test-compat: install
	$(VENV)/bin/python scripts/compat.py

lmdeploy:
	$(VENV)/bin/python -m pytest tests/lmdeploy
	$(VENV)/bin/python -m pytest tests/engines

closure:
	$(VENV)/bin/python -m pytest tests/structural -n auto

# Every schema under every choice, with and without reasoning: about a quarter of an hour on two cores, and the table.
closure-full: install
	TOOLGLOT_TEST_CLOSURE=full $(VENV)/bin/python -m pytest tests/structural -n auto
	$(VENV)/bin/python tests/structural/closure_table.py --all

package:
	$(VENV)/bin/python scripts/check_package.py

docs: install-core
	$(CORE_VENV)/bin/python -m uv pip install --quiet --python $(CORE_VENV)/bin/python -r pyproject.toml --extra docs
	$(CORE_VENV)/bin/python scripts/build_docs.py

# A million characters for each payload grammar, the same every time.
fuzz-quick:
	$(CORE_VENV)/bin/python -m pytest tests/fuzz -n auto

# About half an hour of one core for all of it. A later run goes on where one was stopped: .cache/fuzz.
FUZZ_CHARACTERS ?= 1e8
FUZZ_SECONDS ?= inf

fuzz: install-core
	$(CORE_VENV)/bin/python -m pip install --quiet "atheris>=3"
	$(CORE_VENV)/bin/python tests/fuzz/run.py --characters $(FUZZ_CHARACTERS) --seconds $(FUZZ_SECONDS)

soak: install
	TOOLGLOT_TEST_SOAK=full $(VENV)/bin/python -m pytest -s tests/vllm/test_soak.py
	TOOLGLOT_TEST_SOAK=full $(VENV)/bin/python -m pytest -s tests/lmdeploy/test_soak.py
	$(VENV)/bin/python scripts/load.py --engine vllm
	$(VENV)/bin/python scripts/load.py --engine lmdeploy

bench: install
	$(PYTHON) scripts/install_engines.py --venv $(VENV) --only bench
	$(VENV)/bin/python -m bench

clean:
	rm -rf build dist site toolglot.egg-info .pytest_cache .ruff_cache .hypothesis .cache/mypy .cache/src .cache/logs
	find . -name __pycache__ -not -path './.venv*' -type d -prune -exec rm -rf {} +
