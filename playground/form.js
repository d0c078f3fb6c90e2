// The form beside the text: it shows the text's values, and reports edits.
import * as fields from "./fields.js";
import { made } from "./fields.js";
import { at, choices, options, parameters } from "./schema.js";
import { UNITS } from "./units.js";

export class Form {
  #root;
  #schema;
  #change;
  #own;

  /** `change` gets a list of edits and whether the form has to be drawn again. */
  constructor(root, schema, change) {
    this.#root = root;
    this.#schema = schema;
    this.#change = change;
  }

  /** Draws the form of a document; `own` names the control that the page offers. */
  show(document, own) {
    this.#own = own;
    const open = [...this.#root.querySelectorAll("details[open]")].map((one) => one.dataset.place);
    this.#root.replaceChildren(this.#path(document.path ?? {}), this.#flows(document.flows ?? []), this.#run(document.run ?? {}));
    for (const one of this.#root.querySelectorAll("details")) one.open = open.includes(one.dataset.place);
  }

  #set(place, redraw = false) {
    return (value) => this.#change([{ place, value }], redraw);
  }

  #what(place) {
    return at(this.#schema, place)?.description ?? "";
  }

  #path(path) {
    const field = (key, label, units, least, most) => fields.quantity({
      label, what: this.#what(`path.${key}`), value: path[key], units, least, most, change: this.#set(`path.${key}`) });
    return section("Bottleneck",
      field("rate", "Rate", UNITS.rate, 1e5, 1e9),
      field("rtt", "Round-trip time", UNITS.time, 1e-3, 0.6),
      field("buffer", "Buffer", UNITS.bdp, 0.1, 32),
      this.#element("queue", "Queue", path.queue ?? "droptail"),
      this.#element("service", "Service", path.service ?? "constant"),
      fields.share({ label: "Random loss", what: this.#what("path.loss"), value: path.loss, most: 0.2, change: this.#set("path.loss") }));
  }

  /** A menu of elements and, below it, the parameters of the chosen one. */
  #element(key, label, value) {
    const place = `path.${key}`;
    const kind = typeof value === "string" ? value : value.kind;
    const schema = at(this.#schema, place);
    const menu = fields.menu({ label, value: kind, choices: choices(schema), change: this.#set(place, true) });
    const inner = parameters(schema, kind).map((one) =>
      fields.parameter({ label: one.name, ...one, value: value[one.name], change: this.#set(`${place}.${one.name}`) }));
    return inner.length ? group(menu, more(place, `Parameters of ${kind}`, inner)) : menu;
  }

  #flows(flows) {
    const cards = flows.map((flow, number) => this.#flow(flow, number));
    const add = made("button", { type: "button", textContent: "Add flows" });
    add.addEventListener("click", () => this.#change([{ place: `flows.${flows.length}`, value: { cca: "cubic" } }], true));
    return section("Flows", ...cards, add);
  }

  #flow(flow, number) {
    const place = `flows.${number}`;
    const schema = at(this.#schema, "flows.0");
    const own = this.#own ? [{ name: this.#own, what: "the control that is written below" }] : [];
    // Options belong to a control; others don't have them.
    const choose = (value) => this.#change([{ place: `${place}.options`, value: null }, { place: `${place}.cca`, value }], true);
    const inner = options(schema, flow.cca).map((one) =>
      fields.parameter({ label: one.name, ...one, value: flow.options?.[one.name], change: this.#set(`${place}.options.${one.name}`) }));
    const text = (key) => fields.parameter({ label: key, schema: { type: "string", default: "path's" }, what: this.#what(`flows.0.${key}`), value: flow[key], change: this.#set(`${place}.${key}`) });
    const ecn = fields.menu({ label: "ECN", what: this.#what("flows.0.ecn"), value: flow.ecn ?? "", change: (value) => this.#set(`${place}.ecn`)(value || null),
      choices: [{ name: "", shown: "default" }, ...choices(at(this.#schema, "flows.0.ecn"))] });
    const remove = made("button", { type: "button", className: "remove", textContent: "Remove", ariaLabel: `Remove flows ${number + 1}` });
    remove.addEventListener("click", () => this.#change([{ place, value: null }], true));
    return made("fieldset", {},
      fields.menu({ label: "Congestion control", value: flow.cca, choices: [...choices(at(schema, "cca")), ...own], change: choose }),
      fields.count({ label: "Number", value: flow.count ?? 1, most: 10000, change: this.#set(`${place}.count`) }),
      fields.quantity({ label: "Starts at", what: this.#what("flows.0.start"), value: flow.start ?? "0s", units: UNITS.time, least: 0.01, most: 60, change: this.#set(`${place}.start`) }),
      more(place, "More", [text("rtt"), text("size"), ecn, ...inner]),
      remove);
  }

  #run(run) {
    return section("Run",
      fields.quantity({ label: "Duration", value: run.duration, units: UNITS.time, least: 1, most: 600, change: this.#set("run.duration") }),
      fields.quantity({ label: "Warm-up", what: this.#what("run.warmup"), value: run.warmup ?? "0s", units: UNITS.time, least: 0.1, most: 100, change: this.#set("run.warmup") }),
      fields.count({ label: "Seed", value: run.seed ?? 1, least: 0, most: 2 ** 32, change: this.#set("run.seed") }));
  }
}

function section(title, ...children) {
  return made("section", {}, made("h2", { textContent: title }), ...children);
}

function group(...children) {
  return made("div", { className: "group" }, ...children);
}

function more(place, title, children) {
  const details = made("details", {}, made("summary", { textContent: title }), ...children);
  details.dataset.place = place;
  return details;
}
