/** Searches as one types: files, symbols, commits and memories in one list, each with why it is there. */

import { call } from "./api.js";
import { place as codePlace, preview } from "./code.js";
import { arrows, el, failure, focusOn, marked, replace } from "./dom.js";
import { count, number, place, span, when } from "./format.js";
import { memoryMarks, stateMark, tagLinks } from "./parts.js";

/** How long nothing is typed before it is searched, ms. */
const TYPING_MS = 140;
const LIMIT = 40;

/** Kinds of hits as one chooses them. */
const KINDS = [
  ["", "All", []],
  ["files", "Files", ["doc", "text", "map"]],
  ["symbols", "Symbols", ["symbol"]],
  ["commits", "Commits", ["commit"]],
  ["memories", "Memories", ["memory"]],
];

const KIND_NAMES = { doc: "section", text: "file", map: "file", symbol: "symbol", commit: "commit", memory: "memory" };

/** Examples of what a query can have. */
const EXAMPLES = [
  ["words of what you look for", "by words and by meaning"],
  ['"exact phrase"', "words next to each other"],
  ["prefix*", "words that begin so"],
  ["path:src/** lang:rust", "files of a folder, of a language"],
  ["kind:memory tag:auth", "memories with a tag"],
  ["kind:commit after:7d", "commits of the last week"],
  ["-only:tests", "without tests"],
];

export function show(root, context) {
  const { query, signal, say } = context;
  context.title("Search");
  const field = el("input", {
    id: "query", type: "search", value: query.get("q") ?? "", placeholder: "Files, symbols, commits, memories",
    autocomplete: "off", spellcheck: "false", "aria-label": "Search", "aria-controls": "hits", "aria-keyshortcuts": "/",
  });
  const chips = KINDS.map(([value, label]) =>
    el("label", { class: "chip" }, el("input", { type: "radio", name: "kind", value, checked: value === (query.get("kind") ?? "") }), el("span", null, label)));
  const told = el("p", { class: "told", role: "status" });
  const list = el("ol", { id: "hits", class: "hits", "aria-label": "Results" });
  const aside = el("aside", { class: "preview", "aria-label": "Preview", hidden: true });
  const form = el("form", { role: "search", submit: (event) => event.preventDefault() }, field, el("fieldset", { class: "chips" }, el("legend", { class: "unseen" }, "Kinds"), chips));
  replace(root, el("h1", { class: "unseen", tabindex: -1 }, "Search"), form, told, el("div", { class: "split" }, list, aside));

  let current = null; // the search that is under way
  let timer = null;
  const kind = () => form.elements.kind.value;
  const remember = (opened = null) => {
    const kept = new URLSearchParams();
    if (field.value) kept.set("q", field.value);
    if (kind()) kept.set("kind", kind());
    if (opened) kept.set("at", opened);
    const query = kept.toString();
    history.replaceState(null, "", "#/search" + (query ? "?" + query : ""));
  };
  const search = async () => {
    current?.abort();
    current = new AbortController();
    const mine = current;
    remember();
    if (field.value.trim() === "") {
      replace(told);
      aside.hidden = true;
      root.classList.add("empty");
      return replace(list, intro());
    }
    root.classList.remove("empty");
    try {
      const kinds = KINDS.find(([value]) => value === kind())?.[2] ?? [];
      const answer = await call("search", { query: field.value, kind: kinds, limit: LIMIT, explain: true, wait_ms: 300 }, { signal: mine.signal });
      replace(told, summary(answer));
      const words = [...answer.parsed.terms, ...(answer.parsed.phrases ?? [])].map((term) => term.replace(/\*$/, ""));
      replace(list, answer.hits.map((hit) => item(hit, words, field.value)));
      aside.hidden = true;
      const former = query.get("at") && list.querySelector('a[data-at="' + CSS.escape(query.get("at")) + '"]');
      query.delete("at");
      if (former) focusOn(former);
    } catch (error) {
      if (mine.signal.aborted) return;
      replace(told);
      replace(list, el("li", null, failure(error)));
    }
  };
  const later = () => {
    clearTimeout(timer);
    timer = setTimeout(search, TYPING_MS);
  };
  signal.addEventListener("abort", () => {
    clearTimeout(timer);
    current?.abort();
  });
  field.addEventListener("input", later);
  form.addEventListener("change", (event) => event.target !== field && search());
  field.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown") {
      event.preventDefault();
      focusOn(list.querySelector("a.hit"));
    } else if (event.key === "Enter") {
      clearTimeout(timer);
      search();
    }
  });
  arrows(list, "a.hit", { before: field });
  list.addEventListener("click", (event) => {
    const link = event.target.closest("a.hit");
    if (!link) return;
    remember(link.dataset.at); // Back leads to the same hit
    if (link.dataset.commit) {
      event.preventDefault();
      openCommit(link, field.value, say);
    }
  });
  previewOn(list, aside, signal);
  if (!query.get("at")) field.focus();
  return search();
}

