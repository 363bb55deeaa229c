"use strict";
// Lines with bands of chosen queries. The numbers are in the page as JSON (show/series/rows.py says how); which queries are
// shown stands in the address: #q=weather&q=news. A text enters the page as textContent only.
{
  const { labels, limits, queries, since, inside, to_date, chosen, follows } = JSON.parse(document.getElementById("rows").textContent);
  const MOST = 6, HITS = 8, HEIGHT = 320;
  const number = (n) => n.toLocaleString("en");
  const at = (id) => document.getElementById(id);

  const make = (tag, into, attributes = {}, text = "") => {
    const svg = into.namespaceURI?.endsWith("svg") || tag === "svg";
    const element = into.appendChild(svg ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag));
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    if (text) element.textContent = text;
    return element;
  };

  const liven = () => {
    at("no-script")?.remove();
    const place = new Map(queries.map((query, n) => [query, n]));
    const low = queries.map((query) => query.toLowerCase());
    const views = [["inside", "users in each period", inside], ["to_date", "users to date", to_date]]
      .filter(([, , values]) => values.some((cells) => cells.length));
    let view = views[0];
    let shown = chosen;

    // -------------------------------------------------------------- what is shown, and the address that says so

    const fromAddress = () => {
      const wanted = new URLSearchParams(location.hash.slice(1)).getAll("q");
      const found = [...new Set(wanted)].filter((query) => place.has(query)).map((query) => place.get(query));
      const missing = wanted.filter((query) => !place.has(query));
      if (wanted.length) shown = found.slice(0, MOST);
      at("found").textContent = missing.length ? `Not in this page: ${missing.map((query) => `“${query}”`).join(", ")}.` : "";
    };
    const choose = (next) => {
      shown = next;
      history.replaceState(null, "", "#" + shown.map((n) => "q=" + encodeURIComponent(queries[n])).join("&"));
      draw();
    };
    const cellsOf = (n) => labels.map((_, period) => view[2][n][period - since[n]] ?? null);
    const hidden = (n, period) => view[0] === "inside" && period >= since[n] && limits[period];

    // -------------------------------------------------------------- search

    const label = make("label", at("tools"), {}, "Search a query");
    const input = make("input", label, { type: "search", id: "search", autocomplete: "off" });
    if (views.length > 1) {
      const group = make("fieldset", at("tools"), { "aria-label": "Which users" });
      for (const one of views) {
        const choice = make("label", group);
        const radio = make("input", choice, { type: "radio", name: "view", value: one[0] });
        radio.checked = one === view;
        make("span", choice, {}, one[1]);
        radio.addEventListener("change", () => { view = one; draw(); });
      }
    }
    const search = () => {
      const terms = input.value.normalize("NFKC").toLowerCase().split(/\s+/).filter(Boolean);
      at("hits").replaceChildren();
      if (!terms.length) { at("found").textContent = ""; return; }
      const hits = low.flatMap((query, n) => (terms.every((term) => query.includes(term)) ? [n] : []));
      const whole = place.get(terms.join(" "));
      if (whole !== undefined) hits.unshift(...hits.splice(hits.indexOf(whole), 1));
      for (const n of hits.slice(0, HITS)) {
        const button = make("button", make("li", at("hits")), { type: "button", dir: "auto" }, queries[n]);
        button.addEventListener("click", () => {
          choose([...shown.filter((other) => other !== n), n].slice(-MOST));
          input.value = "";
          search();
          input.focus();
        });
      }
      at("found").textContent = hits.length
        ? `${number(hits.length)} found${hits.length > HITS ? `; the first ${HITS} are offered` : ""}. Choose one to show its line.`
        : `No query in this page has “${input.value.trim()}”.`;
    };
    input.addEventListener("input", search);

    // -------------------------------------------------------------- the chart

    const drawChips = () => {
      at("chips").replaceChildren();
      shown.forEach((n, line) => {
        const button = make("button", make("li", at("chips")), { type: "button", "aria-label": `Remove the line of ${queries[n]}` });
        const key = make("svg", button, { viewBox: "0 0 32 12", "aria-hidden": "true" });
        make("path", key, { class: `line c${line} d${line}`, d: "M0 6H32" });
        make("bdi", button, {}, queries[n]);
        make("span", button, { "aria-hidden": "true" }, " ×");
        button.addEventListener("click", () => choose(shown.filter((other) => other !== n)));
      });
    };

    const drawChart = () => {
      const plot = at("plot");
      const width = Math.max(280, plot.clientWidth);
      const [left, right, top, bottom] = [52, 14, 12, 30];
      plot.replaceChildren();
      const svg = make("svg", plot, { viewBox: `0 0 ${width} ${HEIGHT}`, role: "img", "aria-label": told() });
      const cells = shown.map(cellsOf);
      const ends = cells.flat().filter(Boolean).map(([value, sd]) => value + 2 * sd);
      const below = shown.flatMap((n) => labels.map((_, t) => hidden(n, t) || 0));
      const most = Math.max(1, ...ends, ...below);
      const digit = 10 ** Math.floor(Math.log10(most));
      const high = digit * [1, 1.5, 2, 3, 4, 5, 6, 8, 10].find((step) => step * digit >= most);
      const x = (t) => (labels.length > 1 ? left + (width - left - right) * (t / (labels.length - 1)) : (left + width - right) / 2);
      const y = (value) => HEIGHT - bottom - (HEIGHT - top - bottom) * (Math.max(0, value) / high);
      for (const part of [0, 0.25, 0.5, 0.75, 1]) {
        make("path", svg, { class: "grid", d: `M${left} ${y(part * high)}H${width - right}` });
        make("text", svg, { x: left - 8, y: y(part * high) + 4, "text-anchor": "end" }, number(Math.round(part * high * 100) / 100));
      }
      const room = Math.max(1, Math.ceil(labels.length * 76 / (width - left - right)));
      labels.forEach((name, t) => {
        if ((labels.length - 1 - t) % room) return;
        const anchor = labels.length > 1 && t === labels.length - 1 ? "end" : labels.length > 1 && t === 0 ? "start" : "middle";
        make("text", svg, { x: x(t) + (anchor === "end" ? right : anchor === "start" ? -right : 0), y: HEIGHT - 8, "text-anchor": anchor }, name);
      });
      shown.forEach((n, line) => {
        const runs = [];
        cells[line].forEach((cell, t) => { if (cell) (cells[line][t - 1] ? runs.at(-1) : (runs[runs.length] = [])).push(t); });
        for (const run of runs) {
          const edge = (side) => run.map((t) => `${x(t)} ${y(cells[line][t][0] + side * 2 * cells[line][t][1])}`);
          if (run.length > 1) make("path", svg, { class: `reach f${line}`, d: `M${edge(1).join("L")}L${edge(-1).reverse().join("L")}Z` });
          else make("path", svg, { class: `line reach c${line}`, d: `M${edge(1)[0]}L${edge(-1)[0]}` });
          make("path", svg, { class: `line c${line} d${line}`, d: `M${run.map((t) => `${x(t)} ${y(cells[line][t][0])}`).join("L")}` });
        }
        labels.forEach((name, t) => {
          const cell = cells[line][t];
          if (cell) {
            const dot = make("circle", svg, { class: `f${line}`, cx: x(t), cy: y(cell[0]), r: 3.2 });
            make("title", dot, {}, `${queries[n]}, ${name}: ${number(cell[0])} ± ${number(Math.ceil(2 * cell[1]))}`);
          } else if (hidden(n, t)) {
            const [a, b] = [x(t) + 7 * (line - (shown.length - 1) / 2), y(limits[t])];
            const mark = make("path", svg, { class: `below c${line}`, d: `M${a - 4.5} ${b}H${a + 4.5}L${a} ${b + 8}Z` });
            make("title", mark, {}, `${queries[n]}, ${name}: below ${number(limits[t])}`);
          }
        });
      });
    };
    const told = () => (shown.length
      ? `Lines of ${view[1]} for ${shown.map((n) => queries[n]).join(", ")}. The numbers are in the table below.`
      : "No query is chosen.");

    const drawCells = () => {
      const table = at("cells");
      table.replaceChildren();
      make("caption", table, {}, `${view[1]}, ± 2 noise_sd`);
      const head = make("tr", make("thead", table));
      make("th", head, { scope: "col" }, "period");
      for (const n of shown) make("th", head, { scope: "col", class: "n", dir: "auto" }, queries[n]);
      const body = make("tbody", table);
      labels.forEach((name, t) => {
        const row = make("tr", body);
        make("th", row, { scope: "row" }, name);
        for (const n of shown) {
          const cell = cellsOf(n)[t];
          const text = cell ? `${number(cell[0])} ± ${number(Math.ceil(2 * cell[1]))}`
            : t < since[n] ? "not out yet" : hidden(n, t) ? `below ${number(limits[t])}` : "not published";
          make("td", row, { class: "n" }, text);
        }
      });
    };
    // What hangs on the chosen queries: pages that were clicked after them, queries that came next.
    const drawFollows = () => {
      const table = at("follows");
      if (!table) return;
      table.replaceChildren();
      make("caption", table, {}, "What hangs on these queries, users to date");
      const head = make("tr", make("thead", table));
      for (const name of ["query", "how", "page or next query"]) make("th", head, { scope: "col" }, name);
      make("th", head, { scope: "col", class: "n" }, "users");
      const body = make("tbody", table);
      for (const n of shown) {
        for (const [kind, text, users] of follows[n]) {
          const row = make("tr", body);
          make("td", row, { class: "text", dir: "auto" }, queries[n]);
          make("td", row, {}, kind === "clicks" ? "clicked" : "then asked");
          make("td", row, { class: "text", dir: "auto" }, text);
          make("td", row, { class: "n" }, users === null ? "" : number(users));
        }
      }
      if (!body.children.length) make("td", make("tr", body), { colspan: "4" }, "Nothing that is out.");
    };
    const draw = () => { drawChips(); drawChart(); drawCells(); drawFollows(); };

    addEventListener("hashchange", () => {
      if (!location.hash.startsWith("#q=")) return;
      fromAddress();
      draw();
      at("lines").scrollIntoView();
    });
    addEventListener("resize", drawChart);
    fromAddress();
    draw();
  };
  if (at("tools")) liven();

  const folded = [...document.querySelectorAll("details")];
  addEventListener("beforeprint", () => folded.forEach((part) => { part.wasOpen = part.open; part.open = true; }));
  addEventListener("afterprint", () => folded.forEach((part) => { part.open = part.wasOpen; }));
}
