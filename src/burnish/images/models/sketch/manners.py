"""The sketch's vocabulary of light, weather, style, framing and mood."""

from __future__ import annotations

import re

# Phrases become one word before anything is read. The longest come first.
PHRASES: dict[str, str] = {
    "black and white": "noir",
    "golden hour": "golden-hour",
    "blue hour": "dusk",
    "rule of thirds": "thirds",
    "negative space": "negative-space",
    "clear space": "negative-space",
    "empty space": "negative-space",
    "space around": "negative-space",
    "strong contrast": "contrasty",
    "raise the contrast": "contrasty",
    "even light": "softly-lit",
    "under an umbrella": "wearing umbrella",
    "with an umbrella": "wearing umbrella",
    "holding an umbrella": "wearing umbrella",
    "hot air balloon": "balloon",
    "hot-air balloon": "balloon",
    "close up": "close-up",
    "wide angle": "wide",
    "wide-angle": "wide",
    "wide shot": "wide",
    "long shot": "wide",
    "establishing shot": "wide",
    "medium shot": "medium-shot",
    "full body": "medium-shot",
    "low angle": "low-angle",
    "low-angle": "low-angle",
    "bird's eye": "aerial",
    "birds eye": "aerial",
    "bird's-eye": "aerial",
    "top down": "aerial",
    "top-down": "aerial",
    "line art": "line-art",
    "line drawing": "line-art",
    "ink drawing": "line-art",
    "pixel art": "pixel-art",
    "oil painting": "oil",
    "oil paint": "oil",
    "pop art": "comic",
    "film grain": "grain",
    "film noir": "noir",
    "high contrast": "contrasty",
    "high-contrast": "contrasty",
    "shallow depth of field": "bokeh",
    "depth of field": "bokeh",
    "window light": "softly-lit",
    "soft light": "softly-lit",
    "soft lighting": "softly-lit",
    "soft diffused": "softly-lit",
    "studio light": "studio-lit",
    "studio lighting": "studio-lit",
    "studio backdrop": "studio",
    "rim light": "backlit",
    "back light": "backlit",
    "side light": "dramatic",
    "still life": "still-life",
    "outer space": "outer-space",
    "living room": "living-room",
    "3d render": "render",
    "low poly": "low-poly",
    "as a": "as",
    "as an": "as",
    "in front of": "(next-back)",
    "in the background": "(back)",
    "in background": "(back)",
    "in the distance": "(back)",
    "in the foreground": "(front)",
    "on the left": "(left)",
    "to the left": "(left)",
    "at left": "(left)",
    "on the right": "(right)",
    "to the right": "(right)",
    "at right": "(right)",
    "in the centre": "(centre)",
    "in the center": "(centre)",
    "in the middle": "(centre)",
    "at the top": "(top)",
    "at the centre": "(centre)",
    "at the center": "(centre)",
    "in the sky": "(top)",
}


def _index(groups: dict[str, str]) -> dict[str, str]:
    return {word: kind for kind, words in groups.items() for word in [kind, *words.split()]}


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


