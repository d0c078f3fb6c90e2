// The ghost: the run that the reader looked at before the present one.
const LOOKED_AT_MS = 1000;

export class Ghost {
  #standing = null;
  #ghost = null;

  /**
   * Takes the lines of a new run and returns those of the ghost, or null. Runs that stand shorter than a second,
   * as while a slider is dragged, are no ghosts; another description has none.
   */
  next(lines, name, now = performance.now()) {
    const { lines: last, name: lastName, since } = this.#standing ?? {};
    if (lastName !== name) this.#ghost = null;
    else if (now - since >= LOOKED_AT_MS) this.#ghost = last;
    this.#standing = { lines, name, since: now };
    return this.#ghost;
  }
}
