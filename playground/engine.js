// Sends requests to workers: one for quick requests, and one for each purpose of runs.

export class Engine {
  #quick = new Thread();
  #runners = new Map();

  /** The answer to a quick request. */
  ask(request) {
    return this.#quick.ask(request);
  }

  /**
   * Runs a specification, with a control in JavaScript. Only the newest run
   * for a purpose counts; older ones give null.
   */
  run(purpose, request, source = null) {
    const runner = this.#runners.get(purpose) ?? new Thread();
    this.#runners.set(purpose, runner);
    if (runner.busy) runner.stop();
    return runner.ask(request, source);
  }
}

/** A worker, started on demand. */
class Thread {
  #worker = null;
  #waiting = new Map();
  #number = 0;

  get busy() {
    return this.#waiting.size > 0;
  }

  ask(request, source = null) {
    this.#worker ??= this.#begin();
    const number = ++this.#number;
    return new Promise((resolve) => {
      this.#waiting.set(number, resolve);
      this.#worker.postMessage({ number, request, source });
    });
  }

  /** Ends the worker, the only way to interrupt it; pending requests get null. */
  stop() {
    this.#worker?.terminate();
    this.#worker = null;
    this.#settle(null);
  }

  #begin() {
    const worker = new Worker(new URL("worker.js", import.meta.url), { type: "module" });
    worker.onmessage = ({ data: { number, said, seconds } }) => {
      this.#waiting.get(number)?.({ ...said, seconds });
      this.#waiting.delete(number);
    };
    worker.onerror = (event) => this.#settle({ problems: [{ text: event.message ?? "the worker failed" }] });
    return worker;
  }

  #settle(answer) {
    for (const resolve of this.#waiting.values()) resolve(answer);
    this.#waiting.clear();
  }
}
