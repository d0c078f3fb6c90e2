// Problems of a description: all of them above the results, and each beside the field or text that it is about.
import { make } from "./fields.js";

/** Shows problems, each with a `text` and perhaps a `place`, a line `at` of the text, or a line `own` of the control. */
export function showProblems({ list, form, text, source, problems }) {
  clear(form, text, source);
  list.replaceChildren(...problems.map((problem) => make("li", {}, line(problem, { form, text, source }))));
  for (const problem of problems) {
    const field = fieldOf(form, problem);
    if (field) attach(field.querySelector("input, select, summary, button"), field, problem.text);
    else if (problem.own) attach(source, source, problem.text);
  }
}

function clear(...roots) {
  for (const root of roots) {
    const scope = root.matches("form") ? root : root.parentElement;
    for (const one of scope.querySelectorAll(".problem")) one.remove();
    for (const one of scope.querySelectorAll("[aria-invalid]")) {
      one.removeAttribute("aria-invalid");
      one.removeAttribute("aria-describedby");
    }
  }
}

/** The field of the place that a problem names, or of the closest place around it. */
function fieldOf(form, { place }) {
  const steps = (place ?? "").replaceAll(/\[(\d+)\]/g, ".$1").split(".");
  for (; steps.length > 1; steps.pop()) {
    const found = form.querySelector(`:is(.field, .chips)[data-place="${CSS.escape(steps.join("."))}"]`);
    if (found) return found;
  }
  return null;
}

function attach(input, after, text) {
  const id = `problem-${document.querySelectorAll(".problem").length}`;
  after.closest("details")?.setAttribute("open", "");
  after.after(make("p", { className: "problem", id, textContent: text }));
  input?.setAttribute("aria-invalid", "true");
  input?.setAttribute("aria-describedby", id);
}

/** The text of a problem; if it has a line, as a button that selects that line. */
function line(problem, { text, source }) {
  const [area, number] = problem.own ? [source, problem.own] : [text, problem.at?.line];
  if (!number) return problem.text;
  const button = make("button", { type: "button", className: "plain", textContent: problem.text });
  button.addEventListener("click", () => select(area, number));
  return button;
}

function select(area, number) {
  const lines = area.value.split("\n");
  const begin = lines.slice(0, number - 1).reduce((sum, one) => sum + one.length + 1, 0);
  area.focus();
  area.setSelectionRange(begin, begin + (lines[number - 1]?.length ?? 0));
  area.scrollTop = (area.scrollHeight * (number - 1)) / lines.length - area.clientHeight / 2;
}
