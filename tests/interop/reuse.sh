#!/usr/bin/env bash
# The component, unchanged, under three other runtimes: what one process saved is found by the next one, whoever it was.
# See docs/reuse.md.
set -euo pipefail
source "$(dirname "$0")/setup.sh"
cd "$root"

# The very file that is embedded in the program.
component=$(cargo build --release --workspace --bin personal-memory --example second_host --message-format json |
  python3 -c '
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if message["reason"] == "build-script-executed" and "/host#personal-memory" in message["package_id"]:
        print(message["out_dir"] + "/memory.wasm")
')
second_host=${CARGO_TARGET_DIR:-target}/release/examples/second_host
store=$(mktemp -d)
trap 'rm -rf "$store"' EXIT

# The hosts that take part: `NAME COMMAND...`, to which `DIRECTORY save TEXT` or `DIRECTORY search QUERY` is added.
hosts=("Rust $second_host $component")
if need_node; then
  jco transpile "$component" --out-dir "$cache/node/memory" --name memory --instantiation async --no-typescript --quiet
  hosts+=("Node $node $here/reuse/node.mjs $cache/node/memory/memory.js")
fi
if need_python; then
  hosts+=("Python $python $here/reuse/python.py $component")
fi

run() {
  local host=$1
  shift
  # Words of a command: none of them has spaces unless a person's directories do.
  # shellcheck disable=SC2086
  ${host#* } "$store" "$@"
}

expect() {
  if [ "$2" != "$3" ]; then
    echo "FAILED: $1: expected \"$3\", got \"$2\""
    exit 1
  fi
  echo "ok: $1: $2"
}

number=0
for host in "${hosts[@]}"; do
  name=${host%% *}
  expect "$name saves" "$(run "$host" save "$name keeps a lighthouse")" "Saved m$number."
  number=$((number + 1))
done
for reader in "${hosts[@]}"; do
  number=0
  for writer in "${hosts[@]}"; do
    name=${writer%% *}
    expect "${reader%% *} finds what $name saved" "$(run "$reader" search "$name")" \
      "[m$number] (episodic) $name keeps a lighthouse"
    number=$((number + 1))
  done
done
# The program itself, on the store that the others made.
said=$("${CARGO_TARGET_DIR:-target}/release/personal-memory" --data-dir "$store" <<'JSON'
{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"memory_search","arguments":{"query":"Rust"}}}
JSON
)
case $said in
  *"[m0] (episodic) Rust keeps a lighthouse"*) echo "ok: the program finds what Rust saved" ;;
  *) echo "FAILED: the program answers $said"; exit 1 ;;
esac
echo "${#hosts[@]} other runtimes, one store: all is well"
