#!/usr/bin/env node
// Counts the tokens of what `memo mcp` says about itself, with the tokenizers of two vendors.
//
//   npm install gpt-tokenizer @anthropic-ai/tokenizer
//   node benches/mcp_tokens.mjs target/release/memo
//
// The tools are counted as clients give them to a model (name, description, input schema), and as they cross the wire
// (with output schemas and annotations). The tokenizer of Anthropic's package is that of Claude 2; later ones are not public.
import { spawn } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRequire } from "node:module";

// Packages are looked for where the command is run, not beside this file.
const require = createRequire(join(process.cwd(), "package.json"));
const { encode } = require("gpt-tokenizer/encoding/o200k_base");
const { countTokens } = require("@anthropic-ai/tokenizer");

const MOST_TOKENS = 500;
const memo = process.argv[2] ?? "memo";

function ask(profile) {
  const requests = [
    { id: 1, method: "initialize", params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "count", version: "0" } } },
    { id: 2, method: "tools/list" },
  ];
  return new Promise((resolve, reject) => {
    const server = spawn(memo, ["mcp", "--profile", profile], { cwd: mkdtempSync(join(tmpdir(), "mcp-")), stdio: ["pipe", "pipe", "inherit"] });
    let said = "";
    server.stdout.on("data", (data) => (said += data));
    server.on("error", reject);
    server.on("close", () => resolve(said.trim().split("\n").map((line) => JSON.parse(line).result)));
    server.stdin.end(requests.map((request) => JSON.stringify({ jsonrpc: "2.0", ...request }) + "\n").join(""));
  });
}

let failed = false;
const count = (what, text) => {
  const [openai, anthropic] = [encode(text).length, countTokens(text)];
  console.log(`${what}\t${text.length} characters\to200k_base ${openai}\tanthropic ${anthropic}`);
  return Math.max(openai, anthropic);
};
for (const profile of ["default", "full"]) {
  const [info, { tools }] = await ask(profile);
  const given = tools.map((tool) => ({ name: tool.name, description: tool.description, input_schema: tool.inputSchema }));
  const tokens = count(`${profile}: ${tools.length} tools, as given to a model`, JSON.stringify(given));
  failed ||= profile === "default" && tokens > MOST_TOKENS;
  count(`${profile}: the wire's list`, JSON.stringify(tools));
  count("instructions", info.instructions);
}
if (failed) {
  console.error(`the default list is over ${MOST_TOKENS} tokens`);
  process.exit(1);
}
