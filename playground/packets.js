// The time-sequence view of a range of a flow: data sent, dropped and received, and ACKs.
import { colour } from "./colours.js";
import { make } from "./fields.js";

const HEIGHT = 320;
/** What a row of the table of packets can be: its name, its colour, the shape of its mark. */
const KINDS = [
  { shown: "sent", of: ({ event, again }) => event === "sent" && !again, colour: "var(--link)", shape: "square", size: 4 },
  { shown: "retransmitted", of: ({ event, again }) => event === "sent" && again, colour: "var(--again)", shape: "diamond", size: 9 },
  { shown: "left the bottleneck", of: ({ event }) => event === "forwarded", colour: "var(--faint)", shape: "square", size: 3 },
  { shown: "received", of: ({ event }) => event === "received", colour: "var(--good)", shape: "square", size: 3 },
  { shown: "ACK arrived", of: ({ event }) => event === "ack_received", colour: "var(--ink)", shape: "square", size: 3 },
  { shown: "dropped by the queue", of: ({ event }) => event === "dropped", colour: "var(--bad)", shape: "cross", size: 9 },
  { shown: "lost on the path", of: ({ event }) => event === "lost", colour: "var(--lost)", shape: "ring", size: 9 },
];

export class Packets {
  #parts;
  #run;
  #text = "";
  #chart = null;

  /** `run` runs a request for a purpose. */
  constructor(parts, run) {
    this.#parts = parts;
    this.#run = run;
    for (const one of [parts.flow, parts.from, parts.span]) one.addEventListener("change", () => this.#show());
    parts.box.addEventListener("toggle", () => this.#show());
  }

  /** Handles a new run. */
  offer({ scenario }, text) {
    this.#text = text;
    const names = scenario.flows.map(({ name }) => name);
    const known = [...this.#parts.flow.options].map(({ textContent }) => textContent);
    if (names.join("\n") !== known.join("\n")) {
      this.#parts.flow.replaceChildren(...names.slice(0, 200).map((textContent, value) => make("option", { textContent, value })));
    }
    this.#show();
  }

  async #show() {
    const { box, flow, from, span, said } = this.#parts;
    if (!box.open || !this.#text) return;
    const stretch = { flow: Number(flow.value), from_s: Number(from.value), to_s: Number(from.value) + Number(span.value) };
    const result = await this.#run("packets", { text: this.#text, tables: [], packets: stretch });
    if (result === null || result.problems) return;
    const rows = result.tables.packets;
    said.textContent = `${rows.time_s.length.toLocaleString("en")} events`;
    this.#draw(rows);
  }

  #draw(rows) {
    const { figure } = this.#parts;
    const ink = colour("var(--faint)");
    const axis = { stroke: ink, grid: { stroke: colour("var(--grid)"), width: 1 } };
    const events = rows.event.map((event, row) => ({ event, again: rows.retransmission[row], seq: rows.seq[row] }));
    const values = KINDS.map((kind) => events.map((one) => (kind.of(one) ? one.seq : null)));
    const counts = values.map((column) => column.reduce((sum, value) => sum + (value !== null), 0));
    const points = KINDS.map(() => ({ paths: () => null, points: { show: false } }));
    this.#chart?.destroy();
    this.#chart = new window.uPlot({
      width: figure.clientWidth, height: HEIGHT, scales: { x: { time: false } }, legend: { show: false },
      axes: [axis, { ...axis, size: 64, label: "packet" }],
      series: [{}, ...points],
      hooks: { draw: [(plot) => KINDS.forEach((kind, number) => drawMarks(plot, kind, values[number]))] },
    }, [rows.time_s, ...values], figure);
    figure.querySelector("figcaption")?.remove();
    figure.prepend(make("figcaption", {}, ...KINDS.flatMap((kind, number) => (counts[number] ? [key(kind, counts[number])] : []))));
  }
}

function key({ shown, colour: written, shape }, count) {
  const sign = make("i", { className: `mark ${shape}` });
  sign.style.color = colour(written);
  return make("span", { className: "key" }, sign, `${shown} (${count.toLocaleString("en")})`);
}

function drawMarks(plot, { colour: written, shape, size }, values) {
  const pen = plot.ctx;
  const half = (size * (window.devicePixelRatio || 1)) / 2;
  const { left, top, width, height } = plot.bbox;
  pen.save();
  pen.beginPath();
  pen.rect(left, top, width, height);
  pen.clip();
  pen.fillStyle = pen.strokeStyle = colour(written);
  pen.lineWidth = half / 2.2;
  values.forEach((seq, row) => {
    if (seq === null) return;
    SHAPES[shape](pen, plot.valToPos(plot.data[0][row], "x", true), plot.valToPos(seq, "y", true), half);
  });
  pen.restore();
}

const SHAPES = {
  square: (pen, x, y, half) => pen.fillRect(x - half, y - half, 2 * half, 2 * half),
  diamond: (pen, x, y, half) => path(pen, [[x, y - half], [x + half, y], [x, y + half], [x - half, y]]).fill(),
  cross: (pen, x, y, half) => {
    path(pen, [[x - half, y - half], [x + half, y + half]]).stroke();
    path(pen, [[x - half, y + half], [x + half, y - half]]).stroke();
  },
  ring: (pen, x, y, half) => {
    pen.beginPath();
    pen.arc(x, y, half, 0, 2 * Math.PI);
    pen.stroke();
  },
};

/** Begins a path through points; returns the pen. */
function path(pen, points) {
  pen.beginPath();
  points.forEach(([x, y], at) => pen[at ? "lineTo" : "moveTo"](x, y));
  if (points.length > 2) pen.closePath();
  return pen;
}
