"""The default output of a command: one screen (harness/foundation/base/answer.h)."""

LINES = 24
COLUMNS = 80


def answer_of(text, headline):
    """Returns the lines of the answer in `text`. The answer comes after the progress, and begins at the last line that
    starts with `headline`.
    """
    lines = text.splitlines()
    first = max(i for i, line in enumerate(lines) if line.startswith(headline))
    return lines[first:]


def check_screen(lines):
    """Checks that the lines fill at most one screen. Only a word that cannot be broken may be wider."""
    assert 1 <= len(lines) <= LINES, "\n".join(lines)
    for line in lines:
        # Beside the word stand the line's indentation and perhaps a backslash, or the first column.
        beside = max(len(line) - len(line.lstrip()) + len(" \\"), 12)
        assert len(line) <= COLUMNS or len(max(line.split(), key=len)) + beside > COLUMNS, line
        assert line == line.rstrip(), repr(line)
    assert "\x1b" not in "".join(lines)
