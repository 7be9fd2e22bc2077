"""Real clients on one memory: each saves something, and each finds what the one before it saved.

    clients.py PROGRAM [--node DIRECTORY] [--python PROGRAM]

DIRECTORY has the npm packages, the Python program the PyPI ones: clients.sh installs them. Over standard input and output
every client starts a server of its own; over HTTP all of them share one. Prints what each saw as a table in Markdown, and
ends with 1 if anything was not as it must be.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
TIMEOUT_SECONDS = 120
REVISIONS = {"legacy": {"2025-11-25"}, "auto": {"2026-07-28"}, "modern": {"2026-07-28"}}
# One for each client and transport, so that a search finds one memory only.
WORDS = """kestrel marigold obsidian juniper lantern walrus saffron trombone glacier pumpkin
    origami velvet harpoon cinnamon telescope badger turquoise accordion meadow anchor""".split()


class Failure(Exception):
    """A client did not see what it must see."""


class Script:
    """A client that takes a task as JSON and prints what it saw as JSON (clients/perform.mjs describes both)."""

    def __init__(self, name, command, mode):
        self.name, self.command, self.mode = name, command, mode

    def perform(self, server, environment, **task):
        task = {**server, "mode": self.mode, **task}
        return json.loads(run([*self.command, json.dumps(task)], environment))


class Inspector:
    """The MCP Inspector's command line: one connection for each request."""

    def __init__(self, command, mode):
        self.name, self.command, self.mode = f"MCP Inspector CLI, {mode}", command, mode

    def perform(self, server, environment, find, save=None):
        target = [server["url"]] if "url" in server else [server["command"], *server["args"]]

        def request(method, *arguments, status=0):
            command = [*self.command, "--cli", *target, "--protocol-era", self.mode, "--format", "json", "--quiet"]
            return json.loads(run([*command, "--method", method, *arguments], environment, status))["result"]

        def tool(name, status=0, **arguments):
            arguments = ["--tool-name", name, "--tool-args-json", json.dumps(arguments)]
            return request("tools/call", *arguments, status=status)

        saw = {"revision": request("initialize")["protocolVersion"]}
        saw["tools"] = [entry["name"] for entry in request("tools/list", "--strict")["tools"]]
        if save:
            saw["saved"] = tool("memory_save", text=save)["content"][0]["text"]
        saw["found"] = tool("memory_search", query=find)["content"][0]["text"]
        # It ends with 5 when a tool refuses.
        saw["refused"] = tool("memory_search", status=5, query=find, k=0).get("isError")
        saw["resources"] = [resource["uri"] for resource in request("resources/list")["resources"]]
        entry = re.match(r"\[(m\d+)\]", saw["found"])
        uri = f"memory://entries/{entry[1] if entry else 'none'}"
        saw["read"] = request("resources/read", "--uri", uri)["contents"][0]["text"]
        prompt = request("prompts/get", "--prompt-name", "reflect_on", "--prompt-args", f"topic={find}")
        saw["prompt"] = prompt["messages"][0]["content"]["text"]
        return saw


def run(command, environment, status=0):
    done = subprocess.run(
        command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=TIMEOUT_SECONDS
    )
    if done.returncode != status:
        said = (done.stdout + done.stderr).strip()[-2000:]
        raise Failure(f"{Path(command[0]).name} ended with {done.returncode}: {said}")
    return done.stdout


def clients(options):
    found = []
    if options.node:
        node, inspector = (str(options.node / "node_modules/.bin" / name) for name in ("node", "mcp-inspector"))
        found += [Inspector([inspector], mode) for mode in REVISIONS]
        found.append(Script("TypeScript SDK v1", [node, str(options.node / "sdk_v1.mjs")], "legacy"))
        script = [node, str(options.node / "sdk_v2.mjs")]
        found += [Script(f"TypeScript SDK v2, {mode}", script, mode) for mode in REVISIONS]
    if options.python:
        script = [options.python, str(HERE / "clients/python_sdk.py")]
        found += [Script(f"Python SDK, {mode}", script, mode) for mode in REVISIONS]
    return found


