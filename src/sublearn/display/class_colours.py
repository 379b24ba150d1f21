"""Colours of classes that fill areas, where a marker cannot tell two of them apart."""

import colorsys

from sublearn.display.canvas import COLOURS

LIGHTNESS = (0.36, 0.60)  # by turns, so that neighbours in hue differ in it
SATURATION = 0.75


def colours_of(n: int) -> list[str]:
    """As many colours: those of all figures, or, where these do not suffice, the whole circle of hues."""
    if n <= len(COLOURS):
        return list(COLOURS[:n])
    wheel = [colorsys.hls_to_rgb(k / n, LIGHTNESS[k % 2], SATURATION) for k in range(n)]
    return ["#" + "".join(f"{round(255 * part):02X}" for part in colour) for colour in wheel]
