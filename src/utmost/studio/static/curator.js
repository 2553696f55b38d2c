// The form of a plan: as it changes, the draft is sent once at a time and the newest answer is shown.
"use strict";

(() => {
  const form = document.getElementById("plan");
  if (!form) return;
  let asking = false, changed = false, protectedAs = unit();

  // queries.0.epsilon → {queries: [{epsilon}]}: the same names as in the API.
  function draft() {
    const content = {};
    for (const [name, value] of new FormData(form)) {
      if (typeof value !== "string" || !form.elements[name] || /^(csrf|do|new_)/.test(name)) continue;
      const path = name.split(".");
      let place = content;
      path.forEach((key, k) => {
        if (k === path.length - 1) place[key] = value;
        else place = place[key] ??= /^\d+$/.test(path[k + 1]) ? [] : {};
      });
    }
    return content;
  }

  async function look() {
    if (asking) {
      changed = true;
      return;
    }
    asking = true;
    try {
      do {
        changed = false;
        const { ok, found } = await studioForms.send(form.dataset.draft, draft());
        if (ok) show(found);
        if (ok && found.counting) setTimeout(look, 700);
        if (!ok) studioForms.complain(form, found);
      } while (changed);
      form.dataset.seen = String(Number(form.dataset.seen || 0) + 1);
    } catch {
      studioForms.tell("The studio does not answer: is it still running?");
    } finally {
      asking = false;
    }
  }

  function show(seen) {
    studioForms.tell("");
    for (const place of document.querySelectorAll("[data-s]")) shown(place, seen);
    const cost = form.querySelector(".cost");
    cost.classList.toggle("short", seen.short);
    cost.querySelector("[data-meter]").value = share(seen);
    const remarks = document.querySelector("[data-remarks]");
    remarks.replaceChildren(...seen.remarks.map((words) => Object.assign(document.createElement("li"), { textContent: words })));
    if (form.dataset.quiet === undefined) complain(seen.problems);
    seen.queries.forEach(query);
  }

  function shown(place, seen) {
    const name = place.dataset.s, value = seen[name];
    if (value === null) place.removeAttribute("title");
    if (name === "plan") studioForms.fill(place, value ?? "It can be written down when every field is right.");
    else if (name !== "protects" || value || unit() !== protectedAs) studioForms.fill(place, value);
    if (name === "protects") protectedAs = unit();
  }

  // Whom the form protects: words about another unit must not stay.
  function unit() {
    return ["neighbours", "protects", "person", "keeps", "bound"].map((name) => form.elements[name].value).join("\n");
  }

  // How much of the budget is spent once this plan is released, for the eye alone.
  function share(seen) {
    const number = (shown) => {
      const [above, below] = shown.exact.split("/");
      return Number(above) / Number(below ?? 1);
    };
    if (!seen.limit || !seen.spent) return 0;
    const cost = seen.takes ?? seen.cost;
    return Math.min(1, (number(seen.spent) + (cost ? number(cost) : 0)) / number(seen.limit));
  }

  function query(told, k) {
    const place = form.querySelector(`[data-query="${k}"]`);
    if (!place) return;
    const figure = document.getElementById(`curve-${k}`);
    figure.classList.toggle("stale", !told);
    for (const element of place.querySelectorAll("[data-q]")) {
      const name = element.dataset.q, number = name === "expected" || name === "half_width";
      studioForms.fill(element, told ? told[name] : number ? "–" : "");
      if (!told) element.removeAttribute("title");
    }
    if (!told) {
      figure.querySelector("[data-words]").textContent = "The error over ε is drawn when the query is complete.";
      return;
    }
    studioCharts.draw(figure, told.picture).then(() => {
      figure.dataset.drawn = String(Number(figure.dataset.drawn || 0) + 1);
    });
  }

  // All problems at once, each beside its field.
  function complain(problems) {
    const words = new Map();
    for (const { field, message } of problems) if (!words.has(field ?? "")) words.set(field ?? "", message);
    for (const place of form.querySelectorAll("[data-error]")) {
      const name = place.dataset.error, message = words.get(name) ?? "";
      words.delete(name);
      if (place.textContent !== message) place.textContent = message;
      if (name === "") place.hidden = !message;
      const holder = place.closest("[data-field-of]");
      if (!holder) continue;
      holder.classList.toggle("wrong", Boolean(message));
      for (const field of holder.querySelectorAll("[name]")) {
        if (message) field.setAttribute("aria-invalid", "true");
        else field.removeAttribute("aria-invalid");
      }
    }
    studioForms.tell([...words.values()].join(" "));
  }

  form.addEventListener("input", (event) => {
    if (event.target.name?.startsWith("new_")) return;
    delete form.dataset.quiet;
    if (event.target.name?.endsWith(".kind") && event.target.name.startsWith("queries.")) {
      event.target.closest("[data-query]").dataset.kind = event.target.value;
    }
    look();
  });
  // A download leaves the page where it is, and its buttons usable.
  form.addEventListener("submit", (event) => {
    if (!event.submitter || event.submitter.dataset.stays === undefined) return;
    setTimeout(() => form.querySelectorAll("button").forEach((button) => (button.disabled = false)), 800);
  });
  document.addEventListener("DOMContentLoaded", look);
})();
