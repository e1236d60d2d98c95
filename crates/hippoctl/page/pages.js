// Pages that mostly list an answer of the daemon.

import { api, ask, bar, count, entriesOf, h, list, number, place, read, size, state, table, time } from "/lib.js";

const split = (text) => {
  const at = text.lastIndexOf(":");
  return at > 0 && /^\d+$/.test(text.slice(at + 1)) ? [text.slice(0, at), Number(text.slice(at + 1))] : [text];
};

export async function now(box) {
  const cards = h("div", { class: "cards" });
  const feed = h("ol", { class: "list feed", "aria-label": "Events" });
  box.append(cards, h("h2", {}, "Events"), feed, h("p", { class: "quiet" }, "Edits, embeddings and cycles appear here as they happen."));
  const what = { light: "tidies the map", deep: "renews the map", archival: "archives faded entries" };
  const line = (name, value) => [h("dt", {}, name), h("dd", {}, value)];
  async function load() {
    const status = await api("status");
    const model = h("section", { class: "card" }, h("h2", {}, "Daemon"), h("dl", { class: "facts" }, line("Version", status.version), line("Model", `${status.model.state}${status.model.reason ? `: ${status.model.reason}` : ""}`),
      line("Memory", size(status.memory_rss_bytes)), line("Answered", count(status.requests_served, "request"))));
    cards.replaceChildren(model, ...status.workspaces.map((one) => {
      const next = one.index?.next?.map((cycle) => h("div", {}, time(cycle.at), h("span", { class: "quiet" }, ` ${cycle.cycle}: ${what[cycle.cycle] ?? ""}`)));
      const fresh = one.lag_ms ? `changes of the last ${Math.ceil(one.lag_ms / 1000)} s are not searchable yet` : "all changes are searchable";
      return h("section", { class: "card" }, h("h2", {}, one.root.split("/").pop()), h("p", { class: "quiet small" }, one.root),
        h("div", { class: "row" }, bar(one.chunks ? one.embedded / one.chunks : 1, "Searchable by meaning"), h("span", {}, one.pending ? `${count(one.pending, "passage")} without a vector` : "all searchable by meaning")),
        h("dl", { class: "facts" }, line("Fresh", fresh), line("Files", `${count(one.documents, "file")} with ${count(one.chunks, "passage")}`), one.index && line("Entries", `${one.index.entries.toLocaleString("en")} in the map, ${one.index.queued} fading, ${one.index.archived} archived`),
          next && line("Next cycles", next), line("Database", size(one.database_bytes))), one.why && h("p", { class: "bad" }, one.why), one.settings && h("p", { class: "bad" }, one.settings));
    }));
  }
  const events = new EventSource("/events");
  let timer;
  events.onmessage = (message) => {
    const event = JSON.parse(message.data);
    const facts = Object.entries(event).filter(([name, value]) => !["event", "workspace"].includes(name) && value !== null).map(([name, value]) => `${name} ${value}`);
    feed.prepend(h("li", {}, h("span", {}, new Date().toTimeString().slice(0, 8)), h("strong", {}, event.event), h("span", { class: "quiet" }, facts.join(", "))));
    feed.children[50]?.remove();
    clearTimeout(timer);
    timer = setTimeout(load, 500);
  };
  await load();
  return () => { events.close(); clearTimeout(timer); };
}

export async function facts(box) {
  const audit = await ask("audit", { examples: 100 });
  const found = audit.findings.find((one) => one.kind === "contradicted");
  if (found.count) box.append(h("p", { class: "quiet" }, `${count(found.count, "statement")} with a later value. A search ranks the later value first.`));
  box.append(list(found.examples, (one) => h("article", { class: "hit", tabindex: "0", "data-row": true, onkeydown: (event) => event.key === "Enter" && read(one.path, one.line) },
    h("div", { class: "old" }, place(one.path, one.line), h("p", { class: "text" }, one.quotes[0] ?? "")),
    h("div", {}, place(...split(one.why.match(/\S+:\d+/)?.[0] ?? one.why)), h("p", { class: "text" }, h("strong", {}, one.quotes[1] ?? "")))), "No statement has a later value. If two dated files give different values for the same thing, such as “Staging port: 7000” and later “Staging port: 8443”, both appear here."));
}

export async function prompt(box) {
  let answer;
  try {
    answer = await ask("prompt");
  } catch (error) {
    if (!error.message.startsWith("no harness")) throw error;
    box.append(h("p", {}, "No agent is connected to this folder yet, so hippod adds nothing to a prompt."),
      h("p", {}, "To connect Claude Code, Codex or another program that runs agents, run: ", h("code", {}, `hippoctl init ${state.workspace}`)));
    return;
  }
  for (const platform of answer.platforms) {
    box.append(h("h2", {}, `${platform.platform}: ${count(platform.tokens, "token")}`));
    box.append(list(platform.parts, (part) => h("details", {}, h("summary", { "data-row": true }, h("strong", {}, part.source), h("span", { class: "quiet" }, ` ${count(part.tokens, "token")} · ${part.why}`)), h("div", { class: "file", tabindex: "0", role: "region", "aria-label": `Text of ${part.source}` },
      part.lines.map((line) => h("div", {}, line.text || " ", line.why && h("span", { class: "quiet" }, ` ${line.why}`)))))));
  }
}

