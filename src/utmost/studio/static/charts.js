// Charts: <figure data-chart="/api/…"> is drawn from a Vega-Lite spec with named rows, and follows its form.
"use strict";

const studioCharts = (() => {
  const { vega: vegaAddress, ready: vegaBuilt } = document.currentScript.dataset;
  const charts = new WeakMap(); // figure → {key, chart, view, finalize}
  let vegaPromise = null;

  function loadVega() {
    vegaPromise ??= (async () => {
      if (vegaBuilt) return loadScript(vegaAddress);
      for (let attempt = 0; attempt < 240; attempt++) {
        const response = await fetch("/vega/ready").catch(() => null);
        if (response && response.ok && (await response.json()).ready) return loadScript(vegaAddress);
        await new Promise((resolve) => setTimeout(resolve, 500));
      }
      throw new Error("the charts' script was not made");
    })();
    return vegaPromise;
  }

  function loadScript(address) {
    return new Promise((resolve, reject) => {
      const script = document.createElement("script");
      script.src = address;
      script.onload = resolve;
      script.onerror = () => reject(new Error("the charts' script did not load"));
      document.head.append(script);
    });
  }

  // var(--name) in a spec becomes the page's own colour, light or dark.
  function withPageColours(node, style) {
    if (typeof node === "string") {
      const match = /^var\((--[\w-]+)\)$/.exec(node);
      return match ? style.getPropertyValue(match[1]).trim() : node;
    }
    if (Array.isArray(node)) return node.map((item) => withPageColours(item, style));
    if (node && typeof node === "object") {
      return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, withPageColours(value, style)]));
    }
    return node;
  }

  function vegaConfig(style) {
    const colour = (name) => style.getPropertyValue(name).trim();
    const text = { labelColor: colour("--quiet"), titleColor: colour("--quiet"), labelFontSize: 12, titleFontSize: 12, titleFontWeight: "normal" };
    return {
      background: "transparent",
      aria: false,
      font: style.fontFamily,
      view: { stroke: null },
      axis: { ...text, gridColor: colour("--grid"), domainColor: colour("--axis"), tickColor: colour("--axis") },
      legend: { ...text, labelLimit: 220 },
      header: { labelColor: colour("--ink"), titleColor: colour("--quiet") },
      title: { color: colour("--ink"), subtitleColor: colour("--quiet") },
      text: { color: colour("--ink") },
      rule: { color: colour("--ink") },
      mark: { color: colour("--series-1"), aria: false }, // the figure says it all
      range: { category: [1, 2, 3, 4, 5, 6, 7, 8].map((k) => colour(`--series-${k}`)) },
    };
  }

  // Draws a chart {spec, data, words} in a figure; only its rows change where its spec is the same as before.
  async function draw(figure, chart) {
    const drawing = figure.querySelector(".drawing");
    describe(figure, drawing, chart.words);
    const key = JSON.stringify(chart.spec);
    const previous = charts.get(figure);
    if (previous && previous.key === key) {
      for (const [name, rows] of Object.entries(chart.data)) previous.view.data(name, rows);
      previous.chart = chart;
      await previous.view.runAsync();
      return previous.view;
    }
    drawing.classList.toggle("waiting", !window.vegaEmbed);
    await loadVega();
    drawing.classList.remove("waiting");
    const style = getComputedStyle(document.documentElement);
    const spec = { ...withPageColours(chart.spec, style), datasets: chart.data };
    previous?.finalize();
    const result = await window.vegaEmbed(canvasIn(drawing), spec, {
      mode: "vega-lite", renderer: "svg", ast: true, actions: false, defaultStyle: false,
      config: vegaConfig(style), tooltip: { disableDefaultStyle: true },
    });
    charts.set(figure, { key, chart, view: result.view, finalize: () => result.finalize() });
    updateKeyboardScrolling(drawing);
    figure.dispatchEvent(new CustomEvent("drawn", { detail: { view: result.view, chart } }));
    return result.view;
  }

  // A drawing larger than its place can be focused, and so scrolled by keys.
  function updateKeyboardScrolling(drawing) {
    if (drawing.scrollWidth > drawing.clientWidth || drawing.scrollHeight > drawing.clientHeight) drawing.tabIndex = 0;
    else drawing.removeAttribute("tabindex");
  }

  // Vega describes its own element: the chart's description is on the one around it.
  function canvasIn(drawing) {
    const canvas = drawing.querySelector(".canvas") ?? document.createElement("div");
    canvas.className = "canvas";
    drawing.append(canvas);
    return canvas;
  }

  function describe(figure, drawing, words) {
    if (!words) return;
    drawing.setAttribute("aria-label", words);
    const caption = figure.querySelector("[data-words]");
    if (caption && caption.textContent !== words) caption.textContent = words;
  }

  // Fetches a figure's address with its form's values, and draws the answer; the latest answer wins.
  async function refresh(figure) {
    figure.pendingRequest?.abort();
    const request = (figure.pendingRequest = new AbortController());
    const form = figure.dataset.form ? document.getElementById(figure.dataset.form) : null;
    try {
      const response = await fetch(studioForms.addressWithValues(figure.dataset.chart, form), { signal: request.signal });
      const content = await response.json();
      if (request.signal.aborted) return;
      if (!response.ok) {
        figure.classList.add("stale");
        studioForms.showProblem(form, content, figure);
        return;
      }
      figure.classList.remove("stale");
      studioForms.showProblem(form, null, figure);
      await draw(figure, content);
      figure.dataset.drawn = String(Number(figure.dataset.drawn || 0) + 1);
    } catch (error) {
      if (error.name !== "AbortError") figure.classList.add("stale");
    }
  }

  function start() {
    for (const figure of document.querySelectorAll("figure[data-chart]")) {
      if (!figure.dataset.chart) continue;
      const form = figure.dataset.form ? document.getElementById(figure.dataset.form) : null;
      if (form) form.addEventListener("input", studioForms.coalesce(() => refresh(figure)));
      refresh(figure);
    }
    if (document.querySelector("figure[data-chart]")) loadVega().catch(() => {});
    addEventListener("resize", () => document.querySelectorAll("figure[data-chart] .drawing").forEach(updateKeyboardScrolling));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
      for (const figure of document.querySelectorAll("figure[data-chart]")) {
        const previous = charts.get(figure);
        if (previous) {
          previous.key = "";
          draw(figure, previous.chart);
        }
      }
    });
  }

  document.addEventListener("DOMContentLoaded", start);
  return { draw, refresh };
})();
