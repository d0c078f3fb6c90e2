// A chart as a picture, with its title and its legend.
import { colour } from "./colours.js";
import { download, fileName } from "./share.js";

const HEAD = 30;

/** Paints a chart below its title and its legend; returns the canvas. */
function paint(chart, title, series) {
  const { width, height } = chart.ctx.canvas;
  const scale = window.devicePixelRatio || 1;
  const canvas = Object.assign(document.createElement("canvas"), { width, height: height + HEAD * scale });
  const pen = canvas.getContext("2d");
  pen.fillStyle = colour("var(--ground)");
  pen.fillRect(0, 0, width, canvas.height);
  pen.drawImage(chart.ctx.canvas, 0, HEAD * scale);
  pen.scale(scale, scale);
  pen.font = "bold 13px system-ui, sans-serif";
  pen.fillStyle = colour("var(--ink)");
  pen.fillText(title, 8, 19);
  let x = 20 + pen.measureText(title).width;
  pen.font = "13px system-ui, sans-serif";
  for (const { title: name, colour: stroke, dash } of series) {
    pen.strokeStyle = colour(stroke);
    pen.lineWidth = 2;
    pen.setLineDash(dash);
    pen.beginPath();
    pen.moveTo(x, 15);
    pen.lineTo(x + 22, 15);
    pen.stroke();
    pen.fillText(name, x + 27, 19);
    x += 45 + pen.measureText(name).width;
  }
  return canvas;
}

/** Downloads a chart as PNG. */
export function savePicture(chart, title, series) {
  paint(chart, title, series).toBlob((picture) => download(`${fileName(title)}.png`, picture, "image/png"));
}
