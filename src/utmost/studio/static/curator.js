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
    for (const element of document.querySelectorAll("[data-draft-if]")) element.hidden = !preview[element.dataset.draftIf];
    showColumns(preview);
    if (form.dataset.quiet === undefined) showProblems(preview.problems);
    preview.queries.forEach(showQuery);
  }

  // The columns that can be chosen: new ones come and go as they are typed. What is chosen stays.
  function showColumns(preview) {
    const names = preview.columns.map((column) => column.name);
    if (!names.length) return;
    const numbers = preview.columns.filter((column) => ["integer", "number"].includes(column.kind)).map((column) => column.name);
    for (const select of form.querySelectorAll("select[data-columns=any]")) offerColumns(select, names);
    for (const select of form.querySelectorAll("select[data-columns=number]")) offerColumns(select, numbers);
    preview.public_columns.forEach((columns, k) => {
      const lookup = form.querySelector(`[data-lookup="${k}"]`);
      for (const select of lookup?.querySelectorAll("select[data-columns=public]") ?? []) {
        offerColumns(select, columns.map((column) => column.name));
      }
    });
  }

  function offerColumns(select, names) {
    const chosen = select.value, offered = chosen && !names.includes(chosen) ? [...names, chosen] : names;
    const [empty, ...options] = select.options;
    if (options.length === offered.length && options.every((option, k) => option.value === offered[k])) return;
    select.replaceChildren(empty, ...offered.map((name) => new Option(name, name)));
    select.value = chosen;
  }

  // The fields that belong to what is chosen in a query: its kind, the way it is asked of cells, its price.
  function showFields(fieldset) {
    const value = (name) => fieldset.querySelector(`select[name$=".${name}"]`).value;
    const kind = value("kind"), ways = fieldset.querySelector('select[name$=".cells"]');
    for (const option of ways.querySelectorAll("option[data-kinds]")) {
      option.hidden = option.disabled = !option.dataset.kinds.split(" ").includes(kind);
      if (option.disabled && option.selected) ways.value = "";
    }
    for (const element of fieldset.querySelectorAll("div[data-kinds]")) {
      const kinds = element.dataset.kinds.split(" ");
      element.hidden = !kinds.includes(kind) && !kinds.includes(`${kind}/${ways.value}`);
    }
    for (const element of fieldset.querySelectorAll("[data-price]")) {
      element.hidden = !element.dataset.price.split(" ").includes(value("price"));
    }
    if (value("price") === "share") form.querySelector(".whole-price").open = true;
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
    for (const element of fieldset.querySelectorAll("[data-query-if]")) element.hidden = !query?.[element.dataset.queryIf];
    for (const element of fieldset.querySelectorAll("[data-query-value]")) {
      const name = element.dataset.queryValue, isNumber = ["expected", "half_width", "epsilon", "delta"].includes(name);
      studioForms.fill(element, query ? query[name] : isNumber ? "–" : "");
      if (!query) element.removeAttribute("title");
    }
    if (!query) {
      showNoCurve(figure);
      return;
    }
    studioCharts.draw(figure, query.picture).then(() => {
      figure.dataset.drawn = String(Number(figure.dataset.drawn || 0) + 1);
      if (figure.classList.contains("stale")) showNoCurve(figure); // it was drawn after the query had become wrong
    });
  }

  function showNoCurve(figure) {
    figure.querySelector("[data-words]").textContent = "The error over ε is drawn when the query is complete.";
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
    const query = event.target.closest("[data-query]"), lookup = event.target.closest("[data-lookup]");
    if (query && event.target instanceof HTMLSelectElement) showFields(query);
    if (lookup && event.target.name.endsWith(".location")) {
      const isCsv = event.target.value.toLowerCase().endsWith(".csv");
      for (const element of lookup.querySelectorAll("[data-csv]")) element.hidden = !isCsv;
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
    form.querySelectorAll("[data-query]").forEach(showFields);
    updatePreview();
  });
})();
