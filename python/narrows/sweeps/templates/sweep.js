"use strict";
(() => {
  const { axes, metrics, columns, cells, hues, opens, bounds, shades, fair, unsettled } = JSON.parse(document.getElementById("data").textContent);
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  // Paper is white, even if the screen is dark.
  const paper = (on) => document.documentElement.classList.toggle("paper", on);
  const isDark = () => dark.matches && !document.documentElement.classList.contains("paper");
  const by = (id) => document.getElementById(id);
  const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
  const make = (tag, text, attributes = {}) => {
    const element = document.createElement(tag);
    if (text !== undefined) element.textContent = text;
    Object.entries(attributes).forEach(([name, value]) => element.setAttribute(name, value));
    return element;
  };
  const escapeHtml = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
  const options = (select, entries, chosen) => {
    select.replaceChildren(...entries.map(([value, text]) => make("option", text, { value })));
    select.value = String(chosen);
  };
  const symbols = ["circle", "square", "diamond", "triangle-up", "cross", "x", "star"];
  const dashes = ["solid", "dash", "dot", "dashdot", "longdash", "longdashdot", "solid"];
  const shown = [...columns];
  const judged = cells.some((cell) => cell.unmet);
  const sorting = { key: null, down: false };
  const drawable = axes.length > 0 && Object.keys(metrics).length > 0;

  // The selection: an axis by its number, or -1 for none.
  const largest = axes.map((axis, i) => [axis.place === "path.buffer" ? Infinity : axis.words.length, i])
    .sort((a, b) => b[0] - a[0] || a[1] - b[1]).map((pair) => pair[1]);
  const pick = (id) => Number(by(id).value);
  const AXES = ["x", "colour", "panels"];
  const usedAxes = () => AXES.map(pick);
  const selectedValues = () => [...by("filters").querySelectorAll("select")].map((s) => [Number(s.dataset.axis), Number(s.value)]);
  const name = (i, value) => axes[i].hues ? axes[i].words[value] : `${axes[i].label.replace(/ \(.*/, "")}: ${axes[i].words[value]}`;

  const filters = () => {
    const before = new Map(selectedValues());
    const rest = axes.map((_, i) => i).filter((i) => !usedAxes().includes(i));
    by("filters").replaceChildren(...rest.map((i) => {
      const label = make("label", `${axes[i].label} `);
      const select = make("select", undefined, { "data-axis": i });
      options(select, axes[i].words.map((word, value) => [value, word]), before.get(i) ?? 0);
      select.addEventListener("change", draw);
      label.append(select);
      return label;
    }));
  };

  // A value of a control has the control's colour, and so has a metric of a class of it.
  const hueOf = (colour, i, metric) => {
    const found = colour < 0 ? shades[metric] : axes[colour].hues?.[i];
    return (found ?? hues[i % hues.length])[isDark() ? 1 : 0];
  };

  // Dashed lines across a chart: expected bounds and the fair share.
  const levels = (metric) => [...(bounds[metric] ?? []), ...(metric in fair ? [fair[metric]] : [])];

  // The runs of a combination still drift in what a metric tells, or are too short for it.
  const isUnsettled = (cell, metric) => unsettled[cell.unsettled]?.includes(metric) ?? false;
  const why = "runs still drift or are too short";

  const pointsOf = (rows, metric, x) => rows.filter((cell) => metric in cell.values)
    .sort((a, b) => axes[x].positions[a.at[x]] - axes[x].positions[b.at[x]]);

  // Hollow markers over those of combinations that haven't settled, of all lines as one entry.
  const rings = (groups, metric, x, colour) => {
    const found = groups.flatMap(([rows], i) => pointsOf(rows, metric, x).filter((cell) => isUnsettled(cell, metric)).map((cell) => [cell, i]));
    return found.length === 0 ? [] : [{
      type: "scatter",
      mode: "markers",
      name: why,
      showlegend: true,
      hoverinfo: "skip",
      x: found.map(([cell]) => axes[x].numeric ? axes[x].positions[cell.at[x]] : cell.at[x]),
      y: found.map(([cell]) => cell.values[metric][0]),
      marker: { color: style("ground"), size: 8, symbol: found.map(([, i]) => symbols[i % symbols.length]), line: { color: found.map(([, i]) => hueOf(colour, i, metric)), width: 1.8 } },
    }];
  };

  const trace = (rows, i, label, metric, x, colour) => {
    const axis = axes[x];
    const points = pointsOf(rows, metric, x);
    const value = (cell, n) => cell.values[metric][n] ?? cell.values[metric][0];
    const shade = hueOf(colour, i, metric);
    return {
      type: "scatter",
      mode: axis.numeric && points.length > 1 ? "lines+markers" : "markers",
      name: escapeHtml(label),
      showlegend: label !== "",
      x: points.map((cell) => axis.numeric ? axis.positions[cell.at[x]] : cell.at[x]),
      y: points.map((cell) => value(cell, 0)),
      error_y: { type: "data", width: 3, array: points.map((c) => value(c, 2) - value(c, 0)), arrayminus: points.map((c) => value(c, 0) - value(c, 1)) },
      marker: { color: shade, size: 8, symbol: symbols[i % symbols.length] },
      line: { color: shade, width: 1.8, dash: dashes[i % dashes.length] },
    };
  };

  const chart = (rows, title, metric, x, colour, ends) => {
    const axis = axes[x];
    const groups = colour < 0 ? [[rows, ""]] : axes[colour].words
      .map((word, value) => [rows.filter((cell) => cell.at[colour] === value), word]);
    const data = groups.map(([own, word], i) => trace(own, i, word, metric, x, colour)).filter((t) => t.x.length)
      .concat(rings(groups, metric, x, colour));
    const ticks = axis.numeric ? axis.positions : axis.positions.map((_, i) => i);
    const layout = {
      height: 380,
      margin: { l: 62, r: 14, t: 30, b: 56 },
      xaxis: {
        title: { text: escapeHtml(axis.label) }, type: axis.numeric ? axis.scale : "linear", gridcolor: style("grid"), zeroline: false,
        ...(axis.numeric && ticks.length > 12 ? {} : { tickvals: ticks, ticktext: axis.words.map(escapeHtml) }),
        ...(axis.numeric ? {} : { range: [-0.5, ticks.length - 0.5] }),
      },
      yaxis: { title: { text: escapeHtml(metrics[metric]) }, range: ends, gridcolor: style("grid"), zerolinecolor: style("grid") },
      annotations: metric in fair ? [{ text: "fair", xref: "paper", x: 1, y: fair[metric], xanchor: "right", yanchor: "bottom", showarrow: false, font: { color: style("faint"), size: 11 } }] : [],
      shapes: levels(metric).map((y) => ({ type: "line", xref: "paper", x0: 0, x1: 1, y0: y, y1: y, line: { color: style("faint"), width: 1.2, dash: "dash" } })),
      legend: { orientation: "h", y: -0.2, yanchor: "top", title: { text: colour < 0 ? "" : escapeHtml(axes[colour].label) } },
      paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
      font: { family: "system-ui, sans-serif", size: 12, color: style("ink") },
      modebar: { bgcolor: "rgba(0,0,0,0)", color: style("faint"), activecolor: style("ink") },
      hoverlabel: { bgcolor: style("card"), font: { color: style("ink") } },
    };
    const div = make("div", undefined, { class: "plot", role: "group", "aria-label": `${metrics[metric]} over ${axis.label}${title ? `, ${title}` : ""}; the table below has the numbers` });
    div.style.height = "380px";
    const figure = make("figure");
    if (title) figure.append(make("figcaption", title));
    figure.append(div);
    by("charts").append(figure);
    Plotly.newPlot(div, data, layout, { responsive: true, displaylogo: false, modeBarButtons: [["zoom2d", "pan2d", "resetScale2d", "toImage"]] });
  };

  // True for what flows get, rates and shares, whose axis begins at zero.
  const isAmount = (metric) => metric.endsWith(".share") || metrics[metric].includes("(Mbit/s)");

  // From zero, unless the values differ little in comparison.
  const reach = (least, most, fromZero) => {
    if (!Number.isFinite(least)) return [0, 1];
    const near = least >= 0 && (fromZero ? most > 0 : least < 0.5 * most);
    if (!near && !(most > least)) return [least - 0.5, least + 0.5];
    const air = 0.06 * (most - (near ? 0 : least));
    return [near ? 0 : least - air, most + air];
  };

  const draw = () => {
    const metric = by("metric").value;
    const [x, colour, facet] = usedAxes();
    const rows = cells.filter((cell) => selectedValues().every(([i, value]) => cell.at[i] === value));
    document.querySelectorAll("#charts .plot").forEach((div) => Plotly.purge(div));
    by("charts").replaceChildren();
    const ends = [...rows.flatMap((cell) => cell.values[metric] ?? []), ...levels(metric)];
    const range = reach(Math.min(...ends), Math.max(...ends), isAmount(metric));
    const missing = rows.filter((cell) => !(metric in cell.values)).length;
    by("what").textContent = `${rows.length} of ${cells.length} combinations${missing ? `, ${missing} of them without a value` : ""}`;
    const panels = facet < 0 ? [[rows, ""]] : axes[facet].words
      .map((_, value) => [rows.filter((cell) => cell.at[facet] === value), name(facet, value)]);
    by("charts").style.setProperty("--columns", panels.length > 1 ? 2 : 1);
    for (const [own, title] of panels) if (own.length) chart(own, title, metric, x, colour, range);
  };

  const text = (value) => {
    if (value === undefined) return "–";
    return Math.abs(value) >= 1000 || value === 0 ? String(Math.round(value)) : String(Number(value.toPrecision(3)));
  };
  const sortable = (cell, key) => key.axis === undefined ? cell.values[key.metric]?.[0] ?? -Infinity
    : axes[key.axis].positions[cell.at[key.axis]];

  const heading = (label, key, first) => {
    const th = make("th", undefined, { scope: "col", ...(first ? { class: "text" } : {}) });
    const own = JSON.stringify(key) === JSON.stringify(sorting.key);
    th.setAttribute("aria-sort", own ? (sorting.down ? "descending" : "ascending") : "none");
    const button = make("button", label, { type: "button" });
    button.addEventListener("click", () => {
      sorting.down = own && !sorting.down;
      sorting.key = key;
      table();
    });
    th.append(button);
    return th;
  };

  const row = (cell) => {
    const tr = make("tr");
    axes.forEach((axis, i) => tr.append(make("td", axis.words[cell.at[i]], { class: "text" })));
    if (judged) tr.append(make("td", cell.unmet === null ? "–" : cell.unmet.length ? cell.unmet.join("; ") : "met", { class: "text" }));
    shown.forEach((metric) => {
      const [mean, low, high] = cell.values[metric] ?? [];
      const td = make("td", text(mean));
      if (low !== undefined) td.append(make("small", `${text(low)} – ${text(high)}`));
      if (isUnsettled(cell, metric)) td.append(make("small", "not settled", { title: why }));
      tr.append(td);
    });
    const runs = make("td");
    cell.runs.forEach((run) => {
      const label = String(run.trial);
      const title = `trial ${run.trial}, seed ${run.seed}, run ${run.run}`;
      runs.append(run.page ? make("a", label, { href: run.page, title }) : make("span", label, { title, ...(run.failed ? { class: "failed" } : {}) }), " ");
    });
    tr.append(runs);
    return tr;
  };

  const table = () => {
    const head = make("tr");
    axes.forEach((axis, axisNumber) => head.append(heading(axis.label, { axis: axisNumber }, true)));
    if (judged) head.append(make("th", "Checks", { scope: "col", class: "text" }));
    shown.forEach((metric) => head.append(heading(metrics[metric], { metric })));
    head.append(make("th", "Runs", { scope: "col" }));
    const wanted = by("search").value.toLowerCase();
    const words = (cell) => axes.map((axis, i) => axis.words[cell.at[i]]).join(" ").toLowerCase();
    const verdict = judged ? by("verdict").value : "";
    const kind = (cell) => cell.unmet && (cell.unmet.length ? "unmet" : "met");
    const rows = cells.filter((cell) => words(cell).includes(wanted) && (!verdict || kind(cell) === verdict));
    if (sorting.key) {
      const sign = sorting.down ? -1 : 1;
      rows.sort((a, b) => sign * (sortable(a, sorting.key) - sortable(b, sorting.key)) || 0);
    }
    const most = 500;
    by("count").textContent = `${Math.min(rows.length, most)} of ${cells.length} combinations`;
    by("table").tHead.replaceChildren(head);
    by("table").tBodies[0].replaceChildren(...rows.slice(0, most).map(row));
    const rest = Object.keys(metrics).filter((metric) => !shown.includes(metric));
    options(by("add"), [["", `${shown.length} of ${Object.keys(metrics).length}`], ...rest.map((m) => [m, `+ ${metrics[m]}`])], "");
  };

  // The address holds the view, so that a link shows the same one.
  const placeOf = (i) => (i < 0 ? "none" : axes[i].place);
  const remember = () => {
    const view = new URLSearchParams();
    if (drawable) {
      view.set("y", by("metric").value);
      AXES.forEach((id) => view.set(id, placeOf(pick(id))));
      selectedValues().forEach(([i, value]) => view.set(`only.${axes[i].place}`, axes[i].words[value]));
    }
    if (by("search").value) view.set("rows", by("search").value);
    if (judged && by("verdict").value) view.set("verdict", by("verdict").value);
    const { key, down } = sorting;
    if (key) view.set("sort", `${down ? "-" : ""}${key.metric ?? placeOf(key.axis)}`);
    shown.filter((metric) => !columns.includes(metric)).forEach((metric) => view.append("column", metric));
    history.replaceState(null, "", `#${view}`);
  };

  const choose = (select, value) => {
    if ([...select.options].some((option) => option.value === String(value))) select.value = String(value);
  };
  const axisAt = (name) => axes.findIndex((axis) => axis.place === name);
  const recall = () => {
    const view = new URLSearchParams(location.hash.slice(1));
    if (drawable) {
      choose(by("metric"), view.get("y") ?? first);
      AXES.forEach((id, n) => choose(by(id), view.has(id) ? axisAt(view.get(id)) : largest[n] ?? -1));
      filters();
      by("filters").querySelectorAll("select").forEach((select) => {
        const axis = axes[select.dataset.axis];
        choose(select, Math.max(0, axis.words.indexOf(view.get(`only.${axis.place}`))));
      });
    }
    by("search").value = view.get("rows") ?? "";
    if (judged) choose(by("verdict"), view.get("verdict") ?? "");
    const [, down, name] = /^(-?)(.*)$/s.exec(view.get("sort") ?? "");
    const axis = axisAt(name);
    sorting.down = down === "-";
    sorting.key = axis >= 0 ? { axis } : Object.hasOwn(metrics, name) ? { metric: name } : null;
    const more = view.getAll("column").filter((metric) => Object.hasOwn(metrics, metric));
    shown.splice(0, shown.length, ...new Set([...columns, ...more]));
  };

  const first = opens ?? Object.keys(metrics)[0];
  const show = () => {
    recall();
    table();
    if (drawable) draw();
  };

  options(by("metric"), Object.entries(metrics), first);
  if (drawable) {
    const numbered = axes.map((axis, i) => [i, axis.label]);
    options(by("x"), numbered, largest[0]);
    options(by("colour"), [[-1, "one"], ...numbered], largest[1] ?? -1);
    options(by("panels"), [[-1, "one"], ...numbered], largest[2] ?? -1);
    AXES.forEach((id) => by(id).addEventListener("change", () => { filters(); draw(); }));
    by("metric").addEventListener("change", draw);
    dark.addEventListener("change", draw);
    window.addEventListener("beforeprint", () => { paper(true); if (dark.matches) draw(); });
    window.addEventListener("afterprint", () => { paper(false); if (dark.matches) draw(); });
  } else {
    by("what").textContent = "Nothing varies, or nothing has run yet.";
  }
  show();
  by("search").addEventListener("input", table);
  if (judged) by("verdict").addEventListener("change", table);
  by("add").addEventListener("change", () => { if (by("add").value) shown.push(by("add").value); table(); });
  ["input", "change", "click"].forEach((kind) => document.querySelector("main").addEventListener(kind, (event) => {
    if (event.target.closest("form, th")) remember();
  }));
  window.addEventListener("hashchange", show);
  document.querySelectorAll("form").forEach((form) => form.addEventListener("submit", (event) => event.preventDefault()));
})();
