"""Reads pprof's profiles only by the rules of their format, so that zerotax does not check its own output:
https://github.com/google/pprof/blob/main/proto/profile.proto.
"""

import gzip

VARINT, BYTES = 0, 2


def _varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def _fields(data):
    """Returns the fields of a message as {number: values}."""
    found, at = {}, 0
    while at < len(data):
        key, at = _varint(data, at)
        if key & 7 == VARINT:
            value, at = _varint(data, at)
        else:
            assert key & 7 == BYTES, f"wire type {key & 7}"
            size, at = _varint(data, at)
            value, at = data[at:at + size], at + size
            assert len(value) == size, "cut"
        found.setdefault(key >> 3, []).append(value)
    return found


def _packed(data):
    values, at = [], 0
    while at < len(data):
        value, at = _varint(data, at)
        values.append(value)
    return values


class Profile:
    """A profile. `types` is [(name, unit)], and `samples` is [(stack, {type: value}, value of the label "kind")]. A
    stack is a list of (function, file, line, module), innermost first.
    """

    def __init__(self, path):
        fields = _fields(gzip.decompress(path.read_bytes()))
        texts = [text.decode() for text in fields[6]]
        assert texts[0] == "" and len(set(texts)) == len(texts)

        def one(message, number):
            return message.get(number, [0])[0]

        def text(message, number):
            return texts[one(message, number)]

        mappings = {one(m, 1): m for m in map(_fields, fields.get(3, []))}
        functions = {one(m, 1): m for m in map(_fields, fields.get(5, []))}
        locations = {one(m, 1): m for m in map(_fields, fields.get(4, []))}
        for table in (mappings, functions, locations):
            assert 0 not in table

        def frame(number):
            [line] = map(_fields, locations[number][4])
            function = functions[one(line, 1)]
            mapping = mappings.get(one(locations[number], 2), {})
            return text(function, 2), text(function, 4), one(line, 2), text(mapping, 5)

        self.types = [(text(m, 1), text(m, 2)) for m in map(_fields, fields[1])]
        self.first_type = texts[one(fields, 14)]
        self.time_ns, self.duration_ns = one(fields, 9), one(fields, 10)
        self.comments = [texts[i] for packed in fields.get(13, []) for i in _packed(packed)]
        self.samples = []
        for message in map(_fields, fields.get(2, [])):
            values = _packed(message[2][0])
            assert len(values) == len(self.types)
            stack = [frame(number) for number in _packed(message[1][0])] if 1 in message else []
            [label] = map(_fields, message.get(3, [b""]))
            assert not label or text(label, 1) == "kind"
            self.samples.append((stack, dict(zip((name for name, _ in self.types), values)), text(label, 2)))

    def total(self, name):
        return sum(values[name] for _, values, _ in self.samples)
