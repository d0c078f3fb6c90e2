// The form beside the text: it shows the text's values, and reports edits.
import * as fields from "./fields.js";
import { make, assignPlace } from "./fields.js";
import { groupControls, networks } from "./names.js";
import { at, choices, options, parameters } from "./schema.js";
import { bytes, parse, UNITS } from "./units.js";

const MOST_BITS = 2e9;
const SPANS_S = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 60];

export class Form {
  #root;
  #schema;
  #names;
  #change;
  #own;

  /**
   * `change` gets a list of edits and whether the form has to be drawn again; `names` has the groups of
   * controls, their titles, and the presets.
   */
  constructor(root, schema, names, change) {
    this.#root = root;
    this.#schema = schema;
    this.#names = names;
    this.#change = change;
  }

  /** Draws the form of a document; `own` names the control that the page offers. */
  show(document, own) {
    this.#own = own;
    const open = [...this.#root.querySelectorAll("details[open]")].map((one) => one.dataset.place);
    const focus = this.#root.ownerDocument.activeElement?.closest("#form [data-place]")?.dataset.place;
    const path = { ...this.#names.presets[document.path?.preset]?.path, ...document.path };
    this.#root.replaceChildren(this.#chips(document), this.#sliders(path), this.#path(path), this.#flows(document.flows ?? []), this.#run(document.run ?? {}));
    for (const one of this.#root.querySelectorAll("details[data-place]")) one.open = open.includes(one.dataset.place);
    if (focus) this.#root.querySelector(`[data-place="${CSS.escape(focus)}"] :is(input, select, summary, button)`)?.focus();
  }

  /** Buttons that replace the path by a preset, and shorten a run with too many packets. */
  #chips({ path = {}, run = {} }) {
    const chip = ({ name, title, path: preset, summary, source }) => {
      const button = make("button", { type: "button", textContent: title, title: `${summary}. ${source}`, ariaPressed: String(path.preset === name) });
      const most = MOST_BITS / parse(preset.rate, UNITS.rate);
      const long = (parse(run.duration, UNITS.time) ?? 60) > most;
      const span = SPANS_S.findLast((one) => one <= most) ?? SPANS_S[0];
      const shorter = long ? [{ place: "run.duration", value: `${span}s` }, { place: "run.warmup", value: `${span / 10}s` }] : [];
      const old = Object.keys(path).map((key) => ({ place: `path.${key}`, value: null }));
      button.addEventListener("click", () => this.#change([...old, { place: "path.preset", value: name }, ...shorter], true));
      return button;
    };
    return assignPlace("path.preset", make("div", { className: "chips", role: "group", ariaLabel: "Networks" }, ...networks(this.#names.presets).map(chip)));
  }

  #set(place, redraw = false) {
    return (value) => this.#change([{ place, value }], redraw);
  }

  #what(place) {
    return at(this.#schema, place)?.description ?? "";
  }

  #sliders(path) {
    const field = (key, label, units, least, most, read) => assignPlace(`path.${key}`, fields.quantity({
      label, what: this.#what(`path.${key}`), value: path[key], units, least, most, read, change: this.#set(`path.${key}`) }));
    const bdp = parse(path.rate, UNITS.rate) * parse(path.rtt, UNITS.time) / 8;
    const inBdp = (written) => (bdp && bytes(written) !== null ? bytes(written) / bdp : null);
    const found = section("Bottleneck",
      field("rate", "Rate", UNITS.rate, 1e5, 1e9),
      field("rtt", "Round trip", UNITS.time, 1e-3, 0.6),
      field("buffer", "Buffer", UNITS.bdp, 0.1, 32, inBdp));
    found.className = "sliders";
    return found;
  }

  #path(path) {
    return make("section", { ariaLabel: "More of the bottleneck" },
      this.#element("queue", "Queue", path.queue ?? "droptail"),
      this.#element("service", "Service", path.service ?? "constant"),
      assignPlace("path.loss", fields.share({ label: "Random loss", what: this.#what("path.loss"), value: path.loss, most: 0.2, change: this.#set("path.loss") })));
  }

  /** A menu of elements and, below it, the parameters of the chosen one. */
  #element(key, label, value) {
    const place = `path.${key}`;
    const kind = typeof value === "string" ? value : value.kind;
    const schema = at(this.#schema, place);
    const groups = [{ title: label, choices: choices(schema) }];
    const menu = assignPlace(place, fields.choice({ label, value: kind, groups, change: this.#set(place, true) }));
    const inner = parameters(schema, kind).map((one) => assignPlace(`${place}.${one.name}`,
      fields.parameter({ label: one.name, ...one, value: value[one.name], change: this.#set(`${place}.${one.name}`) })));
    return inner.length ? group(menu, more(`${place} more`, `Parameters of ${kind}`, inner)) : menu;
  }

  #flows(flows) {
    const cards = flows.map((flow, number) => this.#flow(flow, number));
    const add = make("button", { type: "button", textContent: "Add flows" });
    add.addEventListener("click", () => this.#change([{ place: `flows.${flows.length}`, value: { cca: "cubic" } }], true));
    return section("Flows", ...cards, add);
  }

  #flow(flow, number) {
    const place = `flows.${number}`;
    const schema = at(this.#schema, "flows.0");
    const own = this.#own ? [{ name: this.#own, shown: "Your own", what: "the class that is written below" }] : [];
    // Options belong to a control; others don't have them.
    const choose = (value) => this.#change([{ place: `${place}.options`, value: null }, { place: `${place}.cca`, value }], true);
    const inner = options(schema, flow.cca).map((one) => assignPlace(`${place}.options.${one.name}`,
      fields.parameter({ label: one.name, ...one, value: flow.options?.[one.name], change: this.#set(`${place}.options.${one.name}`) })));
    const text = (key) => assignPlace(`${place}.${key}`, fields.parameter({ label: key, schema: { type: "string", default: "path's" }, what: this.#what(`flows.0.${key}`), value: flow[key], change: this.#set(`${place}.${key}`) }));
    const ecn = fields.menu({ label: "ECN", what: this.#what("flows.0.ecn"), value: flow.ecn ?? "", change: (value) => this.#set(`${place}.ecn`)(value || null),
      choices: [{ name: "", shown: "default" }, ...choices(at(this.#schema, "flows.0.ecn"))] });
    const remove = make("button", { type: "button", className: "remove", textContent: "Remove", ariaLabel: `Remove flows ${number + 1}` });
    remove.addEventListener("click", () => this.#change([{ place, value: null }], true));
    return make("fieldset", {},
      assignPlace(`${place}.cca`, fields.choice({ label: "Control", value: flow.cca, groups: groupControls(this.#schema, this.#names, own), change: choose })),
      assignPlace(`${place}.count`, fields.count({ label: "Number", value: flow.count ?? 1, most: 10000, change: this.#set(`${place}.count`) })),
      assignPlace(`${place}.start`, fields.quantity({ label: "Starts at", what: this.#what("flows.0.start"), value: flow.start ?? "0s", units: UNITS.time, least: 0.01, most: 60, change: this.#set(`${place}.start`) })),
      more(`${place} more`, "More", [text("rtt"), text("size"), assignPlace(`${place}.ecn`, ecn), ...inner]),
      remove);
  }

  #run(run) {
    return section("Run",
      assignPlace("run.duration", fields.quantity({ label: "Duration", value: run.duration, units: UNITS.time, least: 1, most: 600, change: this.#set("run.duration") })),
      assignPlace("run.warmup", fields.quantity({ label: "Warm-up", what: this.#what("run.warmup"), value: run.warmup ?? "0s", units: UNITS.time, least: 0.1, most: 100, change: this.#set("run.warmup") })),
      assignPlace("run.seed", fields.count({ label: "Seed", value: run.seed ?? 1, least: 0, most: 2 ** 32, change: this.#set("run.seed") })));
  }
}

function section(title, ...children) {
  return make("section", {}, make("h2", { textContent: title }), ...children);
}

function group(...children) {
  return make("div", { className: "group" }, ...children);
}

function more(place, title, children) {
  const details = make("details", {}, make("summary", { textContent: title }), ...children);
  details.dataset.place = place;
  return details;
}
