// The time-sequence view of a range of a flow: data sent, dropped and received, and ACKs.
import { colour } from "./charts.js";
import { made } from "./fields.js";

const HEIGHT = 320;
const KINDS = [
  { event: "sent", colour: "var(--link)", size: 4 },
  { event: "forwarded", colour: "var(--faint)", size: 3 },
  { event: "received", colour: "#009e73", size: 3 },
  { event: "ack_received", colour: "var(--ink)", size: 3 },
  { event: "dropped", colour: "var(--bad)", size: 8 },
  { event: "lost", colour: "var(--bad)", size: 8 },
];
const NAMES = { ack_received: "ACK arrived", sent: "sent", forwarded: "left the bottleneck", received: "received", dropped: "dropped by the queue", lost: "lost on the path" };

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
      this.#parts.flow.replaceChildren(...names.slice(0, 200).map((textContent, value) => made("option", { textContent, value })));
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
    const values = KINDS.map(({ event }) => rows.event.map((name, row) => (name === event ? rows.seq[row] : null)));
    const points = KINDS.map(({ event, colour: written, size }) => ({
      label: NAMES[event], stroke: colour(written), paths: () => null,
      points: { show: true, size, fill: colour(written), width: 0 },
    }));
    this.#chart?.destroy();
    this.#chart = new window.uPlot({
      width: figure.clientWidth, height: HEIGHT, scales: { x: { time: false } }, legend: { live: false },
      axes: [axis, { ...axis, size: 64, label: "packet" }],
      series: [{ label: "s" }, ...points],
    }, [rows.time_s, ...values], figure);
  }
}
