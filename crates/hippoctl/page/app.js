// Start, navigation and keys of the page.

import { api, h, state } from "/lib.js";
import { search } from "/search.js";
import { map } from "/map.js";
import { time } from "/time.js";
import { contexts, facts, health, now, prompt, questions } from "/pages.js";

/** For each page: its title, its function, and a sentence for people who see it for the first time. */
const PAGES = {
  now: ["Now", now, "The daemon, and the folders whose memory files it indexes."],
  search: ["Search", search, "Find passages in the memory files."],
  map: ["Map", map, "The topics of the memory. Each entry points to the files that it describes, and fades if nothing uses it."],
  time: ["Time", time, "Summaries of the daily logs, and the cycles that maintain the map."],
  facts: ["Facts", facts, "Statements that a later text corrects."],
  prompt: ["Prompt", prompt, "The text that the next session of an agent gets from hippod before its first turn."],
  contexts: ["Contexts", contexts, "Large results of tools that hippod stores for agents, so that their prompts stay short."],
  questions: ["Questions", questions, "What agents and people asked, and the passages that they got."],
  health: ["Health", health, "Problems of the daemon and its files, and doubtful texts in the memory."],
};
const main = document.getElementById("main");
const nav = document.getElementById("nav");
const select = document.getElementById("workspace");
let leave = () => {};

/** Shows the page in the address. */
async function show() {
  const [name, query] = location.hash.replace(/^#\/?/, "").split("?");
  const [title, page, about] = PAGES[name] ?? PAGES.now;
  leave();
  leave = () => {};
  document.querySelector("#reader:not([hidden]) button")?.click();
  document.title = `${title} · hippod`;
  for (const link of nav.children) {
    const current = link.hash === `#/${PAGES[name] ? name : "now"}`;
    if (current) {
      link.setAttribute("aria-current", "page");
      // On a small screen, the links scroll sideways.
      nav.scrollLeft = link.offsetLeft - (nav.clientWidth - link.offsetWidth) / 2;
    } else link.removeAttribute("aria-current");
  }
  const box = h("div", { class: "page" }, h("h1", {}, title), h("p", { class: "about" }, about));
  main.replaceChildren(box);
  if (!state.workspace && page !== now) {
    box.append(h("p", { class: "quiet" }, "No workspace is registered. To register a folder, run: hippoctl workspace add DIR"));
    return;
  }
  try {
    leave = (await page(box, new URLSearchParams(query))) ?? leave;
  } catch (error) {
    const gone = state.workspace && !await loadWorkspaces().then((roots) => roots.includes(state.workspace), () => true);
    const message = gone ? `hippod no longer indexes ${state.workspace}. Choose another workspace, or add the folder again: hippoctl workspace add ${state.workspace}` : error.message;
    box.append(h("p", { class: "bad", role: "alert" }, message));
  }
}

/** Fills the list of workspaces, and returns their roots. Chooses the first of the wanted workspaces that exists. */
async function loadWorkspaces(wanted) {
  const roots = (await api("workspace.list")).workspaces.map((workspace) => workspace.root);
  if (wanted) state.workspace = [...wanted, roots[0]].find((root) => roots.includes(root)) ?? null;
  const gone = state.workspace && !roots.includes(state.workspace) && h("option", { value: state.workspace, selected: true }, "removed");
  select.replaceChildren(...roots.map((root) => h("option", { value: root, title: root, selected: root === state.workspace }, nameOf(root, roots))), gone || "");
  return roots;
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
  await loadWorkspaces([sessionStorage.getItem("workspace"), state.workspace]);
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
