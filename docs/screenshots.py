"""Take the pictures in `monitoring.md` from a real run: `python -m docs.screenshots`.

It starts `chargehand up` in a temporary home, runs the example review and a brief, and looks at
Flower with a headless Chromium, which must be installed. It speaks Chrome's own protocol, because a
headless Chromium asks nobody for the password of a page.
"""

import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import unquote, urlsplit
from urllib.request import Request, urlopen

from tornado.websocket import WebSocketClientConnection, websocket_connect

from chargehand.stack import pools, port, record

ROOT = Path(__file__).resolve().parents[1]
FOLDER = Path(__file__).parent / "screenshots"
LARGEST = 200_000
"""The most bytes of a picture."""
WIDTH = 1280
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--hide-scrollbars", "--remote-debugging-port=0",
)  # fmt: skip
WITHIN = 60.0


def main() -> None:
    """Take all pictures anew."""
    browser = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if browser is None:
        sys.exit(f"no browser; install one of: {', '.join(BROWSERS)}")
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="chargehand-pictures-")))
        flower = stack.enter_context(_stack(folder))
        job = _work(folder)
        endpoint = stack.enter_context(_browser(browser, folder / "browser"))
        asyncio.run(_take(endpoint, flower, job))


@contextmanager
def _stack(folder: Path) -> Iterator[str]:
    """Give the URL of a running stack's Flower, password included."""
    log = folder / "up.log"
    options = ("--flower-port", str(port.free()), "--scale", "security=2", "--slots", "4")
    with log.open("w") as stream:
        process = subprocess.Popen(
            _command("up", *options), cwd=folder, env=_environment(folder), stderr=stream
        )
    try:
        ready = len(pools.known(())) + 2
        _until(lambda: log.read_text().count(" ready.") >= ready, log.read_text)
        _until(lambda: "Visit me at" in log.read_text(), log.read_text)
        running = record.running(folder / "home")
        yield running.flower_url or "" if running else ""
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait()


def _work(folder: Path) -> str:
    """Run the example review and a brief, and return the id of the review."""
    notes = str(ROOT / "examples" / "brief")
    _run(folder, "demo")
    _run(folder, "submit", "brief", "--request", "Which incident cost the most?",
         "--input", notes, "--wait")  # fmt: skip
    jobs = [line.split() for line in _run(folder, "jobs").splitlines()]
    return next(words[0] for words in jobs if "code_review" in words)


@contextmanager
def _browser(program: str, folder: Path) -> Iterator[str]:
    """Give the address of a headless browser's protocol."""
    command = [program, *FLAGS, f"--user-data-dir={folder}", f"--window-size={WIDTH},900"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        told = folder / "DevToolsActivePort"
        _until(lambda: told.exists() and "\n" in told.read_text(), lambda: "no browser")
        yield f"http://127.0.0.1:{told.read_text().split()[0]}"
    finally:
        process.terminate()
        process.wait()


async def _take(endpoint: str, flower: str, job: str) -> None:
    page = await Page.open(endpoint, flower)
    rows = "document.querySelectorAll('tbody tr td a').length"
    await page.picture("workers", "/", 700, f"{rows} > 0")
    search = f"$('#tasks-table').DataTable().search('{job}').draw()"
    alike = f"[...document.querySelectorAll('tbody tr')].every(row => row.id.startsWith('{job}'))"
    await page.picture("tasks", "/tasks", 800, f"{rows} > 0 && {alike}", search)
    await page.picture("task", f"/task/{job}.security.1", 1230, "true")
    worker = await page.ask("document.querySelector('a[href^=\"/worker/\"]').getAttribute('href')")
    tab = 'document.querySelector(\'[href="#tab-queues"], [data-bs-target="#tab-queues"]\')'
    await page.picture("worker", str(worker), 480, f"!!{tab}", f"{tab}.click()")


class Page:
    """One page of the browser, logged in to Flower."""

    def __init__(self, socket: WebSocketClientConnection, site: str) -> None:
        self._socket, self._site, self._ids = socket, site, count(1)

    @classmethod
    async def open(cls, endpoint: str, flower: str) -> "Page":
        """Return a new page that sends the login of this URL."""
        new = Request(f"{endpoint}/json/new", method="PUT")  # noqa: S310 - an address of ours
        with urlopen(new) as answer:  # noqa: S310 - an address of ours
            address = json.load(answer)["webSocketDebuggerUrl"]
        parts = urlsplit(flower)
        login = f"{unquote(parts.username or '')}:{unquote(parts.password or '')}"
        header = {"Authorization": f"Basic {b64encode(login.encode()).decode()}"}
        socket = await websocket_connect(address, max_message_size=64 * 2**20)
        page = cls(socket, f"http://{parts.hostname}:{parts.port}")
        await page.call("Network.enable")
        await page.call("Network.setExtraHTTPHeaders", headers=header)
        return page

    async def call(self, method: str, **parameters: object) -> dict[str, Any]:
        """Return what the browser answers to a call."""
        number = next(self._ids)
        call = {"id": number, "method": method, "params": parameters}
        await self._socket.write_message(json.dumps(call))
        while True:
            message = json.loads(await self._socket.read_message() or "{}")
            if message.get("id") == number:
                if "error" in message:
                    sys.exit(f"{method}: {message['error']}")
                return dict(message["result"])

    async def ask(self, script: str) -> object:
        """Return what a script in the page comes to."""
        answer = await self.call("Runtime.evaluate", expression=script, returnByValue=True)
        return answer["result"].get("value")

    async def picture(
        self, name: str, path: str, height: int, ready: str, first: str = "true"
    ) -> None:
        """Save a picture of a path of Flower, once `first` was done and it is `ready`."""
        size = {"width": WIDTH, "height": height, "deviceScaleFactor": 1, "mobile": False}
        await self.call("Emulation.setDeviceMetricsOverride", **size)
        await self.call("Page.navigate", url=f"{self._site}{path}")
        here = f"location.href == {json.dumps(self._site + path)}"
        await self._until(f"{here} && document.readyState == 'complete'")
        await self.ask(first)
        await self._until(ready)
        # Tables and tabs fade in.
        await asyncio.sleep(1)
        shot = b64decode((await self.call("Page.captureScreenshot", format="png"))["data"])
        if len(shot) > LARGEST:
            sys.exit(f"{name}.png has {len(shot)} bytes; at most {LARGEST} are allowed")
        (FOLDER / f"{name}.png").write_bytes(shot)
        sys.stdout.write(f"{name}.png: {len(shot)} bytes\n")

    async def _until(self, script: str) -> None:
        async with asyncio.timeout(WITHIN):
            while not await self.ask(script):
                await asyncio.sleep(0.1)


def _command(*words: str) -> list[str]:
    return [sys.executable, "-P", "-m", "chargehand", *words]


def _environment(folder: Path) -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("CHARGEHAND_", "FLOWER_"))}
    return {**kept, "CHARGEHAND_HOME": str(folder / "home")}


def _run(folder: Path, *words: str) -> str:
    done = subprocess.run(
        _command(*words), cwd=folder, env=_environment(folder), check=True, capture_output=True
    )
    return done.stdout.decode()


def _until(seen: Callable[[], bool], state: Callable[[], str]) -> None:
    deadline = time.monotonic() + WITHIN
    while not seen():
        if time.monotonic() > deadline:
            sys.exit(f"not within {WITHIN:g} s: {state()[-2000:]}")
        time.sleep(0.1)


if __name__ == "__main__":
    main()
