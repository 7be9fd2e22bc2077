"""A server on standard input and output, for the measurements beside this file. Linux only, as it reads /proc."""

import json
import os
import pathlib
import select
import subprocess
import tempfile
import time


class Failed(SystemExit):
    """The server did not answer, or with an error. Ends the measurement unless somebody catches it."""


class Server:
    """A server process that has shaken hands, and requests one at a time."""

    def __init__(self, command, environment=None, patience=60):
        self.patience = patience
        self.number = 0
        self.rest = b""
        self.errors = tempfile.TemporaryFile()
        self.began = time.perf_counter()
        self.process = subprocess.Popen(
            [str(part) for part in command],
            env={**os.environ, **(environment or {})},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
        )
        client = {"name": "bench", "version": "0"}
        try:
            self.request("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client})
            self.first_response = time.perf_counter() - self.began
            self.first_response_cpu = clock_of(self.process.pid)
            self.write({"method": "notifications/initialized"})
        except BaseException:
            self.kill()
            raise

    def write(self, *messages):
        lines = (json.dumps({"jsonrpc": "2.0", **message}) + "\n" for message in messages)
        try:
            self.process.stdin.write("".join(lines).encode())
            self.process.stdin.flush()
        except BrokenPipeError:
            raise self.failed("the server ended") from None

    def line(self, until):
        """One line that the server wrote, and when its last byte was here."""
        pieces = [self.rest]
        while b"\n" not in pieces[-1]:
            ready, _, _ = select.select([self.process.stdout], [], [], max(0, until - time.perf_counter()))
            if not ready:
                raise self.failed(f"no answer within {self.patience} s")
            pieces.append(os.read(self.process.stdout.fileno(), 1 << 20))
            if not pieces[-1]:
                raise self.failed("the server ended without an answer")
        arrived = time.perf_counter()
        line, _, self.rest = b"".join(pieces).partition(b"\n")
        return line, arrived

    def timed_answer(self, number):
        until = time.perf_counter() + self.patience
        while True:
            line, arrived = self.line(until)
            reply = json.loads(line)
            if reply.get("id") == number and "method" not in reply:
                if "error" in reply or reply["result"].get("isError"):
                    raise self.failed(f"the server answered {reply}")
                return reply["result"], arrived

    def answer(self, number):
        return self.timed_answer(number)[0]

    def next_request(self, method, params):
        self.number += 1
        return {"id": self.number, "method": method, "params": params}

    def request(self, method, params):
        """The result, and the seconds from the request's first byte to the answer's last."""
        request = self.next_request(method, params)
        began = time.perf_counter()
        self.write(request)
        result, arrived = self.timed_answer(request["id"])
        return result, arrived - began

    def call(self, tool, arguments):
        """The seconds that a call took."""
        return self.request("tools/call", {"name": tool, "arguments": arguments})[1]

    def cpu(self):
        """Seconds on a processor so far of the process and those that it started, of their ended threads as well."""
        return sum(clock_of(process) for process in tree(self.process.pid))

    def failed(self, why):
        self.errors.seek(0)
        said = self.errors.read()[-300:].decode(errors="replace").strip()
        return Failed(f"{why}; on standard error: {said}" if said else why)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def end(self):
        self.process.stdin.close()
        try:
            self.process.wait(self.patience)
        except subprocess.TimeoutExpired:
            self.kill()


def clock_of(process):
    """Seconds on a processor: the clock that clock_getcpuclockid(3) names, by the number that it gives to it."""
    return time.clock_gettime(~process << 3 | 2)


def tree(process):
    """A process and those that it started."""
    children = {}
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(stat.read_text().rsplit(")", 1)[1].split()[1])
        except OSError:  # It has ended.
            continue
        children.setdefault(parent, []).append(int(stat.parent.name))
    found = [process]
    for each in found:
        found.extend(children.get(each, []))
    return found


def memory_of(process):
    """Resident and proportional bytes."""
    values = {}
    for line in pathlib.Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()[1:]:
        name, value = line.split(":")
        values[name] = int(value.split()[0]) * 1024
    return values["Rss"], values["Pss"]
