/** Messages of the host's sessions, their summaries, and their daily log. */

import { ASIDE_MS, Refused, appendLine, because, call, isRecord, oneLine, settings, socketPath } from "./daemon.js";

/** Time limit for a flush that waits until the daemon has read the transcript, in milliseconds. */
const WAIT_MS = 30_000;

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

/** Returns a message for the daemon, without the bytes of images, thoughts, and fields of the host. */
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

/** Appends a line to the log of a folder's sessions. */
export function log(folder: string, text: string, data?: Record<string, unknown>): void {
  const { debug, logFile } = settings(folder);
  const line = `[${new Date().toISOString()}] [hippocampus] ${text}${data ? ` ${JSON.stringify(data)}` : ""}`;
  if (debug) console.error(oneLine(line));
  try {
    appendLine(logFile, line);
  } catch {
    // A session goes on without its log.
  }
}

/**
 * Asks the daemon to add a transcript to the daily log. Without `wait`, returns when the daemon knows the transcript. With `compact`, the
 * conversation is about to lose passages of the memory, so the daemon may return them again.
 */
export async function flush(
  folder: string,
  session: string,
  path: string,
  how: { wait?: boolean; compact?: boolean } = {},
): Promise<void> {
  const params = { workspace: folder, path, session, format: "pi", wait: false, ...how };
  try {
    await call(socketPath(process.env), "session.flush", params, how.wait ? WAIT_MS : ASIDE_MS);
  } catch (error) {
    log(folder, "⚠️ Session not flushed", { ...because(error) });
  }
}

/**
 * Returns the daemon's summary of messages. The daemon stores the messages if `folder` is a workspace.
 *
 * Fails with a `Refused` if the daemon does not answer in time, or has nothing to summarize.
 */
export async function summarize(
  folder: string | undefined,
  all: unknown[],
  previousSummary: string | undefined,
  signal: AbortSignal | undefined,
): Promise<CompactAnswer> {
  const own = settings(folder);
  const messages = all.map(message).filter((one) => one !== undefined);
  if (previousSummary) messages.unshift({ type: "compaction", summary: previousSummary });
  const rest: Record<string, unknown> = { messages };
  if (own.budgetTokens) rest["budget_tokens"] = own.budgetTokens;
  if (own.numbers) rest["config"] = own.numbers;
  const begun = Date.now();
  const ask = async (params: Record<string, unknown>): Promise<CompactAnswer> => {
    const left = Math.max(1, own.timeoutMs - (Date.now() - begun));
    return (await call(socketPath(process.env), "session.compact", params, left, signal)) as CompactAnswer;
  };
  const compact = async (): Promise<CompactAnswer> => {
    try {
      return await ask(folder === undefined ? rest : { workspace: folder, ...rest });
    } catch (error) {
      if (because(error).kind !== "no-workspace") throw error;
      // In a folder that is not a workspace, the daemon summarizes the messages, but does not store them.
      return await ask(rest);
    }
  };
  try {
    const answer = await compact();
    if (!answer.summary || answer.stats.messages === 0) throw new Refused("there was nothing to summarize", "internal");
    return answer;
  } catch (error) {
    // A second request has only the rest of the time. The error names the whole time limit.
    if (because(error).kind === "timeout") throw new Refused(`no answer within ${own.timeoutMs} ms`, "timeout");
    throw error;
  }
}
