#!/usr/bin/env bash
# Manual page and completions of a built meshwright, from the declarations behind its --help.
#
#   describe.sh MESHWRIGHT FOLDER
set -euo pipefail
mkdir -p "$2"
"$1" --describe man > "$2/meshwright.1"
for shell in bash zsh fish; do "$1" --describe "$shell" > "$2/$shell"; done
