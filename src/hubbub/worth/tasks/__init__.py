"""What a release is still worth: the papers' tasks, one a file; the registry the command and the docs read."""

from __future__ import annotations

from hubbub.errors import ParameterError
from hubbub.worth.evidence import Evidence
from hubbub.worth.tasks.base import NotEvaluable, Scores, Setup, Task, Truth
from hubbub.worth.tasks.clustering import Clustering
from hubbub.worth.tasks.counts import Counts
from hubbub.worth.tasks.fears import Fears
from hubbub.worth.tasks.frequent_pairs import FrequentPairs
from hubbub.worth.tasks.index_caching import IndexCaching
from hubbub.worth.tasks.keyword_generation import KeywordGeneration
from hubbub.worth.tasks.query_substitution import QuerySubstitution
from hubbub.worth.tasks.retrieval import Retrieval
from hubbub.worth.tasks.suggestion import Suggestion

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
