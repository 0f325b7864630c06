#!/usr/bin/python3
"""Finds phrases that a reader must read twice.

usage: cmake/prose.py FILE...

The script reads pages and help topics, comments of C, C++, Python, CMake and shell sources, and docstrings of Python.
It also reads the string literals of the C++ sources in the folders of MESSAGES. Prints file, line and phrase, with what
to write. The exit status is 1 if a phrase was found.
"""
from __future__ import annotations

import pathlib
import re
import sys
from collections.abc import Iterator

FREE_RELATIVE = r"(?:^|[.!?] )(?:What|That which|Whatever|Whoever) [a-z]+[^.?]{0,60} (?:is|are) "
COMMON = {
    r"\bis so\b(?! [a-z]+ that)": "say what it is",
    r"\bthose of these\b|\bthese of those\b": "name both",
    r"(?:^|[.!?] )Of an? [a-z]": "begin with the subject",
    r"\banew\b": "again",
    r"\bgoes on\b|\bgo on\b": "continues",
    r"\bheld against\b": "compared with",
    r"\bput down to\b": "attributed to",
    r"\bmended\b": "fixed",
    r"\badvices\b": "advice",
    r"\b[Dd]oes not prove\b": "Limits",
    r"\b(?:is|are|was|were) told of\b": "is reported",
    r"\bis to be [a-z]+ed\b": "say who does it",
    r"\bis not to be had\b": "is unavailable",
    r"\bbehind --": "after --",
}
# Phrases to avoid in pages and help topics.
PHRASES = COMMON | {
    FREE_RELATIVE: "name the subject",
    r"\bis none\b|\bare none\b": "say what it is not",
    r"\bas it is\b(?! [a-z])": "unchanged",
}
# Phrases to avoid in sources. "If there is none" and "the program as it is" are good English.
SOURCE_PHRASES = COMMON | {
    r"(?<!there )\b(?:is|are) none\b": "say what it is not",
    r"(?<!program )\bas it is\b(?! [a-z])": "unchanged",
}
# Openings of sentences in sources. A clause is no good subject, and the first sentence of a comment has no earlier noun
# for its pronoun. Questions are good English.
CLAUSE = r"(?:^|[.!?] )(?:What|Whose|Whom|Whatever|Whoever|That which) (?![^.!?]*\?)"
PRONOUN = r"(?:It|Its|They|Their|Those|Such|So|The (?:same|others?)(?=[,.]| (?:as|by|for|from|if|in|of|on|with)\b))\b(?! an? )"
# Phrases in messages that results/reference contains. The messages can change when the reference is measured again.
STORED = re.compile("maps it anew|it is none that zerotax knows")
SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z`*\[])|\n\n|\n(?=[-*|#>] ?)")
CODE = re.compile(r"^```.*?^```$|<!--.*?-->|`[^`\n]*`|^\|[^\n]*$|\]\([^)]*\)|^\[[^]\n]+\]: [^\n]*$", re.DOTALL | re.MULTILINE)

# Tokens that may contain the first character of a comment or a literal. Only tokens with a name are checked.
C_TOKENS = re.compile(r"""(?P<comment>//[^\n]*|/\*.*?\*/)|(?<!\w)'(?:\\.|[^'\\\n])+'|
    (?P<literal>R"(?P<end>[^(\s]*)\(.*?\)(?P=end)"|"(?:\\.|[^"\\\n])*")""", re.DOTALL | re.VERBOSE)
PYTHON_TOKENS = re.compile(r'''(?P<comment>\#[^\n]*)|(?P<docstring>^[ ]*"""(?:\\.|[^\\])*?""")|"""(?:\\.|[^\\])*?"""|
    \'\'\'(?:\\.|[^\\])*?\'\'\'|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*\'''', re.DOTALL | re.MULTILINE | re.VERBOSE)
