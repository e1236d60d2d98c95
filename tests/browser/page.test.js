/** The page of `hippoctl ui` in Chromium: every page, every action, every threat. */

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { HOSTILE, begin, call, end, hippoctl, startBrowser, startPage, workspace } from "./fixture.js";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const PAGES = ["now", "search", "map", "time", "facts", "prompt", "contexts", "questions", "health"];
let browser, reader, writer;

before(async () => {
  begin();
  browser = await startBrowser();
  reader = await startPage();
  writer = await startPage("--write");
});

after(async () => {
  await browser?.close();
  reader?.end();
  writer?.end();
  end();
});

/** Opens the page at an address. Collects the errors of the page. */
async function open(url, options = {}) {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  page.errors = [];
  page.on("console", (message) => message.type() === "error" && page.errors.push(message.text()));
  page.on("pageerror", (error) => page.errors.push(String(error)));
  await page.goto(url);
  await page.waitForSelector("main h1, main .bad");
  return page;
}

/** A signed-in context of each server, because an address works only once. */
const signedIn = {};
async function visit(server, path) {
  signedIn[server.origin] ??= await open(server.url);
  const page = signedIn[server.origin];
  await page.goto(`${server.origin}/#/now`);
  await page.goto(`${server.origin}/#/${path}`);
  return page;
}

test("the address works once, and becomes a cookie that no script can read", async () => {
  const page = await visit(reader, "now");
  assert.equal(await page.evaluate(() => location.hash), "#/now");
  const [cookie] = await page.context().cookies();
  assert.deepEqual([cookie.httpOnly, cookie.sameSite], [true, "Strict"]);
  assert.equal(await page.evaluate(() => document.cookie), "");
  const other = await open(reader.url);
  assert.match(await other.textContent("main"), /already used/);
  await other.context().close();
  await page.reload();
  await page.waitForSelector("main h1");
});

test("every page shows its content without errors, in both schemes, and passes axe", async () => {
  const page = await visit(writer, "now");
  const expected = { now: "all searchable by meaning", search: "Results appear", map: "Deploy", time: "deep", facts: "7000", "map?view=graph": "Each dot", prompt: "No agent is connected", contexts: "No session", questions: "which port does staging use", health: "Texts that occur twice" };
  for (const scheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme: scheme });
    for (const name of [...PAGES, "map?view=graph"]) {
      await page.goto(`${writer.origin}/#/${name}`);
      await page.waitForFunction((text) => document.querySelector("main").textContent.includes(text), expected[name]);
      await page.evaluate(axe);
      const { violations } = await page.evaluate(() => window.axe.run());
      const found = violations.map((one) => `${one.id}: ${one.nodes.map((node) => node.html).join(" ").slice(0, 300)}`);
      assert.deepEqual(found, [], `${name} ${scheme}`);
    }
  }
  assert.deepEqual(page.errors, []);
});

