"""The names that help texts list: help would be slow if it imported what they name.

`python -m tests.docs.generated` writes this file. Where another package adds something, help asks the registries.
"""

from __future__ import annotations

NAMES = {
    "attacks": (
        "active",
        "hash-inversion",
        "homogeneity",
        "linkage",
        "membership",
    ),
    "engines": (
        "duckdb",
        "spark",
    ),
    "exports": (
        "graph",
        "huggingface",
        "orcas",
        "trec",
        "tsv",
    ),
    "formats": (
        "algolia",
        "aol",
        "elasticsearch",
        "excite",
        "ga4",
        "jsonl",
        "matomo",
        "opensearch",
        "sogou",
        "sogou-2012",
        "solr",
        "table",
        "trec-session",
        "tripclick",
        "ubi",
        "weblog",
        "yandex",
    ),
    "mechanisms": (
        "adaptive",
        "crowd",
        "gaussian",
        "geometric",
        "k-click",
        "k-core",
        "k-keyword",
        "k-query",
        "k-session",
        "k-similar",
        "k-vocabulary",
        "korolova",
        "ngrams",
        "optimal",
        "pseudonyms",
        "safelog",
        "secret-sharing",
        "sessions",
        "sips",
        "token-hash",
        "zealous",
    ),
    "presets": (
        "aol",
        "gotz",
    ),
    "tasks": (
        "clustering",
        "counts",
        "fears",
        "frequent-pairs",
        "index-caching",
        "keyword-generation",
        "query-substitution",
        "retrieval",
        "suggestion",
    ),
}
