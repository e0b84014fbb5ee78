# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a value may be. read() returns SI values, or BAD after saying what is wrong."""

import re

from . import units
from .document import Mapping, Scalar, Sequence, choose

NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
BAD = object()
REQUIRED = object()


class Record(dict):
    """A mapping's values, and the lines they came from."""

    def __init__(self, line):
        super().__init__()
        self.line = line
        self.lines = {}

    def at(self, key):
        return self.lines.get(key, self.line)


class Items(list):
    """A list's values, and their lines."""

    def __init__(self, line):
        super().__init__()
        self.line = line
        self.lines = []
        self.holes = False  # an entry was bad and is not here

    def add(self, value, line):
        self.append(value)
        self.lines.append(line)


class Type:
    """One value; subclasses give allowed and parse()."""

    allowed = ""

    def read(self, node, errors):
        if not isinstance(node, Scalar):
            errors.add(node.line, f"{node.kind} stands here; {self.allowed} is allowed")
            return BAD
        if node.null or (not node.text.strip()):
            errors.add(node.line, f"a value is missing; {self.allowed} is allowed")
            return BAD
        try:
            return self.parse(node.text)
        except units.UnitError as error:
            errors.add(node.line, str(error))
            return BAD

    def parse(self, text):
        raise NotImplementedError


class Quantity(Type):
    """A number with a unit, lo <= value <= hi; @above: more than lo."""

    def __init__(self, dimension, lo=0.0, hi=None, above=False):
        self.dimension, self.lo, self.hi, self.above = dimension, lo, hi, above
        self.allowed = units.EXAMPLES[dimension]

    def parse(self, text):
        value = units.parse(text, self.dimension)
        low = value <= self.lo if self.above else value < self.lo
        if low or (self.hi is not None and value > self.hi):
            raise units.UnitError(f"'{text}' is out of range; {self.bounds()} is allowed")
        return units.plain(value) if self.dimension in ("rate", "size") else value

    def bounds(self):
        low = f"{'more than' if self.above else 'at least'} {self.show(self.lo)}"
        return low if self.hi is None else f"{low}, at most {self.show(self.hi)}"

    def show(self, value):
        return units.given(value, self.dimension)


class Probability(Quantity):
    """'1 %' or a fraction."""

    def __init__(self):
        super().__init__("ratio", 0, 1)
        self.allowed = "a probability such as '1 %' or '0.01'"

    def parse(self, text):
        if units.NUMBER.fullmatch(text.strip()) and not text.strip().endswith("%"):
            value = units.parse(text, "number")
            if not 0 <= value <= 1:
                raise units.UnitError(f"'{text}' is out of range; {self.allowed} is allowed")
            return value
        return super().parse(text)


class Spread(Quantity):
    """A quantity, or the two bounds of a uniform one."""

    def read(self, node, errors):
        if not isinstance(node, Sequence):
            return super().read(node, errors)
        if len(node.items) != 2:
            errors.add(node.line, f"a spread has two bounds, not {len(node.items)}")
            return BAD
        pair = [super(Spread, self).read(item, errors) for item in node.items]
        if BAD in pair:
            return BAD
        if pair[0] > pair[1]:
            errors.add(node.line, "the lower bound comes first")
            return BAD
        return pair


class Whole(Type):
    def __init__(self, lo, hi):
        self.lo, self.hi = lo, hi
        self.allowed = f"a whole number from {lo} to {hi}"

    def parse(self, text):
        if not re.fullmatch(r"[+-]?[0-9]{1,15}", text) or not self.lo <= int(text) <= self.hi:
            raise units.UnitError(f"'{text}' is not {self.allowed}")
        return int(text)


class Word(Type):
    def __init__(self, *words):
        self.words = words
        self.allowed = " or ".join(f"'{word}'" for word in words)

    def parse(self, text):
        if text not in self.words:
            raise units.UnitError(f"'{text}' is unknown; {choose(text, self.words)}")
        return text


class Or(Type):
    """A word, or else another type."""

    def __init__(self, word, other):
        self.word, self.other = word, other
        self.allowed = f"'{word}' or {other.allowed}"

    def parse(self, text):
        return text if text == self.word else self.other.parse(text)


class Flag(Type):
    allowed = "true or false"

    def parse(self, text):
        if text not in ("true", "false"):
            raise units.UnitError(f"'{text}' is not a flag; true or false is allowed")
        return text == "true"


