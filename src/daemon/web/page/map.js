/** Draws the code as a map: files by importance, in their folders, and who uses whom. */

import { call } from "./api.js";
import { place as codePlace } from "./code.js";
import { el, replace, svg } from "./dom.js";
import * as events from "./events.js";
import { count, number, place } from "./format.js";
import { forget, relationsOf } from "./relations.js";
import { memoryMarks } from "./parts.js";
import { groups, layout, tree } from "./treemap.js";

/** Tokens of the map that is asked for: some four hundred files. */
const BUDGET = 40000;
const N_COLOURS = 10;
/** How long the pointer rests on a file before its edges are asked for, ms. */
const REST_MS = 250;

/** Returns the files of the text of a map, the most important first, each with the definitions that it names. */
export function filesOf(text) {
  const files = [];
  for (const line of text.split("\n")) {
    const [, number, signature] = line.match(/^ *(\d+): (.*)$/) ?? [];
    if (signature !== undefined && line.startsWith(" ")) files[files.length - 1]?.definitions.push([Number(number), signature]);
    else if (line !== "") files.push({ path: line, definitions: [] });
  }
  // The map has an order, but no numbers: the area falls with the place as its logarithm does.
  return files.map((file, i) => ({ ...file, rank: i + 1, weight: 1 / (i + 12) ** 0.72 }));
}

export async function show(root, context) {
  const { query, signal } = context;
  context.title("Map");
  const folder = query.get("in") ?? "";
  const stage = el("div", { class: "stage" }, el("p", { class: "loading" }, "asking for the map…"));
  const panel = el("aside", { class: "panel", "aria-label": "The chosen file", "aria-live": "off" });
  const bar = el("div", { class: "toolbar" });
  replace(root, el("h1", { tabindex: -1, class: "unseen" }, "Map"), bar, el("div", { class: "split wide" }, stage, panel));
  const { text, total_files, fresh, reason, unmapped } = await call("map", { budget: BUDGET, paths: folder ? [folder] : [] }, { signal });
  const files = filesOf(text);
  if (files.length === 0) {
    replace(stage, el("p", null, unmapped.length ? "Nothing in this folder defines anything." : "No file defines anything yet: the map shows code."));
    return;
  }
  const folders = [...new Set(files.flatMap(({ path }) => path.split("/").slice(0, -1).map((_, i, all) => all.slice(0, i + 1).join("/"))))].sort();
  replace(bar,
    el("label", null, el("span", null, "Folder"), el("select", { value: folder, change: ({ target }) => (location.hash = "#/map" + (target.value ? "?in=" + encodeURIComponent(target.value) : "")) },
      el("option", { value: "" }, "all"), [...new Set([...(folder ? [folder] : []), ...folders])].slice(0, 500).map((path) => el("option", { value: path }, path)))),
    el("p", { class: "told", role: "status" }, files.length < total_files ? number(files.length) + " of " + count(total_files, "file") + ", the most important ones." : count(files.length, "file") + ".", !fresh && el("span", { class: "note" }, "not up to date" + (reason ? ": " + reason : ""))),
    el("p", { class: "legend", "aria-hidden": "true" }, el("span", { class: "key users" }, "uses it"), el("span", { class: "key used" }, "is used by it")));
  const map = draw(stage, files, { panel, context, folder });
  events.listen("views", forget, signal);
  const wanted = query.get("file");
  map.choose(files.some(({ path }) => path === wanted) ? wanted : files[0].path);
  if (!document.activeElement || document.activeElement === document.body) map.focus();
}

