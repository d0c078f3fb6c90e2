// The colours of classes: those of their controls, as in all figures of narrows.
import { classes } from "./numbers.js";

/** A function from the name and number of a class to its colour, in the run that `shown` returns. */
export async function looks(shown) {
  const { controls, others } = await (await fetch(new URL("looks.json", import.meta.url))).json();
  const dark = matchMedia("(prefers-color-scheme: dark)");
  return (name, number) => {
    const { scenario, groups } = shown();
    const cca = (other) => scenario.flows[groups.indexOf(other)].cca;
    const before = classes(groups).slice(0, number);
    const taken = before.some((other) => cca(other.name) === cca(name));
    const found = (!taken && controls[cca(name)]) || others[number % others.length];
    return { colour: dark.matches ? found.dark : found.light };
  };
}
