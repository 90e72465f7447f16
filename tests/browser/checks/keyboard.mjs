// Can everything be done with the keyboard alone?

import { expect, until } from "../browser.mjs";

const active = (page) => page.evaluate(() => document.activeElement.innerText || document.activeElement.value || document.activeElement.tagName);

async function a_drifted_memory_is_found_read_and_confirmed({ browser, fixture }) {
  const [id] = fixture.ids.drifted;
  const page = await browser.open({ hash: "#/status" });
  await page.keyboard.press("/");
  await page.waitForSelector("#query:focus");
  await page.keyboard.type("how price_1 counts kind:memory");
  await page.locator("a.hit").first().waitFor();
  await browser.settle(page);
  for (let n = 0; !(await active(page)).includes("How price_1 counts"); n++) {
    expect(n < 40, "the arrows reach the hit");
    await page.keyboard.press("ArrowDown");
  }
  await page.keyboard.press("Enter");
  await browser.settle(page);
  expect(page.url().includes(id), page.url());
  expect((await active(page)).includes("How price_1 counts"), `the heading has the focus: ${await active(page)}`);
  expect((await page.locator(".anchor pre").innerText()).includes("round(amount * 3, 2)"), "the code is beside it");
  await page.keyboard.press("c");
  await until("it is confirmed", async () => (await fixture.call("memory.get", { ids: [id] })).memories[0].state === "fresh");
  await page.getByRole("status").filter({ hasText: "Confirmed" }).waitFor({ state: "attached" });
  await browser.settle(page);
  expect((await page.locator("button.confirm").count()) === 0, "there is nothing to confirm any more");
  expect((await page.locator(".history").innerText()).includes("confirm"), "the history has it");
  await page.keyboard.press("Alt+ArrowLeft");
  await browser.settle(page);
  expect((await active(page)).includes("How price_1 counts"), "Back leads to the hit");
  await browser.close(page);
}

async function drifted_memories_are_confirmed_one_after_the_other({ browser, fixture }) {
  const page = await browser.open({ hash: "#/drift" });
  const n_before = await page.locator("article").count();
  const first = page.locator("article:has(button.confirm)").first();
  const name = await first.locator("h2 a").innerText();
  for (let n = 0; (await active(page)) !== name; n++) {
    expect(n < 10, "the arrows reach it");
    await page.keyboard.press("ArrowDown");
  }
  await page.keyboard.press("c");
  await until("it leaves the list", async () => (await page.locator("article").count()) === n_before - 1);
  expect((await page.evaluate(() => !!document.activeElement.closest("article"))), "the next one has the focus");
  const { total } = await fixture.call("memory.list", { state: ["drifted"], limit: 1 });
  expect(total === 3, `${total} are left`);
  await browser.close(page);
}

async function the_map_and_the_lists_follow_the_arrows({ browser }) {
  const page = await browser.open();
  await page.keyboard.press("Escape");
  await page.keyboard.press("3");
  await browser.settle(page);
  await page.waitForSelector("svg[role=listbox]");
  await page.locator("svg[role=listbox]").focus();
  const chosen = () => page.locator("[role=option][aria-selected=true]").getAttribute("aria-label");
  const first = await chosen();
  await page.keyboard.press("ArrowRight");
  const second = await chosen();
  expect(first !== second, `${first} ${second}`);
  await page.keyboard.press("Home");
  await page.locator(".edges path").first().waitFor({ state: "attached" });
  expect((await page.locator(".panel").innerText()).includes("Used by"), "the panel says who uses it");
  await page.keyboard.press("Enter");
  await browser.settle(page);
  expect(page.url().includes("#/code/"), page.url());
  await page.keyboard.press("2");
  await browser.settle(page);
  await page.keyboard.press("n");
  await browser.settle(page);
  expect((await page.locator(".pager").innerText()).includes("51–100 of"), "the next page");
  await page.keyboard.press("?");
  await page.locator("dialog[open]").waitFor();
  await page.keyboard.press("Escape");
  expect((await page.locator("dialog[open]").count()) === 0, "Escape closes the keys");
  await browser.close(page);
}

async function everything_is_reached_by_tab({ browser }) {
  const page = await browser.open({ hash: "#/drift" });
  await page.evaluate(() => document.activeElement.blur());
  const reached = new Set();
  for (let n = 0; n < 120; n++) {
    await page.keyboard.press("Tab");
    reached.add(await active(page));
    const outline = await page.evaluate(() => {
      const { outlineStyle, outlineWidth } = getComputedStyle(document.activeElement);
      return document.activeElement === document.body || (outlineStyle !== "none" && parseFloat(outlineWidth) >= 1);
    });
    expect(outline, `the focus shows on: ${await active(page)}`);
  }
  for (const word of ["Search", "Map", "Keys", "Drift", "Add", "Confirm", "Edit", "Forget"]) expect(reached.has(word), `Tab reaches ${word}`);
  await browser.close(page);
}

export default [a_drifted_memory_is_found_read_and_confirmed, drifted_memories_are_confirmed_one_after_the_other, the_map_and_the_lists_follow_the_arrows, everything_is_reached_by_tab];
