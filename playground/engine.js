// Sends requests to workers: one for quick requests, and one for each purpose of runs.
import { startSandbox } from "./sandbox.js";

export class Engine {
  #quick = new Runner();
  #runners = new Map();

  /** The answer to a quick request. */
  ask(request) {
    return this.#quick.ask(request);
  }

  /**
   * Runs a specification, with the source of a control in JavaScript. Only the newest run
   * for a purpose counts; older ones give null. `progress` gets the part that is done, now and then.
   */
  run(purpose, request, { source = null, progress = () => {} } = {}) {
    let runner = this.#runners.get(purpose);
    if (runner?.busy || runner?.source !== source) runner?.stop();
    if (runner?.source !== source) runner = new Runner(source);
    this.#runners.set(purpose, runner);
    return runner.ask(request, progress);
  }

  /** Ends the run for a purpose, which gives null. */
  stop(purpose) {
    const runner = this.#runners.get(purpose);
    if (runner?.busy) runner.stop();
  }
}

/** A worker, started on demand: in a sandbox if it runs the source of a control. */
class Runner {
  #channel = null;
  #waiting = new Map();
  #number = 0;

  constructor(source = null) {
    this.source = source;
  }

  get busy() {
    return this.#waiting.size > 0;
  }

  ask(request, progress = () => {}) {
    this.#channel ??= this.#start();
    const number = ++this.#number;
    return new Promise((resolve) => {
      this.#waiting.set(number, { resolve, progress });
      this.#channel.send({ number, request });
    });
  }

  /** Ends the worker, the only way to interrupt it; pending requests get null. */
  stop() {
    this.#end(null);
  }

  #start() {
    const onAnswer = ({ number, progress, said, seconds }) => {
      if (progress !== undefined) return this.#waiting.get(number)?.progress(progress);
      this.#waiting.get(number)?.resolve({ ...said, seconds });
      this.#waiting.delete(number);
    };
    const onFailure = (text, own) => this.#end({ problems: [{ text: text ?? "the worker failed", own }] });
    return this.source === null ? startWorker({ onAnswer, onFailure }) : startSandbox(this.source, { onAnswer, onFailure });
  }

  #end(answer) {
    this.#channel?.end();
    this.#channel = null;
    for (const { resolve } of this.#waiting.values()) resolve(answer);
    this.#waiting.clear();
  }
}

function startWorker({ onAnswer, onFailure }) {
  const worker = new Worker(new URL("worker.js", import.meta.url));
  worker.onmessage = ({ data }) => onAnswer(data);
  worker.onerror = ({ message }) => onFailure(message);
  return { send: (request) => worker.postMessage(request), end: () => worker.terminate() };
}
