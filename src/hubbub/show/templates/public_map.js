// The map of a table by country: a key may be picked, and countries are then coloured by its part of their own users.

const MOST_KEYS = 200;
for (const figure of document.querySelectorAll("figure.map")) {
  const table = tables.find(({ name }) => name === figure.dataset.table);
  if (!table?.value) continue;
  const paths = [...figure.querySelectorAll("[data-group]")];
  const about = figure.querySelector(".about");
  const before = paths.map((path) => [path.getAttribute("class"), path.querySelector("title").textContent]);
  const said = about.textContent;
  const [groups, ...keys] = table.keys;
  const keyOf = (row) => keys.map((column) => textOf(column[row])).join(" → ");
  const all = new Map(); // group → users of all its rows
  const byKey = new Map(); // key → [group, row] of its rows
  groups.forEach((at, row) => {
    const [group, key] = [words[at], keyOf(row)];
    all.set(group, (all.get(group) ?? 0) + Math.max(0, table.value[row] ?? 0));
    if (!byKey.has(key)) byKey.set(key, []);
    byKey.get(key).push([group, row]);
  });
  const widespread = [...byKey].filter(([, rows]) => rows.length > 1);
  widespread.sort(([, a], [, b]) => b.length - a.length || a[0][1] - b[0][1]);
  if (!widespread.length) continue;
  const label = make("label", figure, {}, "Show ");
  const select = make("select", label);
  make("option", select, { value: "" }, "how many rows a country has");
  for (const [key] of widespread.slice(0, MOST_KEYS)) make("option", select, { value: key }, key);
  figure.prepend(label);
  const show = () => {
    const rows = new Map(byKey.get(select.value) ?? []);
    const partOf = (group) => (table.value[rows.get(group)] ?? 0) / Math.max(1, all.get(group) ?? 0);
    const most = Math.max(...paths.map(({ dataset }) => (rows.has(dataset.group) ? partOf(dataset.group) : 0)));
    paths.forEach((path, n) => {
      const { group } = path.dataset;
      const title = path.querySelector("title");
      [path.className.baseVal, title.textContent] = before[n];
      if (!select.value) return;
      const row = rows.get(group);
      path.className.baseVal = row === undefined ? "land" : `shade${Math.max(1, Math.ceil((5 * partOf(group)) / most))}`;
      title.textContent = row === undefined
        ? `${group}: not released, which is not a zero`
        : `${group}: ${shown(table.value[row])} users, ± 2 noise_sd: ${rangeOf(table.value[row], table.sd[row])}`;
    });
    about.textContent = select.value
      ? "The stronger the colour, the larger a part of a country's users in this table has this key. Not coloured: not released there, which is not a zero."
      : said;
  };
  select.addEventListener("change", show);
}
