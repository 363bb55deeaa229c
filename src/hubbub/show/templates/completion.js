"use strict";
const trie = JSON.parse(document.getElementById("trie").textContent);
const typed = document.getElementById("typed"), found = document.getElementById("found");

function below(prefix) {
  let node = 0, text = "";
  while (text.length < prefix.length) {
    const rest = prefix.slice(text.length);
    node = trie.children[node].find((c) => rest.startsWith(trie.labels[c]) || trie.labels[c].startsWith(rest));
    if (node === undefined) return null;
    text += trie.labels[node];
  }
  return { node, text, weight: trie.best[node], ends: false };
}

function complete(prefix, most) {
  const start = below(prefix), queue = start ? [start] : [], heaviest = [];
  while (queue.length && heaviest.length < most) {
    const next = queue.reduce((best, one, at) => (one.weight > queue[best].weight ? at : best), 0);
    const [{ node, text, weight, ends }] = queue.splice(next, 1);
    if (ends) {
      heaviest.push({ text, weight });
      continue;
    }
    if (trie.weights[node]) queue.push({ node, text, weight: trie.weights[node], ends: true });
    for (const c of trie.children[node]) {
      queue.push({ node: c, text: text + trie.labels[c], weight: trie.best[c], ends: false });
    }
  }
  return heaviest;
}

function show() {
  const prefix = typed.value.trimStart();
  let heaviest = prefix ? complete(prefix, 10) : [];
  if (prefix && !heaviest.length) heaviest = complete(prefix.toLowerCase(), 10);
  found.replaceChildren(...heaviest.map(({ text, weight }) => {
    const row = document.createElement("li"), query = document.createElement("span"), users = document.createElement("span");
    query.textContent = text;
    users.textContent = weight;
    row.append(query, users);
    return row;
  }));
}

typed.addEventListener("input", show);
