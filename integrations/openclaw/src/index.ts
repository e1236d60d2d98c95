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
  SessionBeforeCompactEvent,
  TurnEndEvent,
} from "@mariozechner/pi-coding-agent";

import { ASIDE_MS, Refused, appendLine, because, call, isRecord, oneLine, settings, socketPath } from "./daemon.js";
import { Entries, registerTools } from "./entries.js";

interface CompactAnswer {
  summary: string;
  stats: {
    messages: number;
    kept: number;
    compressed: number;
    sparse: number;
    tokens_before: number;
    tokens_after: number;
    ratio: number;
    stored?: number;
  };
}

/** A message as the daemon reads it: without images' bytes, thoughts and what only the host needs. */
export function message(of: unknown): Record<string, unknown> | undefined {
  if (!isRecord(of) || typeof of["role"] !== "string") return undefined;
  const { role, content, toolName, toolCallId, isError, timestamp, command, output, exitCode, summary } = of;
  if (role === "bashExecution") {
    const failed = typeof exitCode === "number" && exitCode !== 0;
    return { role: "toolResult", toolName: "bash", isError: failed, content: `$ ${String(command)}\n${String(output)}` };
  }
  const said = typeof summary === "string" && content === undefined ? summary : content;
  const blocks = Array.isArray(said)
    ? said.filter(isRecord).flatMap((block): Record<string, unknown>[] => {
        switch (block["type"]) {
          case "thinking":
            return [];
          case "image":
            return [{ type: "image" }];
          case "toolCall":
            return [{ type: "toolCall", id: block["id"], name: block["name"], arguments: block["arguments"] }];
          default:
            return [{ type: block["type"], text: block["text"] }];
        }
      })
    : said;
  return { role, content: blocks, toolName, toolCallId, isError, timestamp };
}

