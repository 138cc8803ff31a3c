"""Every kind of thing that the sketch can draw: how, how large, in what colour, and where."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from burnish.images.models.colours import COLOURS, Colour
from burnish.images.models.sketch import (
    animals,
    buildings,
    food,
    gadgets,
    household,
    people,
    plants,
    sky_things,
    vehicles,
    wings_and_fins,
)
from burnish.images.models.sketch.pen import Look, Pen


@dataclass(frozen=True, slots=True)
class Kind:
    """`height` is the share of a picture that one alone takes, `aspect` its width by its height.

    `home` is the backdrop where it is shown when none is named. `zone` is where it goes: ground,
    sky, water, small (also stands on a table), table or wall.
    """

    draw: Callable[[Pen, Look], None]
    colour: Colour
    accent: Colour
    height: float
    aspect: float
    zone: str
    home: str


_WHITE, _DARK, _CREAM = COLOURS["white"], (60, 64, 76), COLOURS["cream"]
_RED, _BLUE, _YELLOW = COLOURS["red"], COLOURS["blue"], COLOURS["yellow"]
_BROWN, _GREY, _GREEN, _PINK = (
    COLOURS["brown"],
    COLOURS["grey"],
    COLOURS["green"],
    COLOURS["pink"],
)
_TEAL, _LEATHER = COLOURS["teal"], (116, 72, 48)

KINDS: dict[str, Kind] = {
    "person": Kind(people.person, (64, 112, 168), (56, 60, 80), 0.66, 0.4, "ground", "studio"),
    "robot": Kind(people.robot, (150, 166, 184), _RED, 0.6, 0.6, "ground", "studio"),
    "cat": Kind(animals.cat, (224, 148, 76), _WHITE, 0.5, 0.75, "ground", "room"),
    "dog": Kind(animals.dog, (184, 132, 84), _WHITE, 0.52, 0.72, "ground", "field"),
    "fox": Kind(animals.fox, (226, 112, 44), _WHITE, 0.5, 0.8, "ground", "forest"),
    "bear": Kind(animals.bear, (132, 88, 56), _WHITE, 0.58, 0.75, "ground", "forest"),
    "rabbit": Kind(animals.rabbit, (206, 192, 180), _WHITE, 0.46, 0.5, "ground", "field"),
    "horse": Kind(animals.horse, (140, 84, 52), _DARK, 0.56, 1.2, "ground", "field"),
    "elephant": Kind(animals.elephant, (144, 148, 160), _WHITE, 0.56, 1.35, "ground", "field"),
    "dragon": Kind(
        animals.dragon, (64, 148, 92), (236, 188, 72), 0.62, 1.25, "ground", "mountains"
    ),
    "bird": Kind(wings_and_fins.bird, (72, 128, 196), _WHITE, 0.3, 1.35, "sky", "sky"),
    "duck": Kind(wings_and_fins.duck, _YELLOW, _WHITE, 0.3, 1.35, "water", "lake"),
    "owl": Kind(wings_and_fins.owl, (148, 108, 72), _WHITE, 0.48, 0.75, "ground", "forest"),
    "fish": Kind(wings_and_fins.fish, (244, 132, 52), _WHITE, 0.3, 1.35, "sky", "underwater"),
    "butterfly": Kind(
        wings_and_fins.butterfly, (240, 140, 52), (250, 224, 120), 0.3, 1.1, "sky", "garden"
    ),
    "car": Kind(vehicles.car, _RED, _WHITE, 0.32, 2.0, "ground", "street"),
    "bus": Kind(vehicles.bus, _RED, _CREAM, 0.38, 1.95, "ground", "street"),
    "train": Kind(vehicles.train, (44, 96, 84), (220, 172, 56), 0.36, 2.0, "ground", "field"),
    "bicycle": Kind(vehicles.bicycle, _RED, _DARK, 0.4, 1.8, "ground", "street"),
    "boat": Kind(vehicles.boat, (188, 60, 52), _WHITE, 0.46, 1.1, "water", "sea"),
    "ship": Kind(vehicles.ship, (44, 60, 96), (212, 68, 52), 0.36, 2.0, "water", "sea"),
    "plane": Kind(vehicles.plane, (60, 120, 196), _WHITE, 0.3, 2.0, "sky", "sky"),
    "rocket": Kind(vehicles.rocket, _RED, _WHITE, 0.62, 0.65, "sky", "space"),
    "balloon": Kind(vehicles.balloon, _RED, _YELLOW, 0.46, 0.8, "sky", "hills"),
    "house": Kind(buildings.house, (236, 216, 184), (176, 72, 56), 0.5, 1.25, "ground", "field"),
    "castle": Kind(buildings.castle, (176, 172, 178), (92, 84, 148), 0.56, 1.35, "ground", "hills"),
    "lighthouse": Kind(buildings.lighthouse, _RED, _WHITE, 0.66, 0.35, "ground", "beach"),
    "tower": Kind(buildings.tower, (104, 128, 156), _WHITE, 0.72, 0.36, "ground", "city"),
    "windmill": Kind(
        buildings.windmill, (232, 224, 208), (176, 72, 56), 0.6, 0.8, "ground", "field"
    ),
    "door": Kind(buildings.door, (44, 96, 156), _WHITE, 0.62, 0.85, "wall", "wall"),
    "window": Kind(buildings.window, _WHITE, _WHITE, 0.42, 0.95, "wall", "room"),
    "tent": Kind(buildings.tent, (232, 148, 56), _WHITE, 0.4, 1.5, "ground", "forest"),
    "bench": Kind(buildings.bench, (148, 100, 60), _DARK, 0.28, 1.75, "ground", "field"),
    "tree": Kind(plants.tree, (84, 148, 68), _BROWN, 0.62, 0.8, "ground", "field"),
    "pine": Kind(plants.pine, (44, 108, 76), _BROWN, 0.62, 0.6, "ground", "mountains"),
    "palm": Kind(plants.palm, (68, 152, 84), _BROWN, 0.66, 0.85, "ground", "beach"),
    "cactus": Kind(plants.cactus, (76, 144, 84), _PINK, 0.54, 0.7, "ground", "desert"),
    "bush": Kind(plants.bush, (76, 140, 68), _BROWN, 0.28, 1.45, "ground", "garden"),
    "flower": Kind(plants.flower, _PINK, _YELLOW, 0.5, 0.62, "small", "garden"),
    "rose": Kind(plants.rose, (196, 32, 60), _YELLOW, 0.55, 0.55, "small", "garden"),
    "tulip": Kind(plants.tulip, (228, 72, 92), _YELLOW, 0.5, 0.52, "small", "garden"),
    "sunflower": Kind(plants.sunflower, (248, 196, 48), _BROWN, 0.6, 0.58, "small", "field"),
    "mushroom": Kind(plants.mushroom, (204, 48, 44), _WHITE, 0.4, 1.0, "small", "forest"),
    "rock": Kind(plants.rock, (140, 138, 140), _GREY, 0.26, 1.5, "ground", "field"),
    "fire": Kind(plants.fire, (244, 132, 40), _YELLOW, 0.36, 0.8, "ground", "forest"),
    "sun": Kind(sky_things.sun, (252, 208, 72), _YELLOW, 0.3, 1.0, "sky", "sky"),
    "moon": Kind(sky_things.moon, (240, 236, 216), _GREY, 0.26, 0.9, "sky", "sky"),
    "star": Kind(sky_things.star, (252, 220, 92), _YELLOW, 0.18, 1.0, "sky", "space"),
    "planet": Kind(sky_things.planet, (212, 148, 96), (236, 212, 164), 0.44, 1.2, "sky", "space"),
    "cloud": Kind(sky_things.cloud, (248, 250, 252), _GREY, 0.18, 1.6, "sky", "sky"),
    "rainbow": Kind(sky_things.rainbow, _RED, _BLUE, 0.45, 2.0, "sky", "field"),
    "lightning": Kind(sky_things.lightning, (255, 244, 160), _YELLOW, 0.5, 0.55, "sky", "hills"),
    "apple": Kind(food.apple, (200, 40, 44), _GREEN, 0.36, 0.9, "small", "tabletop"),
    "fruit": Kind(food.fruit, COLOURS["orange"], _GREEN, 0.34, 0.9, "small", "tabletop"),
    "lemon": Kind(food.lemon, (248, 216, 64), _GREEN, 0.28, 1.35, "small", "tabletop"),
    "banana": Kind(food.banana, (248, 212, 72), _BROWN, 0.3, 1.5, "small", "tabletop"),
    "pear": Kind(food.pear, (172, 196, 84), _BROWN, 0.38, 0.75, "small", "tabletop"),
    "cherry": Kind(food.cherry, (188, 28, 52), _GREEN, 0.36, 0.95, "small", "tabletop"),
    "cake": Kind(food.cake, (240, 140, 168), _WHITE, 0.42, 1.4, "small", "tabletop"),
    "burger": Kind(food.burger, (220, 156, 80), _GREEN, 0.4, 1.3, "small", "tabletop"),
    "pizza": Kind(food.pizza, (228, 164, 84), _RED, 0.46, 1.0, "small", "tabletop"),
    "cup": Kind(household.cup, (232, 232, 228), _BROWN, 0.4, 1.15, "small", "tabletop"),
    "glass": Kind(household.glass, (164, 32, 60), _WHITE, 0.44, 0.6, "small", "tabletop"),
    "bottle": Kind(household.bottle, (60, 128, 96), (200, 160, 72), 0.56, 0.5, "small", "tabletop"),
    "teapot": Kind(household.teapot, (72, 128, 160), _CREAM, 0.4, 1.4, "small", "tabletop"),
    "vase": Kind(household.vase, (72, 116, 176), _WHITE, 0.52, 0.6, "small", "tabletop"),
    "lamp": Kind(household.lamp, (240, 212, 152), _BROWN, 0.5, 0.68, "small", "room"),
    "lantern": Kind(household.lantern, (84, 76, 72), _YELLOW, 0.46, 0.55, "small", "forest"),
    "candle": Kind(household.candle, (244, 236, 212), _YELLOW, 0.42, 0.6, "small", "tabletop"),
    "book": Kind(household.book, (148, 52, 56), _CREAM, 0.36, 1.3, "small", "tabletop"),
    "chair": Kind(household.chair, (160, 104, 60), _DARK, 0.5, 0.7, "ground", "room"),
    "table": Kind(household.table, (160, 108, 64), _DARK, 0.36, 2.0, "table", "room"),
    "sofa": Kind(household.sofa, (72, 112, 132), (240, 188, 84), 0.38, 1.95, "ground", "room"),
    "umbrella": Kind(household.umbrella, _RED, _DARK, 0.48, 1.15, "ground", "street"),
    "clock": Kind(gadgets.clock, (132, 84, 52), _DARK, 0.42, 1.0, "small", "room"),
    "watch": Kind(gadgets.watch, (188, 192, 200), _LEATHER, 0.56, 0.66, "small", "studio"),
    "guitar": Kind(gadgets.guitar, (208, 140, 68), _DARK, 0.66, 0.48, "ground", "room"),
    "ball": Kind(gadgets.ball, (232, 96, 48), _WHITE, 0.32, 1.0, "small", "field"),
    "phone": Kind(gadgets.phone, (44, 46, 54), _WHITE, 0.52, 0.55, "small", "studio"),
    "laptop": Kind(gadgets.laptop, (184, 190, 200), _DARK, 0.4, 1.6, "small", "tabletop"),
    "camera": Kind(gadgets.camera, (60, 62, 70), (140, 96, 60), 0.4, 1.25, "small", "tabletop"),
    "shoe": Kind(gadgets.shoe, (60, 128, 208), _WHITE, 0.34, 1.5, "small", "studio"),
    "bag": Kind(gadgets.bag, (160, 96, 60), _YELLOW, 0.46, 1.05, "small", "studio"),
    "gift": Kind(gadgets.gift, (204, 52, 60), (248, 212, 96), 0.42, 1.0, "small", "tabletop"),
    "headphones": Kind(gadgets.headphones, (52, 54, 64), _RED, 0.46, 1.0, "small", "studio"),
    "hat": Kind(gadgets.hat, (124, 88, 60), _DARK, 0.3, 1.8, "small", "studio"),
    "crown": Kind(gadgets.crown, (236, 188, 60), _RED, 0.34, 1.35, "small", "studio"),
    "sword": Kind(gadgets.sword, (212, 172, 72), _LEATHER, 0.6, 0.4, "ground", "hills"),
    "unknown": Kind(sky_things.unknown, _TEAL, _CREAM, 0.44, 1.0, "small", "studio"),
}
