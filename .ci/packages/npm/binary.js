// Finds the binaries in the package of this platform.
"use strict";
const path = require("node:path");

const platform = `${process.platform}-${process.arch}`;

exports.binary = (name) => {
  const file = name + (process.platform === "win32" ? ".exe" : "");
  try {
    return path.join(path.dirname(require.resolve(`@memod/${platform}/package.json`)), "bin", file);
  } catch {
    return null;
  }
};

exports.missing =
  `memod: the package @memod/${platform} is not installed\n` +
  "install memod without --omit=optional; a platform without a package needs `cargo install memod`";
