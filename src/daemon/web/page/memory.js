/** Shows a memory: its text, the code that it is about, its links, its history; and adds one. */

import { call } from "./api.js";
import { codeBeside, confirmMemory } from "./confirm.js";
import { commitsOf } from "./code.js";
import { button, el, failure, replace } from "./dom.js";
import { formOf } from "./edit.js";
import * as events from "./events.js";
import { count, number, when } from "./format.js";
import { historyOf } from "./history.js";
import { anchorTarget, memoryLink, memoryMarks, nameOf, tagLinks, time } from "./parts.js";

const KINDS = [["related_to", "related to"], ["supersedes", "supersedes"], ["contradicts", "contradicts"], ["derived_from", "derived from"]];

async function read(id, signal) {
  const { memories: [memory], notice } = await call("memory.get", { ids: [id] }, { signal });
  return { memory, notice };
}

export async function show(root, context) {
  const { arg: id, query, signal } = context;
  const { memory, notice } = await read(id, signal);
  context.title(nameOf(memory));
  const said = el("div", { class: "said-here" });
  const text = el("section", { class: "text", "aria-label": "Text" });
  const beside = el("section", { class: "beside", "aria-label": "Code" });
  const about = el("section", { class: "about", "aria-label": "Facts" }, facts(memory));
  const below = el("div", { class: "below" });
  replace(root,
    el("h1", { tabindex: -1 }, nameOf(memory), " ", memoryMarks(memory)),
    notice && el("p", { class: "note" }, notice), said,
    el("div", { class: memory.anchors.length ? "split even" : "" }, text, memory.anchors.length ? beside : null, about), below);
  const edit = () => showForm(text, memory, context);
  query.get("edit") && !memory.archived_at ? edit() : showText(text, memory, { context, said, edit });
  const parts = [
    memory.anchors.length > 0 && showCode(beside, memory, { context, said }),
    showBelow(below, memory, context),
  ];
  const changed = async ({ ids }) => {
    // Without ids, all may have changed.
    if ((ids?.length > 0 && !ids.includes(memory.id)) || root.querySelector("form") || signal.aborted) return;
    const { memory: now } = await read(memory.id, signal).catch(() => ({}));
    if (now && now.updated !== memory.updated) context.again();
  };
  for (const topic of ["memories", "lost"]) events.listen(topic, changed, signal);
  events.listen("drift", () => !root.querySelector("form") && memory.anchors.length > 0 && read(memory.id, signal).then(({ memory: now }) => now.state !== memory.state && context.again(), () => {}), signal);
  await Promise.all(parts);
}

function showText(section, memory, { context, said, edit }) {
  const act = (label, run, words, attributes) => button(label, async () => {
    try {
      await run();
      context.say(words);
      context.again();
    } catch (error) {
      replace(said, failure(error));
    }
  }, attributes);
  const { id, tier, archived_at } = memory;
  const actions = archived_at
    ? [act("Restore", () => call("memory.restore", { ids: [id] }), "It is restored")]
    : [
      button("Edit", edit, { "aria-keyshortcuts": "e" }),
      tier !== "long" && act("Keep for good", () => call("memory.promote", { id, to: "long" }), "It no longer ends"),
      act("Forget", () => call("memory.forget", { ids: [id] }), "It is in the archive"),
    ];
  context.keys({ e: archived_at ? null : edit });
  replace(section,
    el("p", { class: "prose" }, memory.content),
    el("div", { class: "actions" }, actions));
}

function facts(memory) {
  const row = (name, ...value) => [el("dt", null, name), el("dd", null, value)];
  const { metadata } = memory;
  return el("dl", { class: "facts" },
    memory.tags.length > 0 && row("tags", tagLinks(memory.tags)),
    row("container", el("a", { href: "#/memories?" + new URLSearchParams({ container: memory.container }) }, memory.container)),
    row("tier", memory.tier, memory.expires_at && [", ends ", time(memory.expires_at)]),
    row("priority", memory.priority), row("confidence", memory.confidence),
    row("added", when(memory.created), " by ", memory.author, " (", memory.source, memory.agent && ", agent " + memory.agent, ")"),
    memory.updated !== memory.created && row("changed", when(memory.updated)),
    row("recalled", memory.access_count === 0 ? "never" : [count(memory.access_count, "time"), ", last ", time(memory.last_access)]),
    memory.archived_at && row("archived", when(memory.archived_at), ", ", memory.archived_why),
    memory.shared && row("shared", el("code", { class: "break" }, ".memod/memories/" + memory.id + ".md")),
    memory.key && row("import", memory.key),
    Object.keys(metadata).length > 0 && row("metadata", el("code", { class: "break" }, JSON.stringify(metadata))),
    row("id", el("code", { class: "break" }, memory.id)));
}

