// The entries of the index file: strengths, curves, associations and changes.

import { fileOf, graph, groupOf } from "/graph.js";
import { ask, bar, confirm, count, entriesOf, h, list, number, place, state, time, toast } from "/lib.js";

const DAY = 86400000;
/** Days of the curve. */
const DAYS = [0, 1, 2, 4, 7, 10, 14, 21, 30, 45, 60, 90];

/** Draws the strength of an entry in the next 90 days if nothing accesses it. */
async function curve(id) {
  const strengths = await Promise.all(DAYS.map(async (days) => {
    const at = new Date(Date.now() + days * DAY).toISOString();
    return (await ask("index.show", { id, at })).entry.strength;
  }));
  const x = (days) => 34 + (days / 90) * 300, y = (value) => 108 - value * 96;
  const points = DAYS.map((days, at) => `${x(days)},${y(strengths[at])}`);
  const grid = [0, 0.5, 1].map((value) => [h("line", { x1: 34, x2: 334, y1: y(value), y2: y(value), class: "grid" }), h("text", { x: 28, y: y(value) + 4, class: "end" }, value)]);
  const ticks = [0, 30, 60, 90].map((days) => h("text", { x: x(days), y: 126, class: "middle" }, days ? `${days} d` : "now"));
  const label = `Strength without accesses: ${number(strengths[0])} now, ${number(strengths[8])} in 30 days, ${number(strengths[11])} in 90 days`;
  return h("svg", { viewBox: "0 0 356 132", class: "curve", role: "img", "aria-label": label }, grid, ticks,
    h("path", { d: `M${points.join("L")}`, class: "stroke" }));
}

/** Draws an entry in the middle of its related entries. */
function neighbours(entry, byId, open) {
  const near = entry.related.filter((id) => byId.has(id)).slice(0, 16);
  if (!near.length) return h("p", { class: "quiet" }, "No related entries.");
  const at = near.map((_, index) => (index / near.length) * 2 * Math.PI - Math.PI / 2);
  const node = (id, x, y, main) => {
    const topic = byId.get(id).topic;
    const go = () => open(id);
    return h("g", { class: main ? "node main" : "node", tabindex: main ? null : "0", role: main ? null : "button", "aria-label": topic, onclick: go, onkeydown: (event) => event.key === "Enter" && go() },
      h("circle", { cx: x, cy: y, r: 5 + 7 * byId.get(id).strength }), h("text", { x, y: y + 24, class: "middle" }, topic.length > 22 ? `${topic.slice(0, 21)}…` : topic), h("title", {}, topic));
  };
  const spots = at.map((angle) => [200 + 140 * Math.cos(angle), 150 + 110 * Math.sin(angle)]);
  return h("svg", { viewBox: "0 0 400 310", class: "graph", role: "group", "aria-label": "Related entries" },
    spots.map(([x, y]) => h("line", { x1: 200, y1: 150, x2: x, y2: y, class: "grid" })),
    near.map((id, index) => node(id, ...spots[index])), node(entry.id, 200, 150, true));
}

/** Number of entries that the page loads before all others. */
const FIRST = 200;

