# Sourced by the scripts beside it. Installs what they need, in pinned versions, below target/interop: once.
#
# Where Node or Python is missing the caller skips, visibly; with INTEROP_REQUIRE=1 (as in .ci/run) that is a failure.

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
cache=${CARGO_TARGET_DIR:-$root/target}/interop
mkdir -p "$cache"

skip() {
  echo "SKIPPED: $*"
  if [ "${INTEROP_REQUIRE:-0}" = 1 ]; then
    echo "INTEROP_REQUIRE=1: a skip is a failure"
    exit 1
  fi
}

# Sets `node` to a Node that is new enough for the Inspector, and puts the packages of package.json beside it.
need_node() {
  if ! command -v npm >/dev/null; then
    skip "npm is not installed"
    return 1
  fi
  local home=$cache/node
  if ! cmp -s "$here/package.json" "$home/package.json"; then
    rm -rf "$home" && mkdir -p "$home"
    cp "$here/package.json" "$home"
    (cd "$home" && npm install --no-audit --no-fund --loglevel=error) || {
      rm -f "$home/package.json"
      skip "the packages in tests/interop/package.json can't be installed"
      return 1
    }
  fi
  # ECMAScript modules find packages beside themselves only.
  cp "$here"/clients/*.mjs "$home"
  node=$home/node_modules/.bin/node
  [ -x "$node" ] || node=$(command -v node)
  export PATH="$(dirname "$node"):$home/node_modules/.bin:$PATH"
}

# Sets `python` to one that has the packages of requirements.txt.
need_python() {
  if ! command -v python3 >/dev/null; then
    skip "python3 is not installed"
    return 1
  fi
  local home=$cache/python
  python=$home/bin/python
  if ! cmp -s "$here/requirements.txt" "$home/requirements.txt"; then
    rm -rf "$home"
    { python3 -m venv "$home" && "$python" -m pip install --quiet --requirement "$here/requirements.txt"; } || {
      skip "the packages in tests/interop/requirements.txt can't be installed"
      return 1
    }
    cp "$here/requirements.txt" "$home"
  fi
}
