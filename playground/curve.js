// Shares against the buffer: a curve for each class, and a mark at the present buffer, which the reader drags.
import { colour } from "./colours.js";
import { make } from "./fields.js";
import { BUFFERS } from "./sweep.js";

const HEIGHT = 200;
const DASHES = [[], [8, 4], [2, 3], [10, 3, 2, 3]];

export class Curve {
  #root;
  #said;
  #drag;
  #chart = null;
  #names = [];
  #buffer = null;
  #mark = make("div", { className: "pointer grip" });

  /** `drag` gets the buffer in BDP to which the reader drags. */
  constructor(root, said, drag) {
    this.#root = root;
    this.#said = said;
    this.#drag = drag;
    new ResizeObserver(() => this.#chart && root.clientWidth && this.#chart.setSize({ width: root.clientWidth, height: HEIGHT })).observe(root);
  }

  /** Begins an empty chart for classes with a name and a colour. */
  begin(classes) {
    const names = classes.map(({ name }) => name);
    this.#names = names;
    this.#chart?.destroy();
    const axis = { stroke: colour("var(--faint)"), grid: { stroke: colour("var(--grid)"), width: 1 }, ticks: { show: false }, font: "12px system-ui, sans-serif" };
    const series = classes.map((one, number) => ({ stroke: colour(one.colour), width: 1.8, dash: DASHES[number % DASHES.length], spanGaps: true, points: { show: true, size: 6 } }));
    this.#chart = new window.uPlot({
      width: this.#root.clientWidth, height: HEIGHT, legend: { show: false }, cursor: { drag: { x: false, y: false }, points: { show: false }, y: false },
      scales: { x: { time: false, distr: 3, log: 2, range: [BUFFERS[0], BUFFERS.at(-1)] }, y: { range: [0, 100] } },
      axes: [{ ...axis, size: 28, splits: () => [0.25, 0.5, 1, 2, 4, 8, 16], filter: (_, ticks) => ticks, values: (_, ticks) => ticks.map(String) }, { ...axis, size: 44, values: (_, ticks) => ticks.map((one) => `${one} %`) }],
      series: [{}, ...series], hooks: { ready: [() => this.mark(this.#buffer)], setSize: [() => this.mark(this.#buffer)] },
    }, [BUFFERS, ...names.map(() => BUFFERS.map(() => null))], this.#root);
    this.#chart.over.append(this.#mark);
    this.#watchDrags(this.#chart.over);
  }

  /** Adds the shares of a run. */
  add(buffer, classes) {
    const at = BUFFERS.indexOf(buffer);
    const data = [BUFFERS, ...this.#names.map((name, number) => {
      const share = classes.find((one) => one.name === name)?.share ?? null;
      return this.#chart.data[number + 1].map((value, other) => (other === at && share !== null ? share * 100 : value));
    })];
    this.#chart.setData(data);
  }

  /** Marks the present buffer, in BDP. */
  mark(buffer) {
    this.#buffer = buffer;
    this.#mark.hidden = buffer === null || !this.#chart;
    const [least, most] = [BUFFERS[0], BUFFERS.at(-1)];
    if (!this.#mark.hidden) this.#mark.style.left = `${this.#chart.valToPos(Math.min(Math.max(buffer, least), most), "x")}px`;
    this.#said.textContent = buffer === null ? "" : `${Number(buffer.toPrecision(2))} BDP now; drag in the chart.`;
  }

  #watchDrags(over) {
    const move = ({ clientX }) => {
      const { left, width } = over.getBoundingClientRect();
      const buffer = this.#chart.posToVal(Math.min(Math.max(clientX - left, 0), width), "x");
      this.mark(buffer);
      this.#drag(Number(buffer.toPrecision(2)));
    };
    let held = false;
    over.addEventListener("pointerdown", (event) => {
      held = true;
      over.setPointerCapture(event.pointerId);
      move(event);
    });
    over.addEventListener("pointermove", (event) => held && move(event));
    for (const ends of ["pointerup", "pointercancel"]) over.addEventListener(ends, () => { held = false; });
  }
}
