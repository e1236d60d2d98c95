/** Measures the page with a large memory: `node scale.js [CHUNKS ENTRIES]`. docs/benchmarks.md contains the figures. */

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { end, hippoctl, startBrowser, startPage, workspace } from "./fixture.js";

const [CHUNKS, ENTRIES] = [process.argv[2] ?? 100_000, process.argv[3] ?? 10_000].map(Number);
const PER_FILE = 200, TYPED = 40;
const GROUPS = ["Projects", "People", "Infrastructure", "Travel", "Cooking", "Music", "Garden", "Health", "Reading", "Finance"];
const SYLLABLES = "ka lo mi ren tas vel dor shi nu pal gre ost fen bri zu mar".split(" ");

// A small random number generator with a fixed seed (mulberry32), so that each run measures the same memory.
let seed = 7;
function random(below) {
  seed = (seed + 0x6d2b79f5) | 0;
  let mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed);
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
  return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
}
const VOCABULARY = Array.from({ length: 6000 }, () => Array.from({ length: 2 + random(3) }, () => SYLLABLES[random(SYLLABLES.length)]).join(""));
// Few words are common, and most are rare.
const word = () => VOCABULARY[Math.floor((random(1e6) / 1e6) ** 3 * VOCABULARY.length)];
const words = (count) => Array.from({ length: count }, word).join(" ");

function writeMemory() {
  mkdirSync(join(workspace, "memory"), { recursive: true });
  const files = Math.ceil(CHUNKS / PER_FILE);
  const name = (file) => `memory/notes-${String(file).padStart(4, "0")}.md`;
  for (let file = 0; file < files; file++) {
    const sections = Array.from({ length: PER_FILE }, (_, at) => `## Section ${at} ${words(2)}\n\n${words(32)}.\n`);
    writeFileSync(join(workspace, name(file)), `# Notes ${file}\n\n${sections.join("\n")}`);
  }
  const size = (group) => Math.round((ENTRIES * 2 * (GROUPS.length - group)) / (GROUPS.length * (GROUPS.length + 1)));
  let written = 0;
  const groups = GROUPS.map((group, at) => {
    const total = at === GROUPS.length - 1 ? ENTRIES - written : size(at);
    written += total;
    const id = (index) => `${group.toLowerCase()}-${index}`;
    return `### ${group}\n\n${Array.from({ length: total }, (_, index) => {
      const near = Array.from({ length: random(4) }, () => random(12) ? id(Math.max(0, index - 1 - random(8))) : `${GROUPS[random(GROUPS.length)].toLowerCase()}-${random(total)}`);
      const created = new Date(Date.now() - random(200) * 86_400_000).toISOString().slice(0, 10);
      return `#### ${words(3)}\n${words(10)}\n→ ${name(random(files))} §Section ${random(PER_FILE)}\n<!-- hx: id=${id(index)} | created=${created} | rel=${[...new Set(near)].filter((one) => one !== id(index)).join(",")} -->\n`;
    }).join("\n")}`;
  });
  writeFileSync(join(workspace, "HIPPOCAMPUS.md"), `# HIPPOCAMPUS.md\n\n## By Topic\n\n${groups.join("\n")}`);
}

const quantile = (values, share) => [...values].sort((one, other) => one - other)[Math.min(values.length - 1, Math.floor(values.length * share))];
const row = (name, value, goal) => console.log(`${name.padEnd(62)} ${value.padStart(18)}   ${goal}`);

writeMemory();
hippoctl("workspace", "add");
hippoctl("sync", "--wait");
const server = await startPage();
const browser = await startBrowser();
try {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  // Records each task of more than 50 ms that blocks the page.
  await context.addInitScript(() => {
    window.tasks = [];
    new PerformanceObserver((list) => window.tasks.push(...list.getEntries().map((entry) => entry.duration))).observe({ type: "longtask", buffered: true });
  });
  const page = await context.newPage();
  await page.goto(server.url);
  await page.waitForSelector(".card dd");
  const status = JSON.parse(hippoctl("status", "--json")).workspaces[0];
  console.log(`${status.chunks} chunks, ${status.index.entries} entries`);

  for (const [name, ready] of [["now", ".card dd"], ["map", ".entry"], ["map?view=graph", ".map .dot"], ["map?view=graph&group=Projects", ".map .dot"], ["questions", "main p"], ["time", "main p"]]) {
    const paints = [], filled = [];
    for (let run = 0; run < 5; run++) {
      await page.goto("about:blank");
      await page.goto(`${server.origin}/#/${name}`);
      await page.waitForSelector(ready);
      const at = await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => done(performance.now()))));
      filled.push(at);
      paints.push(await page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? 0));
    }
    row(`${name}: first paint, content (median of 5)`, `${quantile(paints, 0.5).toFixed(0)} / ${quantile(filled, 0.5).toFixed(0)} ms`, "first paint ≤ 300 ms");
    row(`${name}: longest task`, `${Math.max(0, ...(await page.evaluate(() => window.tasks))).toFixed(0)} ms`, "");
  }

  await page.goto(`${server.origin}/#/map`);
  await page.waitForSelector(".entry");
  await page.evaluate(() => { window.tasks.length = 0; });
  const frames = await page.evaluate(() => new Promise((done) => {
    const gaps = [];
    let last = performance.now(), steps = 0;
    const step = (now) => {
      gaps.push(now - last);
      last = now;
      scrollBy(0, 400);
      if (++steps < 300) requestAnimationFrame(step);
      else done(gaps.slice(1));
    };
    requestAnimationFrame(step);
  }));
  const rows = await page.locator(".entry").count();
  row(`map: longest task while scrolling through ${rows} entries`, `${Math.max(0, ...(await page.evaluate(() => window.tasks))).toFixed(0)} ms`, "≤ 100 ms");
  row("map: time between frames while scrolling, p50 / p95", `${quantile(frames, 0.5).toFixed(0)} / ${quantile(frames, 0.95).toFixed(0)} ms`, "");

  await page.goto(`${server.origin}/#/search`);
  await page.waitForSelector("#query");
  await page.evaluate(() => { window.tasks.length = 0; });
  const above = [];
  for (let at = 0; at < TYPED; at++) {
    const question = words(3);
    above.push(await page.evaluate((text) => new Promise((done) => {
      const field = document.getElementById("query"), state = document.querySelector("main [role=status]");
      const begun = performance.now();
      new MutationObserver((_, watch) => {
        watch.disconnect();
        requestAnimationFrame(() => setTimeout(() => done(performance.now() - begun - Number(state.textContent.match(/in ([\d.]+) ms/)[1]))));
      }).observe(state, { childList: true });
      field.value = text;
      field.dispatchEvent(new Event("input"));
    }), question));
  }
  row("search: typing to painted results, above the search, p50 / p95", `${quantile(above, 0.5).toFixed(0)} / ${quantile(above, 0.95).toFixed(0)} ms`, "≤ 50 ms");
  row("search: longest task while typing", `${Math.max(0, ...(await page.evaluate(() => window.tasks))).toFixed(0)} ms`, "≤ 100 ms");
  if (process.env["PICTURES"]) {
    for (const view of ["map?view=graph", "map?view=graph&group=Projects"]) {
      await page.goto(`${server.origin}/#/${view}`);
      await page.waitForSelector(".map .dot");
      await page.focus(".map .dot >> nth=40");
      await page.screenshot({ path: join(process.env["PICTURES"], `${view.replace(/\W/g, "-")}.png`) });
    }
  }
} finally {
  await browser.close();
  server.end();
  end();
}
