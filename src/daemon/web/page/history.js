/** Shows what was changed in a memory, and by whom. */

import { el } from "./dom.js";
import { when } from "./format.js";

/** Longest value that is shown, characters. */
const MAX_VALUE = 1000;

/** Returns a list of changes, newest first. */
export function historyOf({ changes }) {
  return el("ol", { class: "history", reversed: true }, [...changes].reverse().map((change) =>
    el("li", null,
      el("p", null, el("strong", null, change.action), el("span", { class: "muted" }, " " + when(change.at) + " · " + change.author + " · " + change.source)),
      Object.entries(change.fields).map(([name, values]) => field(name, values)))));
}

function field(name, values) {
  const [before, after] = Array.isArray(values) && values.length === 2 ? values : [null, values];
  if (name === "anchors") return el("p", { class: "muted" }, "code: " + (places(before) === places(after) ? places(after) + ", as it was then" : places(before) + " → " + places(after)));
  const [old, now] = [shown(before), shown(after)];
  return el("div", { class: "change" }, el("span", { class: "muted" }, name),
    old !== "" && el("del", null, el("span", { class: "unseen" }, "before: "), old), now !== "" && el("ins", null, el("span", { class: "unseen" }, "after: "), now));
}

function shown(value) {
  if (value === null || value === undefined) return "";
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.length > MAX_VALUE ? text.slice(0, MAX_VALUE) + "…" : text;
}

function places(anchors) {
  if (!Array.isArray(anchors) || anchors.length === 0) return "none";
  return anchors.map(({ path, symbol, lines }) => path + (symbol ? "#" + symbol : lines ? ":" + lines.join("-") : "")).join(", ");
}