class Name(Type):
    """An id, or a reference to one."""

    allowed = "a name (letters, digits, '-', '_'; a letter first)"

    def parse(self, text):
        if not NAME.fullmatch(text) or len(text) > 64:
            raise units.UnitError(f"'{text}' is not {self.allowed}")
        return text


class Member(Name):
    """A flow or group, or FLOW/RECEIVER of a multicast flow."""

    allowed = "a flow, or FLOW/RECEIVER"

    def parse(self, text):
        parts = text.split("/")
        if len(parts) > 2 or not all(NAME.fullmatch(part) for part in parts):
            raise units.UnitError(f"'{text}' is not {self.allowed}")
        return text


class Text(Type):
    allowed = "a text"

    def parse(self, text):
        return " ".join(text.split())


class List(Type):
    def __init__(self, item, least=0):
        self.item, self.least = item, least
        self.allowed = f"a list of {item.allowed}"

    def read(self, node, errors):
        if not isinstance(node, Sequence):
            errors.add(node.line, f"{node.kind} stands here; a list is allowed")
            return BAD
        if len(node.items) < self.least:
            errors.add(node.line, f"the list needs at least {self.least} entry")
            return BAD
        out = Items(node.line)
        for item in node.items:
            value = self.item.read(item, errors)
            if value is BAD:
                out.holes = True
            else:
                out.add(value, item.line)
        return out


class Pair(Type):
    """Exactly two values, the second larger, or at least as large."""

    def __init__(self, item, same=False):
        self.item, self.same = item, same
        self.allowed = f"a pair of {item.allowed}"

    def read(self, node, errors):
        if not isinstance(node, Sequence) or len(node.items) != 2:
            errors.add(node.line, "a pair is allowed here: [first, second]")
            return BAD
        pair = [self.item.read(item, errors) for item in node.items]
        if BAD in pair:
            return BAD
        if pair[0] > pair[1] or (pair[0] == pair[1] and not self.same):
            errors.add(node.line, "the second value must be larger than the first")
            return BAD
        return pair


class Table(Type):
    """A mapping whose keys are names: of variants, say."""

    def __init__(self, value):
        self.value = value
        self.allowed = "a mapping"

    def read(self, node, errors):
        if not isinstance(node, Mapping):
            errors.add(node.line, f"{node.kind} stands here; a mapping is allowed")
            return BAD
        out = Record(node.line)
        for key, (line, item) in node.items.items():
            value = self.value.read(item, errors)
            if value is not BAD:
                out[key] = value
                out.lines[key] = line
        return out


class Section(Type):
    """A mapping of known keys: name -> (type, default or REQUIRED); None: left out."""

    def __init__(self, what, fields):
        self.what, self.fields = what, fields
        self.allowed = f"{what}: a mapping"

    def read(self, node, errors):
        if not isinstance(node, Mapping):
            words = ", ".join(self.fields)
            errors.add(node.line, f"{node.kind} stands here; {self.what} is a mapping of {words}")
            return BAD
        out = Record(node.line)
        for key, (line, item) in node.items.items():
            if key not in self.fields:
                errors.add(line, f"'{key}' is unknown in {self.what}; {choose(key, self.fields)}")
                continue
            out.lines[key] = line
            value = self.fields[key][0].read(item, errors)
            if value is not BAD:
                out[key] = value
        for key, (kind, default) in self.fields.items():
            if key in node.items:
                continue
            if default is REQUIRED:
                errors.add(node.line, f"{self.what} lacks '{key}'; {kind.allowed} is needed")
            elif default is not None:
                out[key] = default() if callable(default) else default
        return out


class Tagged(Type):
    """A section whose other keys depend on the word under @key."""

    def __init__(self, what, key, sections):
        self.what, self.key, self.sections = what, key, sections
        self.allowed = f"{what}: a mapping with '{key}'"

    def read(self, node, errors):
        if not isinstance(node, Mapping):
            errors.add(node.line, f"{node.kind} stands here; {self.allowed} is allowed")
            return BAD
        if self.key not in node.items:
            known = {name for section in self.sections.values() for name in section.fields}
            for key, (line, _) in node.items.items():
                if key not in known:
                    errors.add(line, f"'{key}' is unknown in {self.what}; {choose(key, known)}")
            words = ", ".join(self.sections)
            errors.add(node.line, f"{self.what} lacks '{self.key}'; allowed: {words}")
            return BAD
        word = Word(*self.sections).read(node.items[self.key][1], errors)
        return BAD if word is BAD else self.sections[word].read(node, errors)
