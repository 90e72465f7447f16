// Makes a repository with code, commits and memories, and runs its daemon.

import { execFileSync, spawnSync } from "node:child_process";
import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** What would run, close a tag or leave an attribute if it were read as HTML. Each sets `document.title` or a global if it runs. */
export const HOSTILE = [
  `<script>window.hacked = 1</script>`,
  `<img src=x onerror="window.hacked = 2">`,
  `"><svg onload="window.hacked = 3">`,
  `</pre></code></main><iframe srcdoc="<script>parent.hacked = 4</script>"></iframe>`,
  `javascript:window.hacked=5`,
  `{{constructor.constructor('window.hacked = 6')()}}`,
  `&lt;b&gt;not bold&lt;/b&gt; <b>bold</b>`,
  `<style>body { display: none }</style>`,
  `<form action=/><button>ok</button></form>`,
];

/** Names of files that are HTML; those that a file system or git on this system refuses are left out. */
const HOSTILE_FILES = [`src/<img src=x onerror=window.hacked=7>.py`, `src/"quoted" & 'so'.py`, `docs/<b>bold<b>.md`];

const N_MODULES = 24;

const python = (i) => `"""Part ${i} of the shop."""

from shop.part_${String((i * 7 + 3) % N_MODULES).padStart(2, "0")} import price_${(i * 7 + 3) % N_MODULES}


LIMIT_${i} = ${10 + i}


def price_${i}(amount, currency="EUR"):
    """Returns the price of an amount in part ${i}."""
    if amount > LIMIT_${i}:
        return amount * ${i + 2}
    return price_${(i * 7 + 3) % N_MODULES}(amount, currency)


class Basket${i}:
    """Collects what is bought in part ${i}."""

    def __init__(self):
        self.items = []

    def add(self, item):
        self.items.append(item)
        return price_${i}(len(self.items))
`;

/** What the memories say; what is said twice is a duplicate, what differs in a number a contradiction. */
const SUBJECTS = [
  ["prices are rounded half to even, as the tax office asks", ["tax", "prices"]],
  ["the basket keeps its items in the order in which they were added", ["basket"]],
  ["amounts are integers of the smallest unit, never floats", ["prices"]],
  ["currencies come from the order, not from the settings of the shop", ["prices", "orders"]],
  ["a price over the limit is not delegated to another part", ["prices", "limits"]],
  ["customers asked for the limit per part, see ticket 4711", ["limits", "support"]],
  ["the nightly import may call this twice for one order", ["import", "orders"]],
  ["do not cache here: the numbers change while the shop is open", ["caching"]],
];

export class Fixture {
  constructor(memo) {
    this.memo = memo;
    this.dir = mkdtempSync(join(tmpdir(), "memod-browser-"));
    this.repo = join(this.dir, "shop");
    const home = join(this.dir, "home");
    const run = join(this.dir, "run");
    mkdirSync(this.repo);
    mkdirSync(home);
    mkdirSync(run, { mode: 0o700 });
    this.env = {
      PATH: dirname(memo) + ":" + process.env.PATH, HOME: home, XDG_RUNTIME_DIR: run, LANG: "C.UTF-8",
      GIT_CONFIG_NOSYSTEM: "1", GIT_AUTHOR_NAME: "Ann", GIT_AUTHOR_EMAIL: "ann@example.com", GIT_COMMITTER_NAME: "Ann", GIT_COMMITTER_EMAIL: "ann@example.com",
    };
    writeFileSync(join(home, ".gitconfig"), "[user]\n\tname = Ann\n\temail = ann@example.com\n[init]\n\tdefaultBranch = main\n");
  }

  write(path, text) {
    mkdirSync(dirname(join(this.repo, path)), { recursive: true });
    writeFileSync(join(this.repo, path), text);
  }

  git(...args) {
    execFileSync("git", args, { cwd: this.repo, env: this.env, stdio: "pipe" });
  }

  run(...args) {
    const { status, stdout, stderr } = spawnSync(this.memo, args, { cwd: this.repo, env: this.env, encoding: "utf8", timeout: 120_000 });
    if (status !== 0) throw new Error(`memo ${args.join(" ")}: ${stderr || stdout}`);
    return stdout.trim();
  }

  /** Starts serving, and returns the address with the token. */
  serve(port = 0) {
    this.url = this.run("serve", ...(port ? ["--port", String(port)] : []));
    [this.origin, this.token] = this.url.split("/#token=");
    this.port = Number(new URL(this.origin).port);
    return this.url;
  }

  async call(method, params = {}) {
    const response = await fetch(`${this.origin}/v1/${method}`, {
      method: "POST", headers: { "Content-Type": "application/json", Authorization: `Bearer ${this.token}` }, body: JSON.stringify(params),
    });
    const answer = await response.json();
    if (!response.ok) throw new Error(`${method}: ${JSON.stringify(answer)}`);
    return answer;
  }

  async pid() {
    return (await this.call("status")).daemon.pid;
  }

