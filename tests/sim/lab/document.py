# SPDX-License-Identifier: LGPL-2.1-or-later
"""A YAML file as nodes that know their lines, and the errors found in it."""

import difflib

import yaml

MAX_NODES = 50_000  # aliases may multiply a small file without end
FAST_DEPTH = 3000  # libyaml runs out of its stack at some 30 000


class Errors(Exception):
    """Everything that is wrong with a file, in the order of its lines."""

    def __init__(self, path):
        super().__init__(path)
        self.path = path
        self.found = []

    def add(self, line, what):
        if (line, what) not in self.found:
            self.found.append((line, what))

    def __str__(self):
        return "\n".join(f"{self.path}:{line}: {what}" for line, what in sorted(self.found))


class Scalar:
    kind = "a value"

    def __init__(self, line, text, null):
        self.line, self.text, self.null = line, text, null


class Sequence:
    kind = "a list"

    def __init__(self, line, items):
        self.line, self.items = line, items


class Mapping:
    kind = "a mapping"

    def __init__(self, line, items):
        self.line = line
        self.items = items  # key -> (line of the key, node)


def _convert(node, errors, above, count):
    line = node.start_mark.line + 1
    count[0] += 1
    if id(node) in above or count[0] > MAX_NODES:
        errors.add(line, "an alias contains itself or grows without end; write the values out")
        raise errors
    if isinstance(node, yaml.ScalarNode):
        return Scalar(line, node.value, node.tag == "tag:yaml.org,2002:null")
    above = above | {id(node)}
    if isinstance(node, yaml.SequenceNode):
        return Sequence(line, [_convert(item, errors, above, count) for item in node.value])
    items = {}
    for key, value in node.value:
        key_line = key.start_mark.line + 1
        if not isinstance(key, yaml.ScalarNode):
            errors.add(key_line, "a key must be a word")
            continue
        if key.value in items:
            first = items[key.value][0]
            errors.add(key_line, f"'{key.value}' stands here twice (first in line {first})")
            continue
        items[key.value] = (key_line, _convert(value, errors, above, count))
    return Mapping(line, items)


def _depth(text):
    """At most so deep is it nested: a level of a block takes a column, one of a flow a bracket."""
    longest = max(map(len, text.splitlines()), default=0)
    return longest + text.count("[") + text.count("{")


def _compose(text):
    """By libyaml, which is ten times as fast, but no deeper than the stack bears; what is wrong the
    other one says better."""
    if hasattr(yaml, "CSafeLoader") and _depth(text) <= FAST_DEPTH:
        try:
            return yaml.compose(text, Loader=yaml.CSafeLoader)
        except (ValueError, yaml.YAMLError):
            pass
    return yaml.compose(text, Loader=yaml.SafeLoader)


def read(path, errors):
    """The root node; raises @errors when the file is no YAML at all."""
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError as error:
        errors.add(1, f"cannot be read: {error.strerror}")
        raise errors from None
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        errors.add(line, "is not UTF-8")
        raise errors from None
    try:
        root = _compose(text)
        if root is None:
            errors.add(1, "is empty; a scenario is a mapping that begins with 'id:'")
            raise errors
        return _convert(root, errors, frozenset(), [0])
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f" ({error.context})" if error.context else ""
        errors.add(mark.line + 1 if mark else 1, f"is not YAML: {error.problem}{where}")
    except yaml.reader.ReaderError as error:
        line = text[: error.position].count("\n") + 1
        errors.add(line, f"is not YAML: the character {error.character!r} is not allowed")
    except RecursionError:
        errors.add(1, "is nested too deeply")
    except (OverflowError, ValueError) as error:  # PyYAML lets chr() of an escape through
        errors.add(1, f"is not YAML: {error}")
    raise errors


class NoPlace(Exception):
    """A setting that the file has no place for; says why."""


def _id_of(item):
    node = item.items.get("id", (0, None))[1] if isinstance(item, Mapping) else None
    return node.text if isinstance(node, Scalar) else None


def put(node, path, text, errors, above=""):
    """Sets what stands at @path to @text, as YAML: keys of mappings and ids of list items between
    slashes, * for all of them. Raises NoPlace, or @errors when the text is no YAML."""
    key, _, rest = path.partition("/")
    where = f"{above}/{key}".lstrip("/")
    if isinstance(node, Sequence):
        ids = [_id_of(item) for item in node.items]
        chosen = [item for item, name in zip(node.items, ids, strict=True) if key in ("*", name)]
        if not chosen:
            known = ["*", *(name for name in ids if name)]
            raise NoPlace(f"there is no '{where}'; {choose(key, known)}")
        if not rest:
            raise NoPlace(f"'{where}' is an item of a list: a key of it is needed, as {where}/id")
        for item in chosen:
            put(item, rest, text, errors, where)
    elif not isinstance(node, Mapping) or (rest and key not in node.items):
        known = list(node.items) if isinstance(node, Mapping) else []
        raise NoPlace(f"there is no '{where}'; {choose(key, known)}")
    elif rest:
        put(node.items[key][1], rest, text, errors, where)
    else:
        line = node.items.get(key, (node.line, None))[0]
        try:
            value = _compose("\n" * (line - 1) + text)
        except (yaml.YAMLError, OverflowError, ValueError, RecursionError):
            value = None
        if value is None:
            raise NoPlace(f"'{text}' is no value for '{where}'")
        node.items[key] = (line, _convert(value, errors, frozenset(), [0]))


def listed(words):
    return ", ".join(str(word) for word in words)


def choose(word, allowed):
    """What to say after "'x' is unknown": the nearest, and what there is."""
    allowed = [str(name) for name in (sorted(allowed) if isinstance(allowed, set) else allowed)]
    if not allowed:
        return "there is none"
    near = difflib.get_close_matches(str(word), allowed, 1, 0.6)
    hint = f"did you mean '{near[0]}'? " if near else ""
    return f"{hint}allowed: {listed(allowed)}"
