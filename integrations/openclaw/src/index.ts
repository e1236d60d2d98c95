/**
 * The extension of hippod for Pi and OpenClaw.
 *
 * Large tool results enter the conversation as short entries. The daemon stores the results, and the agent fetches them with a tool.
 * The daemon also summarizes sessions, and adds their messages to the daily log. If the daemon does not answer in time, the host works
 * as without this extension.
 *
 * A result is replaced before it enters the conversation, and later texts are added at the end. The conversation before them never
 * changes, except by a compaction, so the prompt cache of the provider stays valid.
 */

import type {
  ExtensionAPI,
  ExtensionContext,
  SessionEntry,
  TurnEndEvent,
} from "@mariozechner/pi-coding-agent";

import { because, settings } from "./daemon.js";
import { Entries, TOOLS, answer } from "./entries.js";
import { flush, log, summarize } from "./session.js";

export default function hippocampus(pi: ExtensionAPI): void {
  /** Entries by the id of the host's session. */
  const sessions = new Map<string, Entries>();
  /** Turns are reported one after the other. */
  let reporting: Promise<void> = Promise.resolve();

  const entriesOf = (ctx: ExtensionContext): Entries => {
    const id = ctx.sessionManager.getSessionId();
    const entries = sessions.get(id) ?? new Entries({ id, folder: ctx.cwd });
    sessions.set(id, entries);
    return entries;
  };

  const notify = (ctx: ExtensionContext, text: string): void => {
    if (ctx.hasUI) ctx.ui.notify(text, "warning");
  };

  pi.on("session_start", (_event, ctx) => {
    log(ctx.cwd, "🧠 extension loaded");
  });

  const flushed = async (ctx: ExtensionContext, compact = false): Promise<void> => {
    const path = ctx.sessionManager.getSessionFile();
    if (settings(ctx.cwd).flush && path) await flush(ctx.cwd, ctx.sessionManager.getSessionId(), path, { compact });
  };

  pi.on("session_before_compact", async ({ preparation, branchEntries, signal }, ctx) => {
    const { firstKeptEntryId, tokensBefore, previousSummary } = preparation;
    const messages = [...preparation.messagesToSummarize, ...preparation.turnPrefixMessages];
    log(ctx.cwd, "🔬 Compaction triggered", { messages: messages.length + (previousSummary ? 1 : 0), tokensBefore });
    try {
      const [{ stats, summary }] = await Promise.all([summarize(ctx.cwd, messages, previousSummary, signal), flushed(ctx, true)]);
      log(ctx.cwd, "📊 Scoring complete", {
        total: stats.messages,
        sparse: stats.sparse,
        compressed: stats.compressed,
        kept: stats.kept,
      });
      log(ctx.cwd, "📝 Summary built", { summaryTokens: stats.tokens_after, compressionRatio: stats.ratio.toFixed(1) });
      const whole = await entriesOf(ctx).withActive(summary, from(branchEntries, firstKeptEntryId));
      return { compaction: { summary: whole, firstKeptEntryId, tokensBefore, details: { hippod: stats } } };
    } catch (error) {
      const { kind, message } = because(error);
      log(ctx.cwd, "⚠️ Compaction left to the host", { kind, message });
      if (kind !== "aborted") notify(ctx, `hippod did not compact this session (${message}): the default compaction is used`);
      return undefined;
    }
  });

  pi.on("tool_result", async (event, ctx) => {
    try {
      const content = await entriesOf(ctx).replace(event);
      return content && { content };
    } catch (error) {
      log(ctx.cwd, "⚠️ Result not stored", { ...because(error) });
      return undefined;
    }
  });

  pi.on("before_agent_start", async (event, ctx) => {
    const content = await entriesOf(ctx).concerning(event.prompt, () => conversation(ctx));
    return content ? { message: { customType: "hippod", content, display: true } } : undefined;
  });

  pi.on("turn_end", (_event: TurnEndEvent, ctx) => {
    if (!settings(ctx.cwd).turns) return;
    // The agent goes on meanwhile; turns stay in their order.
    reporting = reporting.then(() => entriesOf(ctx).turn(ctx.getContextUsage())).catch((error: unknown) => {
      log(ctx.cwd, "⚠️ Turn not reported", { ...because(error) });
    });
  });

  pi.on("session_shutdown", async (event, ctx) => {
    await reporting;
    await flushed(ctx);
    // A session that the user only leaves for another one can go on later.
    if (event.reason === "quit") await entriesOf(ctx).close().catch(() => undefined);
    sessions.delete(ctx.sessionManager.getSessionId());
  });

  if (typeof pi.registerTool !== "function") return;
  for (const { run, ...tool } of TOOLS) {
    const execute = async (_id: string, params: never, _signal: unknown, _update: unknown, ctx: ExtensionContext) =>
      answer(await run(entriesOf(ctx), params));
    pi.registerTool({ ...tool, execute });
  }
}

/** Returns the entries of a session from an id on, as text. */
const from = (entries: SessionEntry[], id: string): string => {
  const first = entries.findIndex((entry) => entry.id === id);
  return JSON.stringify(first < 0 ? [] : entries.slice(first));
};

/** Returns the messages that the model sees, as text. */
function conversation(ctx: ExtensionContext): string {
  const branch = ctx.sessionManager.getBranch();
  const last = branch.filter((entry) => entry.type === "compaction").at(-1);
  const kept = branch.findIndex((entry) => entry.id === last?.firstKeptEntryId);
  return JSON.stringify([last, branch.slice(Math.max(kept, 0))]);
}