test("no page is wider than the screen, and every element is inside", async () => {
  const page = await visit(reader, "now");
  for (const [width, height] of [[1280, 800], [390, 844]]) {
    await page.setViewportSize({ width, height });
    for (const name of [...PAGES, "map?view=graph"]) {
      await page.goto(`${reader.origin}/#/${name}`);
      await page.waitForLoadState("networkidle");
      if (name === "map") {
        await page.click(".entry >> nth=0");
        await page.waitForSelector(".curve");
      }
      const outside = await page.evaluate(() => {
        const scrolls = (node) => node.closest("nav, .scroll, .sr, .skip");
        const found = [...document.querySelectorAll("body *")].filter((node) => !scrolls(node) && node.getClientRects().length && (node.getBoundingClientRect().right > innerWidth + 1 || node.getBoundingClientRect().left < -1));
        return [document.documentElement.scrollWidth > innerWidth && "scrolls", ...found.map((node) => node.outerHTML.slice(0, 80))].filter(Boolean);
      });
      assert.deepEqual(outside, [], `${name} ${width}`);
      // Texts such as "false" and "undefined" come from a value that is missing.
      assert.doesNotMatch(await page.evaluate(() => document.querySelector("main").innerText), /\b(false|undefined|NaN|null|\[object)\b/, name);
      const current = await page.locator("#nav [aria-current]").boundingBox();
      assert.ok(current.x >= 0 && current.x + current.width <= width, `${name} ${width}: the current link is visible`);
    }
  }
  await page.setViewportSize({ width: 1280, height: 720 });
});

test("the graph of the map works with the keyboard, and Enter opens an entry", async () => {
  const page = await visit(reader, "map?view=graph");
  await page.waitForSelector(".map .dot");
  assert.equal(await page.locator(".map .dot[tabindex='0']").count(), 1, "the Tab key stops at one dot");
  await page.focus(".map .dot[tabindex='0']");
  const topic = () => page.locator(".map .dot:focus").getAttribute("aria-label");
  const first = await topic();
  assert.ok((await page.textContent(".caption")).includes(first));
  for (const key of ["ArrowRight", "ArrowDown", "ArrowLeft", "ArrowUp"]) {
    await page.keyboard.press(key);
    if (await topic() !== first) break;
  }
  const second = await topic();
  assert.notEqual(second, first);
  await page.keyboard.press("Enter");
  await page.waitForFunction((topic) => document.querySelector(".detail h2")?.textContent === topic, second);
  await page.fill("input[type=search]", second);
  assert.equal(await page.locator(".map .dot:not(.dim)").count(), 1);
  await page.fill("input[type=search]", "");
  await page.click(".group >> nth=0");
  await page.waitForSelector("a:text-is('← All entries')");
  assert.match(page.url(), /group=/);
  assert.ok(await page.locator(".entry").count());
});

test("a person searches with the keyboard alone, and sees reasons and neighbours", async () => {
  const page = await visit(reader, "now");
  await page.keyboard.press("/");
  await page.waitForSelector("#query:focus");
  await page.keyboard.type("which port does staging use");
  // Each search that ends replaces the results, so wait for the last one.
  await page.waitForFunction(() => location.hash.endsWith("staging%20use"));
  await page.waitForFunction(() => document.querySelector(".hit")?.textContent.includes("8443"));
  assert.match(await page.textContent(".hit >> nth=1"), /Corrected by/);
  await page.keyboard.press("Escape");
  assert.equal(await page.inputValue("#query"), "which port does staging use");
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await page.waitForSelector("#reader .here");
  assert.match(await page.textContent("#reader .here"), /8443/);
  await page.keyboard.press("Escape");
  assert.equal(await page.isVisible("#reader"), false);
  await page.click(".hit summary >> nth=0");
  await page.waitForSelector(".reasons p");
  assert.match(await page.textContent(".reasons"), /It contains/);
  await page.setViewportSize({ width: 360, height: 700 });
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth > innerWidth), false, "fits on a small screen");
  await page.setViewportSize({ width: 1280, height: 720 });
});

test("a search while a person types leaves no trace, and Enter keeps it in the recall log", async () => {
  const page = await visit(reader, "search");
  await page.fill("#query", "balcony seedlings");
  await page.waitForSelector(".hit");
  assert.doesNotMatch(hippoctl("why"), /balcony seedlings/);
  const kept = page.waitForResponse((response) => response.request().postData()?.includes('"log":true'));
  await page.keyboard.press("Enter");
  await kept;
  // The daemon writes the log after it answers.
  while (!hippoctl("why").includes("balcony seedlings"));
  await page.goto(`${reader.origin}/#/questions`);
  await page.waitForFunction(() => document.querySelector("main").textContent.includes("balcony seedlings"));
  assert.match(await page.textContent(".list li >> nth=0"), /ui/);
});

test("text of the memory is never HTML", async () => {
  const page = await visit(reader, "search");
  await page.fill("#query", "zeppelin hostile");
  await page.waitForSelector(".hit");
  assert.ok((await page.textContent(".hit >> nth=0")).includes(HOSTILE));
  await page.click(".hit .place >> nth=0");
  await page.waitForSelector("#reader .here");
  for (const name of ["map", "facts", "questions", "health"]) {
    await page.goto(`${reader.origin}/#/${name}`);
    await page.waitForLoadState("networkidle");
  }
  assert.equal(await page.evaluate(() => window.hacked), undefined);
  assert.equal(await page.evaluate(() => document.querySelectorAll("main img, main script, #reader img").length), 0);
});

test("the policy of the page blocks inline scripts, frames and other servers", async () => {
  const page = await visit(reader, "now");
  await page.evaluate(() => {
    const script = document.createElement("script");
    script.textContent = "window.inline = 1";
    document.body.append(script);
  });
  assert.equal(await page.evaluate(() => window.inline), undefined);
  const blocked = page.evaluate(() => fetch("https://example.com/").then(() => "sent", () => "blocked"));
  assert.equal(await blocked, "blocked");
  const response = await page.request.get(`${reader.origin}/`);
  assert.equal(response.headers()["cache-control"], "no-store");
  assert.match(response.headers()["content-security-policy"], /frame-ancestors 'none'/);
  page.errors.length = 0;
});

