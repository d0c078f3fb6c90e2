"""The distance of two colours for different kinds of colour vision.

Dichromats' sight is simulated by the matrices of Machado, Oliveira and Fernandes (A
Physiologically-based Model for Simulation of Color Vision Deficiency, IEEE TVCG 15(6), 2009,
severity 1.0), which take linear RGB. The distance is that of CIELAB (CIE 1976, white D65), in which
2.3 is a just noticeable difference of large patches; thin lines need several times that.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from narrows.figures.model import Floats

SIGHTS: dict[str, Floats] = {
    "trichromacy": np.eye(3),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216],
         [-0.003882, -0.048116, 1.051998]]),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413],
         [-0.011820, 0.042940, 0.968881]]),
    "tritanopia": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602],
         [0.004733, 0.691367, 0.303900]]),
}  # fmt: skip
"""The transformation of linear RGB for each kind of vision."""

_TO_XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750],
     [0.0193339, 0.1191920, 0.9503041]]
)  # fmt: skip
"""The matrix from sRGB's linear values (IEC 61966-2-1)."""


def distance(one: str, other: str) -> float:
    """The minimum distance of two colours, `#rrggbb`, over all kinds of vision."""
    return min(float(np.linalg.norm(perceive(one, s) - perceive(other, s))) for s in SIGHTS)


@cache
def perceive(colour: str, sight: str) -> Floats:
    """A colour, `#rrggbb`, in CIELAB, as seen with a kind of vision."""
    coded = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    linear = np.where(coded <= 0.04045, coded / 12.92, ((coded + 0.055) / 1.055) ** 2.4)
    white = _TO_XYZ.sum(axis=1)
    xyz = _TO_XYZ @ np.clip(SIGHTS[sight] @ linear, 0.0, 1.0) / white
    x, y, z = np.where(xyz > 216 / 24389, np.cbrt(xyz), (24389 / 27 * xyz + 16) / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])
