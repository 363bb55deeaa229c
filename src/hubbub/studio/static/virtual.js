// A list of any length: only the rows in view are in the page, and only those near them are asked for.
"use strict";
const ROW = 68, PART = 100;  // pixels of a row, as the style sheet has it; rows of one question

// place: a scrolling region with one list in it; fetched(from, count) answers {found, rows}; drawn(row) makes what a
// row holds, its button last; told(found) hears how many rows there are
function virtualList(place, {fetched, drawn, told}) {
  const list = place.querySelector("ul");
  let parts = new Map(), found = 0, active = 0, age = 0, waiting = false;

  async function part(n) {
    if (parts.has(n)) return;
    parts.set(n, null);
    const mine = age, answer = await fetched(n * PART, PART);
    if (mine !== age || answer.refused) return;
    parts.set(n, answer.rows);
    resize(answer.found);
    draw();
  }

  function resize(now) {
    found = now;
    active = Math.min(active, Math.max(found - 1, 0));
    list.style.height = found * ROW + "px";
    told(found);
  }

  function draw() {
    const first = Math.max(0, Math.floor(place.scrollTop / ROW) - 5);
    const last = Math.min(found, Math.ceil((place.scrollTop + place.clientHeight) / ROW) + 5);
    for (let n = Math.floor(first / PART); n * PART < last; n++) part(n);
    const focused = list.contains(document.activeElement), items = [];
    for (let i = first; i < last; i++) {
      const row = (parts.get(Math.floor(i / PART)) || [])[i % PART];
      const item = el("li", {"aria-setsize": found, "aria-posinset": i + 1, "data-at": i});
      item.style.top = i * ROW + "px";
      if (row) {
        item.append(...drawn(row, i));
        item.querySelector("button").tabIndex = i === active ? 0 : -1;
      }
      items.push(item);
    }
    list.replaceChildren(...items);
    if (focused || waiting) focus();
  }

  function focus() {
    const button = list.querySelector(`[data-at="${active}"] button`);
    if (button) button.focus({preventScroll: true});
    waiting = !button;
  }

  function go(to) {
    active = Math.max(0, Math.min(found - 1, to));
    const top = active * ROW;
    if (top < place.scrollTop) place.scrollTop = top;
    else if (top + ROW > place.scrollTop + place.clientHeight) place.scrollTop = top + ROW - place.clientHeight;
    draw();
    focus();
  }

  place.addEventListener("scroll", () => requestAnimationFrame(draw));
  place.addEventListener("keydown", (event) => {
    const page = Math.max(1, Math.floor(place.clientHeight / ROW) - 1);
    const to = {ArrowDown: active + 1, ArrowUp: active - 1, PageDown: active + page, PageUp: active - page, Home: 0, End: found - 1}[event.key];
    if (to === undefined) return;
    event.preventDefault();
    go(to);
  });
  list.addEventListener("focusin", (event) => {
    const item = event.target.closest("li");
    if (item) active = Number(item.dataset.at);
  });
  addEventListener("resize", later(100, draw));

  return {
    // from the beginning: another choice of rows
    async begin() { age++; parts = new Map(); active = 0; place.scrollTop = 0; await part(0); },
    // the same rows, which may say something else now
    async again() {
      age++;
      const mine = age, from = Math.floor(place.scrollTop / ROW / PART), answer = await fetched(from * PART, PART);
      if (mine !== age || answer.refused) return;
      parts = new Map([[from, answer.rows]]);
      resize(answer.found);
      draw();
    },
    focus: () => go(active),
  };
}
