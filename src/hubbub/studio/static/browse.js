// One release: its queries, what hangs on them, and the commands that follow it.
"use strict";
function browsing() {
  const main = document.querySelector("main[data-release]");
  if (!$("search")) return;
  const address = "/api/releases/" + encodeURIComponent(main.dataset.release);
  let round = 0;

  async function search() {
    const mine = ++round;
    const found = await ask(address + "/search?q=" + encodeURIComponent($("q").value));
    if (mine !== round) return;
    if (found.refused) { $("hits").textContent = found.refused; return; }
    const shown = found.rows.length < found.found ? `, the first ${found.rows.length} shown` : "";
    $("hits").textContent = `${found.found.toLocaleString("en")} released ${found.found === 1 ? "query" : "queries"}${shown}.`;
    $("results").replaceChildren(...found.rows.map((row) =>
      el("li", {}, asking(row.query), found.counted ? el("span", {class: "soft"}, `about ${row.users.toLocaleString("en")} users`) : "")));
  }

  function asking(query) {
    const button = document.createElement("button");
    button.type = "button"; button.className = "quiet"; button.textContent = query;
    button.addEventListener("click", () => around(query));
    return button;
  }

  async function around(query) {
    const found = await ask(address + "/around?q=" + encodeURIComponent(query));
    if (found.refused) { $("hits").textContent = found.refused; return; }
    $("around").hidden = false;
    $("h-around").textContent = "Around “" + query + "”";
    const none = () => el("li", {class: "soft"}, "nothing released");
    const put = (id, items) => $(id).replaceChildren(...(items.length ? items : [none()]));
    put("suggested", found.suggested.map((text) => el("li", {}, asking(text))));
    put("next", found.next.map((row) => el("li", {}, asking(row.text), " ", el("span", {class: "soft"}, `about ${row.users} users`))));
    put("alike", found.alike.map((row) => el("li", {}, asking(row.text), " ", el("span", {class: "soft"}, `likeness ${row.likeness.toFixed(2)}`))));
    put("urls", found.urls.map((row) => el("li", {class: "url"}, row.text, " ", el("span", {class: "soft"}, `about ${row.users} users`))));
    $("h-around").focus();
  }

  $("search").addEventListener("submit", (event) => { event.preventDefault(); search(); });
  $("q").addEventListener("input", later(120, search));
  search();
}

// ------------------------------------------------------------------ what follows a release: commands of its own

function following() {
  const name = document.querySelector("main[data-release]").dataset.release;
  const about = "/api/releases/" + encodeURIComponent(name);
  keepFields();
  for (const form of document.querySelectorAll("form[data-run]")) {
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      const refused = form.querySelector(".refusal");
      show(refused, "");
      const asked = {kind: form.dataset.run, to: $("to").value, name: $("export-name").value};
      asked.tasks = [...form.querySelectorAll("input[name=task]:checked")].map((box) => box.value);
      const found = await ask(about + "/run", asked);
      if (found.refused) { show(refused, found.refused); return; }
      job.watch();
      $("job").scrollIntoView({block: "nearest"});
    });
  }
  $("to").addEventListener("change", () => { $("export-name").value = name + "-" + $("to").value; });
}

const job = watching({
  mine: (found) => found.kind !== "release" && found.about === document.querySelector("main[data-release]").dataset.release,
  ended: (found) => {
    if (found.state === "done" && found.kind !== "export") $("report-link").hidden = false;
  },
});
if (document.querySelector("form[data-run]")) following();
browsing();
