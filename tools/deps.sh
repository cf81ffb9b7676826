#!/usr/bin/env bash
# Installs the Debian packages that are missing: tools/deps.sh build|video|web|webtest|test|check|clients...
# `--list` prints the table.
# The table below is the one place that lists what Firn needs, and why.
set -euo pipefail

# group | Debian packages | found when this succeeds | why
table='
build | make           | have make                  | the commands of daily work (Makefile)
build | gcc libc6-dev  | have gcc && header stdio.h | compiles the engine; brings the sanitizers
build | cmake          | have cmake                 | describes the build
build | ninja-build    | have ninja                 | runs the build
build | zlib1g-dev     | header zlib.h              | reads and closely packs PRT and gzipped geometry
build | libisal-dev    | header isa-l/igzip_lib.h   | compresses PRT in a tenth of the time zlib takes
build | libblosc-dev   | header blosc.h             | the compression inside .bgeo.sc
build | libyaml-dev    | header yaml.h              | reads scene files
build | libwebsockets-dev | header libwebsockets.h  | firn view and firn run --live; 30 MB, the rest builds without it
video | ffmpeg         | have ffmpeg                | turns pictures into videos
web   | emscripten     | have emcc                  | compiles the engine to WebAssembly
web   | nodejs         | have node                  | builds and serves the page
web   | npm            | have npm                   | fetches packages for the page
webtest | chromium     | have chromium              | tests the page
test  | libcmocka-dev  | header cmocka.h            | the unit test framework
test  | zsh            | have zsh                   | tests its completion of the command line
test  | fish           | have fish                  | tests its completion of the command line
test  | groff          | have groff                 | tests the manual page
test  | mandoc         | have mandoc                | tests the manual page, by other means
check | clang          | have clang                 | a second opinion on warnings
check | clang-tidy     | have clang-tidy            | finds bug patterns
check | clang-format   | have clang-format          | lays out the code
check | valgrind       | have valgrind              | finds memory that was never set, also in files
check | cppcheck       | have cppcheck              | finds bug patterns, by other means
clients | python3.11-venv | module ensurepip | runs Blender as a module of Python
clients | libgl1 libsm6 libxext6 libxfixes3 libxi6 libxkbcommon0 libxrender1 | blender_libraries | Blender links with them, though it needs no screen
'

have() { command -v "$1" >/dev/null; }
module() { python3.11 -c "import $1" 2>/dev/null; }
blender_libraries() {
    local known name
    known=$(/sbin/ldconfig -p)
    for name in GL SM Xext Xfixes Xi xkbcommon Xrender; do
        [[ $known == *lib$name.so* ]] || return 1
    done
}
header() { echo "#include <$1>" | gcc -E -xc - >/dev/null 2>&1; }

if [ "${1-}" = --list ]; then
    echo "$table"
    exit
fi
case " $* " in
*' build '* | *' video '* | *' web '* | *' webtest '* | *' test '* | *' check '* | *' clients '*) ;;
*) echo "usage: tools/deps.sh --list, or with any of: build video web webtest test check clients" >&2; exit 2 ;;
esac

packages=()
while IFS='|' read -r group package probe why; do
    for wanted in "$@"; do
        if [ "$wanted" = "${group// /}" ] && ! eval "$probe"; then
            read -ra names <<<"$package"
            read -r why <<<"$why"
            packages+=("${names[@]}")
            echo "missing: ${names[*]} ($why)"
        fi
    done
done <<<"$table"
[ ${#packages[@]} -gt 0 ] || exit 0

if ! have apt-get; then
    echo "this is not a Debian system: please install the equivalents of ${packages[*]}" >&2
    exit 1
elif [ "$(id -u)" = 0 ]; then
    as_root=()
elif have sudo; then
    as_root=(sudo)
else
    echo "installing needs root or sudo; as root run: apt-get install ${packages[*]}" >&2
    exit 1
fi
"${as_root[@]}" apt-get update -qq
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get -o DPkg::Lock::Timeout=300 install -y -qq --no-install-recommends "${packages[@]}"
