// The TypeScript SDK, version 1. See perform.mjs for what it is asked to do.

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

import { perform } from "./perform.mjs";

await perform(async ({ command, args, url }) => {
  const client = new Client({ name: "sdk-v1", version: "1" });
  const transport = url
    ? new StreamableHTTPClientTransport(new URL(url))
    : new StdioClientTransport({ command, args });
  // It tells what was negotiated to the transport only.
  let revision = "";
  const { setProtocolVersion } = transport;
  transport.setProtocolVersion = (version) => {
    revision = version;
    setProtocolVersion?.call(transport, version);
  };
  await client.connect(transport);
  return [client, revision];
});
