/* The ledger's filters: what is chosen stands in the address, and a line that the address names is opened. */
"use strict";

document.addEventListener("DOMContentLoaded", () => {
  const form = /** @type {HTMLFormElement} */ (document.querySelector(".ledger-filters"));
  const lines = /** @type {any[]} */ ([...document.querySelectorAll(".ledger-line")]);
  const count = /** @type {any} */ (form.querySelector("output"));
  const texts = new Map(lines.map((line) => [line, line.textContent.toLowerCase()]));
  const fields = /** @type {any[]} */ ([...form.querySelectorAll("select, input")]);

  function matches(line) {
    return fields.every(({ name, value }) => {
      const asked = value.trim().toLowerCase();
      if (name === "words") return asked.split(/\s+/).every((word) => texts.get(line).includes(word));
      return !asked || line.dataset[name].split(" ").includes(asked);
    });
  }

  function show() {
    for (const line of lines) line.hidden = !matches(line);
    const shown = lines.filter((line) => !line.hidden).length;
    count.textContent = count.dataset.shown.replace("{shown}", String(shown)).replace("{all}", String(lines.length));
  }

  function remember() {
    const chosen = new URLSearchParams(fields.filter(({ value }) => value.trim()).map(({ name, value }) => [name, value.trim()]));
    const query = String(chosen);
    try { history.replaceState(null, "", location.pathname + (query && "?" + query) + location.hash); } catch { /* from a disk, in some browsers */ }
  }

  function recall() {
    const asked = new URLSearchParams(location.search);
    for (const field of fields) {
      field.value = asked.get(field.name) ?? "";
      if (field.selectedIndex === -1) field.value = ""; // an option that does not exist
    }
    show();
  }

  function openNamed() {
    const line = lines.find(({ id }) => "#" + id === decodeURIComponent(location.hash));
    if (!line) return;
    if (line.hidden) { form.reset(); }
    line.open = true;
    line.scrollIntoView({ block: "start" });
  }

  form.hidden = false;
  form.addEventListener("input", () => { show(); remember(); });
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(() => { show(); remember(); }));
  window.addEventListener("hashchange", openNamed);
  window.addEventListener("popstate", recall);
  recall();
  openNamed();
});
