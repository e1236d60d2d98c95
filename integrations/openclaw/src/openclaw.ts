/**
 * The plugin of hippod for OpenClaw. Large tool results become entries, prompts get passages of the memory, and sessions are summarized
 * and added to the daily log.
 *
 * The types describe only what the plugin uses of the API.
 */

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { because, isRecord, settings } from "./daemon.js";
import { Entries, TOOLS, answer } from "./entries.js";
import { flush, log, message, summarize } from "./session.js";

interface Context {
  sessionId?: string;
  sessionKey?: string;
  workspaceDir?: string;
}

interface ToolEvent {
  toolName: string;
  args: Record<string, unknown>;
  cwd?: string;
  isError?: boolean;
  result: { content: { type: string; text?: string }[] };
}

interface Compaction {
  messages: unknown[];
  signal?: AbortSignal;
  previousSummary?: string;
}

interface Api {
  config?: { plugins?: { slots?: { memory?: string } } };
  on(name: string, handler: (event: Record<string, unknown>, ctx: Context) => unknown): void;
  registerTool(factory: (ctx: Context) => unknown, options: { names: string[] }): void;
  registerAgentToolResultMiddleware(handler: (event: ToolEvent, ctx: Context) => unknown, options: { runtimes: string[] }): void;
  registerCompactionProvider(provider: { id: string; label: string; summarize(params: Compaction): Promise<string> }): void;
}

/** Reasons for which OpenClaw ends a session permanently. */
const ENDED = ["new", "reset", "idle", "daily", "deleted"];
/** The text that the plugin added to a prompt. */
const ADDED = /\n\n<!-- hippod: context -->(?:(?!<!-- hippod: context -->)[^])*<!-- \/hippod -->\s*$/;

/** Changes the text of a message. */
function withText(of: Record<string, unknown>, change: (text: string) => string): Record<string, unknown> {
  const { content } = of;
  if (typeof content === "string") return { ...of, content: change(content) };
  if (!Array.isArray(content)) return of;
  const at = content.findIndex((block) => isRecord(block) && block["type"] === "text");
  return { ...of, content: content.map((block, index) => (index === at ? { ...block, text: change(String(block.text)) } : block)) };
}

