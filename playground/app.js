// The page: a description, shown by the form and the text, and the run of it.
import { Charts } from "./charts.js";
import { Engine } from "./engine.js";
import { made } from "./fields.js";
import { Form } from "./form.js";
import { Network } from "./network.js";
import { looks } from "./looks.js";
import { numbers } from "./numbers.js";
import { Packets } from "./packets.js";
import { series } from "./series.js";
import { csv, download, fileName, link, linked } from "./share.js";

const OWN = "mine";
const PAUSE_MS = 30;
const TYPING_MS = 400;
const TABLES = ["flow_samples", "queue_samples", "distributions", "completions"];

const element = (id) => document.getElementById(id);
const file = async (name) => (await fetch(new URL(name, import.meta.url))).text();

const engine = new Engine();
const look = await looks(() => shown);
const form = new Form(element("form"), await engine.ask({ do: "schema" }), edit);
const network = new Network(element("network"), { button: element("play"), slide: element("time"), said: element("said") });
const charts = new Charts(element("charts"), look, (time) => network.seekTime(time));
const packets = new Packets({ box: element("packets"), flow: element("packet-flow"), from: element("packet-from"), span: element("packet-span"), said: element("packet-said"), figure: element("sequence") }, run);
let shown = null;
let wait = null;
/** Whether the control's source came with a link and waits for the reader's consent. */
let foreign = false;

const text = () => element("text").value;
const source = () => (text().includes(`"${OWN}"`) ? element("source").value : null);

/** Puts values into the text, one after the other, as each edit starts from the result of the last. */
let edits = Promise.resolve();
function edit(list, redraw) {
  edits = edits.then(async () => {
    const said = await engine.ask({ do: "edit", text: text(), edits: list });
    if (said.problems) return problems(said.problems);
    element("text").value = said.text;
    changed(redraw, PAUSE_MS);
  });
}

/** Handles a changed description: draws the form if necessary, and runs. */
function changed(redraw, pause) {
  clearTimeout(wait);
  wait = setTimeout(async () => {
    if (redraw) await draw();
    await show();
  }, pause);
}

async function draw() {
  const said = await engine.ask({ do: "read", text: text() });
  if (!said.problems) form.show(said.document, OWN);
}

/** Runs a request; null if a newer one took its place, or if the reader must allow the control first. */
async function run(purpose, request) {
  if (awaitsConsent()) return null;
  const control = source() || null;
  return engine.run(purpose, { do: "run", own: control ? OWN : null, ...request }, control);
}

/** Shows a control that came with a link, and asks for it; returns whether the reader must answer first. */
function awaitsConsent() {
  const open = foreign && source() !== null;
  element("consent").hidden = !open;
  element("results").classList.toggle("waiting", open);
  if (!open) return false;
  element("foreign").textContent = source();
  element("status").textContent = "waiting for you";
  return true;
}

async function show() {
  if (awaitsConsent()) return;
  element("status").textContent = "running";
  const result = await run("charts", { text: text(), tables: TABLES });
  if (result === null) return;
  problems(result.problems ?? []);
  if (result.problems) return;
  element("status").textContent = `${result.packets.toLocaleString("en")} packets in ${result.seconds.toFixed(2)} s`;
  element("command").textContent = `narrows run ${fileName(result.document.name)}.toml`;
  const found = numbers(result);
  shown = result;
  table(found);
  const lines = series(result, found.bottleneck.bdp);
  charts.show(lines, { warmup: result.scenario.run.warmup_ns / 1e9 });
  const room = result.scenario.path.buffer.bytes / found.bottleneck.bdp || null;
  network.show(lines, found.byClass.map(({ name }, number) => look(name, number)), room);
  packets.offer(result, text());
  document.documentElement.dataset.digest = result.digest;
}

function problems(list) {
  element("problems").replaceChildren(...list.map(({ text }) => made("li", { textContent: text })));
  element("results").classList.toggle("stale", list.length > 0);
  if (list.length) element("status").textContent = "";
}

