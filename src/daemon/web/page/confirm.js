/** Confirms that a memory still holds for the code as it is now. */

import { ApiError, call } from "./api.js";
import { codeOf } from "./code.js";
import { el } from "./dom.js";
import { anchorTarget, stateMark } from "./parts.js";

/** Returns the code of each anchor of a memory, and the texts that were shown. */
export async function codeBeside(memory, signal) {
  const seen = [];
  const blocks = await Promise.all(memory.anchors.map(async (anchor) => {
    const target = anchorTarget(anchor);
    const isGone = anchor.state === "orphaned";
    const shown = isGone ? { node: null, parts: null } : await codeOf(target, "Code of " + target, signal);
    seen.push([target, textOf(shown.parts)]);
    return el("section", { class: "anchor" },
      el("h3", null, el("code", null, target), " ", stateMark(anchor.state)),
      anchor.note && el("p", { class: "muted" }, anchor.note),
      isGone && !anchor.note && el("p", { class: "muted" }, "It is gone from the worktree."),
      shown.node);
  }));
  return { blocks, seen };
}

function textOf(parts) {
  return parts && parts.map((part) => part.text).join("\n");
}

/**
 * Confirms a memory for the code that was seen. If the code has changed since it was shown, nothing is confirmed, because nobody
 * has compared the memory with it.
 */
export async function confirmMemory(memory, seen) {
  for (const [target, text] of seen) {
    if (text === null) continue;
    const { parts } = await call("show", { target });
    if (textOf(parts) !== text) {
      throw new ApiError(409, "changed", "the code has changed since it was shown here", "it is shown anew; compare again, then confirm");
    }
  }
  return call("memory.confirm", { id: memory.id });
}