export async function contexts(box) {
  const { sessions } = await ask("context.list");
  const entry = (one) => {
    const content = h("div", {});
    const fetchText = async () => {
      const answer = await api("context.fetch", { id: one.content_hash ?? one.id });
      content.replaceChildren(h("div", { class: "file", tabindex: "0" }, answer.content ?? answer.summary ?? answer.reason ?? "No content."));
    };
    return h("div", {}, h("div", { class: "row" }, bar(one.strength, "Strength"), h("span", { class: "tag" }, one.state), h("span", {}, one.summary ?? one.id), h("button", { onclick: fetchText }, "Fetch")), content);
  };
  box.append(list(sessions ?? [], (session) => {
    const inside = h("div", {});
    const details = h("details", { ontoggle: async () => {
      if (!details.open || inside.firstChild) return;
      const { entries } = await api("context.list", { session: session.session });
      inside.append(list(entries ?? [], entry, "No entries."));
    } }, h("summary", { "data-row": true }, h("strong", {}, session.session), h("span", { class: "quiet" }, ` ${session.closed ? "closed" : "open"}, ${entriesOf(session.entries)}, turn ${session.turn}, used ${time(session.used)}`)), inside);
    return details;
  }, "No session has stored content yet. After hippoctl init, the results of tools that are too large for a prompt appear here."));
}

export async function questions(box) {
  const answer = await ask("recall.log", { limit: 1000 });
  if (!answer.limit) {
    box.append(h("p", {}, "hippod keeps no questions, because the setting recall.log_questions is 0."));
    return;
  }
  box.append(h("p", { class: "quiet" }, `The last ${answer.limit.toLocaleString("en")} questions of ${count(answer.days, "day")}, without secrets.`));
  const passage = (one) => h("div", { class: "row passage" }, bar(one.score, "Score"), h("span", { class: one.outcome === "given" ? "tag good" : "tag" }, one.outcome), place(...split(one.place)), one.superseded_by && h("span", { class: "quiet" }, `corrected by ${one.superseded_by}`));
  box.append(list(answer.questions, (one) => h("details", {}, h("summary", { "data-row": true }, h("span", {}, time(one.at)), h("span", { class: "tag" }, one.client ?? one.method), h("strong", {}, one.question),
    h("span", { class: "quiet" }, `${count(one.passages.filter((it) => it.outcome === "given").length, "passage")} · ${one.took_ms.toFixed(0)} ms`)),
    [one.reason, one.filters && `filters: ${one.filters}`, one.degraded && `degraded: ${one.degraded}`, one.nothing_relevant && "all results are weak"].filter(Boolean).map((text) => h("p", { class: "small" }, text)),
    one.passages.map(passage), one.passages.length ? "" : h("p", { class: "quiet" }, "No passage."),
    h("p", {}, h("a", { href: `#/search?q=${encodeURIComponent(one.question)}` }, "Ask again"))), "No question yet. Questions of agents, of hippoctl search and of the page Search appear here."));
}

const FINDINGS = {
  duplicate: "Texts that occur twice", stale: "Entries whose file or section is missing", contradicted: "Lines that a later line contradicts",
  "secret-bearing": "Lines with a secret, such as a password", "instruction-like": "Lines that give orders to an agent",
};

export async function health(box) {
  const [doctor, audit] = await Promise.all([api("doctor", { workspace: state.workspace }), ask("audit", { examples: 20 })]);
  box.append(h("h2", {}, doctor.problems.length ? count(doctor.problems.length, "problem") : "No problems"));
  box.append(list(doctor.problems, (one) => h("article", { class: "hit", "data-row": true, tabindex: "0" }, h("p", {}, h("span", { class: `tag ${one.severity}` }, one.severity), ` ${one.what}`), h("p", { class: "quiet small" }, one.where), one.fix && h("p", {}, one.fix)), "All checks passed."));
  box.append(h("h2", {}, "Quality of the memory"), table("Findings of the audit", ["Finding", "Count", "Of", "Share"], audit.findings.map((one) => [FINDINGS[one.kind] ?? one.kind, one.count, one.of, h("span", { class: "row" }, bar(one.share, one.kind), number(one.share))])));
  for (const one of audit.findings.filter((one) => one.examples.length)) {
    box.append(h("details", {}, h("summary", { "data-row": true }, FINDINGS[one.kind] ?? one.kind), h("ul", { class: "plain" }, one.examples.map((example) => h("li", {}, place(example.path, example.line), h("span", { class: "quiet" }, ` ${example.why}`))))));
  }
  box.append(h("h2", {}, "Checks"), table("Checks of the doctor", ["Check", "Result"], doctor.checks.map((one) => [one.id, h("span", { class: one.ok ? "" : "bad" }, one.detail)])));
}
