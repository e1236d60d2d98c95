/** How does a program of Node talk to the daemon: calls, many at once, and events? */

import { createConnection, type Socket } from "node:net";

import { HippodError } from "./errors.js";
import { Lines, MAX_LINE_BYTES } from "./lines.js";
import { socketPath } from "./paths.js";
import type { Event, Methods, Progress, RpcError } from "./protocol.js";

/** The version of the protocol that this client speaks. */
export const PROTOCOL = 1;
/** How long a call may take where nobody says, in milliseconds. */
const PATIENCE = 60_000;
/** The longest time that a timer of Node takes; what is longer is as good as for ever. */
const LONGEST = 2 ** 31 - 1;

export type Method = keyof Methods;
export type Params<M extends Method> = Methods[M]["params"];
export type Result<M extends Method> = Methods[M]["result"];

export interface ConnectOptions {
  /** Path of the socket; without it as the environment says, see {@link socketPath}. */
  socket?: string;
  /** Milliseconds that connecting and each call may take; `Infinity`: as long as they take. 60,000 without it. */
  timeout?: number;
  /** Gives up connecting. */
  signal?: AbortSignal;
}

export interface CallOptions {
  /** Milliseconds that this call may take. */
  timeout?: number;
  /** Stops waiting; what the daemon does already it ends. */
  signal?: AbortSignal;
  /** Hears how far a `model.pull` is. The time of the call starts anew with each. */
  onProgress?: (progress: Progress) => void;
}

/** The parameters, which may be left out where all of them may. */
type Given<M extends Method> =
  Record<string, never> extends Params<M>
    ? [params?: Params<M>, options?: CallOptions]
    : [params: Params<M>, options?: CallOptions];

interface Waiting {
  resolve: (result: unknown) => void;
  reject: (error: unknown) => void;
  progress: (progress: Progress) => void;
}

interface Incoming {
  id?: unknown;
  method?: string;
  params?: unknown;
  result?: unknown;
  error?: RpcError;
}

/** One connection. An open one keeps the process alive: {@link Client.close} it. Reconnecting is left to the caller. */
export class Client {
  readonly #socket: Socket;
  readonly #timeout: number;
  readonly #lines = new Lines();
  readonly #waiting = new Map<number, Waiting>();
  readonly #listeners = new Set<(event: Event) => void>();
  #nextId = 1;
  #ended: HippodError | undefined;

