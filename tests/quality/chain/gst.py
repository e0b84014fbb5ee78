# SPDX-License-Identifier: LGPL-2.1-or-later
"""GStreamer at work: encoder and payloader frame by frame; depayloader and decoder in a row."""

import gi

from . import Wrong

gi.require_version("Gst", "1.0")
from gi.repository import Gst  # noqa: E402

CLOCK_RATE = 90_000
PAYLOAD_TYPE = 96
WAIT = 20 * 1_000_000_000  # ns; who waits longer waits for ever
# What asmpsink and asspsimulcastbin set (gst/common/gstmccencodertable.c), one of `threads`: the
# same bits on any machine.
X264 = "x264enc name=encoder tune=zerolatency speed-preset=superfast pass=qual vbv-buf-capacity=200"
# docs/elmlayersink.md's for three layers, but preset, pass and quality as above: rates compare.
X264_LAYERS = (
    "x264enc name=encoder speed-preset=superfast pass=qual bframes=3 b-pyramid=true b-adapt=false "
    "rc-lookahead=0 sync-lookahead=0 mb-tree=false vbv-buf-capacity=400 "
    "option-string=scenecut=0 ! capsfilter caps=video/x-h264,profile=(string)main"
)
LAYERS = 3
LAYERS_HELD = 3  # pictures that it takes before the first comes out, as many as B in a row
CAPS = (
    "application/x-rtp,media=(string)video,clock-rate=(int)90000,"
    f"encoding-name=(string)H264,payload=(int){PAYLOAD_TYPE}"
)


def init():
    if not Gst.is_initialized():
        Gst.init(None)


def launch(text):
    init()
    try:
        return Gst.parse_launch(text)
    except Exception as error:
        raise Wrong(f"GStreamer: {error}; pipelines/setup --with test installs it") from None


class Pipeline:
    """Buffers in by `in` (an appsrc), out by `out` (an appsink)."""

    def __init__(self, text):
        self.pipeline = launch(text)
        self.source = self.pipeline.get_by_name("in")
        self.sink = self.pipeline.get_by_name("out")
        if self.pipeline.set_state(Gst.State.PLAYING) == Gst.StateChangeReturn.FAILURE:
            self.fail("does not start")

    def fail(self, what):
        message = self.pipeline.get_bus().pop_filtered(Gst.MessageType.ERROR)
        text = message.parse_error()[0].message if message else ""
        self.stop()
        raise Wrong(f"GStreamer {what} {text}".strip())

    def push(self, data, pts, duration=None):
        buffer = Gst.Buffer.new_wrapped(data)
        buffer.pts = pts
        if duration is not None:
            buffer.duration = duration
        if self.source.emit("push-buffer", buffer) != Gst.FlowReturn.OK:
            self.fail("takes nothing more:")

    def end(self):
        self.source.emit("end-of-stream")

    def pull(self):
        """(data, pts), or None at the end."""
        sample = self.sink.emit("try-pull-sample", WAIT)
        if sample is None:
            if not self.sink.get_property("eos"):
                self.fail("gives nothing more:")
            return None
        buffer = sample.get_buffer()
        return buffer.extract_dup(0, buffer.get_size()), buffer.pts

    def stop(self):
        if self.pipeline:
            self.pipeline.set_state(Gst.State.NULL)
            self.pipeline = None

    def __enter__(self):
        return self

    def __exit__(self, *reason):
        self.stop()


