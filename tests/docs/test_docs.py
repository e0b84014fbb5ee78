#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the documents promise each other: links lead somewhere, pictures exist, and README's figures
are those of the pages that its rows and paragraphs name, as they are printed there. Its scripts say
what is wrong with their arguments."""

import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE.parent / "sim" / "tests")]

import tap  # noqa: E402

LINK = re.compile(r"\[[^\]\[]*\]\(([^)\s]+)\)")
CODE = re.compile(r"^(```.*?^```|(?: {4}|\t).*?$)|`[^`\n]*`", re.MULTILINE | re.DOTALL)
# '109 ±5.5', '120 (115-127)', '0.705': a figure with what stands beside it.
FIGURE = re.compile(r"\d+(?:\.\d+)?(?: ±\d+(?:\.\d+)?| \(\d[\d.]*-\d[\d.]*\))?")
TABLE = "## How good is it?"


def documents():
    skip = {"_build", "build", ".git", "subprojects"}
    return [
        path
        for path in sorted(ROOT.rglob("*.md"))
        if not skip.intersection(path.relative_to(ROOT).parts)
    ]


def anchors(path):
    """GitHub's: lower case, words and hyphens, blanks as hyphens, repeated ones numbered."""
    out, seen = set(), {}
    text = re.sub(r"^```.*?^```", "", path.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    for title in re.findall(r"^#{1,6} +(.+?) *#*$", text, flags=re.MULTILINE):
        title = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title)
        name = re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
        count = seen.get(name, 0)
        seen[name] = count + 1
        out.add(f"{name}-{count}" if count else name)
    return out


def broken(path):
    """Links of @path that lead nowhere."""
    out = []
    for target in LINK.findall(CODE.sub("", path.read_text("utf-8"))):
        if re.match(r"[a-z][a-z0-9+.-]*:", target):
            continue
        file, _, anchor = target.partition("#")
        there = (path.parent / file).resolve() if file else path
        if not there.exists():
            out.append(f"{target}: no such file")
        elif anchor and there.suffix == ".md" and anchor not in anchors(there):
            out.append(f"{target}: no such heading")
    return out


def rows():
    """Of README's table: (cells, the page that the row names)."""
    text = (ROOT / "README.md").read_text("utf-8")
    part = text[text.index(TABLE) :].split("\n## ")[0] if TABLE in text else ""
    lines = [line for line in part.splitlines() if line.startswith("|")][2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def figures(cells):
    """Those of all cells but the first, which says in words what was measured, and the last."""
    return [text for cell in cells[1:-1] for text in FIGURE.findall(LINK.sub("", cell))]


def paragraphs():
    """README's, list items one by one, without tables."""
    text = CODE.sub("", (ROOT / "README.md").read_text("utf-8"))
    return [part for part in re.split(r"\n\n|\n(?=- )", text) if not part.startswith("|")]


def printed_on(pages):
    """The figures of pages that README links to."""
    names = [page.split("#")[0] for page in pages if page.split("#")[0].endswith(".md")]
    return set(FIGURE.findall("\n".join((ROOT / name).read_text("utf-8") for name in names)))


def test_links():
    bad = {str(path.relative_to(ROOT)): broken(path) for path in documents()}
    bad = {path: links for path, links in bad.items() if links}
    assert not bad, bad


def test_figures():
    table = rows()
    assert len(table) >= 8, f"README's table '{TABLE}' has {len(table)} rows"
    for cells in table:
        pages = LINK.findall(cells[-1])
        assert pages, f"{cells[0]}: names no page"
        missing = [figure for figure in figures(cells) if figure not in printed_on(pages)]
        assert figures(cells) and not missing, f"{cells[0]}: {missing} not in {pages}"


def test_figures_of_paragraphs():
    found = 0
    for part in paragraphs():
        told = [each for each in FIGURE.findall(LINK.sub("", part)) if not is_plain(each)]
        missing = [each for each in told if each not in printed_on(LINK.findall(part))]
        assert not missing, f"{missing} not on the pages of: {part}"
        found += len(told)
    assert found >= 8, found


def is_plain(figure):
    """Without an interval: a number of something else, most likely."""
    return re.fullmatch(r"[0-9.]+", figure)


def test_scripts_want_their_values():
    scripts = [*sorted((ROOT / "pipelines").glob("*-*")), ROOT / "pipelines" / "setup"]
    assert len(scripts) >= 7, scripts
    for script in scripts:
        text = script.read_text("utf-8")
        options = set(re.findall(r"^ +(--[a-z-]+)\) .*\$2", text, flags=re.MULTILINE))
        assert options or script.name == "setup", script
        for option in sorted(options | {"--nonsense"}):
            done = subprocess.run([script, option], capture_output=True, text=True, timeout=20)
            told = f"{script.name}: " in done.stderr and option in done.stderr
            assert done.returncode == 2 and told, (script.name, option, done)


if __name__ == "__main__":
    sys.exit(tap.main(sys.modules[__name__]))
