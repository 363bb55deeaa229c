"""The strings everything is made of. Nothing here comes from a log."""

from __future__ import annotations

TOPICS = (
    "autos", "games", "health", "home", "jobs", "kids", "local", "money",
    "movies", "music", "news", "people", "school", "shops", "sports", "travel",
)  # fmt: skip
RESIDUES = 64  # an intent's topic is its rank modulo this, modulo the number of topics

_COMMON = """
of in the for and to free a new on is how
county pictures lyrics school online state home city music sale what with games college american best download black
book center at area bank video beach car real estate high university house by from florida texas cheap news map movie
girls part time jobs hotel company used world white phone number park street insurance love credit card health medical
baby wedding dog pet food recipe travel club art red blue green big little great first national public service services
office business store shop shopping price prices buy review reviews family kids child children women men girl boy lake
river north south east west island mountain valley court law legal department police fire army navy church christian
hotels cruise airline flight ticket tickets show tv radio song songs band guitar piano dance theater theatre star wars
poem poems quotes history science math test exam answers help guide tips ideas designs design pattern patterns plan
plans paint wood furniture kitchen bath bathroom garden flower flowers tree grass water pool boat truck parts motor auto
tire bike race racing football baseball basketball soccer golf hockey tennis wrestling hair skin weight loss diet cancer
pain doctor hospital nurse dental eye heart drug side effects symptoms disease treatment vitamin animal horse cat bird
fish puppy breed computer software virus wireless laptop printer camera digital cell ring tones email mail chat login
account tax loan mortgage rates rate bill payment money stock market gold silver coin antique auction lottery results
score scores schedule weather radar storm maps directions zip code address yellow pages search people find records birth
marriage death obituaries genealogy surname jail inmate warrant election president governor mayor senate war mexico
canada england italy france china japan india africa hawaii vegas york jersey carolina georgia ohio michigan illinois
virginia alabama kentucky oregon arizona chicago boston dallas houston atlanta orlando miami denver seattle detroit
"""
COMMON = tuple(dict.fromkeys(_COMMON.split()))
FUNCTION_WORDS = 12  # the first of COMMON: neither first nor last in a query

SYLLABLES = tuple(
    onset + vowel + coda
    for onset in ("b", "d", "f", "g", "k", "l", "m", "n", "p", "r", "s", "t", "v", "br", "st", "tr")
    for vowel in ("a", "e", "i", "o")
    for coda in ("", "l", "n", "r")
)
LETTERS = tuple("aeiostnrlmk")  # a typing error adds one
ENDINGS = (*(".com",) * 12, ".net", ".org", ".org", ".gov")
PREFIXES = ("www.", "www ", "http www.", "http://www.")

PHRASE = "fear of"
FEARS = (
    "flying", "heights", "spiders", "death", "public speaking", "snakes", "the dark", "failure", "commitment",
    "intimacy", "water", "clowns", "abandonment", "driving", "needles", "rejection", "crowds", "dogs", "success",
    "being alone", "small spaces", "dentists", "germs", "vomiting", "love", "change", "elevators", "blood", "birds",
    "open spaces", "thunder", "bridges", "the unknown", "drowning", "the ocean", "insects", "cats", "mice", "fire",
    "doctors", "bees", "losing control", "growing old", "lightning", "marriage", "sharks", "moths", "childbirth",
    "balloons", "dolls", "hospitals", "mirrors", "ghosts", "sleep", "frogs", "school", "numbers", "buttons",
    "chickens", "long words",
)  # fmt: skip