class Encoder(Pipeline):
    """Every @step-th raw frame of @source in, each one's RTP packets out."""

    def __init__(self, source, width, height, step, mtu, encoder=X264, threads=1):
        raw = f"video/x-raw,format=I420,framerate={source.fps}/{step}"
        scale = ""
        if (width, height) != (source.width, source.height):
            scale = f"videoscale ! {raw},width={width},height={height} ! "
        encoder = encoder.replace("name=encoder", f"name=encoder threads={threads}", 1)
        super().__init__(
            f"identity name=in ! {scale}{encoder} "
            "! video/x-h264,stream-format=byte-stream,alignment=au "
            f"! rtph264pay mtu={mtu} config-interval=-1 pt={PAYLOAD_TYPE} seqnum-offset=0 "
            "timestamp-offset=0 ! appsink name=out sync=false wait-on-eos=false"
        )
        self.encoder = self.pipeline.get_by_name("encoder")
        self.begin(f"{raw},width={source.width},height={source.height}")
        self.step = Gst.SECOND // source.fps
        self.duration = step * self.step

    def begin(self, caps):
        """Pictures go in by this thread: bitrates and key units are of the picture that is next,
        and bits the same in each run, also of an encoder that holds pictures back."""
        self.pad = Gst.Pad.new("src", Gst.PadDirection.SRC)
        self.pad.set_active(True)
        self.pad.link(self.source.get_static_pad("sink"))
        segment = Gst.Segment()
        segment.init(Gst.Format.TIME)
        self.pad.push_event(Gst.Event.new_stream_start("pictures"))
        self.pad.push_event(Gst.Event.new_caps(Gst.Caps.from_string(caps)))
        self.pad.push_event(Gst.Event.new_segment(segment))

    def push(self, data, pts, duration=None):
        buffer = Gst.Buffer.new_wrapped(data)
        buffer.pts, buffer.duration = pts, duration
        if self.pad.push(buffer) != Gst.FlowReturn.OK:
            self.fail("takes nothing more:")

    def end(self):
        self.pad.push_event(Gst.Event.new_eos())

    def set_bitrate(self, bps):
        """From the next frame on."""
        self.encoder.set_property("bitrate", max(1, round(bps / 1000)))

    def force_key_unit(self):
        """The next frame."""
        structure = Gst.Structure.new_from_string(
            "GstForceKeyUnit, all-headers=(boolean)true, count=(uint)0"
        )
        event = Gst.Event.new_custom(Gst.EventType.CUSTOM_UPSTREAM, structure)
        self.encoder.get_static_pad("src").send_event(event)

    def encode(self, data, number):
        """[packets] of the frame; the marker ends it."""
        self.push(data, number * self.step, self.duration)
        packets = []
        while not packets or not packets[-1][1] & 0x80:
            pulled = self.pull()
            if pulled is None:
                self.fail("ended early")
            packets.append(pulled[0])
        return packets


class LayeredEncoder(Encoder):
    """Temporal layers: pictures come out in decoding order, later than they went in."""

    def __init__(self, source, mtu):
        super().__init__(source, source.width, source.height, 1, mtu, X264_LAYERS)
        self.went = 0
        self.first = None

    def unit(self):
        """(number of the frame, [packets]) of the next picture, or None."""
        packets = []
        while not packets or not packets[-1][1] & 0x80:
            pulled = self.pull()
            if pulled is None:
                return None
            if self.first is None:
                self.first = pulled[1]
            packets.append(pulled[0])
        return round((pulled[1] - self.first) / self.step), packets

    def encode(self, data, number):
        """The pictures that come out: [] or one."""
        self.push(data, number * self.step, self.duration)
        self.went += 1
        return [self.unit()] if self.went > LAYERS_HELD else []

    def rest(self):
        self.end()
        while unit := self.unit():
            yield unit


class Decoder(Pipeline):
    """RTP packets in (all of them, then end()), pictures at the source's size out.

    What a receiver has: a depayloader that drops torn units, a parser, FFmpeg's decoder, which
    conceals what is missing and shows what it has.
    """

    def __init__(self, source, fps):
        super().__init__(
            f"appsrc name=in format=time max-bytes=0 caps={CAPS} ! rtph264depay "
            "! h264parse ! avdec_h264 max-threads=1 max-errors=-1 qos=false "
            "! videoscale method=lanczos "
            f"! video/x-raw,format=I420,width={source.width},height={source.height} "
            "! appsink name=out sync=false max-buffers=8"
        )
        self.step = Gst.SECOND // fps

    def pictures(self):
        """(number of the frame, I420) of each that comes."""
        while pulled := self.pull():
            data, pts = pulled
            yield round(pts / self.step), data


def payload_at(packet):
    """Where the payload of an RTP packet begins (RFC 3550 5.1)."""
    at = 12 + 4 * (packet[0] & 15)
    if packet[0] & 16:
        at += 4 + 4 * int.from_bytes(packet[at + 2 : at + 4], "big")
    return at


def is_key_unit(packet):
    """Whether an IDR slice begins in this RTP packet of H.264 (RFC 6184)."""
    at = payload_at(packet)
    kind = packet[at] & 31
    if kind == 28:  # FU-A
        return bool(packet[at + 1] & 0x80) and packet[at + 1] & 31 == 5
    at += 1
    while kind == 24 and at + 2 < len(packet):  # STAP-A
        if packet[at + 2] & 31 == 5:
            return True
        at += 2 + int.from_bytes(packet[at : at + 2], "big")
    return kind == 5
