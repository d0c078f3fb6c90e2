// A prediction: the reader guesses, drags the one slider that matters to its end, and a run says who was right.
import { make } from "../fields.js";
import { Trail } from "./trail.js";

/** The numbers that a prediction can be about, of a class: how each is read and written. */
const MEASURES = {
  rtt: { unit: "ms", title: "Round-trip time", of: ({ rtt_mean_ms: rtt }) => rtt },
  share: { unit: "%", title: "Share", of: ({ share }) => share * 100 },
  goodput: { unit: "Mbit/s", title: "Goodput", of: ({ goodput_mbps: goodput }) => goodput },
};

export class Prediction {
  #measure;
  #name;
  #guesses;
  #guess = null;
  #solved;
  #trail;

  /**
   * `value` names a measure, perhaps with a class, as in "share:cubic". `host` has the question (.ask), the guesses
   * (.guesses), each of which holds below its data-below, and the reason (.why). `started` is called
   * when the reader has guessed, `solved` when the answer is there or isn't wanted.
   */
  constructor(host, value, { started, solved }) {
    const [measure, name] = value.split(":");
    this.#measure = MEASURES[measure];
    this.#name = name;
    this.#solved = solved;
    this.why = host.querySelector(".why");
    this.why.hidden = true;
    const listed = [...host.querySelectorAll(".guesses li")];
    const below = listed.map((one) => Number(one.dataset.below ?? Infinity));
    this.#guesses = listed.map((one, at) => ({ text: one.textContent.trim(), least: below[at - 1] ?? -Infinity, most: below[at] }));
    const choices = this.#guesses.map(({ text }, at) => {
      const radio = make("input", { type: "radio", name: "guess", value: at });
      radio.addEventListener("change", () => this.#take(at, started));
      return make("label", {}, radio, text);
    });
    const skip = make("button", { type: "button", className: "small", textContent: "Skip the question" });
    skip.addEventListener("click", () => this.#finish());
    this.#form(host, choices, skip);
  }

  #form(host, choices, skip) {
    const ask = host.querySelector(".ask");
    this.fields = make("fieldset", { className: "guess" }, make("legend", {}, "Your guess"), ask, ...choices, skip);
    host.querySelector(".guesses").replaceWith(this.fields);
    this.verdict = make("p", { className: "verdict", role: "status" });
    this.drag = make("div", { className: "drag", hidden: true });
    this.fields.after(this.drag, this.verdict);
  }

  /** The measured number of a run. */
  #read(classes) {
    return this.#measure.of(classes.find(({ name }) => name === this.#name) ?? classes[0]);
  }

  #take(at, started) {
    if (this.#guess !== null) return;
    this.#guess = this.#guesses[at];
    for (const one of this.fields.querySelectorAll("input, button")) one.disabled = true;
    this.fields.querySelectorAll("label")[at].classList.add("chosen");
    this.drag.hidden = false;
    this.#trail = new Trail(this.drag, `${this.#measure.title}, ${this.#measure.unit}`, this.#guess);
    started();
  }

  /** Takes a run with the slider at a part of its way, 1 being the end. */
  offer(classes, part) {
    if (this.#guess === null) return;
    const value = this.#read(classes);
    this.#trail.add(part, value);
    if (part < 1 || this.verdict.textContent) return;
    const right = this.#guesses.find(({ most }) => value < most);
    const found = `The run says ${Number(value.toPrecision(3))} ${this.#measure.unit}.`;
    this.verdict.textContent = right === this.#guess ? `${found} You were right.` : `${found} You said: “${this.#guess.text}” Right is: “${right.text}”`;
    this.verdict.classList.toggle("right", right === this.#guess);
    this.fields.querySelectorAll("label")[this.#guesses.indexOf(right)].classList.add("answer");
    this.#finish();
  }

  #finish() {
    this.why.hidden = false;
    for (const one of this.fields.querySelectorAll("input, button")) one.disabled = true;
    this.#solved();
  }
}
