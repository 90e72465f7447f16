/** Lists memories, by pages, filters, and when they were added; and their tags. */

import { call } from "./api.js";
import { arrows, button, el, focusOn, replace } from "./dom.js";
import * as events from "./events.js";
import { count, firstLine, number } from "./format.js";
import { memoryLink, memoryMarks, memoryTabs, nameOf, pager, tagLinks, time } from "./parts.js";
import { timeline } from "./timeline.js";

const LIMIT = 50;
/** Tags that are shown before one types a part of their names. */
const MAX_TAGS = 400;

/** Which memory was opened last: Back leads to it. */
let opened = null;

/** Returns the filter that an address means. */
function filterOf(query) {
  const filter = { sort: query.get("sort") ?? "created" };
  for (const name of ["container", "tier", "match", "source", "author"]) if (query.get(name)) filter[name] = query.get(name);
  for (const name of ["since", "until"]) if (query.get(name)) filter[name] = query.get(name);
  if (query.get("tag")) filter.tags = query.getAll("tag");
  if (query.get("state")) filter.state = query.getAll("state");
  if (query.get("about")) filter.about = query.getAll("about");
  if (query.get("archived")) filter.archived = true;
  return filter;
}

export async function show(root, context) {
  const { query, signal, say } = context;
  context.title("Memories");
  const filter = filterOf(query);
  const offset = Math.max(0, Number(query.get("from")) || 0);
  const with_ = (changes) => {
    const next = new URLSearchParams(query);
    for (const [name, value] of Object.entries({ from: null, ...changes })) value ? next.set(name, value) : next.delete(name);
    return "#/memories" + (next.toString() ? "?" + next : "");
  };
  const told = el("p", { class: "told", role: "status" });
  const list = el("ol", { class: "memories", "aria-label": "Memories" });
  const pages = el("div");
  const times = el("div", { class: "times" });
  replace(root, memoryTabs("memories"), await toolbar(query, with_, signal), times, told, list, pages);
  const load = async () => {
    const answer = await call("memory.list", { ...filter, limit: LIMIT, offset }, { signal });
    const { memories, total, fresh, reason, notice } = answer;
    const found = total === 0 ? "No memories" + (isFiltered(query) ? " fit" : " yet") : count(total, filter.archived ? "archived memory" : "memory", filter.archived ? "archived memories" : "memories");
    replace(told, found, fresh === false && el("span", { class: "note" }, "not up to date" + (reason ? ": " + reason : "")), notice && el("span", { class: "note" }, notice));
    replace(list, memories.map((memory) => item(memory, filter.archived, context)));
    replace(pages, pager({ offset, limit: LIMIT, total, to: (from) => with_({ from }), context, what: "memories" }));
  };
  arrows(list, "a.memory");
  list.addEventListener("click", (event) => {
    const link = event.target.closest("a.memory");
    if (link) opened = link.dataset.id;
  });
  context.keys({ c: () => confirmFocused(list, say), e: () => editFocused(list), ArrowDown: () => focusOn(list.querySelector("a.memory")) });
  await load();
  const former = opened && list.querySelector('a[data-id="' + CSS.escape(opened) + '"]');
  if (former) focusOn(former);
  opened = null;
  whenChanged(load, list, signal);
  if (filter.archived) return;
  const stats = await call("memory.stats", {}, { signal });
  const { since, until, sort, ...rest } = filter;
  replace(times, await timeline(rest, stats, (since, until) => with_({ since, until }), signal));
}

/** Loads anew what has changed, unless somebody is reading with the focus in it. */
function whenChanged(load, list, signal) {
  let timer = null;
  const later = () => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      if (!signal.aborted && !list.contains(document.activeElement)) load().catch(() => {});
    }, 500);
  };
  for (const topic of ["memories", "drift", "lost"]) events.listen(topic, later, signal);
}

function isFiltered(query) {
  return [...query.keys()].some((name) => name !== "sort" && name !== "from");
}

