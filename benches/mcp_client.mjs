// Drives `memo mcp` with the TypeScript SDK; run by mcp_clients.py in the folder that has node_modules.
//
// Prints `ok WHAT` or `BAD WHAT: WHY` for each tool, prompt and resource. The SDK itself validates structured content.
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const require = createRequire(join(process.cwd(), "package.json"));
const load = (name) => import(pathToFileURL(require.resolve(name)).href);
const { Client } = await load("@modelcontextprotocol/sdk/client/index.js");
const { StdioClientTransport } = await load("@modelcontextprotocol/sdk/client/stdio.js");

const [memo, root, profile, calls] = process.argv.slice(2);
const client = new Client({ name: "check", version: "0" });
await client.connect(new StdioClientTransport({ command: memo, args: ["-C", root, "mcp", "--profile", profile] }));

async function check(what, run) {
  try {
    const why = await run();
    console.log(why ? `BAD ${what}: ${why}` : `ok ${what}`);
  } catch (error) {
    console.log(`BAD ${what}: ${String(error).replaceAll("\n", " ")}`);
  }
}

const given = JSON.parse(calls);
const { tools } = await client.listTools();
const order = Object.keys(given);
tools.sort((a, b) => order.indexOf(a.name) - order.indexOf(b.name));
for (const tool of tools) {
  await check(tool.name, async () => {
    const result = await client.callTool({ name: tool.name, arguments: given[tool.name] });
    return result.isError || !result.structuredContent ? JSON.stringify(result.content) : "";
  });
}
for (const prompt of (await client.listPrompts()).prompts) {
  await check(`prompt ${prompt.name}`, async () => {
    const wanted = Object.fromEntries((prompt.arguments ?? []).map((argument) => [argument.name, "tokens"]));
    return (await client.getPrompt({ name: prompt.name, arguments: wanted })).messages.length === 1 ? "" : "no message";
  });
}
for (const resource of (await client.listResources()).resources) {
  await check(resource.uri, async () => ((await client.readResource({ uri: resource.uri })).contents[0].text ? "" : "empty"));
}
await check("templates", async () => ((await client.listResourceTemplates()).resourceTemplates.length === 2 ? "" : "not two"));
await client.close();
