// CSS colours for a canvas, which has no variables.

/** The current value of a CSS colour such as `var(--ink)`. */
export function colour(written) {
  const name = /^var\((.+)\)$/.exec(written)?.[1];
  return name ? getComputedStyle(document.documentElement).getPropertyValue(name).trim() : written;
}
