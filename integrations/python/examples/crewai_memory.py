"""A crew whose results later crews recall."""

from typing import Any

from crewai import Agent, Crew, Task

from hippod.crewai import HippodMemory


def build(model: Any, workspace: str, question: str) -> Crew:
    agent = Agent(role="operator", goal="Know the servers.", backstory="You run staging.", llm=model)
    task = Task(description=question, expected_output="A sentence.", agent=agent)
    return Crew(agents=[agent], tasks=[task], memory=HippodMemory(workspace=workspace))
