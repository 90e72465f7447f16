// Does the page follow events, where the daemon sends them?

import { expect } from "../browser.mjs";

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
  expect((await page.evaluate(() => window.stream.address)) === "/v1/events?topics=progress,memories,views,drift", "it asks for the topics");
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
  const page = await browser.open({ hash: "#/memories" });
  await page.evaluate(() => document.activeElement.blur());
  const { memory } = await fixture.call("memory.add", { content: "written by somebody else just now", force: true });
  await page.locator("a.memory", { hasText: "written by somebody else just now" }).waitFor();
  await browser.go(page, "#/memory/" + memory.id);
  await fixture.call("memory.update", { id: memory.id, content: "changed by somebody else" });
  await page.locator(".text", { hasText: "changed by somebody else" }).waitFor();
  await browser.close(page);
}

export default [progress_is_shown_as_it_comes, a_list_shows_what_somebody_else_adds];
