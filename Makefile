# The book's commands; `make` lists them. VENV= chooses where Python packages live, PYTHON= which Python makes them.
PYTHON ?= python3
VENV   ?= .venv
PORT   ?= 8000

LOCK   := $(shell cksum < requirements.lock | tr -d ' ' | cut -c 1-12)
STAMP  := $(VENV)/installed-$(LOCK)
PY     := $(VENV)/bin/python
export PATH := $(abspath $(VENV))/bin:$(PATH)

.DEFAULT_GOAL := help
.PHONY: help setup browser book test notebooks serve bundle claims paper lab lab-verify bench lighthouse versions lock clean

help: ## list these commands
	@echo "make setup && make book, then make serve. All commands:"
	@sed -n 's/^\([a-z-]*\):.*## /  make \1|/p' $(MAKEFILE_LIST) | awk -F'|' '{ printf "%-18s %s\n", $$1, $$2 }'

setup: $(STAMP) ## make the Python environment (once for each requirements.lock)
	@test "$$(cat $(VENV)/checkout 2>/dev/null)" = "$(CURDIR)" || { \
	  echo "Installing this checkout's package into $(VENV)"; \
	  $(PY) -m pip install --quiet --no-deps --no-build-isolation --editable . && echo "$(CURDIR)" > $(VENV)/checkout; }

$(STAMP):
	@command -v $(PYTHON) >/dev/null || { echo "There is no $(PYTHON) here: install Python 3.10 or newer, or say make PYTHON=/path/to/python3."; exit 1; }
	@$(PYTHON) tools/ready.py $(VENV)
	@echo "Installing the packages of requirements.lock into $(VENV); with PyTorch this takes some minutes"
	@rm -f $(VENV)/installed-* $(VENV)/checkout
	@test -x $(PY) || $(PYTHON) -m venv $(VENV)
	@$(PY) -m pip install --disable-pip-version-check -r requirements.lock || { \
	  echo "Not every package could be downloaded; pip says above which one and why. When the connection is back, run the same command again."; exit 1; }
	@touch $@

browser: ## look for Chromium and a Korean font, and install them with apt when allowed
	@sh tools/browser.sh

notebooks: setup ## write notebooks/ from book/chapters and book/pages
	@$(PY) tools/notebooks.py
	@echo "notebooks/ matches book/ again"

book: setup ## execute the notebooks and build both languages into _site/
	@$(PY) tools/notebooks.py --check
	@$(PY) tools/site.py

serve: ## read the built book at http://localhost:8000 (PORT= for another)
	@$(PYTHON) tools/serve.py $(PORT)

bundle: setup ## zip the built book for a room without internet
	@$(PY) tools/site.py --bundle

test: setup browser ## style, types, unit tests, executed notebooks, and the built site in a browser
	@echo "Style and types"
	@$(PY) -m ruff check .
	@$(PY) -m mypy
	@echo "The site, which the browser tests open"
	@$(PY) tools/notebooks.py --check
	@$(PY) tools/site.py
	@echo "Tests, some minutes"
	@BOOK_SITE=_site $(PY) -m pytest -rs --durations=10 --numprocesses=logical --maxprocesses=4 --dist=loadfile
	@echo "All tests passed. The site that was tested is in _site/: make serve"

lighthouse: setup browser ## measure the built site with Lighthouse (npm)
	@$(PY) tools/lighthouse.py

claims: setup ## print the claims ledger of the last make book as text
	@$(PY) -m helpers.claims

paper: setup ## measure full-size networks: MODELS=vit_b16,resnet50_bit IMAGES=folder (RUN=name, SPEC=file.yml)
	@test -n "$(MODELS)" -a -n "$(IMAGES)" || { echo "Say which networks and photos: make paper MODELS=vit_b16,resnet50_bit IMAGES=folder"; exit 1; }
	@$(PY) -m helpers.paper "$(MODELS)" "$(IMAGES)" $(if $(RUN),--name "$(RUN)") $(if $(SPEC),--spec "$(SPEC)")

lab: setup ## train the small models that are missing, or RUN=name; resumes where it stopped (DATA=folder with CIFAR-10)
	@$(PY) -m helpers.lab $(RUN) $(if $(DATA),--data "$(DATA)")

lab-verify: setup ## measure every shipped small model again on the full test set (DATA=folder with CIFAR-10)
	@$(PY) -m helpers.lab verify $(if $(DATA),--data "$(DATA)")

bench: setup ## compare speed and memory with other packages; goes on where a cut run stopped
	@$(PY) -m pip install --quiet --disable-pip-version-check --no-build-isolation -c requirements.lock --editable ".[bench]"
	@$(PY) -m benchmarks

versions: setup ## run the notebooks with the oldest versions pyproject.toml allows (WHICH=newest: the newest)
	@$(PY) tools/versions.py $(or $(WHICH),oldest)

lock: ## write requirements.lock from pyproject.toml and requirements.in (needs uv)
	@command -v uv >/dev/null || { echo "make lock needs uv: pip install uv"; exit 1; }
	@uv pip compile --universal --python-version 3.10 --extra book --extra dev --upgrade --no-header pyproject.toml requirements.in -o requirements.lock
	@echo "requirements.lock is new; make setup installs it"

clean: ## remove what can be made again (_site, _build), not the environment
	@rm -rf _site _build
	@echo "Removed _site/ and _build/"
