// The tables: search, order, sheets. The rows are in the page as JSON: `words` has every text once, the key columns of
// a table are indices into it (-1: empty; a list: a sequence). A text enters the page as textContent only.

const { words, tables } = JSON.parse(document.getElementById("rows").textContent);
const SHEET = 25;
const shown = (n) => n.toLocaleString("en");

const make = (tag, into, attributes = {}, text = "") => {
  const element = into.appendChild(document.createElement(tag));
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.textContent = text;
  return element;
};
const sectionOf = (table) => document.getElementById(`table-${table.name}`);
const textOf = (cell) =>
  Array.isArray(cell) ? cell.map((at) => words[at]).join(" → ") : cell < 0 ? "" : words[cell];
const rangeOf = (value, sd) => `${shown(Math.floor(value - 2 * sd))} to ${shown(Math.ceil(value + 2 * sd))}`;
const linkTo = (at) => `#q=${encodeURIComponent(words[at])}`;

// ---------------------------------------------------------------- search: every term somewhere in the row
// (and rows with a cell that is just what was asked for come first)

let lower = null;
const inLower = () => (lower ??= words.map((word) => word.toLowerCase()));
const rowsWith = (table, wanted) => {
  const terms = wanted.normalize("NFKC").toLowerCase().split(/\s+/).filter(Boolean);
  const hits = terms.map((term) => inLower().map((word) => word.includes(term)));
  const has = (cell, hit) => (Array.isArray(cell) ? cell.some((at) => hit[at]) : hit[cell]);
  const rows = [];
  for (let row = 0; row < table.keys[0].length; row++) {
    if (hits.every((hit) => table.keys.some((column) => has(column[row], hit)))) rows.push(row);
  }
  const whole = terms.length ? inLower().indexOf(terms.join(" ")) : -1;
  const same = (row) => whole >= 0 && table.keys.some((column) => column[row] === whole);
  return whole < 0 ? rows : [...rows.filter(same), ...rows.filter((row) => !same(row))];
};

// ---------------------------------------------------------------- order: by a column, up or down, then as released

const alphabet = new Intl.Collator("en", { numeric: true });
const sorted = (rows, table, order) => {
  if (!order) return rows;
  const values = { value: table.value, sd: table.sd }[order.by] ?? table.keys[order.by].map(textOf);
  const compare = typeof order.by === "number" ? alphabet.compare : (a, b) => (a ?? -Infinity) - (b ?? -Infinity);
  return [...rows].sort((a, b) => order.way * compare(values[a], values[b]) || a - b);
};

// ---------------------------------------------------------------- noise bands, on one axis per sheet

const axisIn = (into) => make("span", into, { class: "axis", "aria-hidden": "true" });
const compact = Intl.NumberFormat("en", { notation: "compact" });

// The axis of some rows; draws its ticks and gives the place of a value on it. Plain axes go from 0 to a round number,
// logarithmic ones over powers of ten.
const axisOf = (table, rows, head, logarithmic) => {
  const most = Math.max(1, ...rows.map((row) => table.value[row] + 2 * table.sd[row]));
  const least = Math.max(1, Math.min(...rows.map((row) => table.value[row] - 2 * table.sd[row])));
  head.querySelector(".axis")?.remove();
  const scale = axisIn(head);
  const tick = (part, value) => { make("small", scale, {}, compact.format(value)).style.left = `${100 * part}%`; };
  if (logarithmic) {
    const [from, to] = [Math.floor(Math.log10(least)), Math.max(1, Math.ceil(Math.log10(most)))];
    const decades = Math.max(1, to - from);
    const step = Math.ceil(decades / 3);
    for (let power = from; power <= to; power += step) tick((power - from) / decades, 10 ** power);
    return (value) => 100 * Math.min(1, Math.max(0, (Math.log10(Math.max(value, 1e-9)) - from) / decades));
  }
  const digit = 10 ** Math.floor(Math.log10(most));
  const top = digit * [1, 2, 4, 6, 8, 10].find((factor) => factor * digit >= most);
  for (const part of [0, 0.5, 1]) tick(part, part * top);
  return (value) => 100 * Math.min(1, Math.max(0, value / top));
};
// Where the first row is fifty times the last, a plain axis would show one band and a column of dots.
const uneven = (table) => {
  const values = table.value.filter((value) => value > 0);
  return values.length > 1 && values[0] >= 50 * values[values.length - 1];
};

