// The whole map as a graph: a disc for each group, a dot for each entry, lines between related entries or groups.

import { entriesOf, h } from "/lib.js";

/** The most entries that are drawn at once. Of larger groups, the strongest entries are drawn. */
const MOST = 1200;
/** More lines than this are unreadable. Then lines connect only groups, and the entry that a person points to. */
const MOST_LINES = 120, MOST_BETWEEN = 30;
/** A group with more entries is divided by files, into at most this number of discs. */
const DIVIDED = 400, DISCS = 24;
/** The largest and the smallest distance of two dots, and the height for which the distance is chosen, in pixels. */
const STEPS = [22, 8], HEIGHT = 560;
const LABEL = 22, GAP = 20, NARROWEST = 116;

/** The places of a disc for `total` dots at distance 1: row by row, so that dots that follow each other are neighbours. */
function disc(total) {
  for (let radius = 0.4 + 0.5 * Math.sqrt(total / Math.PI); ; radius += 0.2) {
    const spots = [];
    for (let row = -Math.floor(radius / 0.87); row * 0.87 <= radius; row++) {
      const y = row * 0.87, half = Math.sqrt(radius * radius - y * y), shift = row & 1 ? 0.5 : 0, line = [];
      for (let x = Math.ceil(-half - shift) + shift; x <= half; x++) line.push([x, y]);
      spots.push(...(row & 1 ? line.reverse() : line));
    }
    const spare = spots.length - total;
    if (spare >= 0) return { radius: radius + 0.5, spots: spots.slice(spare >> 1) };
  }
}

/** Orders the entries of a group so that related entries follow each other. */
function chain(entries) {
  const byId = new Map(entries.map((entry) => [entry.id, entry]));
  const ordered = new Set();
  for (const first of entries) {
    const next = [first];
    while (next.length) {
      const entry = next.pop();
      if (ordered.has(entry)) continue;
      ordered.add(entry);
      next.push(...entry.related.map((id) => byId.get(id)).filter(Boolean));
    }
  }
  return [...ordered];
}

/** Puts the discs into rows of the given width, and returns the height. */
function pack(groups, width, step) {
  let x = 0, y = 0, high = 0;
  for (const group of groups) {
    const radius = group.radius * step;
    const wide = Math.max(2 * radius, NARROWEST);
    if (x && x + wide > width) { x = 0; y += high + LABEL + GAP; high = 0; }
    Object.assign(group, { x: x + wide / 2, top: y, size: radius, wide });
    x += wide + GAP;
    high = Math.max(high, 2 * radius);
    group.y = y + radius;
  }
  return y + high + LABEL;
}

const OTHER = "Other";
export const groupOf = (entry) => entry.group || OTHER;
export const fileOf = (entry) => entry.pointers[0]?.path ?? OTHER;

/** Divides entries into groups, or one group into the files of its entries. */
function divide(entries) {
  const collect = (key) => {
    const groups = new Map();
    for (const entry of entries) {
      const name = key(entry);
      if (!groups.has(name)) groups.set(name, []);
      groups.get(name).push(entry);
    }
    return [...groups].map(([name, all]) => ({ name, all })).sort((one, other) => other.all.length - one.all.length || (one.name < other.name ? -1 : 1));
  };
  const groups = collect(groupOf);
  if (groups.length > 1 || entries.length <= DIVIDED) return { by: "group", groups };
  const files = collect(fileOf);
  if (files.length <= DISCS) return { by: "file", groups: files };
  const rest = files.slice(DISCS - 1);
  // Many small files say less than one disc.
  if (rest.reduce((sum, file) => sum + file.all.length, 0) > entries.length / 2) return { by: "group", groups };
  const all = rest.flatMap((file) => file.all).sort((one, other) => other.strength - one.strength);
  return { by: "file", groups: [...files.slice(0, DISCS - 1), { name: `${rest.length.toLocaleString("en")} other files`, all, mixed: true }] };
}

/** Places the entries for a width in pixels. The same entries always get the same places. */
export function layOut(entries, width) {
  const share = Math.min(1, MOST / entries.length);
  const { by, groups } = divide(entries);
  for (const group of groups) {
    group.drawn = chain(group.all.slice(0, Math.max(1, Math.floor(group.all.length * share))));
    Object.assign(group, disc(group.drawn.length));
  }
  const largest = Math.max(...groups.map((group) => group.radius));
  let step = Math.min(STEPS[0], width / (2 * largest));
  while (step > STEPS[1] && pack(groups, width, step) > HEIGHT) step -= 1;
  const height = pack(groups, width, step);
  const dots = groups.flatMap((group) => group.drawn.map((entry, at) => ({ entry, group, x: group.x + group.spots[at][0] * step, y: group.y + group.spots[at][1] * step })));
  return { by, groups, dots, step, height };
}

/** The nearest dot in the direction of an arrow key. */
function neighbour(dots, from, key) {
  const [dx, dy] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[key];
  let best = from, least = Infinity;
  for (const dot of dots) {
    const along = (dot.x - from.x) * dx + (dot.y - from.y) * dy, aside = Math.abs((dot.x - from.x) * dy) + Math.abs((dot.y - from.y) * dx);
    if (along > 0.5 && aside <= along && along + 2 * aside < least) [best, least] = [dot, along + 2 * aside];
  }
  return best;
}

