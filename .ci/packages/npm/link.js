// Puts the binaries in the place of the scripts that would start them, which saves the start of node at every call.
// Where that is not possible, or scripts of packages are switched off, the scripts remain and work.
"use strict";
const fs = require("node:fs");
const path = require("node:path");
const { binary } = require("./binary.js");

// npm on Windows reads the first line of the scripts to make its .cmd files.
const names = process.platform === "win32" ? [] : ["memod", "memo"];
for (const name of names) {
  const program = binary(name);
  const script = path.join(__dirname, "bin", name);
  const beside = `${script}.new`;
  try {
    fs.rmSync(beside, { force: true });
    fs.linkSync(program, beside);
    fs.renameSync(beside, script);
  } catch {
    break;
  }
}
