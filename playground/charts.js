// The charts of a run: one above the other, with a common cursor and time range.
import { drawGhost, drawLosses, drawProbes, drawStates, shade } from "./annotations.js";
import { colour } from "./colours.js";
import { make } from "./fields.js";
import { savePicture } from "./picture.js";

const HEIGHT = 170;
const ROW = 20;
const DASHES = [[], [8, 4], [2, 3], [10, 3, 2, 3]];
export const PANELS = ["throughput", "rtt", "queue", "inFlight", "states"];

export class Charts {
  #root;
  #drawn = [];
  #key = crypto.randomUUID?.() ?? String(Math.random());
  #looks;
  #panels;
  #go;
  #range = null;
  #span = null;

  /** `looks` gives colours and titles; `go` gets the time of a click; `panels` names some of PANELS. */
  constructor(root, looks, go = () => {}, panels = PANELS) {
    this.#root = root;
    this.#looks = looks;
    this.#go = go;
    this.#panels = panels;
    new ResizeObserver(() => this.#fit()).observe(root);
  }

  /** Draws the lines of a run, above those of `ghost`, an earlier run; `marks` are those of marks.js. */
  show(lines, { warmup, marks, ghost = null }) {
    const end = lines.times.at(-1);
    if (end !== this.#span) this.#range = null;
    this.#span = end;
    for (const { chart } of this.#drawn) chart.destroy();
    this.#root.replaceChildren();
    const context = { lines, warmup, marks, ghost, looks: this.#looks };
    this.#drawn = this.#panels.map((name) => this.#panel(name, context));
    if (this.#range) for (const { chart } of this.#drawn) chart.setScale("x", this.#range);
  }

  /** Points at a time in all charts. */
  point(time) {
    for (const { chart, pointer } of this.#drawn) {
      pointer.hidden = time === null;
      pointer.style.left = `${chart.valToPos(time ?? 0, "x")}px`;
    }
  }

  #panel(name, context) {
    const { title, series, extra = {}, hooks = {}, height = HEIGHT, legend = [] } = describe(name, context);
    const values = series.map(() => make("span", { className: "value" }));
    const keys = series.flatMap(({ title: shown, colour: stroke, dash }, number) => (shown ? [key(shown, stroke, dash, values[number])] : []));
    const time = make("span", { className: "value" });
    const save = make("button", { type: "button", className: "small", textContent: "PNG", ariaLabel: `PNG of ${title}` });
    const figure = make("figure", { ariaLabel: title }, make("figcaption", {}, make("b", { textContent: title }), ...keys, ...legend, time, save));
    figure.dataset.panel = name;
    this.#root.append(figure);
    const hover = (plot) => {
      const at = plot.cursor.idx;
      time.textContent = at === null || at === undefined ? "" : `at ${plot.data[0][at].toFixed(1)} s`;
      series.forEach(({ values: of }, number) => { values[number].textContent = at === null || at === undefined ? "" : formatValue(of[at]); });
    };
    const noteRange = (plot, scale) => {
      if (scale !== "x") return;
      const { min, max } = plot.scales.x;
      this.#range = min <= plot.data[0][0] && max >= plot.data[0].at(-1) ? null : { min, max };
    };
    const chart = plot(figure, { series, extra, height, key: this.#key, times: context.lines.times, hooks: { ...hooks, setCursor: [hover], setScale: [noteRange] } });
    const pointer = make("div", { className: "pointer", hidden: true });
    chart.over.append(pointer);
    this.#watchClicks(chart);
    save.addEventListener("click", () => savePicture(chart, title, series));
    return { chart, pointer, height };
  }

  /** Hands a click on, but not the end of a drag, which zooms. */
  #watchClicks(chart) {
    let began = 0;
    chart.over.addEventListener("mousedown", ({ clientX }) => { began = clientX; });
    chart.over.addEventListener("mouseup", ({ clientX, offsetX }) => {
      if (Math.abs(clientX - began) < 3) this.#go(chart.posToVal(offsetX, "x"));
    });
  }

  #fit() {
    for (const { chart, height } of this.#drawn) {
      const width = chart.root.parentElement.clientWidth;
      if (width && width !== chart.width) chart.setSize({ width, height });
    }
  }
}

function formatValue(value) {
  return value === null || value === undefined ? "" : String(Number(value.toPrecision(3)));
}

/** An entry of a legend. */
function key(title, stroke, dash, value) {
  const swatch = make("i");
  swatch.style.borderColor = colour(stroke);
  swatch.style.borderTopStyle = dash.length ? "dashed" : "solid";
  return make("span", { className: "key" }, swatch, title, " ", value);
}

function plot(figure, { series, extra, height, key, times, hooks }) {
  const ink = colour("var(--faint)");
  const axis = { stroke: ink, grid: { stroke: colour("var(--grid)"), width: 1 }, ticks: { show: false }, font: "12px system-ui, sans-serif" };
  const { scale = {}, yAxis = {} } = extra;
  return new window.uPlot({
    width: figure.clientWidth, height, cursor: { sync: { key }, points: { size: 5 } }, legend: { show: false },
    scales: { x: { time: false }, y: { range: (_, least, most) => [Math.min(0, least ?? 0), (most || 1) * 1.05], ...scale } },
    axes: [{ ...axis, size: 28 }, { ...axis, size: 52, ...yAxis }],
    series: [{}, ...series.map(({ colour: stroke, dash }) => ({ stroke: colour(stroke), width: 1.6, dash, points: { show: false } }))],
    hooks,
  }, [times, ...series.map(({ values }) => values)], figure);
}

/** A panel: its title, its series, and what is drawn behind and above them. */
function describe(name, { lines, warmup, marks, ghost, looks }) {
  const { byClass, queue } = lines;
  const behind = (plot) => {
    shade(plot, warmup);
    if (marks) drawProbes(plot, marks, byClass, looks, name === "throughput");
  };
  const of = (title, unit, key) => {
    const series = byClass.map((one, number) => ({ ...looks.look(one.name, number), values: one[key], dash: DASHES[number % DASHES.length] }));
    const old = ghost?.byClass.map((one) => {
      const number = byClass.findIndex((other) => other.name === one.name);
      return { values: one[key], colour: series[number]?.colour ?? "var(--faint)" };
    });
    return { title: `${title}, ${unit}`, series, ...above(old, behind, series, ghost) };
  };
  if (name === "throughput") return of("Throughput", "Mbit/s", "throughput");
  if (name === "rtt") return of("Round-trip time", "ms", "rtt");
  if (name === "inFlight") return of("In flight", "packets", "inFlight");
  if (name === "states") return states({ lines, marks, looks }, behind);
  const series = [{ title: "Queue", values: queue, colour: "var(--ink)", dash: [] }];
  const found = { title: "Queue, BDP", series, ...above(ghost && [{ values: ghost.queue, colour: "var(--ink)" }], behind, series, ghost) };
  if (!marks?.losses.flat().some((lost) => lost > 0)) return found;
  found.hooks.draw = [(plot) => drawLosses(plot, marks, byClass, looks)];
  found.legend.unshift(make("span", { className: "key", textContent: "▴ packets dropped or lost" }));
  return found;
}

/** The hooks and the scale of a panel with a ghost behind its series. */
function above(old, behind, series, ghost) {
  const highest = Math.max(...(old ?? []).flatMap(({ values }) => values.filter((value) => value !== null)), 0);
  const hooks = { drawClear: [behind], drawAxes: old ? [(plot) => drawGhost(plot, ghost.times, old)] : [] };
  const legend = old ? [make("span", { className: "key ghost", textContent: "dim: the run before" })] : [];
  return { hooks, legend, extra: { scale: { range: (_, least, most) => [Math.min(0, least ?? 0), (Math.max(most ?? 0, highest) || 1) * 1.1] } } };
}

/** The states of flows: a row for each. */
function states({ lines, marks, looks }, behind) {
  const { flows, left } = marks;
  const names = [...new Set(flows.flatMap((flow) => flow.states.map((one) => one.name)))].filter(looks.state);
  const tints = [...new Set(names.map(looks.state))];
  const legend = tints.map((tint) => {
    const swatch = make("i", { className: "block" });
    swatch.style.background = tint;
    return make("span", { className: "key" }, swatch, names.filter((name) => looks.state(name) === tint).join(", ").replaceAll("_", " "));
  });
  if (flows.some(({ episodes }) => episodes.length)) {
    const swatch = make("i", { className: "thin" });
    swatch.style.background = looks.state("recovery");
    legend.push(make("span", { className: "key" }, swatch, "recovering losses"));
  }
  if (left > 0) legend.push(make("span", { className: "key", textContent: `and ${left} more flows` }));
  const row = (_, ticks) => ticks.map((at) => flows[at]?.name.slice(0, 8) ?? "");
  return {
    title: "States", series: [{ title: "", values: lines.times.map(() => null), colour: "var(--ink)", dash: [] }], height: 30 + ROW * flows.length, legend,
    extra: { scale: { dir: -1, range: () => [-0.5, flows.length - 0.5] }, yAxis: { splits: () => flows.map((_, at) => at), values: row, grid: { show: false } } },
    hooks: { drawClear: [behind], draw: [(plot) => drawStates(plot, flows, looks)] },
  };
}
