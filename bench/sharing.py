#!/usr/bin/env python3
"""What it costs to share a memory: saves alone and beside others, cancellations, idle servers, opening a large store.

    bench/sharing.py [--saves N] [--idle SECONDS] PROGRAM

PROGRAM is the path of personal-memory. Everything happens in temporary directories; Linux only, as it reads /proc.

- A save is timed from the request's last byte to the answer's; each was synced to the disk by then. With 8 writers all
  of them save without a pause, so a save waits for those of seven others.
- A cancellation hits a search that waits for its store to be opened. The time is that to the answer of the next request,
  which was sent in the same breath.
- An idle server has shaken hands and searched once. CPU is time on a processor, wake-ups are voluntary context switches,
  of all its threads, over the idle seconds. What it does after its last call is over by then.
- A store is opened by the first search after the process before was killed.
"""

import argparse
import json
import pathlib
import statistics
import tempfile
import threading
import time
import zlib

from stdio import Server, memory_of

WRITERS = 8
IDLE_SERVERS = 10
CANCELLATIONS = 10
REOPENINGS = 5
STORES = (10_000, 100_000)
# A server tidies up two seconds after its last call, and lets go of threads that did file operations ten seconds after it.
SETTLE_SECONDS = 14


def start(program, data):
    return Server([program, "--data-dir", data])


def write_store(data, memories):
    """A journal as the program writes it: a line an event, its checksum chained to the one before."""
    at = "2026-11-30T00:00:00.000Z"
    header = {"format": 1, "store": "0" * 32, "generation": "1" * 32, "next_id": 0, "created_at": at}
    crc = 0
    with open(data / "journal.jsonl", "w", encoding="ascii") as journal:
        for number in range(-1, memories):
            text = f"Person {number % 997} likes thing {number % 613}, as was said in conversation n{number}n"
            save = {"id": f"m{number}", "text": text, "kind": "semantic", "tags": [], "importance": 5.0, "created_at": at}
            event = {"journal": header} if number < 0 else {"save": save}
            covered = f'"prev":"{crc:08x}",' + json.dumps(event, separators=(",", ":"))[1:]
            crc = zlib.crc32(covered.encode())
            journal.write(f'{{"crc":"{crc:08x}",{covered}\n')


def save_all(server, name, saves, times):
    for number in range(saves):
        times.append(server.call("memory_save", {"text": f"{name} saves text number {number}"}))


def saves(program, writers, each):
    with tempfile.TemporaryDirectory() as data:
        servers = [start(program, data) for _ in range(writers)]
        for server in servers:
            server.call("memory_search", {"query": "nothing"})
        times = []
        threads = [
            threading.Thread(target=save_all, args=(server, f"writer {index}", each, times))
            for index, server in enumerate(servers)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for server in servers:
            server.end()
        return times


def cancellations(program, data):
    times = []
    for _ in range(CANCELLATIONS):
        server = start(program, data)
        search = server.next_request("tools/call", {"name": "memory_search", "arguments": {"query": "likes"}})
        server.write(search)
        # It is being opened by then, and far from open.
        time.sleep(0.2)
        following = server.next_request("tools/list", {})
        began = time.perf_counter()
        server.write({"method": "notifications/cancelled", "params": {"requestId": search["id"]}}, following)
        server.answer(following["id"])
        times.append(time.perf_counter() - began)
        server.kill()
    return times


def reopenings(program, data):
    times = []
    for _ in range(REOPENINGS):
        began = time.perf_counter()
        server = start(program, data)
        server.call("memory_search", {"query": "conversation n77n"})
        times.append(time.perf_counter() - began)
        server.kill()
    return times


def activity_of(process):
    """Seconds on a processor and voluntary context switches so far, of all threads."""
    seconds, switches = 0.0, 0
    for task in pathlib.Path(f"/proc/{process.pid}/task").iterdir():
        seconds += int((task / "schedstat").read_text().split()[0]) / 1e9
        for line in (task / "status").read_text().splitlines():
            if line.startswith("voluntary_ctxt_switches"):
                switches += int(line.split()[1])
    return seconds, switches


def idle(program, seconds):
    with tempfile.TemporaryDirectory() as data:
        servers = [start(program, data) for _ in range(IDLE_SERVERS)]
        servers[0].call("memory_save", {"text": "something to find"})
        for server in servers:
            server.call("memory_search", {"query": "something"})
        time.sleep(SETTLE_SECONDS)
        before = [activity_of(server.process) for server in servers]
        time.sleep(seconds)
        after = [activity_of(server.process) for server in servers]
        memory = [memory_of(server.process.pid) for server in servers]
        for server in servers:
            server.end()
        cpu = sum(end[0] - begin[0] for begin, end in zip(before, after))
        wakeups = sum(end[1] - begin[1] for begin, end in zip(before, after))
        return cpu, wakeups, sum(rss for rss, _ in memory), sum(pss for _, pss in memory)


def row(what, figures):
    print(f"{what:<46} {figures}", flush=True)


def spread(times):
    """p50 and p99 in milliseconds."""
    ordered = sorted(times)
    p99 = ordered[min(len(ordered) - 1, len(ordered) * 99 // 100)]
    return f"p50 {statistics.median(ordered) * 1000:8.2f} ms   p99 {p99 * 1000:8.2f} ms   ({len(ordered)})"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", metavar="PROGRAM")
    parser.add_argument("--saves", type=int, default=200, help="of each writer")
    parser.add_argument("--idle", type=float, default=10, metavar="SECONDS")
    options = parser.parse_args()

    row("save, alone", spread(saves(options.program, 1, options.saves)))
    row(f"save, {WRITERS} writers at once", spread(saves(options.program, WRITERS, options.saves)))
    for memories in STORES:
        with tempfile.TemporaryDirectory() as directory:
            data = pathlib.Path(directory)
            write_store(data, memories)
            times = reopenings(options.program, data)
            row(f"killed, to the first search, {memories} memories", spread(times))
            if memories == max(STORES):
                row("cancellation to the next answer", spread(cancellations(options.program, data)))
    cpu, wakeups, rss, pss = idle(options.program, options.idle)
    row(f"{IDLE_SERVERS} idle servers, memory", f"RSS {rss / 1e6:.1f} MB   PSS {pss / 1e6:.1f} MB   (all together)")
    row(f"{IDLE_SERVERS} idle servers, {options.idle:g} s", f"CPU {cpu * 1000:.2f} ms   wake-ups {wakeups}")


if __name__ == "__main__":
    main()
