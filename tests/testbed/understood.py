# SPDX-License-Identifier: LGPL-2.1-or-later
"""Our own elements understand each other: a drop by one of these reasons, in the stats of one whom
no stranger spoke to, is a defect of the project."""

REASONS = (
    "malformed",
    "unknown-name",
    "unknown-subtype",
    "unknown-version",
    "ssrc-mismatch",
    "bad-value",
)


def not_understood(stats):
    """Of an element's stats, as a node tells them, the reasons counted: {reason: count}."""
    counts = {reason: stats.get(f"dropped-{reason}", 0) for reason in REASONS}
    return {reason: count for reason, count in counts.items() if count}
