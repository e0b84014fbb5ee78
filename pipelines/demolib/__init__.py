# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the demo, the end-to-end tests and the benchmarks share: nodes, records, picture, words."""
