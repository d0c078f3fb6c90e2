// The colours and names of classes: those of their controls, as in all figures of narrows.
import { load } from "./names.js";

/** A function from the name and number of a class to its colour and title, in the run that `shown` returns. */
export async function looks(shown) {
  const { controls, others } = await load("looks.json");
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const tone = ({ light, dark: onDark }) => (dark.matches ? onDark : light);
  const look = (name, number) => {
    const { scenario, groups, numbers } = shown();
    const cca = (other) => scenario.flows[groups.indexOf(other)].cca;
    const before = numbers.classes.slice(0, number);
    const taken = before.some((other) => cca(other.name) === cca(name));
    const found = (!taken && controls[cca(name)]) || others[number % others.length];
    return { colour: tone(found), title: numbers.classes.find((one) => one.name === name)?.label ?? name };
  };
  const state = (name) => controls[`state:${name}`];
  return { look, state: (name) => (state(name) ? tone(state(name)) : null) };
}
