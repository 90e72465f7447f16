// What does an open page do when the daemon goes away and comes back?

import { expect, until } from "../browser.mjs";

async function a_page_without_a_session_says_what_to_do({ browser }) {
  const context = await browser.browser.newContext();
  const page = await context.newPage();
  await browser.watch(page);
  await page.goto(browser.fixture.url.replace(/#.*/, ""));
  await page.locator("#connection", { hasText: "This page has no session" }).waitFor();
  await page.goto(browser.fixture.url.replace(/#.*/, "#token=wrong"));
  await page.locator("#connection", { hasText: "This page has no session" }).waitFor();
  expect(!page.url().includes("token"), "the token is out of the address");
  await browser.close(page);
}

async function a_connection_that_comes_back_is_taken_up({ browser }) {
  const page = await browser.open({ hash: "#/memories" });
  await page.context().setOffline(true);
  await page.keyboard.press("4");
  await page.locator("#connection", { hasText: "The daemon does not answer" }).waitFor();
  await page.context().setOffline(false);
  await until("the line is gone", async () => (await page.locator("#connection").innerText()) === "");
  await browser.settle(page);
  expect((await page.locator("main").innerText()).includes("Worktrees"), "the view is there");
  await browser.close(page);
}

async function a_killed_daemon_is_said_and_its_successor_too({ browser, fixture }) {
  const page = await browser.open({ hash: `#/memory/${fixture.ids.all[9]}?edit=1` });
  await page.locator("textarea[name=content]").fill("half a thought");
  const port = fixture.port;
  process.kill(await fixture.pid(), "SIGKILL");
  await page.getByRole("button", { name: "Save" }).click();
  await page.locator("#connection", { hasText: "The daemon does not answer" }).waitFor();
  expect((await page.locator("textarea[name=content]").inputValue()) === "half a thought", "what was written stays");
  await until("the port is free", async () => {
    try {
      fixture.serve(port);
      return true;
    } catch {
      return false;
    }
  });
  await page.locator("#connection", { hasText: "This page has no session" }).waitFor();
  expect((await page.locator("textarea[name=content]").inputValue()) === "half a thought", "what was written stays");
  await page.evaluate((hash) => (location.hash = hash), "#token=" + fixture.token);
  await until("the session is open again", async () => (await page.locator("#freshness").innerText()).includes("up to date"));
  expect(!page.url().includes("token"), "the token is out of the address");
  await page.locator("#query").fill("price");
  await page.locator("a.hit").first().waitFor();
  await browser.go(page, "#/memories");
  await page.evaluate(() => document.activeElement.blur());
  fixture.run("add", "--force", "typed after the restart");
  await page.locator("a.memory", { hasText: "typed after the restart" }).waitFor();
  await browser.close(page);
}

export default [a_page_without_a_session_says_what_to_do, a_connection_that_comes_back_is_taken_up, a_killed_daemon_is_said_and_its_successor_too];
