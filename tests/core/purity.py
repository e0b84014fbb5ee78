#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The core must be pure: no clock, socket, thread, hidden randomness, GLib or mutable globals.

Reads what the core library takes from elsewhere (nm -u) and compares it with an allow-list.
usage: purity.py NM LIBRARY [--expect SYMBOL,...]   (--expect: exactly these must be found)
"""

import re
import subprocess
import sys

ALLOWED = set(
    # assertions
    "__assert __assert_fail __assert_rtn abort "
    # memory
    "malloc calloc realloc free memcpy memmove memset memcmp memchr "
    # strings, without locale
    "strlen strcmp strncmp strchr strrchr strnlen "
    # algorithms
    "qsort bsearch".split()
)
MATH = (
    "acos asin atan atan2 cbrt ceil copysign cos cosh erf erfc exp exp2 expm1 fabs fdim floor fma "
    "fmax fmin fmod frexp hypot isfinite isinf isnan ldexp lgamma llrint llround log log10 log1p "
    "log2 logb lrint lround modf nan nearbyint nextafter pow remainder rint round scalbn signbit "
    "sin sincos sinh sqrt tan tanh tgamma trunc"
).split()
for name in MATH:
    ALLOWED.update((name, name + "f", "__" + name, "__" + name + "_finite"))
# What compilers add by themselves: hardening, PIC, sanitizers, coverage.
ADDED = re.compile(
    r"_GLOBAL_OFFSET_TABLE_|__stack_chk_(fail|guard)|__(mem|str)\w+_chk|"
    r"__(asan|ubsan|tsan|msan|lsan|hwasan|sanitizer|sancov|gcov|llvm_profile|llvm_gcov)_\w+|"
    r"___asan_\w+|\w*__gcov\w*"
)


def read(nm, library):
    result = subprocess.run([nm, "-P", library], capture_output=True, text=True, check=True)
    defined, undefined, mutable = set(), set(), set()
    for line in result.stdout.splitlines():
        fields = line.split()
        if len(fields) < 2 or len(fields[1]) != 1:
            continue
        name, kind = fields[0], fields[1]
        if kind in "Uw":
            undefined.add(name)
        else:
            defined.add(name)
        if kind in "bBC":
            mutable.add(name)
    return defined, undefined - defined, mutable


def main():
    nm, library = sys.argv[1:3]
    expected = set(sys.argv[4].split(",")) if sys.argv[3:4] == ["--expect"] else set()
    defined, undefined, mutable = read(nm, library)
    if not any(name.startswith("mcc_") for name in defined):
        print(f"{library}: no mcc_ symbols to be read (link-time optimisation?)")
        return 77
    found = {s for s in undefined if s not in ALLOWED and not ADDED.fullmatch(s)}
    found |= {s for s in mutable if not ADDED.match(s) and not s.startswith("__")}
    for symbol in sorted(found - expected):
        print(
            f"{symbol}: the core must not use it"
            if symbol in undefined
            else f"{symbol}: the core must have no mutable globals"
        )
    for symbol in sorted(expected - found):
        print(f"{symbol}: has not been found")
    return 0 if found == expected else 1


if __name__ == "__main__":
    sys.exit(main())
