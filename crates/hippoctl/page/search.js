// Search as a person types, with the reasons for each result.

import { ask, bar, count, h, number, place, read, toast } from "/lib.js";

const BARS = {
  lexical_unit: "Words", lexical_passage: "Words of the passage", vector_unit: "Meaning", vector_window: "Meaning around",
  coverage: "Share of the question", coverage_heading: "Share in headings", similar: "Similar words", date: "Date", first: "First ranking",
};

/** Splits a text into plain parts and marked words of the question. */
function marked(text, query) {
  const words = query.toLowerCase().match(/[\p{L}\p{N}]{3,}/gu) ?? [];
  return text.split(/([\p{L}\p{N}]+)/u).map((part) => {
    const word = part.toLowerCase();
    const hit = words.some((asked) => word === asked || (word.length > 3 && (word.startsWith(asked) || asked.startsWith(word))));
    return hit ? h("mark", {}, part) : part;
  });
}

/** The features of a result as bars, and the sentences of the daemon. */
function reasons(hit, query) {
  const box = h("div", { class: "reasons" });
  const details = h("details", { ontoggle: () => details.open && !box.firstChild && fill() }, h("summary", {}, "Why this result"), box);
  async function fill() {
    const shown = Object.entries(BARS).filter(([name]) => hit.explain?.[name] !== undefined);
    box.append(h("dl", { class: "bars" }, shown.map(([name, label]) => [h("dt", {}, label), h("dd", {}, bar(hit.explain[name], label), number(hit.explain[name]))])));
    try {
      const answer = await ask("recall.why", { query, path: hit.path, line: hit.start_line });
      const [passage] = answer.passages;
      box.append(...passage.because.map((text) => h("p", {}, text)));
      if (passage.change) box.append(h("p", {}, h("strong", {}, "To find it: "), passage.change));
    } catch (error) {
      box.append(h("p", { class: "bad" }, error.message));
    }
  }
  return details;
}

function result(hit, at, query) {
  const open = () => read(hit.path, hit.start_line, hit.end_line);
  const key = (event) => { if (event.key === "Enter" && event.target === row) open(); };
  const row = h("article", { class: "hit", tabindex: "0", "data-row": true, onkeydown: key, "aria-label": `Result ${at + 1}: ${hit.path}` },
    h("div", { class: "row" }, h("span", { class: "rank" }, at + 1), bar(hit.score, "Score"), h("span", { class: "score" }, number(hit.score)),
      place(hit.path, hit.start_line, hit.end_line), hit.date && h("span", { class: "quiet" }, hit.date)),
    hit.heading.length ? h("p", { class: "quiet small" }, hit.heading.join(" › ")) : null,
    h("p", { class: "text" }, marked(hit.text.trim(), query)),
    hit.superseded_by && h("p", { class: "small" }, "Corrected by ", place(...split(hit.superseded_by))),
    reasons(hit, query));
  return row;
}

const split = (text) => [text.slice(0, text.lastIndexOf(":")), Number(text.slice(text.lastIndexOf(":") + 1))];

export async function search(box, params) {
  const field = h("input", { type: "search", id: "query", placeholder: "Ask the memory", autocomplete: "off", value: params.get("q") ?? "", "aria-label": "Question" });
  const mode = h("select", { "aria-label": "Mode" }, ["hybrid", "lexical", "vector"].map((name) => h("option", {}, name)));
  const path = h("input", { placeholder: "memory/**", "aria-label": "Files" });
  const since = h("input", { type: "date", "aria-label": "Since" });
  const until = h("input", { type: "date", "aria-label": "Until" });
  const state = h("p", { class: "quiet", role: "status" }, "Results appear as you type. Enter keeps the question in the recall log.");
  const results = h("div", { class: "results" });
  const form = h("form", { class: "search", role: "search", onsubmit: (event) => { event.preventDefault(); go(true); } }, field, h("button", { class: "sr", tabindex: "-1" }, "Search"),
    h("details", {}, h("summary", {}, "Filters"), h("div", { class: "row" }, h("label", {}, "Mode", mode), h("label", {}, "Files", path), h("label", {}, "Since", since), h("label", {}, "Until", until))));
  box.append(form, state, results);
  // One search runs at a time. When it ends, the latest question follows.
  let busy = false, next = null;
  async function go(log) {
    if (busy) { next = log; return; }
    const query = field.value.trim();
    if (!query) { results.replaceChildren(); return; }
    busy = true;
    try {
      const filters = Object.fromEntries([["path", path], ["since", since], ["until", until]].filter(([, input]) => input.value).map(([name, input]) => [name, input.value]));
      const answer = await ask("search", { query, mode: mode.value, explain: true, min_score: 0, log: Boolean(log), record: false, ...filters });
      const notes = [answer.nothing_relevant && "All results are weak", answer.index.why, ...(answer.notes ?? [])].filter(Boolean);
      state.replaceChildren(`${count(answer.results.length, "result")} in ${answer.took_ms.toFixed(1)} ms`, notes.length ? ` · ${notes.join(" · ")}` : "");
      results.replaceChildren(...answer.results.map((hit, at) => result(hit, at, query)));
      history.replaceState(null, "", `#/search?q=${encodeURIComponent(query)}`);
    } catch (error) {
      toast(error.message);
    }
    busy = false;
    if (next !== null) { const again = next; next = null; go(again); }
  }
  for (const input of [field, mode, path, since, until]) input.addEventListener("input", () => go(false));
  field.focus();
  if (field.value) go(false);
}
