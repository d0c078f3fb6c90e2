// The marks of a run's charts: losses and states, from the samples of its flows.
import { rowsOf } from "./series.js";

const MOST_FLOWS = 12;
const EPISODES = ["recovery", "loss", "cwr"];

/** Spans `{ from, to, name }` of equal names; an empty name makes none. */
function spans(times, names) {
  const found = [];
  names.forEach((name, at) => {
    const before = found.at(-1);
    const from = times[Math.max(at - 1, 0)];
    if (before?.name === name && before.to === from) before.to = times[at];
    else if (name) found.push({ from, to: times[at], name });
  });
  return found;
}

/**
 * `losses`: for each class, the packets lost or dropped since the previous sample, at each sample; `probes`: for each
 * class, the spans in which one of its flows is in PROBE_RTT; `flows`: for each of the first flows its
 * name, its class and the spans of its states and of its episodes of loss recovery.
 */
export function marks({ tables, groups, scenario, numbers }) {
  const table = tables.flow_samples;
  const byFlow = rowsOf(table.flow);
  const times = (byFlow.get(0) ?? []).map((row) => table.time_s[row]);
  const column = (flow, name) => byFlow.get(flow).map((row) => table[name][row]);
  const growth = (values) => values.map((value, at) => value - (values[at - 1] ?? 0));
  const all = numbers.classes;
  const losses = all.map(({ flows }) => {
    const single = flows.map((flow) => growth(column(flow, "dropped")));
    return times.map((_, at) => single.reduce((sum, one) => sum + (one[at] ?? 0), 0));
  });
  const probes = all.map(({ flows }) => {
    const single = flows.map((flow) => column(flow, "cca_state"));
    return spans(times, times.map((_, at) => (single.some((one) => one[at] === "probe_rtt") ? "probe_rtt" : "")));
  });
  const flows = groups.slice(0, MOST_FLOWS).map((group, flow) => ({
    name: scenario.flows[flow].name,
    group: all.findIndex(({ name }) => name === group),
    states: spans(times, column(flow, "cca_state")),
    episodes: spans(times, column(flow, "state").map((name) => (EPISODES.includes(name) ? name : ""))),
  }));
  return { losses, probes, flows, left: groups.length - flows.length };
}
