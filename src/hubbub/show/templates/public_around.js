// Around one query: its clicks, what was asked before and after it, and released queries like it, at the address #q=….

const MOST = 12;
const around = document.getElementById("around");
const named = Object.fromEntries(tables.map((table) => [table.name, table]));
const columnOf = (table, name) => table?.keys[table.columns.indexOf(name)];
const wordAt = new Map(words.map((word, at) => [word, at]));

// [the other key, row] of the rows of a table whose `mine` column is this query, most users first.
const besides = (table, mine, other, at) => {
  const [own, others] = [columnOf(table, mine), columnOf(table, other)];
  const rows = [];
  if (own && others) own.forEach((cell, row) => { if (cell === at) rows.push([others[row], row]); });
  return rows.sort(([, a], [, b]) => (table.value?.[b] ?? 0) - (table.value?.[a] ?? 0) || a - b);
};

// Released queries that share words or clicked pages with this one: the share of both that is common, added up.
const similar = (at) => {
  const terms = (n) => new Set(inLower()[n].split(/\s+/).filter(Boolean));
  const common = (a, b) => {
    let both = 0;
    for (const x of a) both += b.has(x);
    return both ? both / (a.size + b.size - both) : 0;
  };
  const mine = terms(at);
  const [asked, urls] = [columnOf(named.clicks, "query"), columnOf(named.clicks, "url")];
  const pages = new Map();
  asked?.forEach((query, row) => {
    if (!pages.has(query)) pages.set(query, new Set());
    pages.get(query).add(urls[row]);
  });
  const clicked = pages.get(at) ?? new Set();
  const likes = [];
  columnOf(named.queries, "query")?.forEach((other, row) => {
    if (other === at) return;
    const like = common(mine, terms(other)) + common(clicked, pages.get(other) ?? new Set());
    if (like > 0) likes.push([other, row, like]);
  });
  return likes.sort((a, b) => b[2] - a[2] || a[1] - b[1]).slice(0, MOST);
};

// ---------------------------------------------------------------- lists

const numberIn = (into, table, row) => {
  const [value, sd] = [table.value?.[row], table.sd?.[row]];
  if (value === null || value === undefined) return;
  make("span", into, { class: "soft" }, ` ${shown(value)}${sd ? ` ± ${shown(Math.ceil(2 * sd))}` : ""}`);
};
const listIn = (into, title, table, rows, linked) => {
  if (!rows.length) return;
  const part = make("div", into);
  make("h4", part, {}, title);
  const list = make("ul", part);
  for (const [other, row] of rows.slice(0, MOST)) {
    const item = make("li", list);
    if (linked) make("a", item, { href: linkTo(other), dir: "auto" }, words[other]);
    else make("span", item, { dir: "auto" }, textOf(other));
    numberIn(item, table, row);
  }
  if (rows.length > MOST) make("p", part, { class: "soft" }, `and ${shown(rows.length - MOST)} more in ${table.name}`);
};

// ---------------------------------------------------------------- the neighbourhood as a drawing

const SVG = "http://www.w3.org/2000/svg";
const draws = (tag, into, attributes, text = "") => {
  const element = into.appendChild(document.createElementNS(SVG, tag));
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  if (text) element.textContent = text;
  return element;
};
const cut = (text) => ([...text].length > 22 ? `${[...text].slice(0, 21).join("")}…` : text);

