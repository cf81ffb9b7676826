#!/usr/bin/env bash
# Measures everything afresh and writes bench/results/*.csv. Takes some ten minutes; let nothing else
# run meanwhile: threads that share a core with others wait for them at every barrier.
# usage: bench/run.sh [path/to/firn]
set -euo pipefail
cd "$(dirname "$0")/.."
firn=${1:-build/firn}
results=bench/results
mkdir -p "$results"

rm -f "$results"/{step,realtime,scaling,stable,files,fill,implicit,busy,solver,liquid}.csv
isas=$("$firn" bench step --isa none 2>&1 | sed 's/.*there are //; s/,//g') || true
for isa in $isas; do
    for threads in 1 "$(nproc)"; do
        for law in neo_hookean fixed_corotated snow; do
            "$firn" bench step --isa "$isa" --threads "$threads" --material "$law" \
                --csv "$results/step.csv"
        done
    done
done
"$firn" bench step --threads 1 --reference --csv "$results/step.csv"
"$firn" bench realtime --csv "$results/realtime.csv"
"$firn" bench scaling --csv "$results/scaling.csv"
"$firn" bench stable --csv "$results/stable.csv"
"$firn" bench files --csv "$results/files.csv"
"$firn" bench fill --csv "$results/fill.csv"
"$firn" bench implicit --csv "$results/implicit.csv"
"$firn" bench busy --csv "$results/busy.csv"
"$firn" bench solver --csv "$results/solver.csv"
"$firn" bench liquid --csv "$results/liquid.csv"
