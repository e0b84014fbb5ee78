# SPDX-License-Identifier: LGPL-2.1-or-later
"""Evaluations that were done before are kept, by everything that goes into them."""

import ast
import hashlib
import json
from pathlib import Path

from . import evaluate, sample, trace

HERE = Path(__file__).resolve().parent
# What decides about a result.
PARTS = "content trace core gst deliver layers compare score evaluate sample".split()
LAWS = ("law.c", "layerlaw.c")


def code():
    """Comments and layout do not count."""
    digest = hashlib.sha256()
    for name in LAWS:
        digest.update((HERE.parent / name).read_bytes())
    for name in PARTS:
        digest.update(ast.dump(ast.parse((HERE / f"{name}.py").read_text())).encode())
    return digest.hexdigest()


class Results:
    def __init__(self, directory):
        self.directory = Path(directory)
        self.directory.mkdir(parents=True, exist_ok=True)
        self.code = code()

    def of(self, one, data, setting, strip=None):
        """@data: the trace's bytes."""
        given = setting._replace(library=None, cache=None)
        text = repr((self.code, given, str(strip), one.name)).encode()
        key = hashlib.sha256(text + data).hexdigest()[:24]
        path = self.directory / f"{key}.json"
        if path.exists() and (not strip or Path(strip).exists()):
            return json.loads(path.read_text())
        if strip:
            result = sample.evaluate_with_strip(one, setting, strip)
        else:
            result = evaluate.evaluate(one, setting)
        path.write_text(json.dumps(result))
        return result

    def file(self, path, setting, strip=None):
        return self.of(trace.load(path), Path(path).read_bytes(), setting, strip)

    def reference(self, streams, stream, bps, seconds, setting):
        """Loss-free, at one rate."""
        one = trace.constant(streams, stream, bps, seconds, name=f"reference-{bps:.0f}")
        data = repr((streams, stream, bps, seconds)).encode()
        return self.of(one, data, setting._replace(begin=0.0, end=None))
