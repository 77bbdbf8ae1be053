# The whole toolchain. Everything is installed into .venv from requirements.lock.
PYTHON ?= $(shell for p in python3.12 python3.11 python3; do \
	"$$p" -c 'import sys, venv, ensurepip; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 12))' \
	>/dev/null 2>&1 && echo "$$p" && break; done)
BIN := .venv/bin
INSTALLED := .venv/installed

.PHONY: help install demo test unit lint bench chaos lock clean

help: ## Say what can be made.
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "  make %-10s %s\n", $$1, $$2}'

install: $(INSTALLED) ## Install what is needed into .venv.

$(INSTALLED): requirements.lock pyproject.toml
	@test -n "$(PYTHON)" || { echo "make: Python 3.11 or 3.12 with venv and pip is needed; set PYTHON=/path/to/python" >&2; exit 1; }
	@echo "Installing into .venv with $(PYTHON) ..."
	@$(PYTHON) -m venv --clear .venv
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $(INSTALLED)

demo: $(INSTALLED) ## Review the example pull request, from nothing.
	@$(BIN)/chargehand demo

test: lint ## Run all checks and tests.
	$(BIN)/python -m pytest -n 4 --dist loadfile

unit: $(INSTALLED) ## Run the tests that need no Redis.
	$(BIN)/python -m pytest tests/unit

lint: $(INSTALLED) ## Check style and types.
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(INSTALLED) ## Measure against a raw Celery chord, in one run.
	$(BIN)/python -m bench

chaos: $(INSTALLED) ## Kill processes at random under hundreds of jobs.
	$(BIN)/python -m tests.faults.chaos

# `requirements.lock` is for working on Chargehand, `requirements-run.lock` for running it in an image,
# and `requirements-build.lock` for building its wheel there.
COMPILE := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header \
	--no-emit-index-url --no-emit-find-links --no-annotate

lock: $(INSTALLED) ## Pin and hash every dependency anew.
	$(COMPILE) --extra dev --output-file requirements.lock pyproject.toml
	$(COMPILE) --extra analysers --extra claude --extra cli --extra flower --extra telemetry \
		--constraint requirements.lock --output-file requirements-run.lock pyproject.toml
	echo hatchling | $(COMPILE) --constraint requirements.lock --output-file requirements-build.lock -

clean: ## Remove what was installed.
	rm -rf .venv
