#!/usr/bin/env bash
# The quickstart's run in the window: simulated beside measured, on the Compare page. Makes the run first where there is none.
#
#   examples/desktop.sh                    opens the window
#   examples/desktop.sh --picture a.png    draws it without a display, and ends
#
# MESHWRIGHT_RUN_FOLDER: another run; MESHWRIGHT_BUILD: another build folder than build/release or build/dev.
set -euo pipefail
cd "$(dirname "$0")/.."
run=${MESHWRIGHT_RUN_FOLDER:-runs/quickstart/run}
for build in ${MESHWRIGHT_BUILD:-build/release build/dev}; do
  window=$build/bin/meshwright-gui
  [ -x "$window" ] && break
done
[ -f "$run/plan.json" ] || examples/quickstart.sh
[ -x "$window" ] || { echo "meshwright-gui is missing: build it first (cmake --preset release && cmake --build --preset release)" >&2; exit 1; }
[ $# = 0 ] || export QT_QPA_PLATFORM=${QT_QPA_PLATFORM:-offscreen}
"$window" "$@" "$run"
