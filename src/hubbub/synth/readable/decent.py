"""Which public words a made-up log leaves out: rude ones, trade names, names of persons, sensitive topics.

A small rule of our own that anybody can read. It looks at single words; texts are made of words that it let through.
"""

from __future__ import annotations

import re
from functools import cache

from hubbub.public.sensitive import TOPICS, person_names

RUDE = re.compile(
    "fuck|shit|cunt|bitch|cock|dick|puss(y|ies)|porn|penis|vagin|anal|anus|arse|nigg|fag|dyke|whore|slut|sex|tits|titt|"
    "boob|nipple|breast|breasted|cum|jizz|orgas|erotic|erotica|nud[ei]|naked|masturb|dildo|fetish|bondage|escort|lesb|"
    "gay|homo|queer|tranny|bastard|damn|piss|crap|bugger|wank|twat|bollock|turd|fart|poop|scrot|testic|ejacul|semen|"
    "rape|raping|rapist|incest|pedo|paedo|molest|hooker|prostit|brothel|strip|hardcore|horny|milf|teen|virgin|kinky|"
    "nazi|hitler|fasci|racis|negro|coon|gook|kike|chink|spic|dago|wop|retard|spastic|cripple|gypsy|savage|jap|jew|"
    "kill|murder|suicid|corpse|dead|death|die|dying|torture|behead|lynch|genocid|terror|bomb|gun|weapon|ammo|drug|"
    "cocaine|heroin|meth|opium|weed|cannab|hash|bong|spank|slave|swinger|bdsm|thong|panty|panties|lingerie|bra|amateur|"
    "hussy|harlot|lust|seduc|voyeur|upskirt|webcam|casino|poker|gambl|viagra|cialis|pill|hiv|std|herpes|cancer|tumor|"
    "alcohol|drunk|traffick|overweight|obes|slaughter|massacre|corrupt|prison|jail|bankrup"
)
_WHOLE = """
    ass asses hell butt butts tit ho hoes hos suck sucks sucking sucker blow blows hump humps screw screwed bang
    banged adult adults babe babes girl girls boy boys hot wet oral facial facials cams cam chat dating singles
    bride brides wife wives husband god jesus christ bible koran quran pope allah muslim christian jewish hindu
    islam war army fat ugly stupid idiot moron dumb blonde blondes black white asian latin indian oriental abortion
    pregnant female females male males gang gangs hunk hunks stud studs
"""
WHOLE = frozenset(_WHOLE.split())
"""Words that are rude, or that half of the web means rudely, only when they stand for themselves."""
_BEGIN = """
    anal anus arse bra cock coon crap cum dick die drug gun hash hiv homo jap jew kill lust pill rape spic std tit titt
    war weed
"""
BEGIN = frozenset(_BEGIN.split())
"""These make a word rude only where it begins with them."""
_TRADE = """
    adobe alamo albertsons amazon amp android apache apple arm aol ask avis bing blackberry blockbuster borders
    budget burger cadillac canon chase chevy chrysler cingular cisco citizen coach coke coles continental costco
    crest delta dell dodge dove dyson ebay excel expedia explorer fedora fidelity firefox firebird ford fox frontier
    gap gateway general gillette google guess gucci halo hertz hollister honda hotmail hummer java jaguar jeep
    kindle kodak kohl kroger lego levi lexus lincoln linux lotus mac macy mapquest mars marvel maxis mercedes
    mercury meridian metro microsoft mini monster mustang myspace napster nestle netscape nickelodeon nike nintendo
    nokia norton novell office oracle orange orbit outlook palm pandora paypal pentium pepsi playboy playstation
    polo powerpoint prius prada puma python quicken quicktime realtor rolex safari safeway saturn sears shell sims
    siemens skype sony spirit sprint staples starbucks subway sun suns target tesco tide toshiba toyota twitter unix
    vanguard verizon viking virgin visa vista vodafone volvo walgreen wendy whirlpool wikipedia windows word xbox
    xerox yahoo yelp youtube zillow disney barbie elvis beatles eminem madonna shakira potter simpsons hilton bush
    clinton reagan obama trump
"""
TRADE = frozenset(_TRADE.split())
"""Ordinary words and others that most people read as a maker's or a star's name."""

TRADE_PAIRS = frozenset(
    {"holiday inn", "star wars", "star trek", "ice cube", "road runner", "blue cross", "best western"}
)
"""Two ordinary words that are a trade name together."""


def decent(word: str) -> bool:
    """Whether a public word may stand in a made-up log."""
    return word not in _left_out() and not rude(word)


def rude(word: str) -> bool:
    """Whether a word holds a rude one."""
    return any(found.start() == 0 or found.group() not in BEGIN for found in RUDE.finditer(word))


@cache
def _left_out() -> frozenset[str]:
    given, family, _ = person_names()
    return WHOLE | TRADE | given | family | {word for words in TOPICS.values() for word in words.split()}
