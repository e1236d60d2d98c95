/**
 * The extension of Pi and OpenClaw that answers compactions with hippod.
 *
 * A compaction is answered by the daemon over its socket, which keeps every message, so that the ids of the summary can be fetched. Where
 * the daemon does not answer in time the host compacts as it does without this extension, and the user is told. Turns are
 * reported, so that what stands in the context fades, and the session goes into the daily log before anything of it is folded.
 *
 * One file without dependencies: it can be copied into a folder of extensions as it is.
 */

import { appendFileSync, lstatSync, mkdirSync, readFileSync, renameSync, statSync } from "node:fs";
import { connect } from "node:net";
import { homedir, platform } from "node:os";
import { dirname, isAbsolute, join } from "node:path";

import type {
  ExtensionAPI,
  ExtensionContext,
  SessionBeforeCompactEvent,
  TurnEndEvent,
} from "@mariozechner/pi-coding-agent";

/** The file of settings: the user's own beside hippod's `config.toml`, and one in the folder of the session, which may only narrow. */
const CONFIG_FILE = "hipocampus.config.json";
/** The key of these settings in the file. */
const CONFIG_KEY = "sessionCompaction";
/** A larger file of settings is not read, in bytes. */
const LARGEST_CONFIG = 64 * 1024;
/** The log is rotated above this size, in bytes. */
const LARGEST_LOG = 1024 * 1024;
/** Bytes of a request; the daemon takes no longer line. */
const LONGEST = 16 * 1024 * 1024;
/** How long reporting a turn, or a flush, may take, in milliseconds. */
const ASIDE_MS = 2_000;

/** The settings of the extension. */
interface Settings {
  /** How long a compaction is waited for, in milliseconds. */
  timeoutMs: number;
  /** Most tokens of a summary; as many as the rules make when absent. */
  budgetTokens?: number;
  /** Whether turns are reported. */
  turns: boolean;
  /** Whether the session goes into the daily log. */
  flush: boolean;
  /** Whether log lines go to the console as well. */
  debug: boolean;
  /** The log; absolute. */
  logFile: string;
  /** The numbers of the compaction, for the daemon. */
  numbers?: Record<string, unknown>;
}

/** Why the daemon gave no answer. */
class Refused extends Error {
  constructor(
    message: string,
    readonly kind: string,
  ) {
    super(message);
  }
}

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

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns the settings in a file; none if the file is a link, not a regular file, too large or not JSON. */
function objectIn(file: string): Record<string, unknown> {
  try {
    const stat = lstatSync(file);
    if (!stat.isFile() || stat.size > LARGEST_CONFIG) return {};
    const read: unknown = JSON.parse(readFileSync(file, "utf8"));
    const settings = isRecord(read) ? read[CONFIG_KEY] : undefined;
    return isRecord(settings) ? settings : {};
  } catch {
    return {};
  }
}

const positive = (value: unknown): number | undefined =>
  typeof value === "number" && Number.isFinite(value) && value > 0 ? value : undefined;

/** The smaller one of two numbers of which either may be absent. */
const smaller = (one: number | undefined, other: number | undefined): number | undefined =>
  one === undefined ? other : other === undefined ? one : Math.min(one, other);

/**
 * The settings for a session in a folder. The user's own file decides. The folder may come from a stranger: its file can lower a budget
 * or a timeout and switch something off, and names neither a socket nor a file to write.
 */
