"use strict";
// Search and paging over the rows of a release. The rows are in the page as JSON: `words` has every text once, the key
// columns of a table are indices into it (-1: empty; a list: a sequence). A text enters the page as textContent only.
{
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

  // ---------------------------------------------------------------- search: every term somewhere in the row
  // (and rows with a cell that is just what was asked for come first)

  let lower = null;
  const rowsWith = (table, wanted) => {
    const terms = wanted.normalize("NFKC").toLowerCase().split(/\s+/).filter(Boolean);
    lower ??= words.map((word) => word.toLowerCase());
    const hits = terms.map((term) => lower.map((word) => word.includes(term)));
    const has = (cell, hit) => (Array.isArray(cell) ? cell.some((at) => hit[at]) : hit[cell]);
    const rows = [];
    for (let row = 0; row < table.keys[0].length; row++) {
      if (hits.every((hit) => table.keys.some((column) => has(column[row], hit)))) rows.push(row);
    }
    const whole = lower.indexOf(terms.join(" "));
    const same = (row) => whole >= 0 && table.keys.some((column) => column[row] === whole);
    return [...rows.filter(same), ...rows.filter((row) => !same(row))];
  };

  // ---------------------------------------------------------------- noise bands, on one axis a sheet

  const axisIn = (into) => make("span", into, { class: "axis", "aria-hidden": "true" });

  // The axis of some rows, from 0 to a round number; draws its ticks and gives the place of a value on it.
  const axisOf = (table, rows, head) => {
    const most = Math.max(1, ...rows.map((row) => table.value[row] + 2 * table.sd[row]));
    const digit = 10 ** Math.floor(Math.log10(most));
    const top = digit * [1, 2, 4, 6, 8, 10].find((step) => step * digit >= most);
    const short = Intl.NumberFormat("en", { notation: "compact" });
    head.querySelector(".axis")?.remove();
    const scale = axisIn(head);
    for (const part of [0, 0.5, 1]) make("small", scale, {}, short.format(part * top)).style.left = `${100 * part}%`;
    return (value) => 100 * Math.min(1, Math.max(0, value / top));
  };

  const drawBand = (cell, value, sd, place) => {
    if (value === null || !sd) return;
    const [low, high] = [value - 2 * sd, value + 2 * sd];
    make("span", cell, { class: "range" }, `${shown(Math.floor(low))} to ${shown(Math.ceil(high))}`);
    const scale = axisIn(cell);
    make("s", scale).style.width = `${place(value)}%`;
    const reach = make("i", scale).style;
    reach.left = `${place(low)}%`;
    reach.width = `${place(high) - place(low)}%`;
    make("b", scale).style.left = `${place(value)}%`;
  };

  // ---------------------------------------------------------------- one table: its rows, its search, its sheets

  const liven = (table) => {
    const section = sectionOf(table);
    const body = section.querySelector("tbody");
    if (!body) return;
    const [value, sd, head] = ["th.value", "th.sd", "th.band"].map((column) => section.querySelector(column));
    const tools = section.querySelector(".tools");
    const label = make("label", tools, {}, `Search in ${table.name}`);
    const input = make("input", label, { type: "search", id: `search-${table.name}`, autocomplete: "off" });
    const turn = make("div", tools, { class: "turn" });
    const found = section.querySelector(".found");
    let rows = rowsWith(table, "");
    let first = 0;

    const draw = () => {
      const sheet = rows.slice(first, first + SHEET);
      const place = head && axisOf(table, sheet, head);
      body.replaceChildren();
      for (const row of sheet) {
        const line = make("tr", body);
        for (const column of table.keys) make("td", line, { class: "text", dir: "auto" }, textOf(column[row]));
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
    input.addEventListener("input", () => { rows = rowsWith(table, input.value); first = 0; draw(); });
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
}
