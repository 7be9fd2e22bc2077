#!/usr/bin/env python3
"""What it costs to start a server: wall-clock time from spawn to the first response, and CPU time of the whole process.

    bench/start.py [--runs N] COMMAND [COMMAND ...]

Each COMMAND is a server's command line in one string. They are started in turn (A B A B ...), so that a machine whose
speed drifts treats them alike. A run sends `initialize`, waits for the answer, closes the input and waits for the end.
CPU time is what the operating system accounts to the finished process (user and system, microseconds), the end included.
With `--call TOOL --arguments JSON` a tool is called as well before the end: the first use of a store that is there.
"""

import argparse
import json
import os
import shlex
import statistics
import subprocess
import time


def request(process, number, method, params):
    message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
    process.stdin.write(json.dumps(message).encode() + b"\n")
    process.stdin.flush()
    while True:
        line = process.stdout.readline()
        if not line:
            raise SystemExit(f"{method}: the server ended without an answer")
        reply = json.loads(line)
        if reply.get("id") == number:
            if "error" in reply:
                raise SystemExit(f"{method}: {reply['error']}")
            return


def run(command, call):
    began = time.perf_counter()
    process = subprocess.Popen(
        shlex.split(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    client = {"name": "bench", "version": "0"}
    request(process, 1, "initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client})
    first = time.perf_counter() - began
    called = None
    if call:
        request(process, 2, "tools/call", call)
        called = time.perf_counter() - began
    process.stdin.close()
    # Not `process.wait()`: only wait4 tells what the process used.
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = status
    return first, called, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("commands", nargs="+", metavar="COMMAND")
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--call", metavar="TOOL")
    parser.add_argument("--arguments", type=json.loads, default={}, metavar="JSON")
    options = parser.parse_args()
    call = {"name": options.call, "arguments": options.arguments} if options.call else None

    results = {command: [] for command in options.commands}
    for _ in range(options.runs):
        for command in options.commands:
            results[command].append(run(command, call))
    reference = None
    for command, runs in results.items():
        first, called, cpu, peak = zip(*runs)
        cpu = statistics.median(cpu) * 1000
        reference = reference or cpu
        line = f"first response {statistics.median(first) * 1000:7.1f} ms   "
        if call:
            line += f"first call {statistics.median(called) * 1000:7.1f} ms   "
        line += f"CPU {cpu:7.1f} ms ({cpu / reference:.1f}x)   peak memory {statistics.median(peak):6.1f} MB   {command}"
        print(line)


if __name__ == "__main__":
    main()
