# SPDX-License-Identifier: LGPL-2.1-or-later
"""The laboratory's front end: scenario files, runs, measures, bands, the report."""
