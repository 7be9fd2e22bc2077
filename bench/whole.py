#!/usr/bin/env python3
"""The whole process beside other memory servers and a bare scan: filling, starting, searching, saving, memory.

    bench/whole.py [--sizes 1000,10000,100000] [--peers DIR] [--queries N] [--saves N] [--json FILE] PROGRAM

PROGRAM is the path of personal-memory. The peers are programs for Node, which is looked for on the PATH:

    npm install --prefix DIR @modelcontextprotocol/server-memory@2026.8.31 mcp-memory-libsql@0.0.17

Everything happens in a temporary directory and over standard input and output; Linux only, as /proc is read. All servers
get the same texts, and are measured in turn (A B C A B C ...), so that a machine whose speed drifts treats them alike.

- A text has 15 to 25 words of the embedding's own vocabulary, the frequent ones more often than the rare (Zipf), and now
  and then a made-up name: the same texts in each run.
- Ours are filled in with `personal-memory import`, those of server-memory by writing its file, those of mcp-memory-libsql
  by writing into the database after the server has made its tables.
- A start is timed from spawn to the answer to `initialize`, and to that of the first search. Without index: the file that
  spares ours reading its journal and texts is not there. The files are in the system's cache.
- A search has one, two or three of the rarer words of a text, in their order there; each is asked once. *Asked before*:
  each of its words was asked before, in other searches; *new*: none was. server-memory looks for the query as one string,
  so of more than one word it mostly finds nothing, and has little to send.
- Milliseconds are medians, and behind the slash the 95th percentile; CPU is the mean, of all that the process did from
  the first search to the last. Each figure has its ratio to ours.
- Found is how often the answer has the text that the words are from. Ours gives at most five texts, the peers ten or all.
- The bare scan counts one word in the same texts, which are one string in memory: `bytes.count`, in this process. The bare
  save appends a line to a file, and syncs it. Ours and SQLite sync as well, server-memory doesn't.
- Memory is what the processes have after the searches, what they share with others in part (PSS).
"""

import argparse
import contextlib
import json
import os
import pathlib
import shutil
import sqlite3
import statistics
import subprocess
import tempfile
import time

from stdio import Failed, Server, memory_of, tree
from texts import FREQUENT, make_queries, make_texts, vocabulary

STARTS = 5
BARE = "bare"
FIGURES = [
    ("fill in, s", ["fill"]),
    ("spawn to first response, ms", ["start"]),
    ("  CPU, ms", ["start cpu"]),
    ("spawn to first search, ms", ["first"]),
    ("  CPU, ms", ["first cpu"]),
    ("  without index, ms", ["no index"]),
    ("  CPU, ms", ["no index cpu"]),
    ("search, asked before, ms", ["asked", "asked p95"]),
    ("  CPU, ms", ["asked cpu"]),
    ("search, new words, ms", ["new", "new p95"]),
    ("  CPU, ms", ["new cpu"]),
    ("  found, %", ["found"]),
    ("save, ms", ["save", "save p95"]),
    ("  CPU, ms", ["save cpu"]),
    ("memory after searches, MB", ["memory"]),
]


class Ours:
    """personal-memory, and what its tools want."""

    def __init__(self, program, folder):
        self.program, self.data = program, folder / "ours"
        version = subprocess.run([program, "--version"], capture_output=True, text=True, check=True)
        self.name = version.stdout.strip()

    def fill(self, texts):
        file = self.data.with_suffix(".jsonl")
        file.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
        command = [self.program, "import", "--data-dir", self.data, file]
        done = subprocess.run(command, capture_output=True, text=True, timeout=1800)
        if done.returncode != 0 or f"Imported {len(texts)} new" not in done.stdout:
            raise Failed(f"import: {done.stdout}{done.stderr}")

    def start(self):
        return Server([self.program, "--data-dir", self.data])

    @contextlib.contextmanager
    def without_index(self):
        index, aside = self.data / "index.bin", self.data.with_suffix(".index")
        if index.exists():  # A small store has none.
            index.rename(aside)
        yield
        if aside.exists():
            aside.replace(index)

    def search(self, query):
        return {"name": "memory_search", "arguments": {"query": query}}

    def save(self, number, text):
        return {"name": "memory_save", "arguments": {"text": text}}


