#!/usr/bin/env python3
"""Writes what the fuzz targets begin with into fuzz/corpus: what clients send in the transcripts, what attackers send
first, and the journals of docs/STORE.md. Found inputs that are there already stay."""

import hashlib
import json
import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
TOOLS = 6


def seed(target, content):
    folder = ROOT / "fuzz/corpus" / target
    folder.mkdir(parents=True, exist_ok=True)
    (folder / hashlib.sha1(content).hexdigest()).write_bytes(content)


def strings(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for member in value.values():
            yield from strings(member)
    elif isinstance(value, list):
        for item in value:
            yield from strings(item)


lines = (ROOT / "tests/corpus/lines.txt").read_text().splitlines()
for transcript in sorted((ROOT / "tests/transcripts").glob("*.txt")):
    lines += [line[2:] for line in transcript.read_text().splitlines() if line.startswith("> ")]

for line in lines:
    seed("jsonrpc", line.encode())
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        continue
    for uri in strings(message):
        if "://" in uri:
            seed("uris", uri.encode())
    params = message.get("params") if isinstance(message, dict) else None
    arguments = params.get("arguments") if isinstance(params, dict) else None
    if arguments is not None:
        for tool in range(TOOLS):
            seed("arguments", bytes([tool]) + json.dumps(arguments, ensure_ascii=False).encode())

for block in re.findall(r"```jsonl\n(.*?)```", (ROOT / "docs/STORE.md").read_text(), re.S):
    seed("journal", block.encode())
    seed("journal", block.encode()[: len(block) // 2])
