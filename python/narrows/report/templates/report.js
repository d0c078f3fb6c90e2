"use strict";
(() => {
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const touch = window.matchMedia("(pointer: coarse)").matches;
  // Paper is white, even if the screen is dark.
  const paper = (on) => document.documentElement.classList.toggle("paper", on);
  const isDark = () => dark.matches && !document.documentElement.classList.contains("paper");
  const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

  // "@key" or "@key/opacity" becomes a colour for the current background.
  const resolve = (text, colours) => {
    const [key, opacity] = text.slice(1).split("/");
    const plain = key in colours ? colours[key][isDark() ? 1 : 0] : style(key);
    return opacity ? plain + Math.round(255 * opacity).toString(16).padStart(2, "0") : plain;
  };
  const load = (id) => {
    const text = document.getElementById(`${id}-data`).textContent;
    const { colours } = JSON.parse(text);
    // Only colours are replaced, since a flow may be named "@ink".
    return JSON.parse(text, (name, value) =>
      /color$/.test(name) && typeof value === "string" && value.startsWith("@") ? resolve(value, colours) : value);
  };

  // On a phone titles are smaller, and wrap at the edges.
  const LETTERS = 56;
  const short = (text) => (text.length <= LETTERS ? text : `${text.slice(0, LETTERS - 1).replace(/&[a-z#0-9]*$/i, "")}…`);
  const narrow = (layout) => {
    layout.font.size = 11;
    for (const note of layout.annotations ?? []) {
      const title = /^<b>(.*)<\/b>$/.exec(note.text);
      if (title) Object.assign(note, { text: `<b>${short(title[1])}</b>`, xshift: -40, font: { size: 10.5 } });
    }
    if (layout.title?.text) Object.assign(layout.title, { text: short(layout.title.text), font: { size: 11 } });
  };

  // The only figure of a page is as high as the window.
  const fills = (div) => div.closest(".single") !== null;
  const size = (div, width) => Plotly.relayout(div, { width, autosize: width === null, ...(fills(div) && { height: div.clientHeight }) });

  const drawn = new Set();
  const draw = (div) => {
    const { data, layout } = load(div.id);
    // A finger that moves over a figure scrolls the page; the buttons zoom.
    layout.dragmode = touch ? false : "zoom";
    if (fills(div)) {
      // The legend stays as far below the axis as in a figure of the usual height.
      if (layout.legend) layout.legend.y *= layout.height / div.clientHeight;
      layout.height = div.clientHeight;
    }
    if (window.innerWidth < 600) narrow(layout);
    const first = !drawn.has(div.id);
    drawn.add(div.id);
    const config = {
      responsive: true,
      displaylogo: false,
      displayModeBar: touch ? true : "hover",
      modeBarButtons: [["zoom2d", "pan2d", "zoomIn2d", "zoomOut2d", "resetScale2d", "autoScale2d", "toImage"]],
      toImageButtonOptions: { format: "svg", filename: div.id },
    };
    return Plotly.react(div, data, layout, config).then(() => first && follow(div));
  };

  // All figures of a run show the same time span. Axes that zoom by themselves then show all values.
  const free = (div) => Object.fromEntries(
    Object.keys(div.layout)
      .filter((key) => key.startsWith("yaxis") && div.layout[key].fixedrange === false)
      .map((key) => [`${key}.autorange`, true]),
  );
  let leading = false;
  const follow = (div) => div.on("plotly_relayout", (change) => {
    const touched = Object.keys(change).some((key) => key.startsWith("xaxis."));
    if (leading || !touched) return;
    leading = true;
    const range = div.layout.xaxis.range.slice();
    const others = [...document.querySelectorAll(`.plot[data-run="${div.dataset.run}"]`)]
      .filter((other) => other !== div && drawn.has(other.id));
    Promise.all(others.map((other) => Plotly.relayout(other, { "xaxis.range": range.slice(), ...free(other) })))
      .finally(() => { leading = false; });
  });

  const toggle = (button) => {
    const div = document.getElementById(button.dataset.plot);
    const shown = button.getAttribute("aria-pressed") !== "true";
    button.setAttribute("aria-pressed", String(shown));
    const hit = div.data.flatMap((trace, i) => (trace.legendgroup === button.dataset.group ? [i] : []));
    Plotly.restyle(div, { visible: shown }, hit);
  };

  // Paper is narrower than most windows, and holds what is open. A figure of one page leaves room
  // for the heading above it.
  const PAPER_PX = 680, PAGE_PX = 960, FIGURE_PX = 560;
  const visible = () => [...document.querySelectorAll(".plot")].filter((div) => div.closest("details:not([open])") === null);
  const lower = (div) => {
    const high = div.clientHeight;
    if (high <= FIGURE_PX || high >= PAGE_PX) return;
    div.dataset.high = high;
    raise(div, FIGURE_PX);
  };
  const raise = (div, height) => {
    div.style.height = `${height}px`;
    Plotly.relayout(div, { height });
  };
  window.addEventListener("beforeprint", () => {
    paper(true);
    visible().forEach((div) => {
      if (!drawn.has(div.id) || dark.matches) draw(div);
      size(div, PAPER_PX);
      lower(div);
    });
  });
  window.addEventListener("afterprint", () => {
    paper(false);
    visible().forEach((div) => {
      if (dark.matches) draw(div);
      if (div.dataset.high) raise(div, Number(div.dataset.high));
      size(div, null);
    });
  });

  const seen = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (entry.isIntersecting && !drawn.has(entry.target.id)) draw(entry.target);
    }
  }, { rootMargin: "600px" });
  document.querySelectorAll(".plot").forEach((div) => seen.observe(div));
  document.querySelectorAll(".legend button").forEach((b) => b.addEventListener("click", () => toggle(b)));
  dark.addEventListener("change", () => drawn.forEach((id) => draw(document.getElementById(id))));
})();