/** Adds the messages of a session to the daily log. OpenClaw keeps its sessions in a database, so the daemon reads a file of this function. */
async function flushMessages({ host }: Entries, messages: unknown[]): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "hippod-"));
  try {
    const file = join(folder, "session.jsonl");
    const lines = messages.filter(isRecord).map((one) => {
      const spoken = one["role"] === "user" ? withText(one, (text) => text.replace(ADDED, "")) : one;
      return `${JSON.stringify({ type: "message", message: message(spoken) })}\n`;
    });
    writeFileSync(file, lines.join(""), { mode: 0o600 });
    await flush(host.folder, host.id, file, { wait: true });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export default {
  id: "hippod",
  name: "hippod",
  description: "Context entries and memory of hippod",
  register(api: Api): void {
    /** The current session of each conversation. Not every event names the session and its folder. */
    const sessions = new Map<string, Entries>();
    /** Texts that were added to a prompt that OpenClaw has not stored yet, by conversation. */
    const added = new Map<string, string>();
    /** The sessions of which OpenClaw compacts one next. */
    const compacting = new Map<string, Entries>();
    /** Reports of turns, in order. */
    let reporting: Promise<void> = Promise.resolve();

    const keyOf = ({ sessionKey, sessionId }: Context): string => sessionKey ?? sessionId ?? "";

    const entriesOf = (ctx: Context, cwd?: string): Entries | undefined => {
      const known = sessions.get(keyOf(ctx));
      const id = ctx.sessionId ?? known?.host.id;
      const folder = ctx.workspaceDir ?? known?.host.folder ?? cwd;
      if (known?.host.id === id && known?.host.folder === folder) return known;
      if (id === undefined || folder === undefined) return undefined;
      const entries = new Entries({ id, folder });
      sessions.set(keyOf(ctx), entries);
      return entries;
    };

    /** Runs a step that the agent does not depend on. */
    const attempt = async <T>({ host }: Entries, failure: string, step: () => Promise<T>): Promise<T | undefined> => {
      try {
        return await step();
      } catch (error) {
        log(host.folder, failure, { ...because(error) });
        return undefined;
      }
    };

    // OpenClaw's memory plugin has a tool `memory_search`.
    const own = TOOLS.filter(({ name }) => name !== "memory_search" || api.config?.plugins?.slots?.memory === "none");
    const toolsOf = (ctx: Context): unknown =>
      own.map(({ name, label, description, parameters, run }) => ({
        ...{ name, label, description, parameters, catalogMode: "direct-only" },
        execute: async (_id: string, params: never) => {
          const entries = entriesOf(ctx);
          if (!entries) throw new Error("OpenClaw named no folder for this session");
          return answer(await run(entries, params));
        },
      }));
    api.registerTool(toolsOf, { names: own.map(({ name }) => name) });

    const replaced = async ({ toolName, args, cwd, isError, result }: ToolEvent, ctx: Context): Promise<unknown> => {
      const entries = entriesOf(ctx, cwd);
      const call = { toolName, input: args, content: result.content, isError: isError === true };
      const content = entries && (await attempt(entries, "⚠️ Result not stored", () => entries.replace(call)));
      return content && { result: { ...result, content } };
    };
    api.registerAgentToolResultMiddleware(replaced, { runtimes: ["openclaw"] });

    api.on("before_prompt_build", async ({ currentUserMessage, prompt, messages }, ctx) => {
      added.delete(keyOf(ctx));
      const text = await entriesOf(ctx)?.concerning(String(currentUserMessage ?? prompt), () => JSON.stringify(messages));
      if (!text) return undefined;
      added.set(keyOf(ctx), text);
      return { appendContext: text };
    });

    // OpenClaw does not store the added text. Without it, the next request would change a message that the model has seen.
    api.on("before_message_write", ({ message: written }, ctx) => {
      const text = added.get(keyOf(ctx));
      if (!text || !isRecord(written) || written["role"] !== "user") return undefined;
      added.delete(keyOf(ctx));
      return { message: withText(written, (prompt) => `${prompt}\n\n${text}`) };
    });

    // A turn is one call of the model. The agent goes on meanwhile.
    api.on("model_call_ended", (_event, ctx) => {
      const entries = entriesOf(ctx);
      if (!entries || !settings(entries.host.folder).turns) return;
      reporting = reporting.then(() => attempt(entries, "⚠️ Turn not reported", () => entries.turn()));
    });

    api.on("agent_end", async ({ messages }, ctx) => {
      const entries = entriesOf(ctx);
      await reporting;
      // The result of a subagent is in the conversation of the agent that started it.
      if (!entries || !Array.isArray(messages) || keyOf(ctx).includes(":subagent:") || !settings(entries.host.folder).flush) return;
      await attempt(entries, "⚠️ Session not flushed", () => flushMessages(entries, messages));
    });

    api.on("before_compaction", (_event, ctx) => {
      const entries = entriesOf(ctx);
      if (entries) compacting.set(keyOf(ctx), entries);
    });
    api.on("after_compaction", (_event, ctx) => void compacting.delete(keyOf(ctx)));

    api.registerCompactionProvider({
      id: "hippod",
      label: "hippod",
      async summarize({ messages, previousSummary, signal }) {
        // OpenClaw does not name the session. If several sessions are compacted at the same time, a summary belongs to none of them.
        const [entries, ...others] = compacting.values();
        compacting.clear();
        const only = others.length === 0 ? entries : undefined;
        const { summary } = await summarize(only?.host.folder, messages, previousSummary, signal);
        return only ? await only.withActive(summary, "") : summary;
      },
    });

    api.on("session_end", async ({ reason }, ctx) => {
      const entries = sessions.get(keyOf(ctx));
      if (!entries || entries.host.id !== ctx.sessionId) return;
      for (const known of [sessions, added, compacting]) known.delete(keyOf(ctx));
      if (ENDED.includes(String(reason))) await attempt(entries, "⚠️ Session not closed", () => entries.close());
    });
  },
};
