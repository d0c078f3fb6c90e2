// The page: a description, shown by the form and the text, and the run of it.
import { Charts } from "./charts.js";
import { Curve } from "./curve.js";
import { Engine } from "./engine.js";
import { make } from "./fields.js";
import { Form } from "./form.js";
import { Ghost } from "./ghost.js";
import { looks } from "./looks.js";
import { marks } from "./marks.js";
import { Motion } from "./motion.js";
import { load } from "./names.js";
import { Packets } from "./packets.js";
import { showProblems } from "./problems.js";
import { series } from "./series.js";
import { csv, download, embedding, fileName, link, readLink } from "./share.js";
import { Sweep } from "./sweep.js";
import { describeBottleneck, fillTable } from "./table.js";

const OWN = "mine";
const PAUSE_MS = 30;
const TYPING_MS = 400;
const SLOW_MS = 400;
const IDLE_MS = 300;
const TABLES = ["flow_samples", "queue_samples"];

const element = (id) => document.getElementById(id);
const file = async (name) => (await fetch(new URL(name, import.meta.url))).text();

document.documentElement.classList.toggle("embedded", new URLSearchParams(location.search).has("embed"));
const engine = new Engine();
const look = await looks(() => shown);
const [groups, presets, { titles }] = await Promise.all(["controls.json", "presets.json", "looks.json"].map(load));
const form = new Form(element("form"), await engine.ask({ do: "schema" }), { groups, presets, titles }, edit);
const motion = new Motion({ canvas: element("network"), button: element("play"), time: element("time"), speed: element("speed"), said: element("said") }, run, (time) => charts.point(time));
const charts = new Charts(element("charts"), look, (time) => motion.seek(time));
const packets = new Packets({ box: element("packets"), flow: element("packet-flow"), from: element("packet-from"), span: element("packet-span"), said: element("packet-said"), figure: element("sequence") }, run);
const sweep = new Sweep(engine, run);
const curve = new Curve(element("curve"), element("curve-said"), (buffer) => edit([{ place: "path.buffer", value: `${buffer}bdp` }], true));
const ghost = new Ghost();
let shown = null;
let wait = null;
let idle = null;
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
    update(redraw, PAUSE_MS);
  });
}

