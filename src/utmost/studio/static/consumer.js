// The consumer's page: pictures and numbers follow the form, which is also the address; bars and points are dragged.
"use strict";

const studioConsumer = (() => {
  const SVG = "http://www.w3.org/2000/svg";
  const PICTURES = ["beliefs", "costs", "cells"];

  function made(name, attributes, ...children) {
    const element = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    element.append(...children);
    return element;
  }

  const clamped = (value, low, high) => Math.min(high, Math.max(low, value));

  // A row of vertical sliders, drawn as bars or as points on a line; the text in its field is what is sent.
  class Board {
    constructor(place) {
      this.place = place;
      this.points = place.dataset.board === "points";
      this.field = document.getElementById(place.dataset.field);
      this.choose = document.getElementById(place.dataset.choose);
      this.values = [];
      this.labels = [];
      this.errors = [];
      this.top = this.points ? 10 : 100;
      this.at = 0;
      this.frame();
      this.field.addEventListener("input", () => this.typed());
      this.choose.addEventListener("input", () => this.draw());
      new ResizeObserver(() => this.draw()).observe(this.svg);
    }

    get chosen() {
      return this.choose.value === this.place.dataset.chosen;
    }

    frame() {
      this.svg = made("svg", { role: "group", "aria-label": `${this.place.dataset.label}, to be dragged` });
      const ends = document.createElement("div");
      ends.className = "ends";
      ends.append(document.createElement("span"), document.createElement("span"));
      const hint = document.createElement("p");
      hint.className = "hint";
      hint.textContent = this.points ? "Drag the points" : "Drag the bars";
      const keys = document.createElement("span");
      keys.className = "visually-hidden";
      keys.textContent = "; or up and down change one, left and right go to the next";
      hint.append(keys);
      this.place.append(this.svg, ends, hint);
      this.svg.addEventListener("pointerdown", (event) => this.press(event));
      this.svg.addEventListener("pointermove", (event) => this.drag(event));
      for (const name of ["pointerup", "pointercancel"]) this.svg.addEventListener(name, () => (this.held = null));
    }

    // What the server says: shown as it is, unless it is the reader's own, which her field has.
    told(values, labels, errors, top, text) {
      this.labels = labels;
      if (this.chosen && this.field.value) {
        this.typed();
      } else {
        this.values = [...values];
        this.errors = errors;
        this.top = top;
        if (!this.chosen) this.field.value = text;
        this.draw();
      }
    }

    typed() {
      const parts = this.field.value.split(",");
      const pairs = parts.map((part) => part.split(":"));
      const values = pairs.map((pair) => this.number(pair[this.points ? 1 : 0] ?? ""));
      if (values.some((value) => !Number.isFinite(value))) return;
      this.values = values;
      if (this.points) this.errors = pairs.map((pair) => pair[0].trim());
      this.top = Math.max(this.points ? 10 : 100, ...values);
      this.draw();
    }

    number(text) {
      const [above, below] = text.trim().split("/");
      return above === "" ? NaN : below === undefined ? Number(above) : Number(above) / Number(below);
    }

    where(index) {
      const width = this.svg.clientWidth;
      if (!this.points) return ((index + 0.5) * width) / this.values.length;
      const errors = this.errors.map((error) => this.number(error));
      const low = errors[0], high = errors.at(-1);
      return high > low ? 14 + ((errors[index] - low) / (high - low)) * (width - 28) : width / 2;
    }

    // Pixels kept free above and below: a bar stands on the ground, a point needs room for its knob.
    get margins() {
      return this.points ? [10, 10] : [6, 2];
    }

    height(value) {
      const [above, below] = this.margins;
      return above + (this.svg.clientHeight - above - below) * (1 - value / this.top);
    }

    draw() {
      const count = this.values.length, width = this.svg.clientWidth;
      if (!count || !width) return;
      if (this.sliders?.length !== count) this.build(count);
      this.at = Math.min(this.at, count - 1);
      this.svg.classList.toggle("chosen", this.chosen);
      this.sliders.forEach((slider, k) => this.place_one(slider, k));
      if (this.points) {
        const path = this.values.map((value, k) => `${this.where(k)},${this.height(value)}`).join(" ");
        this.curve.setAttribute("points", path);
        const zero = this.errors.findIndex((error) => this.number(error) === 0);
        const x = zero < 0 ? -10 : this.where(zero);
        for (const [key, value] of Object.entries({ x1: x, x2: x, y1: 0, y2: this.svg.clientHeight })) this.truth.setAttribute(key, value);
      }
      const ends = this.place.querySelectorAll(".ends span");
      ends[0].textContent = this.labels[0] ?? "";
      ends[1].textContent = this.labels.at(-1) ?? "";
    }

    place_one(slider, k) {
      const x = this.where(k), y = this.height(this.values[k]), value = this.values[k];
      const wide = this.svg.clientWidth / this.values.length;
      const [room, mark] = slider.children;
      for (const [key, number] of Object.entries({ x: x - wide / 2, y: 0, width: wide, height: this.svg.clientHeight })) room.setAttribute(key, number);
      if (this.points) {
        mark.setAttribute("cx", x);
        mark.setAttribute("cy", y);
      } else {
        const gap = wide > 6 ? 1 : 0;
        for (const [key, number] of Object.entries({ x: x - wide / 2 + gap, y, width: wide - 2 * gap, height: this.svg.clientHeight - y })) mark.setAttribute(key, number);
      }
      const label = this.labels[k] ?? String(k + 1);
      const told = { "aria-label": `${this.place.dataset.label} at ${label}`, "aria-valuenow": value, "aria-valuemax": this.top, "aria-valuetext": String(value), tabindex: k === this.at ? 0 : -1 };
      for (const [key, text] of Object.entries(told)) slider.setAttribute(key, text);
    }

    build(count) {
      this.svg.replaceChildren();
      if (this.points) {
        this.truth = made("line", { class: "truth" });
        this.curve = made("polyline", { class: "curve" });
        this.svg.append(this.truth, this.curve);
      }
      this.sliders = Array.from({ length: count }, (_, k) => {
        const mark = this.points ? made("circle", { class: "knob", r: 7 }) : made("rect", { class: "bar", rx: 2 });
        const slider = made("g", { role: "slider", "aria-valuemin": 0, "aria-orientation": "vertical" }, made("rect", { class: "room" }), mark);
        slider.addEventListener("keydown", (event) => this.key(event, k));
        slider.addEventListener("focus", () => (this.at = k));
        return slider;
      });
      this.svg.append(...this.sliders);
    }

    press(event) {
      if (!this.values.length) return;
      event.preventDefault();
      this.svg.setPointerCapture(event.pointerId);
      this.held = { index: this.nearest(event) };
      this.sliders[this.held.index].focus();
      this.drag(event);
    }

    drag(event) {
      if (!this.held) return;
      const index = this.points ? this.held.index : this.nearest(event);
      const [above, below] = this.margins, box = this.svg.getBoundingClientRect();
      this.set(index, this.top * (1 - (event.clientY - box.top - above) / (box.height - above - below)));
    }

    nearest(event) {
      const x = event.clientX - this.svg.getBoundingClientRect().left;
      const far = this.values.map((_, k) => Math.abs(this.where(k) - x));
      return far.indexOf(Math.min(...far));
    }

    key(event, k) {
      const small = this.top / (this.points ? 20 : 50), large = this.top / 5;
      const moves = { ArrowUp: small, ArrowDown: -small, PageUp: large, PageDown: -large, Home: -this.top, End: this.top };
      const sides = { ArrowLeft: -1, ArrowRight: 1 };
      if (event.key in moves) this.set(k, this.values[k] + moves[event.key]);
      else if (event.key in sides) {
        this.at = clamped(k + sides[event.key], 0, this.values.length - 1);
        this.draw();
        this.sliders[this.at].focus();
      } else return;
      event.preventDefault();
    }

    set(index, value) {
      const step = this.points ? this.top / 20 : this.top / 100;
      this.values[index] = Number((Math.round(clamped(value, 0, this.top) / step) * step).toPrecision(6));
      if (!this.values.some((one) => one > 0)) this.values[index] = step;
      const texts = this.values.map((one, k) => (this.points ? `${this.errors[k]}:${one}` : String(one)));
      this.field.value = texts.join(",");
      this.choose.value = this.place.dataset.chosen;
      this.draw();
      this.field.dispatchEvent(new Event("input", { bubbles: true }));
    }
  }

  function say(root, name, words) {
    const place = root.querySelector(`[data-${name}]`);
    if (place && place.textContent !== words) place.textContent = words;
    return place;
  }

  function filled(root, name, found) {
    for (const place of root.querySelectorAll(`[data-${name}]`)) studioForms.fill(place, found ? found[place.dataset[name]] : null);
  }

  function draw(id, picture) {
    const figure = document.getElementById(id);
    if (!figure) return;
    figure.classList.toggle("empty", !picture);
    if (picture) studioCharts.draw(figure, picture).then(() => (figure.dataset.drawn = String(Number(figure.dataset.drawn || 0) + 1)));
  }

  // Losses over all answers that need a search are asked for when the form has been still for a while.
  function later(form) {
    let timer = 0, asking = null;
    return (found) => {
      clearTimeout(timer);
      asking?.abort();
      const section = form.querySelector("[data-remap]");
      if (!section) return;
      const picture = found.pictures.remap;
      section.hidden = !found.searched && !found.before && !picture;
      filled(section, "before", found.before);
      if (!found.searched) return draw("remap", picture);
      section.classList.add("stale");
      timer = setTimeout(async () => {
        asking = new AbortController();
        const address = studioForms.address(section.querySelector("[data-over]").dataset.over, form);
        const answer = await fetch(address, { signal: asking.signal }).catch(() => null);
        if (!answer?.ok) return;
        const over = await answer.json();
        section.classList.remove("stale");
        filled(section, "before", over.before);
        if (over.remap) draw("remap", over.remap);
        else say(document.getElementById("remap"), "words", over.words);
      }, 350);
    };
  }

  function rows(found) {
    const body = document.querySelector("#cell-table tbody");
    if (!body) return;
    [...body.rows].forEach((row, k) => {
      const one = found.readings[k];
      if (!one) return;
      const values = [one.value, one.unbiased ?? one.value, one.estimate, one.low, one.high, one.loss?.expected, one.loss?.face_value];
      values.forEach((value, column) => studioForms.fill(row.cells[column + 1], value));
    });
  }

  function addressed(form, query) {
    history.replaceState(null, "", `${form.dataset.base}?${query}`);
    for (const twin of document.querySelectorAll('link[rel="alternate"], .bottom a')) twin.href = `${form.dataset.twin}?${query}`;
    const weights = document.getElementById("weights-form");
    if (weights) weights.action = `${weights.dataset.base}?${query}`;
    const link = form.querySelector("[data-tailor-link]");
    if (link) link.href = `${form.dataset.base}/tailored?${query}`;
    for (const place of document.querySelectorAll("#cell-table tbody a")) {
      const url = new URL(place.href);
      place.href = `${form.dataset.base}?${query}&cell=${encodeURIComponent(url.searchParams.get("cell"))}`;
    }
  }

  function answered(form, boards, over, found) {
    for (const results of form.querySelectorAll(".results")) results.hidden = false;
    for (const id of PICTURES) draw(id, found.pictures[id]);
    over(found);
    rows(found);
    say(form, "claim", found.claim)?.classList.toggle("good", found.best);
    say(form, "verdict", found.verdict);
    say(form, "legal", found.legality?.words ?? "");
    say(form, "remark", found.remark);
    say(form, "reader", found.reader ?? "");
    say(form, "command", found.command);
    const tailor = form.querySelector("[data-tailor]");
    if (tailor) tailor.hidden = !found.tailored;
    if (found.bars) boards.bars?.told(found.bars.heights, found.bars.labels, [], 100, found.bars.text);
    const drawing = found.drawing;
    if (drawing) boards.points?.told(drawing.costs, drawing.labels, drawing.errors, drawing.top, drawing.text);
    addressed(form, found.address);
  }

  function start() {
    for (const section of document.querySelectorAll("[data-picture]")) {
      studioCharts.draw(section.querySelector("figure"), JSON.parse(section.dataset.picture));
    }
    const form = document.getElementById("reader");
    if (!form) return;
    for (const place of form.querySelectorAll("details [data-error]")) {
      const shown = () => place.textContent && (place.closest("details").open = true);
      new MutationObserver(shown).observe(place, { childList: true, characterData: true, subtree: true });
    }
    const boards = {};
    for (const place of form.querySelectorAll("[data-board]")) boards[place.dataset.board] = new Board(place);
    const over = later(form);
    form.querySelector("[data-live]").addEventListener("answered", (event) => answered(form, boards, over, event.detail));
    for (const field of form.querySelectorAll("[data-reload]")) {
      field.addEventListener("input", (event) => event.stopPropagation());
      field.addEventListener("change", () => {
        const cell = document.getElementById("f-cell");
        if (cell && field.name === "query") cell.disabled = true;
        form.requestSubmit();
      });
    }
  }

  document.addEventListener("DOMContentLoaded", start);
  return { Board };
})();
