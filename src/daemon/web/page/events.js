/**
 * Tells what happens in the daemon.
 *
 * `/v1/events` sends each event as JSON with its `topic`. A page that nobody sees has no stream, because a browser has few
 * connections for all pages of one server. While there is none, `status` is asked for every five seconds instead, and only
 * if somebody looks at it.
 */

import { call, connection, ping, usedWorktree, watchConnection } from "./api.js";

const TOPICS = ["progress", "memories", "views", "drift", "lost"];
const ADDRESS = "/v1/events?topics=progress,memories,views,drift";
/** How often the status is asked for instead, ms. */
const POLL_MS = 5000;
/** Pause before a stream that was refused is asked for again, ms. The browser itself takes up those that broke off. */
const AGAIN_MS = 10_000;

const listeners = new Map();
let source = null;
let polling = null;
let again = null;
let n_watching = 0;

/** Calls a function with each event of a topic, until the signal. The topic `status` has answers that were asked for instead. */
export function listen(topic, listener, signal) {
  const all = listeners.get(topic) ?? new Set();
  listeners.set(topic, all.add(listener));
  signal?.addEventListener("abort", () => all.delete(listener));
}

function tell(topic, event) {
  for (const listener of listeners.get(topic) ?? []) listener(event);
}

/** Notes that somebody looks at the status, until the signal. */
export function watchStatus(signal) {
  n_watching++;
  poll();
  signal.addEventListener("abort", () => {
    n_watching--;
    poll();
  });
}

/** Whether events come by themselves. */
export const isLive = () => source?.readyState === EventSource.OPEN;

/** Opens the stream of events, in the place of one that was open. */
export function start() {
  stop();
  if (document.visibilityState === "hidden") return;
  const root = usedWorktree();
  source = new EventSource(ADDRESS + (root ? "&cwd=" + encodeURIComponent(root) : ""));
  const take = ({ data }) => {
    try {
      const event = JSON.parse(data);
      tell(event.topic, event);
    } catch {
      // a newer daemon may send what this page does not know
    }
  };
  source.onmessage = take;
  for (const topic of TOPICS) source.addEventListener(topic, take);
  source.onopen = () => {
    poll();
    tell("lost", { topic: "lost", n: 0 });
  };
  source.onerror = () => {
    poll();
    // Why it ended shows in the next answer: the daemon is away, the session is over, or there is no room for a stream.
    if (connection() === "open") ping().catch(() => {});
    if (source?.readyState === EventSource.CLOSED) again ??= setTimeout(start, AGAIN_MS);
  };
}

function stop() {
  clearTimeout(again);
  again = null;
  source?.close();
  source = null;
}

/** Begins or ends to ask for the status. */
function poll() {
  const wanted = n_watching > 0 && !isLive();
  if (!wanted) {
    clearInterval(polling);
    polling = null;
  } else polling ??= setInterval(ask, POLL_MS);
}

async function ask() {
  if (document.visibilityState === "hidden" || connection() !== "open") return;
  try {
    const status = await call("status");
    tell("status", status);
    tell("progress", { topic: "progress", progress: status.progress ?? null });
  } catch {
    // the connection shows it
  }
}

watchConnection((state) => (state === "open" ? start() : stop()));

document.addEventListener("visibilitychange", () => {
  if (document.visibilityState === "hidden") stop();
  else if (connection() === "open") start();
});
