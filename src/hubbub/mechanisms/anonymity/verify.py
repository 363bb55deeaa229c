"""The k-property of an output, checked against the log by other code: sets and counters, no SQL.

Each function gives what violates the property, nothing if it holds. A baseline that is attacked must at least be what
it says it is.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction

import pyarrow as pa

from hubbub.mechanisms.anonymity.base import Anonymity
from hubbub.mechanisms.anonymity.k_keyword import LONGEST
from hubbub.mechanisms.anonymity.secret_sharing import open_with, opened

Row = tuple[str, str, str | None]
"""One row of a log: user, query, url."""
Tables = Mapping[str, pa.Table]


def violations(mechanism: Anonymity, tables: Tables, log: Iterable[Row]) -> list[str]:
    """Everything about an output that its baseline promises and that does not hold."""
    return list(CHECKS[mechanism.name](mechanism, tables, list(log)))


def k_query(mechanism: Anonymity, tables: Tables, log: list[Row]) -> Iterator[str]:
    """Every published query was asked by at least k users, as many as its count says; clicks are gone."""
    users = _users((query, user) for user, query, _ in log)
    if "queries" in tables:
        yield from _exact(tables["queries"], ("query",), users, mechanism.k)
    if "log" in tables:
        for query in set(tables["log"].column("query").to_pylist()):
            if len(users[query]) < mechanism.k:
                yield f"{query!r} was asked by {len(users[query])} users"
        if tables["log"].column("url").null_count < tables["log"].num_rows:
            yield "a clicked address is published"


def k_session(mechanism: Anonymity, tables: Tables, log: list[Row]) -> Iterator[str]:
    """Every session is one of at least k with the same keywords."""
    rows = tables["log"].to_pylist()
    keywords: dict[str, set[str]] = defaultdict(set)
    for row in rows:
        keywords[row["user"]] |= set(row["query"].split())
        if row["time"] is not None or row["url"] is not None:
            yield f"session {row['user']} has more than keywords"
    for words, n in Counter(map(frozenset, keywords.values())).items():
        if n < mechanism.k:
            yield f"{sorted(words)} are the keywords of {n} sessions"


def k_keyword(mechanism: Anonymity, tables: Tables, log: list[Row]) -> Iterator[str]:
    """A keyword counts for the longest published string that it begins with; at least k users for each."""
    published = set(tables["keywords"].column("keyword").to_pylist())
    users: dict[object, set[str]] = defaultdict(set)
    for user, query, _ in log:
        for word in query.split(" "):
            prefixes = (word[:n] for n in range(min(len(word), LONGEST), 0, -1))
            if (longest := next((p for p in prefixes if p in published), None)) is not None:
                users[longest].add(user)
    yield from _exact(tables["keywords"], ("keyword",), users, mechanism.k)


def k_click(mechanism: Anonymity, tables: Tables, log: list[Row]) -> Iterator[str]:
    """Every published click was made by more than k users, as many as its count says."""
    users = _users(((query, url), user) for user, query, url in log if url is not None)
    yield from _exact(tables["clicks"], ("query", "url"), users, mechanism.k + 1)


def pseudonyms(mechanism: Anonymity, tables: Tables, log: list[Row]) -> Iterator[str]:
    """The histories are those of the log, and under other names."""
    before, after = _histories(log), _histories(_rows(tables["log"]))
    if Counter(map(_frozen, before.values())) != Counter(map(_frozen, after.values())):
        yield "the histories are not those of the log"
    if len(before) > 1 and all(after.get(user) == history for user, history in before.items()):
        yield "every user stands under her own id"


def token_hash(mechanism: Anonymity, tables: Tables, log: list[Row]) -> Iterator[str]:
    """No word of the log is in the output, and as many distinct ones are."""
    before = {word for _, query, _ in log for word in query.split(" ")}
    after = {word for query in tables["log"].column("query").to_pylist() for word in query.split(" ")}
    if before & after:
        yield f"words of the log are published: {sorted(before & after)[:3]}"
    if len(before) != len(after):
        yield f"{len(before)} words became {len(after)}"
    if set(_histories(log)) == set(_histories(_rows(tables["log"]))) and len(_histories(log)) > 1:
        yield "users keep their ids"


def secret_sharing(mechanism: Anonymity, tables: Tables, log: list[Row]) -> Iterator[str]:
    """No query stands there as it is; k users' shares open exactly the queries that k users asked, and fewer none."""
    users, rows = _users((query, user) for user, query, _ in log), tables["log"].column("query").to_pylist()
    enough = {query for query, who in users.items() if len(who) >= mechanism.k}
    if (read := set(opened(rows, mechanism.k)) - {None}) != enough:
        yield f"{sorted(map(str, read ^ enough))[:3]} can be read or not, and should not or should"
    shares: dict[str, set[tuple[int, int]]] = defaultdict(set)
    for text, x, y in (row.split(".") for row in rows):
        shares[text].add((int(x, 16), int(y, 16)))
    if len(shares) != len(users) or sorted(map(len, shares.values())) != sorted(map(len, users.values())):
        yield "the shares are not one for each user of each query"
    for text, found in shares.items():
        if (few := open_with(text, sorted(found)[: mechanism.k - 1])) in users:
            yield f"{few!r} can be read from {min(len(found), mechanism.k - 1)} shares"
    if set(rows) & users.keys():
        yield "a query stands there as it is"


