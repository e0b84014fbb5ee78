# SPDX-License-Identifier: LGPL-2.1-or-later
"""What programs of a build tree need around them."""

import os
from pathlib import Path


def environment(builddir):
    """As meson devenv."""
    env = dict(os.environ)
    env["GST_PLUGIN_PATH"] = str(Path(builddir).resolve() / "gst")
    env["GST_REGISTRY"] = str(Path(builddir).resolve() / "registry-ground.bin")
    env.setdefault("GST_DEBUG", "1")
    env["GST_DEBUG_NO_COLOR"] = "1"
    env["PYTHONDONTWRITEBYTECODE"] = "1"
    return env


def use_emulator(builddir):
    """That tree's, unless MCC_EMULATOR says which."""
    emulator = Path(builddir).resolve() / "tests" / "testbed" / "mcc-emulator"
    if emulator.exists():
        os.environ.setdefault("MCC_EMULATOR", str(emulator))
