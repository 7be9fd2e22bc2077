"""The Python SDK. It is asked to do what perform.mjs describes."""

import asyncio
import json
import re
import sys

from mcp import Client, StdioServerParameters
from mcp.types import ResourceTemplateReference


async def perform(task):
    server = task.get("url") or StdioServerParameters(command=task["command"], args=task["args"])
    mode = "2026-07-28" if task["mode"] == "modern" else task["mode"]
    async with Client(server, mode=mode) as client:
        saw = {"revision": client.protocol_version}
        saw["tools"] = [tool.name for tool in (await client.list_tools()).tools]
        if task.get("save"):
            saved = await client.call_tool("memory_save", {"text": task["save"]})
            saw["saved"] = saved.content[0].text
        found = await client.call_tool("memory_search", {"query": task["find"]})
        saw["found"] = found.content[0].text
        refused = await client.call_tool("memory_search", {"query": task["find"], "k": 0})
        saw["refused"] = refused.is_error is True
        saw["resources"] = [str(resource.uri) for resource in (await client.list_resources()).resources]
        entry = re.match(r"\[(m\d+)\]", saw["found"])[1]
        read = await client.read_resource(f"memory://entries/{entry}")
        saw["read"] = read.contents[0].text
        prompt = await client.get_prompt("reflect_on", {"topic": task["find"]})
        saw["prompt"] = prompt.messages[0].content.text
        reference = ResourceTemplateReference(uri="memory://entries/{id}")
        completed = await client.complete(reference, {"name": "id", "value": ""})
        saw["completed"] = completed.completion.values
        return saw


print(json.dumps(asyncio.run(perform(json.loads(sys.argv[1])))))
