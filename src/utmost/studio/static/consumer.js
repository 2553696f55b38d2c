// The consumer's page: charts and numbers follow the form, which is also the address; bars and points are dragged.
"use strict";

const studioConsumer = (() => {
  const SVG = "http://www.w3.org/2000/svg";
  const CHART_IDS = ["beliefs", "costs", "cells"];

  function svgElement(name, attributes, ...children) {
    const element = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    element.append(...children);
    return element;
  }

  const clamp = (value, low, high) => Math.min(high, Math.max(low, value));

  // A row of vertical sliders, drawn as bars or as points on a line; the text in its field is what is sent.
  class DragEditor {
    constructor(container) {
      this.container = container;
      this.hasPoints = container.dataset.editor === "points";
      this.field = document.getElementById(container.dataset.field);
      this.select = document.getElementById(container.dataset.select);
      this.values = [];
      this.labels = [];
      this.errors = [];
      this.top = this.hasPoints ? 10 : 100;
      this.focusIndex = 0;
      this.addFrame();
      this.field.addEventListener("input", () => this.readField());
      this.select.addEventListener("input", () => this.draw());
      new ResizeObserver(() => this.draw()).observe(this.svg);
    }

    get isSelected() {
      return this.select.value === this.container.dataset.option;
    }

    addFrame() {
      this.svg = svgElement("svg", { role: "group", "aria-label": `${this.container.dataset.label}, to be dragged` });
      const endLabels = document.createElement("div");
      endLabels.className = "end-labels";
      endLabels.append(document.createElement("span"), document.createElement("span"));
      const hint = document.createElement("p");
      hint.className = "hint";
      hint.textContent = this.hasPoints ? "Drag the points" : "Drag the bars";
      const keys = document.createElement("span");
      keys.className = "visually-hidden";
      keys.textContent = "; or up and down change one, left and right go to the next";
      hint.append(keys);
      this.container.append(this.svg, endLabels, hint);
      this.svg.addEventListener("pointerdown", (event) => this.onPress(event));
      this.svg.addEventListener("pointermove", (event) => this.drag(event));
      for (const name of ["pointerup", "pointercancel"]) this.svg.addEventListener(name, () => (this.dragState = null));
    }

    // Shows what the server answers, unless the reader has drawn values of their own: those are in the field.
    showAnswer(values, labels, errors, top, text) {
      this.labels = labels;
      if (this.isSelected && this.field.value) {
        this.readField();
      } else {
        this.values = [...values];
        this.errors = errors;
        this.top = top;
        if (!this.isSelected) this.field.value = text;
        this.draw();
      }
    }

    readField() {
      const pairs = this.field.value.split(",").map((text) => text.split(":"));
      const values = pairs.map((pair) => this.parseNumber(pair[this.hasPoints ? 1 : 0] ?? ""));
      if (values.some((value) => !Number.isFinite(value))) return;
      this.values = values;
      if (this.hasPoints) this.errors = pairs.map((pair) => pair[0].trim());
      this.top = Math.max(this.hasPoints ? 10 : 100, ...values);
      this.draw();
    }

    parseNumber(text) {
      const [numerator, denominator] = text.trim().split("/");
      return numerator === "" ? NaN : denominator === undefined ? Number(numerator) : Number(numerator) / Number(denominator);
    }

    xOf(index) {
      const width = this.svg.clientWidth;
      if (!this.hasPoints) return ((index + 0.5) * width) / this.values.length;
      const errors = this.errors.map((error) => this.parseNumber(error));
      const low = errors[0], high = errors.at(-1);
      return high > low ? 14 + ((errors[index] - low) / (high - low)) * (width - 28) : width / 2;
    }

    // Pixels kept free above and below: a bar stands on the ground, a point needs room for its knob.
    get margins() {
      return this.hasPoints ? [10, 10] : [6, 2];
    }

    yOf(value) {
      const [above, below] = this.margins;
      return above + (this.svg.clientHeight - above - below) * (1 - value / this.top);
    }

    draw() {
      const count = this.values.length, width = this.svg.clientWidth;
      if (!count || !width) return;
      if (this.sliders?.length !== count) this.addSliders(count);
      this.focusIndex = Math.min(this.focusIndex, count - 1);
      this.svg.classList.toggle("active", this.isSelected);
      this.sliders.forEach((slider, k) => this.placeSlider(slider, k));
      if (this.hasPoints) {
        const points = this.values.map((value, k) => `${this.xOf(k)},${this.yOf(value)}`).join(" ");
        this.curve.setAttribute("points", points);
        const zeroIndex = this.errors.findIndex((error) => this.parseNumber(error) === 0);
        const x = zeroIndex < 0 ? -10 : this.xOf(zeroIndex);
        for (const [key, value] of Object.entries({ x1: x, x2: x, y1: 0, y2: this.svg.clientHeight })) this.zeroLine.setAttribute(key, value);
      }
      const endLabels = this.container.querySelectorAll(".end-labels span");
      endLabels[0].textContent = this.labels[0] ?? "";
      endLabels[1].textContent = this.labels.at(-1) ?? "";
    }

    placeSlider(slider, k) {
      const x = this.xOf(k), y = this.yOf(this.values[k]), value = this.values[k];
      const slotWidth = this.svg.clientWidth / this.values.length;
      const [hitArea, mark] = slider.children;
      for (const [key, number] of Object.entries({ x: x - slotWidth / 2, y: 0, width: slotWidth, height: this.svg.clientHeight })) hitArea.setAttribute(key, number);
      if (this.hasPoints) {
        mark.setAttribute("cx", x);
        mark.setAttribute("cy", y);
      } else {
        const gap = slotWidth > 6 ? 1 : 0;
        for (const [key, number] of Object.entries({ x: x - slotWidth / 2 + gap, y, width: slotWidth - 2 * gap, height: this.svg.clientHeight - y })) mark.setAttribute(key, number);
      }
      const label = this.labels[k] ?? String(k + 1);
      const attributes = { "aria-label": `${this.container.dataset.label} at ${label}`, "aria-valuenow": value, "aria-valuemax": this.top, "aria-valuetext": String(value), tabindex: k === this.focusIndex ? 0 : -1 };
      for (const [key, text] of Object.entries(attributes)) slider.setAttribute(key, text);
    }

    addSliders(count) {
      this.svg.replaceChildren();
      if (this.hasPoints) {
        this.zeroLine = svgElement("line", { class: "zero-line" });
        this.curve = svgElement("polyline", { class: "curve" });
        this.svg.append(this.zeroLine, this.curve);
      }
      this.sliders = Array.from({ length: count }, (_, k) => {
        const mark = this.hasPoints ? svgElement("circle", { class: "knob", r: 7 }) : svgElement("rect", { class: "bar", rx: 2 });
        const slider = svgElement("g", { role: "slider", "aria-valuemin": 0, "aria-orientation": "vertical" }, svgElement("rect", { class: "hit-area" }), mark);
        slider.addEventListener("keydown", (event) => this.onKey(event, k));
        slider.addEventListener("focus", () => (this.focusIndex = k));
        return slider;
      });
      this.svg.append(...this.sliders);
    }

    onPress(event) {
      if (!this.values.length) return;
      event.preventDefault();
      this.svg.setPointerCapture(event.pointerId);
      this.dragState = { index: this.nearest(event) };
      this.sliders[this.dragState.index].focus();
      this.drag(event);
    }

    drag(event) {
      if (!this.dragState) return;
      const index = this.hasPoints ? this.dragState.index : this.nearest(event);
      const [above, below] = this.margins, box = this.svg.getBoundingClientRect();
      this.setValue(index, this.top * (1 - (event.clientY - box.top - above) / (box.height - above - below)));
    }

    nearest(event) {
      const x = event.clientX - this.svg.getBoundingClientRect().left;
      const distances = this.values.map((_, k) => Math.abs(this.xOf(k) - x));
      return distances.indexOf(Math.min(...distances));
    }

    onKey(event, k) {
      const smallStep = this.top / (this.hasPoints ? 20 : 50), largeStep = this.top / 5;
      const moves = { ArrowUp: smallStep, ArrowDown: -smallStep, PageUp: largeStep, PageDown: -largeStep, Home: -this.top, End: this.top };
      const neighbours = { ArrowLeft: -1, ArrowRight: 1 };
      if (event.key in moves) this.setValue(k, this.values[k] + moves[event.key]);
      else if (event.key in neighbours) {
        this.focusIndex = clamp(k + neighbours[event.key], 0, this.values.length - 1);
        this.draw();
        this.sliders[this.focusIndex].focus();
      } else return;
      event.preventDefault();
    }

    setValue(index, value) {
      const step = this.hasPoints ? this.top / 20 : this.top / 100;
      this.values[index] = Number((Math.round(clamp(value, 0, this.top) / step) * step).toPrecision(6));
      if (!this.values.some((height) => height > 0)) this.values[index] = step;
      const texts = this.values.map((height, k) => (this.hasPoints ? `${this.errors[k]}:${height}` : String(height)));
      this.field.value = texts.join(",");
      this.select.value = this.container.dataset.option;
      this.draw();
      this.field.dispatchEvent(new Event("input", { bubbles: true }));
    }
  }

  function setText(root, name, text) {
    const element = root.querySelector(`[data-${name}]`);
    if (element && element.textContent !== text) element.textContent = text;
    return element;
  }

  function fillFields(root, name, content) {
    for (const element of root.querySelectorAll(`[data-${name}]`)) studioForms.fill(element, content ? content[element.dataset[name]] : null);
  }

  function drawChart(id, chart) {
    const figure = document.getElementById(id);
    if (!figure) return;
    figure.classList.toggle("empty", !chart);
    if (chart) studioCharts.draw(figure, chart).then(() => (figure.dataset.drawn = String(Number(figure.dataset.drawn || 0) + 1)));
  }

  // Losses over all answers that need a search are asked for when the form has been still for a while.
  function averageLossUpdater(form) {
    let timer = 0, request = null;
    return (content) => {
      clearTimeout(timer);
      request?.abort();
      const section = form.querySelector("[data-remap]");
      if (!section) return;
      const chart = content.pictures.remap;
      section.hidden = !content.searched && !content.before && !chart;
      fillFields(section, "before", content.before);
      if (!content.searched) return drawChart("remap", chart);
      section.classList.add("stale");
      timer = setTimeout(async () => {
        request = new AbortController();
        const address = studioForms.addressWithValues(section.querySelector("[data-address]").dataset.address, form);
        const response = await fetch(address, { signal: request.signal }).catch(() => null);
        if (!response?.ok) return;
        const average = await response.json();
        section.classList.remove("stale");
        fillFields(section, "before", average.before);
        if (average.remap) drawChart("remap", average.remap);
        else setText(document.getElementById("remap"), "words", average.words);
      }, 350);
    };
  }

  function fillCellTable(content) {
    const body = document.querySelector("#cell-table tbody");
    if (!body) return;
    const columns = body.closest("table").dataset.readings.split(" ");
    [...body.rows].forEach((row, k) => {
      const reading = content.readings[k];
      if (!reading) return;
      const unbiased = reading.unbiased ?? reading.value;
      const values = { ...reading, unbiased, expected: reading.loss?.expected, face_value: reading.loss?.face_value };
      columns.forEach((name, column) => studioForms.fill(row.cells[column + 1], values[name]));
    });
  }

  function updateAddresses(form, query) {
    history.replaceState(null, "", `${form.dataset.base}?${query}`);
    for (const link of document.querySelectorAll('link[rel="alternate"], .bottom a')) link.href = `${form.dataset.jsonAddress}?${query}`;
    const weightsForm = document.getElementById("weights-form");
    if (weightsForm) weightsForm.action = `${weightsForm.dataset.base}?${query}`;
    const tailorLink = form.querySelector("[data-tailor-link]");
    if (tailorLink) tailorLink.href = `${form.dataset.base}/tailored?${query}`;
    for (const link of document.querySelectorAll("#cell-table tbody a")) {
      const url = new URL(link.href);
      link.href = `${form.dataset.base}?${query}&cell=${encodeURIComponent(url.searchParams.get("cell"))}`;
    }
  }

  function showReading(form, editors, updateAverageLoss, content) {
    for (const results of form.querySelectorAll(".results")) results.hidden = false;
    for (const id of CHART_IDS) drawChart(id, content.pictures[id]);
    updateAverageLoss(content);
    fillCellTable(content);
    setText(form, "claim", content.claim)?.classList.toggle("good", content.best);
    setText(form, "verdict", content.verdict);
    setText(form, "legality", content.legality?.words ?? "");
    setText(form, "remark", content.remark);
    setText(form, "reader", content.reader ?? "");
    setText(form, "command", content.command);
    const tailor = form.querySelector("[data-tailor]");
    if (tailor) tailor.hidden = !content.tailored;
    if (content.bars) editors.bars?.showAnswer(content.bars.heights, content.bars.labels, [], 100, content.bars.text);
    const drawing = content.drawing;
    if (drawing) editors.points?.showAnswer(drawing.costs, drawing.labels, drawing.errors, drawing.top, drawing.text);
    updateAddresses(form, content.address);
  }

  function start() {
    for (const section of document.querySelectorAll("[data-picture]")) {
      studioCharts.draw(section.querySelector("figure"), JSON.parse(section.dataset.picture));
    }
    const form = document.getElementById("reader");
    if (!form) return;
    for (const errorElement of form.querySelectorAll("details [data-error]")) {
      const openDetails = () => errorElement.textContent && (errorElement.closest("details").open = true);
      new MutationObserver(openDetails).observe(errorElement, { childList: true, characterData: true, subtree: true });
    }
    const editors = {};
    for (const container of form.querySelectorAll("[data-editor]")) editors[container.dataset.editor] = new DragEditor(container);
    const updateAverageLoss = averageLossUpdater(form);
    form.querySelector("[data-live]").addEventListener("answered", (event) => showReading(form, editors, updateAverageLoss, event.detail));
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
  return { DragEditor };
})();
