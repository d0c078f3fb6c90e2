// Runs the first trial of a specification in WebAssembly and prints its digest:
//   node tests/wasm/digest.mjs MODULE.wasm SPEC.toml
import { readFileSync } from "node:fs";

const [, , module, spec] = process.argv;
const { instance } = await WebAssembly.instantiate(readFileSync(module), {});
const { memory, text, run, answer } = instance.exports;
const given = readFileSync(spec);
const address = text(given.length);
new Uint8Array(memory.buffer, address, given.length).set(given);
const length = run();
console.log(new TextDecoder().decode(new Uint8Array(memory.buffer, answer(), length)));
