"""Plays the transcripts against the official Rust SDK's server with the same component in it (host/examples/sdk_server.rs).

    sdk_diff.py SDK_SERVER [--show]

What ours answers stands in tests/transcripts, and a test holds it to every byte. Here the SDK's answers are compared with
that, as JSON: the order of members and time stamps don't count. Each difference has a kind, and each kind a heading in
docs/DIFF.md, where it is judged. A difference of a kind that is not judged there is a failure. `--show` prints them all.
"""

import collections
import json
import re
import select
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# How long an answer that should come is waited for, and one that should not.
PATIENCE_SECONDS, SILENCE_SECONDS = 5, 0.2
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
VERSION = re.compile(r'"version":"\d+\.\d+\.\d+[^"]*"')


def sections(path):
    """The sections that need nothing but the memory: title and pairs of what is sent and what ours answers."""
    title, plain, pairs = path.stem, True, []
    for line in [*path.read_text().splitlines(), "== "]:
        if line.startswith("== "):
            if plain and pairs:
                yield f"{path.name}: {title}", pairs
            title, plain, pairs = line[3:], True, []
        elif line.startswith("@ "):
            plain = False
        elif line.startswith("> ") or line == ">":
            pairs.append((unescape(line[2:]), []))
        elif line.startswith("< "):
            pairs[-1][1].append(line[2:])


def unescape(text):
    """What stands in a transcript, as bytes: see tests/transcripts.rs."""
    text = re.sub(r"\{\{(.*?)\*(\d+)\}\}", lambda match: match[1] * int(match[2]), text)
    pieces = re.split(r"\\x([0-9a-f]{2})", text)
    return b"".join(bytes([int(piece, 16)]) if at % 2 else piece.encode() for at, piece in enumerate(pieces))


CLIENT = {"name": "transcript", "version": "1"}
HANDSHAKE = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": CLIENT}


def adapted(sent):
    """The line with what the SDK can't do without and our transcripts mostly leave out: the client's name."""
    message = parsed(sent.decode(errors="replace"))
    if isinstance(message, dict) and message.get("method") == "initialize" and isinstance(message.get("params"), dict):
        if "clientInfo" not in message["params"]:
            message["params"]["clientInfo"] = CLIENT
            return json.dumps(message).encode()
    return sent


def needs_handshake(sent):
    """Whether a section begins like a legacy client that has said hello before: the SDK's server wants to hear it."""
    return b'"initialize"' not in sent and b"io.modelcontextprotocol/" not in sent


class Server:
    """The SDK's server over a directory."""

    def __init__(self, program, directory):
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(
            [program, directory], stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, bufsize=0
        )
        # Unbuffered for reading with `select`; a line of any length is written whole all the same.
        self.input = open(self.process.stdin.fileno(), "wb", closefd=False)
        self.buffer = b""

    def ask(self, line, answers):
        """Sends a line; returns up to so many answers, and one that nobody expects."""
        try:
            self.input.write(line + b"\n")
            self.input.flush()
        except BrokenPipeError:
            return ["the server has ended"]
        got = []
        while len(got) <= answers:
            answer = self.read(PATIENCE_SECONDS if len(got) < answers and self.alive() else SILENCE_SECONDS)
            if answer is None:
                break
            got.append(answer)
        return got if got or self.alive() else ["the server has ended"]

    def alive(self):
        return self.process.poll() is None

    def read(self, patience):
        while b"\n" not in self.buffer:
            ready, _, _ = select.select([self.process.stdout], [], [], patience)
            if not ready or not (more := self.process.stdout.read(1 << 16)):
                return None
            self.buffer += more
        line, self.buffer = self.buffer.split(b"\n", 1)
        return VERSION.sub('"version":"{{version}}"', TIME.sub("{{time}}", line.decode()))

    def end(self):
        self.process.kill()
        self.process.wait()


def parsed(line):
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return line


def kinds(sent, ours, theirs):
    """In which ways two answers differ: none, if they are the same."""
    if ours == theirs:
        return set()
    if theirs == "the server has ended":
        return {"the connection ends"}
    if theirs is None:
        return {"no answer"}
    if ours is None:
        return {"an answer to what needs none"}
    if not isinstance(ours, dict) or not isinstance(theirs, dict):
        return {"batches"}
    if "error" in ours and "error" in theirs:
        return error_kinds(ours, theirs)
    if "error" in ours:
        return {"accepted instead of refused"}
    if "error" in theirs:
        return {"refused instead of answered"}
    return member_kinds(ours.get("result", ours), theirs.get("result", theirs))


def error_kinds(ours, theirs):
    found = set()
    if ours.get("id", 0) != theirs.get("id", 0):
        found.add("the id of an error")
    for member, kind in (("code", "another code"), ("message", "another message"), ("data", "other data")):
        if ours["error"].get(member) != theirs["error"].get(member):
            found.add(kind)
    return found


def member_kinds(ours, theirs, path=""):
    if type(ours) is not type(theirs):
        return {f"another value: {path}"}
    if isinstance(ours, dict):
        found = set()
        for name in {*ours, *theirs}:
            inner = f"{path}.{name}" if path else name
            if name not in theirs:
                found.add(f"left out: {inner}")
            elif name not in ours:
                found.add(f"added: {inner}")
            else:
                found |= member_kinds(ours[name], theirs[name], inner)
        return found
    if isinstance(ours, list):
        if len(ours) != len(theirs):
            return {f"another number: {path}"}
        return set().union(*(member_kinds(a, b, path) for a, b in zip(ours, theirs)))
    return set() if ours == theirs else {f"another value: {path}"}


def main():
    program, show = sys.argv[1], "--show" in sys.argv
    judged = set(re.findall(r"^\| `([^`]+)` \|", (ROOT / "docs/DIFF.md").read_text(), re.M)) if not show else None
    seen, same, total = collections.Counter(), 0, 0
    for path in sorted((ROOT / "tests/transcripts").glob("*.txt")):
        for title, pairs in sections(path):
            with tempfile.TemporaryDirectory() as directory:
                server = Server(program, directory)
                if needs_handshake(pairs[0][0]):
                    hello = {"jsonrpc": "2.0", "id": "hello", "method": "initialize", "params": HANDSHAKE}
                    server.ask(json.dumps(hello).encode(), 1)
                    server.ask(b'{"jsonrpc":"2.0","method":"notifications/initialized"}', 0)
                for sent, expected in pairs:
                    got = server.ask(adapted(sent), len(expected))
                    for at in range(max(len(expected), len(got))):
                        ours = parsed(expected[at]) if at < len(expected) else None
                        theirs = parsed(got[at]) if at < len(got) else None
                        found = kinds(sent, ours, theirs)
                        total, same = total + 1, same + (not found)
                        seen.update(found)
                        if show and found:
                            print(title, sorted(found), sent[:200].decode(errors="replace"), sep="\n  ")
                            print(f"  ours   {json.dumps(ours)[:300]}\n  theirs {json.dumps(theirs)[:300]}", flush=True)
                    if got == ["the server has ended"]:
                        break
                server.end()
    print(f"{total} answers compared, {same} the same")
    for kind, times in seen.most_common():
        print(f"{times:4} {kind}")
    if not same:
        sys.exit("not one answer is the same: the SDK's server doesn't work")
    if judged is not None and (unknown := set(seen) - judged):
        sys.exit(f"not judged in docs/DIFF.md: {sorted(unknown)}")


if __name__ == "__main__":
    main()
