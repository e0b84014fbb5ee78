# SPDX-License-Identifier: LGPL-2.1-or-later
"""The proving ground: the laboratory's scenarios with real programs across the emulator."""
