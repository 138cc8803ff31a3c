"""Picture words: the vocabulary that the sketch draws and the pixel judge measures."""

from __future__ import annotations

import re

_VOCABULARY = """\
light day: daylight sunny sunlit midday noon daytime
light night: midnight nighttime starry moonlit moonlight nocturnal
light sunset: dusk twilight evening
light sunrise: dawn morning
light golden-hour:
light neon: cyberpunk synthwave vaporwave neon-lit
light studio-lit: softbox
light dramatic: chiaroscuro moody low-key spotlight side-lit
light softly-lit: soft diffused gentle high-key airy
light backlit: silhouette rim-lit
light candlelit: candlelight firelight cosy cozy
light overcast: cloudy grey-sky gloomy
weather rain: rainy raining downpour drizzle
weather snow: snowing snowfall blizzard
weather fog: foggy mist misty hazy haze
weather storm: stormy thunderstorm
style watercolour: watercolor gouache aquarelle
style oil: impressionist painterly acrylic brushstrokes
style line-art: lineart ink engraving pencil doodle drawing sketch
style pixel-art: 8-bit 16-bit pixelated pixel
style minimal: minimalist minimalism flat vector simple
style cinematic: film movie anamorphic widescreen letterbox
style vintage: retro sepia polaroid old-fashioned nostalgic antique faded
style noir: monochrome greyscale grayscale b&w
style comic: cartoon anime manga
style grain: grainy 35mm analog analogue
frame close: close-up closeup macro tight headshot
frame medium: medium-shot
frame wide: panorama panoramic vista distant expansive
frame aerial: overhead
frame low-angle: heroic
layout centred: centered central center-framed
layout thirds: off-centre off-center asymmetric
layout symmetric: symmetrical symmetry mirrored balanced
layout roomy: negative-space uncluttered spacious
mood vibrant: vivid colourful colorful saturated bold bright
mood muted: desaturated subdued understated
mood pastel:
mood warm:
mood cool: cold icy
mood dark: shadowy
mood contrasty: punchy crisp sharp
mood bokeh: blurred blurry
place room: bedroom interior office indoors hall gallery museum classroom living-room kitchen \
diner cafe café restaurant pub bistro bakery library bookshop bookstore stage theatre theater
place studio:
place tabletop: countertop still-life
place wall:
place street: road alley sidewalk avenue highway pavement
place city: skyline cityscape town downtown metropolis tokyo manhattan
place forest: woods woodland jungle grove
place mountains: mountain peak alps cliff
place hills: hill valley
place field: meadow grass lawn park pasture farm countryside landscape prairie
place garden: orchard
place lake: pond lagoon water
place river: stream canal creek
place sea: ocean seaside wave waves
place beach: shore coast island
place desert: dune sahara
place snowfield: glacier arctic tundra snowy wintry winter
place space: galaxy nebula cosmos universe orbit outer-space
place sky:
place underwater: reef aquarium
"""


def _meanings(about: str) -> dict[str, str]:
    """By word what it means, from the lines of the vocabulary that are about one matter."""
    lines = re.findall(rf"^{about} ([\w-]+):(.*)$", _VOCABULARY, re.MULTILINE)
    return {word: kind for kind, words in lines for word in [kind, *words.split()]}


def word_set(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())


