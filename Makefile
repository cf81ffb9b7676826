# The commands of daily work; CMake does the building (CMakeLists.txt, CMakePresets.json).
#   make             build/firn                    make run     ... and a scene, its pictures, a video
#   make web         the browser studio, build/web            make run-web  ... and serve it on this machine
#   make test        build and run all tests       make check   compilers, linters, sanitizers
#   make bench       speed on this machine         make validate  the long comparison runs
#   make fuzz        readers against made-up files, FUZZ_SECONDS for each target
#   make fuzz-view   firn view against made-up pages, for FUZZ_SECONDS
#   make torture     TORTURE_SCENES random scenes, checked as they run
#   make kills       a run killed at 200 random moments, and resumed
#   make test-clients  our files in Blender, and Blender's files in Firn
#   make install PREFIX=/usr/local                 make format  make clean
#   make gallery     stills of all scenes for doc/gallery.md
#   make reference   doc/reference.md and doc/firn.1 from the program
# run, test and check install Debian packages that are missing; see tools/deps.sh.

BUILD := build
PREFIX ?= /usr/local
JOBS ?= $(shell nproc)
FUZZ_SECONDS ?= 600
TORTURE_SCENES ?= 3000
TORTURE_SEED ?= 1

# Looked up when a recipe runs, because `deps` may just have installed ninja.
configure = CMAKE_GENERATOR="$$(command -v ninja >/dev/null && echo Ninja || echo Unix Makefiles)" \
            cmake --preset
build = cmake --build
ctest = ctest --output-on-failure --no-tests=error -j2 --test-dir
sources = $(shell find include src apps examples test -name '*.[ch]')

.PHONY: all firn everything deps deps-test deps-check run test bench validate install format clean
.PHONY: reference gallery fuzz fuzz-view torture kills test-clients web run-web test-web
.PHONY: check check-quick check-gcc check-clang check-tidy check-cppcheck check-asan check-tsan check-wide
.PHONY: check-valgrind

all: firn

firn:
	@command -v cmake >/dev/null || { echo "cmake is missing: run 'make deps' first"; exit 1; }
	@$(configure) release
	@$(build) $(BUILD) -j$(JOBS) --target firn

# Libraries, examples and tests as well.
everything:
	@$(configure) release
	@$(build) $(BUILD) -j$(JOBS)

deps:
	@tools/deps.sh build
deps-test:
	@tools/deps.sh build video test
deps-check:
	@tools/deps.sh build test check

# Eight to thirteen minutes on two cores: build, simulation and pictures take about a third each.
run:
	@tools/deps.sh build video
	@$(MAKE) --no-print-directory firn
	$(BUILD)/firn run scenes/snow_wall.yaml
	$(BUILD)/firn render scenes/snow_wall.yaml --size 960x540 --out 'out/snow_wall.$$F4.png' \
	    --out out/snow_wall.mp4 --out out/snow_wall.png
	@echo
	@echo 'caches         out/snow_wall.*.prt'
	@echo 'pictures       out/snow_wall.*.png'
	@echo 'contact sheet  out/snow_wall.png'
	@echo 'video          out/snow_wall.mp4'

# Debian's emscripten looks for its Node.js packages there, also when another Node.js runs it.
emscripten = NODE_PATH=/usr/share/nodejs
wasm = $(emscripten) emcmake cmake -G Ninja -DCMAKE_BUILD_TYPE=Release -S . -B

# index.html and its files for any web server; studio.html is all of them in one, for a disk.
web: apps/studio/node_modules/.package-lock.json
	@tools/deps.sh build web
	@mkdir -p $(BUILD)
	@$(wasm) $(BUILD)/wasm -DFIRN_PARALLEL=serial >$(BUILD)/wasm.log 2>&1 || { cat $(BUILD)/wasm.log; exit 1; }
	@$(wasm) $(BUILD)/wasm_threads -DFIRN_PARALLEL=pthread >$(BUILD)/wasm.log 2>&1 || { cat $(BUILD)/wasm.log; exit 1; }
	@$(emscripten) $(build) $(BUILD)/wasm -j$(JOBS)
	@$(emscripten) $(build) $(BUILD)/wasm_threads -j$(JOBS)
	@node apps/studio/build.mjs $(BUILD)/wasm $(BUILD)/wasm_threads $(BUILD)/web

