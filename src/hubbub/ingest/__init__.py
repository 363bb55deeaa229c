"""Bytes of a log → cleaned records in SearchLog's columns, and the records that were set aside.

    sources   which files, opened as streams                    readers   the register: aol, table (text and parquet)
    lines     the line rule: a newline always ends a record     fields    lines → columns of text
    clean     queries, users, addresses, value by value         numbers   times and ranks
    records   columns → records and rejects                     output    two Parquet files, moved into place whole
    run       `ingest`: the loop over all of it                 schema    the two tables and the reasons

Every record is a function of its own line and belongs to exactly one user: removing one user's lines leaves every
other user's records as they were, whatever the lines held. The privacy proofs start from that.
"""

from __future__ import annotations

from hubbub.ingest import aol as _aol
from hubbub.ingest import table as _table
from hubbub.ingest.readers import formats
from hubbub.ingest.run import Ingested, ingest
from hubbub.ingest.schema import REJECTS, SCHEMA, Reason

__all__ = ["REJECTS", "SCHEMA", "Ingested", "Reason", "formats", "ingest"]
del _aol, _table
