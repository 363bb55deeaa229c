"""What the numbers of intents mean, and how many sites there are."""

from __future__ import annotations

COMPLETIONS = 1 << 56  # intents from here on are "fear of …"; COMPLETIONS + 64 i + the residue of health
SMALL = 1 << 57  # SMALL + site
WORDS = 1 << 58  # WORDS + word
PHRASES = 1 << 59  # PHRASES + first word · 2^23 + second word
WORD_BITS = 23
OWN_SITES = 1_000_000  # navigational intents below this have a site each; the others share small ones
SMALL_SITES = 4_000_000
ADDED = 16  # the word that variant v of a question adds is the (v + ADDED)-th of its intent
