#!/usr/bin/env bash
# The whole loop on this machine, for real: measure, plan, simulate, run, compare, calibrate, compare again.
# Installs and builds first what is missing; once built, it takes about a minute. Leaves everything in runs/quickstart.
#
#   examples/quickstart.sh [ranks] [steps]      default: 2 ranks, 30 steps
set -euo pipefail
cd "$(dirname "$0")/.."
ranks=${1:-2} steps=${2:-30}
folder=runs/quickstart
meshwright=build/release/bin/meshwright

step() { echo; echo "== $*"; }

# Quiet while all is well; the whole log when something is not.
build() {
  local log
  log=$(mktemp)
  echo "building preset release (minutes the first time, seconds afterwards) ..." >&2
  if ! { cmake --preset release && cmake --build --preset release; } >"$log" 2>&1; then
    cat "$log" >&2
    exit 1
  fi
  rm -f "$log"
}

cmake/setup.sh
build
rm -rf "$folder"
mkdir -p "$folder"

step "Measure this machine -> this_machine.json"
$meshwright measure -o $folder/this_machine.json --ranks "1,$ranks"

step "Real text -> tokens.bin"
$meshwright tokenize LICENSE README.md ./*/README.md CMakeLists.txt cmake/*.cmake sim/*/*.h -o $folder/tokens.bin

step "Plan a small GPT for $ranks ranks -> plan.json"
$meshwright plan --model profiles/models/tiny-gpt2.json --cluster $folder/this_machine.json --devices "$ranks" \
  --global-batch 8 --sequence 128 --runnable --learning-rate 1e-3 --top 3 -o $folder/plan.json

step "Simulate the plan"
$meshwright simulate $folder/plan.json --text --timeline $folder/simulated.json

step "Run it: $steps steps on $ranks ranks"
$meshwright run $folder/plan.json --data $folder/tokens.bin --steps "$steps" -o $folder/run

step "Compare simulated with measured"
$meshwright compare $folder/run --text --warm-up 5

step "Calibrate by that run -> calibrated.json"
$meshwright calibrate $folder/run --cluster $folder/this_machine.json -o $folder/calibrated.json

step "Compare again, priced by the calibrated profile"
$meshwright compare $folder/run --cluster $folder/calibrated.json --warm-up 5

step "Files, all in $folder/"
cat <<EOF
this_machine.json, calibrated.json   hardware profiles: measured; corrected by the run
plan.json                            the plan; meshwright run takes it
simulated.json, run/trace.*.json     timelines: open them in ui.perfetto.dev
run/                                 plan, versions, metrics.ndjson, traces, stderr, checkpoints (continue with --resume)
EOF
