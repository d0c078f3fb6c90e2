// Runs a description with several buffers, in a few workers at once.

export const BUFFERS = Array.from({ length: 9 }, (_, at) => Number((0.25 * 2 ** (at * 0.75)).toPrecision(2)));
const WORKERS = Math.min(Math.max((navigator.hardwareConcurrency ?? 2) - 1, 1), 4);

/** The text with another buffer; null if it can't be edited. */
async function withBuffer(engine, text, buffer) {
  const edits = [{ place: "path.buffer", value: buffer === null ? null : `${buffer}bdp` }];
  return (await engine.ask({ do: "edit", text, edits })).text ?? null;
}

export class Sweep {
  #engine;
  #run;
  #generation = 0;
  #key = null;

  /** `run` runs a request for a purpose and gives null if it may not or was stopped. */
  constructor(engine, run) {
    this.#engine = engine;
    this.#run = run;
  }

  /**
   * Runs a text with each of BUFFERS; `found` gets a buffer and its shares, by class, as they arrive. Returns the
   * seconds that all took; null if another call took its place or nothing but the buffer has changed.
   */
  async start(text, source, found) {
    const rest = `${await withBuffer(this.#engine, text, null)}\n${source}`;
    if (rest === this.#key) return null;
    this.stop();
    this.#key = rest;
    const generation = this.#generation;
    const began = performance.now();
    const left = [...BUFFERS];
    const work = async (_, worker) => {
      while (left.length && generation === this.#generation) {
        const buffer = left.shift();
        const edited = await withBuffer(this.#engine, text, buffer);
        const result = edited && (await this.#run(`sweep ${worker}`, { text: edited, tables: [] }));
        if (!result || result.problems || generation !== this.#generation) return;
        found(buffer, result.numbers.classes);
      }
    };
    await Promise.all(Array.from({ length: WORKERS }, work));
    return generation === this.#generation ? (performance.now() - began) / 1000 : null;
  }

  /** Ends all runs; the next call starts anew. */
  stop() {
    this.#generation += 1;
    this.#key = null;
    for (let worker = 0; worker < WORKERS; worker += 1) this.#engine.stop(`sweep ${worker}`);
  }
}
