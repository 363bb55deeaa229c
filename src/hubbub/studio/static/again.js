"use strict";
// The page "Once or again": one question, one table. A text enters the page as textContent only.
{
  const count = (n) => (n === null ? "" : number(n));
  const make = (tag, into, text, attributes = {}) => into.appendChild(el(tag, attributes, text));
  keepFields();

  const draw = (found) => {
    const table = $("ways");
    table.replaceChildren();
    table.hidden = false;
    make("caption", table, `Queries out, for ${count(found.users)} users; made up from ${count(found.sample)}`);
    const head = make("tr", make("thead", table, ""), "");
    make("th", head, "after", { scope: "col" });
    for (const way of found.ways) make("th", head, way.name, { scope: "col", class: "n" });
    const body = make("tbody", table, "");
    found.periods.forEach((name, n) => {
      const row = make("tr", body, "");
      make("th", row, name, { scope: "row" });
      for (const way of found.ways) make("td", row, count(way.out[n]), { class: "n" });
    });
    $("advice").replaceChildren();
    for (const line of found.advice) make("li", $("advice"), line);
  };

  $("again").addEventListener("submit", async (event) => {
    event.preventDefault();
    $("ask").disabled = true;
    $("refused").hidden = true;
    $("told").textContent = "Making up users, and publishing three times …";
    const asked = Object.fromEntries(["users", "epsilon", "delta", "length", "periods"].map((name) => [name, $(name).value]));
    const found = await ask("/api/again", asked);
    $("told").textContent = "";
    $("ask").disabled = false;
    show($("refused"), found.refused);
    if (!found.refused) draw(found);
  });
}
