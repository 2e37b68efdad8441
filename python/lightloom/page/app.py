"""The application: which address answers what."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from fastapi import FastAPI, Request
from starlette.responses import JSONResponse, Response

from lightloom import __version__
from lightloom.page.answers import Answers
from lightloom.page.files import INDEX, PageFile, page_files
from lightloom.page.guard import Guard
from lightloom.page.pool import Pool
from lightloom.page.tasks import TASKS, Task

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Coroutine, Iterable

    from lightloom.page.limits import Limits

__all__ = ["VIEWS", "application"]

# Addresses of the page, whose query holds the options.
VIEWS = ("/", "/plan", "/compare", "/when-it-pays", "/training", "/results")
TITLE = "Lightloom"
NOT_FOUND, NOT_MODIFIED, FAILED = 404, 304, 500


def application(limits: Limits, names: Iterable[str] = ()) -> tuple[Guard, Pool]:
    """The application and its pool, which must be ended with it. names: of the server, beside `localhost`."""
    pool = Pool(limits)

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        await pool.start()
        try:
            yield
        finally:
            await pool.end()

    app = FastAPI(title=TITLE, version=__version__, lifespan=lifespan, docs_url=None, redoc_url=None)
    answers = Answers(pool)
    for task in TASKS:
        app.add_api_route(
            f"/api/{task.name}",
            _endpoint(answers, task),
            methods=["POST" if task.is_asked else "GET"],
            operation_id=task.name,
            summary=task.summary,
            response_class=Response,
        )
    _add_files(app, page_files())
    _add_errors(app)
    return Guard(app, names, limits.reading_s), pool


def _endpoint(answers: Answers, task: Task) -> Callable[[Request], Coroutine[Any, Any, Response]]:
    async def endpoint(request: Request) -> Response:
        return await answers.answer(task, request)

    return endpoint


def _add_files(app: FastAPI, files: dict[str, PageFile]) -> None:
    async def view(request: Request) -> Response:
        return _sent(files.get(INDEX), request)

    async def static(path: str, request: Request) -> Response:
        return _sent(files.get(path), request)

    for address in VIEWS:
        app.add_api_route(address, view, methods=["GET", "HEAD"], include_in_schema=False)
    app.add_api_route("/static/{path:path}", static, methods=["GET", "HEAD"], include_in_schema=False)


def _sent(file: PageFile | None, request: Request) -> Response:
    if file is None:
        return JSONResponse({"error": "there is no such file of the page", "field": "path"}, NOT_FOUND)
    headers = {"etag": file.tag, "cache-control": "no-cache"}
    if file.tag in request.headers.get("if-none-match", ""):
        return Response(status_code=NOT_MODIFIED, headers=headers)
    return Response(file.content, media_type=file.media_type, headers=headers)


def _add_errors(app: FastAPI) -> None:
    """Errors of addresses and methods in the form of all others."""
    from starlette.exceptions import HTTPException

    async def refused(_request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)  # noqa: S101 (what this is registered for)
        told = {"error": f"address: {str(error.detail).lower()}", "field": "address"}
        return JSONResponse(told, error.status_code, error.headers)

    async def failed(_request: Request, _error: Exception) -> Response:
        return JSONResponse({"error": "the server failed; please report it", "field": ""}, FAILED)

    app.add_exception_handler(HTTPException, refused)
    app.add_exception_handler(Exception, failed)
