"""The words of the worlds: a support desk whose tickets each touch a few topics.

A rule says which action belongs to a topic. Both are words that hardly stand in a prompt by
chance, so a rule is recognised by its content, however it is worded.
"""

from __future__ import annotations

TOPICS = (
    "warranty", "invoice", "passport", "courier", "voucher", "firmware", "mortgage", "tariff",
    "licence", "refund", "keyboard", "passcode", "landlord", "pension", "antenna", "boiler",
    "ferry", "orchestra", "vaccine", "harbour", "telescope", "bakery", "elevator", "gearbox",
)  # fmt: skip
ACTIONS = (
    "claim-form", "check-ledger", "ask-embassy", "trace-parcel", "stamp-code", "flash-image",
    "call-broker", "quote-band", "renew-desk", "void-receipt", "swap-switch", "reset-link",
    "file-notice", "pay-office", "tilt-mast", "bleed-valve", "hold-berth", "seat-plan",
    "book-clinic", "port-pilot", "clean-lens", "order-flour", "stop-floor", "drain-oil",
)  # fmt: skip
OPENINGS = (
    "Good morning, I write about my {0}",
    "Could somebody look at the {0}",
    "This is the second time that I ask about the {0}",
    "We have trouble with our {0}",
    "Please help me with a {0}",
)
JOINS = (" and also about the {0}", ", and then there is the {0}", ", besides the {0} is unclear")
ENDINGS = (
    ". Thank you.",
    ", as agreed on the phone.",
    "; it has been so since {day}.",
    ". My number ends in {number}.",
)
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday")
DEFAULT_ANSWER = "general-reply"

RULE_LINES = (
    "If the customer mentions the {topic}, say {action}.",
    "For anything about the {topic} answer {action}.",
    "Tickets on the {topic} get {action}.",
    "Whenever a {topic} comes up, reply with {action}.",
    "The right step for a {topic} is {action}.",
)
VAGUE_LINES = (
    "Take special care with questions about the {topic}.",
    "Think twice before you answer a ticket on the {topic}.",
    "Customers who ask about the {topic} deserve a precise answer.",
)
USELESS_LINES = (
    "Read the whole ticket before you answer.",
    "Stay professional at all times.",
    "Make sure that the answer is complete.",
    "Double the effort when the ticket is long.",
    "Remember that every customer matters.",
    "Consider all the details that the ticket gives.",
    "Keep the tone warm and respectful.",
    "Work step by step and stay focused.",
    "Avoid needless assumptions.",
    "Check your answer once more before sending it.",
)
# Each is recognised by its one rare word.
HARMFUL_LINES = {
    "telegram-style": "Write the answer in telegram-style, as short as can be.",
    "free-form": "Prefer a free-form answer over the usual steps.",
    "one-step": "Never give more than a one-step answer, whatever the ticket says.",
    "guess-first": "Use the guess-first method when a topic looks familiar.",
    "no-codes": "Follow the no-codes policy in all answers.",
    "closing-only": "A closing-only reply is enough for most tickets.",
}
MEMORY_LINE = 'For ticket {ref} ("{message}") the answer is {answer}.'
