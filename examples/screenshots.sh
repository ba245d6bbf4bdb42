#!/usr/bin/env bash
# Pictures of the desktop program, made by its journey tests: the real window, drawn offscreen. The Compare page shows the quickstart's run
# where it has been made (examples/quickstart.sh).
#
#   examples/screenshots.sh [folder] [build folder]      default: runs/screenshots build/dev
set -euo pipefail
cd "$(dirname "$0")/.."
folder=${1:-runs/screenshots} build=${2:-build/dev}
journeys=$build/bin/gui_journeys_test

[ -x "$journeys" ] || { echo "$journeys is missing: build it first (cmake --preset dev && cmake --build --preset dev)" >&2; exit 1; }
mkdir -p "$folder"
if [ -f runs/quickstart/run/plan.json ] && [ -f runs/quickstart/run/trace.0.json ]; then
  export MESHWRIGHT_RUN_FOLDER=runs/quickstart/run
fi
QT_QPA_PLATFORM=offscreen QT_SCALE_FACTOR=1 LC_ALL=C.UTF-8 MESHWRIGHT_SCREENSHOTS=$folder "$journeys" --gtest_brief=1
ls "$folder"