def k_vocabulary(mechanism: Anonymity, tables: Tables, log: list[Row]) -> Iterator[str]:
    """Every vocabulary is one of at least k that are equal, of users with nothing else."""
    rows = tables["log"].to_pylist()
    if len({row["user"] for row in rows}) != len(rows) or any(row["time"] or row["url"] for row in rows):
        yield "a user has more than a vocabulary"
    for words, n in Counter(row["query"] for row in rows).items():
        if n < mechanism.k:
            yield f"{words!r} is the vocabulary of {n} users"


def k_similar(mechanism: Anonymity, tables: Tables, log: list[Row]) -> Iterator[str]:
    """Every published user has k − 1 others whose queries are similar enough; all queries are of the log."""
    least, asked = Fraction(mechanism.settings["similar"]), {query for _, query, _ in log}
    held: dict[str, set[str]] = defaultdict(set)
    for user, query, _ in _rows(tables["log"]):
        held[user].add(query)
        if query not in asked:
            yield f"{query!r} is in no log"
    for user, mine in held.items():
        n = sum(Fraction(len(mine & theirs), len(mine | theirs)) >= least for theirs in held.values())
        if n < mechanism.k:
            yield f"user {user} is similar to {n - 1} others"


def k_core(mechanism: Anonymity, tables: Tables, log: list[Row]) -> Iterator[str]:
    """The published queries are the whole core, peeled with sets, and their counts are exact."""
    users = _users((query, user) for user, query, _ in log)
    least, words = Fraction(mechanism.settings["theta"]), {str(query): set(str(query).split(" ")) for query in users}
    inside = set(words)
    while out := {
        q for q in inside
        if len(set[str]().union(*(users[p] for p in inside
               if Fraction(len(words[p] & words[q]), len(words[p] | words[q])) >= least))) < mechanism.k
    }:  # fmt: skip
        inside -= out
    if (found := set(tables["queries"].column("query").to_pylist())) != inside:
        yield f"{sorted(found ^ inside)[:3]} are in the core or not, and published or not"
    yield from _exact(tables["queries"], ("query",), users, 1)


def _users(pairs: Iterable[tuple[object, str]]) -> dict[object, set[str]]:
    users: dict[object, set[str]] = defaultdict(set)
    for key, user in pairs:
        users[key].add(user)
    return users


def _exact(table: pa.Table, columns: tuple[str, ...], users: Mapping[object, set[str]], least: int) -> Iterator[str]:
    """Each key has so many users, and its count is theirs."""
    for row in table.to_pylist():
        key = row[columns[0]] if len(columns) == 1 else tuple(row[c] for c in columns)
        n = len(users.get(key, ()))
        if n < least or row["users"] != n:
            yield f"{key!r} has {n} users, published {row['users']}"


def _rows(table: pa.Table) -> list[Row]:
    return [(row["user"], row["query"], row["url"]) for row in table.to_pylist()]


def _histories(log: Iterable[Row]) -> dict[str, Counter[tuple[str, str | None]]]:
    found: dict[str, Counter[tuple[str, str | None]]] = defaultdict(Counter)
    for user, query, url in log:
        found[user][query, url] += 1
    return found


def _frozen(history: Counter[tuple[str, str | None]]) -> frozenset[tuple[tuple[str, str | None], int]]:
    return frozenset(history.items())


CHECKS: dict[str, Callable[[Anonymity, Tables, list[Row]], Iterator[str]]] = {
    "k-query": k_query,
    "k-session": k_session,
    "k-keyword": k_keyword,
    "k-click": k_click,
    "pseudonyms": pseudonyms,
    "token-hash": token_hash,
    "secret-sharing": secret_sharing,
    "k-vocabulary": k_vocabulary,
    "k-similar": k_similar,
    "k-core": k_core,
}
