/** Says numbers, sizes and times as a person reads them. */

const NUMBERS = new Intl.NumberFormat("en");

/** Returns a number with its thousands apart. */
export const number = (value) => NUMBERS.format(value);

/** Returns a count with its word: `1 memory`, `3 memories`. */
export function count(n, one, many = one + "s") {
  return number(n) + " " + (n === 1 ? one : many);
}

/** Returns a size in bytes. */
export function bytes(n) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  const unit = n < 1024 ? 0 : Math.min(Math.floor(Math.log2(n) / 10), units.length - 1);
  return (unit === 0 ? number(n) : (n / 1024 ** unit).toFixed(1)) + " " + units[unit];
}

/** Returns a duration: `45 s`, `12 min`, `3 h`, `5 d`. */
export function duration(seconds) {
  const units = [[86400 * 2, 86400, "d"], [7200, 3600, "h"], [120, 60, "min"], [0, 1, "s"]];
  const [, length, unit] = units.find(([from]) => seconds >= from) ?? units[3];
  return number(Math.round(seconds / length)) + " " + unit;
}

/** Returns how long ago a time is, or in how long it will be. */
export function ago(time) {
  const seconds = (Date.now() - Date.parse(time)) / 1000;
  if (Number.isNaN(seconds)) return String(time);
  if (Math.abs(seconds) < 45) return "just now";
  return seconds < 0 ? "in " + duration(-seconds) : duration(seconds) + " ago";
}

/** Returns a time as `2026-11-25 04:45`, in the time zone of the browser. */
export function when(time) {
  const date = new Date(time);
  if (Number.isNaN(date.getTime())) return String(time);
  const two = (value) => String(value).padStart(2, "0");
  const day = [date.getFullYear(), two(date.getMonth() + 1), two(date.getDate())].join("-");
  return day + " " + two(date.getHours()) + ":" + two(date.getMinutes());
}

/** Returns `1st`, `2nd`, `3rd`, `4th`. */
export function place(n) {
  const ending = n % 100 > 10 && n % 100 < 14 ? "th" : { 1: "st", 2: "nd", 3: "rd" }[n % 10] ?? "th";
  return number(n) + ending;
}

/** Returns the first line of a text, at most so long. */
export function firstLine(text, most = 160) {
  const line = text.split("\n").find((line) => line.trim() !== "")?.trim() ?? "";
  return line.length > most ? [...line].slice(0, most - 1).join("") + "…" : line;
}

/** Returns lines as `12` or `12-20`. */
export function span([first, last]) {
  return first >= last ? String(first) : first + "-" + last;
}

/** Returns what is being indexed, and how far. */
export function progressText(progress) {
  const { step, done, total } = progress;
  const what = { listing: "listing files", reading: "reading files", commits: "reading commits", embedding: "making vectors" }[step] ?? step;
  return what + ": " + number(done) + (total ? " of " + number(total) : "");
}
