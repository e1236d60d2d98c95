"""Remember something, and find it again."""

import sys

from hippod import Client

workspace = sys.argv[1]
with Client() as client:
    client.remember(workspace=workspace, topic="Staging", text="Staging runs on port 8443.")
    client.workspace_sync(workspace=workspace, wait=True)
    found = client.search(workspace=workspace, query="which port has staging?", limit=3)
    for hit in found["results"]:
        print(f"{hit['path']}:{hit['start_line']}: {hit['text'].strip()}")
