// A congestion control written in JavaScript, with the methods and fields of one in Python.

const MOST_PACKETS = 1e7;
const [LEAST_RATE, MOST_RATE] = [8, 1e13];

export class Own {
  /** The imports of the module; nothing calls them without a control. */
  imports = { control: (...call) => this.#call(...call) };
  #connections = new Map();

  /** Loads `source`, a class expression; `spoken` describes the module's form of events. */
  prepare(source, spoken, memory) {
    this.spoken = spoken;
    this.memory = memory;
    this.made = evaluate(source);
  }

  #call(connection, event, fields, answer) {
    const { name, fields: names } = this.spoken.events[event];
    const numbers = new Float64Array(this.memory.buffer, fields, names.length);
    const told = Object.fromEntries(names.map((field, at) => [field, this.#value(field, numbers[at])]));
    if (!this.#connections.has(connection)) this.#connections.set(connection, new this.made());
    const control = this.#connections.get(connection);
    control[name]?.(told);
    const [window, rate] = read(control.control());
    new Float64Array(this.memory.buffer, answer, 2).set([window, rate ?? NaN]);
  }

  #value(field, number) {
    const words = this.spoken.words[field];
    if (words) return words[number];
    if (this.spoken.flags.includes(field)) return number === 1;
    return Number.isNaN(number) ? null : number;
  }
}

function evaluate(source) {
  const made = new Function(`"use strict"; return (${source});`)();
  for (const method of ["on_ack", "on_congestion", "control"]) {
    if (typeof made?.prototype?.[method] !== "function") {
      throw new Error(`the control has no method ${method}; on_ack(sample), on_congestion(event) and control() are needed`);
    }
  }
  return made;
}

/** A window in packets, and a pacing rate in payload bit/s or null. */
function read(answer) {
  const [window, rate = null] = Array.isArray(answer) ? answer : [answer];
  if (!(window >= 1 && window <= MOST_PACKETS)) {
    throw new Error(`control() returned a window of ${window}; 1 to ${MOST_PACKETS} packets would be right`);
  }
  if (rate !== null && !(rate >= LEAST_RATE && rate <= MOST_RATE)) {
    throw new Error(`control() returned a rate of ${rate}; ${LEAST_RATE} to ${MOST_RATE} bit/s would be right`);
  }
  return [window, rate];
}
