"""Makes words that are in no other text, and knows which were made last."""

LETTERS = "bcdfghjklmnpqrst"
KEEP_RECENT = 8


class Words:
    """A source of words, each asked for by a search or by none; what comes next depends on what was made before alone."""

    def __init__(self):
        self.made, self.recent = 0, []
        # Values that were planted as credentials: no answer may have one, and nothing else may be redacted.
        self.credentials = []

    def new(self):
        """Returns a word of letters alone that no other begins."""
        number, word = self.made * 7919, "zq"
        self.made += 1
        for _ in range(7):
            word += LETTERS[number % 16]
            number //= 16
        self.recent = [*self.recent[1 - KEEP_RECENT :], word + "yx"]
        return self.recent[-1]

    def unasked(self):
        """As `new`, of a word that no query for files has."""
        word, self.recent = self.new(), self.recent[:-1]
        return word.replace("zq", "zx")

    def pick(self, random, files):
        """Returns a word to ask for: one of the last, one that is there, or one that may be gone."""
        which = random.random()
        if which < 0.6 and self.recent:
            return random.choice(self.recent)
        there = sorted(set().union(*(file.words for file in files.values()))) if files else []
        own = [word for word in there if word.startswith("zq") and word.endswith("yx")]
        return random.choice(own or self.recent or ["nothing"])
