/** Finds which files use a file, and which it uses. */

import { atMost, call } from "./api.js";

/** Most definitions of a file whose uses of others are asked for. */
const MAX_DEFINITIONS = 24;

const kept = new Map();

/** Forgets what was found: the worktree has changed. */
export function forget() {
  kept.clear();
}

/**
 * Returns `{users, used, n_by_name, cut}` of a file: maps from paths to numbers of uses that are proved or likely, and how many
 * other files have only a name in common with it.
 */
export function relationsOf(path, signal) {
  if (!kept.has(path)) {
    const found = find(path, signal);
    kept.set(path, found);
    found.catch(() => kept.delete(path));
  }
  return kept.get(path);
}

async function find(path, signal) {
  const [users, { used, cut }] = await Promise.all([usersOf(path, signal), usedBy(path, signal)]);
  return { ...users, used, cut };
}

async function usersOf(path, signal) {
  const { found } = await call("impact", { target: path, depth: 1, limit: 500, wait_ms: 300 }, { signal });
  const sure = byPath(found.filter(isSure), path);
  return { users: sure, n_by_name: [...byPath(found, path).keys()].filter((other) => !sure.has(other)).length };
}

const isSure = ({ certainty }) => certainty !== "by name";

/** Asks for each definition, because the uses of a whole file cannot be asked for. */
async function usedBy(path, signal) {
  const { items } = await call("outline", { target: path, limit: 200, wait_ms: 300 }, { signal });
  const titles = [...new Set(items.map(({ title }) => title))];
  const questions = titles.slice(0, MAX_DEFINITIONS).map((title) => async () => {
    try {
      return (await call("callees", { target: path + "#" + title, limit: 100, wait_ms: 300 }, { signal })).found;
    } catch (error) {
      if (signal.aborted || error.status === 0) throw error;
      return []; // what calls nothing, or cannot
    }
  });
  const found = await atMost(3, questions);
  return { used: byPath(found.flat().filter(isSure), path), cut: titles.length > MAX_DEFINITIONS ? MAX_DEFINITIONS : null };
}

function byPath(found, own) {
  const paths = new Map();
  for (const { path } of found) if (path !== own) paths.set(path, (paths.get(path) ?? 0) + 1);
  return new Map([...paths].sort((a, b) => b[1] - a[1]));
}
