// The page of a log: what is asked goes to the server, what comes back is shown. Text is only ever text.
"use strict";

// ------------------------------------------------------------------ while the log is read

function reading() {
  if (!$("reading")) return;
  setInterval(async () => {
    const state = await ask("/api/opened");
    if (state.share > 0) { $("share").value = state.share; $("reading").textContent = percentRead(state.share); }
    if (state.ready || state.problem) location.reload();
  }, 700);
}

function percentRead(share) {
  return share >= 1 ? "Read; counting." : Math.round(100 * share) + " % read.";
}

// ------------------------------------------------------------------ what is counted: the log is read again

function counting(changed) {
  const rules = () => [...document.querySelectorAll("#counted input[name=rule]:checked")].map((box) => box.value);
  function look() {
    const unread = [$("first").value, $("last").value, ...rules()].join(" ") !== $("counted").dataset.read;
    $("unread").hidden = !unread;
    changed(unread);
  }
  $("counted").addEventListener("input", look);
  $("counted").addEventListener("submit", async (event) => {
    event.preventDefault();
    const found = await ask("/api/read", {first: $("first").value, last: $("last").value, rules: rules()});
    show($("unreadable"), found.refused);
    if (!found.refused) location.reload();
  });
  look();
}

function correcting() {  // the log could not be read: other days or rules may do
  if ($("form") || !$("counted")) return;
  const before = kept.read();
  for (const input of typed()) if (before.fields && input.id in before.fields) putValue(input, before.fields[input.id]);
  counting(() => kept.write({...before, fields: {...before.fields, ...Object.fromEntries(typed().map((input) => [input.id, valueOf(input)]))}}));
}

// ------------------------------------------------------------------ choosing

