#!/usr/bin/env bash
# Whether a shell completes firn's command line: test/completion.sh PROGRAM bash|zsh|fish
# Exit code 77: the shell is not installed.
set -euo pipefail
program=$1 shell=$2
command -v "$shell" >/dev/null || { echo "$shell is not installed"; exit 77; }

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
touch shot.yaml shot.prt shot.txt
"$program" completion "$shell" >script

# ---- what each shell offers for a command line, one a line ----

offers_bash() {
    bash --norc -c '
        source ./script
        read -ra COMP_WORDS <<<"${1//=/ = }" # as readline splits
        [[ $1 == *[\ =] ]] && COMP_WORDS+=("")
        COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
        _firn
        printf "%s\n" "${COMPREPLY[@]}"' _ "$1"
}

offers_fish() { fish --no-config -c 'source ./script; complete -C $argv[1]' "$1" | cut -f1; }

# Types the line and a tab into an interactive shell; compadd writes down what it is given.
offers_zsh() {
    rm -f found
    zsh -f -c '
        zmodload zsh/zpty
        zpty shell zsh -f -i
        zpty -w shell "PS1=; autoload -Uz compinit; compinit -u -D; source ./script"
        zpty -w shell "compadd() {
            [[ \"\$*\" == *-[OAD]\ * ]] || { local -a hits; builtin compadd -A hits \"\$@\"
                print -lr -- \$hits >>found; }
            builtin compadd \"\$@\"; }"
        zpty -w shell "finish() { print . >>found; comppostfuncs=(finish) }"
        zpty -w shell "comppostfuncs=(finish); print ready"
        zpty -m -r shell text "*ready*ready*"
        zpty -w -n shell "$1"$'"'\t'"'
        for i in {1..200}; do
            zpty -t -r shell text
            [[ -e found && "$(tail -1 found)" == . ]] && break
            sleep 0.05
        done
        zpty -d shell' _ "$1" || true
    cat found
}

failures=0
# expect LINE WORD...: the line offers these; a word after "not" it does not.
expect() {
    local line=$1 offered word wanted=yes
    offered=$("offers_$shell" "$line")
    for word in "${@:2}"; do
        if [ "$word" = not ]; then
            wanted=no
        elif grep -qxF -e "$word" <<<"$offered"; then
            [ $wanted = yes ] || { echo "$shell: $line: offers $word"; failures=$((failures + 1)); }
        else
            [ $wanted = no ] || { echo "$shell: $line: no $word in:" $offered; failures=$((failures + 1)); }
        fi
    done
}

expect 'firn ' run sweep help bench completion not step
expect 'firn sw' sweep not run
expect 'firn run --' --set --resume --isa --help not --vary
expect 'firn sweep --' --vary --set --out not --hash
expect 'firn run --isa ' scalar not --set
[ "$shell" = fish ] && whole=--isa= || whole=
expect 'firn run --isa=' ${whole}scalar
expect 'firn run sh' shot.yaml not shot.prt shot.txt
expect 'firn run shot.yaml --log ' text json
expect 'firn info sh' shot.prt
expect 'firn convert sh' shot.prt not shot.yaml
expect 'firn bench ' step scaling realtime stable not run
expect 'firn bench step --material ' neo_hookean linear
expect 'firn bench stable --study ' seeding pair
expect 'firn validate --case ' mms cantilever
expect 'firn list ' materials formats
expect 'firn help ' sweeps exit_codes run young sphere
expect 'firn completion ' bash zsh fish
[ $failures = 0 ]
