/** Shows memories that say the same, and memories that contradict each other. */

import { atMost, call } from "./api.js";
import { button, el, failure, replace } from "./dom.js";
import { count, number } from "./format.js";
import { memoryMarks, memoryTabs, nameOf, pager, tagLinks, time } from "./parts.js";

const LIMIT = 20;
/** How many memories are read in one request. */
const MAX_IDS = 20;

/** Returns the memories with these ids, by their ids. */
async function read(ids, signal) {
  const parts = [];
  for (let i = 0; i < ids.length; i += MAX_IDS) parts.push(ids.slice(i, i + MAX_IDS));
  const answers = await atMost(3, parts.map((ids) => () => call("memory.get", { ids }, { signal })));
  return new Map(answers.flatMap(({ memories }) => memories).map((memory) => [memory.id, memory]));
}

/** Returns a memory as one of several that are compared. */
function compared(memory, label, others = []) {
  const words = new Set(others.flatMap(({ content }) => content.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? []));
  // What no other one says stands out.
  const parts = memory.content.slice(0, 2000).split(/([\p{L}\p{N}_]+)/u);
  const text = others.length === 0 ? parts.join("") : parts.map((part, i) => (i % 2 && !words.has(part.toLowerCase()) ? el("mark", null, part) : part));
  return el("div", { class: "compared" },
    el("p", { class: "muted" }, el("strong", null, label), " ", el("a", { href: "#/memory/" + memory.id }, memory.title ?? memory.id.slice(0, 14) + "…"), " ", memoryMarks(memory)),
    el("p", { class: "prose" }, text),
    el("p", { class: "muted" }, tagLinks(memory.tags, "· "), time(memory.created), " · " + memory.author.replace(/ *<.*/, ""), memory.archived_at && " · archived"));
}

/** Shows groups of memories that say nearly the same. */
export async function showDuplicates(root, context) {
  const { query, signal } = context;
  context.title("Duplicates");
  const offset = Math.max(0, Number(query.get("from")) || 0);
  const body = el("div", null, el("p", { class: "loading" }, "comparing memories…"));
  replace(root, memoryTabs("duplicates"), body);
  const { groups, threshold, notice } = await call("memory.dedupe", {}, { signal });
  const shown = groups.slice(offset, offset + LIMIT);
  const memories = await read(shown.flatMap(({ keep, merge }) => [keep, ...merge].slice(0, 20).map(({ id }) => id)), signal);
  replace(body,
    el("p", { class: "told", role: "status" }, groups.length === 0 ? "No two memories say nearly the same." : count(groups.length, "group says", "groups say") + " nearly the same.",
      el("span", { class: "muted" }, " From cosine " + threshold + " on."), notice && el("span", { class: "note" }, notice)),
    shown.map((group) => groupCard(group, memories, context)),
    pager({ offset, limit: LIMIT, total: groups.length, to: (from) => "#/duplicates" + (from ? "?from=" + from : ""), context, what: "groups" }));
}

function groupCard(group, memories, context) {
  const { keep, merge, cosine, digest } = group;
  const said = el("div");
  const kept = memories.get(keep.id);
  const others = merge.slice(0, 19).map(({ id }) => memories.get(id)).filter(Boolean);
  const act = button(merge.length === 1 ? "Merge the two" : "Merge the " + number(merge.length + 1), async () => {
    try {
      await call("memory.merge", { keep: keep.id, ids: merge.map(({ id }) => id), expect: digest });
      context.say("Merged into: " + nameOf(keep));
      replace(article, el("p", { class: "told", role: "status" }, "Merged. ", el("a", { href: "#/memory/" + keep.id }, nameOf(keep)), " has what the others added; they are in the archive."));
    } catch (error) {
      replace(said, failure(error));
    }
  }, { class: "primary" });
  const article = el("article", { class: "group", "aria-label": nameOf(keep) },
    el("div", { class: "columns" }, kept && compared(kept, "Keep", others), others.map((memory) => compared(memory, "Merge", kept ? [kept] : []))),
    merge.length > 19 && el("p", { class: "muted" }, "and " + number(merge.length - 19) + " more"),
    el("div", { class: "actions" }, act, el("span", { class: "muted" }, "cosine " + cosine.toFixed(2))), said);
  return article;
}

/** Reads all links between memories, page by page. */
async function readLinks(signal, tell) {
  const links = [];
  let n_read = 0;
  for (let after = 0; after !== null && after !== undefined; ) {
    const page = await call("memory.export", { after }, { signal });
    links.push(...page.links);
    n_read += page.memories.length;
    tell(n_read);
    if (page.next === after || page.memories.length === 0) break;
    after = page.next;
  }
  return links;
}

/** Shows memories that are linked as contradicting each other, and of which none has been chosen. */
export async function showContradictions(root, context) {
  const { query, signal } = context;
  context.title("Contradictions");
  const offset = Math.max(0, Number(query.get("from")) || 0);
  const body = el("div", null, el("p", { class: "loading" }, "reading the links of all memories…"));
  replace(root, memoryTabs("contradictions"), body);
  const stats = await call("memory.stats", {}, { signal });
  const links = stats.links + stats.links_archived === 0 ? [] : await readLinks(signal, (n) => replace(body, el("p", { class: "loading" }, "reading the links of all memories: " + number(n) + " of " + number(stats.living))));
  const name = (a, b) => [a, b].sort().join(" ");
  const decided = new Set(links.filter(({ kind }) => kind === "supersedes").map(({ source, target }) => name(source, target)));
  const pairs = new Set(links.filter(({ kind }) => kind === "contradicts").map(({ source, target }) => name(source, target)));
  const open = [...pairs].filter((pair) => !decided.has(pair)).map((pair) => pair.split(" "));
  const shown = open.slice(offset, offset + LIMIT);
  const memories = await read([...new Set(shown.flat())], signal);
  replace(body,
    el("p", { class: "told", role: "status" }, open.length === 0 ? "No open contradictions." : count(open.length, "contradiction is", "contradictions are") + " open."),
    el("p", { class: "muted" }, "Shown are memories that are linked as contradicting each other. Who adds a memory is told which others it may contradict; a memory can be linked on its own page."),
    shown.map((pair) => pairCard(pair.map((id) => memories.get(id)).filter((memory) => memory && !memory.archived_at), context)),
    pager({ offset, limit: LIMIT, total: open.length, to: (from) => "#/contradictions" + (from ? "?from=" + from : ""), context, what: "pairs" }));
}

function pairCard(pair, context) {
  if (pair.length < 2) return null; // one is in the archive: there is nothing to decide
  const said = el("div");
  const finish = async (act, words) => {
    try {
      await act();
      context.say(words);
      replace(article, el("p", { class: "told", role: "status" }, words));
    } catch (error) {
      replace(said, failure(error));
    }
  };
  const side = (memory, other, label) => el("div", null, compared(memory, label, [other]),
    button("This one holds", () => finish(() => call("memory.resolve", { winner: memory.id, loser: other.id }), "Decided: " + nameOf(memory) + ". The other one stays, and ranks below it."), { class: "primary", "aria-label": "This one holds: " + nameOf(memory) }));
  const [first, second] = pair;
  const article = el("article", { class: "group", "aria-label": nameOf(first) + " against " + nameOf(second) },
    el("div", { class: "columns" }, side(first, second, "First"), side(second, first, "Second")),
    el("div", { class: "actions" }, button("They do not contradict", () => finish(() => call("memory.unlink", { from: first.id, to: second.id, kind: "contradicts" }), "The link is removed."))), said);
  return article;
}
