/** What does this package offer? */

export { Client, PROTOCOL } from "./client.js";
export type { CallOptions, ConnectOptions, Method, Params, Result } from "./client.js";
export { HippodError } from "./errors.js";
export type { Failure, Kind } from "./errors.js";
export { socketPath } from "./paths.js";
export type * from "./protocol.js";
