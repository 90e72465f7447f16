/**
 * Makes elements.
 *
 * Invariant: text is always a text node, and no attribute is code. What a repository has in it is never read as HTML.
 */

const SVG = "http://www.w3.org/2000/svg";

/** Attributes that are set on the element itself, because the attribute of that name has only the first value. */
const PROPERTIES = new Set(["value", "checked", "disabled", "selected", "open", "hidden", "readOnly"]);

/** Controls, and characters that change the order of others: shown, they could make a text look like another one. */
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u202a-\u202e\u2066-\u2069\ufeff]/g;

/** Returns a text with its controls named, and the ends of lines as on Unix. */
export function plain(text) {
  const name = (control) => "⟨U+" + control.codePointAt(0).toString(16).toUpperCase().padStart(4, "0") + "⟩";
  return String(text).replace(/\r\n/g, "\n").replace(CONTROLS, name);
}

function fill(element, attributes, children) {
  append(element, children);
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name, value);
    else if (PROPERTIES.has(name)) element[name] = value; // after the children: the value of a list is one of them
    else if (name === "href" && !String(value).startsWith("#")) throw new Error("a link leads out of the page");
    else if (/^(on|style$)/.test(name)) throw new Error(name + " is code");
    else element.setAttribute(name, value === true ? "" : plain(value));
  }
  return element;
}

function append(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : plain(child));
  }
}

/** Makes an element. A function among the attributes listens to the event of that name. */
export function el(name, attributes, ...children) {
  return fill(document.createElement(name), attributes, children);
}

/** Makes an element of a picture. */
export function svg(name, attributes, ...children) {
  return fill(document.createElementNS(SVG, name), attributes, children);
}

/** Puts children in the place of what an element has. */
export function replace(element, ...children) {
  element.replaceChildren();
  append(element, children);
  return element;
}

/** Returns a text with the given words marked. */
export function marked(text, words) {
  const shown = plain(text);
  const found = words.filter((word) => word.length > 1).map((word) => word.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&"));
  if (found.length === 0) return [shown];
  const parts = shown.split(new RegExp("(" + found.join("|") + ")", "giu"));
  return parts.map((part, i) => (i % 2 ? el("mark", null, part) : part));
}

/** Returns lines of code with their numbers. What is long can be scrolled with the keyboard, too. */
export function code(text, first, label, { words = [], from = 0, to = -1 } = {}) {
  const lines = plain(text).replace(/\n$/, "").split("\n");
  const longest = 2000;
  const rows = lines.map((line, i) => {
    const number = first + i;
    const cut = line.length > longest ? line.slice(0, longest) + "…" : line;
    const isMeant = number >= from && number <= to;
    return el("span", { class: isMeant ? "line meant" : "line", "data-line": number },
      el("span", { class: "text" }, marked(cut, words)), "\n");
  });
  const width = String(first + lines.length).length;
  const block = el("pre", { class: "code", tabindex: 0, role: "region", "aria-label": label }, el("code", null, rows));
  block.style.setProperty("--digits", width);
  return block;
}

/** Returns a button. It cannot be pressed twice while what it does is under way. */
export function button(label, act, attributes = {}) {
  const press = async (event) => {
    const pressed = event.currentTarget;
    if (pressed.getAttribute("aria-disabled") === "true") return;
    pressed.setAttribute("aria-disabled", "true");
    try {
      await act(event);
    } finally {
      pressed.removeAttribute("aria-disabled");
    }
  };
  return el("button", { type: "button", click: press, ...attributes }, label);
}

/** Returns what a request that failed is shown as. */
export function failure(error) {
  return el("div", { class: "failure", role: "alert" }, el("p", null, error.message), error.hint && el("p", { class: "muted" }, error.hint));
}

/** Moves the focus with the arrow keys between the elements that a selector finds. */
export function arrows(container, selector, { before = null, sideways = false } = {}) {
  container.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input, textarea, select")) return;
    const all = [...container.querySelectorAll(selector)];
    const at = all.indexOf(event.target.closest(selector));
    const [down, up] = sideways ? ["ArrowRight", "ArrowLeft"] : ["ArrowDown", "ArrowUp"];
    const to = { [down]: at + 1, [up]: at - 1, Home: 0, End: all.length - 1 }[event.key];
    if (to === undefined || at < 0) return;
    event.preventDefault();
    if (to < 0 && before) before.focus();
    else focusOn(all[Math.max(0, Math.min(to, all.length - 1))]);
  });
}

/** Focuses an element, and shows it whole. */
export function focusOn(element) {
  element?.focus({ preventScroll: true });
  (element?.closest("li, article") ?? element)?.scrollIntoView({ block: "nearest" });
}
