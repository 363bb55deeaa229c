// What runs in a process of its own: how far it is, what it said, what it cost, and the way to cancel it.
"use strict";
const WORDS = {reading: "reading the log", measuring: "bounding and counting", drawing: "drawing noise", writing: "writing", done: "done"};
const NAMES = {release: "The release", review: "The approval", report: "The report", evaluate: "The evaluation", export: "The export"};

// mine: whether a job is shown on this page; changed: told with each answer; ended: told when it is over
function watching({mine, changed = () => {}, ended = () => {}}) {
  let timer = null;

  function draw(job) {
    $("job").hidden = false;
    const name = NAMES[job.kind], running = job.state === "running";
    const said = {running: name + " is running", done: name + " is done", failed: name + " failed", cancelled: name + " was cancelled"};
    show($("job-title"), said[job.state] + (running && job.phase ? ": " + WORDS[job.phase] : ""));
    const at = job.phases.indexOf(job.phase);
    $("phases").replaceChildren(...job.phases.map((phase, i) => el("li", {class: i < at || job.state === "done" ? "past" : i === at ? job.state : ""}, WORDS[phase])));
    show($("job-told"), job.told + (job.now === undefined ? "" : ` Ledger: ε = ${job.before} before, ε = ${job.now} now.`));
    $("job-lines").textContent = job.lines.join("\n");
    const from = job.lines.findIndex((line) => line.startsWith("hubbub:"));
    if (!running) show($("job-error"), job.state === "failed" ? job.lines.slice(Math.max(from, 0)).join("\n") : "");
    $("job-all").open = $("job-all").open || (job.state === "done" && job.kind === "evaluate");
    $("cancel").hidden = !running || job.kind === "review";
    links(job);
  }

  function links(job) {
    const name = job.release || (job.state === "done" && job.kind !== "export" ? job.about : null);
    const to = (rest, text) => el("li", {}, el("a", {href: `${base}/releases/${encodeURIComponent(name)}${rest}`}, text));
    const items = [];
    if (name && job.state === "done") {
      if (job.kind === "release") {
        items.push(to("", "Open the release"), to("/review", "Review its rows"));
        if (!job.lines.some((line) => line.startsWith("A DRAFT"))) items.push(to("/report", "Report"), to("#evaluate", "Evaluate"), to("#export", "Export"));
      }
      if (job.kind === "review") items.push(to("", "Open the release that was approved"));
      if (["report", "evaluate"].includes(job.kind)) items.push(to("/report", "Open the report"));
    }
    $("job-links").replaceChildren(...items);
    $("job-links").hidden = !items.length;
  }

  async function watch() {
    clearTimeout(timer);
    const {job} = await ask("/api/job");
    if (!job || !mine(job)) { changed(job); return; }
    draw(job);
    changed(job);
    if (job.state === "running") timer = setTimeout(watch, 400);
    else ended(job);
  }

  $("cancel").addEventListener("click", async () => {
    $("cancel").disabled = true;
    const found = await ask("/api/cancel", {});
    $("cancel").disabled = false;
    if (found.refused) show($("job-error"), found.refused);
    watch();
  });
  watch();
  return {watch};
}
