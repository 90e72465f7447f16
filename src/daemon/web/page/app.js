/** Opens the session, and shows the view that the address names. */

import * as api from "./api.js";
import * as code from "./code.js";
import { button, el, failure, replace } from "./dom.js";
import * as drift from "./drift.js";
import * as events from "./events.js";
import { number, progressText } from "./format.js";
import { watchKeys } from "./keys.js";
import * as map from "./map.js";
import * as memories from "./memories.js";
import * as memory from "./memory.js";
import * as pairs from "./pairs.js";
import * as search from "./search.js";
import * as status from "./status.js";

/** Views by the first word of the address, and the entry of the menu that each belongs to. */
const VIEWS = {
  search: [search.show, "search"],
  code: [code.show, "search"],
  memories: [memories.show, "memories"],
  tags: [memories.showTags, "memories"],
  drift: [drift.show, "memories"],
  duplicates: [pairs.showDuplicates, "memories"],
  contradictions: [pairs.showContradictions, "memories"],
  memory: [memory.show, "memories"],
  add: [memory.showAdd, "memories"],
  map: [map.show, "map"],
  status: [status.show, "status"],
};

const byId = (id) => document.getElementById(id);
const main = byId("main");

/** What the view that is shown does with keys, and what ends with it. */
let shown = { keys: {}, stop: new AbortController() };

/** Returns the view, the rest of the path and the query that a hash names. */
function parse(hash) {
  const [path, query = ""] = hash.replace(/^#\/?/, "").split(/\?(.*)/s);
  const [name, ...rest] = path.split("/");
  let arg = rest.join("/");
  try {
    arg = decodeURIComponent(arg);
  } catch {
    // what is no encoding is taken as it is
  }
  return { name: name || "search", arg, query: new URLSearchParams(query) };
}

/** Says something to who does not see the page. */
function say(text) {
  replace(byId("said"), text);
}

/** Shows the view of the address. `keepFocus` is for what was shown before and is only made anew. */
async function route({ keepFocus = false } = {}) {
  const { name, arg, query } = parse(location.hash);
  const [show, entry] = VIEWS[name] ?? VIEWS.search;
  shown.stop.abort();
  const stop = new AbortController();
  shown = { keys: {}, stop };
  for (const link of document.querySelectorAll("nav[aria-label=Views] a")) {
    const isCurrent = link.getAttribute("href") === "#/" + entry;
    isCurrent ? link.setAttribute("aria-current", "page") : link.removeAttribute("aria-current");
  }
  const place = el("div", { class: "view view-" + (VIEWS[name] ? name : "search") });
  replace(main, place);
  api.forgetCaveats();
  const context = {
    arg, query, say, signal: stop.signal,
    /** Names the view in the title of the window. */
    title: (text) => (document.title = text + " · memod"),
    /** Adds keys of this view: `{key: act}`. */
    keys: (keys) => Object.assign(shown.keys, keys),
    again: () => route({ keepFocus: true }),
  };
  if (!keepFocus) scrollTo(0, 0);
  try {
    const focused = show(place, context);
    // A view that focuses nothing itself is read from its heading on.
    if (!keepFocus && document.activeElement === document.body) place.querySelector("h1")?.focus({ preventScroll: true });
    await focused;
    if (!keepFocus && document.activeElement === document.body && !stop.signal.aborted) {
      place.querySelector("h1")?.focus({ preventScroll: true });
    }
  } catch (error) {
    if (stop.signal.aborted) return;
    if (api.connection() !== "open") return; // the line above says so
    if (!(error instanceof api.ApiError)) console.error(error);
    place.querySelectorAll(".loading").forEach((loading) => loading.remove());
    place.append(failure(error));
  }
}

/** Says whether the daemon answers, and what can be done. */
function showConnection(state, before) {
  const line = byId("connection");
  line.className = state;
  const words = {
    open: [],
    lost: [el("strong", null, "The daemon does not answer."), " This page looks for it every two seconds. If it has ended, ",
      el("code", null, "memo serve"), " starts it; open the address that it prints."],
    closed: [el("strong", null, "This page has no session."), " Its daemon was started again, or the address had no token. Run ",
      el("code", null, "memo serve"), " in the repository, and open the address that it prints."],
  };
  replace(line, words[state]);
  if (state !== "open") showFreshness(null);
  else if (before && before !== "open") {
    say("The daemon answers again.");
    refresh();
    // What somebody is writing stays.
    if (main.querySelector("form.editing")) {
      replace(line, "The daemon answers again. What you were writing is still here. ", button("Dismiss", () => replace(line)));
    } else route({ keepFocus: true });
  }
}

/** Says why what is shown may be old. */
function showCaveats(reasons) {
  replace(byId("caveats"), reasons.length > 0 && "Not up to date: " + reasons.join("; "));
}

/** Shows in a word whether the index is as the worktree is. */
function showFreshness(status, progress = status?.progress) {
  const link = byId("freshness");
  if (!status && !progress) return replace(link, api.connection() === "open" ? "" : "not connected");
  const view = status?.views.find((view) => view.root === status.worktree);
  const state = progress ? "busy" : view?.fresh ? "fresh" : "waiting";
  link.className = state;
  const words = { fresh: "up to date", waiting: "not up to date", busy: progress && progressText(progress) };
  return replace(link, words[state]);
}

/** Asks for the status once, for what stands above all views. */
async function refresh() {
  try {
    const status = await statusOfShown();
    showFreshness(status);
    showPlace(status);
  } catch {
    // the connection shows it
  }
}

/** Returns the status of the worktree that is shown; of that of `memo serve`, if it is not there any more. */
async function statusOfShown() {
  try {
    return await api.call("status");
  } catch (error) {
    if (!api.usedWorktree() || api.connection() !== "open") throw error;
    api.useWorktree(null);
    events.start();
    return api.call("status");
  }
}

/** Names the repository; with several worktrees, one can be chosen. */
function showPlace(status) {
  const name = (path) => path.split(/[\\/]/).filter(Boolean).pop() ?? path;
  const roots = status.views.map((view) => view.root);
  if (roots.length < 2) return replace(byId("place"), el("span", { title: status.worktree }, name(status.worktree)));
  api.useWorktree(status.worktree);
  const choose = (event) => {
    api.useWorktree(event.target.value);
    events.start();
    refresh();
    route({ keepFocus: true });
  };
  const options = roots.map((root) => el("option", { value: root, title: root }, name(root)));
  return replace(byId("place"), el("select", { "aria-label": "Worktree", value: status.worktree, change: choose }, options));
}

/** Takes the token out of an address, and opens a session with it. */
async function takeToken() {
  const token = new URLSearchParams(location.hash.slice(1)).get("token");
  if (!token) return false;
  history.replaceState(null, "", location.pathname + "#/search");
  await api.openSession(token);
  return true;
}

async function begin() {
  api.watchConnection(showConnection);
  api.watchCaveats(showCaveats);
  watchKeys(() => shown.keys);
  events.listen("progress", ({ worktree, progress }) => {
    if (!api.isOther(worktree)) progress ? showFreshness(null, progress) : refresh();
  });
  events.listen("views", refresh);
  events.listen("status", (status) => showFreshness(status));
  events.listen("lost", refresh);
  byId("skip").addEventListener("click", (event) => {
    event.preventDefault();
    main.focus();
  });
  addEventListener("hashchange", async () => {
    try {
      if (await takeToken()) await refresh();
    } catch {
      return; // the connection shows it
    }
    route();
  });
  try {
    await takeToken();
  } catch (error) {
    replace(main, failure(error));
    return;
  }
  await refresh();
  events.start();
  await route();
}

begin();