const short = (text, width) => (text.length > width / 7 ? `${text.slice(0, Math.max(6, Math.floor(width / 7) - 1))}…` : text);

const line = (one, other) => `M${one.x.toFixed(1)} ${one.y.toFixed(1)}L${other.x.toFixed(1)} ${other.y.toFixed(1)}`;

/** Lines between related entries, or between their groups if these are too many. */
function lines(pairs) {
  if (pairs.length <= MOST_LINES) return h("path", { d: pairs.map(([one, other]) => line(one, other)).join(""), class: "grid" });
  const between = new Map();
  for (const [{ group: one }, { group: other }] of pairs) {
    if (one === other) continue;
    const d = one.x < other.x ? line(one, other) : line(other, one);
    between.set(d, (between.get(d) ?? 0) + 1);
  }
  const most = [...between].sort((one, other) => other[1] - one[1]).slice(0, MOST_BETWEEN);
  return most.map(([d, total]) => h("path", { d, class: "grid", style: { "stroke-width": Math.min(10, Math.sqrt(total)) } }));
}

/** Draws the entries into a box. Returns a function that dims all other entries than the given ones. */
export function graph(box, entries, open, openGroup) {
  if (!entries.length) { box.replaceChildren(); return () => {}; }
  const width = Math.max(280, box.clientWidth);
  const { by, groups, dots, step, height } = layOut(entries, width);
  const byId = new Map(dots.map((dot) => [dot.entry.id, dot]));
  for (const dot of dots) dot.near = new Set();
  for (const dot of dots) for (const id of dot.entry.related) {
    const other = byId.get(id);
    if (other) { dot.near.add(other); other.near.add(dot); }
  }
  const pairs = dots.flatMap((dot, at) => { dot.at = at; return [...dot.near].filter((other) => other.at === undefined).map((other) => [dot, other]); });
  for (const dot of dots) dot.node = h("circle", { cx: dot.x, cy: dot.y, r: 2 + dot.entry.strength * Math.max(1.5, step / 2 - 4), class: "dot", role: "button", tabindex: dot.at ? -1 : 0, "aria-label": dot.entry.topic, "data-at": dot.at });
  const near = h("path", { class: "near" });
  const caption = h("p", { class: "small caption" }, `Each dot is an entry; a larger dot is stronger. ${pairs.length ? "Lines connect what is related." : "No entries are related yet. Entries that searches find together become related."}`);
  let stop = dots[0];
  const dotOf = (event) => dots[event.target.dataset?.at];
  function point(event) {
    const dot = dotOf(event);
    if (!dot) return;
    const others = [...dot.near];
    near.setAttribute("d", others.map((other) => line(dot, other)).join(""));
    caption.replaceChildren(h("strong", {}, dot.entry.topic), others.length ? ` · related: ${others.slice(0, 6).map((other) => other.entry.topic).join(", ")}${others.length > 6 ? " …" : ""}` : "");
  }
  function focus(event) {
    const dot = dotOf(event);
    if (!dot) return;
    // The graph is one stop of the Tab key. The arrow keys move inside.
    stop.node.setAttribute("tabindex", -1);
    stop = dot;
    dot.node.setAttribute("tabindex", 0);
    point(event);
  }
  function click(event) {
    const dot = dotOf(event), group = groups[event.target.closest("[data-group]")?.dataset.group];
    if (dot) open(dot.entry.id);
    else if (group) openGroup(by, group.name);
  }
  function press(event) {
    const dot = dotOf(event);
    if (event.key === "Enter") click(event);
    else if (dot && event.key.startsWith("Arrow")) {
      event.preventDefault();
      neighbour(dots, dot, event.key).node.focus();
    }
  }
  const label = (group, at) => {
    const opens = !group.mixed && groups.length > 1;
    const name = by === "file" ? group.name.split("/").pop() : group.name;
    return h("g", { class: "group", role: opens && "button", tabindex: opens && 0, "data-group": opens && at },
      h("text", { x: group.x, y: group.top + 2 * group.size + 16, class: "middle" }, `${short(name, group.wide - 35)} · ${group.all.length.toLocaleString("en")}`, h("title", {}, group.name)));
  };
  const svg = h("svg", { viewBox: `0 0 ${width} ${height}`, width, height, class: "map", role: "group", "aria-label": "Graph of the map", onclick: click, onkeydown: press, onfocusin: focus, onpointerover: point },
    pairs.length > MOST_LINES && lines(pairs), groups.map((group) => h("circle", { cx: group.x, cy: group.y, r: group.size, class: "disc" })), pairs.length <= MOST_LINES && lines(pairs), near, dots.map((dot) => dot.node), groups.map(label));
  const left = entries.length > dots.length && `The graph shows the strongest ${dots.length.toLocaleString("en")} of ${entriesOf(entries.length)}.`;
  box.replaceChildren(caption, svg, h("p", { class: "quiet small" }, left || "", groups.length > 1 ? ` To see more of a ${by}, choose its name.` : ""));
  return (shown) => { for (const dot of dots) dot.node.classList.toggle("dim", !shown.has(dot.entry)); };
}
