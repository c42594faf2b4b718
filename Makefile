# Two commands for a person: `make run` and `make test`. `make help` lists the others.

VAULT ?= sample-vault
QUERY ?= how often must the pump be greased
PLUGIN := plugin-bridge/obsidian
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
# The newest Python from 3.11 on that is here; say PYTHON=… for another.
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11; do \
	"$$p" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo "$$p" && break; done)

.DEFAULT_GOAL := help

.PHONY: help
help:  ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*##/\1\t/' | expand -t 16

.PHONY: run
run: $(STAMP)  ## index VAULT (sample-vault), search it for QUERY, say how to go on
	@$(BIN)/vaultrag up "$(VAULT)"
	@echo
	@echo "\$$ vaultrag search \"$(QUERY)\""
	@$(BIN)/vaultrag search --vault "$(VAULT)" --limit 3 "$(QUERY)" || test $$? -eq 1
	@echo
	@echo "Go on:   $(BIN)/vaultrag search \"your words\"      (the daemon keeps watching the vault)"
	@echo "         $(BIN)/vaultrag status"
	@echo "Yours:   make run VAULT=~/Notes"
	@echo "Stop:    $(BIN)/vaultrag stop"

$(STAMP): pyproject.toml
	@test -n "$(PYTHON)" || { echo "vaultrag needs Python 3.11 or newer: install it, or say PYTHON=/path/to/python" >&2; exit 2; }
	@test -x $(BIN)/python || "$(PYTHON)" -m venv $(VENV) || { \
		echo "no virtual environment can be made: on Debian, apt install python3-venv" >&2; rm -rf $(VENV); exit 2; }
	@echo "Installing vaultrag into $(VENV) …"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[agents,attachments]'
	@touch $(STAMP)

$(VENV)/.dev: $(STAMP) requirements-dev.txt
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint requirements-dev.txt --editable '.[dev]'
	@touch $(VENV)/.dev

# Runs a part of the tests and says how long it took.
PART := $(BIN)/python -m tests.preflight part

.PHONY: test
test: preflight check tests clients wheels  ## everything that CI checks

.PHONY: preflight
preflight: $(VENV)/.dev  ## what the tests will take, and what this machine lacks for them
	@$(BIN)/python -m tests.preflight

.PHONY: check
check: $(VENV)/.dev  ## style and types
	@$(PART) style $(BIN)/ruff check .
	@$(PART) format $(BIN)/ruff format --check .
	@$(PART) types $(BIN)/mypy

.PHONY: tests
tests: $(VENV)/.dev  ## the tests
	@$(PART) tests $(BIN)/python -m pytest -n 3 --dist loadfile -m "not alone"
	@$(PART) "measured ratios" $(BIN)/python -m pytest -q -m alone tests/bench

.PHONY: clients
clients: $(VENV)/.dev  ## the tests of the Obsidian plugin and the Neovim client, and the MCP inspector; says what it leaves out
	@$(PART) Neovim $(BIN)/python -m tests.nvim
	@$(PART) "MCP inspector" $(BIN)/python -m tests.mcp
	@$(PART) "Obsidian plugin" sh plugin-bridge/obsidian/check.sh

.PHONY: wheels
wheels: $(VENV)/.dev  ## install what would be released, on each Python that is here, and use it
	@$(PART) packages $(BIN)/python -m tests.packaging

.PHONY: plugin
plugin:  ## build the Obsidian plugin; with VAULT=~/Notes, put it into that vault
	@cd $(PLUGIN) && { test -d node_modules || npm ci --ignore-scripts --no-audit --no-fund; } && node esbuild.config.mjs
	@echo "Built $(PLUGIN)/main.js"
ifneq ($(origin VAULT),file)
	@test -d "$(VAULT)/.obsidian" || { echo "$(VAULT) is no vault yet: open it in Obsidian once" >&2; exit 2; }
	@mkdir -p "$(VAULT)/.obsidian/plugins/vaultrag"
	@cd $(PLUGIN) && cp main.js manifest.json styles.css "$(abspath $(VAULT))/.obsidian/plugins/vaultrag/"
	@echo "Put into $(VAULT). In Obsidian: Settings, Community plugins, Vaultrag."
endif

.PHONY: cov
cov: $(VENV)/.dev  ## the tests, with their coverage
	$(BIN)/python -m pytest --cov --cov-report=term:skip-covered

.PHONY: fault
fault: $(VENV)/.dev  ## the long form of the fault suite (half an hour), with its table
	VAULTRAG_FAULTS=long $(BIN)/python -m pytest tests/fault -n 2

.PHONY: quick
quick: $(VENV)/.dev  ## style, types and the tests that start no process: under a minute
	@$(PART) style $(BIN)/ruff check .
	@$(PART) types $(BIN)/mypy
	@$(PART) tests $(BIN)/python -m pytest -q -n 2 --dist loadfile -m 'not slow and not model and not process and not alone'

.PHONY: format
format: $(VENV)/.dev  ## bring the code into shape
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

.PHONY: docs
docs: $(VENV)/.dev  ## write the generated reference pages anew
	$(BIN)/python -m tests.docs

.PHONY: lock
lock: $(VENV)/.dev  ## pin anew what the tests run with
	@$(BIN)/uv pip compile pyproject.toml --no-config --extra dev --universal --python-version 3.11 --upgrade --quiet \
		--custom-compile-command "make lock" --output-file requirements-dev.txt

.PHONY: version
version: $(VENV)/.dev  ## write VERSION everywhere
	@$(BIN)/python -m tests.packaging.versions $(VERSION)

.PHONY: release-check
release-check: $(VENV)/.dev  ## whether what is here may be released
	@$(BIN)/python -m tests.packaging.release

.PHONY: bench
bench: $(VENV)/.bench  ## figures of speed and size on this machine, beside other programs; ARGS="--quick" and others
	$(BIN)/python -m tests.bench $(ARGS)

$(VENV)/.bench: $(STAMP) pyproject.toml
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev,bench]'
	@touch $(VENV)/.dev $(VENV)/.bench

# Without its install scripts: they would download the runtime of a language model, which keyword search does not need.
.PHONY: bench-qmd
bench-qmd:  ## let `make bench` measure qmd too (npm)
	@mkdir -p $(VENV)/qmd
	npm install --prefix $(VENV)/qmd --ignore-scripts --omit=optional --no-audit --no-fund @tobilu/qmd@2.8.3

.PHONY: fuzz
fuzz: $(VENV)/.dev  ## search for inputs that break parser, protocol or query language, SECONDS each (600)
	@mkdir -p .fuzz && cd .fuzz && for target in parser protocol query; do \
		PYTHONPATH=.. ../$(BIN)/python -m tests.fuzz $$target --seconds $(or $(SECONDS),600) --found $$target || exit 1; done

.PHONY: clean
clean:  ## remove what was installed and built
	rm -rf $(PLUGIN)/node_modules $(PLUGIN)/main.js $(PLUGIN)/artefacts tests/mcp/inspector/node_modules
	rm -rf $(VENV) dist build .mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage .fuzz
