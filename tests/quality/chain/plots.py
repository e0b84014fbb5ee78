# SPDX-License-Identifier: LGPL-2.1-or-later
"""PSNR over time."""

import logging

import numpy

logging.getLogger("matplotlib").setLevel(logging.ERROR)

import matplotlib  # noqa: E402

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

COLOURS = {"published": "#e0a030", "enhanced": "#c0392b", "reference": "#888888"}


def seconds(result):
    """(t, mean PSNR) of each second."""
    fps = result["fps"]
    values = numpy.asarray(result["frame_values"]["psnr"])
    whole = len(values) // fps * fps
    means = values[:whole].reshape(-1, fps).mean(axis=1)
    return result["begin_s"] + numpy.arange(len(means)) + 0.5, means


def draw(rows, path, title):
    """@rows: [(name, {variant: result}, reference or None)]."""
    figure, axes = plt.subplots(
        len(rows), 1, figsize=(7.2, 1.0 + 1.55 * len(rows)), sharex=True, squeeze=False
    )
    for (name, results, reference), axis in zip(rows, axes[:, 0], strict=True):
        for variant, result in results.items():
            axis.plot(*seconds(result), color=COLOURS.get(variant), lw=1.1, label=variant)
        if reference:
            level = reference["psnr"]["mean"]
            axis.axhline(level, color=COLOURS["reference"], lw=0.9, ls="--", label="reference")
        for bound in (20, 25, 31, 37):
            axis.axhline(bound, color="#dddddd", lw=0.6, zorder=0)
        axis.set_ylabel("PSNR, dB", fontsize=8)
        axis.set_title(name, fontsize=8, loc="left")
        axis.tick_params(labelsize=8)
        axis.set_ylim(8, 52)
    axes[0, 0].legend(fontsize=7, ncol=3, loc="lower right", frameon=False)
    axes[-1, 0].set_xlabel("time, s", fontsize=8)
    figure.suptitle(title, fontsize=9)
    figure.tight_layout()
    figure.savefig(path, dpi=90)
    plt.close(figure)