class Graph:
    """A peer, which is a program for Node and keeps entities with observations."""

    def __init__(self, program, folder):
        self.store = folder / program.name
        self.command = ["node", program / "dist/index.js"]
        version = json.loads((program / "package.json").read_text())["version"]
        self.name = f"{program.name} {version}"

    def start(self):
        return Server(self.command, self.environment())

    def search(self, query):
        return {"name": "search_nodes", "arguments": {"query": query}}

    def save(self, number, text):
        return {"name": "create_entities", "arguments": {"entities": [entity(f"saved {number}", text)]}}


def entity(name, text):
    return {"name": name, "entityType": "memory", "observations": [text]}


class ServerMemory(Graph):
    package = "@modelcontextprotocol/server-memory"

    def environment(self):
        return {"MEMORY_FILE_PATH": str(self.store)}

    def fill(self, texts):
        lines = [json.dumps({"type": "entity", **entity(f"e{number}", text)}) for number, text in enumerate(texts)]
        self.store.write_text("\n".join(lines))


class Libsql(Graph):
    package = "mcp-memory-libsql"

    def environment(self):
        return {"LIBSQL_URL": f"file:{self.store}"}

    def fill(self, texts):
        self.start().end()
        with contextlib.closing(sqlite3.connect(self.store)) as database, database:
            names = ((f"e{number}",) for number in range(len(texts)))
            database.executemany("INSERT INTO entities (name, entity_type) VALUES (?, 'memory')", names)
            rows = ((f"e{number}", text) for number, text in enumerate(texts))
            database.executemany("INSERT INTO observations (entity_name, content) VALUES (?, ?)", rows)