const drawBand = (cell, value, sd, place) => {
  if (value === null || !sd) return;
  const [low, high] = [value - 2 * sd, value + 2 * sd];
  make("span", cell, { class: "range" }, rangeOf(value, sd));
  const scale = axisIn(cell);
  make("s", scale).style.width = `${place(value)}%`;
  const reach = make("i", scale).style;
  reach.left = `${place(low)}%`;
  reach.width = `${place(high) - place(low)}%`;
  make("b", scale).style.left = `${place(value)}%`;
};

// ---------------------------------------------------------------- a table to take along

// What a spreadsheet would run as a formula begins with an apostrophe.
const quoted = (text) => `"${String(text).replace(/^[=+\-@\t\r]/, "'$&").replaceAll('"', '""')}"`;
const asCsv = (table, numbers) => {
  const rows = [[...table.columns].map(quoted)];
  for (let row = 0; row < table.keys[0].length; row++) {
    const cells = table.keys.map((column) => quoted(textOf(column[row])));
    if (numbers) cells.push(table.value[row] ?? "", table.sd[row] ?? "");
    rows.push(cells);
  }
  return rows.map((cells) => cells.join(",")).join("\r\n") + "\r\n";
};
const offerCsv = (table, numbers) => {
  const place = sectionOf(table).querySelector(".downloads");
  if (!place || table.keys[0].length < table.total) return;
  place.append(" · ");
  const button = make("button", place, { type: "button", class: "plain" }, `${table.name}.csv`);
  make("span", place, { class: "soft" }, " as this page shows it; the Parquet file has every byte");
  button.addEventListener("click", () => {
    const address = URL.createObjectURL(new Blob([asCsv(table, numbers)], { type: "text/csv" }));
    const link = make("a", place, { href: address, download: `${table.name}.csv`, hidden: "" });
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(address), 60_000);
  });
};

// ---------------------------------------------------------------- a table by group: a switch between its groups

const groupsOf = (table, tools, changed) => {
  if (!table.name.includes("_by_")) return () => true;
  const label = make("label", tools, {}, table.columns[0]);
  const select = make("select", label, { id: `group-${table.name}` });
  make("option", select, { value: "-1" }, "all");
  const groups = [...new Set(table.keys[0])].sort((a, b) => alphabet.compare(textOf(a), textOf(b)));
  for (const group of groups) make("option", select, { value: group }, textOf(group));
  select.addEventListener("change", changed);
  return (row) => select.value === "-1" || table.keys[0][row] === Number(select.value);
};

// ---------------------------------------------------------------- one table: its rows, its search, its order, its sheets

