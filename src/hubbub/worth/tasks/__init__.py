"""What a release is still worth: tasks, one per file; a new file in this folder is found by itself."""

from __future__ import annotations

from hubbub.worth.evidence import Evidence
from hubbub.worth.tasks.base import NotEvaluable, Scores, Setup, Task, Truth
from hubbub.worth.tasks.clustering import Clustering
from hubbub.worth.tasks.completion import QueryCompletion
from hubbub.worth.tasks.counts import CountsTask
from hubbub.worth.tasks.fears import Fears
from hubbub.worth.tasks.frequent_pairs import FrequentPairs
from hubbub.worth.tasks.index_caching import IndexCaching
from hubbub.worth.tasks.keyword_generation import KeywordGeneration
from hubbub.worth.tasks.popularity import Popularity
from hubbub.worth.tasks.query_substitution import QuerySubstitution
from hubbub.worth.tasks.ranking import ClickRanking
from hubbub.worth.tasks.retrieval import Retrieval
from hubbub.worth.tasks.segments import Segments
from hubbub.worth.tasks.spelling import SpellingCorrection
from hubbub.worth.tasks.suggestion import Suggestion
from hubbub.worth.tasks.synonyms import SynonymDiscovery

__all__ = [
    "ClickRanking",
    "Clustering",
    "CountsTask",
    "Evidence",
    "Fears",
    "FrequentPairs",
    "IndexCaching",
    "KeywordGeneration",
    "NotEvaluable",
    "Popularity",
    "QueryCompletion",
    "QuerySubstitution",
    "Retrieval",
    "Scores",
    "Segments",
    "Setup",
    "SpellingCorrection",
    "Suggestion",
    "SynonymDiscovery",
    "Task",
    "Truth",
    "build",
    "tasks",
]


def tasks() -> dict[str, type[Task]]:
    """Every task by its name."""
    return dict(Task.registry)


def build(name: str) -> Task:
    """A task by its name."""
    return Task.registry.named(name)()
