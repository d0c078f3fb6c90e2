// Draws in a chart what isn't one of its series: the warm-up, the ghost, losses, PROBE_RTT, states.
import { colour } from "./colours.js";

const toDevice = (size) => size * (window.devicePixelRatio || 1);

/** Draws with the chart's canvas cut to its frame. */
function within(plot, draw) {
  const { left, top, width, height } = plot.bbox;
  const pen = plot.ctx;
  pen.save();
  pen.beginPath();
  pen.rect(left, top, width, height);
  pen.clip();
  draw(pen, plot.bbox, (time) => plot.valToPos(time, "x", true));
  pen.restore();
}

/** The warm-up is a little darker, as the numbers leave it out. */
export function shade(plot, warmup) {
  within(plot, (pen, { left, top, height }, x) => {
    pen.fillStyle = colour("var(--shade)");
    pen.fillRect(left, top, Math.max(x(warmup) - left, 0), height);
  });
}

/** The lines of an earlier run, dim. */
export function drawGhost(plot, times, lines) {
  within(plot, (pen, _, x) => {
    pen.globalAlpha = 0.35;
    pen.lineWidth = toDevice(1.2);
    for (const { values, colour: stroke } of lines) {
      pen.strokeStyle = colour(stroke);
      pen.beginPath();
      let down = false;
      values.forEach((value, at) => {
        if (value !== null) pen[down ? "lineTo" : "moveTo"](x(times[at]), plot.valToPos(value, "y", true));
        down = value !== null;
      });
      pen.stroke();
    }
  });
}

/** PROBE_RTT as bands in the colour of their class, named in the chart that has `named` where the name fits. */
export function drawProbes(plot, { probes }, byClass, { look }, named) {
  within(plot, (pen, { left: start, top, width, height }, x) => {
    pen.font = `${toDevice(10)}px system-ui, sans-serif`;
    const wide = pen.measureText("PROBE_RTT").width + toDevice(3);
    const ends = [...probes.flat().map(({ from }) => x(from)), start + width];
    let free = -Infinity;
    probes.forEach((spans, number) => {
      const tint = look(byClass[number].name, number).colour;
      for (const { from, to } of spans) {
        const [left, right] = [x(from), Math.max(x(to), x(from) + toDevice(2))];
        pen.globalAlpha = 0.22;
        pen.fillStyle = tint;
        pen.fillRect(left, top, right - left, height);
        const fits = ends.every((end) => end <= right || end >= right + wide);
        if (!named || left < free || !(fits || free === -Infinity)) continue;
        pen.globalAlpha = 1;
        pen.fillStyle = colour("var(--faint)");
        pen.fillText("PROBE_RTT", right + toDevice(3), top + toDevice(10));
        free = right + Math.max(toDevice(90), wide);
      }
    });
  });
}

/** Losses as triangles at the bottom, a row for each class; the more packets, the darker. */
export function drawLosses(plot, { losses }, byClass, { look }) {
  const size = toDevice(7);
  within(plot, (pen, { top, height }, x) => {
    losses.forEach((lost, number) => {
      pen.fillStyle = look(byClass[number].name, number).colour;
      const bottom = top + height - number * (size + toDevice(2)) - toDevice(1);
      lost.forEach((packets, at) => {
        if (packets <= 0) return;
        const middle = x(plot.data[0][at]);
        pen.globalAlpha = Math.min(0.45 + packets / 20, 1);
        pen.beginPath();
        pen.moveTo(middle, bottom - size);
        pen.lineTo(middle + size / 2, bottom);
        pen.lineTo(middle - size / 2, bottom);
        pen.fill();
      });
    });
  });
}

/** A row for each flow: its states as bars, its loss recovery as a line below. */
export function drawStates(plot, flows, { state }) {
  within(plot, (pen, _, x) => {
    flows.forEach(({ states, episodes }, row) => {
      const [above, below] = [row - 0.34, row + 0.34].map((y) => plot.valToPos(y, "y", true));
      const bar = (from, to, tint, y, height) => {
        pen.fillStyle = tint;
        pen.fillRect(x(from), y, Math.max(x(to) - x(from), toDevice(1)), height);
      };
      const high = (below - above) * 0.7;
      for (const { from, to, name } of states) bar(from, to, state(name) ?? colour("var(--faint)"), above, high);
      for (const { from, to } of episodes) bar(from, to, state("recovery"), above + high + toDevice(1), toDevice(3));
    });
  });
}
