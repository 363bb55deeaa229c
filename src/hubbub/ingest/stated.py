"""What an owner states about the text of a table, beside its columns; what is not stated is recognised, and said.

Recognised is only what a file's head says about the whole file: a byte order mark, and the separator under which the
header has the columns that were named. Both are the file's, not a user's; nothing is recognised from records.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace

from hubbub.errors import ParameterError
from hubbub.ingest import agents
from hubbub.ingest.encodings import known
from hubbub.ingest.times import Clock, clock

WORDS = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "pipe": "|"}
SEPARATORS = (",", "\t", ";", "|")


@dataclass(frozen=True)
class Stated:
    """How the text of a log is laid out, as far as that is settled; None is not."""

    separator: str | None = None
    encoding: str | None = None
    time_format: str | None = None
    query_parameter: str | None = None
    """Which parameter of a request is the query, in logs of requests."""
    drop_agents: str | None = None
    """The list of programs whose requests are passed over, in logs of requests that name their User-Agent."""

    def checked(self) -> Stated:
        """The same, each by its one name; refuses what cannot be."""
        separator = self.separator and WORDS.get(self.separator.lower(), self.separator)
        if separator is not None and (len(separator) != 1 or not separator.isascii() or separator in '"\r\n\0'):
            raise ParameterError(
                "--separator is one character.",
                given=repr(self.separator),
                allowed=", ; | or tab, or another character of ASCII that is no quotation mark",
            )
        clock(self.time_format)
        if self.query_parameter is not None and not self.query_parameter.strip():
            raise ParameterError("--query-parameter names no parameter.", allowed="a name, such as q")
        if self.drop_agents is not None:
            agents.known(self.drop_agents)
        encoding = None if self.encoding is None else known(self.encoding)
        return replace(self, separator="tab" if separator == "\t" else separator, encoding=encoding)

    @property
    def delimiter(self) -> str | None:
        """The separator itself."""
        return self.separator and WORDS.get(self.separator, self.separator)

    @property
    def clock(self) -> Clock:
        """How times are read."""
        return clock(self.time_format)

    def options(self) -> dict[str, str]:
        """What is settled, by the name of its option."""
        return {name: value for name, value in asdict(self).items() if value is not None}


NOTHING_STATED = Stated()