SHELL_TOKENS = re.compile(r"(?P<comment>(?<!\S)#[^\n]*)")
TOKENS = {".cc": C_TOKENS, ".h": C_TOKENS, ".c": C_TOKENS, ".py": PYTHON_TOKENS, ".cmake": SHELL_TOKENS, ".sh": SHELL_TOKENS}
MARKS = re.compile(r'^[ \t]*(?:///?<?|/?\*+|#+)(?=\s)|\*/|"|\\[a-z]|`[^`\n]*`', re.MULTILINE)
MESSAGES = ("harness", "recorder", "allocators")


def blanked(pattern: re.Pattern[str], text: str) -> str:
    """Returns the text with blanks in place of each match. Line breaks stay."""
    return pattern.sub(lambda found: re.sub(r"[^\n]", " ", found.group()), text)


def passages(text: str, tokens: re.Pattern[str], with_literals: bool) -> Iterator[tuple[str, int, str]]:
    """Yields (kind, offset, words) of each comment, docstring and literal.

    Adjacent literals are one passage, and so are comments of adjacent lines that begin in the same column.
    """
    group, column, begin, end = None, 0, 0, 0
    for token in tokens.finditer(text):
        at = token.start() - text.rfind("\n", 0, token.start())
        gap = text[end:token.start()]
        is_same = token.lastgroup == group and not gap.strip() and gap.count("\n") < 2 and (group == "literal" or at == column)
        if not is_same:
            if group:
                yield group, begin, blanked(STORED, blanked(MARKS, text[begin:end]))
            group, column, begin = token.lastgroup, at, token.start()
            if group == "literal" and not with_literals:
                group = None
        end = token.end()
    if group:
        yield group, begin, blanked(STORED, blanked(MARKS, text[begin:end]))


def source_problems(path: pathlib.Path, text: str, tokens: re.Pattern[str]) -> list[tuple[int, str, str]]:
    """Returns (line, phrase, replacement) for each problem in the comments, docstrings and messages of a source."""
    found = []
    for kind, offset, words in passages(text, tokens, path.parts[0] in MESSAGES and path.suffix != ".c"):
        places = [word.start() for word in re.finditer(r"\S+", words)]
        joined = " ".join(words.split())
        openings = {f"^{PRONOUN}": "name the noun"} if kind != "literal" else {}
        if kind != "literal" or joined.endswith("."):  # other literals may be headings
            openings[CLAUSE] = "name the subject"
        for pattern, instead in (SOURCE_PHRASES | openings).items():
            for match in re.finditer(pattern, joined):
                word = joined.count(" ", 0, match.start() + re.search(r"\w", match.group()).start())
                found.append((text.count("\n", 0, offset + places[word]) + 1, match.group(), instead))
    return sorted(found)


def page_problems(text: str, is_page: bool) -> list[tuple[int, str, str]]:
    """Returns (line, phrase, replacement) for each problem in a page or a help topic."""
    text = blanked(CODE, text)
    found = []
    for pattern, instead in PHRASES.items():
        for match in re.finditer(pattern, text, re.MULTILINE):
            found.append((text.count("\n", 0, match.start()) + 1, " ".join(match.group().split()), instead))
    place = 0
    for sentence in SENTENCE_END.split(text) if is_page else []:
        place = text.index(sentence, place)
        if len(re.findall(r":(?=\s)", sentence)) > 1:
            found.append((text.count("\n", 0, place) + 1, " ".join(sentence.split())[:60], "one colon in a sentence"))
    return sorted(found)


def problems(path: pathlib.Path) -> list[tuple[int, str, str]]:
    """Returns (line, phrase, replacement) for each problem in a file."""
    text = path.read_text(encoding="utf-8")
    tokens = SHELL_TOKENS if path.name in ("CMakeLists.txt", "run") else TOKENS.get(path.suffix)
    return source_problems(path, text, tokens) if tokens else page_problems(text, path.suffix == ".md")


def main() -> int:
    status = 0
    for name in sys.argv[1:]:
        for line, phrase, instead in problems(pathlib.Path(name)):
            print(f"{name}:{line}: '{phrase}': {instead}")
            status = 1
    return status


if __name__ == "__main__":
    raise SystemExit(main())
