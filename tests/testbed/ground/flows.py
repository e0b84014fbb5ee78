# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a multicast flow can be: --flow's names and their classes."""

from . import rivals, streams

FLOWS = {
    "asmp": rivals.Asmp,
    "published": rivals.Published,
    "assp": streams.Assp,
    "elm": streams.Elm,
    "norm": rivals.Norm,
    "uftp": rivals.Uftp,
    "rtp": rivals.Rtp,
}


def obstacle(data, flow):
    """Why @flow cannot run a scenario, or None."""
    name = flow.partition("=")[0]
    kind = getattr(FLOWS[name], "kind", None)
    for entry in data["flows"]:
        if entry["type"] != "multicast":
            continue
        has = [each for each in ("streams", "layers") if entry[each]]
        if len(has) == 1 and kind != has[0]:
            whose = {"streams": "assp", "layers": "elm"}[has[0]]
            return f"'{entry['id']}' has {has[0]}, which are for {whose}"
    return FLOWS[name].cannot(data)