function choosing() {
  if (!$("form")) return;
  const form = JSON.parse($("form").textContent);
  const before = kept.read(), own = before.own || {};  // own: tables and parameters that were typed, by mechanism
  let shown = before.shown || "queries", last = null, compared = [], round = 0, planned = 0, rivals = 0, running = false, unread = false;

  for (const name of Object.keys(form.mechanisms)) $("mechanism").append(el("option", {value: name}, name));
  $("delta").value = form.delta;
  for (const input of typed()) if (before.fields && input.id in before.fields) putValue(input, before.fields[input.id]);
  let current = $("mechanism").value;
  if (matchMedia("(max-width: 56rem)").matches)  // there the answers stand below: keep them near
    for (const group of document.querySelectorAll("details.group")) group.open = false;
  fill();

  function field(parameter) {
    const id = "p-" + parameter.name;
    const row = el("div", {class: "control"}, el("label", {for: id}, parameter.meaning, " ", el("var", {}, parameter.name)));
    let input;
    if (parameter.kind === "choice") {
      input = el("select", {id});
      for (const choice of parameter.choices) input.append(el("option", {value: choice}, choice));
      input.value = parameter.default;
    } else {
      input = el("input", {id, inputmode: parameter.kind === "integer" ? "numeric" : "decimal", title: parameter.range});
      input.value = parameter.default || "";
    }
    input.dataset.name = parameter.name;
    input.dataset.default = parameter.default || "";
    row.append(input);
    if (parameter.kind !== "choice" && parameter.default && (isBound(parameter) || isShare(parameter))) {
      const slider = el("input", {type: "range", "aria-label": parameter.meaning + ", on a slider", class: "slider"});
      const log = isBound(parameter);
      slider.min = 0; slider.max = log ? Math.log10(Math.min(parameter.most, 1000)) : 100; slider.step = log ? 0.02 : 1;
      slider.value = log ? Math.log10(Number(parameter.default)) : Number(parameter.default);
      slider.addEventListener("input", () => {
        input.value = log ? Math.round(10 ** slider.value) : Math.max(1, Number(slider.value));
        changed();
      });
      input.addEventListener("input", () => { slider.value = log ? Math.log10(Number(input.value) || 1) : input.value; });
      row.append(slider);
    }
    return row;
  }

  function isBound(parameter) { return parameter.kind === "integer" && /^(d|d_c|m|D|D_.)$/.test(parameter.name); }
  function isShare(parameter) { return /_weight$/.test(parameter.name); }

  function fill() {
    const of = form.mechanisms[$("mechanism").value];
    $("about").textContent = of.about;
    const tables = $("tables");
    tables.replaceChildren(tables.firstElementChild);
    const mine = own[current] || {tables: of.default_tables, settings: {}};
    for (const table of of.tables) {
      const box = el("input", {type: "checkbox", id: "t-" + table, value: table});
      box.checked = mine.tables.includes(table);
      tables.append(el("label", {class: "check", for: "t-" + table}, box, " " + table));
    }
    const rest = (p) => !isBound(p) && !isShare(p);
    for (const [id, wanted] of [["bounds", isBound], ["shares", isShare], ["others", rest]]) {
      const rows = of.parameters.filter(wanted).map(field);
      $(id).replaceChildren(...rows);
      $(id).parentElement.hidden = rows.length === 0;
    }
    for (const [name, value] of Object.entries(mine.settings)) put(name, value);
    sayEpsilon(); slide();
  }

  function put(name, value) {
    const input = $("p-" + name);
    if (input) { putValue(input, value); input.dispatchEvent(new Event("input")); }
  }

  function keep() {
    const settings = {};
    for (const input of document.querySelectorAll("#controls [data-name]"))
      if (input.value !== input.dataset.default) settings[input.dataset.name] = input.value;
    own[current] = {tables: [...document.querySelectorAll("#tables input:checked")].map((box) => box.value), settings};
    kept.write({own, shown, fields: Object.fromEntries(typed().map((input) => [input.id, valueOf(input)]))});
  }

  // A parameter that no wanted table depends on stays out: the command refuses it.
  const QUERIES = ["queries", "transitions", "sessions", "keywords"];
  const NEEDS = {D: QUERIES, queries_weight: QUERIES, D_c: ["clicks"], D_t: ["transitions", "sessions"], D_s: ["sessions"], d: ["queries"], d_c: ["clicks"],
    clicks_weight: ["clicks"], transitions_weight: ["transitions", "sessions"], sessions_weight: ["sessions"],
    keywords_weight: ["keywords"], histogram_weight: ["log"], F: ["transitions", "sessions"], D_g: [], groups_weight: [], one_group: [], F_known: QUERIES, known_words: QUERIES, language: QUERIES};

  const OF_GROUPS = ["F", "D_g", "groups_weight", "one_group"];

  function question() {
    const tables = [...document.querySelectorAll("#tables input:checked")].map((box) => box.value);
    const settings = {epsilon: $("epsilon").value, delta: $("delta").value};
    const groups = [1, 2, 3].map((n) => [$("by-" + n).value, $("values-" + n).value]).filter(([by]) => by.trim());
    for (const input of document.querySelectorAll("#controls [data-name]")) {
      const needs = NEEDS[input.dataset.name];
      const used = (!needs || needs.some((t) => tables.includes(t))) || (OF_GROUPS.includes(input.dataset.name) && groups.length > 0);
      input.closest(".control").classList.toggle("unused", !used);
      if (used && input.value !== input.dataset.default) settings[input.dataset.name] = input.value;
    }
    const confirmed = [...document.querySelectorAll("#confirm input:checked")].map((box) => box.value);
    const card = Object.fromEntries([...document.querySelectorAll("[data-card]")].map((input) => [input.dataset.card, input.value]));
    return {mechanism: $("mechanism").value, settings, tables, groups, name: $("name").value, confirmed, card,
      users_public: $("users-public").value, review: $("as-draft").checked};
  }

  function sayEpsilon() {
    const factor = Math.exp(Number($("epsilon").value));
    $("epsilon-says").textContent = Number.isFinite(factor) && factor > 1
      ? `Whether you are in the log changes the chance of anything by at most a factor ${factor.toPrecision(3)}.` : "";
  }

  function slide() {
    const epsilon = Number($("epsilon").value), delta = Number($("delta").value);
    if (epsilon > 0) $("epsilon-slider").value = Math.log10(epsilon);
    if (delta > 0) $("delta-slider").value = Math.log10(delta);
  }

  const estimateSoon = later(40, estimate), restSoon = later(350, () => { plan(); compare(); });
  function changed() { keep(); sayEpsilon(); estimateSoon(); restSoon(); }

  async function estimate() {
    const mine = ++round;
    $("answers").setAttribute("aria-busy", "true");
    const found = await ask("/api/estimate", question());
    if (mine !== round) return;
    $("answers").setAttribute("aria-busy", "false");
    show($("refused"), found.refused);
    $("found").classList.toggle("stale", Boolean(found.refused));
    $("glance").classList.toggle("stale", Boolean(found.refused));
    if (found.refused) return;
    last = found;
    draw();
  }

  function draw() {
    const names = Object.keys(last.tables);
    if (!names.length) { show($("refused"), "There is no quick estimate for these tables: ask hubbub estimate."); return; }
    if (!names.includes(shown)) shown = names[0];
    $("pick").replaceChildren(...(names.length > 1 ? names : []).map((name) => {
      const button = el("button", {type: "button", "aria-pressed": String(name === shown)}, name);
      button.addEventListener("click", () => { shown = name; keep(); draw(); $("pick").querySelector("[aria-pressed=true]").focus(); });
      return button;
    }));
    const t = last.tables[shown], threshold = last.thresholds[shown];
    const from = t.half === null ? "no key has an even chance" : `a key that ${t.half.toLocaleString("en")} users hold has an even chance`;
    $("summary").textContent = `About ${short(t.rows)} of ${short(t.keys)} ${shown} would be released, ${percent(t.searches)} of the ${shown === "clicks" ? "clicks" : "searches"}; ${from}.`;
    $("glance").textContent = `${short(t.rows)} of ${short(t.keys)} ${shown} · ${percent(t.searches)} of the ${shown === "clicks" ? "clicks" : "searches"} · ${$("mechanism").value}, ε ${$("epsilon").value}, δ ${$("delta").value}`;
    $("numbers").replaceChildren(
      fact(`${short(t.rows)} ± ${short(t.rows_sd)}`, `rows of ${shown} expected`),
      fact(threshold === undefined ? "–" : short(threshold), "threshold, in users after bounding"),
      fact(t.sure === null ? "–" : short(t.sure), "users for a 95 % chance"),
      fact(t.half_width === null ? "no counts" : "± " + (t.half_width < 10 ? t.half_width.toFixed(1) : short(t.half_width)), "noise of a count, 95 %"));
    $("warnings").replaceChildren(...last.warnings.map((text) => el("li", {class: "warning"}, text)));
    const others = shown === "queries" ? compared.filter((row) => row.curve && row.mechanism !== $("mechanism").value)
      .map((row) => ({...row.curve, colour: row.colour, strong: false})) : [];
    drawCurve($("curve"), [...others, {...t.curve, strong: true}], t.half, $("summary").textContent);
    drawBar($("volume"), [
      {name: "cut by the bounds", share: t.volume.bounding, text: percent(t.volume.bounding), colour: "c1"},
      {name: "falls to the threshold", share: t.volume.threshold, text: percent(t.volume.threshold), colour: "c6"},
      {name: "published", share: t.volume.published, text: percent(t.volume.published), colour: "c0"}]);
    if (t.error) {
      const root = (v) => (v < -0.005 ? "−" : "") + Math.sqrt(Math.abs(v)).toLocaleString("en", {maximumFractionDigits: 1});
      drawBar($("error"), [
        {name: "bounding, and the model that undoes it", share: Math.abs(t.error.bounding), text: root(t.error.bounding), colour: "c1"},
        {name: "noise", share: Math.abs(t.error.noise), text: root(t.error.noise), colour: "c0"},
        {name: "publishing only what passed", share: Math.abs(t.error.threshold), text: root(t.error.threshold), colour: "c6"}]);
      $("error").append(el("p", {class: "soft"}, `Together ± ${t.error.rms.toLocaleString("en", {maximumFractionDigits: 1})} users (root mean square); parts add up as squares.`));
    } else {
      $("error").replaceChildren(el("p", {class: "soft"}, t.rows < 1 ? "No row is expected." : "Keys are published without counts."));
    }
    $("later").textContent = last.later.length
      ? `No quick estimate for ${last.later.join(", ")}: they follow from what is released, and hubbub estimate simulates them.` : "";
  }

  function fact(number, words) { return el("div", {}, el("dt", {}, number), el("dd", {}, words)); }

  async function compare() {
    const mine = ++rivals, found = await ask("/api/compare", {epsilon: $("epsilon").value, delta: $("delta").value});
    if (found.refused || mine !== rivals) return;
    compared = found.rows;
    const body = $("compare").tBodies[0], own = $("mechanism").value;
    body.replaceChildren();
    const names = Object.keys(form.mechanisms);
    for (const row of compared) {
      row.colour = COLOURS[names.indexOf(row.mechanism) % 6];
      const button = el("button", {type: "button", class: "quiet"}, row.mechanism);
      button.addEventListener("click", () => choose(row));
      const swatch = el("i", {class: "swatch " + (row.mechanism === own ? "strong" : row.colour), "aria-hidden": "true"});
      const how = Object.entries(row.settings || {}).map(([k, v]) => `${k} = ${v}`).join(", ");
      const line = el("tr", {}, el("th", {scope: "row"}, swatch, button, el("span", {class: "soft"}, how)));
      if (row.problem) line.append(el("td", {colspan: "4", class: "soft"}, row.problem));
      else line.append(
        el("td", {class: "n"}, short(row.rows)),
        el("td", {class: "n"}, percent(row.searches)),
        el("td", {class: "n"}, row.half === null ? "–" : row.half.toLocaleString("en") + " users"),
        el("td", {class: "n"}, row.error ? "± " + (row.error.rms < 10 ? row.error.rms.toFixed(1) : short(row.error.rms)) : "no counts"));
      body.append(line);
    }
    if (last) draw();
  }

  function choose(row) {
    $("mechanism").value = current = row.mechanism;
    fill();
    for (const box of document.querySelectorAll("#tables input")) box.checked = box.value === "queries";
    for (const [name, value] of Object.entries(row.settings)) put(name, value);
    changed();
    $("mechanism").focus();
  }

  async function plan() {
    const mine = ++planned, found = await ask("/api/plan", question());
    if (mine !== planned) return;  // a later question was asked meanwhile
    if (found.refused) { show($("overcap"), found.refused); stop(); return; }
    $("claim").textContent = found.claim;
    const cap = found.cap ? `; the cap is ε = ${found.cap.epsilon}` : "; there is no cap";
    $("spends").textContent = `Population ${found.population}${found.new_population ? ", new to this ledger" : ""}: ε = ${found.before} at δ = ${found.delta} spent in ${found.releases} ${found.releases === 1 ? "release" : "releases"}, ε = ${found.after} at δ = ${found.after_delta} after this one${cap}.`;
    meter(found);
    show($("overcap"), found.refusal);
    stop();
    $("command").textContent = found.command;
    $("remarks").replaceChildren(...found.remarks.map((text) => el("li", {class: "warning"}, text)));
    confirming(found.confirm);
    $("why").replaceChildren(...found.why.map((why) => {
      const item = el("li", {}, el("strong", {}, why.step), ": " + why.sentence + ".");
      if (why.lower.length) item.append(" ", el("span", {class: "soft"}, "Lower: " + why.lower.join("; ") + "."));
      return item;
    }));
    $("gains").replaceChildren(...found.gains.map((text) => el("li", {}, text + ".")));
  }

  function confirming(asked) {
    for (const [flag, text] of Object.entries(asked)) {
      if (document.getElementById("confirm-" + flag)) continue;
      const box = el("input", {id: "confirm-" + flag, type: "checkbox", value: flag});
      box.addEventListener("change", plan);
      $("confirm").append(el("label", {class: "agree", for: box.id}, box, " " + text));
    }
  }

  function meter(found) {
    const most = Math.max(found.cap ? found.cap.epsilon : 0, found.after_value || 0) || 1;
    const bar = el("div", {class: "bar"});
    const parts = [["c6", found.before_value || 0], ["c0", Math.max(0, (found.after_value || 0) - (found.before_value || 0))]];
    parts.push(["rest", Math.max(0, most - (found.after_value || 0))]);
    for (const [colour, size] of parts) { const piece = el("span", {class: colour}); piece.style.flexGrow = String(size / most); bar.append(piece); }
    $("meter").replaceChildren(bar);
    $("meter").setAttribute("aria-label", $("spends").textContent);
  }

  counting((now) => { unread = now; keep(); stop(); });

  // ---------------------------------------------------------------- releasing

  function stop() { $("start").disabled = !$("overcap").hidden || running || unread; }

  const job = watching({
    mine: (found) => found.kind === "release" || found.state === "running",
    changed: (found) => { running = Boolean(found) && found.state === "running"; stop(); },
    ended: (found) => {
      if (found.kind !== "release") return;
      if (found.release && found.release === $("name").value) { $("name").value = following(found.release); keep(); }
      plan();
    },
  });

  function following(name) {
    const end = name.match(/^(.*?)(\d+)$/);
    return end ? end[1] + (Number(end[2]) + 1) : name + "-2";
  }

  $("release").addEventListener("submit", async (event) => {
    event.preventDefault();
    show($("job-error"), "");
    const found = await ask("/api/start", {...question(), agreed: $("agreed").checked});
    if (found.refused) { show($("overcap"), found.refused); return; }
    $("agreed").checked = false;
    show($("overcap"), "");
    job.watch();
    $("job").hidden = false;
    $("job").scrollIntoView({block: "nearest"});
  });
  $("copy").addEventListener("click", async () => {
    try { await navigator.clipboard.writeText($("command").textContent); $("copied").textContent = "Copied."; }
    catch { getSelection().selectAllChildren($("command")); $("copied").textContent = "Selected: copy it with the keyboard."; }
  });

  $("controls").addEventListener("submit", (event) => event.preventDefault());
  $("epsilon-slider").addEventListener("input", () => { $("epsilon").value = String(+(10 ** $("epsilon-slider").value).toPrecision(2)); changed(); });
  $("delta-slider").addEventListener("input", () => { $("delta").value = "1e" + $("delta-slider").value; changed(); });
  $("controls").addEventListener("input", (event) => {
    if (event.target.type === "range") return;
    if (event.target.id === "mechanism") { keep(); current = $("mechanism").value; fill(); }
    slide();
    changed();
  });
  const planSoon = later(300, plan), again = later(300, () => { plan(); estimate(); });
  $("release").addEventListener("input", (event) => {
    if (event.target.id === "agreed") return;
    keep();
    (event.target.id === "users-public" ? again : planSoon)();
  });
  addEventListener("resize", later(100, () => last && draw()));
  sayEpsilon();
  estimate().then(() => { plan(); compare(); });
}

reading();
correcting();
choosing();
