// The JSON Schema of a key: the choices of a menu, its parameters, a remark.

/** The schemas that a schema allows, with those of lists and ranges (axes of a study) left out. */
function single(schema) {
  const found = schema?.anyOf?.[0] ?? schema ?? {};
  return found.anyOf && !found.anyOf.some((one) => one.properties || one.enum) ? found : found;
}

/** The schema at a place such as `path.queue`; the entries of a list count as one. */
export function at(schema, place) {
  return place.split(".").reduce((here, step) => {
    if (/^\d+$/.test(step)) return here.items;
    return (here.properties ?? single(here).properties)?.[step];
  }, schema);
}

/** The names allowed at a place, each with its meaning; last those that need parameters. */
export function choices(schema) {
  const one = single(schema);
  const listed = one.anyOf ?? [one];
  const names = listed.flatMap((entry) => entry.enum ?? (entry.const ? [entry.const] : []));
  const meaning = Object.fromEntries(listed.map((entry) => [entry.const ?? entry.properties?.kind?.const, entry.description]));
  const kinds = names.length ? listed.flatMap((entry) => entry.properties?.kind?.const ?? []) : [];
  return [...new Set([...names, ...kinds])].map((name) => ({ name, what: meaning[name] ?? "" }));
}

/** The parameters of an element: of the queue `codel`, say. */
export function parameters(schema, kind) {
  const listed = single(schema).anyOf ?? [];
  const found = listed.find((entry) => entry.properties?.kind?.const === kind);
  return describe(found?.properties, ["kind", "at", "direction"]);
}

/** The options of a congestion control. */
export function options(flow, cca) {
  const found = flow.allOf?.find((rule) => rule.if.properties.cca.const === cca);
  return describe(found?.then.properties.options?.properties, []);
}

function describe(properties = {}, left) {
  return Object.entries(properties)
    .filter(([name]) => !left.includes(name))
    .map(([name, schema]) => ({ name, schema: single(schema), what: schema.description ?? "" }));
}
