// The numbers of a run as a table.
import { make } from "./fields.js";

const orDash = (value, show) => (value === null || Number.isNaN(value) ? "–" : show(value));
const percent = (value) => orDash(value, (part) => `${(part * 100).toPrecision(3)} %`);
const digits = (value) => orDash(value, (number) => number.toPrecision(3));

/** Fills a table with a row for each class. */
export function fillTable(table, classes, look) {
  const some = classes.some(({ completed }) => completed > 0);
  const heads = ["Flows", "Number", "Goodput, Mbit/s", "Share", "RTT, ms", "RTT p95, ms", ...(some ? ["Done", "Time p50, s", "Time p95, s"] : [])];
  const row = (one, number) => {
    const { colour, title } = look(one.name, number);
    const mark = make("i");
    mark.style.borderColor = colour;
    const done = [one.completed, digits(one.completion_p50_s), digits(one.completion_p95_s)];
    const cells = [one.flows.length, digits(one.goodput_mbps), percent(one.share), digits(one.rtt_mean_ms), digits(one.rtt_p95_ms), ...(some ? done : [])];
    return make("tr", {}, make("td", {}, mark, title), ...cells.map((textContent) => make("td", { textContent })));
  };
  table.replaceChildren(
    make("thead", {}, make("tr", {}, ...heads.map((textContent) => make("th", { textContent, scope: "col" })))),
    make("tbody", {}, ...classes.map(row)));
}

/** The bottleneck in a sentence or two. */
export function describeBottleneck({ bottleneck, jain }) {
  return `Bottleneck: ${percent(bottleneck.utilization)} used, ${percent(bottleneck.loss_rate)} of packets dropped by the queue, `
    + `${digits(bottleneck.queue_mean_bdp)} BDP waiting on average. Jain's index of the flows: ${digits(jain)}.`;
}
