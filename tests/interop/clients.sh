#!/usr/bin/env bash
# Real clients on one memory: see clients.py. Usage: clients.sh [PROGRAM]
set -euo pipefail
source "$(dirname "$0")/setup.sh"

program=${1:-${CARGO_TARGET_DIR:-$root/target}/release/personal-memory}
if [ ! -x "$program" ]; then
  echo "$program is not there: cargo build --release"
  exit 1
fi
arguments=()
if need_node; then
  arguments+=(--node "$cache/node")
fi
if need_python; then
  arguments+=(--python "$python")
fi
if [ ${#arguments[@]} -eq 0 ]; then
  exit 0
fi
exec python3 "$here/clients.py" "$program" "${arguments[@]}"
