// Does the page follow events?

import { expect, until } from "../browser.mjs";

/** Puts a stream in the place of the browser's, to which a check writes. */
const prepare = (page) => page.addInitScript(() => {
  window.EventSource = class {
    static OPEN = 1;
    constructor(address) {
      Object.assign(this, { address, readyState: 1 });
      window.stream = this;
      setTimeout(() => this.onopen?.());
    }
    addEventListener() {}
    close() {
      this.readyState = 2;
    }
  };
});

const send = (page, event) => page.evaluate((event) => window.stream.onmessage({ data: JSON.stringify(event) }), event);

async function progress_is_shown_as_it_comes({ browser }) {
  const page = await browser.open({ hash: "#/status", prepare });
  const topics = await page.evaluate(() => new URL(window.stream.address, location).searchParams.get("topics"));
  expect(topics === "progress,memories,views,drift", `it asks for the topics: ${topics}`);
  for (const done of [3, 7]) {
    await send(page, { topic: "progress", progress: { step: "reading", done, total: 10, done_bytes: done * 1024, total_bytes: 10_240 } });
    await page.locator("#freshness", { hasText: `reading files: ${done} of 10` }).waitFor();
    expect((await page.locator("progress").getAttribute("value")) === String(done), "the bar moves");
  }
  expect((await page.locator("section.progress").innerText()).includes("7.0 KiB of 10.0 KiB"), "with its sizes");
  await send(page, { topic: "progress", progress: null });
  await page.locator("#freshness", { hasText: "up to date" }).waitFor();
  expect((await page.locator("progress").count()) === 0, "the bar goes");
  await page.evaluate(() => window.stream.onmessage({ data: "no JSON" }));
  await send(page, { topic: "unknown" });
  await browser.close(page);
}

async function a_list_shows_what_somebody_else_adds({ browser, fixture }) {
  const page = await browser.open({ hash: "#/memories", prepare });
  await page.evaluate(() => document.activeElement.blur());
  const { memory } = await fixture.call("memory.add", { content: "written by somebody else just now", force: true });
  await send(page, { topic: "memories", ids: [memory.id], change: "add" });
  await page.locator("a.memory", { hasText: "written by somebody else just now" }).waitFor();
  await browser.go(page, "#/memory/" + memory.id);
  await fixture.call("memory.update", { id: memory.id, content: "changed by somebody else" });
  await send(page, { topic: "memories", ids: [memory.id], change: "update" });
  await page.locator(".text", { hasText: "changed by somebody else" }).waitFor();
  await browser.close(page);
}

/** Opens a view, and waits until the daemon sends it events. Returns the page, and the streams that have ended. */
async function openLive(browser, hash) {
  let live;
  const ended = [];
  const prepare = (page) => {
    live = page.waitForResponse(/\/v1\/events/);
    for (const end of ["requestfinished", "requestfailed"]) page.on(end, (request) => request.resourceType() === "eventsource" && ended.push(request));
  };
  const page = await browser.open({ hash, prepare });
  const response = await live;
  expect(response.status() === 200 && response.headers()["content-type"] === "text/event-stream", `events: ${response.status()}`);
  await page.evaluate(() => document.activeElement.blur());
  return { page, ended };
}

async function what_the_shell_adds_is_shown_at_once({ browser, fixture }) {
  const { page } = await openLive(browser, "#/memories");
  fixture.run("add", "--force", "typed in a shell while the page is open");
  await page.locator("a.memory", { hasText: "typed in a shell while the page is open" }).waitFor();
  await browser.close(page);
}

async function the_status_follows_the_files({ browser, fixture }) {
  const { page } = await openLive(browser, "#/status");
  const n_files = async () => Number((await page.locator("td[data-name=Files]").first().innerText()).replace(/\D/g, ""));
  for (let i = 0; i < 5; i++) fixture.write(`shop/new_${i}.py`, `NEW_${i} = ${i}\n`);
  await fixture.call("sync", { wait_ms: 60_000 });
  const { views } = await fixture.call("status");
  await until("the new files are counted", async () => (await n_files()) === views[0].files);
  await page.locator("#freshness", { hasText: "up to date" }).waitFor();
  await browser.close(page);
}

async function a_page_that_nobody_sees_has_no_stream({ browser, fixture }) {
  const { page, ended } = await openLive(browser, "#/memories");
  const become = (state) => page.evaluate((state) => {
    Object.defineProperty(document, "visibilityState", { value: state, configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));
  }, state);
  await become("hidden");
  await until("the stream ends", () => ended.length === 1);
  fixture.run("add", "--force", "typed while nobody looked");
  const live = page.waitForResponse(/\/v1\/events/);
  await become("visible");
  await live;
  await page.locator("a.memory", { hasText: "typed while nobody looked" }).waitFor();
  await browser.close(page);
}

async function without_room_for_a_stream_the_status_is_asked_for({ browser, fixture }) {
  const prepare = (page) => page.route(/\/v1\/events/, (route) => route.fulfill({ status: 503, headers: { "Retry-After": "1" }, body: "" }));
  const page = await browser.open({ hash: "#/status", prepare });
  fixture.write("shop/unseen.py", "UNSEEN = 1\n");
  const asked = await page.waitForResponse((response) => response.url().endsWith("/v1/status"), { timeout: 15_000 });
  expect(asked.ok(), "it is answered");
  await browser.close(page);
}

export default [
  progress_is_shown_as_it_comes, a_list_shows_what_somebody_else_adds, what_the_shell_adds_is_shown_at_once, the_status_follows_the_files,
  a_page_that_nobody_sees_has_no_stream, without_room_for_a_stream_the_status_is_asked_for,
];
