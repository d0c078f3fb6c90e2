// Metrics from the tables of a run, by the definitions of docs/reference/metrics.md.

// Sample times are whole nanoseconds; as floats they may be a little off.
const SLACK_S = 1e-9;

/** Indices of the rows, in a table of columns, that pass a test. */
function rows(column, keep) {
  return column.flatMap((value, row) => (keep(value, row) ? [row] : []));
}

/** The growth of a counter from the warm-up to the end, for one flow or link. */
function growth(table, mine, counter, warmup) {
  const before = mine.filter((row) => table.time_s[row] <= warmup + SLACK_S).at(-1);
  const last = mine.at(-1);
  if (last === undefined) return 0;
  return table[counter][last] - (before === undefined ? 0 : table[counter][before]);
}

/** A histogram's rows of a kind for these ids, by value. */
function histogram(table, kind, ids) {
  const mine = rows(table.kind, (name, row) => name === kind && ids.includes(table.id[row]));
  return mine.map((row) => [table.value[row], table.weight[row]]).sort(([a], [b]) => a - b);
}

/** The mean of what flows or a link measured: the exact mean of each, by its weight. */
function mean(table, kind, exact, ids) {
  const mine = rows(table.kind, (name, row) => name === exact && ids.includes(table.id[row]));
  const sums = mine.map((row) => {
    const weight = histogram(table, kind, [table.id[row]]).reduce((sum, [, w]) => sum + w, 0);
    return { weight, total: weight * table.value[row] };
  });
  const weight = sums.reduce((sum, one) => sum + one.weight, 0);
  return weight ? sums.reduce((sum, one) => sum + one.total, 0) / weight : null;
}

function quantile(buckets, part) {
  const wanted = part * buckets.reduce((sum, [, weight]) => sum + weight, 0);
  let passed = 0;
  for (const [value, weight] of buckets) {
    passed += weight;
    if (passed >= wanted) return value;
  }
  return null;
}

/** The names of classes in their order, with the ids of their flows. */
export function classes(groups) {
  const found = new Map();
  groups.forEach((name, flow) => found.set(name, [...(found.get(name) ?? []), flow]));
  return [...found].map(([name, flows]) => ({ name, flows }));
}

/** The goodput of a flow in Mbit/s, since the warm-up or its later start. */
function goodput(result, flow) {
  const { scenario, end_s: end, tables } = result;
  const warmup = scenario.run.warmup_ns / 1e9;
  const { start_ns: start, stop_ns: stop } = scenario.flows[flow];
  const span = Math.min(end, stop === null ? end : stop / 1e9) - Math.max(warmup, start / 1e9);
  const mine = rows(tables.flow_samples.flow, (id) => id === flow);
  const bytes = growth(tables.flow_samples, mine, "received_bytes", warmup);
  return { bytes, mbps: span > 0 ? (bytes * 8) / span / 1e6 : 0 };
}

/** Numbers by class and of the bottleneck. */
export function numbers(result) {
  const { scenario, tables } = result;
  const single = scenario.flows.map((_, flow) => goodput(result, flow));
  const all = single.reduce((sum, { bytes }) => sum + bytes, 0);
  const sum = (flows, key) => flows.reduce((total, flow) => total + single[flow][key], 0);
  const byClass = classes(result.groups).map(({ name, flows }) => {
    const rtts = histogram(tables.distributions, "rtt_ms", flows);
    return {
      name, flows,
      goodput: sum(flows, "mbps"), share: all ? sum(flows, "bytes") / all : null,
      rtt: mean(tables.distributions, "rtt_ms", "rtt_mean_ms", flows), rtt95: quantile(rtts, 0.95),
      completions: times(tables.completions, flows),
    };
  });
  return { byClass, bottleneck: bottleneck(result), jain: jain(single.map(({ bytes }) => bytes)) };
}

function bottleneck({ scenario, end_s: end, tables }) {
  const warmup = scenario.run.warmup_ns / 1e9;
  const { rate_bps: rate, rtt_ns: rtt } = scenario.path;
  const table = tables.queue_samples;
  const mine = rows(table.link, (link) => link === 0);
  const grown = (counter) => growth(table, mine, counter, warmup);
  const arrived = grown("arrived_packets");
  const bdp = (rate * rtt) / 8e9;
  return {
    utilization: (grown("forwarded_bytes") * 8) / (rate * (end - warmup)),
    loss: arrived ? grown("dropped_packets") / arrived : null,
    queue: mean(tables.distributions, "queue_bytes", "queue_mean_bytes", [0]) / bdp,
    bdp,
  };
}

/** Completion times in seconds: their number, median and 95th percentile. */
function times(table, flows) {
  const mine = rows(table.flow, (id) => flows.includes(id));
  const buckets = mine.map((row) => [table.end_s[row] - table.start_s[row], 1]).sort(([a], [b]) => a - b);
  return { count: mine.length, median: quantile(buckets, 0.5), p95: quantile(buckets, 0.95) };
}

/** Jain's fairness index of what flows received. */
function jain(amounts) {
  const total = amounts.reduce((sum, one) => sum + one, 0);
  const squares = amounts.reduce((sum, one) => sum + one * one, 0);
  return squares ? total ** 2 / (amounts.length * squares) : null;
}
