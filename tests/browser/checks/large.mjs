// Does the page stay usable when there is a lot?

import { expect } from "../browser.mjs";

async function ten_thousand_memories_come_by_pages({ browser, fixture, say }) {
  const n = 10_000;
  const has = (await fixture.call("memory.list", { limit: 1 })).total;
  for (let i = has; i < n; i += 500) {
    const drafts = Array.from({ length: Math.min(500, n - i) }, (_, k) => ({
      content: `Row ${i + k}: measured on bench ${(i + k) % 97} with setting ${(i + k) % 31}, ${"and so on ".repeat((i + k) % 9)}`, tags: [`bench-${(i + k) % 97}`, `set-${i + k}`],
      created: new Date(Date.now() - (i + k) * 3_600_000).toISOString(),
    }));
    await fixture.call("memory.import", { drafts, own: true });
  }
  const page = await browser.open();
  const from = Date.now();
  await page.evaluate(() => (location.hash = "#/memories"));
  await page.getByText("10,000 memories", { exact: true }).waitFor();
  const first = Date.now() - from;
  await browser.settle(page);
  const whole = Date.now() - from;
  say(`     the list after ${first} ms, with its timeline after ${whole} ms`);
  expect((await page.locator("a.memory").count()) === 50, "fifty at a time");
  expect((await page.locator(".bars li").count()) <= 48, "few bars");
  await browser.go(page, "#/memories?from=9950");
  expect((await page.locator(".pager").innerText()).includes("9,951–10,000 of 10,000"), "the last page");
  await browser.go(page, "#/tags");
  const n_nodes = await page.evaluate(() => document.querySelectorAll("*").length);
  expect(n_nodes < 4000, `${n_nodes} elements for 10,000 tags`);
  await browser.close(page);
}

async function an_answer_of_a_hundred_megabytes_is_not_read({ browser }) {
  const page = await browser.open({
    prepare: (page) => page.addInitScript(() => {
      const send = window.fetch;
      window.n_taken = 0; // of the longest answer
      window.fetch = (address, request) => {
        if (!String(address).endsWith("/v1/search")) return send(address, request);
        const part = new Uint8Array(1 << 20).fill(120);
        let n = 0;
        return Promise.resolve(new Response(new ReadableStream({
          pull(stream) {
            window.n_taken = Math.max(window.n_taken, ++n);
            n <= 100 ? stream.enqueue(part) : stream.close();
          },
        }), { status: 200 }));
      };
    }),
  });
  await page.locator("#query").fill("anything");
  await page.locator(".failure", { hasText: "longer than 32 MiB" }).waitFor();
  const n_taken = await page.evaluate(() => window.n_taken);
  expect(n_taken < 40, `${n_taken} MiB were taken`);
  await page.keyboard.press("Escape");
  await page.keyboard.press("4");
  await browser.settle(page);
  expect((await page.locator("main").innerText()).includes("Worktrees"), "the page goes on");
  await browser.close(page);
}

async function a_long_text_and_a_long_file_are_shown_in_parts({ browser, fixture }) {
  const { memory } = await fixture.call("memory.add", { content: "word ".repeat(12_000) + "\n" + "x".repeat(3000), force: true });
  fixture.write("shop/long.py", Array.from({ length: 6000 }, (_, i) => `LINE_${i} = ${i}\n`).join(""));
  await fixture.call("sync", { sync: "full", wait_ms: 60_000 });
  const page = await browser.open({ width: 400 });
  for (const hash of [`#/memory/${memory.id}`, "#/memories?match=word", "#/code/shop/long.py?lines=5000-5001"]) {
    await browser.go(page, hash);
    const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    expect(over <= 0, `${hash}: ${over} pixels too wide`);
  }
  expect((await page.locator("pre .line").count()) <= 1500, "not all lines at once");
  await page.getByRole("button", { name: /lines before/ }).click();
  expect((await page.locator("pre .line").first().getAttribute("data-line")) !== "4980", "the lines before can be shown");
  await browser.close(page);
}

export default [ten_thousand_memories_come_by_pages, an_answer_of_a_hundred_megabytes_is_not_read, a_long_text_and_a_long_file_are_shown_in_parts];
