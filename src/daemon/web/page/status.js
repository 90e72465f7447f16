/** Shows how the daemon is: freshness, what is indexed and how far, sizes, and whether all checks pass. */

import { call, isOther } from "./api.js";
import { place as codePlace } from "./code.js";
import { button, el, failure, replace } from "./dom.js";
import * as events from "./events.js";
import { bytes, count, duration, number, progressText } from "./format.js";

const row = (name, ...value) => [el("dt", null, name), el("dd", null, value)];

export async function show(root, context) {
  const { signal } = context;
  context.title("Status");
  const parts = Object.fromEntries(["notes", "worktrees", "progress", "memories", "index", "watch", "checks", "changes", "skipped", "counters"].map((name) => [name, el("section", { class: name })]));
  replace(root, el("h1", { tabindex: -1 }, "Status"), parts.notes, parts.progress, parts.worktrees,
    el("div", { class: "cards" }, parts.memories, parts.index, parts.watch, parts.checks, parts.changes, parts.skipped, parts.counters));
  const fill = (status) => fillAll(parts, status);
  const refresh = async () => fill(await call("status", {}, { signal }));
  const [, stats] = await Promise.all([refresh(), call("memory.stats", {}, { signal })]);
  fillSizes(parts, stats);
  events.watchStatus(signal);
  let timer = null;
  const later = () => {
    timer ??= setTimeout(() => {
      timer = null;
      if (!signal.aborted) refresh().catch(() => {});
    }, 700);
  };
  events.listen("status", fill, signal);
  events.listen("progress", ({ worktree, progress }) => {
    if (isOther(worktree)) return;
    fillProgress(parts.progress, progress);
    if (!progress) later();
  }, signal);
  for (const topic of ["views", "memories", "drift", "lost"]) events.listen(topic, later, signal);
  await Promise.all([showChecks(parts.checks, context), showChanges(parts.changes, signal)]);
}

