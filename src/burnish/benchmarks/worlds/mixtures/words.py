"""Words of the mixture worlds: things, codes, frames for messages, lines of advice and fillers."""

from __future__ import annotations

from dataclasses import dataclass

# No thing's name is part of another's, of a code, or of what prompts usually say.
CUES = (
    *("lantern", "kettle", "violin", "umbrella", "saddle", "compass", "blanket", "telescope"),
    *("hammock", "parrot", "wallet", "bicycle", "trumpet", "necklace", "pillow", "thermos"),
    *("scarf", "helmet", "suitcase", "marble", "ladder", "gloves", "camera", "barrel"),
    *("carpet", "dagger", "feather", "goblet", "harp", "candle", "wagon", "anvil"),
    *("refund", "invoice", "charged", "password", "login", "parcel", "courier", "delivery"),
    *("crash", "overheating", "freezing", "warranty", "coupon", "username", "tracking", "pallet"),
)
_TICKET_CUES = 16
_COLOURS = ("amber", "teal", "ivory", "crimson", "olive", "indigo", "copper", "silver")
_PLACES = ("shelf", "bin", "rack", "vault", "crate")
_DEPARTMENTS = ("billing-team", "account-team", "shipping-team", "technical-team")
CODES = (*(f"{colour}-{place}" for place in _PLACES for colour in _COLOURS), *_DEPARTMENTS)

ADVICE = {
    "tally-mark": (
        "A tally-mark on a message puts it into the second class.",
        "Mind the tally-mark: it stands for the second class.",
    ),
    "narrow-reading": (
        "Use a narrow-reading of every rule.",
        "Every rule is to be taken in a narrow-reading.",
    ),
    "wide-reading": (
        "Use a wide-reading of every rule.",
        "Every rule is to be taken in a wide-reading.",
    ),
}
FILLERS = (
    "Read the message from the first word to the last before you decide.",
    "Quality matters more than speed in all that you do here.",
    "Keep in mind that a person is waiting for what you say.",
    "Stay calm and polite, whatever the tone of the message may be.",
    "When something is unclear, think about it for a moment longer.",
    "Do your very best on each message, as if it were the only one.",
)
DESKS = ("morning", "evening", "weekend")


@dataclass(frozen=True)
class Theme:
    """What the messages of a world are about."""

    opening: str
    messages: tuple[str, ...]
    cues: tuple[str, ...]
    codes: tuple[str, ...]


_THINGS, _TICKETS = CUES[:-_TICKET_CUES], CUES[-_TICKET_CUES:]
_PLACED = CODES[: -len(_DEPARTMENTS)]
FRAMES = {
    "lost": Theme(
        "You name the storage codes for the lost-property office.",
        ("Left behind on the train: {}.", "A traveller misses: {}.", "Found at the gate: {}."),
        _THINGS,
        _PLACED,
    ),
    "hotel": Theme(
        "You give out codes for what guests of the hotel ask for.",
        ("Room 12 asks for: {}.", "The guest would like: {}.", "By phone from the lobby: {}."),
        _THINGS,
        _PLACED,
    ),
    "nursery": Theme(
        "You sort the wishes of a toy maker's customers into codes.",
        ("A child dreams of: {}.", "On the list stands: {}.", "Ordered for the holidays: {}."),
        _THINGS,
        _PLACED,
    ),
    "tickets": Theme(
        "Route the ticket to a team.\nAnswer with the team's name.",
        (
            "There is something with: {}, since noon.",
            "I write about: {}.",
            "Trouble again with: {}.",
        ),
        _TICKETS,
        _DEPARTMENTS,
    ),
}
