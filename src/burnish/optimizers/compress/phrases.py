"""Words that say nothing, and long phrases with a short form."""

from __future__ import annotations

import re
from functools import partial

_SHORT_FORMS = {
    r"in order to": "to",
    r"so as to": "to",
    r"due to the fact that": "because",
    r"owing to the fact that": "because",
    r"in the event that": "if",
    r"in the case that": "if",
    r"under the circumstance that": "if",
    r"at this point in time": "now",
    r"at the present time": "now",
    r"a large number of": "many",
    r"a (?:wide )?variety of": "various",
    r"the majority of": "most",
    r"with (?:regard|respect|reference) to": "about",
    r"in (?:regard|relation) to": "about",
    r"for the purpose of": "for",
    r"has the ability to": "can",
    r"(?:is|are) able to": "can",
    r"(?:is|are) required to": "must",
    r"you (?:are going to|will) need to": "you must",
    r"you (?:need|have) to": "you must",
    r"it is (?:\w+ly |very )?(?:important|essential|crucial|necessary) (?:that you|to)": "you must",
    r"make (?:absolutely )?(?:sure|certain) (?:that you|to)": "",
    r"be (?:absolutely )?sure to": "",
    r"do not (?:under any circumstances|ever)": "never",
    r"prior to": "before",
    r"subsequent to": "after",
    r"in spite of the fact that": "although",
    r"each and every": "every",
    r"one of the following": "one of",
    r"take into (?:account|consideration)": "consider",
    r"provide (?:a|an) (?:answer|response) (?:to|for)": "answer",
    r"(?:please )?note that": "",
    r"keep in mind that": "",
    r"(?:please )?remember that": "",
    r"as (?:was )?(?:already )?(?:mentioned|stated|noted) (?:above|before|earlier|previously),?": "",
    r"it should be noted that": "",
    r"needless to say,?": "",
    r"as a matter of fact,?": "",
    r"for all intents and purposes,?": "",
    r"what i (?:want|would like) you to do is (?:to )?": "",
    r"i (?:would like|want) you to": "",
    r"your (?:task|job|goal) is (?:going to be )?to": "",
}
_FILLER = (
    r"please|kindly|very|really|quite|just|simply|basically|actually|essentially|literally|"
    r"obviously|clearly|of course|in fact|at all times|extremely|absolutely|certainly|definitely|"
    r"highly|truly|totally|completely"
)
_PHRASES = [
    (re.compile(rf"\b{long}\b", re.IGNORECASE), short) for long, short in _SHORT_FORMS.items()
]
_FILLERS = re.compile(rf"(?<![\w-])(?:{_FILLER})\b,?[ \t]+", re.IGNORECASE)
_GAPS = re.compile(r"(?<=\S)[ \t]{2,}")
_BEFORE_MARK = re.compile(r"[ \t]+(?=[,.;:!?](?:\s|$))")
_START = re.compile(r"^(\s*(?:[-*•#>]+\s+|\d{1,3}[.)]\s+)?)([a-z])")
_SENTENCE = re.compile(r"([.!?]\s+)([a-z])")


def shortened(line: str) -> str:
    """The line without filler and with short forms."""
    text = line
    for pattern, short in _PHRASES:
        text = pattern.sub(partial(_like, short), text)
    text = _FILLERS.sub("", text)
    if text == line:
        return line
    text = _BEFORE_MARK.sub("", _GAPS.sub(" ", text)).rstrip()
    if re.match(r"\s", line) is None:
        text = text.lstrip()
    return _capitalised(text, line)


def _like(short: str, found: re.Match[str]) -> str:
    return short[:1].upper() + short[1:] if found.group(0)[:1].isupper() else short


def _capitalised(text: str, line: str) -> str:
    """Sentences that began with a capital letter still do."""
    begun = _START.match(line) is None
    if begun:
        text = _START.sub(lambda found: found.group(1) + found.group(2).upper(), text)
    if _SENTENCE.search(line):
        return text
    return _SENTENCE.sub(lambda found: found.group(1) + found.group(2).upper(), text)