function fillAll(parts, status) {
  const { daemon, repo, state_dir, views, counts, sizes, anchors, counters, pending, skipped, watch, hooks, model, vectors, degraded } = status;
  replace(parts.notes, degraded.length > 0 && el("ul", { class: "notes warn" }, degraded.map((note) => el("li", null, note))));
  fillProgress(parts.progress, status.progress ?? null);
  const cell = (name, ...value) => el("td", { "data-name": name }, value);
  replace(parts.worktrees, el("h2", null, "Worktrees"),
    el("table", { class: "wide" },
      el("thead", null, el("tr", null, ["Worktree", "State", "Branch", "Files", "Commits"].map((name) => el("th", { scope: "col" }, name)))),
      el("tbody", null, views.map((view) => el("tr", null,
        el("th", { scope: "row" }, el("code", { class: "break" }, view.root)),
        cell("State", el("span", { class: "state " + (view.fresh ? "fresh" : "drifted") }, view.fresh ? "up to date" : "not up to date"), view.polled && ", compared with each query"),
        cell("Branch", el("code", { class: "break" }, (view.head ?? "none").replace(/^refs\/heads\//, ""))),
        cell("Files", number(view.files)), cell("Commits", number(view.commits), view.older_commits && ", and older ones"))))));
  const link = (state, n) => [el("a", { href: "#/" + (state === "fresh" ? "memories?state=fresh" : "drift") }, el("span", { class: "state " + state }, state)), " " + number(n) + " "];
  parts.states ??= el("dd");
  replace(parts.states, ["fresh", "drifted", "orphaned"].map((state) => link(state, anchors[state])), anchors.unknown > 0 && number(anchors.unknown) + " not known yet");
  replace(parts.index, el("h2", null, "Index"), el("dl", { class: "facts" },
    row("contents", number(counts.blobs)), row("chunks", number(counts.chunks)), row("vectors", number(counts.embeddings) + ", " + vectors),
    row("database", bytes(sizes.index_bytes)),
    row("pending", pending.files + pending.embeddings === 0 ? "nothing" : [pending.files, pending.embeddings].map((n, i) => n > 0 && count(n, ["file", "vector"][i])).filter(Boolean).join(", ")),
    row("model", model.id + ", " + number(model.dims) + " dimensions, " + model.state, model.next && " · next " + model.next.id + ", " + number(model.next.done) + " of " + number(model.next.total))));
  replace(parts.watch, el("h2", null, "Daemon"), el("dl", { class: "facts" },
    row("version", daemon.version + ", process " + daemon.pid), row("running for", duration(daemon.uptime_s)), row("in memory", bytes(daemon.rss_bytes)),
    row("watch", watch.backend + ", " + count(watch.dirs, "directory", "directories")), row("hooks", hooks),
    row("log", bytes(sizes.log_bytes)), row("repository", el("code", { class: "break" }, repo)), row("state", el("code", { class: "break" }, state_dir))));
  const reasons = Object.entries(skipped);
  replace(parts.skipped, el("h2", null, "Files left out"), reasons.length === 0 ? el("p", { class: "muted" }, "none") : el("dl", { class: "facts" }, reasons.map(([reason, n]) => row(reason, number(n)))));
  replace(parts.counters, el("h2", null, "Since the daemon started"), el("dl", { class: "facts" },
    row("searches", number(counters.queries)), row("changes of files", number(counters.events)), row("comparisons", number(counters.reconciles) + ", " + number(counters.rescans) + " of everything"),
    row("files read", number(counters.parses)), row("vectors made", number(counters.embeds))));
}

/** Shows what is being indexed. The bar stays the same element, so that it moves. */
function fillProgress(section, progress) {
  if (!progress) return replace(section);
  const bar = section.querySelector("progress") ?? el("progress", { "aria-label": "Indexing" });
  if (progress.total) [bar.max, bar.value] = [progress.total, progress.done];
  else bar.removeAttribute("value");
  const sizes = progress.total_bytes ? ", " + bytes(progress.done_bytes) + " of " + bytes(progress.total_bytes) : "";
  replace(section, el("p", null, progressText(progress) + sizes), bar);
}

function fillSizes(parts, stats) {
  const size = stats.backups.reduce((sum, backup) => sum + backup.bytes, 0);
  replace(parts.memories, el("h2", null, "Memories"), el("dl", { class: "facts" },
    row("living", el("a", { href: "#/memories" }, number(stats.living)), stats.expiring > 0 && ", " + number(stats.expiring) + " of them end within a day"),
    row("archive", el("a", { href: "#/memories?archived=1" }, number(stats.archived))),
    el("dt", null, "about code"), parts.states,
    row("tiers", stats.tiers.map(({ name, memories }) => number(memories) + " " + name).join(", ") || "none"),
    row("links", number(stats.links + stats.links_archived)), row("text", bytes(stats.content_bytes)),
    row("database", bytes(stats.bytes), stats.elsewhere?.length > 0 && ", and " + count(stats.elsewhere.length, "other one", "other ones")),
    row("backups", stats.backups.length === 0 ? "none" : number(stats.backups.length) + ", " + bytes(size))));
}

async function showChecks(section, context) {
  const run = async () => {
    replace(section, el("h2", null, "Checks"), el("p", { class: "loading" }, "checking the databases…"));
    try {
      const { checks } = await call("doctor", {}, { signal: context.signal });
      const n_failed = checks.filter(({ ok }) => !ok).length;
      replace(section, el("h2", null, "Checks"),
        el("p", { class: "told", role: "status" }, n_failed === 0 ? "All " + number(checks.length) + " pass." : count(n_failed, "check fails", "checks fail") + "."),
        el("ul", { class: "checks" }, checks.map(({ name, ok, detail, hint }) =>
          el("li", { class: ok ? "ok" : "bad" }, el("strong", null, name), el("span", { class: "state " + (ok ? "fresh" : "orphaned") }, ok ? "ok" : "failed"), el("span", { class: "detail" }, detail), hint && el("span", { class: "hint" }, hint)))),
        button("Check again", run));
    } catch (error) {
      if (!context.signal.aborted) replace(section, el("h2", null, "Checks"), failure(error));
    }
  };
  await run();
}

async function showChanges(section, signal) {
  replace(section, el("h2", null, "Not committed"), el("p", { class: "loading" }, "comparing the worktree…"));
  try {
    const { files, total, base, subject, complete, reason } = await call("changed", { limit: 50 }, { signal });
    const marks = { added: "A", modified: "M", removed: "D", renamed: "R" };
    replace(section, el("h2", null, "Not committed"),
      base && el("p", { class: "muted" }, "since ", el("code", null, base.oid.slice(0, 10)), " ", subject),
      total === 0 ? el("p", { class: "muted" }, "nothing") : el("ul", { class: "changes" }, files.map((file) => el("li", null,
        el("abbr", { title: file.status }, marks[file.status]), " ",
        file.status === "removed" ? el("code", { class: "break" }, file.path) : el("a", { href: codePlace(file.path) }, file.path),
        file.from && el("span", { class: "muted" }, " from " + file.from),
        file.symbols && el("span", { class: "muted symbols" }, symbols(file.symbols))))),
      total > files.length && el("p", { class: "muted" }, "and " + number(total - files.length) + " more"),
      !complete && el("p", { class: "note" }, reason));
  } catch (error) {
    if (!signal.aborted) replace(section, el("h2", null, "Not committed"), el("p", { class: "muted" }, error.message));
  }
}

function symbols({ added, changed, removed }) {
  const some = (names, sign) => names.slice(0, 4).map((name) => sign + name).concat(names.length > 4 ? [sign + number(names.length - 4) + " more"] : []);
  return [...some(added, "+"), ...some(changed, "~"), ...some(removed, "−")].join(" ");
}