function draw(stage, files, { panel, context, folder }) {
  const { signal } = context;
  const byPath = new Map(files.map((file) => [file.path, file]));
  const root = tree(files);
  const colours = new Map(groups(root).map((path, i) => [path, i % N_COLOURS]));
  const picture = svg("svg", { role: "listbox", tabindex: 0, "aria-label": "Files by importance; arrow keys choose one, Enter opens it" });
  const list = el("details", { class: "as-list" }, el("summary", null, "The same as a list"), el("ol", null, files.map(({ path }) => el("li", null, el("a", { href: codePlace(path) }, path)))));
  replace(stage, picture, list);
  let tiles = new Map();
  let chosen = null;
  let edges = svg("g");

  const colourOf = (path) => {
    for (let at = path.lastIndexOf("/"); at > 0; at = path.lastIndexOf("/", at - 1)) {
      const colour = colours.get(path.slice(0, at));
      if (colour !== undefined) return colour;
    }
    return colours.get("") ?? 0;
  };
  const paint = () => {
    const width = Math.max(280, stage.clientWidth);
    const height = Math.round(Math.max(340, Math.min(width * 1.1, innerHeight - stage.getBoundingClientRect().top - scrollY - 60)));
    picture.setAttribute("viewBox", "0 0 " + width + " " + height);
    const shown = layout(root, width, height);
    tiles = new Map(shown.tiles.map((tile) => [tile.path, { ...tile, node: tileOf(tile, colourOf(tile.path)), label: labelOf(tile) }]));
    edges = svg("g", { class: "edges", "aria-hidden": "true" });
    replace(picture, shown.folders.map((box) => folderOf(box, folder)), [...tiles.values()].map(({ node }) => node), svg("g", { "aria-hidden": "true" }, [...tiles.values()].map(({ label }) => label)), edges);
    if (chosen) mark(chosen);
  };
  const classes = (tile, act, ...names) => [tile.node, tile.label].forEach((node) => node?.classList[act](...names));
  const mark = (path) => {
    chosen = path;
    for (const [other, { node }] of tiles) node.setAttribute("aria-selected", other === path);
    const tile = tiles.get(path);
    if (!tile) return;
    picture.setAttribute("aria-activedescendant", tile.node.id);
    showEdges(path);
  };
  let timer = null;
  const showEdges = async (path) => {
    clearTimeout(timer);
    picture.classList.remove("related");
    replace(edges);
    for (const tile of tiles.values()) classes(tile, "remove", "users", "used", "from");
    const shown = edges;
    timer = setTimeout(async () => {
      try {
        const relations = await relationsOf(path, signal);
        if (shown === edges && (chosen === path || hovered === path)) drawEdges(path, relations);
      } catch {
        // the panel says why
      }
    }, 60);
  };
  const drawEdges = (path, { users, used }) => {
    const from = tiles.get(path);
    replace(edges);
    for (const tile of tiles.values()) classes(tile, "remove", "users", "used", "from");
    if (!from || users.size + used.size === 0) return picture.classList.remove("related");
    picture.classList.add("related");
    classes(from, "add", "from");
    for (const [kind, paths] of [["users", users], ["used", used]]) {
      for (const other of paths.keys()) {
        const to = tiles.get(other);
        if (!to) continue;
        classes(to, "add", kind);
        edges.append(curve(from, to, kind));
      }
    }
  };
  let hovered = null;
  picture.addEventListener("pointerover", (event) => {
    const path = event.target.closest("[data-path]")?.dataset.path ?? null;
    if (path === hovered || event.pointerType === "touch") return;
    hovered = path;
    clearTimeout(timer);
    timer = setTimeout(() => hovered === path && showEdges(path ?? chosen), REST_MS);
  });
  picture.addEventListener("pointerleave", () => {
    hovered = null;
    clearTimeout(timer);
    if (chosen) timer = setTimeout(() => showEdges(chosen), REST_MS);
  });
  const choose = (path) => {
    mark(path);
    showPanel(panel, byPath.get(path), { files, byPath, choose, context });
  };
  const open = (path) => (location.hash = codePlace(path));
  picture.addEventListener("click", (event) => {
    const path = event.target.closest("[data-path]")?.dataset.path;
    const into = event.target.closest("[data-folder]")?.dataset.folder;
    if (path) choose(path);
    else if (into) location.hash = "#/map?in=" + encodeURIComponent(into);
  });
  picture.addEventListener("dblclick", () => chosen && open(chosen));
  picture.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !chosen) return;
    if (event.key === "Enter") return open(chosen);
    const path = event.key === "Home" ? files[0].path : event.key === "End" ? files[files.length - 1].path : beside(tiles, chosen, event.key);
    if (!path) return;
    event.preventDefault();
    choose(path);
  });
  const sizes = new ResizeObserver(() => {
    if (Math.abs(stage.clientWidth - Number(picture.getAttribute("viewBox")?.split(" ")[2] ?? 0)) > 2) paint();
  });
  sizes.observe(stage);
  signal.addEventListener("abort", () => {
    sizes.disconnect();
    clearTimeout(timer);
  });
  paint();
  return { choose, focus: () => picture.focus({ preventScroll: true }) };
}

let n_tiles = 0;

function tileOf(tile, colour) {
  const { path, rank, x, y, w, h } = tile;
  return svg("g", { class: "tile f" + colour, role: "option", id: "tile-" + ++n_tiles, "aria-selected": "false", "aria-label": path + ", " + place(rank), "data-path": path },
    svg("title", null, path), svg("rect", { x: x + 0.5, y: y + 0.5, width: Math.max(0.5, w - 1), height: Math.max(0.5, h - 1), rx: 1.5 }));
}

/** Returns as much of the name of a file as its tile has room for. */
function labelOf({ name, x, y, w, h }) {
  const fits = Math.floor((w - 8) / 6.7);
  if (h <= 15 || fits < 4) return null;
  return svg("text", { class: "label", x: x + 5, y: y + Math.min(h / 2 + 4, 14) }, name.length <= fits ? name : name.slice(0, fits - 1) + "…");
}

