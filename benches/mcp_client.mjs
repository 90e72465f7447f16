// Drives `memo mcp` with a TypeScript SDK; run by mcp_clients.py in the folder that has node_modules.
//
// MODE is `sdk` for the package @modelcontextprotocol/sdk, and `legacy`, `auto` or a version for @modelcontextprotocol/client.
// Prints `ok WHAT` or `BAD WHAT: WHY` for each tool, prompt and resource. The SDKs themselves validate structured content.
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const require = createRequire(join(process.cwd(), "package.json"));
const load = (name) => import(pathToFileURL(require.resolve(name)).href);

const [memo, root, profile, mode, calls] = process.argv.slice(2);
const isOld = mode === "sdk";
const { Client } = await load(isOld ? "@modelcontextprotocol/sdk/client/index.js" : "@modelcontextprotocol/client");
const { StdioClientTransport } = await load(isOld ? "@modelcontextprotocol/sdk/client/stdio.js" : "@modelcontextprotocol/client/stdio");

const versionNegotiation = { mode: mode === "legacy" || mode === "auto" ? mode : { pin: mode } };
const client = new Client({ name: "check", version: "0" }, isOld ? {} : { versionNegotiation });
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
