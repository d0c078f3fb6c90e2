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
