"""A real headless Firefox for the tests of the page, driven by its own protocol, Marionette, because Debian has no
geckodriver.

https://firefox-source-docs.mozilla.org/testing/marionette/Protocol.html describes the protocol. A message is its length, a
colon and JSON. A request is [0, id, command, parameters], and its answer is [1, id, error, result]. The commands are those of
WebDriver.
"""

import base64
import json
import os
import pathlib
import shutil
import socket
import subprocess
import time

FIREFOX = shutil.which("firefox-esr") or shutil.which("firefox")
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"  # WebDriver's name for a reference
START_S = 60
# Settings under which Firefox requests nothing by itself, and shows nothing before our page.
PREFERENCES = {
    "marionette.port": 0,
    "app.normandy.enabled": False,
    "app.update.disabledForTesting": True,
    "browser.aboutwelcome.enabled": False,
    "browser.newtabpage.enabled": False,
    "browser.region.network.url": "",
    "browser.safebrowsing.downloads.enabled": False,
    "browser.safebrowsing.malware.enabled": False,
    "browser.safebrowsing.phishing.enabled": False,
    "browser.shell.checkDefaultBrowser": False,
    "browser.startup.page": 0,
    "datareporting.policy.dataSubmissionEnabled": False,
    "extensions.getAddons.cache.enabled": False,
    "extensions.systemAddon.update.enabled": False,
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
    "services.settings.server": "data:,",
    "toolkit.telemetry.reportingpolicy.firstRun": False,
}


class Firefox:
    """One window of Firefox. Raises RuntimeError with Firefox's message."""

    def __init__(self, folder):
        folder = pathlib.Path(folder)
        lines = [f"user_pref({json.dumps(name)}, {json.dumps(value)});\n" for name, value in PREFERENCES.items()]
        (folder / "user.js").write_text("".join(lines))
        # The last word of the command permits reading the console. Firefox before 138 neither knows nor needs this
        # word.
        words = [FIREFOX, "--headless", "--marionette", "--no-remote", "--profile", folder, "--remote-allow-system-access"]
        # Firefox's sandbox works neither as root nor where user namespaces are forbidden. Without the sandbox, Firefox
        # opens only our own file.
        env = {**os.environ, "HOME": str(folder), "MOZ_DISABLE_CONTENT_SANDBOX": "1"}
        self.process = subprocess.Popen(words, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            self.socket = socket.create_connection(("127.0.0.1", self._port(folder / "MarionetteActivePort")), START_S)
            self.rest = b""
            self._read()
            self.count = 0
            self.command("WebDriver:NewSession", capabilities={"alwaysMatch": {"pageLoadStrategy": "normal"}})
        except BaseException:
            self.process.kill()
            raise

    def _port(self, file):
        end = time.monotonic() + START_S
        while time.monotonic() < end and self.process.poll() is None:
            if file.is_file() and file.read_text().strip():
                return int(file.read_text())
            time.sleep(0.05)
        raise RuntimeError("Firefox does not start")

    def _read(self):
        while b":" not in self.rest:
            self.rest += self._more()
        length, _, self.rest = self.rest.partition(b":")
        while len(self.rest) < int(length):
            self.rest += self._more()
        message, self.rest = self.rest[: int(length)], self.rest[int(length):]
        return json.loads(message)

    def _more(self):
        data = self.socket.recv(1 << 16)
        if not data:
            raise RuntimeError("Firefox has ended")
        return data

    def command(self, name, **parameters):
        """Returns the result of a command of WebDriver."""
        self.count += 1
        message = json.dumps([0, self.count, name, parameters]).encode()
        self.socket.sendall(b"%d:%s" % (len(message), message))
        _, _, error, result = self._read()
        if error:
            raise RuntimeError(f"{name}: {error['message']}")
        return result

    def _chrome(self, script):
        """Returns the result of a script that can access the whole browser."""
        self.command("Marionette:SetContext", value="chrome")
        try:
            return self.command("WebDriver:ExecuteScript", script=script, args=[])["value"]
        finally:
            self.command("Marionette:SetContext", value="content")

    def window(self, width, height=900):
        """Sets the width of the page in pixels. A window of Firefox cannot be as narrow as a phone, but a frame in the
        window can.
        """
        self.command("WebDriver:SetWindowRect", width=max(width, 500), height=height + 100)
        self.width = width

    def open(self, path, view=""):
        """Opens the file again in a frame of this width, and forgets earlier log messages."""
        self.command("WebDriver:SwitchToFrame", id=None)
        self.command("WebDriver:Navigate", url="about:blank")
        self._chrome("Services.console.reset()")
        outer = pathlib.Path(path).with_name("frame.html")
        style = f"margin:0;border:0;display:block;width:{self.width}px;height:900px"
        outer.write_text(f'<!DOCTYPE html><body style="margin:0"><iframe src="{path.name}{view}" style="{style}"></iframe>')
        self.command("WebDriver:Navigate", url=f"file://{outer}")
        frame = self.command("WebDriver:FindElement", using="css selector", value="iframe")["value"]
        self.command("WebDriver:SwitchToFrame", element=frame[ELEMENT])
        assert self.run("return document.documentElement.dataset.ready") == "yes", self.logged()

    def run(self, script, *arguments):
        return self.command("WebDriver:ExecuteScript", script=script, args=list(arguments))["value"]

    def press(self, selector, *keys):
        """Focuses the element, and presses the keys."""
        self.run("document.querySelector(arguments[0]).focus()", selector)
        self.keys(*keys)

    def keys(self, *keys):
        actions = [{"type": step, "value": key} for key in keys for step in ("keyDown", "keyUp")]
        self.command("WebDriver:PerformActions", actions=[{"type": "key", "id": "keys", "actions": actions}])

    def all(self, selector):
        """Returns references to the elements."""
        found = self.command("WebDriver:FindElements", using="css selector", value=selector)
        return [each[ELEMENT] for each in found]

    def spoken(self, element):
        """Returns role and name in the accessibility tree."""
        role = self.command("WebDriver:GetComputedRole", id=element)["value"]
        return role, self.command("WebDriver:GetComputedLabel", id=element)["value"]

    def dark(self, wanted):
        """Sets the color scheme that the system prefers. Returns when the process that shows the page has received the
        setting.
        """
        self._chrome(f"Services.prefs.setIntPref('layout.css.prefers-color-scheme.content-override', {0 if wanted else 1})")
        end = time.monotonic() + START_S
        while self.run("return matchMedia('(prefers-color-scheme: dark)').matches") != wanted:
            assert time.monotonic() < end, "the preference does not reach the page"
            time.sleep(0.02)

    def pdf(self):
        return base64.b64decode(self.command("WebDriver:Print", background=True)["value"])

    def logged(self):
        """Returns errors and warnings of our files since the page was opened."""
        return self._chrome(
            "return Services.console.getMessageArray().filter(m => m instanceof Ci.nsIScriptError"
            " && m.sourceName.startsWith('file:')).map(m => m.errorMessage)"
        )

    def close(self):
        try:
            self.command("Marionette:Quit", flags=["eForceQuit"])
            self.process.wait(10)
        except (RuntimeError, OSError, subprocess.TimeoutExpired):
            self.process.kill()
        self.process.wait()
        self.socket.close()
