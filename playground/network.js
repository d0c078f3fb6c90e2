// The network as an animation: senders, the queue that fills, the link, receivers.
import { colour } from "./charts.js";

const [WIDTH, HEIGHT] = [720, 190];
const DOTS = 9;

export class Network {
  #canvas;
  #at = null;
  #playing = false;
  #shown = null;

  constructor(canvas, { button, slide, said }) {
    this.#canvas = canvas;
    this.controls = { button, slide, said };
    button.addEventListener("click", () => this.play(!this.#playing));
    slide.addEventListener("input", () => this.seek(Number(slide.value)));
  }

  /** `classes` have a name and a colour; `room` is the buffer in BDP, or null. */
  show(run, classes, room) {
    this.#shown = { ...run, classes, room };
    this.controls.slide.max = run.times.length - 1;
    this.seek(Math.min(this.#at ?? Math.floor(run.times.length / 2), run.times.length - 1));
  }

  /** Goes to the sample with this number. */
  seek(at) {
    this.#at = at;
    this.controls.slide.value = at;
    this.#draw();
  }

  /** Goes to the sample at a time in s. */
  seekTime(time) {
    const found = this.#shown.times.findIndex((one) => one >= time);
    if (found >= 0) this.seek(found);
  }

  play(on) {
    this.#playing = on;
    this.controls.button.textContent = on ? "Pause" : "Play";
    if (on) requestAnimationFrame(() => this.#step());
  }

  #step() {
    if (!this.#playing) return;
    const { times } = this.#shown;
    if (this.#at >= times.length - 1) this.#at = -1;
    this.seek(this.#at + 1);
    // The animation takes about 20 s, however long the run.
    setTimeout(() => requestAnimationFrame(() => this.#step()), Math.max(20, 20000 / times.length));
  }

  #draw() {
    const { times, byClass, queue, classes, room } = this.#shown ?? {};
    if (!times?.length) return;
    const scale = window.devicePixelRatio || 1;
    const canvas = this.#canvas;
    [canvas.width, canvas.height] = [WIDTH * scale, HEIGHT * scale];
    const pen = canvas.getContext("2d");
    pen.scale(scale, scale);
    pen.font = "13px system-ui, sans-serif";
    const most = Math.max(...byClass.flatMap(({ throughput }) => throughput), 1e-9);
    byClass.forEach(({ name, throughput }, number) => {
      const y = ((number + 0.7) * HEIGHT) / (byClass.length + 0.4);
      const strength = (throughput[this.#at] ?? 0) / most;
      lane(pen, { y, name, strength, fill: colour(classes[number].colour), phase: (this.#at * 0.35) % 1 });
    });
    buffer(pen, queue[this.#at] ?? 0, room ?? Math.max(...queue, 1));
    this.controls.said.textContent = `${times[this.#at].toFixed(1)} s, queue ${(queue[this.#at] ?? 0).toFixed(2)} BDP`;
  }
}

/** A class: its sender, its packets as dots on the way to the queue and on to the receiver. */
function lane(pen, { y, name, strength, fill, phase }) {
  const middle = HEIGHT / 2;
  pen.strokeStyle = colour("var(--grid)");
  pen.lineWidth = 2;
  for (const [from, to] of [[[130, y], [290, middle]], [[470, middle], [610, y]]]) {
    pen.beginPath();
    pen.moveTo(...from);
    pen.lineTo(...to);
    pen.stroke();
    pen.fillStyle = fill;
    const shown = Math.ceil(strength * DOTS);
    for (let dot = 0; dot < shown; dot += 1) {
      const part = ((dot + phase) / Math.max(shown, 1)) % 1;
      pen.beginPath();
      pen.arc(from[0] + (to[0] - from[0]) * part, from[1] + (to[1] - from[1]) * part, 3, 0, 2 * Math.PI);
      pen.fill();
    }
  }
  for (const x of [8, 612]) {
    pen.fillStyle = fill;
    pen.fillRect(x, y - 11, 4, 22);
    pen.fillStyle = colour("var(--ink)");
    pen.fillText(name.length > 15 ? `${name.slice(0, 14)}…` : name, x + 9, y + 4);
  }
}

/** The queue: filled by waiting packets. */
function buffer(pen, backlog, room) {
  const [x, y, width, height] = [295, HEIGHT / 2 - 24, 110, 48];
  const part = Math.min(backlog / room, 1);
  pen.fillStyle = colour("var(--card)");
  pen.fillRect(x, y, width, height);
  pen.fillStyle = part > 0.97 ? colour("var(--bad)") : colour("var(--faint)");
  pen.fillRect(x + width * (1 - part), y, width * part, height);
  pen.strokeStyle = colour("var(--ink)");
  pen.strokeRect(x, y, width, height);
  pen.fillStyle = colour("var(--ink)");
  pen.fillRect(x + width, HEIGHT / 2 - 3, 60, 6);
}
