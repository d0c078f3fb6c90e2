// The names that people know: of congestion controls and their groups, and of presets of paths.
import { at, choices } from "./schema.js";

const CHIPS = { cable: "Cable", dsl: "DSL", lte: "LTE", "5g": "5G", wifi: "Wi-Fi", leo: "Satellite, low", geo: "Satellite, high", datacentre: "Data centre" };

/** A file of names beside this script. */
export async function load(name) {
  return (await fetch(new URL(name, import.meta.url))).json();
}

/** The controls of a schema in their groups; one that no group has comes last. */
export function groupControls(schema, { groups, titles }, own = []) {
  const known = choices(at(schema, "flows.0.cca")).map((one) => ({ ...one, shown: titles[one.name] ?? one.name }));
  const found = groups.map(({ title, what, names }) => ({ title, what, choices: names.flatMap((name) => known.find((one) => one.name === name) ?? []) }));
  const left = known.filter(({ name }) => !groups.some(({ names }) => names.includes(name)));
  const others = [...own, ...left];
  return others.length ? [...found, { title: "Others", choices: others }] : found;
}

/** The presets that are kinds of networks: each with a short title, its path and a remark. */
export function networks(presets) {
  return Object.entries(CHIPS).flatMap(([name, title]) => (presets[name] ? [{ name, title, ...presets[name] }] : []));
}
