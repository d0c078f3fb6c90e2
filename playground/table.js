// The numbers of a run as a table.
import { made } from "./fields.js";

const known = (value, show) => (value === null || Number.isNaN(value) ? "–" : show(value));
const percent = (value) => known(value, (part) => `${(part * 100).toPrecision(3)} %`);
const digits = (value) => known(value, (number) => number.toPrecision(3));

/** Fills a table with a row for each class. */
export function fillTable(table, byClass, look) {
  const some = byClass.some(({ completions }) => completions.count > 0);
  const heads = ["Flows", "Number", "Goodput, Mbit/s", "Share", "RTT, ms", "RTT p95, ms", ...(some ? ["Done", "Time p50, s", "Time p95, s"] : [])];
  const row = (one, number) => {
    const { colour, title } = look(one.name, number);
    const mark = made("i");
    mark.style.borderColor = colour;
    const done = [one.completions.count, digits(one.completions.median), digits(one.completions.p95)];
    const cells = [one.flows.length, digits(one.goodput), percent(one.share), digits(one.rtt), digits(one.rtt95), ...(some ? done : [])];
    return made("tr", {}, made("td", {}, mark, title), ...cells.map((textContent) => made("td", { textContent })));
  };
  table.replaceChildren(
    made("thead", {}, made("tr", {}, ...heads.map((textContent) => made("th", { textContent, scope: "col" })))),
    made("tbody", {}, ...byClass.map(row)));
}

/** The bottleneck in a sentence or two. */
export function describeBottleneck({ bottleneck, jain }) {
  return `Bottleneck: ${percent(bottleneck.utilization)} used, ${percent(bottleneck.loss)} of packets dropped by the queue, `
    + `${digits(bottleneck.queue)} BDP waiting on average. Jain's index of the flows: ${digits(jain)}.`;
}
