"""The memory under Python, through wasmtime-py. Usage: python.py memory.wasm DIRECTORY save TEXT | search QUERY

One process at a time may use a store: see docs/reuse.md.
"""

import json
import os
import sys

from wasmtime import Engine, Store, WasiConfig
from wasmtime.component import Component, Linker, Record

OPENING_SLICE_MS = 250


class Memory:
    """An instance of the component over a directory."""

    def __init__(self, file, directory):
        engine = Engine()
        linker = Linker(engine)
        linker.add_wasip2()
        wasi = WasiConfig()
        wasi.preopen_dir(directory, "/data")
        self.store = Store(engine)
        self.store.set_wasi(wasi)
        self.instance = linker.instantiate(self.store, Component.from_file(engine, file))
        granted = {"settings": {}, "directories": [{"name": "data", "readOnly": False}]}
        if refusal := self.call("server", "configure", json.dumps(granted)):
            raise RuntimeError(refusal)
        while not self.call("maintenance", "open", OPENING_SLICE_MS):
            pass  # There is more to load.

    def call(self, interface, function, *arguments):
        """Calls a function of the contract in wit/mcp."""
        interface = self.instance.get_export_index(self.store, f"personal-memory:mcp/{interface}@0.1.0")
        index = self.instance.get_export_index(self.store, function, interface)
        return self.instance.get_func(self.store, index)(self.store, *arguments)

    def tool(self, name, **arguments):
        """Calls a tool; returns its text, and whether it refused."""
        answer = self.call("tools", "call", context(), name, json.dumps(arguments), None)
        if answer.tag != "ok":
            raise RuntimeError(f"{answer.payload.tag}: {answer.payload.payload}")
        outcome = answer.payload
        if outcome.tag != "complete":
            raise RuntimeError(f"{name} needs something that is not offered here")
        result = outcome.payload
        return result.content[0].body.payload, getattr(result, "is-error")


def context():
    """Who is calling: `request-context` in wit/mcp/types.wit."""
    record = Record()
    members = {
        "protocol-version": "2026-07-28",
        "client": None,
        "client-capabilities": set(),
        "declared-capabilities": "{}",
        "session": f"python-{os.getpid()}",
        "progress": False,
        "log-level": None,
        "meta": None,
        "deadline-ms": 10_000,
    }
    for name, value in members.items():
        setattr(record, name, value)
    return record


def main():
    file, directory, action, words = sys.argv[1:]
    memory = Memory(file, directory)
    if action == "save":
        text, refused = memory.tool("memory_save", text=words)
    else:
        text, refused = memory.tool("memory_search", query=words)
    print(text)
    sys.exit(refused)


if __name__ == "__main__":
    main()
