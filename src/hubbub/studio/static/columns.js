"use strict";
// The page of an unknown file: what is chosen stays chosen, also when it is refused or the page is loaded again.
{
  const base = document.body.dataset.base;
  const at = (id) => document.getElementById(id);
  const boxes = [...document.querySelectorAll("#columns select")];
  const kept = JSON.parse(sessionStorage.getItem(base) ?? "{}");
  for (const box of boxes) {
    if (box.name in kept) box.value = kept[box.name];
    if (box.selectedIndex < 0) box.value = "";
  }
  const chosen = () => Object.fromEntries(boxes.map((box) => [box.name, box.value]));
  at("columns").addEventListener("change", () => sessionStorage.setItem(base, JSON.stringify(chosen())));
  const refuse = (text) => {
    at("refused").textContent = text;
    at("refused").hidden = !text;
  };

  at("columns").noValidate = true; // the refusal says why, in place
  at("columns").addEventListener("submit", async (event) => {
    event.preventDefault();
    at("read").disabled = true;
    refuse("");
    try {
      const answer = await fetch(`${base}/api/columns`, {
        method: "POST",
        headers: { "content-type": "application/json", "x-hubbub-studio": base.slice(1) },
        body: JSON.stringify({ columns: chosen() }),
      });
      const found = await answer.json();
      if (!found.refused) location.reload();
      else {
        refuse(found.refused);
        (boxes.find((box) => box.required && !box.value) ?? at("read")).focus();
      }
    } catch {
      refuse("The studio does not answer: is its process still running?");
    } finally {
      at("read").disabled = false;
    }
  });
}