/** Serves a hostile page on another port. */
async function hostileSite() {
  const server = createServer((_, response) => response.setHeader("content-type", "text/html").end("<!doctype html><title>hostile</title>"));
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  return server;
}

test("a hostile page of another origin cannot read, change or embed anything", async () => {
  const site = await hostileSite();
  after(() => site.close());
  const page = await visit(writer, "now");
  const hostile = await page.context().newPage();
  // Strengths decay meanwhile, and the list is sorted by strength.
  const entries = () => JSON.parse(hippoctl("index", "list", "--json")).entries.map((entry) => entry.id).sort();
  const before = entries();
  const forget = JSON.stringify({ method: "index.forget", params: { workspace, id: before[0], ignored: "=" } });
  const [name, value] = forget.split("=");
  for (const host of ["127.0.0.1", "localhost", "evil.example"]) {
    await hostile.goto(`http://${host}:${site.address().port}/`);
    const attempts = await hostile.evaluate(async ([origin, body]) => {
      const text = (answer) => answer.text();
      const fails = () => "failed";
      const load = (tag, property, address) => new Promise((done) => {
        const node = document.createElement(tag);
        node.onload = () => done("loaded");
        node.onerror = () => done("failed");
        node[property] = address;
        document.body.append(node);
      });
      const events = new Promise((done) => {
        const source = new EventSource(`${origin}/events`, { withCredentials: true });
        source.onopen = () => done("opened");
        source.onerror = () => { source.close(); done("failed"); };
      });
      return {
        json: await fetch(`${origin}/api`, { method: "POST", credentials: "include", headers: { "content-type": "application/json" }, body }).then(text, fails),
        simple: await fetch(`${origin}/api`, { method: "POST", credentials: "include", body }).then(text, fails),
        page: await fetch(`${origin}/`, { credentials: "include" }).then(text, fails),
        script: await load("script", "src", `${origin}/lib.js`),
        events: await events,
      };
    }, [writer.origin, forget]);
    assert.deepEqual(attempts, { json: "failed", simple: "failed", page: "failed", script: "failed", events: "failed" }, host);
    // A frame of the page stays empty, and a form gets a refusal.
    await hostile.evaluate((origin) => { const frame = document.createElement("iframe"); frame.src = origin; document.body.append(frame); }, writer.origin);
    await hostile.waitForTimeout(100);
    assert.ok(hostile.frames().slice(1).every((frame) => !frame.url().startsWith(writer.origin)), host);
    const [answer] = await Promise.all([hostile.waitForNavigation(), hostile.evaluate(([origin, name, value]) => {
      const form = document.createElement("form");
      Object.assign(form, { method: "post", action: `${origin}/api`, enctype: "text/plain" });
      form.append(Object.assign(document.createElement("input"), { name, value }));
      document.body.append(form);
      form.submit();
    }, [writer.origin, name, value])]);
    assert.ok([403, 415].includes(answer.status()), `${host} ${answer.status()}`);
  }
  // After DNS rebinding, the hostile name points to the server itself.
  const rebound = await hostile.goto(writer.origin.replace("127.0.0.1", "evil.example"));
  assert.equal(rebound.status(), 421);
  assert.deepEqual(entries(), before);
  await hostile.close();
});

test("a read-only page cannot change anything, and a link shows no data without a cookie", async () => {
  const page = await visit(reader, "map");
  await page.click(".entry >> nth=0");
  await page.waitForSelector(".detail h2");
  assert.equal(await page.locator(".detail button:has-text('Forget')").count(), 0);
  const status = (params) => page.evaluate((body) => fetch("/api", { method: "POST", headers: { "content-type": "application/json", "x-hippod-write": "guess" }, body }).then((answer) => answer.status), JSON.stringify(params));
  assert.equal(await status({ method: "index.forget", params: { workspace: "/", id: "x" } }), 403);
  assert.equal(await status({ method: "shutdown", params: {} }), 403);
  assert.equal(await status({ method: "doctor", params: { fix: true } }), 403);
  const stranger = await (await browser.newContext()).newPage();
  await stranger.goto(`${reader.origin}/#/map`);
  await stranger.waitForSelector("main .bad");
  assert.doesNotMatch(await stranger.textContent("body"), /Deploy/);
  assert.equal((await stranger.request.get(`${reader.origin}/events`)).status(), 401);
  await stranger.context().close();
});

