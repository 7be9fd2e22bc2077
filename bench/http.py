#!/usr/bin/env python3
"""Requests per second over HTTP, and how long they take, with 1, 16 and 256 clients at a time.

    bench/http.py [--seconds N] [--era modern|legacy] [--tool NAME --arguments JSON] URL [URL ...]

Each client keeps one connection and sends its next request when it has the answer to the last one. Servers are measured
in turn (A B A B ...), so that a machine whose speed drifts treats them alike; what is printed is the round with the median
rate. Without `--tool` the request is `tools/list`. An answer that is no result ends the measurement.

The clients are one Python process, which takes a core for itself: the figures compare servers on one machine, and say
little about how fast one could be.
"""

import argparse
import asyncio
import json
import statistics
import time
from urllib.parse import urlsplit

MODERN = "2026-07-28"
LEGACY = "2025-11-25"
ACCEPT = "application/json, text/event-stream"


class Connection:
    """One connection that is kept."""

    def __init__(self, url):
        self.url = urlsplit(url)
        self.headers = {}

    async def open(self):
        self.reader, self.writer = await asyncio.open_connection(self.url.hostname, self.url.port or 80)

    def written(self, message, headers):
        body = json.dumps(message).encode()
        head = {
            "Host": self.url.netloc,
            "Content-Type": "application/json",
            "Accept": ACCEPT,
            "Content-Length": str(len(body)),
            **self.headers,
            **headers,
        }
        lines = "".join(f"{name}: {value}\r\n" for name, value in head.items())
        return f"POST {self.url.path or '/'} HTTP/1.1\r\n{lines}\r\n".encode() + body

    async def ask(self, request):
        self.writer.write(request)
        head = await self.reader.readuntil(b"\r\n\r\n")
        status = int(head.split(b" ", 2)[1])
        headers = {}
        for line in head.decode("latin-1").split("\r\n")[1:]:
            name, _, value = line.partition(":")
            headers[name.lower()] = value.strip()
        if "chunked" in headers.get("transfer-encoding", ""):
            body = b""
            while True:
                length = int(await self.reader.readline(), 16)
                body += (await self.reader.readexactly(length + 2))[:-2]
                if length == 0:
                    break
        else:
            body = await self.reader.readexactly(int(headers.get("content-length", 0)))
        return status, headers, body

    async def handshake(self):
        """Opens a legacy session."""
        client = {"name": "bench", "version": "0"}
        params = {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": client}
        opening = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}
        status, headers, body = await self.ask(self.written(opening, {}))
        if status != 200:
            raise SystemExit(f"initialize: {status} {body[:200]!r}")
        self.headers["MCP-Protocol-Version"] = LEGACY
        if "mcp-session-id" in headers:
            self.headers["Mcp-Session-Id"] = headers["mcp-session-id"]
        await self.ask(self.written({"jsonrpc": "2.0", "method": "notifications/initialized"}, {}))


def message(options):
    params = {"name": options.tool, "arguments": options.arguments} if options.tool else {}
    method = "tools/call" if options.tool else "tools/list"
    headers = {}
    if options.era == "modern":
        prefix = "io.modelcontextprotocol/"
        params["_meta"] = {prefix + "protocolVersion": MODERN, prefix + "clientCapabilities": {}}
        headers = {"MCP-Protocol-Version": MODERN, "Mcp-Method": method}
        if options.tool:
            headers["Mcp-Name"] = options.tool
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}, headers


async def client(url, options, started, end, times):
    connection = Connection(url)
    await connection.open()
    if options.era == "legacy":
        await connection.handshake()
    request = connection.written(*message(options))
    await started.wait()
    while time.perf_counter() < end[0]:
        began = time.perf_counter()
        status, _, body = await connection.ask(request)
        times.append(time.perf_counter() - began)
        if status != 200 or b'"result"' not in body:
            raise SystemExit(f"{url}: {status} {body[:200]!r}")
    connection.writer.close()


async def measured(url, clients, options):
    """Seconds of each request, and of all of them."""
    started, end, times = asyncio.Event(), [0.0], []
    tasks = [asyncio.create_task(client(url, options, started, end, times)) for _ in range(clients)]
    await asyncio.sleep(0.5)
    began = time.perf_counter()
    end[0] = began + options.seconds
    started.set()
    await asyncio.gather(*tasks)
    return times, time.perf_counter() - began


def row(times, elapsed):
    times = sorted(times)
    at = lambda share: times[min(len(times) - 1, int(share * len(times)))] * 1000
    return len(times) / elapsed, at(0.5), at(0.99)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("urls", nargs="+", metavar="URL")
    parser.add_argument("--seconds", type=float, default=3.0, help="of each round")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--clients", type=int, nargs="+", default=[1, 16, 256])
    parser.add_argument("--era", choices=["modern", "legacy"], default="modern")
    parser.add_argument("--tool", metavar="NAME")
    parser.add_argument("--arguments", type=json.loads, default={}, metavar="JSON")
    options = parser.parse_args()
    print(f"{'clients':>7} {'requests/s':>11} {'p50 ms':>8} {'p99 ms':>8}  server")
    for clients in options.clients:
        rounds = {url: [] for url in options.urls}
        for _ in range(options.rounds):
            for url in options.urls:
                rounds[url].append(row(*asyncio.run(measured(url, clients, options))))
        for url in options.urls:
            median = statistics.median_low([rate for rate, _, _ in rounds[url]])
            rate, half, most = next(found for found in rounds[url] if found[0] == median)
            print(f"{clients:>7} {rate:>11.0f} {half:>8.2f} {most:>8.2f}  {url}")


if __name__ == "__main__":
    main()
