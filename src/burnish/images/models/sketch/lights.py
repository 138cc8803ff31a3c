"""Light: what the sky looks like under it, and what it does to everything."""

from __future__ import annotations

from dataclasses import dataclass

from burnish.images.models.colours import Colour


@dataclass(frozen=True, slots=True)
class Light:
    """`sky` runs from top to horizon. `ambient` multiplies everything that does not shine.

    `wall` is what a plain backdrop looks like. `side` is how much darker the far side is, unless
    another colour lights it: `across`. `dark` says whether lamps and stars are seen.
    """

    sky: tuple[Colour, Colour, Colour]
    ambient: Colour
    wall: tuple[Colour, Colour]
    side: float = 0.12
    dark: bool = False
    sun: Colour | None = None
    across: Colour | None = None


LIGHTS: dict[str, Light] = {
    "day": Light(
        ((84, 152, 224), (140, 194, 240), (222, 238, 246)),
        (255, 255, 255),
        ((226, 220, 208), (196, 190, 182)),
        sun=(255, 246, 210),
    ),
    "night": Light(
        ((8, 12, 38), (20, 28, 72), (58, 66, 120)),
        (164, 174, 232),
        ((74, 80, 120), (44, 48, 84)),
        dark=True,
    ),
    "starlight": Light(
        ((6, 8, 24), (16, 16, 46), (30, 28, 70)),
        (238, 238, 252),
        ((58, 58, 92), (22, 22, 46)),
        side=0.2,
        dark=True,
    ),
    "sunset": Light(
        ((72, 52, 120), (220, 100, 96), (255, 190, 104)),
        (255, 214, 186),
        ((244, 192, 148), (206, 132, 104)),
        side=0.22,
        sun=(255, 214, 132),
    ),
    "sunrise": Light(
        ((120, 148, 212), (244, 178, 172), (255, 226, 184)),
        (255, 236, 222),
        ((246, 218, 196), (222, 182, 164)),
        side=0.18,
        sun=(255, 232, 176),
    ),
    "golden-hour": Light(
        ((132, 160, 200), (236, 200, 144), (255, 222, 150)),
        (255, 230, 186),
        ((246, 214, 160), (214, 166, 108)),
        side=0.24,
        sun=(255, 228, 150),
    ),
    "neon": Light(
        ((14, 8, 40), (44, 16, 84), (112, 32, 120)),
        (255, 164, 236),
        ((64, 36, 96), (30, 18, 58)),
        side=0.2,
        dark=True,
        across=(136, 200, 255),
    ),
    "studio-lit": Light(
        ((226, 228, 232), (236, 238, 240), (246, 246, 246)),
        (255, 255, 255),
        ((240, 240, 242), (204, 206, 212)),
        side=0.1,
    ),
    "dramatic": Light(
        ((34, 36, 50), (76, 72, 84), (150, 122, 100)),
        (232, 214, 200),
        ((66, 58, 58), (22, 20, 26)),
        side=0.5,
        dark=True,
        sun=(255, 210, 150),
    ),
    "softly-lit": Light(
        ((176, 202, 226), (212, 224, 234), (240, 236, 230)),
        (255, 252, 248),
        ((238, 230, 220), (218, 208, 200)),
        side=0.06,
        sun=(255, 250, 236),
    ),
    "backlit": Light(
        ((150, 168, 196), (246, 214, 170), (255, 240, 200)),
        (196, 184, 190),
        ((255, 238, 208), (214, 184, 156)),
        side=0.05,
        sun=(255, 246, 214),
    ),
    "candlelit": Light(
        ((28, 20, 30), (64, 40, 40), (120, 72, 48)),
        (255, 206, 150),
        ((132, 88, 60), (64, 40, 34)),
        side=0.3,
        dark=True,
    ),
    "overcast": Light(
        ((142, 152, 164), (176, 184, 192), (208, 212, 216)),
        (226, 230, 236),
        ((204, 204, 204), (172, 174, 178)),
        side=0.04,
    ),
}