test("with --write, each change asks first and can be undone", async () => {
  const page = await visit(writer, "map");
  const names = () => page.locator(".entry .topic").allTextContents();
  await page.waitForSelector(".entry");
  const [first] = await names();
  const entry = page.locator(".entry", { hasText: first }).first();
  const act = async (label, confirmed) => {
    await page.click(`.detail button:text-is('${label}')`);
    await page.click(`dialog button:text-is('${confirmed}')`);
  };
  await entry.click();
  await act("Forget", "Cancel");
  assert.ok((await names()).includes(first));
  await act("Pin", "Pin");
  await page.waitForSelector(".detail button:text-is('Unpin')");
  await page.click("#toast button");
  await page.waitForSelector(".detail button:text-is('Pin')");
  await page.click(".detail button:text-is('Edit')");
  await page.fill("dialog input >> nth=0", "A new topic");
  await page.click("dialog button:text-is('Save')");
  await page.waitForFunction(() => document.querySelector(".detail h2").textContent === "A new topic");
  await page.click("#toast button");
  await page.waitForFunction((topic) => document.querySelector(".detail h2")?.textContent === topic, first);
  await act("Forget", "Forget");
  await page.waitForFunction(() => document.querySelector(".detail").textContent === "The entry is in the archive.");
  assert.ok(!(await names()).includes(first));
  await page.click("#toast button");
  await page.waitForFunction((topic) => document.querySelector(".detail h2")?.textContent === topic, first);
  await page.goto(`${writer.origin}/#/time`);
  await page.click("summary:has-text('deep') >> nth=0");
  await page.waitForSelector("details[open] .list, details[open] p");
});

test("the page shows the prompt of a connected agent, and the contents that a session stored", async () => {
  hippoctl("init", "--platform", "claude-code");
  const page = await visit(reader, "prompt");
  await page.click(".list summary >> nth=0");
  await page.waitForFunction(() => document.querySelector(".list .file")?.textContent.includes("This project has a memory"));
  const content = Array.from({ length: 400 }, (_, at) => `test ${at} ... ok`).join("\n");
  await call("context.open", { workspace, session: "tools" });
  await call("context.put", { session: "tools", turn: 0, type: "tool_result", source: { type: "exec", ref: "make test" }, content });
  await page.goto(`${reader.origin}/#/contexts`);
  await page.click(".list summary >> nth=0");
  await page.click("button:text-is('Fetch')");
  await page.waitForFunction(() => document.querySelector(".list .file")?.textContent.includes("test 399 ... ok"));
});

test("after the daemon was killed and a workspace was removed, the page goes on", async () => {
  const other = join(workspace, "../other");
  mkdirSync(other);
  hippoctl("workspace", "add", other);
  const page = await visit(reader, "now");
  await page.reload();
  await page.selectOption("#workspace", { label: "other" });
  const { pid } = JSON.parse(hippoctl("status", "--json"));
  process.kill(pid, "SIGKILL");
  // On a slow machine, the first answer is an error, because the new daemon needs time to start.
  do {
    await page.goto(`${reader.origin}/#/now`);
    await page.goto(`${reader.origin}/#/map`);
    await page.waitForFunction(() => document.querySelector("main .bad") || document.querySelector("main").textContent.includes("The map has no entries yet"));
  } while (await page.locator("main .bad").count());
  hippoctl("workspace", "remove", other);
  await page.goto(`${reader.origin}/#/facts`);
  await page.waitForFunction(() => document.querySelector("main .bad")?.textContent.includes("no longer indexes"));
  await page.selectOption("#workspace", { label: "workspace" });
  await page.waitForFunction(() => document.querySelector("main").textContent.includes("7000"));
});

test("the page runs in the background until it is stopped", async () => {
  const url = hippoctl("ui", "--background", "--no-open").trim();
  const page = await open(url);
  assert.match(await page.textContent("h1"), /Now/);
  await page.context().close();
  hippoctl("ui", "--stop");
  await assert.rejects(fetch(new URL(url).origin));
  assert.throws(() => hippoctl("ui", "--stop"), /no page is running/);
});