def check(client, saw, word, text):
    """What holds for everything that a client sees of one memory."""
    expected = {
        "revision": saw["revision"] in REVISIONS[client.mode],
        "tools": {"memory_search", "memory_save"} <= set(saw["tools"]),
        "found": saw["found"].endswith(f"(episodic) {text}"),
        "refused": saw["refused"] is True,
        "read": saw["read"] == text,
        "prompt": text in saw["prompt"] and word in saw["prompt"],
        "completed": len(saw.get("completed", saw["resources"])) == len(saw["resources"]),
    }
    wrong = [name for name, holds in expected.items() if not holds]
    if wrong:
        raise Failure(f"wrong: {', '.join(wrong)} in {json.dumps(saw)}")


def play(every, server, transport, environment):
    """Lets each save, then each find what the one before it saved. Returns whether all went well."""
    words = dict(zip((client.name for client in every), WORDS, strict=False))
    text = {client.name: f"{client.name} keeps a {words[client.name]}" for client in every}
    print(f"\n| over {transport} | revision | saved | found what the one before saved |\n|---|---|---|---|")
    well, first = True, {}
    for client in every:
        try:
            word = words[client.name]
            first[client.name] = client.perform(server, environment, save=text[client.name], find=word)
            check(client, first[client.name], word, text[client.name])
        except (Failure, subprocess.TimeoutExpired, KeyError, ValueError) as error:
            well = False
            print(f"FAILED: {client.name} saves: {error}", file=sys.stderr)
    for index, client in enumerate(every):
        other = every[index - 1].name
        row = [first.get(client.name, {}).get(what, "**failed**") for what in ("revision", "saved")]
        try:
            saw = client.perform(server, environment, find=words[other])
            check(client, saw, words[other], text[other])
            if len(saw["resources"]) != len(every):
                raise Failure(f"{len(saw['resources'])} memories where {len(every)} were saved")
            row.append(saw["found"])
        except (Failure, subprocess.TimeoutExpired, KeyError, ValueError) as error:
            well = False
            row.append("**failed**")
            print(f"FAILED: {client.name} finds what {other} saved: {error}", file=sys.stderr)
        print(f"| {client.name} | {' | '.join(row)} |", flush=True)
    return well


def claude(node, server, environment):
    """Claude Code's own check of its servers. It ends with 0 whatever it found, so its words are read."""
    command = str(node / "node_modules/.bin/claude")
    if not Path(command).exists():
        print("SKIPPED: Claude Code is not installed on this kind of machine")
        return os.environ.get("INTEROP_REQUIRE") != "1"
    run([command, "mcp", "add", "--scope", "user", "personal-memory", "--", server["command"], *server["args"]], environment)
    said = run([command, "mcp", "list"], environment)
    line = next((line for line in said.splitlines() if line.startswith("personal-memory:")), said)
    well = line.endswith("Connected")
    shown = line.replace(server["command"], "personal-memory").replace(server["args"][1], "DIRECTORY")
    print(f"\n`claude mcp list`: `{shown}`")
    return well


def environment_in(home):
    """Nothing of the tester's own: neither settings nor caches, and no reports to anybody."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": home,
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_TELEMETRY": "1",
    }


def over_http(program, data, every, environment):
    """The same, all on one server."""
    command = [program, "serve", "--http", "127.0.0.1:0", "--data-dir", data]
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        for line in process.stderr:
            if address := re.search(r"http://\S+/mcp", line):
                return play(every, {"url": address[0]}, "HTTP, one server", environment)
        print("FAILED: the server does not say where it listens", file=sys.stderr)
        return False
    finally:
        process.terminate()
        process.wait(TIMEOUT_SECONDS)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--node", type=Path, metavar="DIRECTORY")
    parser.add_argument("--python", metavar="PROGRAM")
    options = parser.parse_args()
    program = str(Path(options.program).resolve())
    every = clients(options)
    with tempfile.TemporaryDirectory() as place:
        home, data, shared = (str(Path(place) / name) for name in ("home", "data", "shared"))
        for directory in (home, data, shared):
            os.mkdir(directory)
        environment = environment_in(home)
        server = {"command": program, "args": ["--data-dir", data]}
        well = play(every, server, "standard input and output, a server each", environment)
        well &= over_http(program, shared, every, environment)
        if options.node:
            well &= claude(options.node, server, environment)
    if not well:
        sys.exit("not every client saw what it must see")
    print(f"\n{len(every)} clients on two transports: each found what another had saved")


if __name__ == "__main__":
    main()
