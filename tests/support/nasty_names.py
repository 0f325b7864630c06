"""Names that attack their reader, the form in which zerotax shows these names, and texts that no output may contain.
Nothing in this file comes from zerotax's own table of characters; unicodedata classifies each character instead.
"""

import unicodedata

# Each key names the target of the attack.
NASTY = {
    "terminal": b"e\x1b]0;PWNED\x07\x1b[2Jz",
    "next_line": b"x\n::stop-commands::t",
    "github": b"::stop-commands::t",
    "github_v1": b"a##[error]x",
    "blanks_first": "\u3000\u00a0::error::x".encode(),
    "c1": "c\u009b2Jz\u0085".encode(),
    "direction": "r\u202etxt.exe\u2066\u200f\u061c".encode(),
    "separators": "s\u2028p\u2029q".encode(),
    "shapeless": "z\u200b\ufeff\u00ad\u2060\U000e0041q".encode(),
    "bytes": b"d\xff\xfe",
    "overlong": b"o\xc0\xaf\xe0\x80\x80",
    "surrogates": b"u\xed\xa0\x80\xed\xb0\x80",
    "cut_off": b"v\xe2\x82",
    "noncharacters": "n\uffff\ufdd0\U0001fffe".encode(),
    "folded": b"a;b 12",
    "markup": b"<b>|`@you`*[l](u)<script>&amp;</script>",
    "quotes": b"q\"\\'",
    "returns": b"a\rb\tc\x7f",
}
# Names for threads and programs, which have at most 15 bytes.
SHORT = [b"t\x1b[2J\n\xff", "t\u202e\u200b".encode(), b"::error::t", b"t##[x]", b"t\r\xc2\x9b", b"t\"\\<&"]
# A path component that combines the worst characters.
FILE = b"p\n\x1b[31m\xff" + "\u202e\u009b".encode() + b"::e##[x]<&|`\""


def is_hidden(character):
    """Whether the character is invisible or looks like a different character."""
    number, category = ord(character), unicodedata.category(character)
    is_no_character = number & 0xFFFE == 0xFFFE or 0xFDD0 <= number <= 0xFDEF
    return is_no_character or category in ("Cc", "Cf", "Zl", "Zp", "Cs") or (category == "Zs" and character != " ")


def escaped(character):
    """Returns the escape of a hidden character."""
    number = ord(character)
    if character in "\n\r\t":
        return {"\n": "\\n", "\r": "\\r", "\t": "\\t"}[character]
    if 0xDC80 <= number <= 0xDCFF:   # Python's own representation of a byte that is not UTF-8
        return f"\\x{number - 0xDC00:02x}"
    return f"\\x{number:02x}" if number < 0x80 else f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"


def shown(name):
    """Returns a name as zerotax shows it, on one line."""
    text = "".join(escaped(each) if is_hidden(each) else each for each in name.decode("utf-8", "surrogateescape"))
    text = text.replace("##[", "#\\x23[")
    blanks = len(text) - len(text.lstrip(" "))
    return text[:blanks] + "\\x3a" + text[blanks + 1:] if text.startswith("::", blanks) else text


def folded(name):
    """Returns a name as zerotax shows it in a line of folded stacks. The last function of a line is shown differently.
    """
    return shown(name).replace(";", "\\x3b")


def assert_clean(data, commands=False):
    """Checks that an output is text of visible characters. Unless `commands`, the output must contain no commands of
    GitHub's runner. Returns the text.
    """
    text = data.decode("utf-8")   # raises if the output is not UTF-8
    bad = [at for at, each in enumerate(text) if each == "#" and text.startswith("##[", at)
           or each not in "\n\t" and is_hidden(each)]
    assert not bad, [text[max(0, at - 60):at + 30] for at in bad[:5]]
    if not commands:
        begun = [line for line in text.split("\n") if line.strip().startswith("::")]
        assert not begun, begun
    return text
