"""What a release is still worth: the papers' tasks, one a file; the registry the command and the docs read."""

from __future__ import annotations

from hubbub.errors import ParameterError
from hubbub.tasks.base import NotEvaluable, Scores, Setup, Task, Truth
from hubbub.tasks.clustering import Clustering
from hubbub.tasks.counts import Counts
from hubbub.tasks.evidence import Evidence
from hubbub.tasks.fears import Fears
from hubbub.tasks.frequent_pairs import FrequentPairs
from hubbub.tasks.index_caching import IndexCaching
from hubbub.tasks.keyword_generation import KeywordGeneration
from hubbub.tasks.query_substitution import QuerySubstitution
from hubbub.tasks.retrieval import Retrieval
from hubbub.tasks.suggestion import Suggestion

__all__ = [
    "Clustering",
    "Counts",
    "Evidence",
    "Fears",
    "FrequentPairs",
    "IndexCaching",
    "KeywordGeneration",
    "NotEvaluable",
    "QuerySubstitution",
    "Retrieval",
    "Scores",
    "Setup",
    "Suggestion",
    "Task",
    "Truth",
    "build",
    "tasks",
]


def tasks() -> dict[str, type[Task]]:
    """Every task by its name."""
    return dict(sorted(Task.registry.items()))


def build(name: str) -> Task:
    """A task by its name."""
    if name not in Task.registry:
        raise ParameterError("There is no such task.", given=name, allowed=", ".join(tasks()))
    return Task.registry[name]()
