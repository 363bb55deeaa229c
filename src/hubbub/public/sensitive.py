"""Words that ask for a second look before a row is published: sensitive topics, and names that people bear.

A short English list of our own, by the special categories of data of European law and a few topics besides, and the
most frequent given names and surnames of the United States census of 1990 and of western Europe. They flag rows for a
reviewer, who decides; nothing is taken out by them. An owner adds lists of her own, in any language.

Slurs and obscenities are not written down here: where the package glin-profanity is installed (MIT; the extra
`[slurs]`), its English words are a topic, too. It is read as a file, and none of its code is run.
"""

from __future__ import annotations

import json
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from hubbub.errors import ParameterError
from hubbub.ingest.clean import clean_query

TOPICS = {
    "health": "abortion aids alzheimer anorexia autism bipolar cancer chemotherapy chlamydia dementia depression "
    "diabetes disability epilepsy gonorrhea hepatitis herpes hiv hospice infertility leukemia lupus "
    "miscarriage overdose parkinson pregnancy pregnant psychiatric rehab schizophrenia std syphilis therapist "
    "tumor viagra",
    "self-harm": "bulimia cutting euthanasia suicidal suicide",
    "sex": "adult bdsm escort escorts fetish gay incest lesbian milf nude nudes porn porno sex sexual sexy transgender "
    "transsexual xxx",
    "religion": "atheist baptist catholic church evangelical hindu islam islamic jehovah jewish judaism mormon mosque "
    "muslim pentecostal scientology synagogue",
    "politics": "communist conservative democrat extremist fascist nazi republican socialist union",
    "origin": "asylum deportation ethnic immigrant immigration racial racist refugee undocumented",
    "crime": "arrest bail bomb burglary convicted counterfeit court felony fraud inmate jail murder parole prison rape "
    "restraining robbery sentenced stalker stolen terrorist trafficking warrant weapon",
    "drugs": "addiction cocaine ecstasy fentanyl heroin ketamine lsd marijuana meth opioid oxycontin xanax",
    "money": "bankrupt bankruptcy debt eviction foreclosure garnishment loan payday repossession salary unemployment",
    "family": "abuse adoption affair alimony cheating custody divorce domestic orphan paternity",
}
SLURS = ("glin-profanity", "glin_profanity/data/dictionaries/english.json")
"""The package, and the file in it."""
GIVEN = """
    aaron adam alan albert alex alexander alice amanda amy ana andrea andrew angela ann anna anne anthony antonio
    arthur ashley barbara benjamin betty beverly bonnie brandon brenda brian bruce bryan carl carlos carmen carol
    carolyn catherine charles cheryl chris christian christina christine christopher cindy claudia craig crystal
    cynthia daniel daniela david deborah debra denise dennis diana diane diego donald donna dorothy douglas edward
    elena elizabeth emily emma eric erik eugene eva evelyn fernando florence frances francesca francisco frank franz
    fred friedrich gary george gerald gloria grace greg gregory hannah hans harold harry heather helen henry howard
    ian irene isabel jack jacob jacqueline james jane janet janice jason javier jean jeffrey jennifer jeremy jerry
    jessica jesus jim joan joe john johnny jonathan jose joseph joshua joyce juan judith judy julia julie justin
    karen karl katherine kathleen kathryn kathy keith kelly kenneth kevin kim kimberly klaus larry laura lauren
    lawrence linda lisa lois lori louis louise lucas luis margaret maria marie marilyn mario mark martha martin
    marta mary matthew megan melissa michael michelle miguel mike mildred mohammed monica nancy natalie nathan
    nicholas nicole norma oliver olivia pamela patricia patrick paul paula pedro peter philip phillip phyllis pierre
    rachel ralph ramon raymond rebecca richard robert robin roger ronald rosa rose roy russell ruth ryan samantha
    samuel sandra sara sarah scott sean sharon shirley sofia sophie stefan stephanie stephen steve steven susan
    tammy teresa terry theresa thomas timothy tina todd tom victor victoria vincent virginia walter wanda wayne
    william wolfgang
"""
FAMILY = """
    adams alexander allen alvarez anderson bailey baker barnes becker bell bennett brooks brown bryant butler
    campbell carter castillo chavez clark cole coleman collins cook cooper cox cruz davis diaz doe dubois edwards
    evans fernandez fischer fisher flores ford foster garcia gibson gomez gonzales gonzalez graham gray green
    griffin hall hamilton harris harrison hayes henderson hernandez hill hoffmann howard hughes jackson jacobs
    jenkins jensen jimenez johnson jones jordan kelly kennedy kim king klein kowalski lee lewis long lopez marshall
    martin martinez mason mccarthy mcdonald meyer miller mitchell moore morales moreno morgan morris müller munoz
    murphy murray myers nelson nguyen nielsen novak o'brien o'connor ortiz owens parker patel patterson perez perry
    peterson phillips porter powell price ramirez ramos reed reyes reynolds richardson rivera roberts robinson
    rodriguez rogers romero ross rossi ruiz russell russo sanchez sanders schmidt schneider schulz schwarz scott
    silva simmons simpson singh smith snyder stevens stewart sullivan taylor thomas thompson torres tucker turner
    vargas wagner walker wallace ward washington watson weber wells west white williams wilson wood woods wright
    young zimmermann
"""


def topics(file: Path | None = None) -> dict[str, str]:
    """The topic of each word; lines of a file of the owner's are `topic: word`."""
    known = slurs() | {word: topic for topic, words in TOPICS.items() for word in words.split()}
    for number, line in enumerate(_lines(file), 1):
        topic, colon, word = line.partition(":")
        if not colon or not topic.strip() or not word.strip():
            raise ParameterError(
                "A line of the list has no topic.", given=f"{file}, line {number}", allowed="topic: word"
            )
        known[clean_query(word)] = topic.strip()
    return known


def slurs() -> dict[str, str]:
    """The words of the package, each of the topic `slur`; none where it is not installed, or laid out otherwise."""
    try:
        listed = json.loads(Path(str(distribution(SLURS[0]).locate_file(SLURS[1]))).read_text(encoding="utf-8"))
        return {clean_query(word): "slur" for word in listed["words"]}
    except (PackageNotFoundError, OSError, ValueError, KeyError, TypeError):
        return {}


def person_names(file: Path | None = None) -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
    """Given names, surnames, and names of the owner's list as they stand."""
    own = frozenset(clean_query(line) for line in _lines(file))
    return frozenset(GIVEN.split()), frozenset(FAMILY.split()), own


def _lines(file: Path | None) -> list[str]:
    if file is None:
        return []
    try:
        lines = file.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        what = "The list cannot be read."
        raise ParameterError(what, given=f"{file}: {error}", allowed="a text file in UTF-8") from None
    return [line.strip() for line in lines if line.strip() and not line.startswith("#")]
