"""Word limit: a scorer for answers that have to be short."""

from burnish.domain import Score, UsageError


class WordLimit:
    """1 for an output of at most `words` words, and less the longer it is beyond that.

    Twice the allowed length scores 0.5.
    """

    # It waits for nothing, so Burnish starts no task for it.
    instant = True

    def __init__(self, words: int = 50, *, name: str = "word_limit") -> None:
        if words < 1:
            raise UsageError(
                what="the setting 'words' of the scorer 'word_limit' cannot be used",
                why=f"{words} is not a whole number from 1 up",
                fix="correct 'words'",
                code="invalid_setting",
            )
        self.name = name
        self.words = words
        # Equal outputs are scored alike as long as this is the same: it is what results are cached by.
        self.fingerprint = f"burnish-word-limit/1/{words}"

    async def score(self, output, item):
        """A bad output is a low score with a reason, never an exception."""
        count = len(output.text.split())
        if count <= self.words:
            return Score(1.0, name=self.name)
        reason = f"{count} words where {self.words} are allowed"
        return Score(self.words / count, reason, name=self.name)
