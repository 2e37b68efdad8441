"""Firefox without a screen, as the system's packages have it, driven by Marionette, its own protocol.

Playwright drives only builds of Firefox of its own, or newer ones. Messages are `LENGTH:JSON`; a request is
`[0, NUMBER, NAME, ARGUMENTS]`, its answer `[1, NUMBER, ERROR, RESULT]`.
"""

from __future__ import annotations

import base64
import json
import shutil
import socket
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pytest

from tests.page.browser.chromium import SETTLED, TIMEOUT_MS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

NAMES = ("firefox-esr", "firefox")
# Seconds that a start or an answer may take.
LONG_S = 60.0
# A free port, and no pages and requests of its own.
PREFERENCES = {
    "marionette.port": 0,
    "browser.startup.page": 0,
    "browser.aboutwelcome.enabled": False,
    "datareporting.policy.dataSubmissionEnabled": False,
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
}
# The size of the page, because that of the window is bounded, and its colours.
SHOWN_AS = """
const [width, height, scheme] = arguments;
Services.prefs.setIntPref("layout.css.prefers-color-scheme.content-override", scheme === "dark" ? 0 : 1);
const { style } = window.gBrowser.selectedBrowser;
Object.assign(style, { minWidth: "0", maxWidth: `${width}px`, width: `${width}px`, height: `${height}px` });
"""
# Errors of pages of a server, breaches of the content security policy among them.
ERRORS = """
return Services.console.getMessageArray().flatMap((one) => one instanceof Ci.nsIScriptError
  && one.sourceName.startsWith(arguments[0]) && !(one.flags & Ci.nsIScriptError.warningFlag) ? [one.errorMessage] : []);
"""
WAIT = "const done = arguments[0]; const look = () => (%s)() ? done() : setTimeout(look, 50); look();"


class Firefox:
    """A page in the browser."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._stream = connection.makefile("rb")
        self._number = 0
        self._answer()
        self._ask("WebDriver:NewSession", capabilities={"alwaysMatch": {"timeouts": {"script": TIMEOUT_MS}}})

    def _answer(self) -> Any:
        length = b""
        while (byte := self._stream.read(1)) != b":":
            assert byte, "Firefox ended"
            length += byte
        return json.loads(self._stream.read(int(length)))

    def _ask(self, name: str, **arguments: Any) -> Any:
        self._number += 1
        sent = json.dumps([0, self._number, name, arguments]).encode()
        self._connection.sendall(b"%d:%s" % (len(sent), sent))
        _, _, error, result = self._answer()
        assert error is None, error
        return result["value"] if isinstance(result, dict) and "value" in result else result

    def _in_browser(self, script: str, *arguments: Any) -> Any:
        """The result of a script of the browser itself."""
        self._ask("Marionette:SetContext", value="chrome")
        try:
            return self._ask("WebDriver:ExecuteScript", script=script, args=arguments, newSandbox=True)
        finally:
            self._ask("Marionette:SetContext", value="content")

    def show_as(self, viewport: Mapping[str, int], scheme: str) -> None:
        """The size of the page, and `light` or `dark`."""
        self._in_browser(SHOWN_AS, viewport["width"], viewport["height"], scheme)

    def go(self, address: str) -> None:
        """To an address; returns when its result is there."""
        self._in_browser("Services.console.reset()")
        self._ask("WebDriver:Navigate", url=address)
        self._ask("WebDriver:ExecuteAsyncScript", script=WAIT % SETTLED, args=[])

    def evaluate(self, expression: str, argument: Any = None) -> Any:
        """The value of an expression, or of a function with an argument, awaited."""
        script = "const [told, done] = arguments; const made = eval(`(${told[0]})`);"
        script += "Promise.resolve(typeof made === 'function' ? made(told[1]) : made).then(done);"
        return self._ask("WebDriver:ExecuteAsyncScript", script=script, args=[[expression, argument]], sandbox=None)

    def run(self, script: str) -> None:
        """Run a script of the page's own."""
        self._ask("WebDriver:ExecuteScript", script=script, args=[], sandbox=None)

    def picture(self) -> bytes:
        """The whole page, PNG."""
        return base64.b64decode(self._ask("WebDriver:TakeScreenshot", full=True))

    def problems(self, address: str) -> list[str]:
        """Errors in the page of a server since the browser went there."""
        found: list[str] = self._in_browser(ERRORS, address)
        return found


@contextmanager
def firefox() -> Iterator[Firefox]:
    """The browser that this machine has; the test is skipped if there is none."""
    path = next((found for found in map(shutil.which, NAMES) if found), None)
    if path is None:
        pytest.skip(f"no Firefox: none of {', '.join(NAMES)} is on the path")
    with TemporaryDirectory(prefix="firefox-", ignore_cleanup_errors=True) as folder:
        profile = Path(folder)
        lines = (f"user_pref({json.dumps(name)}, {json.dumps(value)});\n" for name, value in PREFERENCES.items())
        (profile / "user.js").write_text("".join(lines))
        words = [path, "--headless", "--no-remote", "--marionette", "--remote-allow-system-access", "--profile", folder]
        process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            with socket.create_connection(("127.0.0.1", _port(profile / "MarionetteActivePort")), LONG_S) as made:
                yield Firefox(made)
        finally:
            process.terminate()
            process.wait(LONG_S)


def _port(file: Path) -> int:
    """The port, once the browser has written it."""
    end_s = time.monotonic() + LONG_S
    while time.monotonic() < end_s:
        if file.exists() and (text := file.read_text()):
            return int(text)
        time.sleep(0.05)
    raise AssertionError("Firefox does not start")
