/** Why did a call give no answer? */

import type { ErrorKind, RpcError } from "./protocol.js";

/**
 * Kinds of the daemon, as docs/protocol.md lists them (newer daemons may have others), and those of the connection:
 * `unreachable` (nothing listens there), `closed` (it ended before the answer), `timeout` (no answer in time),
 * `malformed` (what came is none).
 */
export type Kind = ErrorKind | "unreachable" | "closed" | "timeout" | "malformed";

/** What is known of a failure besides its message. */
export interface Failure {
  kind: Kind;
  hint?: string;
  retryable: boolean;
  /** Of JSON-RPC, where the daemon refused. */
  code?: number;
  cause?: unknown;
}

/** A call that gave no answer. */
export class HippodError extends Error {
  override readonly name = "HippodError";
  /** Why, in one word. */
  readonly kind: Kind;
  /** What to do about it; may be empty. */
  readonly hint: string;
  /** Whether the same call may succeed later. */
  readonly retryable: boolean;
  /** Of JSON-RPC, where the daemon refused. */
  readonly code: number | undefined;

  constructor(message: string, failure: Failure) {
    super(message, "cause" in failure ? { cause: failure.cause } : {});
    this.kind = failure.kind;
    this.hint = failure.hint ?? "";
    this.retryable = failure.retryable;
    this.code = failure.code;
  }

  /** A refusal of the daemon. */
  static refused(error: RpcError): HippodError {
    const { kind, hint, retryable } = error.data ?? { kind: "internal", hint: "", retryable: false };
    return new HippodError(error.message, { kind, hint, retryable, code: error.code });
  }
}
