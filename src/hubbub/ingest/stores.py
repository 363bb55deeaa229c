"""Object stores and the web as logs: s3://, gs://, abfs:// and https://, through fsspec.

Every object is copied, as a stream, into a folder of the owner's alone, because a log is read more than once; the
folder is removed at the end. An object must have one state: what the store says of it (its ETag, size and time) is the
same before and after, and as many bytes come as it said. Keys never stand in an address: they would be in the shell's
history and in run.toml. They come from where each store's own tools take them.
"""

from __future__ import annotations

import errno
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from hubbub.errors import InputError, ParameterError, UserError
from hubbub.extras import imported, missing
from hubbub.files import create_private, disk_errors, hold_work
from hubbub.switches import switch

PIECE = switch(__name__, "PIECE", 8 << 20, low=7)
PREFIX = "hubbub-objects-"
SCHEMES = {
    "s3": "AWS_PROFILE, ~/.aws/credentials or AWS_ACCESS_KEY_ID, as aws does",
    "gs": "GOOGLE_APPLICATION_CREDENTIALS or gcloud's own login",
    "abfs": "AZURE_STORAGE_ACCOUNT_NAME with a key, or the login of az",
    "https": "~/.netrc",
}
"""Where the keys of each kind of store come from."""
MARKS = ("ETag", "etag", "generation", "md5Hash", "LastModified", "Last-Modified", "last_modified", "size")
"""What stores say of an object that another state of it would not share."""
CHANGED = "it changed while it was read"
AGAIN = "try again; nothing was released or spent"
PATIENCE = {"total": None, "sock_connect": 60, "sock_read": 600}


def is_stored(source: object) -> bool:
    """Whether a log is the address of objects in a store, or of a file on the web."""
    return isinstance(source, str) and urlsplit(source).scheme in (*SCHEMES, "http")


@contextmanager
def copied(source: str, work: Path | None) -> Iterator[Path]:
    """The object as a file that nobody else may read, or a folder of several; removed at the end."""
    _refuse(source)
    held = hold_work(work, PREFIX)
    try:
        with _told(source):
            store, places = _found(source)
        for place, name in _named(places).items():
            with _told(place if "://" in place else f"{urlsplit(source).scheme}://{place}"):
                _copy(store, place, held.path / name)
        only = list(held.path.iterdir())
        yield only[0] if len(places) == 1 else held.path
    finally:
        held.remove()


def _refuse(source: str) -> None:
    """Refuse an address that holds a key, or might, and one that anybody on the way can change."""
    at = urlsplit(source)
    if at.scheme == "http":
        raise ParameterError(
            "A log that comes over http:// can be read and changed by anybody on the way.",
            given=at._replace(netloc=at.netloc.rpartition("@")[2], query="").geturl(),
            allowed=", ".join(f"{scheme}://…" for scheme in SCHEMES),
        )
    if (at.password is not None and at.scheme != "abfs") or (at.scheme == "https" and (at.username or at.query)):
        raise ParameterError(
            "The address of a log holds no key: it would stay in the shell's history and in run.toml.",
            given=at._replace(netloc=at.netloc.rpartition("@")[2], query="").geturl(),
            next=f"keep it in {SCHEMES[at.scheme]}; or pipe the log in: curl ADDRESS | hubbub … -",
        )


def _found(source: str) -> tuple[Any, list[str]]:
    """The store and its objects, in the order of their names, as a folder or a glob on the disk would have them."""
    scheme = urlsplit(source).scheme
    options: dict[str, Any] = {"use_listings_cache": False, "skip_instance_cache": True}
    if scheme == "https":
        timeout = imported("aiohttp", "objects", "What reads the web").ClientTimeout(**PATIENCE)
        options |= {"ssl": ssl.create_default_context(), "client_kwargs": {"trust_env": True, "timeout": timeout}}
    core = imported("fsspec.core", "objects", "What reads object stores (fsspec)")
    try:
        store, path = core.url_to_fs(source, **options)
    except ImportError:
        raise missing("objects", f"What reads {scheme}://", given=source) from None
    if scheme == "https":
        return store, [path]
    if any(mark in path for mark in "*?["):
        found = sorted(place for place in store.glob(path) if not store.isdir(place))
    elif store.isdir(path):
        inside = [entry["name"] for entry in store.ls(path, detail=True) if entry["type"] == "file"]
        found = sorted(place for place in inside if not Path(place).name.startswith((".", "_")))
    else:
        return store, [path]
    if not found:
        raise FileNotFoundError(source)
    return store, found


def _named(places: list[str]) -> dict[str, str]:
    """A name on the disk for each object: its own, unless two share it or it would be passed over in a folder."""
    own = {place: Path(urlsplit(place).path if "://" in place else place).name or "log" for place in places}
    taken = list(own.values())
    plain = len(set(taken)) == len(taken) and not any(name.startswith((".", "_")) for name in taken)
    return own if plain or len(places) == 1 else {p: f"{n:06d}-{own[p]}" for n, p in enumerate(places)}


def _copy(store: Any, place: str, file: Path) -> None:
    """Copy an object that does not change meanwhile."""
    before = _state(store, place)
    streamed = {"block_size": 0} if place.startswith("https") else {"block_size": PIECE, "cache_type": "readahead"}
    disk = file.parent.parent
    with disk_errors(disk, "--work"):
        copy = create_private(file)
    with copy, store.open(place, "rb", **streamed) as stream:
        while piece := stream.read(PIECE):
            with disk_errors(disk, "--work"):
                copy.write(piece)
                copy.flush()
        size = copy.tell()
    if before.get("size") is not None and size != before["size"]:
        raise _Broken(f"{size:,} bytes came, where the store has {before['size']:,}")
    if _state(store, place) != before:
        raise _Broken(CHANGED)


def _state(store: Any, place: str) -> dict[str, Any]:
    store.invalidate_cache()
    said = store.info(place)
    return {name: said[name] for name in MARKS if said.get(name) is not None}


class _Broken(Exception):
    """An object that is not whole, or not one."""


@contextmanager
def _told(address: str) -> Iterator[None]:
    """What a store's package says when it fails becomes one clear error."""
    try:
        yield
    except UserError:
        raise
    except Exception as error:  # each package has classes of its own
        raise _failed(address, error) from None


def _failed(address: str, error: BaseException) -> InputError:
    causes = [error]
    while (cause := causes[-1].__cause__ or causes[-1].__context__) is not None and cause not in causes:
        causes.append(cause)
    status = next((found for each in causes if isinstance(found := getattr(each, "status", None), int)), None)
    scheme = urlsplit(address).scheme
    missing = isinstance(error, FileNotFoundError) and scheme != "https"  # of the web, any failure is called so
    if status in (401, 403) or any(isinstance(each, PermissionError) for each in causes):
        what, next_ = "The store refuses to give the log", f"check the key, which comes from {SCHEMES[scheme]}"
    elif missing or status in (404, 410):
        what, next_ = "There is no such object in the store", "check the address"
    elif any(getattr(each, "errno", None) == errno.EBUSY for each in causes):
        what, next_ = f"The store did not give the log whole: {CHANGED}", AGAIN
    else:
        said = " ".join(str(next((e for e in reversed(causes) if str(e)), error)).split())[:300].rstrip(".")
        what, next_ = f"The store did not give the log whole: {said}", AGAIN
    return InputError(f"{what}.", given=address, next=next_)
