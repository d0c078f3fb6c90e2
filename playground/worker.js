// The simulator in a separate thread. No code from outside runs in it.
importScripts("instance.js");

let module;

async function load() {
  const bytes = await fetch(new URL("narrows.wasm", self.location.href));
  if (!bytes.ok) throw new Error(`narrows.wasm: ${bytes.status} ${bytes.statusText}`);
  return WebAssembly.compile(await bytes.arrayBuffer());
}

self.onmessage = ({ data: { number, request } }) => {
  module ??= load();
  reply(number, (progress) => answer(module, request, { progress }));
};
