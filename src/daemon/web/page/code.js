/** Shows code, and beside it what is known about it. */

import { call } from "./api.js";
import { button, code, el, failure, replace } from "./dom.js";
import { count, number, span, when } from "./format.js";
import { memoryMarks, stateMark } from "./parts.js";

/** Most lines that are shown at once. */
const MAX_LINES = 1500;
/** Lines before the requested ones. */
const BEFORE = 20;

/** Returns the address of the view of a file, at these lines. */
export function place(path, lines = null) {
  return "#/code/" + path.split("/").map(encodeURIComponent).join("/") + (lines ? "?lines=" + lines.join("-") : "");
}

/** Shows the code or the memory of a hit beside the list. */
export async function preview(aside, link, signal) {
  const { path, lines } = link.dataset;
  const id = link.getAttribute("href").match(/^#\/memory\/(.*)/)?.[1];
  if (!path && !id) {
    aside.hidden = true;
    return;
  }
  try {
    const shown = path ? await ofCode(path, lines, signal) : await ofMemory(decodeURIComponent(id), signal);
    if (document.activeElement !== link) return; // it has moved on
    replace(aside, shown);
    aside.hidden = false;
  } catch {
    aside.hidden = true; // opening it says why
  }
}

async function ofCode(path, lines, signal) {
  const [first, last] = lines.split("-").map(Number);
  const to = Math.min(last, first + 200);
  const { parts } = await call("show", { target: path + ":" + Math.max(1, first - 3) + "-" + (to + 3), wait_ms: 200 }, { signal });
  const { memories } = await call("memory.list", { about: [path + ":" + first + "-" + last], limit: 5 }, { signal });
  return [
    el("h2", null, path, el("span", { class: "lines" }, ":" + span([first, last]))),
    memories.length > 0 && el("ul", { class: "notes" }, memories.map((memory) => el("li", null, memoryMarks(memory), " ", memory.title ?? memory.content.slice(0, 200)))),
    parts.map((part) => code(part.text, part.lines[0], path, { from: first, to: last })),
  ];
}

async function ofMemory(id, signal) {
  const { memories: [memory] } = await call("memory.get", { ids: [id] }, { signal });
  return [el("h2", null, memory.title ?? "Memory", " ", memoryMarks(memory)), el("p", { class: "prose" }, memory.content.slice(0, 4000)),
    memory.anchors.map((anchor) => el("p", { class: "muted" }, "about ", el("code", null, anchor.path + (anchor.symbol ? "#" + anchor.symbol : "")), " ", stateMark(anchor.state)))];
}

/** Returns the code that a target names, or why there is none. */
export async function codeOf(target, label, signal) {
  try {
    const { parts, left_out } = await call("show", { target, wait_ms: 500 }, { signal });
    const most = 120;
    const blocks = parts.map((part) => {
      const lines = part.text.split("\n");
      const rest = lines.length - 1 - most;
      return [
        code(lines.slice(0, most).join("\n"), part.lines[0], label),
        rest > 0 && el("p", { class: "muted" }, el("a", { href: place(part.path, part.lines) }, count(rest, "more line"))),
      ];
    });
    return { node: [blocks, left_out > 0 && el("p", { class: "muted" }, number(left_out) + " more definitions have this name")], parts };
  } catch (error) {
    if (signal.aborted) throw error;
    return { node: el("p", { class: "muted" }, error.message), parts: null };
  }
}

/** Returns the last commits that touched a target. */
export async function commitsOf(target, signal, limit = 5) {
  try {
    const { commits, uncommitted, more } = await call("why", { target, limit }, { signal });
    const rows = commits.map(({ oid, date, author, subject }) =>
      el("li", null, el("code", null, oid.slice(0, 10)), " ", subject, el("span", { class: "muted" }, " · " + author.replace(/ *<.*/, "") + " · " + when(date).slice(0, 10))));
    if (uncommitted.length) rows.unshift(el("li", { class: "note" }, "not committed: line " + uncommitted.map(span).join(", ")));
    if (more) rows.push(el("li", { class: "muted" }, "and older ones"));
    return rows.length ? el("ul", { class: "commits" }, rows) : el("p", { class: "muted" }, "no commits");
  } catch (error) {
    if (signal.aborted) throw error;
    return el("p", { class: "muted" }, error.message);
  }
}

export async function show(root, context) {
  const { arg: path, query, signal } = context;
  context.title(path);
  const meant = query.get("lines")?.split("-").map(Number) ?? null;
  const body = el("div", { class: "file" }, el("p", { class: "loading" }, "reading the file…"));
  const beside = el("aside", { "aria-label": "About this file" });
  replace(root,
    el("h1", { tabindex: -1, class: "path" }, path, meant && el("span", { class: "lines" }, ":" + span(meant))),
    el("div", { class: "split wide" }, body, beside));
  const { parts: [part] } = await call("show", { target: path }, { signal });
  const lines = part.text.split("\n");
  const start = meant ? Math.max(0, meant[0] - 1 - BEFORE) : 0;
  showLines(body, path, lines, Math.min(start, Math.max(0, lines.length - 2)), meant);
  await showBeside(beside, path, meant, signal);
}

/** Shows a part of the lines, with buttons for those before and after. */
function showLines(body, path, lines, start, meant) {
  const end = Math.min(lines.length, start + MAX_LINES);
  const [from, to] = meant ?? [0, -1];
  const block = code(lines.slice(start, end).join("\n"), start + 1, path, { from, to });
  const move = (label, to) => button(label, () => showLines(body, path, lines, to, meant));
  replace(body,
    start > 0 && move(count(start, "line") + " before", Math.max(0, start - MAX_LINES)),
    block,
    end < lines.length - 1 && move(count(lines.length - 1 - end, "line") + " after", end));
}

async function showBeside(beside, path, meant, signal) {
  const target = meant ? path + ":" + meant.join("-") : path;
  const [about, outline] = [el("section"), el("section")];
  const commits = el("section", null, el("h2", null, "Commits"), el("p", { class: "loading" }, "reading the history…"));
  replace(beside, about, outline, commits);
  const parts = [
    async () => {
      const { memories, total } = await call("memory.list", { about: [path], limit: 20 }, { signal });
      replace(about, el("h2", null, "Memories ", el("span", { class: "count" }, number(total))),
        memories.length === 0 ? el("p", { class: "muted" }, "none are about this file")
          : el("ul", { class: "notes" }, memories.map((memory) => el("li", null, memoryMarks(memory), " ",
            el("a", { href: "#/memory/" + memory.id }, memory.title ?? memory.content.split("\n")[0].slice(0, 200))))));
    },
    async () => {
      const { items, n_found } = await call("outline", { target: path, limit: 200 }, { signal });
      if (items.length === 0) return;
      replace(outline, el("h2", null, "Outline ", el("span", { class: "count" }, number(n_found))),
        el("ul", { class: "outline" }, items.map((item) => {
          const link = el("a", { href: place(path, item.lines), title: item.text }, item.title);
          link.style.setProperty("--depth", item.depth);
          return el("li", null, link, el("span", { class: "lines" }, item.lines[0]));
        })));
    },
    async () => {
      const shown = await commitsOf(target, signal, 10);
      replace(commits, el("h2", null, "Commits"), shown);
    },
  ];
  await Promise.all(parts.map(async (part) => {
    try {
      await part();
    } catch (error) {
      if (!signal.aborted) beside.append(failure(error));
    }
  }));
}
