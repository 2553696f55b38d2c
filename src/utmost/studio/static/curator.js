// The form of a plan: as it changes, the draft is sent once at a time and the newest answer is shown.
"use strict";

(() => {
  const form = document.getElementById("plan");
  if (!form) return;
  let isSending = false, hasChanged = false, shownUnit = protectedUnit();

  // queries.0.epsilon → {queries: [{epsilon}]}: the same names as in the API.
  function draftValues() {
    const content = {};
    for (const [name, value] of new FormData(form)) {
      if (typeof value !== "string" || !form.elements[name] || /^(csrf|do|new_)/.test(name)) continue;
      const path = name.split(".");
      let node = content;
      path.forEach((key, k) => {
        if (k === path.length - 1) node[key] = value;
        else node = node[key] ??= /^\d+$/.test(path[k + 1]) ? [] : {};
      });
    }
    return content;
  }

  async function updatePreview() {
    if (isSending) {
      hasChanged = true;
      return;
    }
    isSending = true;
    try {
      do {
        hasChanged = false;
        const { ok, content } = await studioForms.postJson(form.dataset.draft, draftValues());
        if (ok) showPreview(content);
        if (ok && content.counting) setTimeout(updatePreview, 700);
        if (!ok) studioForms.showProblem(form, content);
      } while (hasChanged);
      form.dataset.previews = String(Number(form.dataset.previews || 0) + 1);
    } catch {
      studioForms.showStatus("The studio does not answer: is it still running?");
    } finally {
      isSending = false;
    }
  }

  function showPreview(preview) {
    studioForms.showStatus("");
    for (const element of document.querySelectorAll("[data-draft-value]")) showValue(element, preview);
    const cost = form.querySelector(".cost");
    cost.classList.toggle("over-budget", preview.short);
    cost.querySelector("[data-meter]").value = spentShare(preview);
    const remarks = document.querySelector("[data-remarks]");
    remarks.replaceChildren(...preview.remarks.map((remark) => Object.assign(document.createElement("li"), { textContent: remark })));
    if (form.dataset.quiet === undefined) showProblems(preview.problems);
    preview.queries.forEach(showQuery);
  }

  function showValue(element, preview) {
    const name = element.dataset.draftValue, value = preview[name];
    if (value === null) element.removeAttribute("title");
    if (name === "plan") studioForms.fill(element, value ?? "It can be written down when every field is right.");
    else if (name !== "protects" || value || protectedUnit() !== shownUnit) studioForms.fill(element, value);
    if (name === "protects") shownUnit = protectedUnit();
  }

  // Whom the form protects: words about another unit must not stay.
  function protectedUnit() {
    return ["neighbours", "protects", "person", "keeps", "bound"].map((name) => form.elements[name].value).join("\n");
  }

  // How much of the budget is spent once this plan is released, for the eye alone.
  function spentShare(preview) {
    const toFloat = (number) => {
      const [numerator, denominator] = number.exact.split("/");
      return Number(numerator) / Number(denominator ?? 1);
    };
    if (!preview.limit || !preview.spent) return 0;
    const cost = preview.takes ?? preview.cost;
    return Math.min(1, (toFloat(preview.spent) + (cost ? toFloat(cost) : 0)) / toFloat(preview.limit));
  }

  function showQuery(query, k) {
    const fieldset = form.querySelector(`[data-query="${k}"]`);
    if (!fieldset) return;
    const figure = document.getElementById(`curve-${k}`);
    figure.classList.toggle("stale", !query);
    for (const element of fieldset.querySelectorAll("[data-query-value]")) {
      const name = element.dataset.queryValue, isNumber = name === "expected" || name === "half_width";
      studioForms.fill(element, query ? query[name] : isNumber ? "–" : "");
      if (!query) element.removeAttribute("title");
    }
    if (!query) {
      figure.querySelector("[data-words]").textContent = "The error over ε is drawn when the query is complete.";
      return;
    }
    studioCharts.draw(figure, query.picture).then(() => {
      figure.dataset.drawn = String(Number(figure.dataset.drawn || 0) + 1);
    });
  }

  // All problems at once, each beside its field.
  function showProblems(problems) {
    const messages = new Map();
    for (const { field, message } of problems) if (!messages.has(field ?? "")) messages.set(field ?? "", message);
    for (const errorElement of form.querySelectorAll("[data-error]")) {
      const name = errorElement.dataset.error, message = messages.get(name) ?? "";
      messages.delete(name);
      if (errorElement.textContent !== message) errorElement.textContent = message;
      if (name === "") errorElement.hidden = !message;
      const fieldBox = errorElement.closest("[data-field-of]");
      if (!fieldBox) continue;
      fieldBox.classList.toggle("wrong", Boolean(message));
      for (const field of fieldBox.querySelectorAll("[name]")) {
        if (message) field.setAttribute("aria-invalid", "true");
        else field.removeAttribute("aria-invalid");
      }
    }
    studioForms.showStatus([...messages.values()].join(" "));
  }

  // Whether a field is not as the page came: typed before this script ran, or restored by the browser, without an event.
  function isEdited(element) {
    if (!element.name || element.name.startsWith("new_")) return false;
    if (element instanceof HTMLSelectElement) {
      const isChosenByPage = [...element.options].some((option) => option.defaultSelected);
      return isChosenByPage ? [...element.options].some((option) => option.selected !== option.defaultSelected) : element.selectedIndex > 0;
    }
    if (element.type === "checkbox" || element.type === "radio") return element.checked !== element.defaultChecked;
    return "defaultValue" in element && element.value !== element.defaultValue;
  }

  form.addEventListener("input", (event) => {
    if (event.target.name?.startsWith("new_")) return;
    delete form.dataset.quiet;
    if (event.target.name?.endsWith(".kind") && event.target.name.startsWith("queries.")) {
      for (const element of event.target.closest("[data-query]").querySelectorAll("[data-kinds]")) {
        element.hidden = !element.dataset.kinds.split(" ").includes(event.target.value);
      }
    }
    updatePreview();
  });
  // A download leaves the page where it is, and its buttons usable.
  form.addEventListener("submit", (event) => {
    if (!event.submitter || event.submitter.dataset.download === undefined) return;
    setTimeout(() => form.querySelectorAll("button").forEach((button) => (button.disabled = false)), 800);
  });
  document.addEventListener("DOMContentLoaded", () => {
    if ([...form.elements].some(isEdited)) delete form.dataset.quiet;
    updatePreview();
  });
})();
