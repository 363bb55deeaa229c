"""A trie of weighted texts, flat: lists side by side, so that reading it needs no recursion however long a text is.

Node 0 is the root. A node has a label (what it adds to its parent's text), the weight of the text that ends there (0:
none does), the best weight at or below it, and the numbers of its children. Walking down the best first gives the
heaviest completions of a prefix without looking at the others.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import takewhile


@dataclass
class Trie:
    """The four lists, each with one entry a node."""

    labels: list[str] = field(default_factory=lambda: [""])
    weights: list[int] = field(default_factory=lambda: [0])
    best: list[int] = field(default_factory=list)
    children: list[list[int]] = field(default_factory=lambda: [[]])

    @classmethod
    def of(cls, weights: Mapping[str, int]) -> Trie:
        """From texts (none of them empty) and their weights."""
        made = cls()
        before = ""
        path = [(0, 0)]  # the nodes down to the text before, each with the length of its text
        for text in sorted(weights):
            shared = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(before, text, strict=False)))
            below = 0
            while path[-1][1] > shared:
                below, _ = path.pop()
            node, length = path[-1]
            if length < shared:
                node = made._cut(node, below, shared - length)
                path.append((node, shared))
            leaf = made._add(text[shared:], weights[text])
            made.children[node].append(leaf)
            path.append((leaf, len(text)))
            before = text
        made._weigh()
        return made

    def _add(self, label: str, weight: int) -> int:
        self.labels.append(label)
        self.weights.append(weight)
        self.children.append([])
        return len(self.labels) - 1

    def _cut(self, parent: int, node: int, at: int) -> int:
        """A node between a parent and its last child, for what two texts have in common."""
        between = self._add(self.labels[node][:at], 0)
        self.labels[node] = self.labels[node][at:]
        self.children[parent][-1] = between
        self.children[between].append(node)
        return between

    def _weigh(self) -> None:
        order = [0]
        for node in order:
            order.extend(self.children[node])
        self.best = list(self.weights)
        for node in reversed(order):
            self.best[node] = max([self.weights[node], *(self.best[child] for child in self.children[node])])