  private constructor(socket: Socket, timeout: number) {
    this.#socket = socket;
    this.#timeout = timeout;
    socket.on("data", (chunk: Buffer) => this.#receive(chunk));
    socket.on("error", (cause) => this.#end(closed(cause)));
    socket.on("close", () => this.#end(closed()));
  }

  /**
   * Connects to a daemon that runs already; `hippoctl service start` starts one.
   *
   * @throws {HippodError} of the kind `unreachable` when nothing listens there, `timeout` when it takes too long.
   */
  static async connect(options: ConnectOptions = {}): Promise<Client> {
    const path = options.socket ?? socketPath();
    const timeout = options.timeout ?? PATIENCE;
    options.signal?.throwIfAborted();
    const socket = createConnection(path);
    return await new Promise<Client>((resolve, reject) => {
      const settle = (error?: unknown): void => {
        release();
        socket.removeAllListeners();
        if (error === undefined) return resolve(new Client(socket, timeout));
        // What goes wrong from here on concerns nobody.
        socket.on("error", () => {});
        socket.destroy();
        reject(error);
      };
      const release = bounded(timeout, options.signal, settle);
      socket.once("connect", () => settle());
      socket.once("error", (cause) => {
        const hint = "start the daemon with: hippoctl service start";
        settle(
          new HippodError(`could not connect to the daemon: ${path}: ${cause.message}`, {
            kind: "unreachable",
            hint,
            retryable: true,
            cause,
          }),
        );
      });
    });
  }

  /**
   * Asks, and gives the answer. Many calls may wait at once; answers come in any order.
   *
   * @throws {HippodError} with the refusal of the daemon, or why there was no answer; the reason of the signal when it aborts.
   */
  async call<M extends Method>(method: M, ...[params, options = {}]: Given<M>): Promise<Result<M>> {
    options.signal?.throwIfAborted();
    if (this.#ended) throw this.#ended;
    const id = this.#nextId++;
    const line = Buffer.from(JSON.stringify({ jsonrpc: "2.0", id, method, params: params ?? {} }) + "\n");
    if (line.length > MAX_LINE_BYTES) {
      const message = `could not call ${method}: the request is longer than ${MAX_LINE_BYTES} bytes`;
      throw new HippodError(message, { kind: "too-large", hint: "send a smaller request", retryable: false });
    }
    return await new Promise<Result<M>>((resolve, reject) => {
      const timeout = options.timeout ?? this.#timeout;
      const give_up = (error: unknown): void => {
        this.#waiting.delete(id);
        release();
        reject(error);
      };
      let release = bounded(timeout, options.signal, give_up);
      this.#waiting.set(id, {
        resolve: (result) => (release(), resolve(result as Result<M>)),
        reject: (error) => (release(), reject(error)),
        progress: (progress) => {
          release();
          release = bounded(timeout, options.signal, give_up);
          queueMicrotask(() => options.onProgress?.(progress));
        },
      });
      this.#socket.write(line);
    });
  }

  /** Says who speaks, and checks that the daemon speaks the same version of the protocol. Optional. */
  hello(client: string, options?: CallOptions): Promise<Result<"hello">> {
    return this.call("hello", { protocol: PROTOCOL, client }, options);
  }

  /** How the daemon and its workspaces are. */
  status(options?: CallOptions): Promise<Result<"status">> {
    return this.call("status", {}, options);
  }

  /** What of the memory answers a question. */
  search(params: Params<"search">, options?: CallOptions): Promise<Result<"search">> {
    return this.call("search", params, options);
  }

  /** Reads what a result or a path points to. */
  get(params: Params<"get">, options?: CallOptions): Promise<Result<"get">> {
    return this.call("get", params, options);
  }

  /** Appends to the log of today. */
  remember(params: Params<"remember">, options?: CallOptions): Promise<Result<"remember">> {
    return this.call("remember", params, options);
  }

  /** The sparse entries of a session, which stand for large content. */
  readonly context = {
    open: (params: Params<"context.open">, options?: CallOptions) => this.call("context.open", params, options),
    put: (params: Params<"context.put">, options?: CallOptions) => this.call("context.put", params, options),
    turn: (params: Params<"context.turn">, options?: CallOptions) => this.call("context.turn", params, options),
    render: (params: Params<"context.render">, options?: CallOptions) => this.call("context.render", params, options),
    fetch: (params: Params<"context.fetch">, options?: CallOptions) => this.call("context.fetch", params, options),
    touch: (params: Params<"context.touch">, options?: CallOptions) => this.call("context.touch", params, options),
    list: (params: Params<"context.list">, options?: CallOptions) => this.call("context.list", params, options),
    close: (params: Params<"context.close">, options?: CallOptions) => this.call("context.close", params, options),
  };

  /**
   * Hears events from now on, as long as the connection lasts. A listener is given each event of this connection; one
   * that is slow may miss some, and each tells the state as it is then.
   *
   * @returns a function that stops the listener.
   */
  async subscribe(
    params: Params<"subscribe">,
    listener: (event: Event) => void,
    options?: CallOptions,
  ): Promise<() => void> {
    this.#listeners.add(listener);
    try {
      await this.call("subscribe", params, options);
    } catch (error) {
      this.#listeners.delete(listener);
      throw error;
    }
    return () => void this.#listeners.delete(listener);
  }

  /** Whether the connection is over. */
  get closed(): boolean {
    return this.#ended !== undefined;
  }

  /** Ends the connection; calls that wait are rejected. */
  async close(): Promise<void> {
    this.#end(closed());
    if (this.#socket.closed) return;
    await new Promise<void>((resolve) => this.#socket.once("close", () => resolve()));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #receive(chunk: Buffer): void {
    try {
      for (const line of this.#lines.push(chunk)) this.#take(JSON.parse(line) as Incoming);
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : String(cause);
      this.#end(
        new HippodError(`could not read the daemon's answer: ${why}`, { kind: "malformed", retryable: false, cause }),
      );
    }
  }

  #take(line: Incoming): void {
    if (line.method === "event") {
      // What a listener throws is no fault of the connection.
      for (const listener of this.#listeners) queueMicrotask(() => listener(line.params as Event));
      return;
    }
    if (line.method !== undefined) {
      const progress = line.params as Progress;
      if (line.method === "progress") this.#waiting.get(progress.id as number)?.progress(progress);
      return;
    }
    const error = line.error && HippodError.refused(line.error);
    // Without an id it concerns the connection, such as that there are too many.
    if (typeof line.id !== "number") {
      this.#end(error ?? closed());
      return;
    }
    const waiting = this.#waiting.get(line.id);
    this.#waiting.delete(line.id);
    if (error) waiting?.reject(error);
    else waiting?.resolve(line.result);
  }

  #end(error: HippodError): void {
    if (this.#ended) return;
    this.#ended = error;
    this.#socket.destroy();
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    this.#listeners.clear();
    for (const one of waiting) one.reject(error);
  }
}

function closed(cause?: Error): HippodError {
  const message = "the connection to the daemon is closed";
  const hint = "connect again; check the daemon with: hippoctl status";
  return new HippodError(message, { kind: "closed", hint, retryable: true, ...(cause && { cause }) });
}

/** Calls back when the time is over or the signal aborts; the function that it gives ends both. */
function bounded(timeout: number, signal: AbortSignal | undefined, late: (error: unknown) => void): () => void {
  const timer = timeout <= LONGEST
    ? setTimeout(() => {
        const message = `the daemon did not answer within ${timeout} ms`;
        late(new HippodError(message, { kind: "timeout", retryable: true }));
      }, timeout)
    : undefined;
  const aborted = (): void => late(signal?.reason);
  signal?.addEventListener("abort", aborted, { once: true });
  return () => {
    clearTimeout(timer);
    signal?.removeEventListener("abort", aborted);
  };
}
