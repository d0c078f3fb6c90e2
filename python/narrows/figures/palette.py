"""Colours and names, the same in every figure.

The hues are Okabe and Ito's, which people with any common colour vision deficiency can distinguish.
Each has a second, lighter value for dark pages.
"""

from __future__ import annotations

from dataclasses import dataclass

from narrows.spec import registry


@dataclass(frozen=True, slots=True)
class Colour:
    """One colour on a light and on a dark background, as `#rrggbb`."""

    light: str
    dark: str


VERMILION = Colour("#d55e00", "#ff8a3d")
BLUE = Colour("#0072b2", "#4db5f0")
GREEN = Colour("#009e73", "#2fcc9f")
PURPLE = Colour("#b0578d", "#e79ac6")
SKY = Colour("#3a9bd9", "#8ccdf5")
OCHRE = Colour("#b07d00", "#f0c243")
GREY = Colour("#6b7280", "#9ca3af")
INK = Colour("#374151", "#d1d5db")

SHADES = tuple(
    Colour(light, dark)
    for light, dark in (
        ("#c2410c", "#fdba74"),
        ("#d97706", "#fcd34d"),
        ("#65a30d", "#bef264"),
        ("#0891b2", "#67e8f9"),
        ("#1e40af", "#93c5fd"),
    )
)
"""Five steps of a growing quantity, from warm to cold."""

COLOURS: dict[str, Colour] = {
    "bbr": VERMILION,
    "bbr2": OCHRE,
    "bbr3": Colour("#8f1d1d", "#ff6b6b"),
    "bbr_shallow": Colour("#c96a35", "#ffc09a"),
    "bic": Colour("#0d144f", "#7782da"),
    "cdg": Colour("#667783", "#9dbb91"),
    "compound": Colour("#a304ff", "#e74d38"),
    "copa": Colour("#0f766e", "#5eead4"),
    "cubic": BLUE,
    "dctcp": PURPLE,
    "fixed": Colour("#57534e", "#d6d3d1"),
    "highspeed": Colour("#06560b", "#39fd46"),
    "htcp": Colour("#9f0ab0", "#eb3ffe"),
    "hybla": Colour("#ea0890", "#ff39b0"),
    "illinois": Colour("#610332", "#d5669d"),
    "ledbat": Colour("#5b7a1a", "#c5e478"),
    "ledbat_pp": Colour("#7d9230", "#e3f2a1"),
    "lp": Colour("#3e2c1f", "#f3f7fa"),
    "nv": Colour("#17020b", "#6e979a"),
    "pcc_allegro": Colour("#7c4a1e", "#d6a67a"),
    "pcc_vivace": Colour("#4b3f72", "#b8a9e6"),
    "prague": Colour("#7a1f6b", "#f472d0"),
    "reno": GREEN,
    "scalable": Colour("#219707", "#77d363"),
    "vegas": SKY,
    "veno": Colour("#560b9c", "#ae63f5"),
    "westwood": Colour("#334e9e", "#9db4ff"),
    "yeah": Colour("#3c915d", "#b9f3d0"),
    "retransmission": VERMILION,
    "sack": BLUE,
    "ack": GREEN,
    "out_of_order": Colour("#1f2937", "#e5e7eb"),
    "window": SKY,
    "queue": INK,
    "loss": INK,
    "neutral": GREY,
    "ink": INK,
    **{f"flow:{i}": c for i, c in enumerate((BLUE, VERMILION, GREEN, PURPLE, OCHRE, SKY, GREY))},
    **{f"step:{i}": shade for i, shade in enumerate(SHADES)},
    "span": Colour("#c9a227", "#c9a227"),
    "state:startup": GREEN,
    "state:slow_start": GREEN,
    "state:drain": SKY,
    "state:probe_bw": Colour("#d9dce1", "#3a3f4a"),
    "state:congestion_avoidance": Colour("#d9dce1", "#3a3f4a"),
    "state:probe_rtt": Colour("#c9a227", "#e3bd45"),
    "state:recovery": PURPLE,
    "state:loss": Colour("#1f2937", "#e5e7eb"),
    "state:cwr": SKY,
}

OTHERS = (PURPLE, OCHRE, SKY, GREEN, GREY)

SPARE = tuple(
    Colour(light, dark)
    for light, dark in (
        ("#be185d", "#f9a8d4"),
        ("#15803d", "#86efac"),
        ("#6d28d9", "#c4b5fd"),
        ("#a16207", "#fde68a"),
        ("#155e75", "#67d5ee"),
    )
)
"""For controls of the registry that have no colour above, in the order of their names."""


def colour(key: str) -> Colour:
    """The colour of a key; a key without one always gets the same substitute."""
    found = COLOURS.get(key)
    if found is not None:
        return found
    new = sorted(registry.ccas().keys() - COLOURS.keys())
    if key in new[: len(SPARE)]:
        return SPARE[new.index(key)]
    return OTHERS[sum(key.encode()) % len(OTHERS)]


def name(cca: str) -> str:
    """The usual spelling of a congestion control's name."""
    return registry.title(cca)
