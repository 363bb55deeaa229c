"""The addresses of the studio, behind the guard."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from functools import lru_cache
from importlib.resources import files

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from hubbub.errors import HubbubError
from hubbub.studio.again import again
from hubbub.studio.released import ReleasedViews
from hubbub.studio.security import Guard
from hubbub.studio.state import Studio
from hubbub.studio.views import Views

SCRIPT = "text/javascript"
SCRIPTS = ("again", "browse", "columns", "draw", "job", "review", "shared", "tune", "virtual")
STATIC = {"studio.css": "text/css"} | {f"{name}.js": SCRIPT for name in SCRIPTS}
Answer = Callable[[Request, dict[str, object]], Response | dict[str, object]]


def create_app(studio: Studio, token: str, hosts: Iterable[str]) -> ASGIApp:
    """The studio as a web application, for one token and one port."""
    views, released = Views(studio, f"/{token}"), ReleasedViews(studio, f"/{token}")

    def get(path: str, answer: Answer) -> Route:
        return Route(path, _answering(answer), methods=["GET"])

    def post(path: str, answer: Answer) -> Route:
        return Route(path, _answering(answer), methods=["POST"])

    routes = [
        get("/", views.tune),
        get("/releases", released.releases),
        get("/releases/{name}", released.release),
        get("/releases/{name}/page", released.page),
        get("/releases/{name}/report", released.report),
        get("/releases/{name}/review", released.review),
        get("/ledger", released.ledger),
        get("/again", released.again),
        get("/static/{name}", lambda request, _: static(request.path_params["name"])),
        get("/api/opened", views.opened),
        get("/api/job", views.job),
        get("/api/releases/{name}/search", released.search),
        get("/api/releases/{name}/around", released.around),
        get("/api/releases/{name}/review", released.reviewed),
        get("/api/releases/{name}/rows", released.rows),
        post("/api/columns", views.columns),
        post("/api/read", views.read),
        post("/api/kept", views.kept),
        post("/api/estimate", views.estimate),
        post("/api/compare", views.compare),
        post("/api/plan", views.plan),
        post("/api/again", lambda _, asked: again(asked)),
        post("/api/start", views.start),
        post("/api/cancel", views.cancel),
        post("/api/releases/{name}/run", released.run),
        post("/api/releases/{name}/strike", released.strike),
        post("/api/releases/{name}/approve", released.approve),
    ]
    return Guard(Starlette(routes=routes), token, frozenset(hosts))


def _answering(answer: Answer) -> Callable[[Request], Awaitable[Response]]:
    """A refusal is an answer, too; a bug of ours never quotes what it had in its hands, which may be a log."""

    async def respond(request: Request) -> Response:
        try:
            body: dict[str, object] = {}
            if request.method == "POST":
                given = await request.json()
                body = given if isinstance(given, dict) else {}
            found = await run_in_threadpool(answer, request, body)
        except HubbubError as error:
            found = {"refused": str(error)}
        except ValueError:
            return JSONResponse({"refused": "This is no question of the studio's page: reload it."}, 400)
        except Exception as error:
            return JSONResponse({"refused": f"This is a bug of ours, please report it: {type(error).__name__}."}, 500)
        return found if isinstance(found, Response) else JSONResponse(found)

    return respond


def static(name: str) -> Response:
    """One of our own files, by name."""
    if name not in STATIC:
        return PlainTextResponse("There is no such file.\n", 404)
    return Response(_static(name), media_type=STATIC[name])


@lru_cache
def _static(name: str) -> str:
    text = files("hubbub.studio").joinpath("static", name).read_text(encoding="utf-8")
    if name == "studio.css":  # the colours and manners of the other pages
        text = files("hubbub.show").joinpath("templates", "public.css").read_text(encoding="utf-8") + text
    return text