function folderOf({ path, name, x, y, w, h, depth, hasHeader }, folder) {
  const fits = Math.floor((w - 8) / 6.4);
  const node = svg("g", { class: "folder d" + Math.min(depth, 3), "data-folder": path === folder ? null : path, "aria-hidden": "true" },
    svg("rect", { x: x + 0.5, y: y + 0.5, width: Math.max(0.5, w - 1), height: Math.max(0.5, h - 1), rx: 2 }));
  if (hasHeader && fits >= 3) node.append(svg("text", { x: x + 5, y: y + 11 }, name.length <= fits ? name : name.slice(0, fits - 1) + "…"));
  return node;
}

const centre = ({ x, y, w, h }) => [x + w / 2, y + h / 2];

/** Returns a curve between two tiles. */
function curve(from, to, kind) {
  const [[x1, y1], [x2, y2]] = [centre(from), centre(to)];
  const [dx, dy] = [x2 - x1, y2 - y1];
  // Bent to one side, so that both directions between two files can be told apart.
  const bend = kind === "users" ? 0.14 : -0.14;
  const d = ["M", x1, y1, "Q", (x1 + x2) / 2 - dy * bend, (y1 + y2) / 2 + dx * bend, x2, y2].join(" ");
  return svg("g", { class: kind }, svg("path", { d, class: "halo" }), svg("path", { d }), svg("circle", { cx: x2, cy: y2, r: 2.5 }));
}

/** Returns the file next to one in the direction of a key. */
function beside(tiles, path, key) {
  const direction = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] }[key];
  const from = tiles.get(path);
  if (!direction || !from) return null;
  const [x, y] = centre(from);
  let [best, least] = [null, Infinity];
  for (const [other, tile] of tiles) {
    const [dx, dy] = [centre(tile)[0] - x, centre(tile)[1] - y];
    const ahead = dx * direction[0] + dy * direction[1];
    const aside = Math.abs(dx * direction[1]) + Math.abs(dy * direction[0]);
    if (other === path || ahead < 2) continue;
    const distance = ahead + aside * 2.5;
    if (distance < least) [best, least] = [other, distance];
  }
  return best;
}

/** Shows what is known of the chosen file. */
async function showPanel(panel, file, { files, byPath, choose, context }) {
  const { signal, say } = context;
  const { path, rank, definitions } = file;
  const [users, used, about] = [el("section"), el("section"), el("section")];
  replace(panel,
    el("h2", { class: "path" }, el("a", { href: codePlace(path) }, path)),
    el("p", { class: "muted" }, place(rank) + " of " + number(files.length)),
    el("ul", { class: "definitions" }, definitions.map(([line, signature]) => el("li", null, el("a", { href: codePlace(path, [line, line]) }, el("code", null, signature))))),
    users, used, about);
  panel.dataset.path = path;
  replace(users, el("h3", null, "Used by"), el("p", { class: "loading" }, "asking who uses it…"));
  await new Promise((resolve) => setTimeout(resolve, REST_MS)); // somebody may be passing through
  if (panel.dataset.path !== path || signal.aborted) return;
  const link = (other, n) => el("li", null,
    byPath.has(other)
      ? el("button", { type: "button", class: "link", click: () => choose(other) }, other)
      : el("a", { href: codePlace(other) }, other),
    el("span", { class: "n" }, number(n)));
  const fill = (section, title, paths, note) => {
    const most = 40;
    replace(section, el("h3", null, title, " ", el("span", { class: "count" }, number(paths.size))),
      paths.size === 0 ? el("p", { class: "muted" }, "none found") : el("ul", { class: "uses" }, [...paths].slice(0, most).map(([other, n]) => link(other, n))),
      paths.size > most && el("p", { class: "muted" }, "and " + number(paths.size - most) + " more"), note);
  };
  try {
    const [relations, { memories, total }] = await Promise.all([relationsOf(path, signal), call("memory.list", { about: [path], limit: 10 }, { signal })]);
    if (panel.dataset.path !== path || signal.aborted) return;
    fill(users, "Used by", relations.users, relations.n_by_name > 0 && el("p", { class: "muted" }, "and " + count(relations.n_by_name, "file") + " with no more than a name in common"));
    fill(used, "Uses", relations.used, relations.cut && el("p", { class: "muted" }, "of its first " + relations.cut + " definitions"));
    if (total > 0) replace(about, el("h3", null, "Memories ", el("span", { class: "count" }, number(total))), el("ul", null, memories.map((memory) => el("li", null, el("a", { href: "#/memory/" + memory.id }, memory.title ?? memory.content.slice(0, 120)), " ", memoryMarks(memory)))));
    say(path + ": used by " + count(relations.users.size, "file") + ", uses " + count(relations.used.size, "file"));
  } catch (error) {
    if (!signal.aborted && panel.dataset.path === path) replace(users, el("h3", null, "Used by"), el("p", { class: "muted" }, error.message));
  }
}
