"""A store that outlives the process, and whose items other agents of the workspace find."""

import sys

from hippod.langgraph import HippodStore

store = HippodStore(sys.argv[1])
store.put(("users", "ada"), "staging", {"text": "Ada deploys to staging, on port 8443."})
for item in store.search(("users",), query="which port does Ada deploy to?", limit=1):
    print(item.namespace, item.key, item.value["text"])