const drawNeighbours = (into, at, next, before, likes) => {
  const met = new Map(); // query → how it hangs together: "after", "before" or "like"
  for (const [[other, row], kind] of [
    ...next.slice(0, 5).map((found) => [found, "after"]),
    ...before.slice(0, 5).map((found) => [found, "before"]),
    ...likes.slice(0, 5).map((found) => [found, "like"]),
  ]) if (other !== at && !met.has(other)) met.set(other, [kind, row]);
  if (met.size < 2) return;
  const svg = draws("svg", into, { viewBox: "-330 -190 660 380", class: "graph", role: "group" });
  svg.setAttribute("aria-label", `Queries around “${words[at]}”`);
  const arrow = draws("marker", draws("defs", svg, {}), { id: "arrow", viewBox: "0 0 8 8", refX: 7, refY: 4, orient: "auto" });
  arrow.setAttribute("markerWidth", 7);
  arrow.setAttribute("markerHeight", 7);
  draws("path", arrow, { d: "M0 0L8 4L0 8z" });
  const ring = [...met];
  ring.forEach(([other, [kind]], n) => {
    const angle = (2 * Math.PI * n) / ring.length - Math.PI / 2;
    const [x, y] = [230 * Math.cos(angle), 140 * Math.sin(angle)];
    const near = (y > 60 ? 46 : 20) / Math.hypot(x, y); // below the centre stands its name
    const ends = (inner, outer) => ({ x1: x * inner, y1: y * inner, x2: x * outer, y2: y * outer });
    const line = kind === "before" ? ends(0.9, near) : ends(near, 0.9);
    draws("line", svg, { ...line, class: kind, ...(kind === "like" ? {} : { "marker-end": "url(#arrow)" }) });
    const link = draws("a", svg, { href: linkTo(other), "aria-label": words[other] });
    draws("circle", link, { cx: x, cy: y, r: 6 });
    draws("text", link, { x, y: y + (y < 0 ? -12 : 22), "text-anchor": "middle" }, cut(words[other]));
  });
  draws("circle", svg, { cx: 0, cy: 0, r: 9, class: "centre" });
  draws("text", svg, { x: 0, y: 28, "text-anchor": "middle", class: "centre" }, cut(words[at]));
  make("p", into, { class: "soft graph" }, "Arrows: asked one after the other. Dotted: shares words or clicked pages.");
};

// ---------------------------------------------------------------- showing it

const look = () => {
  let wanted = null;
  try {
    wanted = location.hash.startsWith("#q=") ? decodeURIComponent(location.hash.slice(3)) : null;
  } catch { /* an address somebody cut in two */ }
  around.replaceChildren();
  around.hidden = wanted === null;
  if (wanted === null) return;
  const title = make("h3", around, { id: "around-title", tabindex: "-1", dir: "auto" }, `Around “${wanted}”`);
  make("a", around, { href: "#tables", class: "close" }, "Close");
  const at = wordAt.get(wanted);
  const row = at === undefined ? -1 : (columnOf(named.queries, "query") ?? []).indexOf(at);
  if (row >= 0 && named.queries.value?.[row] != null) {
    const [value, sd] = [named.queries.value[row], named.queries.sd[row]];
    make("p", around, {}, `${shown(value)} users${sd ? `, ± 2 noise_sd: ${rangeOf(value, sd)}` : ""}.`);
  } else if (row < 0) {
    make("p", around, {}, "Not among the queries of this page. A missing query is not a zero: nobody may have asked it, or too few to be released.");
  }
  if (at !== undefined) {
    const next = besides(named.transitions, "query", "next_query", at);
    const before = besides(named.transitions, "next_query", "query", at);
    const likes = similar(at);
    drawNeighbours(around, at, next, before, likes);
    const lists = make("div", around, { class: "lists" });
    listIn(lists, "Clicked", named.clicks, besides(named.clicks, "query", "url", at), false);
    listIn(lists, "Asked next", named.transitions, next, true);
    listIn(lists, "Asked before", named.transitions, before, true);
    const walks = [];
    columnOf(named.sessions, "queries")?.forEach((cell, n) => { if (cell.includes?.(at)) walks.push([cell, n]); });
    listIn(lists, "In sessions", named.sessions, walks, false);
    listIn(lists, "Similar released queries", named.queries, likes, true);
  }
  around.scrollIntoView({ block: "start" });
  title.focus({ preventScroll: true });
};
addEventListener("hashchange", look);
look();
