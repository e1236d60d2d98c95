/** Remember something, and find it again. */

import { Client } from "hippod-client";

const workspace = process.argv[2] ?? process.cwd();
const client = await Client.connect();
try {
  await client.remember({ workspace, topic: "Staging", text: "Staging runs on port 8443." });
  await client.call("workspace.sync", { workspace, wait: true });
  const { results } = await client.search({ workspace, query: "which port has staging?", limit: 3 });
  for (const { path, start_line, text } of results) console.log(`${path}:${start_line}: ${text.trim()}`);
} finally {
  await client.close();
}
