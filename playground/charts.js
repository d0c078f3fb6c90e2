// The charts of a run: one above the other, with a common cursor and time range.
import { made } from "./fields.js";

const HEIGHT = 170;
const DASHES = [[], [8, 4], [2, 3], [10, 3, 2, 3]];

export class Charts {
  #root;
  #drawn = [];
  #key = crypto.randomUUID?.() ?? String(Math.random());
  #looks;

  #panels;

  /**
   * `looks` gives the colour of a class; `watch` gets the time under the cursor; `panels` names
   * some of throughput, rtt, queue and inFlight, all by default.
   */
  constructor(root, looks, watch, panels = ["throughput", "rtt", "queue", "inFlight"]) {
    this.#root = root;
    this.#looks = looks;
    this.watch = watch;
    this.#panels = panels;
    new ResizeObserver(() => this.#fit()).observe(root);
  }

  show({ times, byClass, queue }, marks) {
    const lines = (key) => byClass.map((one, number) => ({ name: one.name, values: one[key], ...this.#looks(one.name, number), dash: DASHES[number % DASHES.length] }));
    const panels = {
      throughput: ["Throughput, Mbit/s", lines("throughput")],
      rtt: ["Round-trip time, ms", lines("rtt")],
      queue: ["Queue, BDP", [{ name: "queue", values: queue, colour: "var(--ink)", dash: [] }]],
      inFlight: ["In flight, packets", lines("inFlight")],
    };
    for (const chart of this.#drawn) chart.destroy();
    this.#root.replaceChildren();
    this.#drawn = this.#panels.map((name) => this.#panel(panels[name], times, marks));
  }

  #panel([title, series], times, { warmup }) {
    const figure = made("figure", { ariaLabel: title }, made("figcaption", { textContent: title }));
    this.#root.append(figure);
    const ink = colour("var(--faint)");
    const axis = { stroke: ink, grid: { stroke: colour("var(--grid)"), width: 1 }, ticks: { show: false } };
    const chart = new window.uPlot({
      width: figure.clientWidth, height: HEIGHT, cursor: { sync: { key: this.#key }, points: { size: 5 } }, legend: { live: true },
      scales: { x: { time: false }, y: { range: (_, least, most) => [Math.min(0, least ?? 0), (most || 1) * 1.05] } },
      axes: [{ ...axis, size: 28 }, { ...axis, size: 52 }],
      series: [
        { label: "s", value: (_, time) => time?.toFixed(1) ?? "" },
        ...series.map(({ name, colour: stroke, dash }) => ({
          label: name, stroke: colour(stroke), width: 1.6, dash, points: { show: false },
          value: (_, value) => (value === null || value === undefined ? "" : value.toPrecision(3)) })),
      ],
      hooks: {
        drawClear: [(plot) => shade(plot, warmup)],
        setCursor: [(plot) => plot.cursor.idx !== null && plot.cursor.event && this.watch(plot.data[0][plot.cursor.idx])],
      },
    }, [times, ...series.map(({ values }) => values)], figure);
    return chart;
  }

  #fit() {
    for (const chart of this.#drawn) {
      const width = chart.root.parentElement.clientWidth;
      if (width && width !== chart.width) chart.setSize({ width, height: HEIGHT });
    }
  }
}

/** The warm-up is a little darker, as the numbers leave it out. */
function shade(plot, warmup) {
  const { left, top, height } = plot.bbox;
  const width = plot.valToPos(warmup, "x", true) - left;
  if (width <= 0) return;
  plot.ctx.fillStyle = colour("var(--shade)");
  plot.ctx.fillRect(left, top, Math.min(width, plot.bbox.width), height);
}

/** The current value of a CSS colour; a canvas has no variables. */
export function colour(written) {
  const name = /^var\((.+)\)$/.exec(written)?.[1];
  return name ? getComputedStyle(document.documentElement).getPropertyValue(name).trim() : written;
}
