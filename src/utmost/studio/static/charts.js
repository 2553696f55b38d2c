// Pictures: <figure data-chart="/api/…"> is drawn from a Vega-Lite spec with named rows, and follows its form.
"use strict";

const studioCharts = (() => {
  const { vega: vegaAddress, ready: vegaMade } = document.currentScript.dataset;
  const drawn = new WeakMap(); // figure → {key, view, finalize, spec}
  let vegaLoading = null;

  function vegaReady() {
    vegaLoading ??= (async () => {
      if (vegaMade) return loaded(vegaAddress);
      for (let tries = 0; tries < 240; tries++) {
        const answer = await fetch("/vega/ready").catch(() => null);
        if (answer && answer.ok && (await answer.json()).ready) return loaded(vegaAddress);
        await new Promise((done) => setTimeout(done, 500));
      }
      throw new Error("the charts' script was not made");
    })();
    return vegaLoading;
  }

  function loaded(address) {
    return new Promise((done, failed) => {
      const script = document.createElement("script");
      script.src = address;
      script.onload = done;
      script.onerror = () => failed(new Error("the charts' script did not load"));
      document.head.append(script);
    });
  }

  // var(--name) in a spec becomes the page's own colour, light or dark.
  function inked(part, style) {
    if (typeof part === "string") {
      const named = /^var\((--[\w-]+)\)$/.exec(part);
      return named ? style.getPropertyValue(named[1]).trim() : part;
    }
    if (Array.isArray(part)) return part.map((one) => inked(one, style));
    if (part && typeof part === "object") {
      return Object.fromEntries(Object.entries(part).map(([key, value]) => [key, inked(value, style)]));
    }
    return part;
  }

  function config(style) {
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

  // Draws a picture {spec, data, words} in a figure; only its rows change where its spec is the same as before.
  async function draw(figure, picture) {
    const place = figure.querySelector(".drawing");
    say(figure, place, picture.words);
    const key = JSON.stringify(picture.spec);
    const before = drawn.get(figure);
    if (before && before.key === key) {
      for (const [name, rows] of Object.entries(picture.data)) before.view.data(name, rows);
      before.picture = picture;
      await before.view.runAsync();
      return before.view;
    }
    place.classList.toggle("waiting", !window.vegaEmbed);
    await vegaReady();
    place.classList.remove("waiting");
    const style = getComputedStyle(document.documentElement);
    const spec = { ...inked(picture.spec, style), datasets: picture.data };
    before?.finalize();
    const result = await window.vegaEmbed(canvas(place), spec, {
      mode: "vega-lite", renderer: "svg", ast: true, actions: false, defaultStyle: false,
      config: config(style), tooltip: { disableDefaultStyle: true },
    });
    drawn.set(figure, { key, picture, view: result.view, finalize: () => result.finalize() });
    reachable(place);
    figure.dispatchEvent(new CustomEvent("drawn", { detail: { view: result.view, picture } }));
    return result.view;
  }

  // What must be scrolled to be seen whole can be scrolled by keys.
  function reachable(place) {
    if (place.scrollWidth > place.clientWidth || place.scrollHeight > place.clientHeight) place.tabIndex = 0;
    else place.removeAttribute("tabindex");
  }

  // Vega describes its own element: the picture's description is on the one around it.
  function canvas(place) {
    const inner = place.querySelector(".canvas") ?? document.createElement("div");
    inner.className = "canvas";
    place.append(inner);
    return inner;
  }

  function say(figure, place, words) {
    if (!words) return;
    place.setAttribute("aria-label", words);
    const caption = figure.querySelector("[data-words]");
    if (caption && caption.textContent !== words) caption.textContent = words;
  }

  // A figure asks its address, with its form's values; the latest answer wins.
  async function follow(figure) {
    figure.asking?.abort();
    const asking = (figure.asking = new AbortController());
    const form = figure.dataset.form ? document.getElementById(figure.dataset.form) : null;
    try {
      const answer = await fetch(studioForms.address(figure.dataset.chart, form), { signal: asking.signal });
      const found = await answer.json();
      if (asking.signal.aborted) return;
      if (!answer.ok) {
        figure.classList.add("stale");
        studioForms.complain(form, found, figure);
        return;
      }
      figure.classList.remove("stale");
      studioForms.complain(form, null, figure);
      await draw(figure, found);
      figure.dataset.drawn = String(Number(figure.dataset.drawn || 0) + 1);
    } catch (problem) {
      if (problem.name !== "AbortError") figure.classList.add("stale");
    }
  }

  function start() {
    for (const figure of document.querySelectorAll("figure[data-chart]")) {
      if (!figure.dataset.chart) continue;
      const form = figure.dataset.form ? document.getElementById(figure.dataset.form) : null;
      if (form) form.addEventListener("input", studioForms.soon(() => follow(figure)));
      follow(figure);
    }
    if (document.querySelector("figure[data-chart]")) vegaReady().catch(() => {});
    addEventListener("resize", () => document.querySelectorAll("figure[data-chart] .drawing").forEach(reachable));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
      for (const figure of document.querySelectorAll("figure[data-chart]")) {
        const before = drawn.get(figure);
        if (before) {
          before.key = "";
          draw(figure, before.picture);
        }
      }
    });
  }

  document.addEventListener("DOMContentLoaded", start);
  return { draw, follow };
})();
