# SPDX-License-Identifier: BSD-3-Clause
# The few things one does here. The build itself is CMake's: see CMakePresets.json.
PREFIX ?= /usr/local
PRESET ?= release
PYTHON_VENV := .venv/bin/python

.PHONY: help setup build check check-all matrix demo figures install uninstall release format docs \
  clean

help: ## what there is (this list)
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 20

setup: ## Debian packages (as root or with sudo) and the Python environment in .venv
	@scripts/setup.sh --check

build: ## compile what users get, and install it into .venv: .venv/bin/sumac
	@scripts/build.sh $(PRESET)

check: ## compile the tests too, and run them and the repository checks
	@scripts/build.sh $(PRESET) --check
	@echo "check: the tests take about as long as it takes to build them"
	$(PYTHON_VENV) scripts/check.py

check-all: ## check with every MPI, slow tests, suites, sanitizers, the other architecture
	@scripts/build.sh $(PRESET) --all
	$(PYTHON_VENV) scripts/check.py --all

matrix: ## the test programs under every MPI, fetched as wheels; writes docs/compatibility.md
	@scripts/build.sh $(PRESET) --check
	$(PYTHON_VENV) scripts/matrix.py --install --preset $(PRESET)

demo: ## a conjugate-gradient solver with and without Sumac; writes demo.png
	@scripts/build.sh $(PRESET) --demo
	@echo "demo: the solver runs with and without Sumac on each MPI, for one or two minutes"
	$(PYTHON_VENV) scripts/demo.py

figures: build ## published figures in simulated clusters: build/figures; LARGE=--large takes hours
	@mkdir -p build/figures
	@for each in coprocessor_clusters hierarchy_depths; do \
	  test $$each = coprocessor_clusters && large='$(LARGE)' || large=''; \
	  $(PYTHON_VENV) experiments/$$each/run.py --build build/$(PRESET) $$large \
	    --keep build/figures/$$each.json --plot build/figures/$$each.png \
	    >build/figures/$$each.md || exit; cat build/figures/$$each.md; done

# Whether PREFIX can be written is asked before anything is compiled. A new machine gets its Python
# with the other packages.
install: ## install into PREFIX (/usr/local); PLOT=1 with pictures; DESTDIR is honoured
	@python=$$(scripts/find_python.sh 2>/dev/null) || exit 0; \
	  "$$python" -E scripts/install.py "$(PREFIX)" --check
	@$(MAKE) --no-print-directory build/$(PRESET)/build.ninja
	cmake --build --preset $(PRESET)
	@python=$$(scripts/find_python.sh) && "$$python" -E scripts/install.py "$(PREFIX)" \
	  --build build/$(PRESET) $(if $(filter 1 yes on true,$(PLOT)),--plot)

uninstall: ## remove what 'make install' has put into PREFIX, and nothing else
	@python=$$(scripts/find_python.sh) && "$$python" -E scripts/uninstall.py "$(PREFIX)"

release: ## the files of a release: source, wheel, Debian packages, recipes; URL= of the download
	$(PYTHON_VENV) scripts/release.py $(if $(URL),--url "$(URL)")

# Not done again for 'sudo make install': what root makes, its owner could not build into.
build/$(PRESET)/build.ninja:
	@scripts/setup_packages.sh
	@echo "Compiling Sumac: about seven minutes with two processors, fewer with many"
	cmake --preset $(PRESET)

format: ## format all C, C++ and Python
	scripts/checks/check_style.sh --fix

docs: ## regenerate the pages of docs/ made from tables of the source
	$(PYTHON_VENV) scripts/gen_docs.py

clean: ## remove what was built (not .venv)
	rm -rf build demo.png
