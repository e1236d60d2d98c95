// Time: the compaction tree from the root to the days, and the cycles with their changes.

import { ask, confirm, count, h, list, place, state, time as when, toast } from "/lib.js";

/** Shows a node of the tree, with links to the nodes and files below it. */
async function node(box, name) {
  let shown;
  try {
    shown = await ask("tree.show", name ? { node: name } : {});
  } catch {
    box.replaceChildren(h("p", { class: "quiet" }, "There is no compaction tree. To create it, run: hippoctl tree compact"));
    return;
  }
  const below = shown.sources.map((path) => {
    const period = path.match(/(\d{4}-(?:W\d\d|\d\d(?:-\d\d)?))\.md$/)?.[1];
    const isNode = /(^|\/)(daily|weekly|monthly)\//.test(path) && period;
    return h("li", {}, isNode ? h("button", { "data-row": true, onclick: () => node(box, path) }, period) : place(path));
  });
  const up = shown.period !== "ROOT" && h("button", { onclick: () => node(box) }, "← Top");
  box.replaceChildren(h("div", { class: "row" }, up, h("h3", {}, shown.period === "ROOT" ? "Summary of everything" : `${shown.level} ${shown.period}`), h("span", { class: "quiet" }, count(shown.tokens, "token"), shown.stale && " · sources have changed")),
    h("div", { class: "file", tabindex: "0", role: "region", "aria-label": "Text of the summary" }, shown.body), below.length ? h("ul", { class: "plain wrap" }, below) : "");
}

/** Shows a day: its summary and its log. */
function day(box) {
  const input = h("input", { type: "date", "aria-label": "Day" });
  const log = h("span", {});
  input.addEventListener("input", () => {
    if (!input.value) return;
    log.replaceChildren(place(`memory/${input.value}.md`));
    node(box, input.value);
  });
  return h("p", { class: "row" }, h("label", { class: "check" }, "Day", input), log);
}

function run(one, load) {
  const box = h("div", {});
  const undo = async () => {
    if (!await confirm(`Undo the ${one.cycle} cycle ${one.run}?`, "Undo")) return;
    try {
      const answer = await ask("cycle.undo", { run: one.run });
      toast(`${count(answer.undone, "change")} undone`);
      await load();
    } catch (error) {
      toast(error.message);
    }
  };
  const details = h("details", { ontoggle: () => details.open && !box.firstChild && fill() },
    h("summary", { "data-row": true }, h("span", {}, when(one.started)), h("strong", {}, one.cycle), h("span", { class: "quiet" }, `${one.outcome}, ${count(one.done, "change")}`, one.undone && `, undone ${when(one.undone)}`)), box);
  async function fill() {
    const { report } = await ask("cycle.history", { limit: 1, run: one.run });
    const step = (change) => [h("span", { class: "tag" }, change.rule), h("span", {}, change.what || change.entries.join(", "))];
    box.append(list(report?.plan ?? [], step, "The run changed nothing."));
    if (state.write && !one.undone && one.done) box.append(h("p", {}, h("button", { onclick: undo }, "Undo this run")));
  }
  return details;
}

export async function time(box) {
  const tree = h("section", { class: "card" });
  const cycles = h("section", { class: "card" });
  box.append(h("h2", {}, "Days, weeks and months"), day(tree), tree, h("h2", {}, "Cycles"), cycles);
  const load = async () => {
    const { runs } = await ask("cycle.history", { limit: 200 });
    cycles.replaceChildren(list(runs, (one) => run(one, load), "No cycle has run yet."));
  };
  await Promise.all([node(tree), load()]);
}
