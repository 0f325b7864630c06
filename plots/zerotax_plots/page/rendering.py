"""Fills a template of this folder. The page contains its style, code and data, and needs no other file and no network.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import sys
from pathlib import Path
from typing import Any, Sequence

try:
    import jinja2
    from markupsafe import Markup, escape
except ModuleNotFoundError as missing:
    print(f"error: {missing}; install python3-jinja2 and use /usr/bin/python3", file=sys.stderr)
    sys.exit(2)

from zerotax_plots.files import ResultsError
from zerotax_plots.units import counted_text, whole_percent_text

FOLDER = Path(__file__).resolve().parent
LIBRARY = Path("/usr/share/nodejs")  # the folder of Debian's node-d3-scale, node-d3-zoom and their dependencies
MODULES = ("array", "collection", "color", "format", "interpolate", "time", "time-format", "scale", "dispatch", "selection",
           "timer", "ease", "transition", "drag", "zoom")
PARTS = ("units", "elements", "state", "actions", "axis", "marks", "table", "frame", "chart", "heat", "lanes")


def library() -> str:
    """Returns the modules of D3 that the page needs, with their license. Raises ResultsError if they are not installed.
    """
    texts = ["/*!\n" + (FOLDER / "d3-licence.txt").read_text(encoding="utf-8") + "*/"]
    for name in MODULES:
        path = LIBRARY / f"d3-{name}" / "dist" / f"d3-{name}.min.js"
        try:
            texts.append(path.read_text(encoding="utf-8"))
        except OSError as error:
            raise ResultsError(
                f"{path}: cannot be read ({error.strerror}); " "apt-get install node-d3-scale node-d3-zoom"
            ) from error
    return "\n;\n".join(texts)


def script(names: Sequence[str]) -> str:
    """Returns all code of a page. Nothing in the code may end its script element."""
    own = "\n".join((FOLDER / f"{name}.js").read_text(encoding="utf-8") for name in names)
    return f"{library()}\n;(() => {{\n{own}}})();\n".replace("</script", "<\\/script").replace("<!--", "<\\!--")


def style() -> str:
    """Returns the whole style of the page."""
    return "".join((FOLDER / name).read_text(encoding="utf-8") for name in ("page.css", "parts.css", "print.css"))


def fingerprint(text: str) -> str:
    """Returns the hash with which a content security policy allows a text."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def embedded(data: Any) -> Markup:
    """Returns JSON that is safe in a script element, whatever it contains."""
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return Markup(text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e"))  # noqa: S704


def code_marked(text: str) -> Markup:
    """Returns the escaped text, with parts between two ` as code."""
    return Markup(re.sub(r"`([^`]*)`", r"<code>\1</code>", str(escape(text))))  # noqa: S704


def rendered(template: str, scripts: Sequence[str], data: Any, **words: Any) -> str:
    """Returns a page from this template, which extends base.html. The page contains its style, scripts and data, and a
    policy that permits only these and forbids every request.
    """
    code, look = script(scripts), style()
    policy = (
        f"default-src 'none'; script-src {fingerprint(code)}; style-src {fingerprint(look)}; "
        "base-uri 'none'; form-action 'none'"
    )
    loader = jinja2.FileSystemLoader(FOLDER)
    jinja = jinja2.Environment(
        loader=loader, autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    jinja.filters["code"] = code_marked
    jinja.filters["plain"] = lambda text: text.replace("`", "")
    jinja.filters["counted"] = counted_text
    jinja.filters["percent"] = whole_percent_text
    return jinja.get_template(template).render(
        policy=Markup(policy),
        style=Markup(look),
        script=Markup(code),
        data=embedded(data),
        library="d3-scale, d3-zoom and what they need",
        **words,
    )
