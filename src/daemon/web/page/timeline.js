/** Shows when memories were added, as bars. */

import { atMost, call } from "./api.js";
import { arrows, el } from "./dom.js";
import { count } from "./format.js";

const MAX_BARS = 48;
const HOUR = 3600 * 1000;
const DAY = 24 * HOUR;

/** Lengths of time that a bar may stand for: its milliseconds if it is always the same, or its months. */
const UNITS = [
  { name: "hour", ms: HOUR }, { name: "day", ms: DAY }, { name: "week", ms: 7 * DAY },
  { name: "month", months: 1 }, { name: "quarter", months: 3 }, { name: "year", months: 12 }, { name: "decade", months: 120 },
];

/** Returns the beginnings of the bars from the oldest to the newest, and the end of the last one, in UTC. */
export function bounds(oldest, newest) {
  for (const unit of UNITS) {
    const all = [first(oldest, unit)];
    while (all[all.length - 1] <= newest && all.length <= MAX_BARS + 1) all.push(next(all[all.length - 1], unit));
    if (all.length <= MAX_BARS + 1 || unit === UNITS[UNITS.length - 1]) return { unit: unit.name, all };
  }
}

function first(time, { ms, months }) {
  // Weeks begin on Monday; 1970 began on a Thursday.
  const shift = ms === 7 * DAY ? 4 * DAY : 0;
  if (ms) return Math.floor((time - shift) / ms) * ms + shift;
  const date = new Date(time);
  const month = date.getUTCFullYear() * 12 + date.getUTCMonth();
  const start = Math.floor(month / months) * months;
  return Date.UTC(Math.floor(start / 12), start % 12);
}

function next(time, { ms, months }) {
  if (ms) return time + ms;
  const date = new Date(time);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + months);
}

/**
 * Returns the bars for the memories that a filter selects. `to(since, until)` is the address of those of one bar.
 *
 * Each bar is a question for a count, so that ten thousand memories are no longer to wait for than a few.
 */
export async function timeline(filter, stats, to, signal) {
  if (!stats.oldest || !stats.newest) return null;
  const { unit, all } = bounds(Date.parse(stats.oldest), Date.parse(stats.newest));
  if (all.length < 3) return null; // a single bar says nothing
  const iso = (time) => new Date(time).toISOString();
  const questions = all.slice(0, -1).map((since, i) => async () => {
    const { total } = await call("memory.list", { ...filter, since: iso(since), until: iso(all[i + 1]), limit: 1 }, { signal });
    return total;
  });
  const totals = await atMost(4, questions);
  const most = Math.max(1, ...totals);
  const day = (time) => iso(time).slice(0, unit === "hour" ? 16 : 10).replace("T", " ");
  const bars = totals.map((total, i) => {
    const label = day(all[i]) + ": " + count(total, "memory", "memories");
    const bar = el("a", { href: to(iso(all[i]), iso(all[i + 1])), tabindex: i === totals.length - 1 ? 0 : -1, title: label, "aria-label": label });
    bar.style.setProperty("--part", total === 0 ? 0 : Math.max(0.05, total / most));
    return el("li", null, bar);
  });
  const list = el("ol", { class: "bars" }, bars);
  arrows(list, "a", { sideways: true });
  return el("figure", { class: "timeline" }, el("figcaption", null, "Added, by " + unit), list,
    el("div", { class: "axis", "aria-hidden": "true" }, el("span", null, day(all[0])), el("span", null, day(all[all.length - 2]))));
}
