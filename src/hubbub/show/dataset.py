"""What a release is, for machines that look for data: a schema.org `Dataset` with the fields of Croissant 1.0.

It stands in the public page as JSON-LD, where search engines for data sets find it; saved beside the tables as
`croissant.json`, tools that read Croissant open the tables by it. It is made from the card and the released tables.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hubbub.card.schema import NOT_STATED, Card
from hubbub.plurals import counted
from hubbub.steps.keys import base_of

if TYPE_CHECKING:
    from hubbub.show.page import Shown

CONTEXT: dict[str, object] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "sc": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "dct": "http://purl.org/dc/terms/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileObject": "cr:fileObject",
    "fileProperty": "cr:fileProperty",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "personalSensitiveInformation": "rai:personalSensitiveInformation",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}
MEANS = {
    "query": ("sc:Text", "what was asked"),
    "next_query": ("sc:Text", "what was asked next"),
    "queries": ("sc:Text", "what was asked, one after the other"),
    "url": ("sc:Text", "the page that was clicked"),
    "keyword": ("sc:Text", "a word of queries"),
    "users": ("sc:Integer", "about how many users, with noise"),
    "count": ("sc:Integer", "about how often, with noise"),
    "noise_sd": ("sc:Float", "the standard deviation of that noise"),
    "user": ("sc:Text", "a user of the released log"),
    "time": ("sc:Integer", "seconds since 1970, UTC"),
    "rank": ("sc:Integer", "the place of the clicked page"),
}
"""Columns of released tables: their type and what they mean; others are text under their own name."""


def described(card: Card, tables: list[Shown]) -> dict[str, object]:
    """The release as a `Dataset`: who, when, what for, which files with which columns, and the claim in a sentence."""
    release = card.release
    title = release.title if release.title != NOT_STATED else release.id
    stamp = f"{card.mechanism.stamp}: " if card.mechanism.stamp else ""
    known: dict[str, object] = {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": f"{stamp}{title}",
        "description": f"{stamp}{', '.join(headline(tables))} of a search log. {card.claim.sentence}",
        "identifier": release.id,
        "datePublished": release.published,
        "version": "1.0.0",
        "isAccessibleForFree": True,
        "keywords": ["search log", "query log", "not private" if stamp else "differential privacy"],
        "measurementTechnique": f"{card.mechanism.name}, {card.mechanism.variant}",
        "citeAs": f"{', '.join(release.curator)}: {title}, release {release.id}",
        "personalSensitiveInformation": [card.claim.sentence],
    }
    if release.licence != NOT_STATED:
        known["license"] = release.licence
    if release.curator != [NOT_STATED]:
        known["creator"] = [{"@type": "sc:Organization", "name": name} for name in release.curator]
    if release.period_stated_by_owner:
        known["temporalCoverage"] = f"{release.period_stated_by_owner.first}/{release.period_stated_by_owner.to}"
    written = {file.path: {"sha256": file.sha256} for file in release.files}  # nothing yet in a draft
    known["distribution"] = [_file(path) | written.get(path, {}) for path in (f"{t.name}.parquet" for t in tables)]
    known["recordSet"] = [_records(table) for table in tables]
    return known


def headline(tables: list[Shown]) -> list[str]:
    """How much there is: "175 queries", "1 click"; rows where a table has no plural to count in."""
    return [rows_of(table.name, table.total) for table in tables]


def rows_of(name: str, rows: int) -> str:
    """So many rows of a table, in words; those of a table by group as "1,364 queries by country"."""
    if (base := base_of(name)) != name:
        return rows_of(base, rows) + name.removeprefix(base).replace("_", " ")
    if not name.endswith("s"):
        return f"{counted(rows, 'row')} of a {name}"
    singular = "query" if name == "queries" else name.removesuffix("s")
    return counted(rows, singular, name).replace("_", " ")


def _file(path: str) -> dict[str, object]:
    return {
        "@type": "cr:FileObject",
        "@id": path,
        "name": path,
        "contentUrl": path,
        "encodingFormat": "application/x-parquet",
    }


def _records(table: Shown) -> dict[str, object]:
    return {
        "@type": "cr:RecordSet",
        "@id": table.name,
        "name": table.name,
        "field": [_field(table, column) for column in table.columns],
    }


def _field(table: Shown, column: str) -> dict[str, object]:
    kind, means = MEANS.get(column, ("sc:Text", column.replace("_", " ")))
    source = {"fileObject": {"@id": f"{table.name}.parquet"}, "extract": {"column": column}}
    field = {"@type": "cr:Field", "@id": f"{table.name}/{column}", "name": column, "description": means}
    return field | {"dataType": kind, "source": source} | ({"repeated": True} if column == "queries" else {})
