// The runs of a drag as points, beside the range that the reader has guessed.
import { colour } from "../colours.js";
import { make } from "../fields.js";

const HEIGHT = 150;

export class Trail {
  #points = new Map();
  #chart;

  /** `guess` is the range from `least` to `most` that was guessed for the end of the slider. */
  constructor(root, title, guess) {
    const figure = make("figure", { ariaLabel: title }, make("figcaption", {}, make("b", { textContent: title }), make("span", { textContent: "shaded: your guess for the end of the slider" })));
    root.append(figure);
    const axis = { stroke: colour("var(--faint)"), grid: { stroke: colour("var(--grid)"), width: 1 }, ticks: { show: false }, font: "12px system-ui, sans-serif" };
    const bounds = [guess.least, guess.most].filter(Number.isFinite);
    this.#chart = new window.uPlot({
      width: figure.clientWidth, height: HEIGHT, legend: { show: false }, cursor: { show: false },
      scales: { x: { time: false, range: [-0.03, 1.03] }, y: { range: (_, __, most) => [0, Math.max(most ?? 0, ...bounds.map((one) => one * 1.3)) * 1.1 || 1] } },
      axes: [{ show: false }, { ...axis, size: 52 }],
      series: [{}, { stroke: colour("var(--link)"), width: 1.6, points: { show: true, size: 6 } }],
      hooks: { drawClear: [(plot) => shadeGuess(plot, guess)] },
    }, [[], []], figure);
    new ResizeObserver(() => figure.clientWidth && this.#chart.setSize({ width: figure.clientWidth, height: HEIGHT })).observe(root);
  }

  add(part, value) {
    this.#points.set(part, value);
    const sorted = [...this.#points].sort(([a], [b]) => a - b);
    this.#chart.setData([sorted.map(([at]) => at), sorted.map(([, one]) => one)]);
  }
}

/** The guessed range, over the last tenth of the slider. */
function shadeGuess(plot, { least, most }) {
  const { left, top, width, height } = plot.bbox;
  const y = (value) => Math.min(Math.max(plot.valToPos(value, "y", true), top), top + height);
  const [upper, lower] = [Number.isFinite(most) ? y(most) : top, Number.isFinite(least) ? y(least) : top + height];
  plot.ctx.fillStyle = colour("var(--guess)");
  plot.ctx.fillRect(left + width * 0.87, upper, width * 0.13, lower - upper);
}
