// Forms: sliders beside exact numbers, live previews, errors beside their fields, one click for one submission, jobs.
"use strict";

const studioForms = (() => {
  const GATHER_MS = 15; // milliseconds in which changes are gathered
  const problemsByForm = new WeakMap(); // form → element that shows it → problem

  // Runs an action soon after a change, one at a time; a change while it runs makes it run once more.
  function coalesce(action) {
    let timer = 0, busy = false, again = false;
    const run = async () => {
      timer = 0;
      if (busy) {
        again = true;
        return;
      }
      busy = true;
      try {
        await action();
      } finally {
        busy = false;
        if (again) {
          again = false;
          run();
        }
      }
    };
    return () => {
      timer ||= setTimeout(run, GATHER_MS);
    };
  }

  // The address with the form's values as its query; files and the CSRF token stay at home.
  function addressWithValues(path, form) {
    if (!form) return path;
    const url = new URL(path, location.href);
    for (const [name, value] of new FormData(form)) {
      if (typeof value === "string" && name !== "csrf") url.searchParams.append(name, value);
    }
    return url;
  }

  // Shows a problem {field, message} beside its field, or takes back what the same source showed before.
  function showProblem(form, newProblem, source = form) {
    const root = form ?? document;
    const problems = problemsByForm.get(root) ?? new Map();
    problemsByForm.set(root, problems.set(source, newProblem));
    const problem = [...problems.values()].find((entry) => entry) ?? null;
    for (const errorElement of root.querySelectorAll("[data-error]")) {
      const isHere = problem && (problem.field ?? "") === errorElement.dataset.error;
      if (errorElement.dataset.error === "") errorElement.hidden = !isHere;
      const message = isHere ? problem.message : "";
      if (errorElement.textContent !== message) errorElement.textContent = message;
      const fieldBox = errorElement.closest("[data-field-of]");
      if (fieldBox) {
        fieldBox.classList.toggle("wrong", Boolean(isHere));
        for (const field of fieldBox.querySelectorAll("[name]")) {
          if (isHere) field.setAttribute("aria-invalid", "true");
          else field.removeAttribute("aria-invalid");
        }
      }
    }
    const names = [...root.querySelectorAll("[data-error]")].map((errorElement) => errorElement.dataset.error);
    if (problem && !names.includes(problem.field ?? "")) showStatus(problem.message);
    else if (!problem) showStatus("");
  }

  function showStatus(message) {
    const status = document.querySelector("[data-status]");
    if (status && status.textContent !== message) status.textContent = message;
  }

  // A value into an element: a text, or {text, exact}.
  function fill(element, value) {
    const isNumber = value && typeof value === "object";
    const text = isNumber ? value.text : value === null || value === undefined ? "–" : String(value);
    if (element.textContent !== text) element.textContent = text;
    if (isNumber) {
      element.title = `exactly ${value.exact.length > 120 ? `${value.exact.slice(0, 120)}…` : value.exact}`;
      element.classList.add("number");
    }
  }

  function valueAt(content, path) {
    return path.split(".").reduce((node, key) => (node === null || node === undefined ? node : node[key]), content);
  }

  // <section data-live="/api/…" data-form="id">: its [data-value="a.b"] show the answer's a.b as the form changes.
  async function refresh(region) {
    region.pendingRequest?.abort();
    const request = (region.pendingRequest = new AbortController());
    const form = document.getElementById(region.dataset.form);
    try {
      const response = await fetch(addressWithValues(region.dataset.live, form), { signal: request.signal });
      const content = await response.json();
      if (request.signal.aborted) return;
      showProblem(form, response.ok ? null : content, region);
      region.classList.toggle("stale", !response.ok);
      if (!response.ok) return;
      for (const element of region.querySelectorAll("[data-value]")) fill(element, valueAt(content, element.dataset.value));
      region.dispatchEvent(new CustomEvent("answered", { detail: content }));
    } catch (error) {
      if (error.name !== "AbortError") showStatus("The studio does not answer: is it still running?");
    }
  }

  function connectSlider(range) {
    const field = document.getElementById(range.dataset.sliderFor);
    const low = Number(range.dataset.low), high = Number(range.dataset.high);
    const isLog = range.dataset.scale === "log";
    const step = range.dataset.step === "any" ? 0 : Number(range.dataset.step);
    const max = Number(range.max);
    const fraction = (value) => (isLog ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low));
    const parseNumber = (text) => {
      const [numerator, denominator] = text.split("/");
      return denominator === undefined ? Number(text) : Number(numerator) / Number(denominator);
    };
    const updateRange = () => {
      const value = parseNumber(field.value);
      if (Number.isFinite(value)) range.value = String(Math.round(max * Math.min(1, Math.max(0, fraction(value)))));
      range.setAttribute("aria-valuetext", field.value);
    };
    const updateField = () => {
      const t = Number(range.value) / max;
      const value = isLog ? low * (high / low) ** t : low + t * (high - low);
      const rounded = step ? Math.min(high, Math.max(low, Math.round(value / step) * step)) : value;
      field.value = String(Number(rounded.toPrecision(step ? 12 : 2)));
      range.setAttribute("aria-valuetext", field.value);
      field.dispatchEvent(new Event("input", { bubbles: true }));
    };
    range.addEventListener("input", (event) => {
      event.stopPropagation();
      updateField();
    });
    field.addEventListener("input", updateRange);
    updateRange();
  }

  function disableOnSubmit(form) {
    form.addEventListener("submit", () => {
      for (const button of form.querySelectorAll("button")) setTimeout(() => (button.disabled = true), 0);
    });
    window.addEventListener("pageshow", () => {
      for (const button of form.querySelectorAll("button")) button.disabled = false;
    });
  }

  // <section data-job="/api/jobs/…">: progress and bounds until the job is over, then its page.
  async function watchJob(section) {
    const finalStates = ["done", "failed", "cancelled", "interrupted"];
    while (!finalStates.includes(section.dataset.state)) {
      await new Promise((resolve) => setTimeout(resolve, 500));
      const response = await fetch(section.dataset.job).catch(() => null);
      if (!response || !response.ok) continue;
      const job = await response.json();
      showJob(section, job);
      if (job.state === "done" && section.dataset.page) location.assign(section.dataset.page);
    }
  }

  function showJob(section, job) {
    section.dataset.state = job.state;
    const badge = section.querySelector("[data-job-state]");
    badge.textContent = job.state;
    badge.className = `badge ${job.state}`;
    section.querySelector("[data-job-words]").textContent = job.error ?? job.words;
    section.querySelector("[data-job-lower]").textContent = job.lower ?? "–";
    section.querySelector("[data-job-upper]").textContent = job.upper ?? "–";
    const bar = section.querySelector("[data-job-bar]");
    if (job.total) {
      bar.max = job.total;
      bar.value = job.done ?? 0;
    }
    const isOver = !["waiting", "running"].includes(job.state);
    if (isOver && job.state !== "done") bar.value = bar.value || 0;
    section.querySelector("[data-job-page]").hidden = job.state !== "done";
    const cancel = section.querySelector("[data-job-cancel]");
    if (cancel) cancel.hidden = isOver;
  }

  // Sends JSON with the session's CSRF token; returns the parsed answer, its status, and whether it went well.
  async function postJson(path, data) {
    const token = document.querySelector("meta[name=csrf]").content;
    const headers = { "content-type": "application/json", "x-csrf-token": token };
    const response = await fetch(path, { method: "POST", headers, body: JSON.stringify(data) });
    return { ok: response.ok, status: response.status, content: await response.json() };
  }

  function start() {
    for (const range of document.querySelectorAll("input[data-slider-for]")) connectSlider(range);
    for (const form of document.querySelectorAll("form[method=post]")) disableOnSubmit(form);
    for (const region of document.querySelectorAll("[data-live]")) {
      const form = document.getElementById(region.dataset.form);
      form.addEventListener("input", coalesce(() => refresh(region)));
      if (region.dataset.loadNow !== undefined) refresh(region);
    }
    for (const section of document.querySelectorAll("[data-job]")) watchJob(section);
    document.querySelector(".wrong [name]")?.focus();
  }

  document.addEventListener("DOMContentLoaded", start);
  return { coalesce, addressWithValues, showProblem, fill, refresh, postJson, showStatus };
})();
