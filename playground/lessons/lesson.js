// A figure in a text: <live-run src="NAME" slide="PLACE" menu="PLACE" panels="NAMES">. It runs an example
// and draws it again whenever the reader moves its slider or chooses another word.
import { Charts } from "../charts.js";
import { Engine } from "../engine.js";
import * as fields from "../fields.js";
import { made } from "../fields.js";
import { looks } from "../looks.js";
import { numbers } from "../numbers.js";
import { at, choices } from "../schema.js";
import { series } from "../series.js";
import { link } from "../share.js";
import { UNITS } from "../units.js";

const TABLES = ["flow_samples", "queue_samples", "distributions", "completions"];
const SLIDES = {
  "path.rate": { label: "Rate", units: UNITS.rate, least: 1e6, most: 2e8 },
  "path.rtt": { label: "Round-trip time", units: UNITS.time, least: 5e-3, most: 0.3 },
  "path.buffer": { label: "Buffer", units: UNITS.bdp, least: 0.25, most: 16 },
  "flows.1.rtt": { label: "RTT of the far flow", units: UNITS.time, least: 0.02, most: 0.32 },
};
const LABELS = { "path.queue": "Queue", "flows.0.cca": "Control", "flows.1.cca": "Second control" };

const engine = new Engine();
const schema = await engine.ask({ do: "schema" });

class LiveRun extends HTMLElement {
  async connectedCallback() {
    this.text = await (await fetch(new URL(`../examples/${this.getAttribute("src")}.toml`, import.meta.url))).text();
    this.document = (await engine.ask({ do: "read", text: this.text })).document;
    const [controls, charts] = [made("div", { className: "controls" }), made("div")];
    this.said = made("p", { className: "said" });
    this.append(controls, this.said, charts);
    controls.append(...this.#list("slide").map((place) => this.#slide(place)), ...this.#list("menu").map((place) => this.#menu(place)));
    this.charts = new Charts(charts, await looks(() => this.shown), () => {}, this.#list("panels"));
    await this.#run();
  }

  #list(name) {
    return (this.getAttribute(name) ?? "").split(" ").filter(Boolean);
  }

  #value(place) {
    return place.split(".").reduce((here, step) => here?.[step], this.document);
  }

  #slide(place) {
    const change = (value) => this.#put([{ place, value }]);
    if (place === "path.loss") return fields.share({ label: "Random loss", value: this.#value(place), most: 0.1, change });
    return fields.quantity({ ...SLIDES[place], value: this.#value(place), change });
  }

  /** A control in this place goes to all flows, if the figure is about one control. */
  #menu(place) {
    const all = place === "flows.0.cca" && this.hasAttribute("together");
    const places = all ? this.document.flows.map((_, number) => `flows.${number}.cca`) : [place];
    const change = (value) => this.#put(places.map((one) => ({ place: one, value })));
    return fields.menu({ label: LABELS[place], value: this.#value(place) ?? "droptail", choices: choices(at(schema, place)), change });
  }

  async #put(edits) {
    const said = await engine.ask({ do: "edit", text: this.text, edits });
    if (said.text) this.text = said.text;
    await this.#run();
  }

  async #run() {
    const result = await engine.run(this, { do: "run", text: this.text, tables: TABLES });
    if (result === null) return;
    if (result.problems) {
      this.said.textContent = result.problems[0].text;
      return;
    }
    this.shown = result;
    const found = numbers(result);
    this.charts.show(series(result, found.bottleneck.bdp), { warmup: result.scenario.run.warmup_ns / 1e9 });
    this.#say(found);
    this.dataset.digest = result.digest;
  }

  async #say({ byClass, bottleneck }) {
    const parts = byClass.map(({ name, goodput, rtt }) => `${name} ${goodput.toPrecision(3)} Mbit/s, RTT ${rtt?.toFixed(0)} ms`);
    const loss = `${((bottleneck.loss ?? 0) * 100).toPrecision(2)} % dropped`;
    const address = await link(this.text, null);
    const open = made("a", { href: new URL(`../${new URL(address).hash}`, import.meta.url).href, textContent: "open in the playground" });
    this.said.replaceChildren(`${parts.join("; ")}; ${bottleneck.queue.toFixed(2)} BDP waiting, ${loss}. `, open);
  }
}

customElements.define("live-run", LiveRun);