export function settings(cwd: string, env: NodeJS.ProcessEnv = process.env): Settings {
  const { config, state } = folders(env);
  const { hippod: ofUser, debug, logFile, ...numbers } = objectIn(join(config, CONFIG_FILE));
  const user = isRecord(ofUser) ? ofUser : {};
  const ofFolder = objectIn(join(cwd, CONFIG_FILE));
  const narrower = isRecord(ofFolder["hippod"]) ? ofFolder["hippod"] : {};
  const budget = smaller(positive(user["budgetTokens"]), positive(narrower["budgetTokens"]));
  const longest = positive(user["timeoutMs"]) ?? 5_000;
  const index = "maxSparseIndexTokens";
  const sparse = smaller(positive(numbers[index]), positive(ofFolder[index]));
  if (sparse !== undefined) numbers[index] = sparse;
  return {
    timeoutMs: Math.min(longest, positive(narrower["timeoutMs"]) ?? longest),
    ...(budget !== undefined ? { budgetTokens: Math.max(1, Math.floor(budget)) } : {}),
    turns: user["turns"] !== false && narrower["turns"] !== false,
    flush: user["flush"] !== false && narrower["flush"] !== false,
    debug: debug === true,
    logFile: typeof logFile === "string" && isAbsolute(logFile) ? logFile : join(state, "hippocampus.log"),
    ...(Object.keys(numbers).length > 0 ? { numbers } : {}),
  };
}

/** Where the user's `config.toml` and hippod's state are, by the customs of the platform. */
export function folders(env: NodeJS.ProcessEnv, system: string = platform()): { config: string; state: string } {
  const set = (name: string): string | undefined => env[name] || undefined;
  const home = set("HIPPOD_HOME");
  if (home) return { config: home, state: join(home, "state") };
  const user = set("HOME") ?? homedir();
  if (system === "win32") {
    const local = join(set("LOCALAPPDATA") ?? join(user, "AppData/Local"), "hippod");
    const roaming = set("APPDATA");
    return { config: roaming ? join(roaming, "hippod") : local, state: join(local, "state") };
  }
  if (system === "darwin") {
    const all = join(user, "Library/Application Support/hippod");
    return { config: all, state: join(all, "state") };
  }
  // The XDG specification has relative paths in these variables ignored.
  const base = (name: string, otherwise: string): string => {
    const path = set(name);
    return join(path && isAbsolute(path) ? path : join(user, otherwise), "hippod");
  };
  return { config: base("XDG_CONFIG_HOME", ".config"), state: base("XDG_STATE_HOME", ".local/state") };
}

/** Appends one line to the log, which only the user can read. */
export function appendLine(file: string, line: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  try {
    if (statSync(file).size > LARGEST_LOG) renameSync(file, `${file}.1`);
  } catch {
    // There is none yet.
  }
  appendFileSync(file, `${oneLine(line)}\n`, { mode: 0o600 });
}

/** A text without line ends and control characters. */
const oneLine = (text: string): string =>
  text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/gu, (letter) => {
    const code = (letter.codePointAt(0) ?? 0).toString(16);
    return `\\u${code.padStart(4, "0")}`;
  });

/** Where the daemon listens, by the customs of the platform. */
export function socketPath(env: NodeJS.ProcessEnv, system: string = platform()): string {
  const set = (name: string): string | undefined => env[name] || undefined;
  const own = set("HIPPOD_SOCKET");
  if (own) return own;
  const home = set("HIPPOD_HOME");
  if (home) return join(home, "hippod.sock");
  const user = set("HOME") ?? homedir();
  if (system === "win32") return `\\\\.\\pipe\\hippod-${set("USERNAME") ?? "user"}`;
  if (system === "darwin") return join(user, "Library/Application Support/hippod/hippod.sock");
  // Relative paths in these variables are to be ignored.
  const absolute = (name: string): string | undefined => {
    const path = set(name);
    return path && isAbsolute(path) ? path : undefined;
  };
  const folder = absolute("XDG_RUNTIME_DIR") ?? absolute("XDG_STATE_HOME") ?? join(user, ".local/state");
  return join(folder, "hippod", "hippod.sock");
}

