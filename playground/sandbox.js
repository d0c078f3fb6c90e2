// Runs a control written in JavaScript where it reaches nothing: in the worker of a frame of an opaque origin.
import { make } from "./fields.js";

const fetchFile = async (name) => {
  const response = await fetch(new URL(name, import.meta.url));
  if (!response.ok) throw new Error(`${name}: ${response.status} ${response.statusText}`);
  return response;
};
const text = async (name) => (await fetchFile(name)).text();

/** Starts a worker with the source of a control, a class expression. Returns how to send it requests and to end it. */
export function startSandbox(source, { onAnswer, onFailure }) {
  const { port1: port, port2: inner } = new MessageChannel();
  const frame = make("iframe", { hidden: true, sandbox: "allow-scripts", title: "The control of your own" });
  port.onmessage = ({ data }) => ("failure" in data ? onFailure(...locate(data, source)) : onAnswer(locateProblem(data, source)));
  const ready = open(frame, inner, source).then((wasm) => port.postMessage({ wasm }));
  ready.catch((error) => onFailure(error.message));
  return {
    send: (request) => ready.then(() => port.postMessage(request), () => {}),
    end: () => {
      frame.remove();
      port.close();
    },
  };
}

/** Loads the frame and its worker; returns the simulator's bytes, as a frame can't fetch them. */
async function open(frame, port, source) {
  const [page, instance, own, wasm] = await Promise.all([
    text("frame.html"), text("instance.js"), text("own.js"), fetchFile("narrows.wasm").then((file) => file.arrayBuffer()),
  ]);
  const loaded = new Promise((resolve) => frame.addEventListener("load", resolve, { once: true }));
  frame.srcdoc = page;
  document.body.append(frame);
  await loaded;
  // The source comes first, so that an error in it has its own line.
  const texts = ['"use strict"; const evaluate = () => (\n', source, "\n);\n", instance, own];
  frame.contentWindow.postMessage(texts, "*", [port]);
  return wasm;
}

/** A message with the line of the control that it is about, and that line. */
function locate({ failure, line }, source) {
  const own = line - 1;
  return own >= 1 && own <= source.split("\n").length ? [`the control, line ${own}: ${failure}`, own] : [failure];
}

/** An answer whose problem has the line of the control in which it was thrown. */
function locateProblem(data, source) {
  const [problem] = data.said?.problems ?? [];
  const [, line] = /blob:[^\s)]*:(\d+):\d+/.exec(problem?.stack ?? "") ?? [];
  if (!line) return data;
  const [text, own] = locate({ failure: problem.text, line: Number(line) }, source);
  return { ...data, said: { problems: [{ text, own }] } };
}