function table({ byClass, bottleneck, jain }) {
  const known = (value, show) => (value === null || Number.isNaN(value) ? "–" : show(value));
  const percent = (value) => known(value, (part) => `${(part * 100).toPrecision(3)} %`);
  const digits = (value) => known(value, (number) => number.toPrecision(3));
  const some = byClass.some(({ completions }) => completions.count > 0);
  const heads = ["Flows", "Number", "Goodput, Mbit/s", "Share", "RTT, ms", "RTT p95, ms", ...(some ? ["Done", "Time p50, s", "Time p95, s"] : [])];
  const row = (one, number) => {
    const mark = made("i");
    mark.style.borderColor = look(one.name, number).colour;
    const done = [one.completions.count, digits(one.completions.median), digits(one.completions.p95)];
    const cells = [one.flows.length, digits(one.goodput), percent(one.share), digits(one.rtt), digits(one.rtt95), ...(some ? done : [])];
    return made("tr", {}, made("td", {}, mark, one.name), ...cells.map((textContent) => made("td", { textContent })));
  };
  element("numbers").replaceChildren(
    made("thead", {}, made("tr", {}, ...heads.map((textContent) => made("th", { textContent, scope: "col" })))),
    made("tbody", {}, ...byClass.map(row)));
  element("bottleneck").textContent = `Bottleneck: ${percent(bottleneck.utilization)} used, ${percent(bottleneck.loss)} of packets dropped by the queue, `
    + `${digits(bottleneck.queue)} BDP waiting on average. Jain's index of the flows: ${digits(jain)}.`;
}

/** Runs again with a capture at the chosen point, and downloads it. */
async function capture(menu, name) {
  const point = menu.value;
  menu.value = "";
  element("status").textContent = "capturing";
  const result = await run("capture", { text: text(), tables: [], capture: point });
  if (result === null) return;
  problems(result.problems ?? []);
  if (result.problems) return;
  download(`${name}-${point}.pcapng`, result.file, "application/x-pcapng");
  element("status").textContent = `${(result.file.length / 1e6).toFixed(1)} MB of packets' headers, for Wireshark`;
}

/** Replaces the whole description; a given control comes from a link. */
async function open(given, control) {
  foreign = Boolean(control);
  element("text").value = given;
  element("source").value = control || (await file("mine.js.txt"));
  await draw();
  await show();
}

function wire(examples) {
  const menu = element("examples");
  menu.append(...examples.map(({ name, title }) => made("option", { value: name, textContent: title })));
  menu.addEventListener("change", async () => open(await file(`examples/${menu.value}.toml`)));
  element("text").addEventListener("input", () => changed(true, TYPING_MS));
  element("source").addEventListener("input", () => changed(false, TYPING_MS));
  element("allow").addEventListener("click", async () => {
    foreign = false;
    await show();
  });
  element("form").addEventListener("submit", (event) => event.preventDefault());
  const name = () => fileName(shown?.document.name);
  element("save").addEventListener("click", () => download(`${name()}.toml`, text(), "application/toml"));
  element("csv").addEventListener("click", () => shown && download(`${name()}-flow_samples.csv`, csv(shown.tables.flow_samples), "text/csv"));
  element("pcapng").addEventListener("change", ({ target }) => capture(target, name()));
  element("link").addEventListener("click", async () => {
    const address = await link(text(), source());
    history.replaceState(null, "", address);
    await navigator.clipboard?.writeText(address).catch(() => {});
    element("status").textContent = "The address of this page contains the description.";
  });
}

const examples = JSON.parse(await file("examples/index.json"));
wire(examples);
const given = location.hash.length > 1 ? await linked(location.hash) : null;
if (location.hash.length > 1 && !given) problems([{ text: "The address has no readable description; here is an example." }]);
await open(given?.text ?? (await file(`examples/${examples[0].name}.toml`)), given?.source);
if ("serviceWorker" in navigator && location.protocol !== "file:") navigator.serviceWorker.register("offline.js");
