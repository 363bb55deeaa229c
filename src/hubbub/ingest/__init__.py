"""Bytes of a log → cleaned records in SearchLog's columns, and the records that were set aside.

    sources   which files, opened as streams                    readers   the register: aol, excite, sogou, table, ubi
    lines     the line rule: a newline always ends a record     fields    lines → columns of text; encodings → UTF-8
    clean     queries, users, addresses, value by value         numbers   times and ranks
    records   columns → records and rejects                     output    two Parquet files, moved into place whole
    documents, loose, join   UBI: objects → searches and clicks → records, joined within one user
    run       `ingest`: the loop over all of it                 schema    the two tables and the reasons
    sniff     which format a log has, if nobody said it         distributed   several files on several machines

Every record is a function of its own line (in UBI of a search's and a click's, both of one user) and belongs to exactly
one user: removing one user's lines leaves every other user's records as they were, whatever the lines held. The privacy
proofs start from that.
"""

from __future__ import annotations

from hubbub.ingest.readers.base import formats
from hubbub.ingest.run import Ingested, ingest
from hubbub.ingest.schema import REJECTS, SCHEMA, Reason
from hubbub.ingest.sniff import AUTO, Sniffed, sniff

__all__ = ["AUTO", "REJECTS", "SCHEMA", "Ingested", "Reason", "Sniffed", "formats", "ingest", "sniff"]
