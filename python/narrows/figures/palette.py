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
        ("#c48ad9", "#7d5a94"),
        ("#a563c0", "#9a74b3"),
        ("#83449e", "#b792cf"),
        ("#5f2b78", "#d4b3e8"),
        ("#391150", "#f0d9ff"),
    )
)
"""Five steps of a growing quantity, from faint to strong; no usual control has their hue."""
FREE = tuple(
    Colour(light, dark)
    for light, dark in (
        ("#c2417c", "#f59ac4"),
        ("#365314", "#d9f99d"),
        ("#b8930f", "#f2d35c"),
        ("#9a86d6", "#a897e0"),
        ("#6b1136", "#fb7185"),
        ("#870bda", "#b84dff"),
        ("#49136c", "#6a53c6"),
    )
)
"""For lines that stand for no control: none of them looks like BBR, CUBIC or Reno, or is grey."""
SHADED = 3
"""Shades of a control's colour: its own, a faint and a strong one."""

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
    **{f"flow:{i}": free for i, free in enumerate(FREE)},
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
    "cause:slow_start": SKY,
    "cause:receiver_window": BLUE,
    "cause:application": Colour("#d9dce1", "#3a3f4a"),
    "cause:send_buffer": Colour("#1e3a8a", "#93c5fd"),
    "cause:queue": OCHRE,
    "cause:random_loss": VERMILION,
    "cause:policer": PURPLE,
    "cause:timeouts": Colour("#1f2937", "#e5e7eb"),
    "cause:reordering": Colour("#be185d", "#f9a8d4"),
    "cause:fair_share": Colour("#65a30d", "#bef264"),
    "cause:healthy": GREEN,
    "cause:unknown": GREY,
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
    cca, _, number = key.rpartition("#")
    if cca:
        return _shade(colour(cca), int(number))
    new = sorted(registry.ccas().keys() - COLOURS.keys())
    if key in new[: len(SPARE)]:
        return SPARE[new.index(key)]
    return OTHERS[sum(key.encode()) % len(OTHERS)]


def shade(cca: str, number: int) -> str:
    """The key of a control's colour for its class of this number, below `SHADED`."""
    return f"{cca}#{number}" if number else cca


def _shade(own: Colour, number: int) -> Colour:
    """A colour nearer to the ground, or farther from it."""
    ground, ink = ("#ffffff", "#111827"), ("#000000", "#ffffff")
    light, dark = ground if number == 1 else ink
    return Colour(_mix(own.light, light), _mix(own.dark, dark))


def _mix(one: str, other: str) -> str:
    """The colour midway between two."""
    pairs = ((int(c[i : i + 2], 16) for c in (one, other)) for i in (1, 3, 5))
    return "#" + "".join(f"{sum(pair) // 2:02x}" for pair in pairs)


def name(cca: str) -> str:
    """The usual spelling of a congestion control's name."""
    return registry.title(cca)
