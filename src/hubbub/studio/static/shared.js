// What every page of the studio shares: asking the server, and keeping what is typed. Text is only ever text.
"use strict";
const base = document.body.dataset.base;
const $ = (id) => document.getElementById(id);

async function ask(path, body) {
  const how = body === undefined ? {} : {
    method: "POST",
    headers: {"content-type": "application/json", "x-hubbub-studio": base.slice(1)},
    body: JSON.stringify(body),
    keepalive: path === "/api/kept",
  };
  try {
    return await (await fetch(base + path, how)).json();
  } catch {
    return {refused: "The studio does not answer: is its process still running?", silent: true};
  }
}

function later(wait, act) {
  let timer = null;
  return (...given) => { clearTimeout(timer); timer = setTimeout(() => act(...given), wait); };
}

function show(element, text) {
  element.hidden = !text;
  if (element.textContent !== (text || "")) element.textContent = text || "";
}

function el(tag, attributes, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) made.setAttribute(name, value);
  made.append(...children);
  return made;
}


function number(n) { return n.toLocaleString("en"); }

// ------------------------------------------------------------------ what is typed is kept
// At once in this tab, and a moment later by the server, for the same page in another tab.

const kept = {
  place: base + " " + document.body.dataset.key,
  unsent: null,
  send() {
    if (this.unsent !== null) ask("/api/kept", {page: document.body.dataset.key, form: this.unsent});
    this.unsent = null;
  },
  soon: later(250, () => kept.send()),
  read() {
    const own = sessionStorage.getItem(this.place);
    return (own === null ? JSON.parse($("kept").textContent) : JSON.parse(own)) || {};
  },
  write(form) {
    sessionStorage.setItem(this.place, JSON.stringify(form));
    this.unsent = form;
    this.soon();
  },
};
addEventListener("pagehide", () => kept.send());

function valueOf(input) { return input.type === "checkbox" ? input.checked : input.value; }

function putValue(input, value) {
  if (input.type === "checkbox") { input.checked = Boolean(value); return; }
  input.value = value;
  if (input.tagName === "SELECT" && input.selectedIndex < 0) input.selectedIndex = 0;
}

function typed() { return [...document.querySelectorAll("[data-keep]")]; }

// Every field that says data-keep has what was typed into it before, and is kept when it changes.
function keepFields() {
  const before = kept.read();
  for (const input of typed()) if (input.id in before) putValue(input, before[input.id]);
  const keep = () => kept.write({...kept.read(), ...Object.fromEntries(typed().map((input) => [input.id, valueOf(input)]))});
  addEventListener("input", keep);
  addEventListener("change", keep);
}
