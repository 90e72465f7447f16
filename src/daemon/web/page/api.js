/** Sends requests to the daemon, and knows whether it answers. */

/** Longest answer that is read, bytes: a browser that parses more stands still. */
const MAX_ANSWER_BYTES = 32 * 2 ** 20;
/** How often a daemon that does not answer is asked for, ms. */
const RETRY_MS = 2000;
/** How often a request that the daemon has no room for is sent again. */
const MAX_BUSY = 3;

/** A request that failed, with the words of the daemon. */
export class ApiError extends Error {
  constructor(status, code, message, hint = null) {
    super(message);
    Object.assign(this, { status, code, hint });
  }
}

/** What the page knows of its daemon: `open`, `lost` while it does not answer, `closed` without a session. */
let state = "open";
const watchers = new Set();
let retrying = null;
let worktree = null;

/** Calls a function with the state and the one before, whenever it changes. */
export function watchConnection(watcher) {
  watchers.add(watcher);
}

export const connection = () => state;

function become(next) {
  if (state === next) return;
  const before = state;
  state = next;
  if (next === "lost") retrying ??= setInterval(retry, RETRY_MS);
  else {
    clearInterval(retrying);
    retrying = null;
  }
  for (const watcher of watchers) watcher(next, before);
}

/** Asks whether the daemon is back. Its health needs no session, and does not keep it running. */
async function retry() {
  if (document.visibilityState === "hidden") return;
  try {
    const health = await fetch("/health", { cache: "no-store" });
    await health.text(); // the request ends with it
    if (!health.ok) return;
    await ping();
    become("open");
  } catch {
    // it is still away, or `call` has noted that the session is over
  }
}

/** Asks the daemon something that costs nothing, to learn whether it answers. */
export const ping = () => call("complete", { what: "lang" });

/** Makes all requests mean this worktree; null is that of `memo serve`. */
export function useWorktree(root) {
  worktree = root;
}

export const usedWorktree = () => worktree;

/** Whether an event is of a worktree that is not shown. */
export const isOther = (root) => Boolean(root && worktree && root !== worktree);

/** Methods whose views say beside the answer why it may be old. */
const SAY_THEMSELVES = ["complete", "map", "memory.list", "search"];
/** Why other answers of the view may be old, by method. */
const caveats = new Map();
let tellCaveats = () => {};

/** Calls a function with the reasons why answers of the view may be old, whenever they change. */
export function watchCaveats(watcher) {
  tellCaveats = watcher;
}

/** Forgets what was said of answers, when another view is shown. */
export function forgetCaveats() {
  caveats.clear();
  tellCaveats([]);
}

function noteCaveats(method, answer) {
  if (typeof answer?.fresh !== "boolean" || SAY_THEMSELVES.includes(method)) return;
  const reason = answer.fresh ? undefined : answer.reason ?? "the index is behind";
  if (caveats.get(method) === reason) return;
  reason ? caveats.set(method, reason) : caveats.delete(method);
  tellCaveats([...new Set(caveats.values())]);
}

/** Opens a session with the token of an address. */
export async function openSession(token) {
  await call("session", {}, { headers: { Authorization: "Bearer " + token } });
  become("open");
}

/** Runs a method of the daemon and returns its answer. What fails is an `ApiError`, except that a signal aborted it. */
export async function call(method, params = {}, { signal, headers } = {}) {
  const body = JSON.stringify(worktree && method !== "session" ? { cwd: worktree, ...params } : params);
  const request = { method: "POST", headers: { "Content-Type": "application/json", ...headers }, body, signal };
  for (let n = 1; ; n++) {
    let response, answer;
    try {
      response = await fetch("/v1/" + method, request);
      answer = response.status === 204 ? null : await read(response);
    } catch (error) {
      if (error.name === "AbortError" || error instanceof ApiError) throw error;
      become("lost");
      throw new ApiError(0, "lost", "the daemon does not answer");
    }
    if (response.ok) {
      noteCaveats(method, answer);
      return answer;
    }
    if (response.status === 503 && n < MAX_BUSY) {
      await pause(Number(response.headers.get("Retry-After") ?? 1) * 1000, signal);
      continue;
    }
    if (response.status === 401 || response.status === 429) become("closed");
    const { code, message, hint } = answer?.error ?? { code: "unknown", message: "status " + response.status };
    throw new ApiError(response.status, code, message, hint);
  }
}

/** Reads an answer as JSON, but not one that never ends. */
async function read(response) {
  const tooLong = () => new ApiError(413, "too-large", "the answer is longer than 32 MiB, which this page does not read", "ask for less; `memo --json` has all of it");
  if (Number(response.headers.get("Content-Length") ?? 0) > MAX_ANSWER_BYTES) {
    await response.body?.cancel();
    throw tooLong();
  }
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let text = "";
  for (let n_bytes = 0; ; ) {
    const { done, value } = await reader.read();
    if (done) break;
    n_bytes += value.length;
    if (n_bytes > MAX_ANSWER_BYTES) {
      await reader.cancel();
      throw tooLong();
    }
    text += decoder.decode(value, { stream: true });
  }
  try {
    return JSON.parse(text + decoder.decode());
  } catch {
    throw new ApiError(response.status, "unknown", "the answer is not JSON");
  }
}

function pause(ms, signal) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal?.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}

/** Runs tasks, at most so many at a time, and returns their results in order. */
export async function atMost(n, tasks) {
  const results = [];
  let next = 0;
  const work = async () => {
    while (next < tasks.length) {
      const i = next++;
      results[i] = await tasks[i]();
    }
  };
  await Promise.all(Array.from({ length: Math.min(n, tasks.length) }, work));
  return results;
}
