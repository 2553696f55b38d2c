// Forms: sliders beside exact numbers, live previews, errors beside their fields, one click for one submission, jobs.
"use strict";

const studioForms = (() => {
  const WAIT = 15; // milliseconds in which changes are gathered
  const complaints = new WeakMap(); // form → who complains → problem

  // Runs an action soon after a change, one at a time; a change while it runs makes it run once more.
  function soon(action) {
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
      timer ||= setTimeout(run, WAIT);
    };
  }

  // The address with the form's values as its query; files and the CSRF token stay at home.
  function address(path, form) {
    if (!form) return path;
    const url = new URL(path, location.href);
    for (const [name, value] of new FormData(form)) {
      if (typeof value === "string" && name !== "csrf") url.searchParams.append(name, value);
    }
    return url;
  }

  // Shows a problem {field, message} beside its field, or takes back what the same source showed before.
  function complain(form, found, source = form) {
    const root = form ?? document;
    const known = complaints.get(root) ?? new Map();
    complaints.set(root, known.set(source, found));
    const problem = [...known.values()].find((one) => one) ?? null;
    for (const place of root.querySelectorAll("[data-error]")) {
      const here = problem && (problem.field ?? "") === place.dataset.error;
      if (place.dataset.error === "") place.hidden = !here;
      const words = here ? problem.message : "";
      if (place.textContent !== words) place.textContent = words;
      const holder = place.closest("[data-field-of]");
      if (holder) {
        holder.classList.toggle("wrong", Boolean(here));
        for (const field of holder.querySelectorAll("[name]")) {
          if (here) field.setAttribute("aria-invalid", "true");
          else field.removeAttribute("aria-invalid");
        }
      }
    }
    const names = [...root.querySelectorAll("[data-error]")].map((place) => place.dataset.error);
    if (problem && !names.includes(problem.field ?? "")) tell(problem.message);
    else if (!problem) tell("");
  }

  function tell(words) {
    const status = document.querySelector("[data-status]");
    if (status && status.textContent !== words) status.textContent = words;
  }

  // A value into an element: a text, or {text, exact}.
  function fill(element, value) {
    const number = value && typeof value === "object";
    const words = number ? value.text : value === null || value === undefined ? "–" : String(value);
    if (element.textContent !== words) element.textContent = words;
    if (number) {
      element.title = `exactly ${value.exact.length > 120 ? `${value.exact.slice(0, 120)}…` : value.exact}`;
      element.classList.add("number");
    }
  }

  function inside(found, path) {
    return path.split(".").reduce((part, key) => (part === null || part === undefined ? part : part[key]), found);
  }

  // <section data-live="/api/…" data-form="id">: its [data-value="a.b"] show the answer's a.b as the form changes.
  async function refresh(region) {
    region.asking?.abort();
    const asking = (region.asking = new AbortController());
    const form = document.getElementById(region.dataset.form);
    try {
      const answer = await fetch(address(region.dataset.live, form), { signal: asking.signal });
      const found = await answer.json();
      if (asking.signal.aborted) return;
      complain(form, answer.ok ? null : found, region);
      region.classList.toggle("stale", !answer.ok);
      if (!answer.ok) return;
      for (const place of region.querySelectorAll("[data-value]")) fill(place, inside(found, place.dataset.value));
      region.dispatchEvent(new CustomEvent("answered", { detail: found }));
    } catch (problem) {
      if (problem.name !== "AbortError") tell("The studio does not answer: is it still running?");
    }
  }

  function slides(range) {
    const field = document.getElementById(range.dataset.slides);
    const low = Number(range.dataset.low), high = Number(range.dataset.high);
    const log = range.dataset.scale === "log";
    const step = range.dataset.step === "any" ? 0 : Number(range.dataset.step);
    const top = Number(range.max);
    const place = (value) => (log ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low));
    const number = (text) => {
      const [above, below] = text.split("/");
      return below === undefined ? Number(text) : Number(above) / Number(below);
    };
    const toRange = () => {
      const value = number(field.value);
      if (Number.isFinite(value)) range.value = String(Math.round(top * Math.min(1, Math.max(0, place(value)))));
      range.setAttribute("aria-valuetext", field.value);
    };
    const toField = () => {
      const t = Number(range.value) / top;
      const value = log ? low * (high / low) ** t : low + t * (high - low);
      const near = step ? Math.min(high, Math.max(low, Math.round(value / step) * step)) : value;
      field.value = String(Number(near.toPrecision(step ? 12 : 2)));
      range.setAttribute("aria-valuetext", field.value);
      field.dispatchEvent(new Event("input", { bubbles: true }));
    };
    range.addEventListener("input", (event) => {
      event.stopPropagation();
      toField();
    });
    field.addEventListener("input", toRange);
    toRange();
  }

  function once(form) {
    form.addEventListener("submit", () => {
      for (const button of form.querySelectorAll("button")) setTimeout(() => (button.disabled = true), 0);
    });
    window.addEventListener("pageshow", () => {
      for (const button of form.querySelectorAll("button")) button.disabled = false;
    });
  }

  // <section data-job="/api/jobs/…">: progress and bounds until the job is over, then its page.
  async function watch(section) {
    const over = ["done", "failed", "cancelled", "interrupted"];
    while (!over.includes(section.dataset.state)) {
      await new Promise((done) => setTimeout(done, 500));
      const answer = await fetch(section.dataset.job).catch(() => null);
      if (!answer || !answer.ok) continue;
      const job = await answer.json();
      showJob(section, job);
      if (job.state === "done" && section.dataset.page) location.assign(section.dataset.page);
    }
  }

  function showJob(section, job) {
    section.dataset.state = job.state;
    const state = section.querySelector("[data-job-state]");
    state.textContent = job.state;
    state.className = `badge ${job.state}`;
    section.querySelector("[data-job-words]").textContent = job.error ?? job.words;
    section.querySelector("[data-job-lower]").textContent = job.lower ?? "–";
    section.querySelector("[data-job-upper]").textContent = job.upper ?? "–";
    const bar = section.querySelector("[data-job-bar]");
    if (job.total) {
      bar.max = job.total;
      bar.value = job.done ?? 0;
    }
    const over = !["waiting", "running"].includes(job.state);
    if (over && job.state !== "done") bar.value = bar.value || 0;
    section.querySelector("[data-job-page]").hidden = job.state !== "done";
    const cancel = section.querySelector("[data-job-cancel]");
    if (cancel) cancel.hidden = over;
  }

  // Sends JSON with the session's CSRF token; the parsed answer and whether it went well.
  async function send(path, content) {
    const token = document.querySelector("meta[name=csrf]").content;
    const headers = { "content-type": "application/json", "x-csrf-token": token };
    const answer = await fetch(path, { method: "POST", headers, body: JSON.stringify(content) });
    return { ok: answer.ok, status: answer.status, found: await answer.json() };
  }

  function start() {
    for (const range of document.querySelectorAll("input[data-slides]")) slides(range);
    for (const form of document.querySelectorAll("form[method=post]")) once(form);
    for (const region of document.querySelectorAll("[data-live]")) {
      const form = document.getElementById(region.dataset.form);
      form.addEventListener("input", soon(() => refresh(region)));
      if (region.dataset.now !== undefined) refresh(region);
    }
    for (const section of document.querySelectorAll("[data-job]")) watch(section);
    document.querySelector(".wrong [name]")?.focus();
  }

  document.addEventListener("DOMContentLoaded", start);
  return { soon, address, complain, fill, refresh, send, tell };
})();
