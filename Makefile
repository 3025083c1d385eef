# Two commands: `make run` serves Skillquay, `make test` proves it. `make check` is the house's own order.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
export PYTHONDONTWRITEBYTECODE :=  # else each process that starts compiles all of our code again

.PHONY: run test check bubblewrap

run: $(VENV)/runtime bubblewrap
	@$(BIN)/python manage.py set_up
	@exec $(BIN)/python manage.py up

test: $(VENV)/tests bubblewrap
	@$(BIN)/python -m pytest -n $${TEST_PROCESSES:-3} --dist worksteal -rs $(ARGS)

check: $(VENV)/tests
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy registry worker portal
	$(BIN)/python manage.py makemigrations --check --dry-run
	$(BIN)/python manage.py check
	$(BIN)/python -m pytest tests/architecture

$(VENV)/runtime: requirements.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Skillquay needs Python 3.11 or newer; set PYTHON=/path/to/it")'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Installing what requirements.txt pins …"
	@$(PIP) -r requirements.txt
	@touch $@

$(VENV)/tests: tests/requirements.txt $(VENV)/runtime
	@echo "Installing what the tests need …"
	@$(PIP) -r requirements.txt -r tests/requirements.txt
	@touch $@

bubblewrap:
	@command -v bwrap >/dev/null || { \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && \
	     { apt-get update && apt-get install -y --no-install-recommends bubblewrap; } >/dev/null 2>&1; \
	  then echo "Installed bubblewrap (isolation tier A)."; \
	  else echo "bubblewrap is missing and cannot be installed here: runs use isolation tier B."; fi; }
