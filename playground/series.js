// The series of a run's charts: a value of each class at each sample.

/** The rows of each flow or link, by number. */
export function rowsOf(keys) {
  const found = new Map();
  keys.forEach((key, row) => found.has(key) ? found.get(key).push(row) : found.set(key, [row]));
  return found;
}

/** The growth of a column since the previous row, in `unit` per second. */
function speeds(table, mine, column, unit) {
  return mine.map((row, at) => {
    const before = at ? mine[at - 1] : null;
    const span = table.time_s[row] - (before === null ? 0 : table.time_s[before]);
    return span > 0 ? (table[column][row] - (before === null ? 0 : table[column][before])) * unit / span : null;
  });
}

const sum = (values) => values.reduce((total, value) => total + (value ?? 0), 0);
const mean = (values) => {
  const known = values.filter((value) => value !== null && value !== undefined);
  return known.length ? sum(known) / known.length : null;
};

/** `times` in s; by class `throughput` in Mbit/s, `rtt` in ms, `inFlight` in packets; `queue` in BDP. */
export function series(result) {
  const { flow_samples: flows, queue_samples: queues } = result.tables;
  const byFlow = rowsOf(flows.flow);
  const times = (byFlow.get(0) ?? []).map((row) => flows.time_s[row]);
  const together = (members, values, combine) => times.map((_, at) => combine(members.map((flow) => values(flow)[at])));
  const received = new Map([...byFlow].map(([flow, mine]) => [flow, speeds(flows, mine, "received_bytes", 8e-6)]));
  const column = (name) => (flow) => byFlow.get(flow).map((row) => flows[name][row]);
  const memoize = (values) => {
    const kept = new Map();
    return (flow) => kept.get(flow) ?? kept.set(flow, values(flow)).get(flow);
  };
  const [rtts, packets] = [memoize(column("rtt_ms")), memoize(column("in_flight"))];
  const byClass = result.numbers.classes.map(({ name, flows: members }) => ({
    name,
    throughput: together(members, (flow) => received.get(flow), sum),
    rtt: together(members, rtts, mean),
    inFlight: together(members, packets, sum),
  }));
  const first = rowsOf(queues.link).get(0) ?? [];
  const queue = first.map((row) => queues.backlog_bytes[row] / result.numbers.bottleneck.bdp_bytes);
  return { times, byClass, queue };
}
