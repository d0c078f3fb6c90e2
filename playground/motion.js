// Plays the packets of a run in slow motion, from the time that the reader chooses.
import { journeys } from "./journeys.js";
import { drawScene, roomOf } from "./scene.js";

const MOST_PACKETS = 3000;
const ROUNDS = 12;
const BIT = 8 * 1500;
const IDLE_MS = 350;

export class Motion {
  #parts;
  #run;
  #point;
  #shown = null;
  #loaded = null;
  #time = 0;
  #playing = false;
  #wait = null;
  #loading = false;

  /** `parts` has the canvas, the button, the slides of time and speed and the output; `run` runs a request for a purpose; `point` gets the time shown. */
  constructor(parts, run, point) {
    this.#parts = parts;
    this.#run = run;
    this.#point = point;
    parts.button.addEventListener("click", () => this.play(!this.#playing));
    parts.time.addEventListener("input", () => this.seek(Number(parts.time.value)));
    new ResizeObserver(() => this.#draw()).observe(parts.canvas);
  }

  /** Handles a new run with its text; `classes` have titles and colours, `classOf` gives the number of a flow's class. */
  offer({ result, text, classes, classOf, mostWaiting }) {
    const { rate_bps: rate, rtt_ns: rtt, buffer } = result.scenario.path;
    const scale = rtt / 1e9;
    const span = Math.min(scale * ROUNDS, (MOST_PACKETS * BIT) / rate);
    this.#shown = { text, classes, classOf, scale, span, end: result.end_s, room: roomOf(buffer.bytes, mostWaiting) };
    const { time } = this.#parts;
    const first = Number(time.max) === 0;
    time.max = result.end_s;
    this.#forget();
    this.seek(first ? result.end_s / 2 : Math.min(this.#time, result.end_s - span));
  }

  /** Goes to a time in s; its packets follow when the reader pauses. */
  seek(time) {
    const { end, span } = this.#shown;
    this.#time = Math.max(Math.min(time, end - span / 2), 0);
    this.#parts.time.value = this.#time;
    const { from, to } = this.#loaded ?? {};
    if (from <= this.#time && this.#time < to) return this.#draw();
    this.#point(this.#time);
    this.#parts.said.textContent = `${this.#time.toFixed(2)} s`;
    clearTimeout(this.#wait);
    this.#wait = setTimeout(() => this.#load(), IDLE_MS);
  }

  play(on) {
    if (on && !this.#playing) requestAnimationFrame((now) => this.#step(now, now));
    this.#playing = on;
    this.#parts.button.textContent = on ? "Pause" : "Slow motion";
  }

  #forget() {
    this.#loaded = null;
    this.#loading = false;
    clearTimeout(this.#wait);
  }

  /** Loads the packets from a little before the present time on. */
  async #load() {
    clearTimeout(this.#wait);
    const shown = this.#shown;
    const [time, to] = [this.#time, Math.min(this.#time + shown.span, shown.end)];
    this.#loading = true;
    const packets = { from_s: Math.max(time - shown.scale, 0), to_s: to };
    const result = await this.#run("motion", { text: shown.text, tables: [], packets });
    if (result === null) return;
    this.#loading = false;
    if (result.problems || shown !== this.#shown) return;
    this.#loaded = { from: time, to, ...journeys(result.tables.packets) };
    this.#draw();
  }

  #step(now, before) {
    if (!this.#playing) return;
    const { scale, span, end } = this.#shown;
    if (this.#loaded && this.#time < this.#loaded.to) {
      // The middle of the slide is a round trip in four seconds.
      this.#time += (Math.min((now - before) / 1000, 0.1) * scale * 2 ** Number(this.#parts.speed.value)) / 4;
      this.#parts.time.value = this.#time;
      this.#draw();
    } else if (!this.#loading) this.#load();
    if (this.#time >= end - span / 2) return this.play(false);
    requestAnimationFrame((next) => this.#step(next, now));
  }

  #draw() {
    if (!this.#loaded) return;
    const { canvas, said } = this.#parts;
    const { waiting, dropped } = drawScene(canvas, this.#loaded, { ...this.#shown, time: this.#time });
    const digits = Math.max(2, Math.ceil(-Math.log10(this.#shown.scale)) + 1);
    said.textContent = `${this.#time.toFixed(digits)} s: ${waiting} waiting, ${dropped} dropped`;
    Object.assign(canvas.dataset, { state: "shown", time: this.#time, waiting, dropped });
    this.#point(this.#time);
  }
}
