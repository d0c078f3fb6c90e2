// The journeys of packets and of ACKs, from the events of a run's packets.

/** A list for each key, made on demand. */
function lists() {
  const found = new Map();
  return (key) => found.get(key) ?? found.set(key, []).get(key);
}

/**
 * Data packets with the times at which they were `sent`, and `left` the bottleneck, were `received`, `dropped` by the
 * queue or `lost` on the path; Infinity if that comes later or never. A packet that waited from the beginning has no
 * time of sending: -Infinity. ACKs have the times at which they were `sent` and `received`.
 */
export function journeys(rows) {
  const [packets, acks] = [[], []];
  const [onWay, ackOnWay] = [lists(), lists()];
  const begin = (row, sent) => {
    const made = { flow: rows.flow[row], seq: rows.seq[row], again: rows.retransmission[row] === true, sent, left: Infinity, received: Infinity, dropped: Infinity, lost: Infinity };
    packets.push(made);
    return made;
  };
  rows.event.forEach((event, row) => {
    const [time, key] = [rows.time_s[row], `${rows.flow[row]}/${rows.instance[row]}/${rows.seq[row]}`];
    if (event === "ack_sent") {
      const ack = { flow: rows.flow[row], sent: time, received: Infinity };
      acks.push(ack);
      ackOnWay(key).push(ack);
    } else if (event === "ack_received") {
      const ack = ackOnWay(key).shift();
      if (ack) ack.received = time;
    } else if (event === "sent") onWay(key).push(begin(row, time));
    else step(onWay(key), event, time, () => begin(row, -Infinity));
  });
  return { packets, acks };
}

/** Notes what happened to the earliest packet that it can have happened to; `begin` makes one that waited before. */
function step(sent, event, time, begin) {
  const waits = (one) => one.left === Infinity && one.dropped === Infinity;
  if (event === "forwarded" || event === "dropped") {
    let packet = sent.find(waits);
    if (!packet) sent.push((packet = begin()));
    packet[event === "forwarded" ? "left" : "dropped"] = time;
    return;
  }
  const packet = sent.find((one) => one.received === Infinity && one.lost === Infinity && one.dropped === Infinity);
  if (packet) packet[event] = time;
}
