/** Where does the daemon listen? As docs/protocol.md says, section 1. */

import { isAbsolute, posix } from "node:path";

import { HippodError } from "./errors.js";

/**
 * The path of the socket, from environment variables: `HIPPOD_SOCKET`, else below `HIPPOD_HOME`, else where the platform
 * has such things. An empty variable counts as unset.
 *
 * @throws {HippodError} of the kind `unreachable`: a variable of hippod holds a relative path, or no home folder is known.
 */
export function socketPath(
  env: NodeJS.ProcessEnv = process.env,
  platform: NodeJS.Platform = process.platform,
): string {
  const ours = (name: string): string | undefined => {
    const path = env[name] || undefined;
    if (path !== undefined && !isAbsolute(path)) {
      throw unreachable(`could not use ${name}: not an absolute path: ${path}`, "give it as an absolute path");
    }
    return path;
  };
  const socket = ours("HIPPOD_SOCKET");
  const home = ours("HIPPOD_HOME");
  if (socket !== undefined) return socket;
  if (platform === "win32") {
    const of = home?.replaceAll(/[\\/:]/g, "-") ?? (env["USERNAME"] || "user");
    return `\\\\.\\pipe\\hippod-${of}`;
  }
  if (home !== undefined) return posix.join(home, "hippod.sock");
  if (platform === "darwin") {
    return posix.join(homeFolder(env["HOME"] || undefined), "Library/Application Support/hippod/hippod.sock");
  }
  // A relative path in a variable of XDG is to be ignored.
  const base = (name: string): string | undefined => {
    const path = env[name];
    return path && isAbsolute(path) ? path : undefined;
  };
  const folder =
    base("XDG_RUNTIME_DIR") ?? base("XDG_STATE_HOME") ?? posix.join(homeFolder(base("HOME")), ".local/state");
  return posix.join(folder, "hippod/hippod.sock");
}

function homeFolder(home: string | undefined): string {
  if (home === undefined) throw unreachable("could not find the home folder", "set HOME or HIPPOD_HOME");
  return home;
}

function unreachable(message: string, hint: string): HippodError {
  return new HippodError(message, { kind: "unreachable", hint, retryable: false });
}
