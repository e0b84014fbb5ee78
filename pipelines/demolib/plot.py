# SPDX-License-Identifier: LGPL-2.1-or-later
"""The picture of a run: rates against capacity, loss and frames of each receiver."""

import logging


def draw(record, receivers, path, title, capacity):
    """Writes a PNG. @capacity: [(time, bit/s)] steps; @receivers: names in order."""
    import matplotlib

    logging.getLogger("matplotlib").setLevel(logging.ERROR)  # no word on its cache's place
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    end = max([row["time"] for row in record.links] or [record.now()])
    figure, (rates, losses, frames) = plt.subplots(
        3, 1, figsize=(11, 8.5), sharex=True, gridspec_kw={"height_ratios": [3, 1, 1]}
    )
    steps = capacity + [(end, capacity[-1][1])]
    xs = [time for time, _ in steps]
    rates.step(xs, [bits / 1e6 for _, bits in steps], where="post", color="black", lw=2)
    rates.fill_between(
        xs, [bits / 1e6 for _, bits in steps], step="post", color="0.9", label="capacity"
    )
    sender = record.nodes["sender"].of("stats")
    rates.plot(
        [line["time"] for line in sender],
        [line["target-bitrate"] / 1e6 for line in sender],
        color="tab:red",
        lw=1.2,
        label="target",
    )
    sent = record.offered_series()
    rates.plot(
        [time for time, _ in sent],
        [bits / 1e6 for _, bits in sent],
        color="tab:blue",
        lw=2,
        label="sent (1-s mean)",
    )
    colors = ["tab:green", "tab:orange", "tab:purple", "tab:brown", "tab:pink"]
    for name, color in zip(receivers, colors, strict=False):
        lines = record.nodes[name].of("stats")
        times = [line["time"] for line in lines]
        rates.plot(
            times,
            [line["estimated-bitrate"] / 1e6 for line in lines],
            color=color,
            lw=1,
            ls=":",
            label=f"{name}: its rate",
        )
        loss = record.loss_series(name)
        losses.plot([t for t, _ in loss], [100 * p for _, p in loss], color=color, label=name)
        fps = record.nodes[name].frame_rates()
        frames.plot([t for t, _ in fps], [f for _, f in fps], color=color, label=name)
    top = max(bits for _, bits in capacity) / 1e6
    rates.set_ylim(0, 1.35 * top)
    for index, (time, text) in enumerate(record.events):
        for axis in (rates, losses, frames):
            axis.axvline(time, color="0.6", lw=0.8, ls="--")
        rates.text(time, (1.29 - 0.07 * (index % 3)) * top, " " + text, fontsize=8, va="center")
    rates.set_ylabel("Mb/s")
    rates.legend(loc="lower right", fontsize=8, ncols=2)
    rates.set_title(title)
    losses.set_ylabel("loss, %\n(1 s)")
    losses.set_ylim(bottom=0)
    frames.set_ylabel("decoded\nframes/s")
    frames.set_ylim(0, 40)
    frames.set_xlabel("seconds")
    frames.set_xlim(0, end)
    losses.legend(loc="upper right", fontsize=8, ncols=3)
    for axis in (rates, losses, frames):
        axis.grid(alpha=0.3)
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    plt.close(figure)
