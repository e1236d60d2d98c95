// Helpers of the page: elements, requests, formats.

/** What the server told at the start, and the chosen workspace. */
export const state = { workspace: null, write: null, version: "" };

const SVG = "http://www.w3.org/2000/svg";
const SVG_TAGS = new Set(["svg", "path", "line", "circle", "text", "g", "title"]);

/** Creates an element. Texts become text nodes, and never HTML. */
export function h(tag, props, ...children) {
  const node = SVG_TAGS.has(tag) ? document.createElementNS(SVG, tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(props ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (typeof value === "function") node.addEventListener(name.slice(2), value);
    else if (name === "style") for (const [key, text] of Object.entries(value)) node.style.setProperty(key, text);
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat(Infinity).filter((child) => child || child === 0));
  return node;
}

/** Sends a request of the protocol. Changes need the token for changes. */
export async function api(method, params = {}) {
  const headers = { "content-type": "application/json" };
  if (state.write) headers["x-hippod-write"] = state.write;
  let answer;
  try {
    const response = await fetch("/api", { method: "POST", headers, body: JSON.stringify({ method, params }) });
    answer = await response.json();
  } catch {
    throw new Error("The page has ended. To start it again, run: hippoctl ui");
  }
  if (answer.error) {
    const { message, hint, data } = answer.error;
    throw new Error([message, hint || data?.hint].filter(Boolean).join(". "));
  }
  return answer.result;
}

/** Sends a request about the chosen workspace. */
export const ask = (method, params = {}) => api(method, { workspace: state.workspace, ...params });

/** Shows a message for a few seconds, with an action to undo a change. */
export function toast(text, undo) {
  const button = undo && h("button", { onclick: () => { box.replaceChildren(); undo(); } }, "Undo");
  const box = document.getElementById("toast");
  box.replaceChildren(h("div", {}, text, button));
  clearTimeout(toast.timer);
  toast.timer = setTimeout(() => box.replaceChildren(), undo ? 10000 : 5000);
}

/** Asks whether to make a change. `fields` maps labels to inputs. */
export function confirm(question, action, fields = {}) {
  const dialog = document.getElementById("ask");
  return new Promise((resolve) => {
    const done = (value) => { dialog.close(); resolve(value); };
    const rows = Object.entries(fields).map(([label, input]) => h("label", {}, label, input));
    const yes = h("button", { class: "main", type: "submit" }, action);
    const no = h("button", { type: "button", onclick: () => done(false) }, "Cancel");
    const submit = (event) => { event.preventDefault(); done(true); };
    dialog.replaceChildren(h("form", { onsubmit: submit }, h("h2", {}, question), rows, h("p", { class: "row" }, yes, no)));
    dialog.oncancel = () => resolve(false);
    dialog.showModal();
    (rows.length ? Object.values(fields)[0] : yes).focus();
  });
}

/** A bar for a value from 0 to 1. */
export function bar(value, label) {
  const share = Math.max(0, Math.min(1, value ?? 0));
  const fill = h("i", { style: { width: `${share * 100}%` } });
  return h("span", { class: "bar", role: "img", "aria-label": `${label} ${number(share)}`, title: number(share) }, fill);
}

export const number = (value) => (value === null || value === undefined ? "–" : value.toFixed(2));
export const count = (value, noun) => `${value.toLocaleString("en")} ${noun}${value === 1 ? "" : "s"}`;
export const entriesOf = (value) => (value === 1 ? "1 entry" : `${value.toLocaleString("en")} entries`);
export const time = (text) => (text ? text.slice(0, 16).replace("T", " ") : "–");
export const size = (bytes) => (bytes < 1e6 ? `${(bytes / 1e3).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`);

/** A list that adds rows while a person scrolls, so that 10,000 rows do not delay the first paint. */
export function list(items, render, empty = "Nothing here.") {
  const node = h("ol", { class: "list" });
  if (!items.length) return h("p", { class: "quiet" }, empty);
  let shown = 0;
  const more = h("li", { class: "more", "aria-hidden": "true" });
  const add = () => {
    const next = items.slice(shown, shown + 60);
    shown += next.length;
    more.before(...next.map((item, at) => h("li", {}, render(item, shown - next.length + at))));
    if (shown >= items.length) { watch.disconnect(); more.remove(); }
  };
  node.append(more);
  const watch = new IntersectionObserver((seen) => { if (seen.some((one) => one.isIntersecting)) add(); }, { rootMargin: "600px" });
  watch.observe(more);
  add();
  return node;
}

/** A table with a caption for screen readers. */
export function table(caption, heads, rows) {
  return h("div", { class: "scroll" }, h("table", {}, h("caption", { class: "sr" }, caption),
    h("thead", {}, h("tr", {}, heads.map((head) => h("th", { scope: "col" }, head)))),
    h("tbody", {}, rows.map((cells) => h("tr", {}, cells.map((cell) => h("td", {}, cell)))))));
}

/** A link that shows a place of a file beside the page. */
export function place(path, line, end) {
  const text = line ? `${path}:${line}${end && end !== line ? `–${end}` : ""}` : path;
  return h("button", { class: "place", onclick: () => read(path, line, end) }, text);
}

/** Shows the lines around a place as plain text. */
export async function read(path, line = 1, end = line) {
  const from = Math.max(1, line - 30);
  const pane = document.getElementById("reader");
  const close = () => { pane.hidden = true; document.body.classList.remove("reading"); };
  const head = h("div", { class: "row" }, h("h2", {}, path), h("button", { onclick: close, "aria-label": "Close the file" }, "✕"));
  try {
    const file = await ask("get", { path, from, count: 200 });
    const lines = file.text.replace(/\n$/, "").split("\n").map((text, at) => {
      const number = file.start_line + at;
      const here = number >= line && number <= end;
      return h("div", { class: here ? "line here" : "line" }, h("span", { class: "number" }, number), h("span", {}, text || " "));
    });
    pane.replaceChildren(head, h("p", { class: "quiet" }, `Lines ${file.start_line} to ${file.end_line} of ${file.total_lines}`),
      h("div", { class: "file", tabindex: "0", role: "region", "aria-label": `Text of ${path}` }, lines));
  } catch (error) {
    pane.replaceChildren(head, h("p", { class: "bad" }, error.message));
  }
  pane.hidden = false;
  document.body.classList.add("reading");
  pane.querySelector(".here")?.scrollIntoView({ block: "center" });
}
