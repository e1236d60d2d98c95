/** Settings of the extension, its log, and requests to the daemon. */

import { appendFileSync, lstatSync, mkdirSync, readFileSync, renameSync, statSync } from "node:fs";
import { connect } from "node:net";
import { homedir, platform } from "node:os";
import { dirname, isAbsolute, join } from "node:path";

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
export const ASIDE_MS = 2_000;

/** The settings of the extension. */
export interface Settings {
  /** How long a compaction is waited for, in milliseconds. */
  timeoutMs: number;
  /** Most tokens of a summary; as many as the rules make when absent. */
  budgetTokens?: number;
  /** Whether turns are reported. */
  turns: boolean;
  /** Whether the session goes into the daily log. */
  flush: boolean;
  /** Whether large tool results enter the conversation as entries. */
  entries: boolean;
  /** Names of tools whose results always stay whole. */
  keepWhole: string[];
  /** Whether log lines go to the console as well. */
  debug: boolean;
  /** The log; absolute. */
  logFile: string;
  /** The numbers of the compaction, for the daemon. */
  numbers?: Record<string, unknown>;
}

/** Why the daemon gave no answer. */
export class Refused extends Error {
  constructor(
    message: string,
    readonly kind: string,
  ) {
    super(message);
  }
}

export function isRecord(value: unknown): value is Record<string, unknown> {
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
export function settings(cwd: string | undefined, env: NodeJS.ProcessEnv = process.env): Settings {
  const { config, state } = folders(env);
  const { hippod: ofUser, debug, logFile, ...numbers } = objectIn(join(config, CONFIG_FILE));
  const user = isRecord(ofUser) ? ofUser : {};
  const ofFolder = cwd === undefined ? {} : objectIn(join(cwd, CONFIG_FILE));
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
    entries: user["entries"] !== false && narrower["entries"] !== false,
    keepWhole: [user["keepWhole"], narrower["keepWhole"]].flat().filter((name) => typeof name === "string"),
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
export const oneLine = (text: string): string =>
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

/** The kind and the message of an error. */
export const because = (error: unknown): { kind: string; message: string } =>
  error instanceof Refused ? error : { kind: "internal", message: String(error) };
