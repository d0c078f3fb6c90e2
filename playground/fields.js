// The fields of the form. Each returns an element; `change` gets the new value.
import { format, parse } from "./units.js";

const STEPS = 400;

/** An element with properties and children. */
export function make(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

function labelField(label, what, ...inputs) {
  return make("label", { className: "field", title: what }, make("span", { textContent: label }), ...inputs);
}

/** The same element, known as that of a place of the description. */
export function assignPlace(place, element) {
  element.dataset.place = place;
  return element;
}

/**
 * A quantity from `least` to `most`, on a logarithmic scale, and as text. `read` gives the number of a text with
 * a unit beyond `units`, or null.
 */
export function quantity({ label, what = "", value, units, least, most, change, read = () => null }) {
  const text = make("input", { type: "text", value: value ?? "", spellcheck: false, autocomplete: "off", ariaLabel: label });
  const slide = make("input", { type: "range", min: 0, max: STEPS, ariaLabel: label });
  const place = (number) => Math.round((Math.log(number / least) / Math.log(most / least)) * STEPS);
  const show = (written) => {
    const number = parse(written, units) ?? read(written);
    slide.disabled = number === null;
    if (number !== null) slide.value = place(Math.min(Math.max(number, least), most));
    slide.ariaValueText = written ?? "";
  };
  show(value);
  slide.addEventListener("input", () => {
    text.value = format(least * (most / least) ** (slide.value / STEPS), units);
    slide.ariaValueText = text.value;
    change(text.value);
  });
  text.addEventListener("change", () => {
    show(text.value);
    change(text.value.trim() || null);
  });
  return labelField(label, what, slide, text);
}

/** A fraction, as a percentage. */
export function share({ label, what = "", value, most, change }) {
  const said = make("output", { textContent: `${+((value ?? 0) * 100).toPrecision(2)} %` });
  const slide = make("input", { type: "range", min: 0, max: STEPS, value: Math.sqrt((value ?? 0) / most) * STEPS });
  slide.addEventListener("input", () => {
    const chosen = Number((most * (slide.value / STEPS) ** 2).toPrecision(2));
    said.textContent = `${+(chosen * 100).toPrecision(2)} %`;
    change(chosen);
  });
  return labelField(label, what, slide, said);
}

/** One of several names in groups, each with a line that says what it is. */
export function choice({ label, value, groups, change }) {
  const chosen = groups.flatMap(({ choices }) => choices).find(({ name }) => name === value);
  const words = ({ name, shown = name, what }) => [make("b", { textContent: shown }), what ? ` ${what}` : ""];
  const entry = (one) => {
    const button = make("button", { type: "button", ariaPressed: String(one.name === value) }, ...words(one));
    button.dataset.name = one.name;
    button.addEventListener("click", () => change(one.name));
    return button;
  };
  const listed = groups.map(({ title, what, choices }) =>
    make("section", {}, make("h4", {}, title, make("small", { textContent: what ? `: ${what}` : "" })), ...choices.map(entry)));
  return make("div", { className: "field choice" }, make("span", { textContent: label }),
    make("details", {}, make("summary", {}, ...words(chosen ?? { name: value })), ...listed));
}

/** One of several names. */
export function menu({ label, what = "", value, choices, change }) {
  const options = choices.map(({ name, what, shown = name }) =>
    make("option", { value: name, textContent: shown, title: what ?? "", selected: name === value }));
  const select = make("select", {}, ...options);
  const chosen = choices.find(({ name }) => name === value);
  select.addEventListener("change", () => change(select.value));
  return labelField(label, what || chosen?.what || "", select);
}

/** A whole number. */
export function count({ label, what = "", value, least = 1, most, change }) {
  const input = make("input", { type: "number", value, min: least, max: most, step: 1 });
  input.addEventListener("change", () => change(input.value === "" ? null : Number(input.value)));
  return labelField(label, what, input);
}

/** The field of a parameter by its schema: a menu, a check box, a number or a text. */
export function parameter({ label, what, schema, value, change }) {
  if (schema.type === "boolean") {
    const names = ["", "true", "false"].map((name) => ({ name, shown: name || "default" }));
    return menu({ label, what, value: value === undefined ? "" : String(value), choices: names,
      change: (chosen) => change(chosen === "" ? null : chosen === "true") });
  }
  const words = schema.enum ?? (schema.const ? [schema.const] : null);
  if (words) {
    const names = ["", ...words].map((name) => ({ name, shown: name || "default" }));
    return menu({ label, what, value: value ?? "", choices: names, change: (chosen) => change(chosen || null) });
  }
  const input = make("input", { type: "text", value: value ?? "", placeholder: schema.default ?? "default", spellcheck: false });
  const numeric = schema.type === "integer" || schema.type === "number" || Array.isArray(schema.type);
  input.addEventListener("change", () => {
    const written = input.value.trim();
    const isNumber = numeric && written !== "" && !Number.isNaN(Number(written));
    change(written === "" ? null : isNumber ? Number(written) : written);
  });
  return labelField(label, what, input);
}
