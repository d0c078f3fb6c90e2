// Draws an instant of a run: senders, the packets that wait, the link, receivers, ACKs on their way back.
import { colour } from "./colours.js";

const HEIGHT = 210;
const PACKET = 1500;
const FALL = 0.35;
const MOVING = [7, 7];
const RED = "var(--bad)";

/** The places of a canvas of this width; the queue is as long as so many packets, its `grid` has a cell for each. */
function layout(width, classes, room) {
  const narrow = width < 560;
  const [label, middle, height] = [narrow ? 62 : 120, 84, 76];
  const lanes = classes.map((_, number) => 26 + ((number + 0.5) * 116) / classes.length);
  const [least, most] = [label + (narrow ? 28 : 60), width * (narrow ? 0.34 : 0.4)];
  const rows = Math.max(Math.floor(height / Math.min(Math.sqrt((most * height) / room), 13)), 1);
  const columns = Math.ceil(room / rows);
  const grid = { rows, across: Math.min(most / columns, 13), down: height / rows };
  const [out, long] = [least + most, columns * grid.across];
  const box = { x: out - long, y: middle - height / 2, width: long, height };
  return { width, middle, lanes, box, grid, sender: label, out, receiver: width - label, back: HEIGHT - 24 };
}

const between = (from, to, part) => [from[0] + (to[0] - from[0]) * part, from[1] + (to[1] - from[1]) * part];

/**
 * Draws the journeys at a time. `scale` is the lowest round-trip time: what has no length in the model, such as the
 * way into the queue and a fall, takes a part of it. Returns how many packets wait and how many have been dropped.
 */
export function drawScene(canvas, { packets, acks }, { time, scale, classes, classOf, room }) {
  const ratio = window.devicePixelRatio || 1;
  const place = layout(canvas.clientWidth || 600, classes, room);
  [canvas.width, canvas.height] = [place.width * ratio, HEIGHT * ratio];
  const pen = canvas.getContext("2d");
  pen.scale(ratio, ratio);
  pen.font = "13px system-ui, sans-serif";
  drawFrame(pen, place, classes);
  const tints = classes.map(({ colour: written }) => colour(written));
  const entry = scale * 0.06;
  const waiting = packets.filter((one) => one.sent <= time && time < Math.min(one.left, one.dropped, one.lost));
  const last = (one) => Math.min(one.left, one.dropped, one.lost);
  waiting.sort((a, b) => (last(a) === last(b) ? a.sent - b.sent : last(a) - last(b)));
  const { rows, across, down } = place.grid;
  const spot = (at) => [place.out - (Math.floor(at / rows) + 1) * across, place.box.y + (at % rows) * down];
  const size = [across, down].map((side) => Math.max(side - 1, side * 0.7));
  waiting.forEach((one, at) => drawPacket(pen, spot(at), size, tints[classOf(one.flow)], one.again));
  for (const one of packets) {
    const tint = tints[classOf(one.flow)];
    const lane = place.lanes[classOf(one.flow)];
    if (time < one.sent && one.sent - time < entry) {
      const at = between([place.box.x, place.middle], [place.sender, lane], (one.sent - time) / entry);
      drawPacket(pen, at, MOVING, tint, one.again);
    } else if (one.left <= time && time < one.received) drawFlight(pen, place, { one, time, scale, lane, tint });
    const gone = Math.min(one.dropped, one.lost);
    if (gone <= time && time - gone < scale * FALL) drawFall(pen, place, one, (time - gone) / (scale * FALL));
  }
  for (const ack of acks) if (ack.sent <= time && time < ack.received) drawAck(pen, place, { ack, time, scale, lane: place.lanes[classOf(ack.flow)], tint: tints[classOf(ack.flow)] });
  return { waiting: waiting.length, dropped: packets.filter((one) => Math.min(one.dropped, one.lost) <= time).length };
}

