// Does the page change what it says, and only that?

import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, until } from "../browser.mjs";

const one = async (fixture, id) => (await fixture.call("memory.get", { ids: [id] })).memories[0];

async function a_memory_is_added_edited_forgotten_and_restored({ browser, fixture }) {
  const page = await browser.open({ hash: "#/add" });
  await page.locator("textarea[name=content]").fill("<b>the till</b> is counted at nine");
  await page.locator("input[name=tags]").fill("till, <i>evening</i>");
  await page.locator("textarea[name=about]").fill("shop/part_07.py#price_7");
  await page.keyboard.press("Control+Enter");
  await page.waitForURL(/#\/memory\/mem_/);
  await browser.settle(page);
  const id = page.url().split("/").pop();
  const stored = await one(fixture, id);
  expect(stored.content === "<b>the till</b> is counted at nine" && stored.anchors.length === 1 && stored.source === "api", JSON.stringify(stored));
  await page.keyboard.press("e");
  await page.locator("textarea[name=content]").fill("the till is counted at ten");
  await fixture.call("memory.update", { id, append: "and at noon" });
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("somebody has changed this memory").waitFor();
  expect((await one(fixture, id)).content.includes("at noon"), "nothing was overwritten");
  await page.getByRole("button", { name: "Save" }).click();
  await until("it is saved", async () => (await one(fixture, id)).content === "the till is counted at ten");
  await browser.settle(page);
  expect((await page.locator(".history").innerText()).includes("the till is counted at ten"), "the history shows the new text");
  expect((await page.locator(".history del").count()) > 0, "and the old one");
  await page.getByRole("button", { name: "Forget" }).click();
  await page.getByRole("button", { name: "Restore" }).click();
  await page.getByRole("button", { name: "Edit" }).waitFor();
  expect((await one(fixture, id)).archived_at === null, "it is back");
  await browser.close(page);
}

async function what_is_refused_is_said_and_nothing_is_lost({ browser }) {
  const page = await browser.open({ hash: "#/add" });
  await page.locator("textarea[name=content]").fill("the client renews a basket one hour before it ends.");
  await page.getByRole("button", { name: "Save" }).click();
  await page.locator(".failure", { hasText: "says nearly the same" }).waitFor();
  expect((await page.locator("textarea[name=content]").inputValue()).startsWith("the client"), "the text is still there");
  await page.locator("textarea[name=content]").fill("a note about nothing");
  await page.locator("textarea[name=about]").fill("shop/none.py");
  await page.getByRole("button", { name: "Save" }).click();
  await page.locator(".failure", { hasText: "none.py" }).waitFor();
  await browser.close(page);
}

async function duplicates_are_merged_and_contradictions_decided({ browser, fixture }) {
  const page = await browser.open({ hash: "#/duplicates" });
  await page.locator("article", { hasText: "renews a basket" }).getByRole("button", { name: "Merge the two" }).click();
  await page.getByText("Merged.").waitFor();
  const { total } = await fixture.call("memory.list", { match: "renews basket", limit: 5 });
  expect(total === 1, `${total} left`);
  await browser.go(page, "#/contradictions");
  await page.getByRole("button", { name: /This one holds: a session of the shop lasts 24/ }).click();
  await page.getByText("Decided:").first().waitFor({ state: "attached" });
  await page.reload();
  await browser.settle(page);
  expect((await page.locator("main").innerText()).includes("No open contradictions"), "it is decided");
  await browser.close(page);
}

async function code_that_changed_since_it_was_shown_is_not_confirmed({ browser, fixture }) {
  const id = fixture.ids.drifted[2];
  const page = await browser.open({ hash: `#/memory/${id}` });
  const path = join(fixture.repo, "shop/part_03.py");
  writeFileSync(path, readFileSync(path, "utf8").replace("round(amount * 5, 2)", "round(amount * 50, 2)"));
  await page.getByRole("button", { name: "Confirm" }).click();
  await page.getByText("the code has changed since it was shown").waitFor();
  expect((await one(fixture, id)).state === "drifted", "it is still drifted");
  await page.locator(".anchor pre", { hasText: "amount * 50" }).waitFor();
  await page.getByRole("button", { name: "Confirm" }).click();
  await until("it is confirmed", async () => (await one(fixture, id)).state === "fresh");
  await browser.close(page);
}

async function the_status_follows_by_itself({ browser, fixture }) {
  const page = await browser.open({ hash: "#/status" });
  const files = async () => Number(await page.locator("td[data-name=Files]").innerText());
  const before = await files();
  for (let i = 0; i < 3; i++) fixture.write(`shop/new_${i}.py`, `def new_${i}():\n    return ${i}\n`);
  appendFileSync(join(fixture.repo, "README.md"), "\nmore\n");
  await until("three more files", async () => (await files()) === before + 3);
  await browser.close(page);
}

async function a_worktree_can_be_chosen({ browser, fixture }) {
  const second = join(fixture.dir, "second");
  fixture.git("worktree", "add", "-q", "-b", "other", second);
  writeFileSync(join(second, "only_here.py"), "def only_in_the_second():\n    return 2\n");
  await fixture.call("sync", { cwd: second, sync: "full", wait_ms: 60_000 });
  const page = await browser.open();
  const choice = page.getByLabel("Worktree");
  expect((await choice.inputValue()) === fixture.repo, "that of `memo serve` is the first");
  await page.locator("#query").fill("only_in_the_second");
  await browser.settle(page);
  expect(!(await page.locator("#hits").innerText()).includes("only_here.py"), "it is not in the first one");
  await choice.selectOption(second);
  await page.locator("a.hit", { hasText: "only_here.py" }).first().waitFor();
  await browser.close(page);
}

export default [a_memory_is_added_edited_forgotten_and_restored, what_is_refused_is_said_and_nothing_is_lost, duplicates_are_merged_and_contradictions_decided, code_that_changed_since_it_was_shown_is_not_confirmed, the_status_follows_by_itself, a_worktree_can_be_chosen];
