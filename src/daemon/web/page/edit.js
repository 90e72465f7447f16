/** Makes the form in which a memory is written. */

import { ApiError, call } from "./api.js";
import { button, el, failure, replace } from "./dom.js";

const words = (text) => text.split(",").map((word) => word.trim()).filter(Boolean);
const lines = (text) => text.split("\n").map((line) => line.trim()).filter(Boolean);
const placeOf = ({ path, symbol, lines }) => (symbol ? path + "#" + symbol : lines ? path + ":" + lines.join("-") : path);

/** Returns the form for a memory, or with null for a new one. `done` gets what to say, and the answer. */
export function formOf(memory, { context, done, cancel, about = null }) {
  const field = (name, label, value, attributes = {}) =>
    el("label", null, el("span", null, label), el("input", { name, value: String(value), autocomplete: "off", ...attributes }));
  const choice = (name, label, value, options) =>
    el("label", null, el("span", null, label), el("select", { name, value }, options.map(([value, text]) => el("option", { value }, text))));
  const said = el("div");
  const anchors = memory ? memory.anchors.map(placeOf) : about ? [about] : [];
  const form = el("form", { class: "editing", "aria-label": memory ? "Edit the memory" : "Add a memory" },
    field("title", "Title", memory?.title ?? "", { placeholder: "none" }),
    el("label", null, el("span", null, "Text"), el("textarea", { name: "content", rows: 8, required: true, value: memory?.content ?? "" })),
    field("tags", "Tags, with commas between", (memory?.tags ?? []).join(", ")),
    el("label", null, el("span", null, "About: PATH, PATH:10-20 or PATH#SYMBOL, one a line"), el("textarea", { name: "about", class: "mono", rows: Math.max(2, anchors.length), value: anchors.join("\n"), spellcheck: "false" })),
    el("div", { class: "fields" },
      choice("tier", "Tier", memory?.tier ?? "long", [["long", "long, no end"], ["mid", "mid, 7 days"], ["short", "short, 6 hours"]]),
      field("priority", "Priority, 1 to 10", memory?.priority ?? 5, { type: "number", min: 1, max: 10, step: 1 }),
      field("confidence", "Confidence, 0 to 1", memory?.confidence ?? 1, { type: "number", min: 0, max: 1, step: "any" }),
      field("container", "Container", memory?.container ?? "project")),
    el("details", null, el("summary", null, "More"),
      el("label", null, el("span", null, "Metadata, a JSON object"), el("textarea", { name: "metadata", class: "mono", rows: 3, spellcheck: "false", value: JSON.stringify(memory?.metadata ?? {}, null, 1) })),
      !memory && choice("near", "If another one says nearly the same", "", [["", "store nothing, and name it"], ["merge", "merge into that one"], ["force", "keep both"]]),
      el("label", { class: "check" }, el("input", { type: "checkbox", name: "allow_secret" }), " Store it although it looks like a credential")),
    said,
    el("div", { class: "actions" }, el("button", { class: "primary", "aria-keyshortcuts": "Control+Enter" }, "Save"), button("Cancel", cancel)));
  let known = memory;
  let isSaving = false;
  const save = async () => {
    if (isSaving || !form.reportValidity()) return;
    isSaving = true;
    try {
      const wanted = read(form);
      if (!memory) return done("Stored", await add(wanted));
      await checkUnchanged(known, (now) => (known = now), context);
      const { changed, redacted } = await call("memory.update", changes(memory, wanted));
      done(changed.length === 0 ? "Nothing has changed" : "Changed: " + changed.join(", ") + (redacted ? "; private parts were cut out" : ""));
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      replace(said, failure(error));
      if (/nearly the same|credential/.test(error.message)) form.querySelector("details").open = true;
    } finally {
      isSaving = false;
    }
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    save();
  });
  form.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) save();
  });
  return form;
}

/** Returns what is written in the form. */
function read(form) {
  const value = (name) => form.elements[name].value;
  let metadata;
  try {
    metadata = JSON.parse(value("metadata") || "{}");
  } catch {
    throw new ApiError(0, "usage", "metadata: not JSON", '{"key": "value"}');
  }
  return {
    title: value("title").trim(), content: value("content"), tags: words(value("tags")), about: lines(value("about")),
    tier: value("tier"), priority: Number(value("priority")), confidence: Number(value("confidence")), container: value("container").trim(),
    metadata, allow_secret: form.elements.allow_secret.checked, near: form.elements.near?.value,
  };
}

function add({ near, title, ...wanted }) {
  return call("memory.add", { ...wanted, ...(title && { title }), force: near === "force", merge: near === "merge" });
}

/** Returns only what differs, so that a change of somebody else to another field stays. */
function changes(memory, wanted) {
  const params = { id: memory.id, allow_secret: wanted.allow_secret };
  for (const name of ["content", "tier", "priority", "confidence", "container"]) if (wanted[name] !== memory[name]) params[name] = wanted[name];
  if (wanted.title !== (memory.title ?? "")) params.title = wanted.title;
  if (JSON.stringify(wanted.metadata) !== JSON.stringify(memory.metadata)) Object.assign(params, { metadata: wanted.metadata, replace_metadata: true });
  const difference = (these, those) => these.filter((one) => !those.includes(one));
  const anchors = memory.anchors.map(placeOf);
  const lists = { add_tags: difference(wanted.tags, memory.tags), remove_tags: difference(memory.tags, wanted.tags), add_about: difference(wanted.about, anchors), remove_about: difference(anchors, wanted.about) };
  for (const [name, list] of Object.entries(lists)) if (list.length > 0) params[name] = list;
  return params;
}

/** Fails once if the memory was changed since the form was opened. */
async function checkUnchanged(known, note, context) {
  const { memories: [now] } = await call("memory.get", { ids: [known.id] }, { signal: context.signal });
  if (now.updated === known.updated) return;
  note(now);
  throw new ApiError(409, "changed", "somebody has changed this memory since you opened it; now it says: " + now.content.slice(0, 500), "Save again to store what you wrote");
}