  /** Writes the files and two commits. */
  makeRepository() {
    this.git("init", "-q", "-b", "main");
    this.write("README.md", `# The shop\n\nSells things in ${N_MODULES} parts.\n\n${HOSTILE.join("\n\n")}\n`);
    for (let i = 0; i < N_MODULES; i++) this.write(`shop/part_${String(i).padStart(2, "0")}.py`, python(i));
    this.write("tests/test_prices.py", `from shop.part_00 import price_0\n\n\ndef test_price():\n    assert price_0(1) >= 0\n`);
    this.write("web/cart.js", `export function total(items) {\n  return items.reduce((sum, item) => sum + item.price, 0);\n}\n`);
    this.write("web/page.js", `import { total } from "./cart.js";\n\nexport function show(items) {\n  const markup = ${JSON.stringify(HOSTILE[0])};\n  return markup + total(items);\n}\n`);
    for (const path of HOSTILE_FILES) this.write(path, `def hostile_name():\n    """${HOSTILE[1]}"""\n    return "${"\u202e"}gnihsif"\n`);
    this.git("add", "-A");
    this.git("commit", "-q", "-m", "shop: the first parts");
    this.write("shop/part_00.py", python(0).replace("LIMIT_0 = 10", "LIMIT_0 = 11"));
    this.git("commit", "-q", "-a", "-m", `shop: a higher limit\n\n${HOSTILE.join("\n")}`);
  }

  /** Stores two hundred memories with anchors, tags and HTML, and then changes code that some of them are about. */
  async makeMemories(n = 200) {
    this.ids = { all: [], drifted: [], orphaned: [], hostile: [] };
    const drafts = [];
    const day = 24 * 3600 * 1000;
    const now = Date.now();
    for (let i = 0; i < n - 40; i++) {
      const [subject, tags] = SUBJECTS[i % SUBJECTS.length];
      drafts.push({
        content: `Part ${i}: ${subject}.\n\nFound while part ${i} was written; it holds for what calls it, too.`,
        title: i % 3 === 0 ? `Part ${i}: ${subject.split(/[,:]/)[0]}` : null, tags, created: new Date(now - ((i * 37) % 400) * day / 4).toISOString(),
        priority: (i % 9) + 1, container: i % 5 === 0 ? "decisions" : "project",
      });
    }
    await this.call("memory.import", { drafts, own: true });
    for (let i = 0; i < N_MODULES; i++) {
      const { memory } = await this.call("memory.add", {
        content: `price_${i} ${SUBJECTS[i % SUBJECTS.length][0]} (part ${i})`, title: `How price_${i} counts`, tags: ["prices", `part-${i}`],
        about: [`shop/part_${String(i).padStart(2, "0")}.py#price_${i}`], force: true,
      });
      this.ids.all.push(memory.id);
    }
    for (const [i, text] of HOSTILE.entries()) {
      const { memory } = await this.call("memory.add", { content: `${text}\n\nhostile number ${i}`, title: `${text} title ${i}`, tags: [text.slice(0, 60).replace(/,/g, ""), "hostile"], container: "<u>hostile</u>", metadata: { "<k>": text }, about: [HOSTILE_FILES[0]], force: true });
      this.ids.hostile.push(memory.id);
    }
    for (const hours of [12, 24]) {
      const { memory } = await this.call("memory.add", { content: `a session of the shop lasts ${hours} hours`, tags: ["sessions"], force: true });
      this.ids.all.push(memory.id);
    }
    const [first, second] = this.ids.all.slice(-2);
    await this.call("memory.link", { from: first, to: second, kind: "contradicts" });
    for (const words of ["the client renews a basket one hour before it ends", "one hour before it ends, the client renews a basket"]) {
      await this.call("memory.add", { content: words, tags: ["basket"], force: true });
    }
    const { memory } = await this.call("memory.add", { content: "cart.js is the only place that adds prices up", about: ["web/cart.js#total"], tags: ["prices"] });
    this.ids.orphaned.push(memory.id);
    await this.call("memory.update", { id: first, append: "Support asked for that." });
    this.drift();
    this.total = (await this.call("memory.list", { limit: 1 })).total;
  }

  /** Changes the code that three memories are about, and removes that of another one. */
  drift() {
    for (const i of [1, 2, 3, 4, 5]) {
      const path = join(this.repo, `shop/part_0${i}.py`);
      writeFileSync(path, readFileSync(path, "utf8").replace(`return amount * ${i + 2}`, `return round(amount * ${i + 2}, 2)`));
      this.ids.drifted.push(this.ids.all[i]);
    }
    this.write("web/cart.js", "// moved to the server\n");
    this.write("web/page.js", `export function show(items) {\n  return ${JSON.stringify(HOSTILE[0])} + items.length;\n}\n`);
  }

  note(text) {
    appendFileSync(join(this.dir, "notes"), text + "\n");
  }

  end() {
    spawnSync(this.memo, ["stop"], { cwd: this.repo, env: this.env });
    rmSync(this.dir, { recursive: true, force: true });
  }
}
