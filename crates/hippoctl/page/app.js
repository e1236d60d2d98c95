// Start, navigation and keys of the page.

import { api, h, state } from "/lib.js";
import { search } from "/search.js";
import { map } from "/map.js";
import { time } from "/time.js";
import { contexts, facts, health, now, prompt, questions } from "/pages.js";

const PAGES = {
  now: ["Now", now], search: ["Search", search], map: ["Map", map], time: ["Time", time], facts: ["Facts", facts],
  prompt: ["Prompt", prompt], contexts: ["Contexts", contexts], questions: ["Questions", questions], health: ["Health", health],
};
const main = document.getElementById("main");
const nav = document.getElementById("nav");
const select = document.getElementById("workspace");
let leave = () => {};

/** Shows the page in the address. */
async function show() {
  const [name, query] = location.hash.replace(/^#\/?/, "").split("?");
  const [title, page] = PAGES[name] ?? PAGES.now;
  leave();
  leave = () => {};
  document.querySelector("#reader:not([hidden]) button")?.click();
  document.title = `${title} · hippod`;
  for (const link of nav.children) {
    if (link.hash === `#/${PAGES[name] ? name : "now"}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  const box = h("div", { class: "page" }, h("h1", {}, title));
  main.replaceChildren(box);
  if (!state.workspace && page !== now) {
    box.append(h("p", { class: "quiet" }, "No workspace is registered. To register a folder, run: hippoctl workspace add DIR"));
    return;
  }
  try {
    leave = (await page(box, new URLSearchParams(query))) ?? leave;
  } catch (error) {
    box.append(h("p", { class: "bad", role: "alert" }, error.message));
  }
}

/** Moves the focus among the rows of the page. */
function move(step) {
  const rows = [...main.querySelectorAll("[data-row]")];
  const at = rows.indexOf(document.activeElement);
  rows[Math.max(0, Math.min(rows.length - 1, at + step))]?.focus();
}

function press(event) {
  const typing = event.target.closest("input, select, textarea, dialog");
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Escape" && !event.target.closest("dialog")) {
    document.querySelector("#reader:not([hidden]) button")?.click();
    if (typing) {
      // Without this, Chromium clears a search field.
      event.preventDefault();
      event.target.blur();
    }
  }
  if (typing) return;
  if (event.key === "j") move(1);
  else if (event.key === "k") move(-1);
  else if (event.key === "/") {
    event.preventDefault();
    const field = main.querySelector("input[type=search]");
    if (field) field.focus();
    else location.hash = "#/search";
  }
}

/** The last folder of a workspace, or its path if another workspace has the same last folder. */
function nameOf(root, roots) {
  const last = (path) => path.split("/").pop();
  return roots.filter((other) => last(other) === last(root)).length === 1 ? last(root) : root;
}

/** Exchanges the token in the address for the cookie, and removes it from the address. */
async function start() {
  const token = new URLSearchParams(location.hash.slice(1)).get("token");
  if (token) history.replaceState(null, "", "/#/now");
  const options = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ token }) };
  const answer = await (await fetch("/session", options)).json();
  if (answer.error) {
    main.replaceChildren(h("p", { class: "bad", role: "alert" }, answer.error.message));
    return;
  }
  Object.assign(state, answer);
  const roots = (await api("workspace.list")).workspaces.map((workspace) => workspace.root);
  const saved = sessionStorage.getItem("workspace");
  state.workspace = [saved, state.workspace, roots[0]].find((root) => roots.includes(root)) ?? null;
  select.replaceChildren(...roots.map((root) => h("option", { value: root, title: root, selected: root === state.workspace }, nameOf(root, roots))));
  select.addEventListener("change", () => {
    state.workspace = select.value;
    sessionStorage.setItem("workspace", select.value);
    show();
  });
  nav.replaceChildren(...Object.entries(PAGES).map(([name, [title]]) => h("a", { href: `#/${name}` }, title)));
  addEventListener("hashchange", show);
  addEventListener("keydown", press);
  await show();
}

start();