/** Shows the code of the hit that has the focus, if there is room beside the list. */
function previewOn(list, aside, signal) {
  const isWide = matchMedia("(min-width: 1080px)");
  let timer = null;
  list.addEventListener("focusin", (event) => {
    const link = event.target.closest("a.hit");
    for (const item of list.children) item.classList.toggle("current", item === link?.closest("li"));
    clearTimeout(timer);
    if (!link || !isWide.matches) return;
    timer = setTimeout(() => preview(aside, link, signal), 120);
  });
  signal.addEventListener("abort", () => clearTimeout(timer));
}

function summary({ hits, total, took_ms, corrected, fresh, reason, degraded, parsed }) {
  const notes = [
    corrected && "also searched: " + corrected,
    !fresh && "not up to date" + (reason ? ": " + reason : ""),
    ...degraded,
    ...(parsed.notes ?? []),
  ].filter(Boolean);
  const found = hits.length === 0 ? "Nothing found" : hits.length < total ? number(hits.length) + " of " + count(total, "candidate") : count(hits.length, "result");
  return [found, el("span", { class: "muted" }, " · " + Math.round(took_ms) + " ms"), notes.map((note) => el("span", { class: "note" }, note))];
}

function intro() {
  return el("li", { class: "intro" },
    el("p", null, "One list of what is in the worktree, its history and its memories. Each line says why it is there."),
    el("dl", null, EXAMPLES.map(([query, meaning]) => [el("dt", null, el("code", null, query)), el("dd", null, meaning)])));
}

/** Returns the address of the view of a hit. */
function address(hit) {
  if (hit.kind === "memory") return "#/memory/" + encodeURIComponent(hit.id);
  if (hit.kind === "commit") return "#/search";
  return codePlace(hit.path, hit.lines);
}

function item(hit, words, query) {
  const isCode = hit.kind !== "memory" && hit.kind !== "commit";
  const title = isCode ? hit.path : hit.title ?? hit.snippet.split("\n")[0];
  const link = el("a", {
    class: "hit", href: address(hit), "data-at": hit.path + ":" + hit.lines[0],
    "data-commit": hit.kind === "commit" && hit.commit?.oid, "data-path": isCode && hit.path, "data-lines": isCode && hit.lines.join("-"),
  }, marked(title, words));
  const where = isCode
    ? [el("span", { class: "lines" }, ":" + span(hit.lines)), hit.title && el("span", { class: "name" }, marked(hit.title, words))]
    : null;
  const [first, ...rest] = hit.snippet.split("\n");
  const snippet = isCode || first !== title ? hit.snippet : rest.join("\n");
  return el("li", null,
    el("div", { class: "line" }, el("span", { class: "kind " + hit.kind }, KIND_NAMES[hit.kind] ?? hit.kind), el("span", { class: isCode ? "path" : "title" }, link, where), el("span", { class: "marks" }, marks(hit))),
    why(hit),
    shownSnippet(snippet, hit, words));
}