export async function map(box, params) {
  const filter = h("input", { type: "search", placeholder: "Filter the entries", "aria-label": "Filter" });
  const archived = h("input", { type: "checkbox" });
  const total = h("p", { class: "quiet", role: "status" });
  const rows = h("div", {});
  const detail = h("section", { class: "detail", "aria-label": "Entry" }, h("p", { class: "quiet" }, "Choose an entry."));
  const asGraph = params.get("view") === "graph", group = params.get("group"), file = params.get("file");
  const address = (changes) => {
    const kept = Object.entries({ ...Object.fromEntries(params), ...changes, id: null }).filter(([, value]) => value !== null);
    return `#/map?${new URLSearchParams(kept)}`;
  };
  const tab = (view, text) => h("a", { href: address({ view }), "aria-current": (view === "graph") === asGraph && "page" }, text);
  const views = h("nav", { class: "views", "aria-label": "View" }, tab("list", "List"), tab("graph", "Graph"));
  const inside = (group ?? file) !== null;
  const back = inside && h("p", { class: "row" }, h("a", { href: address({ group: null, file: null }) }, "← All entries"),
    group !== null && (file === null ? h("strong", {}, group) : h("a", { href: address({ file: null }) }, group)), file !== null && h("strong", {}, file));
  const drawing = asGraph && h("div", { class: "drawing" });
  box.append(h("div", { class: "row" }, filter, views, h("label", { class: "check" }, archived, "with archived entries")), total, back || "", h("div", { class: asGraph ? "split wide" : "split" }, h("div", {}, drawing || "", rows), detail));
  let entries = [], byId = new Map(), dim = () => {};

  async function load() {
    const params = { archived: archived.checked };
    if (!byId.size && !asGraph && !inside) {
      // Of a large map, the strongest entries appear at once.
      const first = await ask("index.list", { ...params, limit: FIRST });
      show(first);
      if (first.total <= FIRST) return;
    }
    show(await ask("index.list", params));
  }

  function show(answer) {
    entries = answer.entries;
    byId = new Map(entries.map((entry) => [entry.id, entry]));
    entries = entries.filter((entry) => (group === null || groupOf(entry) === group) && (file === null || fileOf(entry) === file));
    if (asGraph) dim = graph(drawing, entries, open, (by, name) => { location.hash = address({ [by]: name }); });
    total.replaceChildren(`${entriesOf(answer.total)}, index file of ${count(answer.tokens, "token")}`);
    draw();
  }

  function draw() {
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    const text = (entry) => `${entry.id} ${entry.topic} ${entry.summary} ${entry.tags.join(" ")}`.toLowerCase();
    const shown = words.length ? entries.filter((entry) => words.every((word) => text(entry).includes(word))) : entries;
    const row = (entry) => h("button", { class: "entry", "data-row": true, onclick: () => open(entry.id) },
      bar(entry.strength, "Strength"), h("span", { class: "topic" }, entry.topic || entry.id), h("span", { class: "quiet small" }, entry.place === "index" ? entry.band : entry.place),
      entry.priority === "amygdala" && h("span", { class: "tag" }, "pinned"));
    dim(new Set(shown));
    // The graph of all groups needs no list beside it, unless a person looks for an entry.
    const both = !asGraph || inside || words.length || !entries.length;
    rows.replaceChildren(both ? list(shown, row, entries.length ? "No entry matches." : "The map has no entries yet. Entries appear after a cycle; to run one now: hippoctl consolidate deep") : "");
  }

  async function change(method, fields, undo) {
    try {
      await ask(method, fields);
      await load();
      if (byId.has(fields.id)) await open(fields.id);
      else detail.replaceChildren(h("p", { class: "quiet" }, "The entry is in the archive."));
      toast("Changed", undo);
    } catch (error) {
      toast(error.message);
    }
  }

  function actions(entry) {
    if (!state.write) return h("p", { class: "quiet small" }, "To change entries, start the page with --write.");
    const { id } = entry;
    const pinned = entry.priority === "amygdala";
    const pin = (value) => change("index.edit", { id, pinned: value }, () => change("index.edit", { id, pinned: !value }));
    const restore = () => change("index.restore", { id });
    const forget = async () => await confirm(`Forget “${entry.topic}”?`, "Forget") && change("index.forget", { id }, restore);
    const edit = async () => {
      const topic = h("input", { value: entry.topic }), summary = h("textarea", { rows: 4 }, entry.summary), tags = h("input", { value: entry.tags.join(", ") });
      if (!await confirm("Edit the entry", "Save", { Topic: topic, Summary: summary, Tags: tags })) return;
      const before = { id, topic: entry.topic, summary: entry.summary, tags: entry.tags };
      const words = tags.value.split(",").map((tag) => tag.trim()).filter(Boolean);
      change("index.edit", { id, topic: topic.value, summary: summary.value, tags: words }, () => change("index.edit", before));
    };
    const button = (label, act) => h("button", { onclick: act }, label);
    if (entry.place === "archive") return h("p", { class: "row" }, button("Restore", restore));
    return h("p", { class: "row" }, button(pinned ? "Unpin" : "Pin", async () => await confirm(pinned ? "Let the entry fade again?" : "Keep the entry from fading?", pinned ? "Unpin" : "Pin") && pin(!pinned)), button("Edit", edit), button("Forget", forget));
  }

  async function open(id) {
    try {
      const shown = await ask("index.show", { id });
      const { entry } = shown;
      const drawing = h("div", {}, h("p", { class: "quiet" }, "…"));
      detail.replaceChildren(h("h2", {}, entry.topic), h("p", {}, entry.summary), actions(entry), drawing,
        h("dl", { class: "facts" }, [["Strength", `${number(entry.strength)} (${entry.band})`], ["Accesses", entry.hits ? `${entry.hits}, last ${time(entry.accessed)}` : "none"], ["Created", `${time(entry.created)} by ${entry.origin}`],
          ["Priority", shown.priority_rule ? `${entry.priority}: ${shown.priority_rule}` : entry.priority], ["Id", entry.id]].map(([name, value]) => [h("dt", {}, name), h("dd", {}, value)])),
        h("p", { class: "small quiet" }, shown.curve, shown.modifiers.map((text) => ` · ${text}`)),
        shown.forecast.some((one) => one.at) ? h("p", { class: "small" }, "Without accesses: ", shown.forecast.filter((one) => one.at).map((one) => `${one.event} ${one.at.slice(0, 10)}`).join(", ")) : "",
        h("h3", {}, "Sources"), h("ul", { class: "plain" }, entry.pointers.map((pointer) => h("li", {}, place(pointer.path), pointer.section && ` § ${pointer.section}`))),
        h("h3", {}, "Related"), neighbours(entry, byId, open));
      drawing.replaceChildren(await curve(id));
    } catch (error) {
      detail.replaceChildren(h("p", { class: "bad" }, error.message));
    }
  }

  filter.addEventListener("input", draw);
  archived.addEventListener("change", load);
  await load();
  if (params.get("id")) await open(params.get("id"));
}
