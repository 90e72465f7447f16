/** Shows memories whose code has changed, each with the code beside it, to be confirmed or changed. */

import { call } from "./api.js";
import { codeBeside, confirmMemory } from "./confirm.js";
import { arrows, button, el, failure, focusOn, replace } from "./dom.js";
import { count } from "./format.js";
import { commitsOf } from "./code.js";
import { anchorTarget, memoryLink, memoryMarks, memoryTabs, nameOf, pager, tagLinks, time } from "./parts.js";

const LIMIT = 10;

export async function show(root, context) {
  const { query, signal } = context;
  context.title("Drift");
  const offset = Math.max(0, Number(query.get("from")) || 0);
  const told = el("p", { class: "told", role: "status" });
  const list = el("div", { class: "drifted" });
  replace(root, memoryTabs("drift"), told, list);
  const { memories, total, fresh, reason } = await call("memory.list", { state: ["drifted", "orphaned"], limit: LIMIT, offset, sort: "updated" }, { signal });
  if (total > 0 && memories.length === 0) return (location.hash = "#/drift"); // the last page was confirmed
  replace(told, total === 0 ? "No memory is drifted or orphaned." : count(total, "memory is", "memories are") + " drifted or orphaned.",
    fresh === false && el("span", { class: "note" }, "not up to date" + (reason ? ": " + reason : "")));
  let left = total;
  const after = (card, words) => {
    left--;
    const next = card.nextElementSibling?.matches("article") ? card.nextElementSibling : card.previousElementSibling;
    card.remove();
    replace(told, count(left, "memory is", "memories are") + " drifted or orphaned.");
    context.say(words + " " + count(left, "memory is", "memories are") + " left.");
    if (!list.querySelector("article")) return context.again();
    focusOn(next?.querySelector("a.memory"));
  };
  replace(list, memories.map((memory) => card(memory, context, after)),
    pager({ offset, limit: LIMIT, total, to: (from) => "#/drift" + (from ? "?from=" + from : ""), context, what: "memories" }));
  arrows(list, "a.memory");
  const focused = () => document.activeElement?.closest?.("article");
  context.keys({
    c: () => {
      const confirm = focused()?.querySelector("button.confirm");
      confirm ? confirm.click() : context.say(focused() ? "Its code is gone: there is nothing to confirm" : "No memory has the focus");
    },
    e: () => focused()?.querySelector("a.edit")?.click(),
    ArrowDown: () => focusOn(list.querySelector("a.memory")),
  });
  focusOn(list.querySelector("a.memory"));
  scrollTo(0, 0);
}

/** Returns one memory with its code. */
function card(memory, context, after) {
  const said = el("div");
  const beside = el("div", { class: "beside" }, el("p", { class: "loading" }, "reading the code…"));
  let seen = null;
  const load = async () => {
    const shown = await codeBeside(memory, context.signal);
    seen = shown.seen;
    replace(beside, shown.blocks, el("details", { toggle: (event) => history(event.target, memory, context) }, el("summary", null, "Commits that touched it"), el("p", { class: "loading" }, "reading the history…")));
  };
  const isDrifted = memory.state === "drifted";
  const confirm = button("Confirm", async () => {
    if (!seen) return context.say("Its code is not shown yet");
    try {
      await confirmMemory(memory, seen);
      after(article, "Confirmed.");
    } catch (error) {
      replace(said, failure(error));
      if (error.code === "changed") await load();
    }
  }, { class: "confirm primary", title: "It holds for the code as it is now", "aria-keyshortcuts": "c" });
  const gone = memory.anchors.filter((anchor) => anchor.state === "orphaned");
  const forget = (label, act, words) => button(label, async () => {
    try {
      await act();
      after(article, words);
    } catch (error) {
      replace(said, failure(error));
    }
  });
  const article = el("article", { "aria-label": nameOf(memory) },
    el("div", { class: "text" },
      el("h2", null, memoryLink(memory, { class: "memory" }), " ", memoryMarks(memory)),
      memory.title || memory.content.includes("\n") || memory.content.length > 160 ? el("p", { class: "prose" }, memory.content.slice(0, 4000)) : null,
      el("p", { class: "muted" }, tagLinks(memory.tags, "· "), "written or confirmed ", time(memory.updated), " · ", memory.author.replace(/ *<.*/, "")),
      el("div", { class: "actions" },
        isDrifted && confirm,
        el("a", { class: "button edit", href: "#/memory/" + memory.id + "?edit=1", "aria-keyshortcuts": "e" }, "Edit"),
        gone.length > 0 && forget("No longer about it", () => call("memory.update", { id: memory.id, remove_about: gone.map(placeOf) }), "It is no longer about that code."),
        forget("Forget", () => call("memory.forget", { ids: [memory.id] }), "It is in the archive.")),
      said),
    beside);
  load().catch((error) => context.signal.aborted || replace(beside, failure(error)));
  return article;
}

/** Returns an anchor as it was typed. */
function placeOf({ path, symbol, lines }) {
  return symbol ? path + "#" + symbol : lines ? path + ":" + lines.join("-") : path;
}

async function history(details, memory, context) {
  if (!details.open || details.dataset.read) return;
  details.dataset.read = "1";
  const lists = await Promise.all(memory.anchors.map((anchor) => commitsOf(anchorTarget(anchor), context.signal)));
  details.querySelector(".loading")?.remove();
  details.append(...lists);
}
