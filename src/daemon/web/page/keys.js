/** Knows the keys of the page. */

import { el, replace } from "./dom.js";

/** Where it is kept that single keys do nothing: speech input types them by accident. */
const OFF = "memod-keys-off";

const KEYS = [
  ["/", "search"],
  ["1 2 3 4", "search, memories, map, status"],
  ["↑ ↓", "move in a list; in the map, with ← →"],
  ["Enter", "open"],
  ["c", "confirm a drifted memory"],
  ["e", "edit a memory"],
  ["a", "add a memory"],
  ["n p", "next or previous page"],
  ["Ctrl Enter", "save what is written"],
  ["Esc", "close, or leave a field"],
  ["?", "show these keys"],
];

const VIEWS = { 1: "#/search", 2: "#/memories", 3: "#/map", 4: "#/status" };

const isOff = () => localStorage.getItem(OFF) === "1";

/** Acts on keys. `ofView` returns those of the view that is shown. */
export function watchKeys(ofView) {
  const help = document.getElementById("help");
  document.getElementById("keys").addEventListener("click", () => showHelp(help));
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || event.defaultPrevented || help.open) return;
    const isWriting = event.target.matches?.("input:not([type=checkbox]), textarea, select");
    if (event.key === "Escape" && isWriting) return event.target.blur();
    // While a memory is written, a key that misses its field must not leave the form.
    if (isWriting || isOff() || document.querySelector("form.editing")) return;
    const act = ofView()[event.key] ?? general(event.key, help);
    if (!act) return;
    event.preventDefault();
    act(event);
  });
}

function general(key, help) {
  if (key === "?") return () => showHelp(help);
  if (key === "/") return focusSearch;
  if (key === "a") return () => (location.hash = "#/add");
  return VIEWS[key] && (() => (location.hash = VIEWS[key]));
}

function focusSearch() {
  const field = document.getElementById("query");
  if (!field) return (location.hash = "#/search");
  field.focus();
  field.select();
}

function showHelp(help) {
  const rows = KEYS.map(([keys, what]) => [
    el("dt", null, keys.split(" ").map((key) => el("kbd", null, key))),
    el("dd", null, what),
  ]);
  const toggle = (event) => (event.target.checked ? localStorage.removeItem(OFF) : localStorage.setItem(OFF, "1"));
  replace(help,
    el("h2", { id: "help-title" }, "Keys"),
    el("dl", { class: "keys" }, rows),
    el("label", { class: "check" }, el("input", { type: "checkbox", checked: !isOff(), change: toggle }), " Single keys act"),
    el("form", { method: "dialog" }, el("button", { autofocus: true }, "Close")));
  help.showModal();
}
