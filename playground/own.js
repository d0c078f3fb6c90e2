// The simulator with a control written in JavaScript, with the methods and fields of one in Python.
// sandbox.js puts this text into a worker, behind instance.js and the function `evaluate`, which
// returns the control's class.

class Own {
  #connections = new Map();

  /** Loads the control; `spoken` describes the module's form of events. */
  prepare(spoken, memory) {
    this.spoken = spoken;
    this.memory = memory;
    this.made = complete(evaluate());
    this.methods = spoken.events.reduce((bits, { name }, at) => bits + (this.made.prototype[name] ? 2 ** at : 0), 0);
  }

  /** Passes an event to the control of a connection; its window, its rate and what it has methods for to the module. */
  tell(connection, event, fields, answer) {
    const { name, fields: names } = this.spoken.events[event];
    const numbers = new Float64Array(this.memory.buffer, fields, names.length);
    const told = Object.fromEntries(names.map((field, at) => [field, this.#value(field, numbers[at])]));
    if (!this.#connections.has(connection)) this.#connections.set(connection, new this.made());
    const control = this.#connections.get(connection);
    control[name]?.(told);
    const [window, rate] = read(control.control(), this.spoken.limits);
    new Float64Array(this.memory.buffer, answer, 3).set([window, rate ?? NaN, this.methods]);
  }

  #value(field, number) {
    const words = this.spoken.words[field];
    if (words) return words[number];
    if (this.spoken.flags.includes(field)) return number === 1;
    return Number.isNaN(number) ? null : number;
  }
}

/** Returns a class that has the methods of a control. */
function complete(made) {
  for (const method of ["on_ack", "on_congestion", "control"]) {
    if (typeof made?.prototype?.[method] !== "function") {
      throw new Error(`the control has no method ${method}; on_ack(sample), on_congestion(event) and control() are needed`);
    }
  }
  return made;
}

/** A window in packets, and a pacing rate in payload bit/s or null. */
function read(answer, { window: windows, rate: rates }) {
  const [window, rate = null] = Array.isArray(answer) ? answer : [answer];
  check(window, "a window", windows, "packets");
  if (rate !== null) check(rate, "a rate", rates, "bit/s");
  return [window, rate];
}

function check(value, what, [least, most], unit) {
  if (value >= least && value <= most) return;
  throw new Error(`control() returned ${what} of ${value}; ${least} to ${most} ${unit} would be right`);
}

let module;

self.onmessage = ({ data: { wasm, number, request } }) => {
  if (wasm) module = WebAssembly.compile(wasm);
  else reply(number, (progress) => answer(module, request, { own: new Own(), progress }));
};