/** Asks the daemon, on a connection of its own. */
export function call(
  socket: string,
  method: string,
  params: Record<string, unknown>,
  timeoutMs: number,
  signal?: AbortSignal,
): Promise<unknown> {
  const line = `${JSON.stringify({ jsonrpc: "2.0", id: 1, method, params })}\n`;
  if (Buffer.byteLength(line) > LONGEST) {
    return Promise.reject(new Refused("the session is longer than 16 MiB", "too-large"));
  }
  return new Promise((resolve, reject) => {
    const stream = connect(socket);
    const pieces: Buffer[] = [];
    let over = false;
    const end = (how: () => void): void => {
      if (over) return;
      over = true;
      clearTimeout(timer);
      signal?.removeEventListener("abort", aborted);
      stream.destroy();
      how();
    };
    const fail = (message: string, kind: string): void => end(() => reject(new Refused(message, kind)));
    const aborted = (): void => fail("the host gave it up", "aborted");
    const timer = setTimeout(() => fail(`no answer within ${timeoutMs} ms`, "timeout"), timeoutMs);
    if (signal?.aborted) return aborted();
    signal?.addEventListener("abort", aborted, { once: true });
    stream.on("connect", () => stream.write(line));
    stream.on("error", (error) => fail(error.message, "no-daemon"));
    stream.on("close", () => fail("the connection was closed", "no-daemon"));
    stream.on("data", (piece) => {
      const at = piece.indexOf(0x0a);
      pieces.push(at < 0 ? piece : piece.subarray(0, at));
      if (at < 0) return;
      end(() => {
        try {
          const answer: unknown = JSON.parse(Buffer.concat(pieces).toString("utf8"));
          if (!isRecord(answer)) throw new Error("no object");
          const error = answer["error"];
          if (!isRecord(error)) return resolve(answer["result"]);
          const data = isRecord(error["data"]) ? error["data"] : {};
          reject(new Refused(String(error["message"]), String(data["kind"] ?? "internal")));
        } catch {
          reject(new Refused("the answer cannot be read", "internal"));
        }
      });
    });
  });
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
  /** Turns that are reported one after the other, by the host's session. */
  const sessions = new Map<string, { id: string; turn: number }>();
  let reporting: Promise<void> = Promise.resolve();

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

  const because = (error: unknown): { kind: string; message: string } =>
    error instanceof Refused ? error : { kind: "internal", message: String(error) };

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
      return { compaction: { summary, firstKeptEntryId, tokensBefore, details: { hippod: stats } } };
    } catch (error) {
      const { kind, message: said } = because(error);
      // A second question has only what the first left of the time; the person knows the whole.
      const message = kind === "timeout" ? `no answer within ${own.timeoutMs} ms` : said;
      log(ctx, "⚠️ Compaction left to the host", { kind, message });
      if (kind !== "aborted") notify(ctx, `hippod did not compact this session (${message}): the default compaction is used`);
      return undefined;
    }
  });

  const report = async (ctx: ExtensionContext): Promise<void> => {
    const socket = socketPath(process.env);
    const name = ctx.sessionManager.getSessionId();
    let session = sessions.get(name);
    if (!session) {
      const params = { workspace: ctx.cwd, agent: "pi", session: name };
      const opened = await call(socket, "context.open", params, ASIDE_MS);
      if (!isRecord(opened)) return;
      session = { id: String(opened["session"]), turn: Number(opened["turn"]) };
      sessions.set(name, session);
    }
    session.turn += 1;
    const params: Record<string, unknown> = { session: session.id, turn: session.turn };
    const usage = ctx.getContextUsage();
    if (usage && typeof usage.tokens === "number" && usage.contextWindow > 0) {
      params["context_tokens"] = Math.floor(usage.tokens);
      params["context_limit"] = Math.floor(usage.contextWindow);
    }
    await call(socket, "context.turn", params, ASIDE_MS);
  };

  pi.on("turn_end", (_event: TurnEndEvent, ctx) => {
    if (!settings(ctx.cwd).turns) return;
    // The agent goes on meanwhile; turns stay in their order.
    reporting = reporting.then(() => report(ctx)).catch((error: unknown) => {
      log(ctx, "⚠️ Turn not reported", { ...because(error) });
    });
  });

  pi.on("session_shutdown", async (_event, ctx) => {
    await reporting;
    await flush(ctx);
  });
}
