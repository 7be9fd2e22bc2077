// The memory under Node.js, through jco. Usage: node node.mjs TRANSPILED/memory.js DIRECTORY save TEXT | search QUERY
//
// One process at a time may use a store: see docs/reuse.md.

import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import path from "node:path";

const [file, directory, action, words] = process.argv.slice(2);
const program = path.resolve(file);

// The copy of the WASI shim that the transpiled component itself will find.
const resolve = createRequire(program).resolve;
const load = (name) => import(pathToFileURL(resolve(name)));
const { filesystem } = await load("@bytecodealliance/preview2-shim");
const { WASIShim } = await load("@bytecodealliance/preview2-shim/instantiation");

// Rust's standard library asks for the right to change directories with everything that it opens for writing, and the
// shim refuses whoever asks for it. On a file that right means nothing.
const { Descriptor } = filesystem.types;
const openAt = Descriptor.prototype.openAt;
Descriptor.prototype.openAt = function (pathFlags, name, openFlags, flags) {
  return openAt.call(this, pathFlags, name, openFlags, { ...flags, mutateDirectory: false });
};

const { instantiate } = await import(pathToFileURL(program));
const sandbox = { preopens: { "/data": path.resolve(directory) }, env: {}, args: [], enableNetwork: false };
const memory = await instantiate(null, new WASIShim({ sandbox }).getImportObject());

memory.server.configure(JSON.stringify({ settings: {}, directories: [{ name: "data", readOnly: false }] }));
while (!memory.maintenance.open(250)) {
  // There is more to load.
}

const context = {
  protocolVersion: "2026-07-28",
  clientCapabilities: {},
  declaredCapabilities: "{}",
  session: `node-${process.pid}`,
  progress: false,
  deadlineMs: 10_000n,
};
const [tool, args] = action === "save" ? ["memory_save", { text: words }] : ["memory_search", { query: words }];
const outcome = memory.tools.call(context, tool, JSON.stringify(args), undefined);
if (outcome.tag !== "complete") {
  throw new Error(`${tool} needs something that is not offered here`);
}
console.log(outcome.val.content[0].body.val);
process.exitCode = outcome.val.isError ? 1 : 0;
