// Runs the first trial of a specification in WebAssembly and prints its digest, or its problems:
//   node tests/wasm/digest.mjs MODULE.wasm SPEC.toml
import { readFileSync } from "node:fs";

const [, , module, spec] = process.argv;
const page = { control: () => { throw new Error("no control was given"); }, progress: () => {} };
const { instance } = await WebAssembly.instantiate(readFileSync(module), { page });
const { memory, text, call, answer } = instance.exports;
const request = { do: "run", text: readFileSync(spec, "utf8"), tables: [] };
const given = new TextEncoder().encode(JSON.stringify(request));
const address = text(given.length);
new Uint8Array(memory.buffer, address, given.length).set(given);
const length = call();
const said = JSON.parse(new TextDecoder().decode(new Uint8Array(memory.buffer, answer(), length)));
console.log(said.digest ?? said.problems.map((problem) => problem.text).join("\n"));
