// The TypeScript SDK, version 2. See perform.mjs for what it is asked to do.

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

import { perform } from "./perform.mjs";

await perform(async ({ command, args, url, mode }) => {
  const negotiation = mode === "modern" ? { pin: "2026-07-28" } : mode;
  const client = new Client({ name: "sdk-v2", version: "2" }, { versionNegotiation: { mode: negotiation } });
  const transport = url
    ? new StreamableHTTPClientTransport(new URL(url))
    : new StdioClientTransport({ command, args });
  await client.connect(transport);
  return [client, client.getNegotiatedProtocolVersion()];
});
