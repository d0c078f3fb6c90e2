// A figure in a text: <live-run src="NAME" slide="PLACE" menu="PLACE" panels="NAMES">. It runs an example
// and draws it again whenever the reader moves its slider or chooses another word. With from="VALUE", to="VALUE" and
// value="MEASURE" it first asks for a prediction (prediction.js): the first slider then goes from one value to the other.
import { Charts } from "../charts.js";
import { Engine } from "../engine.js";
import * as fields from "../fields.js";
import { make } from "../fields.js";
import { Ghost } from "../ghost.js";
import { looks } from "../looks.js";
import { marks } from "../marks.js";
import { load } from "../names.js";
import { at, choices } from "../schema.js";
import { series } from "../series.js";
import { link } from "../share.js";
import { parse, UNITS } from "../units.js";
import { Prediction } from "./prediction.js";

const TABLES = ["flow_samples", "queue_samples"];
const SLIDES = {
  "path.rate": { label: "Rate", units: UNITS.rate, least: 1e6, most: 2e8 },
  "path.rtt": { label: "Round-trip time", units: UNITS.time, least: 5e-3, most: 0.3 },
  "path.buffer": { label: "Buffer", units: UNITS.bdp, least: 0.25, most: 16 },
  "flows.1.rtt": { label: "RTT of the far flow", units: UNITS.time, least: 0.02, most: 0.32 },
};
const LOSS = "path.loss";
const LABELS = { "path.queue": "Queue", "flows.0.cca": "Control", "flows.1.cca": "Second control" };

const engine = new Engine();
const [schema, { titles }] = await Promise.all([engine.ask({ do: "schema" }), load("looks.json")]);

class LiveRun extends HTMLElement {
  async connectedCallback() {
    this.text = await (await fetch(new URL(`../examples/${this.getAttribute("src")}.toml`, import.meta.url))).text();
    [this.controls, this.said, this.drawn] = [make("div", { className: "controls" }), make("p", { className: "said" }), make("div")];
    const begins = this.hasAttribute("from") ? [{ place: this.#list("slide")[0], value: this.#bound("from") }] : [];
    this.text = (await engine.ask({ do: "edit", text: this.text, edits: begins })).text;
    this.document = (await engine.ask({ do: "read", text: this.text })).document;
    if (begins.length) this.prediction = new Prediction(this, this.getAttribute("value"), { started: () => this.#drag(), solved: () => this.#free() });
    else this.#free();
    this.append(this.controls, this.said, this.drawn);
    this.look = await looks(() => this.shown);
    this.charts = new Charts(this.drawn, this.look, () => {}, this.#list("panels"));
    this.ghost = new Ghost();
    this.part = 0;
    await this.#run();
  }

  #list(name) {
    return (this.getAttribute(name) ?? "").split(" ").filter(Boolean);
  }

  /** An end of a prediction's slider, as written in the description. */
  #bound(name) {
    const written = this.getAttribute(name);
    return this.#list("slide")[0] === LOSS ? Number(written) : written;
  }

  #value(place) {
    return place.split(".").reduce((here, step) => here?.[step], this.document);
  }

  /** The slider of the prediction; the part of its way decides when the answer comes. */
  #drag() {
    const [place] = this.#list("slide");
    const put = (value, part) => {
      this.part = part;
      this.#put([{ place, value }]);
    };
    const [least, most] = [this.#bound("from"), this.#bound("to")];
    if (place === LOSS) {
      this.prediction.drag.append(fields.share({ label: "Random loss", value: least, most, change: (value) => put(value, value / most) }));
    } else {
      const { units, label } = SLIDES[place];
      const [from, to] = [parse(least, units), parse(most, units)];
      const part = (value) => Math.log(parse(value, units) / from) / Math.log(to / from);
      this.prediction.drag.append(fields.quantity({ label, value: least, units, least: from, most: to, change: (value) => put(value, part(value)) }));
    }
    this.prediction.drag.prepend(make("p", { textContent: `Now drag the slider to its end, ${place === LOSS ? `${most * 100} %` : most.replace(/[a-z]+/, (unit) => ` ${unit.replace("bdp", "BDP")}`)}.` }));
    this.prediction.offer(this.shown.numbers.classes, 0);
  }

  /** Offers all sliders and menus. */
  async #free() {
    this.document = (await engine.ask({ do: "read", text: this.text })).document;
    this.prediction?.drag.querySelectorAll(":scope > :not(figure)").forEach((one) => one.remove());
    this.controls.replaceChildren(...this.#list("slide").map((place) => this.#slide(place)), ...this.#list("menu").map((place) => this.#menu(place)));
  }

  #slide(place) {
    const change = (value) => this.#put([{ place, value }]);
    if (place === LOSS) return fields.share({ label: "Random loss", value: this.#value(place), most: 0.1, change });
    return fields.quantity({ ...SLIDES[place], value: this.#value(place), change });
  }

  /** A control in this place goes to all flows, if the figure is about one control. */
  #menu(place) {
    const all = place === "flows.0.cca" && this.hasAttribute("together");
    const places = all ? this.document.flows.map((_, number) => `flows.${number}.cca`) : [place];
    const change = (value) => this.#put(places.map((one) => ({ place: one, value })));
    const named = choices(at(schema, place)).map((one) => ({ ...one, shown: titles[one.name] ?? one.name }));
    return fields.menu({ label: LABELS[place], value: this.#value(place) ?? "droptail", choices: named, change });
  }

  async #put(edits) {
    const said = await engine.ask({ do: "edit", text: this.text, edits });
    if (said.text) this.text = said.text;
    await this.#run();
  }

  async #run() {
    const part = this.part;
    const result = await engine.run(this, { do: "run", text: this.text, tables: TABLES });
    if (result === null) return;
    if (result.problems) {
      this.said.textContent = result.problems[0].text;
      return;
    }
    this.shown = result;
    const found = result.numbers;
    const lines = series(result);
    this.charts.show(lines, { warmup: result.scenario.run.warmup_ns / 1e9, marks: marks(result), ghost: this.ghost.next(lines, result.document.name) });
    this.#say(found);
    this.prediction?.offer(found.classes, part);
    this.dataset.digest = result.digest;
  }

  async #say({ classes, bottleneck }) {
    const parts = classes.map(({ label, goodput_mbps: goodput, rtt_mean_ms: rtt }) => `${label} ${(goodput ?? 0).toPrecision(3)} Mbit/s, RTT ${rtt?.toFixed(0)} ms`);
    const loss = `${((bottleneck.loss_rate ?? 0) * 100).toPrecision(2)} % dropped`;
    const address = await link(this.text, null);
    const open = make("a", { href: new URL(`../${new URL(address).hash}`, import.meta.url).href, textContent: "Open in the playground" });
    this.said.replaceChildren(`${parts.join("; ")}; ${(bottleneck.queue_mean_bdp ?? 0).toFixed(2)} BDP waiting, ${loss}. `, open);
  }
}

customElements.define("live-run", LiveRun);
