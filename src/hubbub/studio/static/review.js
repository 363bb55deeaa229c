// The review of a release: drawn rows with their flags, what is struck and why, and the approval.
"use strict";
{
  const name = document.querySelector("main[data-release]").dataset.release;
  const about = "/api/releases/" + encodeURIComponent(name);
  let seen = "", standing = null, deciding = null, approving = false, sent = 0;

  const wanted = () => Object.fromEntries(["text", "table", "only", "flag"].map((id) => [id, $(id).value]));
  const list = virtualList($("rows"), {
    fetched: (from, count) => ask(`${about}/rows?` + new URLSearchParams({...wanted(), from, count})),
    drawn: drawRow,
    told: (found) => {
      show($("hits"), found ? `${number(found)} ${found === 1 ? "row" : "rows"}` : "No row is like that.");
      $("strike-shown").disabled = !found || approving;
    },
  });

  function drawRow(row) {
    const gone = row.with !== "";
    const words = [el("span", {class: "key", dir: "auto"}, row.key), ...(row.second ? [el("span", {class: "second", dir: "auto"}, row.second)] : [])];
    const what = gone ? (row.reason ? `struck: ${row.reason}` : row.with) : row.flags.join(", ");
    const counted = row.value === null ? "" : ` · about ${number(row.value)}`;
    const button = el("button", {type: "button", "aria-label": `${row.reason ? "change or take back the strike of" : "strike"} ${row.key} ${row.second}`.trim()}, row.reason ? "Change" : "Strike");
    button.disabled = approving || (gone && !row.reason);
    button.addEventListener("click", () => decide(row, `${row.key}${row.second ? " → " + row.second : ""}`, row.flags));
    return [el("div", {class: gone ? "row gone" : "row"}, el("p", {class: "texts"}, ...words),
      el("p", {class: "said"}, el("span", {class: "soft"}, row.table + counted), " ", el("span", {class: gone ? "struck" : "flags"}, what))), button];
  }

  // ---------------------------------------------------------------- how it stands

  function stand(found) {
    standing = found;
    seen = found.version;
    $("sizes").tBodies[0].replaceChildren(...Object.entries(found.tables).map(([table, of]) => {
      const button = el("button", {type: "button", class: "quiet", "aria-label": of.whole ? `Take ${table} back` : `Strike ${table} …`}, of.whole ? "Take back" : "Strike …");
      button.disabled = approving;
      button.addEventListener("click", () => decide({table, key: "", second: "", reason: of.whole}, `The whole table ${table}: ${number(of.rows)} rows`, []));
      return el("tr", {}, el("th", {scope: "row"}, table), ...[of.rows, of.flagged, of.struck].map((n) => el("td", {class: "n"}, number(n))),
        el("td", {}, button, of.whole ? el("span", {class: "soft"}, of.whole) : ""));
    }));
    options($("table"), Object.keys(found.tables).map((table) => [table, table]));
    options($("flag"), Object.entries(found.flags).map(([flag, n]) => [flag, `${flag === "near" ? "near another" : flag} (${number(n)})`]));
    $("reasons").replaceChildren(...found.reasons.map((reason) => el("option", {value: reason})));
    const parts = Object.entries(found.tables).filter(([, of]) => of.struck).map(([table, of]) => `${number(of.struck)} of ${number(of.rows)} ${table}`);
    show($("would"), parts.length ? `Struck: ${parts.join(", ")}. The rest goes out as it was drawn.` : "Nothing is struck: every row goes out as it was drawn.");
    if (found.approved) show($("not-approved"), `This draft was approved already: see ${found.approved}.`);
    $("approve-it").disabled = approving || Boolean(found.approved);
  }

  function options(select, pairs) {
    const now = select.value || select.dataset.before || "";
    select.replaceChildren(select.options[0], ...pairs.map(([value, text]) => el("option", {value}, text)));
    putValue(select, now);
  }

  async function look() {
    const before = sent, found = await ask(`${about}/review`);
    if (before !== sent || sent % 2) { setTimeout(look, 500); return; }  // a decision of ours was on its way
    if (found.refused || found.problem) { $("looking").hidden = true; show($("refused"), found.refused || found.problem); if (!found.silent) return; }
    else if (!found.ready) { setTimeout(look, 300); return; }
    else if ($("review").hidden) {
      $("looking").hidden = true;
      $("review").hidden = false;
      stand(found);
      keepFields();
      await list.begin();
    } else if (found.version !== seen) {
      stand(found);
      show($("news"), "Somebody else changed what is struck: this is how it stands now.");
      await list.again();
    } else {
      show($("refused"), "");
      if (found.approved && !standing.approved) stand(found);
    }
    setTimeout(look, 2500);
  }

  // ---------------------------------------------------------------- deciding

  function decide(row, text, flags) {
    deciding = row;
    show($("deciding-what"), row.shown ? "Strike all of these?" : row.reason ? "It is struck" : row.key ? "Strike this row?" : "Strike this table?");
    show($("deciding-text"), text);
    show($("deciding-flags"), flags.join(", "));
    $("reason").value = row.reason || kept.read().reason || "";
    $("take-back").hidden = !row.reason;
    $("do-strike").textContent = row.reason ? "Change the reason" : "Strike";
    show($("undecided"), "");
    $("deciding").showModal();
    $("reason").focus();
    $("reason").select();
  }

  async function send(reason) {
    const {table, key, second, shown, reason: was} = deciding;
    sent++;
    const found = await ask(`${about}/strike`, shown ? {shown, reason} : {table, key, second, reason, was});
    sent++;
    if (found.refused) { show($("undecided"), found.refused); const now = await ask(`${about}/review`); if (now.ready) { stand(now); await list.again(); } return; }
    stand(found);
    show($("news"), shown ? `${number(found.struck)} ${found.struck === 1 ? "row was" : "rows were"} struck.` : "");
    $("deciding").close();
    await list.again();
  }

  $("decision").addEventListener("submit", (event) => {
    event.preventDefault();
    const reason = $("reason").value.trim();
    if (!reason) { show($("undecided"), "Say why: the card will state it."); $("reason").focus(); return; }
    kept.write({...kept.read(), reason});
    send(reason);
  });
  $("take-back").addEventListener("click", () => send(""));
  $("leave").addEventListener("click", () => $("deciding").close());
  $("deciding").addEventListener("close", () => { if (deciding.table && deciding.key) list.focus(); });
  $("strike-shown").addEventListener("click", () => decide({shown: wanted(), reason: ""}, `${$("hits").textContent} that the filter shows; what is struck already stays as it is.`, []));

  const filtered = later(150, () => list.begin());
  $("filter").addEventListener("submit", (event) => event.preventDefault());
  $("filter").addEventListener("input", filtered);

  // ---------------------------------------------------------------- approving

  const job = watching({
    mine: (found) => found.kind === "review" && found.about === name,
    changed: (found) => {
      const now = Boolean(found) && found.state === "running" && found.kind === "review" && found.about === name;
      if (now === approving) return;
      approving = now;
      if (standing) { stand(standing); list.again(); }
    },
  });
  $("approve").addEventListener("submit", async (event) => {
    event.preventDefault();
    show($("not-approved"), "");
    const found = await ask(`${about}/approve`, {by: $("by").value, name: $("out").value, seen});
    if (found.refused) { show($("not-approved"), found.refused); return; }
    job.watch();
    $("job").hidden = false;
    $("job").scrollIntoView({block: "nearest"});
  });
  look();
}
