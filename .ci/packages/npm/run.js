// Runs a binary in the place of this process, with its arguments, streams and exit status.
"use strict";
const { spawnSync } = require("node:child_process");
const { binary, missing } = require("./binary.js");

exports.run = (name) => {
  const program = binary(name);
  if (program === null) {
    console.error(missing);
    process.exit(1);
  }
  const ended = spawnSync(program, process.argv.slice(2), { stdio: "inherit" });
  if (ended.error) {
    console.error(`memod: ${program} cannot be run: ${ended.error.message}`);
    process.exit(1);
  }
  if (ended.signal) {
    process.kill(process.pid, ended.signal);
  }
  process.exit(ended.status ?? 1);
};