function drawFrame(pen, { width, lanes, middle, box, sender, out, receiver, back }, classes) {
  pen.strokeStyle = colour("var(--grid)");
  pen.lineWidth = 1.5;
  const line = (...points) => {
    pen.beginPath();
    points.forEach(([x, y], at) => pen[at ? "lineTo" : "moveTo"](x, y));
    pen.stroke();
  };
  lanes.forEach((y) => {
    line([sender, y], [box.x, middle]);
    line([out + 26, middle], [receiver, y]);
  });
  line([receiver, back], [sender, back]);
  pen.fillStyle = colour("var(--card)");
  pen.fillRect(box.x, box.y, box.width, box.height);
  pen.strokeRect(box.x, box.y, box.width, box.height);
  pen.fillStyle = colour("var(--ink)");
  pen.fillRect(out, middle - 2.5, 26, 5);
  const room = sender - 16;
  classes.forEach(({ title, colour: written }, number) => {
    pen.fillStyle = colour(written);
    for (const x of [2, receiver + 4]) pen.fillRect(x, lanes[number] - 9, 4, 18);
    pen.fillStyle = colour("var(--ink)");
    for (const x of [10, receiver + 12]) pen.fillText(title, x, lanes[number] + 4.5, room);
  });
  pen.fillStyle = colour("var(--faint)");
  pen.fillText("queue", box.x, box.y - 7);
  pen.fillText("ACKs", 10, back + 4.5, room);
}

/** A packet; one that was sent before has a frame. */
function drawPacket(pen, [x, y], [width, height], tint, again) {
  pen.fillStyle = tint;
  pen.fillRect(x, y, width, height);
  if (!again || width < 4) return;
  pen.strokeStyle = colour("var(--ink)");
  pen.lineWidth = 1.5;
  pen.strokeRect(x + 0.5, y + 0.5, width - 1, height - 1);
}

function drawFlight(pen, { out, middle, receiver }, { one, time, scale, lane, tint }) {
  const lasts = Number.isFinite(one.received) ? one.received - one.left : scale / 2;
  const part = Math.min((time - one.left) / lasts, 1);
  const from = [out + 26, middle];
  const at = part < 0.1 ? between([out, middle], from, part / 0.1) : between(from, [receiver, lane], (part - 0.1) / 0.9);
  drawPacket(pen, [at[0] - 3.5, at[1] - 3.5], MOVING, tint, one.again);
}

/** A packet that the queue dropped falls from it; one that the path lost falls from the line behind it. */
function drawFall(pen, { box, out, middle }, one, part) {
  const [x, y] = one.lost < Infinity ? [out + 40, middle] : [box.x - 4, box.y + box.height - 6];
  pen.globalAlpha = 1 - part;
  pen.strokeStyle = colour(RED);
  pen.lineWidth = 2.5;
  const [at, size] = [y + part * 60, 5];
  pen.beginPath();
  for (const way of [1, -1]) {
    pen.moveTo(x - size, at - size * way);
    pen.lineTo(x + size, at + size * way);
  }
  pen.stroke();
  pen.globalAlpha = 1;
}

function drawAck(pen, { receiver, sender, back }, { ack, time, scale, lane, tint }) {
  const lasts = Number.isFinite(ack.received) ? ack.received - ack.sent : scale / 2;
  const part = Math.min((time - ack.sent) / lasts, 1);
  const [x, y] = part < 0.12 ? between([receiver, lane], [receiver, back], part / 0.12)
    : part > 0.88 ? between([sender, back], [sender, lane], (part - 0.88) / 0.12)
      : between([receiver, back], [sender, back], (part - 0.12) / 0.76);
  pen.fillStyle = tint;
  pen.beginPath();
  pen.arc(x, y, 2.6, 0, 2 * Math.PI);
  pen.fill();
}

/** How many packets fit into a buffer of this many bytes; at least as many as ever waited. */
export function roomOf(buffer, most) {
  return Math.max(Math.ceil((buffer ?? 0) / PACKET), most, 10);
}
