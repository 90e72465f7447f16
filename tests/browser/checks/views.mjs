// Does each view have its content, and does anything in it run or leave?

import { join } from "node:path";

import { expect } from "../browser.mjs";
import { HOSTILE } from "../fixture.mjs";

/** Views with words that each must show. */
export const VIEWS = (fixture) => [
  ["search-empty", "#/search", ["One list of what is in the worktree", "kind:memory"]],
  ["search", "#/search?q=price+limit", ["memory", "symbol", "words,", "meaning,"]],
  ["search-phrase", "#/search?" + new URLSearchParams({ q: '"(a price] over the" c++ it\'s foo-bar {2} ^a$ \\' }), ["over the"]],
  ["search-commits", "#/search?q=higher+limit&kind=commits", ["shop: a higher limit", "commit"]],
  ["search-hostile", "#/search?q=hostile", [HOSTILE[0], HOSTILE[1]]],
  ["code", "#/code/shop/part_01.py?lines=9-13", ["def price_1", "How price_1 counts", "Basket1", "shop: the first parts"]],
  ["memories", "#/memories", [`${fixture.total} memories`, "Added, by", "Next"]],
  ["memories-filtered", "#/memories?tag=basket&sort=priority", ["tag: basket", "#basket"]],
  ["memory", `#/memory/${fixture.ids.drifted[0]}`, ["Does it still hold?", "Confirm", "def price_1", "Near in meaning", "History"]],
  ["memory-hostile", `#/memory/${fixture.ids.hostile[0]}`, [HOSTILE[0], "hostile number 0", "metadata"]],
  ["memory-edit", `#/memory/${fixture.ids.drifted[0]}?edit=1`, ["Title", "Save", "Cancel"]],
  ["add", "#/add", ["Add a memory", "Save"]],
  ["drift", "#/drift", ["6 memories are drifted or orphaned", "Confirm", "round(amount", "No longer about it"]],
  ["duplicates", "#/duplicates", ["nearly the same", "Merge the two", "cosine"]],
  ["contradictions", "#/contradictions", ["1 contradiction is open", "12", "24", "This one holds"]],
  ["tags", "#/tags", ["#prices", "#basket"]],
  ["map", "#/map", ["28 files", "shop/part_", "Used by", "Uses"]],
  ["status", "#/status", ["up to date", "main", "All 5 pass", "Not committed", "inotify"]],
];

async function every_view_has_its_content({ browser, fixture }) {
  const page = await browser.open();
  for (const [name, hash, words] of VIEWS(fixture)) {
    await browser.go(page, hash);
    const text = await page.locator("main").innerText();
    for (const word of words) expect(text.includes(word), `${name}: no "${word}" in:\n${text.slice(0, 600)}`);
    // A panel shows the message of an exception in its place.
    expect(!/is not (defined|a function)/.test(text), `${name}: an exception in:\n${text.slice(0, 600)}`);
    expect((await page.locator("h1").count()) === 1, `${name}: one heading of the first level`);
  }
  await browser.close(page);
}

async function html_of_the_repository_is_text({ browser, fixture }) {
  const page = await browser.open();
  const hashes = [
    ...VIEWS(fixture).map(([, hash]) => hash),
    ...HOSTILE.map((text) => "#/search?" + new URLSearchParams({ q: text })),
    ...fixture.ids.hostile.map((id) => "#/memory/" + id),
    "#/code/" + encodeURIComponent("src/<img src=x onerror=window.hacked=7>.py"), "#/code/README.md",
    "#/code/" + encodeURIComponent("<img src=x onerror=window.hacked=8>"), "#/memory/" + encodeURIComponent("<script>window.hacked=9</script>"),
    "#/" + encodeURIComponent("<img src=x onerror=window.hacked=10>"), "#/memories?tag=" + encodeURIComponent(HOSTILE[2]), "#/map?in=" + encodeURIComponent(HOSTILE[1]),
    "#/%E0%A4%A", "#/code/%", "#/memory/?edit=1", "#//", "#/memories?from=-5", "#/memories?state=none",
  ];
  for (const hash of hashes) {
    await browser.go(page, hash);
    const strange = await page.evaluate(() => document.querySelectorAll("main img, main iframe, main script, main style, main u, main b, form[action], [onload], [onerror]").length);
    expect(strange === 0, `${hash}: ${strange} elements that the page does not make`);
  }
  await browser.go(page, "#/code/" + encodeURIComponent("src/<img src=x onerror=window.hacked=7>.py"));
  const text = await page.locator("main").innerText();
  expect(text.includes("⟨U+202E⟩gnihsif"), "a control that turns text around is named");
  await browser.close(page);
}

async function axe_finds_nothing_in_any_view({ browser, fixture, shots, say }) {
  const found = [];
  let n_audits = 0;
  for (const scheme of ["light", "dark"]) {
    for (const width of [400, 1400]) {
      const page = await browser.open({ scheme, width, height: width === 400 ? 800 : 900 });
      const audit = async (name) => {
        n_audits++;
        for (const line of await browser.audit(page)) found.push(`${name} ${scheme} ${width}: ${line}`);
        const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        if (over > 0) found.push(`${name} ${scheme} ${width}: ${over} pixels too wide`);
        if (shots) await page.screenshot({ path: join(shots, `${name}-${scheme}-${width}.png`) });
      };
      for (const [name, hash] of VIEWS(fixture)) {
        await browser.go(page, hash);
        await audit(name);
      }
      await browser.go(page, "#/search?q=price+limit");
      for (let i = 0; i < 2; i++) await page.keyboard.press("ArrowDown");
      await browser.settle(page);
      await page.waitForTimeout(400);
      await audit("search-preview");
      await page.keyboard.press("?");
      await audit("keys");
      await browser.close(page);
    }
  }
  say(`     ${n_audits} audits`);
  expect(found.length === 0, found.join("\n     "));
}

async function the_page_is_light_and_asks_nobody_else({ browser, say }) {
  const page = await browser.open();
  await browser.settle(page);
  await browser.close(page);
  const total = [...browser.weights.values()].reduce((sum, n) => sum + n, 0);
  say(`     ${total} bytes in ${browser.weights.size} files`);
  expect(total <= 155_000, `${total} bytes`);
  expect([...browser.hosts].join() === "127.0.0.1", `hosts: ${[...browser.hosts].join(", ")}`);
}

export default [every_view_has_its_content, html_of_the_repository_is_text, axe_finds_nothing_in_any_view, the_page_is_light_and_asks_nobody_else];