LIGHTS = _index(
    {
        "day": "daylight sunny sunlit midday noon daytime",
        "night": "midnight nighttime starry moonlit moonlight nocturnal",
        "sunset": "dusk twilight evening",
        "sunrise": "dawn morning",
        "golden-hour": "golden-hour",
        "neon": "cyberpunk synthwave vaporwave neon-lit",
        "studio-lit": "softbox",
        "dramatic": "chiaroscuro moody low-key spotlight side-lit",
        "softly-lit": "soft diffused gentle high-key airy",
        "backlit": "silhouette rim-lit",
        "candlelit": "candlelight firelight cosy cozy",
        "overcast": "cloudy grey-sky gloomy",
    }
)
WEATHER = _index(
    {
        "rain": "rainy raining downpour drizzle",
        "snow": "snowing snowfall blizzard",
        "fog": "foggy mist misty hazy haze",
        "storm": "stormy thunderstorm",
    }
)
STYLES = _index(
    {
        "watercolour": "watercolor gouache aquarelle",
        "oil": "impressionist painterly acrylic brushstrokes",
        "line-art": "lineart ink engraving sketch pencil drawing doodle",
        "pixel-art": "8-bit 16-bit pixelated pixel",
        "minimal": "minimalist minimalism flat vector simple",
        "cinematic": "film movie anamorphic widescreen letterbox",
        "vintage": "retro sepia polaroid old-fashioned nostalgic antique faded",
        "noir": "monochrome greyscale grayscale b&w",
        "comic": "cartoon anime manga",
        "grain": "grainy 35mm analog analogue",
    }
)
FRAMES = _index(
    {
        "close": "close-up closeup macro tight headshot",
        "medium": "medium-shot",
        "wide": "panorama panoramic vista distant expansive",
        "aerial": "overhead",
        "low-angle": "heroic",
    }
)
LAYOUTS = _index(
    {
        "centred": "centered central center-framed",
        "thirds": "off-centre off-center asymmetric",
        "symmetric": "symmetrical symmetry mirrored balanced",
        "roomy": "negative-space uncluttered spacious",
    }
)
MOODS = _index(
    {
        "vibrant": "vivid colourful colorful saturated bold bright",
        "muted": "desaturated subdued understated",
        "pastel": "",
        "warm": "",
        "cool": "cold icy",
        "dark": "shadowy",
        "contrasty": "punchy crisp sharp",
        "bokeh": "blurred blurry",
    }
)
# Words that never stand for a thing of their own, however they are used.
PLAIN = _words(
    """
    correct smooth fine figure figures picturesque lovely quiet calm
    35mm 4k 50mm 85mm 8k a above accent accents across action add adherence advertising aesthetic
    against all also ambient an anatomy and angle another aperture appeal are area areas around
    arrangement art artwork as at atmosphere award back backdrop background balanced be beautiful
    behind being below beside best better between bit bold both bottom bring by camera-lens
    catalogue center centimetre centre clarity classic clean clear clearly coherent color colors
    colour colours commercial composition concept consistent contrast cooking core crop cropped
    cute deep depth description design detail detailed details different distortion down draw
    dynamic each eating edge edges editorial elegant element elements emotion emphasis emphasise
    emphasize energy even every exposure expression extra f fashion feel feeling fidelity figure-
    ground fill fills floating fluffy flying focal focus focused for foreground form forms frame
    framed framing fresh from front full gaze give glance glossy glow glowing good gradient
    gradients graphic great half happy harmonious hdr her hero high highlight highlights hint his
    hold holding hour idea image improve improved in inch include includes including inside intact
    into is it item items its just keep key kind layout leaning left legible length lens less
    lettering lift light lighting limit line lines lit logo look looking lot low main make margin
    margins mark marks masterpiece material materials matte medium metal metallic middle mm modern
    moment mood more most motion movement must named natural near new next no not number object
    objective objects of off old on one's only onto or out outside over painting palette part
    parts pattern patterns perspective photo photograph photography photorealistic picture piece
    pieces pixel-perfect place placed plain playing pose preset prime product professional prompt
    prompts pull push quality raise readable reading realistic recognisable recognizable recompose
    reflection reflections reframe reimagine relight render rendering resolution rewrite rich
    riding right room-for running sad same scene scratch season sense separation set setting
    shadow shadows shape shapes sharp sharpen shiny shot show side signature silhouette
    silhouettes simple single sitting sleeping smiling sort space spirit spread standing stay
    stays story storytelling strictly strong stunning style styled styles subject subjects subtle
    surface surfaces surrounding surroundings swimming tag tags take takes telephoto text texture
    textures that the their theme these thing things this those three-quarter through time to tone
    tones top touch towards treatment trending true type uhd under unexpected unusual up use used
    using variant variation version very view viewpoint visible walking warmth watermark way
    wearing weather when where which while whole wide-open winning with without wood wooden word
    words young
    """
)
_NEGATION = re.compile(
    r"(?:(?:must\s+)?(?:avoid|exclude|excluding)\s*:?\s*(?P<list>[^.;\n]*))"
    r"|(?:\b(?:no|not|without|never|free of|lacking|minus|remove|removing)\s+"
    r"(?P<one>[^.;,\n]*?)(?=[.;,\n]|$|\b(?:but|with|in|on|at)\b))",
)


def split_negations(text: str) -> tuple[str, str]:
    """What a prompt asks for, and what it does not want; both in lower case."""
    unwanted: list[str] = []

    def take(found: re.Match[str]) -> str:
        unwanted.append(found["list"] or found["one"] or "")
        return ", "

    return _NEGATION.sub(take, text.lower()), ", ".join(unwanted)
