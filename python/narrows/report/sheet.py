"""One figure as a page that can be zoomed and needs nothing else."""

from __future__ import annotations

from html import escape
from pathlib import Path

from narrows.figures import zoom
from narrows.figures.chart import Sheet
from narrows.figures.interactive import plot
from narrows.figures.model import Figure
from narrows.report.page import plotly_js

_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<meta http-equiv="Content-Security-Policy"
 content="default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:">
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>body{{font-family:system-ui,sans-serif;margin:1rem auto;max-width:1200px;color:#1f2937}}
h1{{font-size:1.2rem;margin:0}}p{{color:#6b7280;margin:.2rem 0 1rem}}
#charts{{display:grid;grid-template-columns:repeat({columns},minmax(0,1fr));gap:.5rem}}
@media(max-width:700px){{#charts{{grid-template-columns:1fr}}}}</style></head>
<body><h1>{title}</h1><p>{subtitle}</p><div id="charts" role="img" aria-label="{alt}"></div>
<script>{plotly}</script>
<script>const charts={charts};
for(const c of charts){{const d=document.createElement("div");
document.getElementById("charts").append(d);
Plotly.newPlot(d,c.data,c.layout,{{responsive:true,displaylogo:false}});}}</script>
</body></html>
"""


def save_page(figure: Figure | Sheet, stem: Path) -> Path:
    """Writes `stem.html`; raises OSError if it can't."""
    path = stem.with_name(f"{stem.name}.html")
    path.write_text(page(figure), encoding="utf-8", newline="\n")
    return path


def page(figure: Figure | Sheet) -> str:
    """A described figure as HTML."""
    if isinstance(figure, Sheet):
        charts, columns = zoom.as_json(figure), figure.columns
    else:
        charts, columns = f"[{_light(figure)}]", 1
    return _PAGE.format(
        title=escape(figure.title),
        subtitle=escape(figure.subtitle),
        alt=escape(figure.alt),
        columns=columns,
        plotly=plotly_js(),
        charts=charts,
    )


def _light(figure: Figure) -> str:
    """The plot of a run with the colours of a light page put in."""
    made = plot(figure)
    text = made.json()
    page_colours = {"ink": "#1f2937", "card": "#ffffff", "grid": "#e5e7eb", "faint": "#6b7280"}
    shades = {**page_colours, **{key: light for key, (light, _) in made.colours.items()}}
    for key in sorted(shades, key=len, reverse=True):
        for part in ("0.13", "0.28", "0.3", "1"):
            text = text.replace(f'"@{key}/{part}"', f'"{shades[key]}{_hex(float(part))}"')
        text = text.replace(f'"@{key}"', f'"{shades[key]}"')
    return text


def _hex(part: float) -> str:
    return f"{round(part * 255):02x}"
