// Drawings of the studio, by hand: an SVG curve and bars. Text is only ever text.
"use strict";
const SVG = "http://www.w3.org/2000/svg";
const COLOURS = ["c0", "c1", "c2", "c3", "c4", "c5"];

function svg(tag, attributes, text) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

function short(n) {
  if (n >= 1e6) return +(n / 1e6).toPrecision(3) + " M";
  if (n >= 1e4) return Math.round(n / 1e3) + " k";
  return Math.round(n).toLocaleString("en");
}

function percent(x) {
  if (x <= 0) return "0 %";
  if (x < 0.0005) return "< 0.1 %";
  return (x >= 0.0995 ? (100 * x).toFixed(0) : (100 * x).toFixed(1)) + " %";
}

// lines: [{name, users, chance, strong, colour}], the strong one last; half: users with an even chance, or null
function drawCurve(place, lines, half, sentence) {
  const width = Math.max(280, place.clientWidth || 600), height = 260;
  const left = 44, right = 14, top = 12, bottom = 40;
  const most = Math.max(10, ...lines.map((line) => line.users[line.users.length - 1]));
  const x = (n) => left + (Math.log10(Math.max(n, 1)) / Math.log10(most)) * (width - left - right);
  const y = (p) => top + (1 - p) * (height - top - bottom);
  const root = svg("svg", {viewBox: `0 0 ${width} ${height}`, width, height, "aria-hidden": "true", class: "curve"});
  for (const p of [0, 0.25, 0.5, 0.75, 1]) {
    root.append(svg("line", {x1: left, x2: width - right, y1: y(p), y2: y(p), class: "grid"}));
    root.append(svg("text", {x: left - 6, y: y(p) + 4, class: "tick end"}, Math.round(100 * p) + " %"));
  }
  for (let ten = 1; ten <= most; ten *= 10) {
    root.append(svg("line", {x1: x(ten), x2: x(ten), y1: y(0), y2: y(0) + 5, class: "axis-line"}));
    root.append(svg("text", {x: x(ten), y: y(0) + 18, class: "tick middle"}, short(ten)));
  }
  root.append(svg("text", {x: (left + width - right) / 2, y: height - 4, class: "tick middle"}, "users who hold it"));
  for (const line of lines) {
    const points = line.users.map((n, i) => `${x(n).toFixed(1)},${y(line.chance[i]).toFixed(1)}`);
    if (line.strong) {
      const end = `${x(line.users[line.users.length - 1]).toFixed(1)},${y(0)}`;
      root.append(svg("polygon", {points: `${x(1)},${y(0)} ${points.join(" ")} ${end}`, class: "under"}));
    }
    const looks = line.strong ? "line strong" : "line " + line.colour;
    root.append(svg("polyline", {points: points.join(" "), class: looks}));
  }
  if (half !== null) {
    root.append(svg("line", {x1: x(half), x2: x(half), y1: y(0), y2: y(0.5), class: "guide"}));
    root.append(svg("circle", {cx: x(half), cy: y(0.5), r: 4.5, class: "dot"}));
    const late = x(half) > width * 0.6;
    root.append(svg("text", {x: x(half) + (late ? -9 : 9), y: y(0.5) + 4, class: late ? "note end" : "note"},
      `even chance at ${half.toLocaleString("en")}`));
  }
  place.replaceChildren(root);
  place.setAttribute("aria-label", sentence);
}

// parts: [{name, share, text, colour}]
function drawBar(place, parts) {
  const bar = el("div", {class: "bar", "aria-hidden": "true"});
  const list = el("ul", {class: "legend"});
  for (const part of parts) {
    const piece = el("span", {class: part.colour});
    piece.style.flexGrow = String(Math.max(part.share, 0));
    bar.append(piece);
    list.append(el("li", {}, el("i", {class: part.colour}), el("span", {}, part.name), el("strong", {}, part.text)));
  }
  place.replaceChildren(bar, list);
}