/** Handles a changed description: draws the form if necessary, and runs. */
function update(redraw, pause) {
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
async function run(purpose, request, progress) {
  if (awaitsConsent()) return null;
  const control = source() || null;
  return engine.run(purpose, { do: "run", own: control ? OWN : null, ...request }, { source: control, progress });
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

/** Runs the description with its progress, and a button that stops it, once it takes long; null if another took its place. */
async function follow(purpose, request) {
  const bar = element("progress");
  bar.value = 0;
  element("status").textContent = "running";
  const late = setTimeout(() => { element("running").hidden = false; }, SLOW_MS);
  const result = await run(purpose, request, (part) => { bar.value = part; });
  clearTimeout(late);
  if (result) element("running").hidden = true;
  return result;
}

async function show() {
  if (awaitsConsent()) return;
  clearTimeout(idle);
  problems([]);
  const result = await follow("charts", { text: text(), tables: TABLES });
  if (result === null) return;
  problems(result.problems ?? []);
  if (!result.problems) present(result);
}

/** Shows a run. */
function present(result) {
  element("status").textContent = `${result.packets.toLocaleString("en")} packets in ${result.seconds.toFixed(2)} s`;
  element("command").textContent = `narrows run ${fileName(result.document.name)}.toml`;
  const found = result.numbers;
  shown = result;
  fillTable(element("numbers"), found.classes, look.look);
  element("bottleneck").textContent = describeBottleneck(found);
  const lines = series(result);
  charts.show(lines, { warmup: result.scenario.run.warmup_ns / 1e9, marks: marks(result), ghost: ghost.next(lines, result.document.name) });
  const mostWaiting = result.tables.queue_samples.backlog_packets.reduce((most, one) => Math.max(most, one), 0);
  const classOf = (flow) => found.classes.findIndex(({ flows }) => flows.includes(flow));
  motion.offer({ result, text: text(), mostWaiting, classOf, classes: found.classes.map(({ name }, number) => look.look(name, number)) });
  packets.offer(result, text());
  idle = setTimeout(() => compare(found, result), IDLE_MS);
  document.documentElement.dataset.digest = result.digest;
}

/** Runs the description with several buffers if two classes or more compete. */
async function compare({ classes, bottleneck }, { scenario }) {
  const panel = element("comparison");
  panel.hidden = classes.length < 2;
  if (panel.hidden) return sweep.stop();
  // As of now: another run may be shown when the first of these comes.
  const coloured = classes.map(({ name }, number) => ({ name, colour: look.look(name, number).colour }));
  const buffer = scenario.path.buffer.bytes;
  let begun = false;
  const begin = () => {
    begun = true;
    curve.begin(coloured);
  };
  curve.mark(buffer ? buffer / bottleneck.bdp_bytes : null);
  const seconds = await sweep.start(text(), source() ?? "", (at, shares) => {
    if (!begun) begin();
    curve.add(at, shares);
  });
  if (seconds !== null) panel.dataset.seconds = seconds.toFixed(2);
}

function problems(list) {
  showProblems({ list: element("problems"), form: element("form"), text: element("text"), source: element("source"), problems: list });
  element("results").classList.toggle("stale", list.length > 0);
  if (list.length) element("status").textContent = "";
}

/** Runs again with a capture at the chosen point, and downloads it. */
async function capture(menu, name) {
  const point = menu.value;
  menu.value = "";
  const result = await follow("capture", { text: text(), tables: [], capture: point });
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

/** Puts the address of the description, or what is made of it, into the clipboard. */
async function copy(written, said) {
  await navigator.clipboard?.writeText(written).catch(() => {});
  element("status").textContent = said;
}

function wire(examples) {
  const menu = element("examples");
  menu.append(...examples.map(({ name, title }) => make("option", { value: name, textContent: title })));
  menu.addEventListener("change", async () => open(await file(`examples/${menu.value}.toml`)));
  element("text").addEventListener("input", () => update(true, TYPING_MS));
  element("source").addEventListener("input", () => update(false, TYPING_MS));
  element("allow").addEventListener("click", async () => {
    foreign = false;
    await show();
  });
  element("stop").addEventListener("click", () => {
    for (const purpose of ["charts", "capture"]) engine.stop(purpose);
    element("running").hidden = true;
    element("results").classList.add("stale");
    element("status").textContent = "stopped; what is shown is the run before";
  });
  element("form").addEventListener("submit", (event) => event.preventDefault());
  const name = () => fileName(shown?.document.name);
  element("save").addEventListener("click", () => download(`${name()}.toml`, text(), "application/toml"));
  element("csv").addEventListener("click", () => shown && download(`${name()}-flow_samples.csv`, csv(shown.tables.flow_samples), "text/csv"));
  element("pcapng").addEventListener("change", ({ target }) => capture(target, name()));
  element("link").addEventListener("click", async () => {
    const address = await link(text(), source());
    history.replaceState(null, "", address);
    await copy(address, "The address of this page contains the description.");
  });
  element("embed").addEventListener("click", async () => {
    const snippet = element("snippet");
    snippet.hidden = false;
    snippet.value = embedding(await link(text(), source()));
    snippet.select();
    await copy(snippet.value, "Copied: HTML that shows this run in a page or on a slide.");
  });
  element("whole").addEventListener("click", async ({ target }) => { target.href = await link(text(), source()); });
}

const examples = JSON.parse(await file("examples/index.json"));
wire(examples);
const given = location.hash.length > 1 ? await readLink(location.hash) : null;
await open(given?.text ?? (await file(`examples/${examples[0].name}.toml`)), given?.source);
if (location.hash.length > 1 && !given) problems([{ text: "The address has no readable description; here is an example." }]);
if ("serviceWorker" in navigator && location.protocol !== "file:") navigator.serviceWorker.register("offline.js");
