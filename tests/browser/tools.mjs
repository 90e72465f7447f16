// Installs what drives the browser, and finds the browser.

import { spawnSync } from "node:child_process";
import { accessSync, constants, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { delimiter, join } from "node:path";

const VERSIONS = { "playwright-core": "1.65.1", "axe-core": "4.14.1" };

/** Says that nothing was checked, so that nobody takes that for a pass. */
export function notChecked(why) {
  console.error(`\n${"!".repeat(78)}\nNOT CHECKED: the dashboard was not tested in a browser.\n${why}\n${"!".repeat(78)}`);
  process.exit(3);
}

export function findBrowser(wanted) {
  const names = wanted ? [wanted] : ["chromium", "chromium-browser", "google-chrome"];
  const dirs = process.env.PATH.split(delimiter);
  const candidates = names.flatMap((name) => (name.includes("/") ? [name] : dirs.map((dir) => join(dir, name))));
  const found = candidates.find((path) => {
    try {
      accessSync(path, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
  return found ?? notChecked(`No browser: ${names.join(", ")}. On Debian: apt-get install chromium`);
}

/** Returns `{chromium, axe}`: what starts a browser, and the text of axe. */
export function install(dir) {
  mkdirSync(dir, { recursive: true });
  const require = createRequire(join(dir, "package.json"));
  const version = (name) => {
    const path = join(dir, "node_modules", name, "package.json");
    return existsSync(path) ? JSON.parse(readFileSync(path, "utf8")).version : null;
  };
  if (Object.entries(VERSIONS).some(([name, wanted]) => version(name) !== wanted)) {
    writeFileSync(join(dir, "package.json"), JSON.stringify({ private: true }));
    const packages = Object.entries(VERSIONS).map(([name, version]) => `${name}@${version}`);
    const npm = spawnSync("npm", ["install", "--no-audit", "--no-fund", "--ignore-scripts", ...packages], { cwd: dir, encoding: "utf8" });
    if (npm.status !== 0) notChecked(`npm cannot install ${packages.join(" and ")}:\n${npm.error?.message ?? npm.stderr}`);
  }
  return { chromium: require("playwright-core").chromium, axe: readFileSync(require.resolve("axe-core/axe.min.js"), "utf8") };
}
