# SPDX-License-Identifier: LGPL-2.1-or-later
"""The picture-quality chain: see ../README.md."""


class Wrong(Exception):
    """What the user must know: one line."""
