"""The application: which address answers what."""

from __future__ import annotations

import json
import logging
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from lightloom.base.errors import printable
from lightloom.page.answers import Answers
from lightloom.page.files import INDEX, UNKNOWN, PageFile, index_of, page_files, view_addresses
from lightloom.page.guard import Guard
from lightloom.page.interface import openapi
from lightloom.page.outcome import JSON
from lightloom.page.pool import Pool
from lightloom.page.tasks import TASKS, Task
from lightloom.page.token import Token

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Coroutine, Iterable

    from starlette.requests import Request

    from lightloom.page.limits import Limits

__all__ = ["application"]

NOT_FOUND, NOT_MODIFIED, FAILED = 404, 304, 500


def application(limits: Limits, names: Iterable[str] = (), token: str | None = None) -> tuple[Guard, Pool]:
    """The application and its pool, which must be ended with it.

    names: of the server, in addition to `localhost`. token: that every request must show; None if no token is asked
    for.
    """
    pool = Pool(limits)

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        await pool.start()
        try:
            yield
        finally:
            await pool.end()

    answers = Answers(pool)
    routes = [
        Route(f"/api/{task.name}", _endpoint(answers, task), methods=["POST" if task.is_asked else "GET"])
        for task in TASKS
    ]
    described = PageFile.of(json.dumps(openapi(with_token=token is not None), ensure_ascii=False).encode(), JSON)
    routes.append(Route("/openapi.json", partial(_described, described), methods=["GET", "HEAD"]))
    files = page_files()
    app = Starlette(routes=[*routes, *_files(files)], lifespan=lifespan)
    app.add_exception_handler(HTTPException, partial(_refused, files[UNKNOWN]))
    app.add_exception_handler(Exception, _failed)
    return Guard(app, names, None if token is None else Token(token)), pool


async def _described(described: PageFile, request: Request) -> Response:
    return _sent(described, request)


def _endpoint(answers: Answers, task: Task) -> Callable[[Request], Coroutine[Any, Any, Response]]:
    async def endpoint(request: Request) -> Response:
        return await answers.answer(task, request)

    return endpoint


def _files(files: dict[str, PageFile]) -> list[Route]:
    pages = {address: index_of(files, address) for address in view_addresses(files[INDEX])}

    async def view(request: Request) -> Response:
        return _sent(pages[request.url.path], request)

    async def static(request: Request) -> Response:
        file = files.get(request.path_params["path"])
        if file is None:
            raise HTTPException(NOT_FOUND, "there is no such file of the page")
        return _sent(file, request)

    methods = ["GET", "HEAD"]
    return [
        *(Route(address, view, methods=methods) for address in pages),
        Route("/static/{path:path}", static, methods=methods),
    ]


def _sent(file: PageFile, request: Request) -> Response:
    headers = {"etag": file.tag, "cache-control": "no-cache"}
    if file.tag in request.headers.get("if-none-match", ""):
        return Response(status_code=NOT_MODIFIED, headers=headers)
    return Response(file.content, media_type=file.media_type, headers=headers)


async def _refused(unknown: PageFile, request: Request, error: Exception) -> Response:
    """Errors of addresses and methods in the form of all others; a page for people who open an unknown address."""
    assert isinstance(error, HTTPException)  # noqa: S101 (what this is registered for)
    if error.status_code == NOT_FOUND and "text/html" in request.headers.get("accept", ""):
        return Response(unknown.content, NOT_FOUND, media_type=unknown.media_type)
    told = {"error": f"address: {str(error.detail).lower()}", "field": "address"}
    return JSONResponse(told, error.status_code, error.headers)


async def _failed(request: Request, error: Exception) -> Response:
    """An unforeseen error: its kind in a line, for the person who runs the server."""
    path = printable(request.scope["path"])
    logging.getLogger(__name__).error("error: %s failed: %s; please report it", path, type(error).__name__)
    return JSONResponse({"error": "the server failed; please report it", "field": ""}, FAILED)
