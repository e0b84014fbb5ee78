# SPDX-License-Identifier: LGPL-2.1-or-later
"""The whole chain for one trace: encode, lose, decode, conceal, compare, sum up."""

import zlib
from typing import NamedTuple

from . import compare, content, deliver, layers, score
from .trace import ARRIVED, LATE, LOST


class Setting(NamedTuple):
    kind: str  # content
    size: str
    cache: str
    library: object
    sizes: tuple = ()  # StreamSize of each stream; those left out: as the core chooses
    begin: float = 0.0
    end: float = None
    rtt: float = 0.1
    late_lost: bool = True  # or a player that waits as long as it takes
    ffmpeg: str = "ffmpeg"
    vmaf: bool = False
    frames: int = None  # of the content: shorter, for tests
    apart: bool = True  # what the encoder costs by itself, too
    threads: int = 1  # of an encoder, each a slice; layers: always one


def checksums(pictures, delivery, source):
    return [zlib.crc32(picture) for picture, _ in deliver.show(pictures, delivery.frames, source)]


def measure_pictures(pictures, delivery, path, source, setting, keep=None):
    """(metrics, checksums, which were new) of what a viewer sees."""
    comparison = compare.Comparison(path, source, setting.ffmpeg, setting.vmaf)
    sums, new = [], []
    for picture, is_new in deliver.show(pictures, delivery.frames, source):
        comparison.add(picture)
        sums.append(zlib.crc32(picture))
        new.append(is_new)
        if keep:
            keep.write(picture)
    return comparison.end(), sums, new


def evaluate(trace, setting, keep=None):
    """Results as a dict; @keep: a file that takes the pictures as they are shown."""
    source = content.SIZES[setting.size]
    if setting.frames:
        source = source._replace(frames=setting.frames)
    path = content.make(setting.kind, source, setting.cache)
    sizes = list(setting.sizes[: len(trace.streams)])
    for stream in trace.streams[len(sizes) :]:
        sizes.append(deliver.StreamSize(*setting.library.picture_of(source, stream)))
    if trace.layered:
        sizes = [deliver.StreamSize(source.width, source.height)] * len(trace.streams)
    kind = layers.LayeredRun if trace.layered else deliver.Run
    run = kind(
        trace,
        deliver.video_of(path, source),
        source,
        sizes,
        setting.library,
        setting.begin,
        setting.end,
        setting.rtt,
        setting.late_lost,
        setting.threads,
    )
    delivery = run.deliver()
    packets = delivery.packets
    seen = deliver.decode(delivery.seen, source)
    metrics, sums, new = measure_pictures(seen, delivery, path, source, setting, keep)
    if any(packet.lost for packet in packets):
        clean = deliver.decode(delivery.clean, source, losses=False)
        if setting.apart:
            ideal, clean_sums, _ = measure_pictures(clean, delivery, path, source, setting)
        else:
            ideal, clean_sums = None, checksums(clean, delivery, source)
    else:
        ideal, clean_sums = metrics, sums
    out = figures(delivery, source, trace, metrics, ideal, new)
    damaged = [a != b for a, b in zip(sums, clean_sums, strict=True)]
    out["damaged"] = score.ratio(sum(damaged), len(damaged))
    out["longest_damage_s"] = score.longest(damaged) / source.fps
    out["content"], out["size"] = setting.kind, setting.size
    out["stream_sizes"] = [f"{s.width}x{s.height}/{s.step}" for s in sizes]
    out["frame_values"] = {
        name: [round(value, 4) for value in values] for name, values in metrics.items()
    }
    return out


def figures(delivery, source, trace, metrics, ideal, new):
    """What a run comes to; the definitions are README.md's."""
    packets = delivery.packets
    seconds = delivery.frames / source.fps
    hit = {packet.frame for packet in packets if packet.fate == LOST}
    missed = {packet.frame for packet in packets if packet.fate != ARRIVED}
    expected = set(delivery.expected)
    frozen = [frame in expected and not flag for frame, flag in enumerate(new)]
    end = delivery.begin + seconds
    sent, lost, late = trace.loss(delivery.begin, end)
    out = {
        "trace": trace.name,
        "receiver": trace.receiver,
        "begin_s": delivery.begin,
        "frames": delivery.frames,
        "fps": source.fps,
        "expected": len(expected),
        "switches": trace.switches(delivery.begin, end),
        "keys_on_request": delivery.keys,
        "run_packets": sent,
        "run_loss": score.ratio(lost, sent),
        "run_late": score.ratio(late, sent),
        "packets": len(packets),
        "loss": score.ratio(sum(1 for p in packets if p.fate == LOST), len(packets)),
        "late": score.ratio(sum(1 for p in packets if p.fate == LATE), len(packets)),
        "rate_bps": 8 * sum(packet.wire_bytes() for packet in packets) / seconds,
        "target_bps": target(trace, delivery.begin, end),
        "frame_loss": score.ratio(len(hit), len(expected)),
        "frame_loss_late": score.ratio(len(missed), len(expected)),
        "pictures_per_s": sum(new) / seconds,
        "psnr_new": mean([value for value, flag in zip(metrics["psnr"], new, strict=True) if flag]),
        "frozen": score.ratio(sum(frozen), len(expected)),
        "longest_freeze_s": freeze(expected, new, delivery.frames) / source.fps,
        "mos": score.mos(score.summary(metrics["psnr"])["mean"]),
        "mos_frames": sum(map(score.mos, metrics["psnr"])) / len(metrics["psnr"]),
    }
    for name, values in metrics.items():
        out[name] = score.summary(values)
        if ideal:
            out[name + "_lossless"] = score.summary(ideal[name])
    if ideal:
        out["mos_lossless"] = score.mos(out["psnr_lossless"]["mean"])
    return out


def mean(values):
    return sum(values) / len(values) if values else None


def freeze(expected, new, frames):
    """Frames of the longest time without a new picture although one was due."""
    most = 0
    since = None
    for frame in range(frames):
        if new[frame]:
            since = None
        elif frame in expected and since is None:
            since = frame
        if since is not None:
            most = max(most, frame - since + 1)
    return most


def target(trace, begin, end, every=0.1):
    """Mean target of what is shown."""
    count = max(1, int((end - begin) / every))
    times = [begin + (n + 0.5) * every for n in range(count)]
    return sum(map(trace.rate, times)) / count
