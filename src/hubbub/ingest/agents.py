"""Programs that ask search engines, by the User-Agent they send: public lists, each under a name with its version.

A request whose User-Agent holds one of the words, in whatever case, is passed over. That is a function of its own line.
"""

from __future__ import annotations

from hubbub.errors import ParameterError

LISTS = {
    "robots-1": (
        "bot",
        "crawl",
        "spider",
        "slurp",
        "scrap",
        "archiver",
        "fetcher",
        "curl/",
        "wget/",
        "python-",
        "libwww",
        "java/",
        "okhttp",
        "go-http-client",
        "headless",
        "phantomjs",
        "selenium",
        "playwright",
        "puppeteer",
        "lighthouse",
        "monitor",
        "uptime",
        "pingdom",
        "nagios",
        "zabbix",
    ),
}
"""A list is never changed: another one gets another name, because cards name it."""


def known(name: str) -> str:
    """The name of a list; refuses one that there is not."""
    if name not in LISTS:
        raise ParameterError("There is no such list of programs.", given=name, allowed=", ".join(LISTS))
    return name


def refuse(name: str | None, format: str) -> None:
    """Refuse a list for a format whose lines name no User-Agent."""
    if name is not None:
        raise ParameterError(
            f"Lines of the format `{format}` name no User-Agent.",
            given=f"--drop-agents {name}",
            next="leave it out; --max-searches-a-day leaves out busy users in every format",
        )


def is_program(agent: str, name: str) -> bool:
    """Whether a User-Agent is that of a program on a list."""
    said = agent.lower()
    return any(word in said for word in LISTS[name])