/** Returns the fields that narrow the list. */
async function toolbar(query, with_, signal) {
  const { names: containers } = await call("memory.containers", {}, { signal });
  const go = (name) => (event) => (location.hash = with_({ [name]: event.target.value }));
  const choice = (name, label, options) =>
    el("label", null, el("span", null, label), el("select", { name, value: query.get(name) ?? "", change: go(name) },
      options.map(([value, text]) => el("option", { value }, text))));
  const field = el("input", { type: "search", name: "match", value: query.get("match") ?? "", placeholder: "all of these words", "aria-label": "Words", change: go("match") });
  const set = [...query].filter(([name]) => ["tag", "since", "until", "about", "source", "author"].includes(name));
  return el("form", { class: "toolbar", "aria-label": "Filter", submit: (event) => event.preventDefault() },
    el("label", null, el("span", null, "Words"), field),
    choice("state", "State", [["", "any"], ["fresh", "fresh"], ["drifted", "drifted"], ["orphaned", "orphaned"]]),
    choice("tier", "Tier", [["", "any"], ["short", "short"], ["mid", "mid"], ["long", "long"]]),
    containers.length > 1 && choice("container", "Container", [["", "any"], ...containers.slice(0, 500).map(({ name, memories }) => [name, name + " (" + number(memories) + ")"])]),
    choice("sort", "Order", [["", "newest"], ["updated", "changed last"], ["priority", "priority"]]),
    choice("archived", "Where", [["", "living"], ["1", "archive"]]),
    set.map(([name, value]) => el("a", { class: "chip on", href: withOut(query, name, value), "aria-label": "Remove the filter " + name + " " + value }, name + ": " + (/^\d{4}-.*T/.test(value) ? value.slice(0, 16).replace("T", " ") : value) + " ×")));
}

function withOut(query, name, value) {
  const left = [...query].filter(([other, held]) => other !== "from" && !(other === name && held === value));
  return "#/memories" + (left.length ? "?" + new URLSearchParams(left) : "");
}

function item(memory, isArchived, context) {
  const { id, title, content, tags, state, tier, priority, container, created, agent, source, expires_at } = memory;
  const link = memoryLink(memory, { class: "memory", "data-id": id, "data-state": state });
  const rest = title ? firstLine(content, 220) : content.split("\n").slice(1).find((line) => line.trim()) ?? "";
  return el("li", null,
    el("div", { class: "line" }, el("span", { class: "title" }, link), el("span", { class: "marks" }, memoryMarks(memory), priority !== 5 && el("span", { class: "mark", title: "priority" }, "p" + priority), tier !== "long" && el("span", { class: "mark" }, tier))),
    rest && el("p", { class: "rest" }, rest.slice(0, 220)),
    el("p", { class: "muted" }, tagLinks(tags, "· "), [container, agent ?? source].join(" · "), " · ", time(isArchived ? memory.archived_at : created, isArchived ? memory.archived_why + " " : ""), expires_at && [" · ends ", time(expires_at)],
      memory.anchors.slice(0, 3).map((anchor) => [" · ", el("code", null, anchor.path + (anchor.symbol ? "#" + anchor.symbol : anchor.lines ? ":" + anchor.lines.join("-") : ""))])),
    isArchived && button("Restore", async () => {
      await call("memory.restore", { ids: [id] });
      context.say("Restored: " + nameOf(memory));
      context.again();
    }));
}

/** Confirms the memory that has the focus, if it is drifted. Who has not seen its code is shown it first. */
function confirmFocused(list, say) {
  const link = document.activeElement?.closest?.("a.memory");
  if (!link || !list.contains(link)) return say("No memory has the focus");
  if (link.dataset.state !== "drifted") return say("This memory is not drifted");
  opened = link.dataset.id;
  location.hash = "#/memory/" + link.dataset.id;
  say("Its code is shown; c confirms it");
}

function editFocused(list) {
  const link = document.activeElement?.closest?.("a.memory");
  if (link && list.contains(link)) location.hash = "#/memory/" + link.dataset.id + "?edit=1";
}

/** Lists the tags by how many memories have them. */
export async function showTags(root, context) {
  context.title("Tags");
  replace(root, memoryTabs("tags"), el("p", { class: "loading" }, "asking the daemon…"));
  const { names } = await call("memory.tags", {}, { signal: context.signal });
  const told = el("p", { class: "told", role: "status" });
  const list = el("ul", { class: "tags", "aria-label": "Tags" });
  const most = Math.max(1, ...names.map(({ memories }) => memories));
  const fill = (part) => {
    const fitting = names.filter(({ name }) => name.toLowerCase().includes(part.toLowerCase()));
    replace(told, count(fitting.length, "tag"), fitting.length > MAX_TAGS && ", the first " + number(MAX_TAGS) + " shown");
    replace(list, fitting.slice(0, MAX_TAGS).map(({ name, memories }) => {
      const link = el("a", { class: "tag", href: "#/memories?" + new URLSearchParams({ tag: name }) }, "#" + name);
      const bar = el("span", { class: "bar", "aria-hidden": "true" });
      bar.style.setProperty("--part", memories / most);
      return el("li", null, link, bar, el("span", { class: "n" }, number(memories), el("span", { class: "unseen" }, memories === 1 ? " memory" : " memories")));
    }));
  };
  const field = el("input", { type: "search", "aria-label": "Part of a tag", placeholder: "part of a tag", input: (event) => fill(event.target.value) });
  replace(root, memoryTabs("tags"), el("div", { class: "toolbar" }, el("label", null, el("span", null, "Tags"), field)), told, list);
  arrows(list, "a.tag");
  fill("");
}
