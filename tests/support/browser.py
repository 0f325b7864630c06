"""A real headless Chromium for the tests of the page. Reports what the browser shows, what it logs, and what it
requests from the network.
"""

import base64
import json
import shutil

from selenium import webdriver
from selenium.webdriver.support.ui import WebDriverWait


class Browser:
    """One browser window, with its console log and its network log."""

    def __init__(self, folder):
        options = webdriver.ChromeOptions()
        options.binary_location = shutil.which("chromium")
        words = [
            "--headless=new",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--no-first-run",
            f"--user-data-dir={folder}",
            "--disable-background-networking",
            "--disable-component-update",
            "--force-color-profile=srgb",
            # The browser's sandbox works neither as root nor where user namespaces are forbidden. Without the sandbox,
            # the browser opens only our own file.
            "--no-sandbox",
        ]
        for word in words:
            options.add_argument(word)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        service = webdriver.chrome.service.Service(shutil.which("chromedriver"))
        self.driver = webdriver.Chrome(service=service, options=options)
        self.driver.set_page_load_timeout(30)

    def window(self, width, height=900, mobile=False):
        self.devtools(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=mobile
        )

    def devtools(self, command, **arguments):
        return self.driver.execute_cdp_cmd(command, arguments)

    def open(self, path, view=""):
        """Opens the file again, waits until its scripts have run, and discards earlier log messages."""
        self.driver.get("about:blank")
        self.logged()
        self.requested()
        self.driver.get(f"file://{path}{view}")
        assert self.run("return document.documentElement.dataset.ready") == "yes", self.logged()

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def frame(self):
        """Waits until the browser has painted the requested state."""
        self.driver.execute_async_script(
            "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() => done()));"
        )

    def until(self, holds):
        """Waits until `holds` returns true, ten seconds at most."""
        WebDriverWait(self.driver, 10, 0.02).until(lambda _: holds())

    def find(self, selector):
        return self.driver.find_element("css selector", selector)

    def all(self, selector):
        return self.driver.find_elements("css selector", selector)

    def click(self, selector):
        element = self.find(selector)
        self.run("arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", element)
        element.click()
        self.frame()

    def press(self, selector, *keys):
        """Focuses the element, and presses the keys."""
        element = self.find(selector)
        self.run("arguments[0].focus()", element)
        webdriver.ActionChains(self.driver).send_keys(*keys).perform()
        self.frame()

    def point(self, selector, x, y):
        """Moves the pointer to a position in an element. The position is given as fractions of the element's width and
        height.
        """
        element = self.find(selector)
        self.run("arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", element)
        box = element.rect
        webdriver.ActionChains(self.driver).move_to_element_with_offset(
            element, int((x - 0.5) * box["width"]), int((y - 0.5) * box["height"])
        ).perform()
        self.frame()

    def text(self, selector):
        return self.run("return document.querySelector(arguments[0]).textContent", selector)

    def fragment(self):
        return self.run("return location.hash")

    def logged(self):
        """Returns the console's messages since the last call."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def requested(self):
        """Returns the addresses requested since the last call, except the blank page."""
        events = [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]
        urls = [event["params"]["request"]["url"] for event in events if event["method"] == "Network.requestWillBeSent"]
        return [url for url in urls if not url.startswith("about:")]

    def pdf(self):
        return base64.b64decode(self.devtools("Page.printToPDF", printBackground=True)["data"])

    def close(self):
        self.driver.quit()
