// Opens pages, and watches what no page may do.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Only these words of the console are expected: answers with an error status, which the checks ask for. */
const EXPECTED = /Failed to load resource/;

const TYPES = { html: "text/html; charset=utf-8", js: "text/javascript; charset=utf-8", css: "text/css; charset=utf-8", svg: "image/svg+xml" };

export class Browser {
  /** `dir` has the files of the page, if they are not to be those of the daemon. */
  constructor(browser, axe, fixture, dir = null) {
    Object.assign(this, { browser, axe, fixture, dir });
    this.problems = [];
    this.hosts = new Set();
    this.weights = new Map();
    this.open_requests = new WeakMap();
  }

  /** Opens the page with a session, `prepare` before it loads. */
  async open({ width = 1400, height = 900, scheme = "light", hash = "#/search", motion = "reduce", prepare } = {}) {
    const context = await this.browser.newContext({ viewport: { width, height }, colorScheme: scheme, reducedMotion: motion });
    const page = await context.newPage();
    await this.watch(page);
    await prepare?.(page);
    await page.goto(this.fixture.url);
    await page.locator("#query").waitFor();
    if (hash !== "#/search") await this.go(page, hash);
    return page;
  }

  /** Answers requests for files of the page from a directory, with the headers of the daemon. */
  async replaceFiles(page) {
    await page.route(({ pathname }) => !pathname.startsWith("/v1") && pathname !== "/health", async (route) => {
      const { pathname } = new URL(route.request().url());
      const path = join(this.dir, pathname === "/" ? "index.html" : pathname);
      if (!existsSync(path)) return route.fulfill({ status: 404 });
      const answer = await fetch(this.fixture.origin + "/", { method: "HEAD" }).catch(() => null);
      if (!answer) return route.abort();
      const { headers } = answer;
      const kept = Object.fromEntries([...headers].filter(([name]) => /security|^x-|origin|referrer|cache/.test(name)));
      await route.fulfill({ body: readFileSync(path), headers: { ...kept, "content-type": TYPES[path.split(".").pop()] } });
    });
  }

  async watch(page) {
    if (this.dir) await this.replaceFiles(page);
    const note = (what) => this.problems.push(`${what} (${page.url().replace(/.*#/, "#").slice(0, 60)})`);
    page.on("pageerror", (error) => note(`exception: ${error.message}`));
    page.on("dialog", async (dialog) => {
      note(`dialog: ${dialog.message()}`);
      await dialog.dismiss();
    });
    page.on("console", (message) => {
      if (message.type() === "error" && !EXPECTED.test(message.text())) note(`console: ${message.text()}`);
    });
    // A stream of events has no end, so the page is at rest without it.
    const open = new Set();
    this.open_requests.set(page, open);
    for (const end of ["requestfinished", "requestfailed"]) page.on(end, (request) => open.delete(request));
    page.on("request", (request) => {
      this.hosts.add(new URL(request.url()).hostname);
      if (request.resourceType() !== "eventsource") open.add(request);
    });
    page.on("response", async (response) => {
      const { pathname } = new URL(response.url());
      if (pathname.startsWith("/v1") || pathname === "/health" || !response.ok()) return;
      const body = await response.body().catch(() => null);
      if (body) this.weights.set(pathname, body.length);
    });
    await page.addInitScript(() => {
      window.violations = [];
      addEventListener("securitypolicyviolation", (event) => window.violations.push(event.violatedDirective + " " + event.blockedURI));
    });
  }

  /** Goes to a view, and waits until it is there. */
  async go(page, hash) {
    await page.evaluate((hash) => (location.hash = hash), hash);
    await this.settle(page);
  }

  /** Waits until nothing is being loaded. */
  async settle(page) {
    await page.waitForTimeout(150);
    await page.waitForFunction(() => ![...document.querySelectorAll(".loading")].some((one) => !one.closest("details:not([open])")), null, { timeout: 60_000 });
    await until("nothing is being loaded", () => this.open_requests.get(page).size === 0, 60_000);
    await page.waitForTimeout(150);
  }

  async close(page) {
    await this.checkClean(page);
    await page.context().close();
  }

  /** Notes what ran or was blocked in a page. */
  async checkClean(page) {
    const { hacked, violations } = await page.evaluate(() => ({ hacked: window.hacked, violations: window.violations }));
    if (hacked !== undefined) this.problems.push(`a script of the repository ran: ${hacked}`);
    for (const violation of violations) this.problems.push(`content security policy: ${violation}`);
  }

  /** Returns what axe finds, a line each. */
  async audit(page) {
    return page.evaluate(`${this.axe}; axe.run(document, { resultTypes: ["violations"] }).then(({ violations }) => violations.map(({ id, impact, nodes }) => id + " (" + impact + "): " + nodes.slice(0, 3).map((node) => node.target.join(" ")).join("; ")))`);
  }
}

/** Fails if a condition does not hold. */
export function expect(condition, words) {
  if (!condition) throw new Error(words);
}

/** Waits until something holds. */
export async function until(words, condition, ms = 20_000) {
  const end = Date.now() + ms;
  for (;;) {
    if (await condition()) return;
    if (Date.now() > end) throw new Error(`not within ${ms / 1000} s: ${words}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
