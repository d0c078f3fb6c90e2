// Answers requests with the simulator. A classic script: the worker of a control of one's own is made from
// texts, and such a worker can't import modules.

const PROGRESS_MS = 200;

/** Returns the answer from a fresh instance of the module, so that nothing is left from the previous one. */
async function answer(module, request, { own = null, progress = () => {} } = {}) {
  const control = (...event) => own.tell(...event);
  const { exports } = await WebAssembly.instantiate(await module, { page: { control, progress } });
  const ask = (question) => {
    const given = new TextEncoder().encode(JSON.stringify(question));
    const address = exports.text(given.length);
    new Uint8Array(exports.memory.buffer, address, given.length).set(given);
    const length = exports.call();
    const said = new Uint8Array(exports.memory.buffer, exports.answer(), length);
    return JSON.parse(new TextDecoder().decode(said));
  };
  own?.prepare(ask({ do: "control" }), exports.memory);
  const said = ask(request);
  if (said.capture) said.file = new Uint8Array(exports.memory.buffer, exports.file(), said.capture).slice();
  return said;
}

/** Sends the page the answer to the request with this number, its progress on the way, and how long it took. */
async function reply(number, answered) {
  const began = performance.now();
  let next = began + PROGRESS_MS;
  const progress = (part) => {
    if (performance.now() < next) return;
    next = performance.now() + PROGRESS_MS;
    self.postMessage({ number, progress: part });
  };
  try {
    const said = await answered(progress);
    self.postMessage({ number, said, seconds: (performance.now() - began) / 1000 });
  } catch (error) {
    const problem = { text: String(error?.message ?? error), stack: String(error?.stack ?? "") };
    self.postMessage({ number, said: { problems: [problem] } });
  }
}