function shownSnippet(text, hit, words) {
  const short = text.replace(/\s+$/, "");
  if (short.trim() === "") return null;
  const isCode = ["symbol", "text", "map"].includes(hit.kind);
  return el("pre", { class: isCode ? "snippet" : "snippet prose" }, marked(short.split("\n").filter((line) => isCode || line.trim()).slice(0, 6).join("\n"), words));
}

function marks(hit) {
  return [
    (hit.classes ?? []).filter((name) => name !== "code").map((name) => el("span", { class: "mark class" }, name)),
    stateMark(hit.state),
    hit.commit && el("span", { class: "muted" }, hit.commit.oid.slice(0, 10) + " · " + when(hit.commit.date).slice(0, 10) + " · " + hit.commit.author.replace(/ *<.*/, "")),
    hit.memory && tagLinks(hit.memory.tags),
    hit.trust === "import" && el("span", { class: "mark" }, "imported"),
    hit.memory && memoryMarks({ trust: hit.trust, scope: hit.memory.scope, repository: hit.memory.repository, conflict: hit.memory.conflict }),
  ];
}

/** Says why a hit is in the list: its place in each arm, and on demand all values. */
function why(hit) {
  const { bm25, path, symbol, knn, cosine, rerank } = hit.arms;
  const value = (arm) => hit.explain?.signals.find((signal) => signal.arm === arm)?.value ?? 0;
  const [similar, covered] = [value("maxsim"), value("covered")];
  const reasons = [
    symbol && "its name",
    bm25 && "words, " + place(bm25),
    path && "path, " + place(path),
    knn && "meaning, " + place(knn) + (cosine ? " (" + cosine.toFixed(2) + ")" : ""),
    covered > 0 && (covered === 1 ? "all words" : Math.round(100 * covered) + " % of the words"),
    similar > 0 && "similar words (" + similar.toFixed(2) + ")",
    rerank !== null && rerank !== undefined && "cross-encoder " + rerank.toFixed(2),
    hit.copies && "and " + number(hit.copies.count) + " like it",
  ].filter(Boolean);
  return el("details", { class: "why" },
    el("summary", null, reasons.length ? reasons.join(" · ") : "its file", el("span", { class: "score" }, hit.score.toFixed(3))),
    hit.explain && values(hit.explain, hit));
}

function values({ signals, fused, factors }, hit) {
  const row = (name, value) => el("tr", null, el("th", { scope: "row" }, name), el("td", null, value));
  return [
    el("table", { class: "values" },
      el("tbody", null,
        signals.map(({ arm, rank, value }) => row(arm, [rank && "place " + number(rank), value !== null && Number(value).toPrecision(3)].filter(Boolean).join(", "))),
        row("fused", fused.toFixed(3)),
        factors.map(({ name, times }) => row(name, "× " + times.toFixed(3))))),
    hit.copies && el("p", { class: "muted" }, "Like it: " + hit.copies.paths.join(", ")),
  ];
}

/** Shows the whole message of a commit below its line, or hides it again. */
async function openCommit(link, query, say) {
  const item = link.closest("li");
  const open = item.querySelector(".message");
  if (open) return open.remove();
  const message = el("pre", { class: "snippet prose message" }, "asking the daemon…");
  item.append(message);
  try {
    // The same question, so that the same commits answer it, with their whole texts.
    const { hits } = await call("search", { query, kind: ["commit"], limit: 200, texts: true });
    const hit = hits.find((hit) => hit.commit?.oid === link.dataset.commit);
    replace(message, link.dataset.commit + "\n" + (hit ? hit.commit.author + "\n" + when(hit.commit.date) + "\n\n" + hit.text : "\n(not found any more)"));
    item.querySelector(".snippet:not(.message)")?.remove();
    say("Message shown");
  } catch (error) {
    message.replaceWith(failure(error));
  }
}
