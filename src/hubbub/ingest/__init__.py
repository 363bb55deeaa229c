"""Bytes of a log → cleaned records in SearchLog's columns, and the records that were set aside.

    sources   which files, opened as streams; archives, standard_input   zip members, `-`
    places    where a log's files are: databases, clickhouse, frames (rows, kept in a file) and stores (objects, copied)
    readers   the register: one file per format                   stated, agents   what an owner states of it
    arrays    one large JSON array → lines                              events   logs of services, line by line
    lines     the line rule: a newline always ends a record             encodings   other text → UTF-8
    fields    lines → columns of text; objects   JSON lines → the same  columnar, excel, parquet   files of columns
    clean     queries, users, addresses, value by value                 numbers, times   ranks and times
    records   columns → records and rejects                             output   two Parquet files, moved whole
    documents, loose, join   UBI: objects → searches and clicks → records, joined within one user
    run       `ingest`: the loop over all of it                         schema   the two tables and the reasons
    sniff     which format a log has, if nobody said it                 distributed   several files on several machines

Every record is a function of its own line (in UBI of a search's and a click's, both of one user) and belongs to exactly
one user: removing one user's lines leaves every other user's records as they were, whatever the lines held. The privacy
proofs start from that.
"""

from __future__ import annotations

from hubbub.ingest.readers.base import formats
from hubbub.ingest.run import Ingested, ingest
from hubbub.ingest.schema import REJECTS, SCHEMA, Reason
from hubbub.ingest.sniff import AUTO, Sniffed, recognise, sniff
from hubbub.ingest.stated import Stated

__all__ = [
    "AUTO",
    "REJECTS",
    "SCHEMA",
    "Ingested",
    "Reason",
    "Sniffed",
    "Stated",
    "formats",
    "ingest",
    "recognise",
    "sniff",
]