const liven = (table) => {
  const section = sectionOf(table);
  const body = section.querySelector("tbody");
  if (!body) return;
  const [value, sd, head] = ["th.value", "th.sd", "th.band"].map((column) => section.querySelector(column));
  const tools = section.querySelector(".tools");
  const label = make("label", tools, {}, `Search in ${table.name}`);
  const input = make("input", label, { type: "search", id: `search-${table.name}`, autocomplete: "off" });
  const inGroup = groupsOf(table, tools, () => search());
  const turn = make("div", tools, { class: "turn" });
  const found = section.querySelector(".found");
  const linked = table.columns.map((column) => ["query", "next_query"].includes(column));
  let rows = rowsWith(table, "");
  let first = 0;
  let order = null;
  let logarithmic = Boolean(head) && uneven(table);

  const draw = () => {
    const sheet = rows.slice(first, first + SHEET);
    const place = head && axisOf(table, sheet, head, logarithmic);
    body.replaceChildren();
    for (const row of sheet) {
      const line = make("tr", body);
      table.keys.forEach((column, n) => {
        const cell = make("td", line, { class: "text", dir: "auto" });
        if (linked[n] && column[row] >= 0) make("a", cell, { href: linkTo(column[row]) }, textOf(column[row]));
        else cell.textContent = textOf(column[row]);
      });
      if (value) make("td", line, { class: "n" }, table.value[row] === null ? "" : shown(table.value[row]));
      if (sd) make("td", line, { class: "n sd" }, table.sd[row] === null ? "" : table.sd[row].toFixed(1));
      if (head) drawBand(make("td", line, { class: "band" }), table.value[row], table.sd[row], place);
    }
    const last = first + sheet.length;
    found.textContent = rows.length
      ? `Rows ${shown(first + 1)} to ${shown(last)} of ${shown(rows.length)}${input.value.trim() ? " found" : ""}.`
      : `No row here has “${input.value.trim()}”. ${found.dataset.missing}`;
    for (const [button, to] of sheets) button.setAttribute("aria-disabled", to() === first);
  };
  const search = () => { rows = sorted(rowsWith(table, input.value).filter(inGroup), table, order); first = 0; draw(); };
  const end = () => Math.max(0, Math.ceil(rows.length / SHEET) - 1) * SHEET;
  const sheets = [
    ["First", () => 0],
    ["Previous", () => Math.max(0, first - SHEET)],
    ["Next", () => Math.min(end(), first + SHEET)],
    ["Last", end],
  ].map(([name, to]) => {
    const button = make("button", turn, { type: "button", "aria-label": `${name} rows of ${table.name}` }, name);
    button.addEventListener("click", () => { first = to(); draw(); });
    return [button, to];
  });

  const heads = [...section.querySelectorAll("th.text")].map((th, n) => [th, n]);
  if (value) heads.push([value, "value"]);
  if (sd) heads.push([sd, "sd"]);
  for (const [th, by] of heads) {
    const name = th.textContent;
    th.textContent = "";
    const button = make("button", th, { type: "button", class: "sort" }, name);
    button.addEventListener("click", () => {
      const ways = typeof by === "number" ? [1, -1] : [-1, 1];
      const next = order?.by === by ? ways[ways.indexOf(order.way) + 1] : ways[0];
      order = next ? { by, way: next } : null; // a third click: as released
      for (const [other] of heads) other.removeAttribute("aria-sort");
      if (order) th.setAttribute("aria-sort", order.way > 0 ? "ascending" : "descending");
      search();
    });
  }
  if (head) {
    const button = make("button", turn, { type: "button", "aria-pressed": logarithmic }, "Log scale");
    button.setAttribute("aria-label", `Log scale for ${table.name}`);
    button.addEventListener("click", () => {
      logarithmic = !logarithmic;
      button.setAttribute("aria-pressed", logarithmic);
      draw();
    });
  }
  offerCsv(table, Boolean(table.value));
  input.addEventListener("input", search);
  draw();
};

// ---------------------------------------------------------------- tabs, with the arrow keys

const place = document.getElementById("tables");
const bar = make("div", place, { role: "tablist", "aria-label": "Tables of this release" });
place.insertBefore(bar, document.querySelector(".table"));
place.classList.add("tabbed");
const tabs = tables.map((table) => {
  const section = sectionOf(table);
  const named = { type: "button", role: "tab", id: `tab-${table.name}`, "aria-controls": section.id };
  const tab = make("button", bar, named, `${table.name} ${shown(table.total)}`);
  section.setAttribute("role", "tabpanel");
  section.setAttribute("aria-labelledby", tab.id);
  return { tab, section };
});
const open = (at) => tabs.forEach(({ tab, section }, n) => {
  tab.setAttribute("aria-selected", n === at);
  tab.tabIndex = n === at ? 0 : -1;
  section.hidden = n !== at;
});
const go = (at) => { open(at); tabs[at].tab.focus(); };
tabs.forEach(({ tab }, n) => {
  tab.addEventListener("click", () => open(n));
  tab.addEventListener("keydown", ({ key }) => {
    const steps = { ArrowRight: n + 1, ArrowLeft: n - 1, Home: 0, End: tabs.length - 1 };
    if (key in steps) go((steps[key] + tabs.length) % tabs.length);
  });
});
document.getElementById("no-script").remove();
tables.forEach(liven);
open(0);

// ---------------------------------------------------------------- on paper everything is open

const folded = [...document.querySelectorAll("details")];
addEventListener("beforeprint", () => folded.forEach((part) => { part.wasOpen = part.open; part.open = true; }));
addEventListener("afterprint", () => folded.forEach((part) => { part.open = part.wasOpen; }));
