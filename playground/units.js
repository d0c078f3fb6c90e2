// Quantities as they are written in a specification: a number with its unit.

export const UNITS = {
  rate: [["kbit", 1e3], ["mbit", 1e6], ["gbit", 1e9]],
  time: [["us", 1e-6], ["ms", 1e-3], ["s", 1]],
  bdp: [["bdp", 1]],
};
const OTHER = { bit: 1, ns: 1e-9, min: 60 };

/** The number of a text such as "20mbit"; null if its unit isn't one of `units`. */
export function parse(text, units) {
  const [, digits, unit] = /^\s*([\d.]+) ?([a-z]+)\s*$/.exec(text ?? "") ?? [];
  const known = units.find(([name]) => name === unit);
  const size = known?.[1] ?? (units.length > 1 ? OTHER[unit] : undefined);
  return size === undefined ? null : Number(digits) * size;
}

/** A number as a text with a suitable unit and two significant digits. */
export function format(number, units) {
  const [unit, size] = units.findLast(([, size]) => number >= size * 0.9995) ?? units[0];
  return `${Number((number / size).toPrecision(2))}${unit}`;
}

const SIZES = { b: 1, kb: 1e3, mb: 1e6, kib: 1024, mib: 1048576, pkt: 1500 };

/** The bytes of a text such as "600kb"; null if it is no such quantity. */
export function bytes(text) {
  const [, digits, unit] = /^\s*([\d.]+) ?([a-z]+)\s*$/.exec(text ?? "") ?? [];
  return SIZES[unit] === undefined ? null : Number(digits) * SIZES[unit];
}
