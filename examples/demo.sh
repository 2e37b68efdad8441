#!/usr/bin/env bash
# Plans: an AllReduce, an unequal All-to-All like a mixture of experts', and a schedule written by others; two of them
# simulated. One more is run on processes, with bytes and circuits that change. Then a sweep: which planner is best where.
set -euo pipefail
cd "$(dirname "$0")/.."
mkdir -p out

show() {
    printf '\n== %s\n' "$1"
    shift
    printf '$ %s\n\n' "$*"
    "$@"
}

show "AllReduce on 64 GPUs" \
    lightloom plan --collective all-reduce --size 64MiB --gpus 64 --output out/all-reduce.json

show "An unequal All-to-All: tokens of a mixture of experts, some experts more popular than others" \
    python examples/moe_matrix.py out/moe.csv
show "Its plan" \
    lightloom plan --matrix out/moe.csv --ports 2 --output out/moe.json

show "Both simulated packet by packet; the trace is for https://ui.perfetto.dev" \
    lightloom simulate out/all-reduce.json --trace out/all-reduce-trace.json.gz --plot out/all-reduce.png
show "With headers, and nobody waiting for all others" \
    lightloom simulate out/moe.json --header-size 64B --sync dataflow --plot out/moe.png

schedule=${LIGHTLOOM_DATA:-data}/msccl/ring_allreduce_8gpus.xml
if [[ -f $schedule ]]; then
    show "A schedule written by others (MSCCL XML), 8 GPUs, 1 MiB" \
        lightloom plan --schedule "$schedule" --size 1MiB --output out/msccl.json
else
    printf '\n== A schedule written by others: %s is not there (make data), so it is left out\n' "$schedule"
fi

if [[ $(uname) == Linux ]]; then
    show "An AllReduce on 8 GPUs that reconfigures at every step" \
        lightloom plan --collective all-reduce --algorithm recursive-doubling --planner bvn --size 256KiB --gpus 8 \
        --reconfiguration-delay 2us --output out/doubling.json
    show "The same run: a process for every GPU and one for the switch, real bytes, real dark time" \
        lightloom run out/doubling.json --runs 3
else
    printf '\n== Running a plan on processes is left out: it takes Linux\n'
fi

show "Over which sizes and delays does reconfiguring pay, and by which planner? A table and a heat map" \
    lightloom sweep examples/sweeps/which-planner.toml

show "All plans are what they claim to be" \
    lightloom verify out/*.json