export default function hippocampus(pi: ExtensionAPI): void {
  /** Entries by the id of the host's session. */
  const sessions = new Map<string, Entries>();
  /** Turns are reported one after the other. */
  let reporting: Promise<void> = Promise.resolve();

  const entriesOf = (ctx: ExtensionContext): Entries => {
    const id = ctx.sessionManager.getSessionId();
    const entries = sessions.get(id) ?? new Entries();
    sessions.set(id, entries);
    return entries;
  };

  const log = (ctx: ExtensionContext, text: string, data?: Record<string, unknown>): void => {
    const { debug, logFile } = settings(ctx.cwd);
    const line = `[${new Date().toISOString()}] [hippocampus] ${text}${data ? ` ${JSON.stringify(data)}` : ""}`;
    if (debug) console.error(oneLine(line));
    try {
      appendLine(logFile, line);
    } catch {
      // A session goes on without its log.
    }
  };

  const notify = (ctx: ExtensionContext, text: string): void => {
    if (ctx.hasUI) ctx.ui.notify(text, "warning");
  };

  pi.on("session_start", (_event, ctx) => {
    log(ctx, "🧠 extension loaded");
  });

  /** Has the daemon take the session into the daily log; nobody waits for more than that it knows of it. */
  const flush = async (ctx: ExtensionContext): Promise<void> => {
    const own = settings(ctx.cwd);
    const path = ctx.sessionManager.getSessionFile();
    if (!own.flush || !path) return;
    const params = { workspace: ctx.cwd, path, session: ctx.sessionManager.getSessionId(), format: "pi", wait: false };
    try {
      await call(socketPath(process.env), "session.flush", params, ASIDE_MS);
    } catch (error) {
      log(ctx, "⚠️ Session not flushed", { ...because(error) });
    }
  };

  pi.on("session_before_compact", async (event: SessionBeforeCompactEvent, ctx) => {
    const { preparation, signal } = event;
    const own = settings(ctx.cwd);
    const socket = socketPath(process.env);
    const messages = [...preparation.messagesToSummarize, ...preparation.turnPrefixMessages]
      .map(message)
      .filter((one) => one !== undefined);
    if (preparation.previousSummary) {
      messages.unshift({ type: "compaction", summary: preparation.previousSummary });
    }
    log(ctx, "🔬 Compaction triggered", { messages: messages.length, tokensBefore: preparation.tokensBefore });
    const params: Record<string, unknown> = { workspace: ctx.cwd, messages };
    if (own.budgetTokens) params["budget_tokens"] = own.budgetTokens;
    if (own.numbers) params["config"] = own.numbers;
    const begun = Date.now();
    const compact = async (): Promise<CompactAnswer> => {
      const left = (): number => Math.max(1, own.timeoutMs - (Date.now() - begun));
      try {
        return (await call(socket, "session.compact", params, left(), signal)) as CompactAnswer;
      } catch (error) {
        if (because(error).kind !== "no-workspace") throw error;
        // A summary needs no workspace; what it cites is then in the session's own file alone.
        const { workspace: _, ...rest } = params;
        return (await call(socket, "session.compact", rest, left(), signal)) as CompactAnswer;
      }
    };
    try {
      const [answer] = await Promise.all([compact(), flush(ctx)]);
      const { stats, summary } = answer;
      if (!summary || stats.messages === 0) throw new Refused("there was nothing to summarise", "internal");
      log(ctx, "📊 Scoring complete", {
        total: stats.messages,
        sparse: stats.sparse,
        compressed: stats.compressed,
        kept: stats.kept,
      });
      log(ctx, "📝 Summary built", { summaryTokens: stats.tokens_after, compressionRatio: stats.ratio.toFixed(1) });
      const { firstKeptEntryId, tokensBefore } = preparation;
      const section = own.entries ? await entriesOf(ctx).left(event, ctx).catch(() => "") : "";
      const whole = section ? `${summary}\n\n${section}` : summary;
      return { compaction: { summary: whole, firstKeptEntryId, tokensBefore, details: { hippod: stats } } };
    } catch (error) {
      const { kind, message: said } = because(error);
      // A second question has only what the first left of the time; the person knows the whole.
      const message = kind === "timeout" ? `no answer within ${own.timeoutMs} ms` : said;
      log(ctx, "⚠️ Compaction left to the host", { kind, message });
      if (kind !== "aborted") notify(ctx, `hippod did not compact this session (${message}): the default compaction is used`);
      return undefined;
    }
  });

  pi.on("tool_result", async (event, ctx) => {
    try {
      return await entriesOf(ctx).replace(event, ctx);
    } catch (error) {
      log(ctx, "⚠️ Result not stored", { ...because(error) });
      return undefined;
    }
  });

  pi.on("before_agent_start", async (event, ctx) => {
    const entries = entriesOf(ctx);
    const none = (): string => "";
    const cued = settings(ctx.cwd).entries ? entries.cued(event.prompt, ctx).catch(none) : "";
    const parts = await Promise.all([cued, entries.recalled(event.prompt, ctx).catch(none)]);
    const content = parts.filter(Boolean).join("\n");
    return content ? { message: { customType: "hippod", content, display: true } } : undefined;
  });

  pi.on("turn_end", (_event: TurnEndEvent, ctx) => {
    if (!settings(ctx.cwd).turns) return;
    // The agent goes on meanwhile; turns stay in their order.
    reporting = reporting.then(() => entriesOf(ctx).turn(ctx)).catch((error: unknown) => {
      log(ctx, "⚠️ Turn not reported", { ...because(error) });
    });
  });

  pi.on("session_shutdown", async (event, ctx) => {
    await reporting;
    await flush(ctx);
    // A session that the user only leaves for another one can go on later.
    if (event.reason === "quit") await entriesOf(ctx).close().catch(() => undefined);
    sessions.delete(ctx.sessionManager.getSessionId());
  });

  // OpenClaw versions without tools of extensions still get the entries; the same tool call again returns the content.
  if (typeof pi.registerTool === "function") registerTools(pi, entriesOf);
}
