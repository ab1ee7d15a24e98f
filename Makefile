# The book's commands; `make` lists them. VENV= chooses where Python packages live, PYTHON= which Python makes them.
PYTHON ?= python3
VENV   ?= .venv
PORT   ?= 8000

LOCK   := $(shell cksum < requirements.lock | tr -d ' ' | cut -c 1-12)
STAMP  := $(VENV)/installed-$(LOCK)
PY     := $(VENV)/bin/python
# With CPU=1 the locked versions are installed without CUDA; uv knows where PyTorch keeps those builds.
LOCKED := $(PY) -m pip install --disable-pip-version-check -r requirements.lock
ifdef CPU
LOCKED := $(PY) -m pip install --quiet --disable-pip-version-check uv && \
  $(PY) -m uv pip install --python $(PY) --torch-backend cpu -c requirements.lock --editable ".[book,dev]" setuptools
endif
WORKERS := --numprocesses=logical --maxprocesses=4 --dist=loadfile
export PATH := $(abspath $(VENV))/bin:$(PATH)

.DEFAULT_GOAL := help
.PHONY: help setup browser book check chapter test notebooks serve bundle js claims paper lab lab-verify bench zoo lighthouse versions lock clean

help: ## list these commands
	@echo "make setup && make book, then make serve. All commands:"
	@sed -n 's/^\([a-z-]*\):.*## /  make \1|/p' $(MAKEFILE_LIST) | awk -F'|' '{ printf "%-18s %s\n", $$1, $$2 }'

setup: $(STAMP) ## make the Python environment (once for each requirements.lock); CPU=1 leaves out CUDA, which is gigabytes
	@test "$$(cat $(VENV)/checkout 2>/dev/null)" = "$(CURDIR)" || { \
	  echo "Installing this checkout's package into $(VENV)"; \
	  $(PY) -m pip install --quiet --no-deps --no-build-isolation --editable . && echo "$(CURDIR)" > $(VENV)/checkout; }

$(STAMP):
	@command -v $(PYTHON) >/dev/null || { echo "There is no $(PYTHON) here: install Python 3.10 or newer, or say make PYTHON=/path/to/python3."; exit 1; }
	@$(PYTHON) bookbuild/ready.py $(VENV)
	@echo "Installing the packages of requirements.lock into $(VENV); with PyTorch this takes some minutes"
	@rm -f $(VENV)/installed-* $(VENV)/checkout
	@test -x $(PY) || $(PYTHON) -m venv $(VENV)
	@$(LOCKED) || { \
	  echo "Not every package could be downloaded; it says above which one and why. When the connection is back, run the same command again."; exit 1; }
	@touch $@

browser: ## look for Chromium and a Korean font, and install them with apt when allowed
	@sh bookbuild/browser.sh

notebooks: setup ## write notebooks/ from book/chapters and book/pages
	@$(PY) -m bookbuild notebooks

book: setup ## execute the notebooks and build both languages into _site/
	@$(PY) -m bookbuild notebooks --check
	@$(PY) -m bookbuild site

chapter: setup ## write and, if it changed, execute one chapter, and build its page in both languages: N=18
	@test -n "$(N)" || { echo "Say which chapter: make chapter N=18"; exit 1; }
	@$(PY) -m bookbuild chapter $(N)

serve: ## read the built book at http://localhost:8000 (PORT= for another)
	@$(PYTHON) -m bookbuild serve $(PORT)

bundle: setup ## zip the built book for a room without internet
	@$(PY) -m bookbuild site --bundle

check: setup ## style, types, notebooks/ against book/, unit tests: minutes, nothing is executed or built
	@echo "Style"
	@$(PY) -m ruff check .
	@echo "Types"
	@$(PY) -m mypy
	@echo "notebooks/ against book/"
	@$(PY) -m bookbuild notebooks --check
	@echo "Unit tests"
	@$(PY) -m pytest -m "not browser and not notebooks and not slow" $(WORKERS)
	@echo "All is well. To see a chapter: make chapter N=18; before a pull request: make test"

test: setup browser ## style, types, unit tests, executed notebooks, and the built site in a browser
	@echo "Style and types"
	@$(PY) -m ruff check .
	@$(PY) -m mypy
	@echo "The site, which the browser tests open"
	@$(PY) -m bookbuild notebooks --check
	@$(PY) -m bookbuild site
	@echo "Tests, some minutes"
	@BOOK_SITE=_site $(PY) -m pytest -rs --durations=10 $(WORKERS)
	@echo "All tests passed. The site that was tested is in _site/: make serve"

js: node_modules/.package-lock.json ## style and types of the scripts (needs Node and npm)
	@npm run --silent check
	@echo "The scripts are well"

node_modules/.package-lock.json: package-lock.json
	@command -v npm >/dev/null || { echo "make js needs Node 20.19 or newer with npm."; exit 1; }
	@npm ci --silent
	@touch $@

lighthouse: setup browser ## measure the built site as a phone gets it, with Lighthouse (npm); fails below the promise
	@$(PY) -m bookbuild lighthouse

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

zoo: setup ## measure one member of every family of networks, without weights, beside plain hooks (results/zoo.json)
	@$(PY) -m benchmarks.zoo

versions: setup ## run the notebooks with the oldest versions pyproject.toml allows (WHICH=newest: the newest)
	@$(PY) -m bookbuild versions $(or $(WHICH),oldest)

lock: ## write requirements.lock from pyproject.toml and requirements.in (needs uv)
	@command -v uv >/dev/null || { echo "make lock needs uv: pip install uv"; exit 1; }
	@uv pip compile --universal --python-version 3.10 --extra book --extra dev --upgrade --no-header pyproject.toml requirements.in -o requirements.lock
	@echo "requirements.lock is new; make setup installs it"

clean: ## remove what can be made again (_site, _build), not the environment
	@rm -rf _site _build
	@echo "Removed _site/ and _build/"
