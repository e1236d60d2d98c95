"""A retriever as a step of a chain, and a memory that outlives the process."""

import sys

from hippod.langchain import HippodRetriever
from hippod.langchain.memory import HippodMemory

retriever = HippodRetriever(workspace=sys.argv[1], k=3)
memory = HippodMemory(retriever=retriever)
memory.save_context({"input": "Which port has staging?"}, {"output": "Staging runs on port 8443."})
for document in retriever.invoke("staging port"):
    print(document.metadata["source"], document.page_content.strip())
print(memory.load_memory_variables({"input": "Where does staging listen?"})["memory"])
