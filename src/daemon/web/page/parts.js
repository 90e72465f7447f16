/** Parts that several views have. */

import { el } from "./dom.js";
import { ago, firstLine, when } from "./format.js";

/** What the states of a memory mean. */
const STATES = {
  fresh: "the code that it is about is unchanged",
  drifted: "the code that it is about has changed",
  orphaned: "the code that it is about is gone",
};

/** Returns the state of a memory with anchors. */
export function stateMark(state) {
  return state ? el("span", { class: "mark state " + state, title: STATES[state] }, state) : null;
}

/** Returns what a reader of a memory must know of it: the state of its code, and what its file is. */
export function memoryMarks({ state, trust, scope, repository, conflict }) {
  return [
    stateMark(state),
    scope === "team" && el("span", { class: "mark", title: "the team has it" }, "team"),
    repository && el("span", { class: "mark", title: "it belongs to another repository of the team, and is changed there" }, "of " + repository),
    trust === "team" && el("span", { class: "mark", title: "another member of the team wrote it, and nobody here has confirmed it" }, "not confirmed"),
    trust === "repo" && el("span", { class: "mark", title: "it came with a file, and nobody here has confirmed what it says" }, "not confirmed"),
    conflict && el("span", { class: "mark", title: "git could not merge its file; `memo resolve` ends it" }, "conflict: " + conflict),
  ];
}

/** Returns tags that lead to the memories that have them. */
export function tagLinks(tags, after = "") {
  return tags.length === 0 ? [] : [...tags.map((tag) => [el("a", { class: "tag", href: "#/memories?" + new URLSearchParams({ tag }) }, "#" + tag), " "]), after];
}

/** Returns how long ago a time was, and on pointing at it when. */
export function time(at, before = "") {
  return el("time", { datetime: at, title: when(at) }, before + ago(at));
}

/** Returns the name of a memory: its title, or its first line. */
export function nameOf(memory) {
  return memory.title || memory.line || firstLine(memory.content ?? "") || memory.id;
}

/** Returns a link to a memory. */
export function memoryLink(memory, attributes = {}) {
  return el("a", { href: "#/memory/" + encodeURIComponent(memory.id), ...attributes }, nameOf(memory));
}

/** Returns the place of an anchor as it is typed, where it is now. */
export function anchorTarget(anchor) {
  if (anchor.now) return anchor.now;
  if (anchor.symbol) return anchor.path + "#" + anchor.symbol;
  return anchor.lines ? anchor.path + ":" + anchor.lines.join("-") : anchor.path;
}

/** The views about memories, with their links. */
const TABS = [
  ["memories", "List"],
  ["drift", "Drift"],
  ["duplicates", "Duplicates"],
  ["contradictions", "Contradictions"],
  ["tags", "Tags"],
];

/** Returns the heading of the views about memories, with links to the others. */
export function memoryTabs(current, counts = {}) {
  const links = TABS.map(([name, label]) =>
    el("a", { href: "#/" + name, "aria-current": name === current && "page" }, label,
      counts[name] ? el("span", { class: "count" }, counts[name]) : null));
  return el("div", { class: "tabs" },
    el("h1", { tabindex: -1, class: "unseen" }, "Memories: " + TABS.find(([name]) => name === current)[1].toLowerCase()),
    el("nav", { "aria-label": "Memories" }, links),
    el("a", { class: "button", href: "#/add", "aria-keyshortcuts": "a" }, "Add"));
}

/** Returns links to the pages before and after, and the keys for them. */
export function pager({ offset, limit, total, to, context, what }) {
  if (total <= limit && offset === 0) return null;
  const first = total === 0 ? 0 : offset + 1;
  const last = Math.min(offset + limit, total);
  const before = offset > 0 ? to(Math.max(0, offset - limit)) : null;
  const after = last < total ? to(offset + limit) : null;
  context.keys({ p: before && (() => (location.hash = before)), n: after && (() => (location.hash = after)) });
  const link = (href, label, key) => (href ? el("a", { class: "button", href, "aria-keyshortcuts": key }, label) : el("span", { class: "button off" }, label));
  return el("nav", { class: "pager", "aria-label": "Pages" },
    link(before, "Previous", "p"), el("span", null, first.toLocaleString("en") + "–" + last.toLocaleString("en") + " of " + total.toLocaleString("en") + " " + what), link(after, "Next", "n"));
}
