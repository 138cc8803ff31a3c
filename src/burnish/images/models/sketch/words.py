"""The sketch's vocabulary of things, roles and places."""

from __future__ import annotations


def _index(groups: dict[str, str]) -> dict[str, str]:
    return {word: kind for kind, words in groups.items() for word in [kind, *words.split()]}


THINGS = _index(
    {
        "person": "man woman boy girl child kid lady guy human people portrait model"
        " dancer musician singer face self-portrait traveller traveler hiker couple",
        "robot": "android droid mech cyborg",
        "cat": "kitten kitty feline tiger lion lioness leopard",
        "dog": "puppy hound wolf corgi labrador husky",
        "fox": "",
        "bear": "panda teddy",
        "rabbit": "bunny hare",
        "horse": "pony unicorn stallion zebra donkey deer stag",
        "elephant": "mammoth",
        "bird": "parrot robin sparrow swallow crow raven eagle gull seagull pigeon hummingbird",
        "duck": "duckling goose swan",
        "owl": "",
        "fish": "goldfish shark whale dolphin salmon koi",
        "butterfly": "moth",
        "dragon": "dinosaur",
        "car": "automobile taxi cab sedan jeep racecar convertible truck pickup van",
        "bus": "tram minibus",
        "train": "locomotive",
        "bicycle": "bike cycle",
        "boat": "sailboat yacht dinghy canoe",
        "ship": "galleon ferry steamer",
        "plane": "airplane aeroplane aircraft jet",
        "rocket": "spaceship spacecraft shuttle missile",
        "balloon": "airship",
        "house": "cottage cabin hut home barn farmhouse shop",
        "castle": "palace fortress",
        "lighthouse": "",
        "tower": "skyscraper",
        "windmill": "mill",
        "door": "doorway gate",
        "window": "",
        "tent": "camp",
        "tree": "oak maple willow bonsai birch",
        "pine": "fir spruce conifer",
        "palm": "",
        "cactus": "",
        "bush": "shrub hedge",
        "flower": "daisy poppy orchid lily bouquet blossom bloom wildflower peony",
        "rose": "",
        "tulip": "",
        "sunflower": "",
        "mushroom": "toadstool",
        "rock": "stone boulder pebble",
        "sun": "",
        "moon": "crescent",
        "star": "",
        "planet": "saturn mars jupiter earth globe",
        "cloud": "",
        "rainbow": "",
        "lightning": "thunderbolt",
        "apple": "",
        "fruit": "peach plum tangerine clementine mandarin grapefruit",
        "lemon": "lime",
        "banana": "",
        "pear": "avocado",
        "cherry": "berry",
        "cake": "cupcake pie dessert",
        "burger": "hamburger cheeseburger sandwich",
        "pizza": "",
        "cup": "mug coffee tea espresso cappuccino latte",
        "glass": "goblet cocktail wine",
        "bottle": "perfume flask potion jar lotion",
        "teapot": "kettle",
        "vase": "pot",
        "lamp": "lampshade",
        "lantern": "",
        "candle": "",
        "book": "notebook novel",
        "chair": "armchair stool throne",
        "table": "desk counter",
        "bench": "",
        "sofa": "couch bed",
        "clock": "alarm",
        "watch": "wristwatch smartwatch",
        "guitar": "violin ukulele cello",
        "umbrella": "parasol",
        "ball": "football basketball sphere orb",
        "phone": "smartphone",
        "laptop": "computer monitor television tv screen",
        "camera": "",
        "shoe": "sneaker boot trainer",
        "bag": "handbag backpack suitcase briefcase",
        "gift": "present parcel box package",
        "headphones": "headset earphones",
        "hat": "",
        "crown": "",
        "sword": "dagger",
        "fire": "campfire bonfire flame",
    }
)
# What somebody is; worn by a person, or by an animal that is called so.
ROLES = _index(
    {
        "astronaut": "cosmonaut spaceman",
        "chef": "cook baker",
        "knight": "warrior soldier samurai",
        "wizard": "witch sorcerer mage",
        "king": "queen prince princess",
        "pirate": "",
        "detective": "",
        "cowboy": "cowgirl",
        "scientist": "doctor nurse",
        "farmer": "",
        "superhero": "hero",
    }
)
# What may be worn after "wearing" or "with".
WORN = _index(
    {
        "hat": "cap fedora beret",
        "crown": "tiara",
        "glasses": "sunglasses spectacles goggles",
        "scarf": "",
        "helmet": "",
        "headphones": "",
        "bow": "bowtie tie ribbon",
        "umbrella": "parasol",
    }
)
BACKDROPS = _index(
    {
        "diner": "cafe café bar restaurant pub bistro",
        "kitchen": "bakery",
        "room": "bedroom interior office indoors hall gallery museum classroom living-room",
        "library": "bookshop bookstore study",
        "studio": "",
        "stage": "theatre theater concert",
        "tabletop": "countertop still-life",
        "wall": "",
        "street": "road alley sidewalk avenue highway pavement",
        "city": "skyline cityscape town downtown metropolis tokyo manhattan",
        "forest": "woods woodland jungle grove",
        "mountains": "mountain peak alps cliff",
        "hills": "hill valley",
        "field": "meadow grass lawn park pasture farm countryside landscape prairie",
        "garden": "orchard",
        "lake": "pond lagoon water",
        "river": "stream canal creek",
        "sea": "ocean seaside wave waves",
        "beach": "shore coast island",
        "desert": "dune sahara",
        "snowfield": "glacier arctic tundra snowy wintry winter",
        "space": "galaxy nebula cosmos universe orbit outer-space",
        "sky": "",
        "underwater": "reef aquarium",
    }
)
NUMBERS = {
    "one": 1, "two": 2, "pair": 2, "couple": 2, "three": 3, "trio": 3, "four": 4, "five": 5,
    "six": 6, "seven": 7, "eight": 8, "nine": 9, "several": 4, "many": 7, "few": 3, "some": 3,
    "group": 4, "flock": 7, "herd": 5, "crowd": 7, "school": 6, "row": 4,
}  # fmt: skip
SIZES = {
    "tiny": 0.5, "small": 0.7, "little": 0.7, "miniature": 0.5, "short": 0.8,
    "big": 1.25, "large": 1.3, "tall": 1.25, "huge": 1.5, "giant": 1.6, "enormous": 1.6,
    "massive": 1.5, "towering": 1.5,
}  # fmt: skip
IRREGULAR = {
    "men": "man", "women": "woman", "children": "child", "geese": "goose", "leaves": "leaf",
    "wolves": "wolf", "knives": "knife", "shelves": "shelf", "loaves": "loaf", "mice": "mouse",
    "glasses": "glasses", "headphones": "headphones", "sunglasses": "sunglasses",
    "grass": "grass", "glass": "glass", "bus": "bus", "cactus": "cactus", "cacti": "cactus",
    "dress": "dress", "woods": "woods", "alps": "alps", "goggles": "goggles", "waves": "waves",
    "mountains": "mountains", "hills": "hills", "ties": "tie", "pies": "pie", "shoes": "shoe",
    "horses": "horse", "houses": "house", "roses": "rose", "vases": "vase",
    "buses": "bus", "people": "people", "canvas": "canvas", "gas": "gas", "lens": "lens",
}  # fmt: skip


def singular(word: str) -> str:
    """One of what a plural means; other words as they are."""
    if word in IRREGULAR:
        return IRREGULAR[word]
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("ches", "shes", "xes", "sses", "oes")):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")) and len(word) > 3:
        return word[:-1]
    return word