apps/studio/node_modules/.package-lock.json: apps/studio/package-lock.json
	@tools/deps.sh web
	npm ci --prefix apps/studio --no-audit --no-fund
	@touch $@

run-web: web
	@node apps/studio/serve.mjs $(BUILD)/web

# The engine in WebAssembly against build/firn, in Node.js and in Chromium; the page's modules.
test-web: web
	@tools/deps.sh build test webtest
	@$(configure) release
	@$(build) $(BUILD) -j$(JOBS) --target firn test_encoded
	node --test $(wildcard apps/studio/test/wasm/*.test.mjs apps/studio/test/browser/*.test.mjs)
	node apps/studio/test/unit/run.mjs

# Stills of all scenes for doc/gallery.md.
gallery: firn
	tools/gallery.sh

test: deps-test
	@$(MAKE) --no-print-directory everything
	$(ctest) $(BUILD)

bench: firn
	$(BUILD)/firn bench step
	$(BUILD)/firn bench realtime

validate: firn
	@$(build) $(BUILD) -j$(JOBS) --target firn_double
	$(BUILD)/firn_double validate
	$(BUILD)/firn validate

# kill -9 at 200 random moments, each followed by a resume.
kills: deps-test
	@$(configure) release
	@$(build) $(BUILD) -j$(JOBS) --target test_kills
	$(BUILD)/test/test_kills 200

# Blender 5.0.1 as a module of Python 3.11: 374 MB from PyPI, once, and 970 MB on disk.
$(BUILD)/clients/blender:
	@tools/deps.sh clients
	python3.11 -m venv $(BUILD)/clients
	$(BUILD)/clients/bin/pip install --quiet bpy==5.0.1
	@touch $@

# Files stay in build/clients/out.
test-clients: deps $(BUILD)/clients/blender
	@$(configure) release
	@$(build) $(BUILD) -j$(JOBS) --target firn client_meshes
	@mkdir -p $(BUILD)/clients/out
	@set -e; for script in $(filter-out %/blender.py,$(wildcard test/clients/*.py)); do \
	    echo $$script; $(BUILD)/clients/bin/python -B $$script $(BUILD)/firn $(BUILD)/clients/out; \
	done

reference: firn
	$(BUILD)/firn list --markdown > doc/reference.md
	$(BUILD)/firn help --man > doc/firn.1

install: firn
	@$(build) $(BUILD) -j$(JOBS) --target firn_shared firn_static firn_scene firn_render completions
	cmake --install $(BUILD) --prefix $(PREFIX)

# ---- checks: each stands alone and leaves its build in build/<name> ----

# What is cheap enough for every change: the quick half of the tests under the address and undefined
# sanitizers, the program by clang, cppcheck on the files of the last commit.
check-quick: deps-check
	@$(configure) asan -B $(BUILD)/quick-asan -DFIRN_ISAS=scalar
	$(build) $(BUILD)/quick-asan -j$(JOBS) --target quick_tests
	$(ctest) $(BUILD)/quick-asan -L quick
	@$(configure) release -B $(BUILD)/quick-clang -DCMAKE_C_COMPILER=clang -DFIRN_WERROR=ON \
	    -DFIRN_ISAS="scalar;avx2"
	$(build) $(BUILD)/quick-clang -j$(JOBS) --target firn
	CHANGED_SINCE=HEAD~1 tools/cppcheck.sh -j $(JOBS)

check: check-gcc check-clang check-tidy check-cppcheck check-asan check-tsan check-wide check-valgrind

check-gcc: deps-check
	@$(configure) release -B $(BUILD)/gcc -DCMAKE_C_COMPILER=gcc -DFIRN_WERROR=ON
	$(build) $(BUILD)/gcc -j$(JOBS)

check-clang: deps-check
	@$(configure) release -B $(BUILD)/clang -DCMAKE_C_COMPILER=clang -DFIRN_WERROR=ON
	$(build) $(BUILD)/clang -j$(JOBS)

# One instruction set is enough: the others compile the same lines. From scratch every time, because
# the build does not know that its objects depend on .clang-tidy.
check-tidy: deps-check
	@rm -rf $(BUILD)/tidy
	@$(configure) debug -B $(BUILD)/tidy -DCMAKE_C_COMPILER=clang -DFIRN_ISAS=scalar \
	    -DCMAKE_C_CLANG_TIDY='clang-tidy;--quiet;--warnings-as-errors=*'
	$(build) $(BUILD)/tidy -j$(JOBS)

check-cppcheck: deps-check
	tools/cppcheck.sh -j $(JOBS)

check-asan: deps-check
	@$(configure) asan
	$(build) $(BUILD)/asan -j$(JOBS)
	$(ctest) $(BUILD)/asan

check-tsan: deps-check
	@$(configure) tsan
	$(build) $(BUILD)/tsan -j$(JOBS)
	$(ctest) $(BUILD)/tsan -R 'parallel|determinism'

# The 16-lane kernels, on a machine that has no AVX-512.
check-wide: deps-check
	@$(configure) release -B $(BUILD)/wide -DFIRN_ISAS="scalar;lanes16"
	$(build) $(BUILD)/wide -j$(JOBS)
	$(ctest) $(BUILD)/wide

# Memory that was never set: in 2D and 3D, in runs, files, pictures and states.
check-valgrind: deps-check
	@$(configure) release -B $(BUILD)/valgrind -DFIRN_ISAS=scalar
	$(build) $(BUILD)/valgrind -j$(JOBS) --target firn test_state
	tools/valgrind.sh $(BUILD)/valgrind

# Begins with test/fuzz/corpus/<target>; what is found is added to build/fuzz/corpus, and what
# breaks a target is left beside it. Files are small, so a large allocation is a mistake.
fuzz: deps-check
	@$(configure) release -B $(BUILD)/fuzz -DCMAKE_C_COMPILER=clang -DFIRN_PARALLEL=serial \
	    -DFIRN_ISAS=scalar -DFIRN_TESTS=OFF -DFIRN_SANITIZE=fuzzer-no-link,address,undefined
	$(build) $(BUILD)/fuzz -j$(JOBS) --target fuzz
	@set -e; for target in $(basename $(notdir $(wildcard test/fuzz/fuzz_*.c))); do \
	    mkdir -p $(BUILD)/fuzz/corpus/$$target test/fuzz/corpus/$$target; \
	    echo "$$target: $(FUZZ_SECONDS) s"; \
	    $(BUILD)/fuzz/$$target -max_total_time=$(FUZZ_SECONDS) -malloc_limit_mb=64 -timeout=10 \
	        -print_final_stats=1 -artifact_prefix=$(BUILD)/fuzz/ \
	        $(BUILD)/fuzz/corpus/$$target test/fuzz/corpus/$$target; \
	done

# Both kinds of server and a watched run, with sanitizers, against clients that know the token.
fuzz-view: deps-check
	@$(configure) asan -B $(BUILD)/fuzz-view -DFIRN_ISAS=scalar -DFIRN_TESTS=OFF
	$(build) $(BUILD)/fuzz-view -j$(JOBS) --target firn
	ASAN_OPTIONS=allocator_may_return_null=1 test/fuzz_view.py $(BUILD)/fuzz-view/firn $(FUZZ_SECONDS)

# 3,000 scenes take 13 minutes of processor time. Those of a seed are always the same. A scene that fails is
# left in build/torture with a cut-down copy, NAME.min.yaml; `build/test/torture --scene FILE` runs it again.
# Once it is fixed, the copy belongs in test/torture/found.
torture: deps-test
	@$(configure) release
	$(build) $(BUILD) -j$(JOBS) --target torture
	$(BUILD)/test/torture --seed $(TORTURE_SEED) --count $(TORTURE_SCENES) --jobs $(JOBS) \
	    --out $(BUILD)/torture

format: deps-check
	clang-format -i $(sources)

clean:
	rm -rf $(BUILD)
