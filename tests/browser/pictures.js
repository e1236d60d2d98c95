/** Takes the screenshot of the page for the README: `cargo xtask pictures` runs `node pictures.js FILE`. */

import { cpSync, symlinkSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

import { end, hippoctl, home, startBrowser, startPage, workspace } from "./fixture.js";

const here = dirname(fileURLToPath(import.meta.url));
const QUESTIONS = ["what is Mila allergic to", "seat on flights", "has the photo backup run again"];

for (const name of ["models", "runtime"]) symlinkSync(join(process.env["HIPPOD_TEST_MODEL_HOME"], name), join(home, name));
cpSync(resolve(here, "../../examples/workspace"), workspace, { recursive: true });
hippoctl("workspace", "add");
hippoctl("sync", "--wait");
hippoctl("consolidate", "deep");
for (const question of QUESTIONS) hippoctl("search", "--record", question);
const page = await startPage();
const browser = await startBrowser();
try {
  const tab = await browser.newPage({ viewport: { width: 1280, height: 760 } });
  await tab.goto(page.url);
  await tab.waitForSelector("main h1");
  await tab.goto(`${page.origin}/#/search?q=${encodeURIComponent(QUESTIONS[0])}`);
  const reasons = tab.locator(".hit details").first();
  await reasons.locator("summary").click();
  await reasons.locator("p").first().waitFor();
  await tab.screenshot({ path: process.argv[2] });
} finally {
  await browser.close();
  page.end();
  end();
}
