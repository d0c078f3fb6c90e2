// The simulator in a thread of its own, which answers requests.
import { Own } from "./own.js";

let module;

async function load() {
  const bytes = await fetch(new URL("narrows.wasm", import.meta.url));
  if (!bytes.ok) throw new Error(`narrows.wasm: ${bytes.status} ${bytes.statusText}`);
  return WebAssembly.compile(await bytes.arrayBuffer());
}

/** Answers a request in a fresh instance, so that nothing is left from the previous one. */
async function answer(request, source) {
  module ??= load();
  const own = new Own();
  const { exports } = await WebAssembly.instantiate(await module, { page: own.imports });
  const ask = (question) => {
    const given = new TextEncoder().encode(JSON.stringify(question));
    const address = exports.text(given.length);
    new Uint8Array(exports.memory.buffer, address, given.length).set(given);
    const length = exports.call();
    const said = new Uint8Array(exports.memory.buffer, exports.answer(), length);
    return JSON.parse(new TextDecoder().decode(said));
  };
  if (source) own.prepare(source, ask({ do: "control" }), exports.memory);
  const said = ask(request);
  if (said.capture) said.file = new Uint8Array(exports.memory.buffer, exports.file(), said.capture).slice();
  return said;
}

self.onmessage = async ({ data: { number, request, source } }) => {
  const began = performance.now();
  try {
    const said = await answer(request, source);
    self.postMessage({ number, said, seconds: (performance.now() - began) / 1000 });
  } catch (error) {
    self.postMessage({ number, said: { problems: [{ text: String(error.message ?? error) }] } });
  }
};
