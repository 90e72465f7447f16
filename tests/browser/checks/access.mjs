// Does reading change nothing?

import { expect } from "../browser.mjs";
import { VIEWS } from "./views.mjs";

async function all(fixture) {
  const { memories } = await fixture.call("memory.list", { limit: 1000 });
  return JSON.stringify(memories.map(({ anchors, ...memory }) => memory).sort((a, b) => (a.id < b.id ? -1 : 1)));
}

async function reading_changes_no_count({ browser, fixture }) {
  const before = await all(fixture);
  const page = await browser.open();
  for (const [, hash] of VIEWS(fixture)) await browser.go(page, hash);
  await browser.go(page, "#/search?q=basket&kind=memories");
  for (let i = 0; i < 5; i++) {
    await page.keyboard.press("ArrowDown");
    await page.waitForTimeout(300);
  }
  await page.keyboard.press("Enter");
  await browser.settle(page);
  expect((await page.locator("main dl").innerText()).includes("never"), "a memory that was only read was never recalled");
  await browser.close(page);
  const after = await all(fixture);
  expect(before === after, "a memory was changed by reading");
  expect(!/"access_count":[1-9]/.test(after), "something counts as recalled");
}

export default [reading_changes_no_count];
