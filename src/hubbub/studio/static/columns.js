"use strict";
// The page of an unknown file: what is chosen stays chosen, also when it is refused or the page is loaded again.
{
  const boxes = [...document.querySelectorAll("#columns select")];
  const before = kept.read();
  for (const box of boxes) if (box.name in before) putValue(box, before[box.name]);
  const chosen = () => Object.fromEntries(boxes.map((box) => [box.name, box.value]));
  $("columns").addEventListener("change", () => kept.write(chosen()));

  $("columns").noValidate = true; // the refusal says why, in place
  $("columns").addEventListener("submit", async (event) => {
    event.preventDefault();
    $("read").disabled = true;
    show($("refused"), "");
    const found = await ask("/api/columns", {columns: chosen()});
    $("read").disabled = false;
    if (!found.refused) { location.reload(); return; }
    show($("refused"), found.refused);
    (boxes.find((box) => box.required && !box.value) ?? $("read")).focus();
  });
}
