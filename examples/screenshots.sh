#!/usr/bin/env bash
# Pictures of the desktop program, made by its journey tests: the real window, drawn offscreen, of real results where they are there: the
# quickstart's run (examples/quickstart.sh), a run of the worker where it is built, a trace of PyTorch where it is installed.
#
#   examples/screenshots.sh                          makes the pictures of the READMEs again
#   examples/screenshots.sh folder [build folder]    all pictures, into that folder; default build/dev
set -euo pipefail
cd "$(dirname "$0")/.."
folder=${1:-runs/screenshots} build=${2:-build/dev}
journeys=$build/bin/gui_journeys_test

[ -x "$journeys" ] || { echo "$journeys is missing: build it first (cmake --preset dev && cmake --build --preset dev)" >&2; exit 1; }
mkdir -p "$folder"
if [ -f runs/quickstart/run/plan.json ] && [ -f runs/quickstart/run/trace.0.json ]; then
  export MESHWRIGHT_RUN_FOLDER=runs/quickstart/run
fi
if .deps/venv/bin/python examples/profile_training.py "$folder/trace.json.gz" 2> /dev/null; then
  export MESHWRIGHT_TRACE=$folder/trace.json.gz
fi
PATH=$PWD/$build/bin:$PATH QT_QPA_PLATFORM=offscreen QT_SCALE_FACTOR=1 LC_ALL=C.UTF-8 MESHWRIGHT_SCREENSHOTS=$folder "$journeys" --gtest_brief=1
if [ $# = 0 ]; then
  for picture in gui/pictures/*.png; do cp "$folder/$(basename "$picture")" "$picture"; done
fi
ls "$folder"