LIGHTS, WEATHER, STYLES = _meanings("light"), _meanings("weather"), _meanings("style")
FRAMES, LAYOUTS, MOODS = _meanings("frame"), _meanings("layout"), _meanings("mood")
BACKDROPS = _meanings("place")
SKY = {"sun": "sun", "moon": "moon", "crescent": "moon", "star": "star"}
SEEN = (BACKDROPS, SKY, WEATHER, STYLES, LIGHTS, MOODS)
MANNERS = {"weather": WEATHER, "styles": STYLES, "mood": MOODS}
NUMBERS = {
    "one": 1, "two": 2, "pair": 2, "couple": 2, "three": 3, "trio": 3, "four": 4, "five": 5,
    "six": 6, "seven": 7, "eight": 8, "nine": 9, "several": 4, "many": 7, "few": 3, "some": 3,
    "group": 4, "flock": 7, "herd": 5, "crowd": 7, "row": 4,
}  # fmt: skip
SIZES = {
    "tiny": 0.5, "small": 0.7, "little": 0.7, "miniature": 0.5, "short": 0.8, "big": 1.25,
    "large": 1.3, "tall": 1.25, "huge": 1.5, "giant": 1.6, "enormous": 1.6, "massive": 1.5,
}  # fmt: skip
# Phrases become one word before anything is read.
PHRASES = {
    phrase: word
    for word, phrases in {
        "noir": "black and white|film noir",
        "golden-hour": "golden hour",
        "dusk": "blue hour",
        "thirds": "rule of thirds",
        "negative-space": "negative space|clear space|empty space|space around",
        "contrasty": "strong contrast|raise the contrast|high contrast|high-contrast",
        "softly-lit": "even light|window light|soft light|soft lighting|soft diffused",
        "close-up": "close up",
        "wide": "wide angle|wide-angle|wide shot|long shot|establishing shot",
        "medium-shot": "medium shot|full body",
        "low-angle": "low angle|low viewpoint",
        "aerial": "bird's eye|birds eye|bird's-eye|top down|top-down",
        "line-art": "line art|line drawing|ink drawing",
        "pixel-art": "pixel art",
        "oil": "oil painting|oil paint",
        "comic": "pop art",
        "grain": "film grain",
        "bokeh": "shallow depth of field|depth of field",
        "studio-lit": "studio light|studio lighting",
        "studio": "studio backdrop",
        "backlit": "rim light|back light",
        "dramatic": "side light",
        "still-life": "still life",
        "outer-space": "outer space",
        "living-room": "living room",
        "render": "3d render",
        "(left)": "on the left|to the left|at left",
        "(right)": "on the right|to the right|at right",
        "(centre)": "in the centre|in the center|in the middle|at the centre|at the center",
        "(top)": "at the top|in the sky",
        "(back)": "in the background|in background|in the distance",
    }.items()
    for phrase in phrases.split("|")
}
# Words that say how to read the others, or name what every picture has. Nobody misses them.
PLAIN = word_set(
    """
    a about across add also an and another are area areas around as at backdrop background be being
    both by camera centimetre clear clearly color colors colour colours composition contrast crop
    detail draw each edge edges even every exposure fill focus for foreground frame framed framing
    from full give glance half harmonious has her high his hold hour image in include includes
    including into is it its just keep key kind layout left length lens less lift light lighting
    limit lit look low main make margin margins more most must named near new next no not number of
    off on one's only onto or out palette paint part place placed plain prompt pull raise recompose
    reframe reimagine relight render right same scene set setting shadow shadows shot show shows
    side space style styled subject subjects surroundings take that the their these this those time
    to tone tones touch towards up use used using very view viewpoint visible way when where which
    while whole with without word words 35mm 4k 50mm 85mm 8k mm f free my your our unmistakable
    larger picture against back between bottom centre center middle through top
    """
)
# What stands between two things. It is never drawn, and that is said.
RELATIONS = word_set("above behind below beneath beside inside over under wearing")
DETERMINERS = word_set("a an the my your his her our their its another this that these those")
ASKING = word_set("add include includes including")
# Names of what a picture is, not of what is seen in it.
MEDIA = word_set(
    """
    portrait photo photograph photography painting illustration artwork art poster
    wallpaper masterpiece concept design texture textures material materials quality resolution
    """
)
ADJECTIVES = word_set(
    """
    old young new cute happy sad angry fluffy shiny tiny rusty dusty furry hairy lovely pretty
    beautiful elegant modern ancient great good best fine deep rich smooth rough dynamic realistic
    photorealistic abstract isometric detailed stunning quiet calm fresh glossy matte natural strong
    subtle unusual unexpected clean classic professional wild free fast slow long wide open empty
    """
)
ADJECTIVE_HEAD = ("ful", "ous", "less", "ible")
ADJECTIVE_ENDS = (*ADJECTIVE_HEAD, "al", "ic", "ive", "able", "ed", "ish", "est", "ly")
NOUNS_IN_ING = word_set("king ring wing building string spring ceiling wedding viking thing")
BREAKS = frozenset(",.;:!?\n")
_TOKEN = re.compile(r"\([a-z-]+\)|[\w&']+(?:-[\w']+)*|[,.;:!?\n]")
_PHRASE = re.compile(
    r"\b(?:" + "|".join(re.escape(one) for one in sorted(PHRASES, key=len, reverse=True)) + r")\b"
)
_NEGATION = re.compile(
    r"(?:(?:must\s+)?(?:avoid|exclude|excluding)\s*:?\s*(?P<list>[^.;\n]*))"
    r"|(?:\b(?:no|not|without|never|free of|lacking|minus|remove|removing)\s+"
    r"(?P<one>[^.;,\n]*?)(?=[.;,\n]|$|\b(?:but|with|in|on|at)\b))",
)
_IRREGULAR = {
    "men": "man", "women": "woman", "children": "child", "geese": "goose", "leaves": "leaf",
    "wolves": "wolf", "knives": "knife", "mice": "mouse", "glasses": "glasses", "woods": "woods",
    "headphones": "headphones", "sunglasses": "sunglasses", "alps": "alps", "waves": "waves",
    "mountains": "mountains", "hills": "hills", "ties": "tie", "pies": "pie", "shoes": "shoe",
    "horses": "horse", "houses": "house", "roses": "rose", "vases": "vase", "gas": "gas",
    "canvas": "canvas", "lens": "lens",
}  # fmt: skip


def words_of(text: str) -> list[str]:
    """Words and breaks, with phrases joined to one word."""
    return _TOKEN.findall(_PHRASE.sub(lambda found: f" {PHRASES[found[0]]} ", text))


def split_negations(text: str) -> tuple[str, str]:
    """What a prompt asks for, and what it does not want; both in lower case."""
    unwanted: list[str] = []

    def take(found: re.Match[str]) -> str:
        unwanted.append(found["list"] or found["one"] or "")
        return ", "

    return _NEGATION.sub(take, text.lower()), ", ".join(unwanted)


def singular(word: str) -> str:
    """One of what a plural means; other words as they are."""
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("ches", "shes", "xes", "sses", "oes")):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")) and len(word) > 3:
        return word[:-1]
    return word