class Measurement:
    """What is measured at one size. Whoever fails is left out of what follows, and it is said why."""

    def __init__(self, contenders, options):
        self.options = options
        self.left = {contender.name: contender for contender in contenders}
        self.figures = {name: {} for name in [*self.left, BARE]}
        self.notes = []

    def of_each(self):
        return list(self.left.items())

    @contextlib.contextmanager
    def trying(self, name):
        try:
            yield
        except (Failed, OSError, sqlite3.Error, subprocess.SubprocessError) as error:
            self.notes.append(f"{name} failed: {error}")
            self.left.pop(name, None)

    def fill(self, texts):
        for name, contender in self.of_each():
            with self.trying(name):
                began = time.perf_counter()
                contender.fill(texts)
                self.figures[name]["fill"] = time.perf_counter() - began

    def starts(self, query):
        runs = {name: [] for name in self.left}
        for _ in range(STARTS):
            for name, contender in self.of_each():
                with self.trying(name):
                    runs[name].append(first_search(contender, query))
        for name, contender in self.of_each():
            medians = [statistics.median(column) * 1000 for column in zip(*runs[name])]
            self.figures[name].update(zip(("start", "start cpu", "first", "first cpu"), medians))
            if isinstance(contender, Ours):
                with self.trying(name), contender.without_index():
                    *_, first, cpu = first_search(contender, query)
                    self.figures[name].update({"no index": first * 1000, "no index cpu": cpu * 1000})

    def calls(self, what, servers, items, call, bare):
        """Makes a call of each item to each server in turn. Returns the items and answers of each."""
        times = {name: [] for name in [*self.left, BARE]}
        answers = {name: [] for name in self.left}
        cpu = {name: servers[name].cpu() for name in self.left}
        for item in items:
            for name, contender in self.of_each():
                if sum(times[name]) < self.options.patience:
                    with self.trying(name):
                        answer, seconds = servers[name].request("tools/call", call(contender, item))
                        times[name].append(seconds)
                        answers[name].append((item, answer))
            began = time.perf_counter()
            bare(item)
            times[BARE].append(time.perf_counter() - began)
        for name in self.left:
            taken = len(times[name])
            self.figures[name][f"{what} cpu"] = (servers[name].cpu() - cpu[name]) * 1000 / taken
            if taken < len(items):
                self.notes.append(f"{name}: patience ended after {taken} of {len(items)} calls ({what})")
        for name in [*self.left, BARE]:
            ordered = sorted(times[name])
            ranked = {what: statistics.median(ordered), f"{what} best": ordered[0]}
            ranked[f"{what} p95"] = ordered[len(ordered) * 95 // 100]
            self.figures[name].update({figure: seconds * 1000 for figure, seconds in ranked.items()})
        return answers

    def searches(self, servers, queries, data):
        def search(contender, item):
            return contender.search(item[0])

        def scan(item):
            data.count(item[0].split()[0].encode())

        asked, new = queries[::2], queries[1::2]
        # Ten words at a time: so each was asked, and no search that is timed was.
        words = [word for query, _ in asked for word in query.split()]
        before = [(" ".join(words[begin : begin + 10]), "") for begin in range(0, len(words), 10)]
        self.calls("before", servers, before, search, scan)
        self.calls("asked", servers, asked, search, scan)
        answers = self.calls("new", servers, new, search, scan)
        for name in self.left:
            found = [text in json.dumps(answer) for (_, text), answer in answers[name]]
            self.figures[name]["found"] = 100 * sum(found) / len(found)
            processes = tree(servers[name].process.pid)
            self.figures[name]["memory"] = sum(memory_of(process)[1] for process in processes) / 1e6

    def saves(self, servers, texts, folder):
        with open(folder / "bare", "wb", buffering=0) as file:

            def append(item):
                file.write(item[1].encode() + b"\n")
                os.fsync(file.fileno())

            self.calls("save", servers, list(enumerate(texts)), lambda contender, item: contender.save(*item), append)


def first_search(contender, query):
    """Seconds and CPU seconds from spawn to the first response, and to the first search's answer."""
    server = contender.start()
    try:
        server.request("tools/call", contender.search(query))
        first = time.perf_counter() - server.began
        return server.first_response, server.first_response_cpu, first, server.cpu()
    finally:
        server.end()


def measure(size, words, options, folder):
    texts = make_texts(size + options.saves, words)
    texts, more = texts[:size], texts[size:]
    queries = make_queries(texts, 2 * options.queries, words[:FREQUENT])
    contenders = [Ours(options.program, folder)]
    contenders += [peer(options.peers / "node_modules" / peer.package, folder) for peer in options.found]
    measurement = Measurement(contenders, options)
    measurement.fill(texts)
    measurement.starts(queries[0][0])
    servers = {}
    for name, contender in measurement.of_each():
        with measurement.trying(name):
            servers[name] = contender.start()
    try:
        measurement.searches(servers, queries, "\n".join(texts).encode())
        measurement.saves(servers, more, folder)
    finally:
        for server in servers.values():
            server.end()
    return measurement


def cell(figures, ours, names):
    if names[0] not in figures:
        return "-"
    text = "/".join(f"{figures[name]:.3g}" if figures[name] < 100 else f"{figures[name]:.0f}" for name in names)
    first = ours.get(names[0])
    if figures is ours or not first:
        return text
    ratio = figures[names[0]] / first
    return f"{text} ({ratio:.0f}x)" if ratio >= 10 else f"{text} ({ratio:.2g}x)"


def show(size, measurement):
    ours, *_ = measurement.figures.values()
    print(f"\n{f'{size:,} memories':<30}" + "".join(f"{name:>28}" for name in measurement.figures))
    for label, names in FIGURES:
        print(f"{label:<30}" + "".join(f"{cell(figures, ours, names):>28}" for figures in measurement.figures.values()))
    for note in measurement.notes:
        print(note)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", metavar="PROGRAM", type=pathlib.Path)
    parser.add_argument("--sizes", default="1000,10000,100000")
    parser.add_argument("--peers", metavar="DIR", type=pathlib.Path, help="where npm installed them")
    parser.add_argument("--queries", type=int, default=60, help="of either kind")
    parser.add_argument("--saves", type=int, default=20)
    parser.add_argument("--patience", type=float, default=120, metavar="SECONDS", help="of one kind of call to one server")
    parser.add_argument("--json", metavar="FILE", type=pathlib.Path)
    options = parser.parse_args()
    words = vocabulary()
    options.found, missing = [], []
    for peer in (ServerMemory, Libsql):
        there = options.peers and (options.peers / "node_modules" / peer.package / "package.json").exists()
        (options.found if there else missing).append(peer)
    for peer in missing:
        print(f"missing: {peer.package}; the beginning of this script says how to install it")
    if options.found and not shutil.which("node"):
        parser.error("the peers need node on the PATH")

    report = {"processors": os.cpu_count(), "missing": [peer.package for peer in missing], "sizes": {}}
    for size in map(int, options.sizes.split(",")):
        load = [os.getloadavg()[0]]
        with tempfile.TemporaryDirectory() as folder:
            measurement = measure(size, words, options, pathlib.Path(folder))
        load.append(os.getloadavg()[0])
        measurement.notes.append(f"load average {load[0]:.1f} before, {load[1]:.1f} after, {os.cpu_count()} processors")
        show(size, measurement)
        report["sizes"][size] = {"figures": measurement.figures, "notes": measurement.notes, "load": load}
    if options.json:
        options.json.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
