"""Tests the server with the official Python client, with the handshake and with the current revision."""

import asyncio
import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

from mcp import Client, StdioServerParameters

BUILT = Path(__file__).resolve().parents[2] / "target/debug/hippoctl"
PROGRAM = os.environ.get("HIPPOCTL_PROGRAM", str(BUILT))
LOG = "# Acme\n\n## Staging\n\nStaging runs on port 8443.\n"


class TheServer(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="hippod-mcp-")
        self.addCleanup(folder.cleanup)
        self.workspace = Path(folder.name) / "workspace"
        (self.workspace / "memory").mkdir(parents=True)
        (self.workspace / "memory/2026-03-02.md").write_text(LOG)
        self.env = {"HIPPOD_HOME": folder.name, "HIPPOD_EMBED_MODEL": "hash"}
        self.addCleanup(self.hippoctl, "service", "stop")
        self.hippoctl("workspace", "add")
        self.hippoctl("sync", "--wait")

    def hippoctl(self, *words):
        # Use only the daemon of this test, not the one that HIPPOD_SOCKET names.
        env = {name: value for name, value in os.environ.items() if name != "HIPPOD_SOCKET"} | self.env
        subprocess.run([PROGRAM, *words], cwd=self.workspace, env=env, check=True, stdout=subprocess.DEVNULL)

    def test_the_client_has_its_memory(self):
        for mode, revision in [("legacy", "2025-11-25"), ("2026-07-28", "2026-07-28")]:
            with self.subTest(mode):
                asyncio.run(asyncio.wait_for(self.converse(mode, revision), 120))

    async def converse(self, mode, revision):
        server = StdioServerParameters(command=PROGRAM, args=["mcp"], env=self.env, cwd=self.workspace)
        async with Client(server, mode=mode) as client:
            self.assertEqual(client.protocol_version, revision)
            # List the tools first. After that, the client checks each answer against the schema of its tool.
            tools = (await client.list_tools()).tools
            self.assertEqual(len(tools), 6)

            async def gives(name, **arguments):
                result = await client.call_tool(name, arguments)
                self.assertFalse(result.is_error, result)
                self.assertEqual(json.loads(result.content[0].text), result.structured_content)
                return result.structured_content

            found = await gives("memory_search", query="staging port", maxResults=3)
            best = found["results"][0]
            self.assertEqual(best["path"], "memory/2026-03-02.md")
            read = await gives("memory_get", path=best["path"], **{"from": best["startLine"]})
            self.assertIn("port 8443", read["text"])
            await gives("memory_remember", text="The heron nests at the weir.", topic="Heron")
            await gives("memory_status")
            wrong = await client.call_tool("memory_search", {"limit": 3})
            self.assertTrue(wrong.is_error)


if __name__ == "__main__":
    unittest.main()
