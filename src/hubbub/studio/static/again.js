"use strict";
// The page "Once or again": one question, one table. A text enters the page as textContent only.
{
  const base = document.body.dataset.base;
  const at = (id) => document.getElementById(id);
  const number = (n) => (n === null ? "" : n.toLocaleString("en"));
  const make = (tag, into, text, attributes = {}) => {
    const element = into.appendChild(document.createElement(tag));
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.textContent = text;
    return element;
  };

  const draw = (found) => {
    const table = at("ways");
    table.replaceChildren();
    table.hidden = false;
    make("caption", table, `Queries out, for ${number(found.users)} users; made up from ${number(found.sample)}`);
    const head = make("tr", make("thead", table, ""), "");
    make("th", head, "after", { scope: "col" });
    for (const way of found.ways) make("th", head, way.name, { scope: "col", class: "n" });
    const body = make("tbody", table, "");
    found.periods.forEach((name, n) => {
      const row = make("tr", body, "");
      make("th", row, name, { scope: "row" });
      for (const way of found.ways) make("td", row, number(way.out[n]), { class: "n" });
    });
    at("advice").replaceChildren();
    for (const line of found.advice) make("li", at("advice"), line);
  };

  at("again").addEventListener("submit", async (event) => {
    event.preventDefault();
    at("ask").disabled = true;
    at("refused").hidden = true;
    at("told").textContent = "Making up users, and publishing three times …";
    const asked = Object.fromEntries(["users", "epsilon", "delta", "length", "periods"].map((name) => [name, at(name).value]));
    try {
      const answer = await fetch(`${base}/api/again`, {
        method: "POST",
        headers: { "content-type": "application/json", "x-hubbub-studio": base.slice(1) },
        body: JSON.stringify(asked),
      });
      const found = await answer.json();
      at("refused").hidden = !found.refused;
      at("refused").textContent = found.refused ?? "";
      if (!found.refused) draw(found);
    } finally {
      at("told").textContent = "";
      at("ask").disabled = false;
    }
  });
}
