// What each TypeScript client does. The task is the JSON object in the first argument:
//
//   command, args, or url   the server
//   mode                    legacy, auto or modern
//   save                    a text to save; nothing is saved without it
//   find                    what to search for
//
// What the client saw is printed as one JSON object. ../clients.py judges it.

export async function perform(connect) {
  const task = JSON.parse(process.argv[2]);
  const [client, revision] = await connect(task);
  const saw = { revision };
  saw.tools = (await client.listTools()).tools.map((tool) => tool.name);
  if (task.save) {
    const saved = await client.callTool({ name: "memory_save", arguments: { text: task.save } });
    saw.saved = saved.content[0].text;
  }
  const found = await client.callTool({ name: "memory_search", arguments: { query: task.find } });
  saw.found = found.content[0].text;
  const refused = await client.callTool({ name: "memory_search", arguments: { query: task.find, k: 0 } });
  saw.refused = refused.isError === true;
  saw.resources = (await client.listResources()).resources.map((resource) => resource.uri);
  const [, id] = /^\[(m\d+)\]/.exec(saw.found) ?? [];
  const read = await client.readResource({ uri: `memory://entries/${id}` });
  saw.read = read.contents[0].text;
  const prompt = await client.getPrompt({ name: "reflect_on", arguments: { topic: task.find } });
  saw.prompt = prompt.messages[0].content.text;
  const ref = { type: "ref/resource", uri: "memory://entries/{id}" };
  const completed = await client.complete({ ref, argument: { name: "id", value: "" } });
  saw.completed = completed.completion.values;
  await client.close();
  console.log(JSON.stringify(saw));
}