/** Shows the code of the anchors, with one button that confirms it. */
async function showCode(section, memory, { context, said }) {
  replace(section, el("p", { class: "loading" }, "reading the code…"));
  let shown = await codeBeside(memory, context.signal);
  const isDrifted = memory.state === "drifted" && !memory.archived_at;
  const confirm = async () => {
    try {
      await confirmMemory(memory, shown.seen);
      context.say("Confirmed. It holds for the code as it is now.");
      context.again();
    } catch (error) {
      replace(said, failure(error));
      if (error.code !== "changed") return;
      shown = await codeBeside(memory, context.signal);
      fill();
    }
  };
  const pressed = button("Confirm", confirm, { class: "confirm primary", "aria-keyshortcuts": "c" });
  const history = el("details", { toggle: async ({ target }) => {
    if (!target.open || target.dataset.read) return;
    target.dataset.read = "1";
    const lists = await Promise.all(memory.anchors.map((anchor) => commitsOf(anchorTarget(anchor), context.signal)));
    target.append(...lists);
  } }, el("summary", null, "Commits that touched it"));
  const fill = () => replace(section,
    el("h2", null, "Code"),
    isDrifted && el("div", { class: "ask" }, el("p", null, "The code has changed since this was written or last confirmed. Does it still hold?"), pressed),
    shown.blocks, history);
  fill();
  if (isDrifted) context.keys({ c: () => pressed.click() });
}

function showForm(section, memory, context) {
  const form = formOf(memory, {
    context,
    done: (words) => {
      context.say(words);
      history.replaceState(null, "", "#/memory/" + memory.id);
      location.hash === "#/memory/" + memory.id && context.again();
    },
    cancel: () => {
      history.replaceState(null, "", "#/memory/" + memory.id);
      context.again();
    },
  });
  replace(section, form);
  form.querySelector("textarea").focus();
}

/** Shows links, what is near in meaning, and the history. */
async function showBelow(below, memory, context) {
  const { signal } = context;
  const [links, related, history] = [el("section"), el("section"), el("section")];
  replace(below, links, related, history);
  showLinks(links, memory, context);
  const [near, past] = await Promise.all([
    memory.archived_at ? { memories: [] } : call("memory.related", { id: memory.id, limit: 8 }, { signal }),
    call("memory.history", { ids: [memory.id] }, { signal }),
  ]);
  const linked = new Set((memory.links ?? []).map(({ id }) => id));
  const others = near.memories.filter(({ id }) => !linked.has(id));
  if (others.length > 0) {
    replace(related, el("h2", null, "Near in meaning"),
      el("ul", { class: "rows" }, others.map((other) => el("li", null, el("span", { class: "n" }, other.cosine?.toFixed(2) ?? ""), memoryLink(other), el("span", { class: "muted" }, " ", time(other.created)), " ", linkChoice(memory, other, context)))));
  }
  replace(history, el("h2", null, "History"), historyOf(past));
}

function showLinks(section, memory, context) {
  const links = memory.links ?? [];
  if (links.length === 0) return;
  const words = { superseded_by: "superseded by", source_of: "source of", related_to: "related to", derived_from: "derived from" };
  replace(section, el("h2", null, "Links"),
    el("ul", { class: "rows" }, links.map((link) => el("li", null, el("span", { class: "mark" }, words[link.relation] ?? link.relation), " ", memoryLink(link), link.archived && el("span", { class: "muted" }, " archived"), " ",
      button("Remove", async () => {
        const isFrom = link.relation === link.kind;
        await call("memory.unlink", { from: isFrom ? memory.id : link.id, to: isFrom ? link.id : memory.id, kind: link.kind });
        context.say("The link is removed");
        context.again();
      }, { class: "quiet", "aria-label": "Remove the link: " + (words[link.relation] ?? link.relation) + " " + nameOf(link) })))));
}

/** Returns a list of how this memory can be linked to another. */
function linkChoice(memory, other, context) {
  const choose = async ({ target }) => {
    if (!target.value) return;
    const words = KINDS.find(([kind]) => kind === target.value)[1];
    await call("memory.link", { from: memory.id, to: other.id, kind: target.value });
    context.say("Linked: " + words + " " + nameOf(other));
    context.again();
  };
  return el("select", { class: "quiet", "aria-label": "Link to " + nameOf(other), change: choose },
    el("option", { value: "" }, "link as…"), KINDS.map(([kind, words]) => el("option", { value: kind }, words)));
}

/** Shows the form for a new memory. */
export async function showAdd(root, context) {
  context.title("Add a memory");
  const about = context.query.get("about");
  const form = formOf(null, {
    context, about,
    done: (words, { memory, contradicted }) => {
      context.say(words);
      if (contradicted.length === 0) return (location.hash = "#/memory/" + memory.id);
      replace(root, el("h1", { tabindex: -1 }, "Stored"), el("p", null, memoryLink(memory)),
        el("p", { role: "status" }, "It may contradict " + count(contradicted.length, "memory", "memories") + ":"),
        el("ul", { class: "rows" }, contradicted.map((other) => el("li", null,
          el("span", { class: "mark" }, other.by + (other.cosine ? " " + other.cosine.toFixed(2) : "")), " ", memoryLink(other), " ",
          decide("The new one holds", () => call("memory.resolve", { winner: memory.id, loser: other.id }), context),
          decide("The old one holds", () => call("memory.resolve", { winner: other.id, loser: memory.id }), context),
          decide("Decide later", () => call("memory.link", { from: memory.id, to: other.id, kind: "contradicts" }), context)))));
      root.querySelector("h1").focus();
    },
    cancel: () => (location.hash = "#/memories"),
  });
  replace(root, el("h1", { tabindex: -1 }, "Add a memory"), form);
  form.querySelector("textarea").focus();
}

function decide(label, act, context) {
  return button(label, async ({ target }) => {
    const item = target.closest("li");
    try {
      await act();
      item.querySelectorAll("button").forEach((button) => button.remove());
      item.append(el("span", { class: "muted" }, label));
      context.say(label);
    } catch (error) {
      item.append(failure(error));
    }
  });
}
