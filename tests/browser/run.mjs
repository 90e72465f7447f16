// Tests the dashboard in a real browser; see README.md.

import { mkdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";

import { Browser } from "./browser.mjs";
import access from "./checks/access.mjs";
import events from "./checks/events.mjs";
import keyboard from "./checks/keyboard.mjs";
import large from "./checks/large.mjs";
import restart from "./checks/restart.mjs";
import views from "./checks/views.mjs";
import writing from "./checks/writing.mjs";
import { Fixture } from "./fixture.mjs";
import { findBrowser, install } from "./tools.mjs";

/** In this order: what changes memories comes after what only reads them, what kills the daemon last. */
const CHECKS = [views, access, keyboard, writing, events, large, restart].flat();

function options() {
  try {
    const { values } = parseArgs({
      options: {
        memo: { type: "string", default: "target/debug/memo" }, shots: { type: "string" }, only: { type: "string", multiple: true },
        chromium: { type: "string" }, tools: { type: "string", default: join(tmpdir(), "memod-browser-tools") }, page: { type: "string" },
      },
    });
    return values;
  } catch (error) {
    console.error(`${error.message}\ntests/browser/README.md lists the options`);
    process.exit(2);
  }
}

async function begin(memo) {
  const fixture = new Fixture(resolve(memo));
  try {
    fixture.makeRepository();
    fixture.serve();
    await fixture.call("sync", { sync: "full", wait_ms: 60_000 });
    await fixture.makeMemories();
    return fixture;
  } catch (error) {
    fixture.end();
    console.error(`the repository cannot be made: ${error.message}`);
    process.exit(2);
  }
}

const { memo, shots, only, chromium: wanted, tools, page } = options();
const executablePath = findBrowser(wanted);
const { chromium, axe } = install(resolve(tools));
if (shots) mkdirSync(shots, { recursive: true });
const fixture = await begin(memo);
// No name but that of this computer has an address: what would come from elsewhere does not come.
const started = await chromium.launch({ executablePath, args: ["--no-sandbox", "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1"] });
const browser = new Browser(started, axe, fixture, page);
let n_failed = 0;
const say = (line) => console.log(line);
for (const check of CHECKS) {
  const name = check.name.replaceAll("_", " ");
  if (only && !only.some((word) => name.includes(word))) continue;
  const [from, n_problems] = [Date.now(), browser.problems.length];
  let why = null;
  try {
    await check({ browser, fixture, shots, say });
    why = browser.problems.slice(n_problems).join("\n     ") || null;
  } catch (error) {
    why = [error.stack.split("\n").slice(0, 4).join("\n     "), ...browser.problems.slice(n_problems)].join("\n     ");
  }
  n_failed += why ? 1 : 0;
  say(`${why ? "FAIL" : "ok  "} ${name} (${((Date.now() - from) / 1000).toFixed(1)} s)${why ? `\n     ${why}` : ""}`);
}
await started.close();
fixture.end();
say(n_failed === 0 ? "all checks pass" : `${n_failed} failed`);
process.exit(n_failed === 0 ? 0 : 1);
