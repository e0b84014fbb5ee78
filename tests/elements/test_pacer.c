/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include <gst/check/gstharness.h>
#include <gst/check/gsttestclock.h>
#include <gst/video/video.h>

#include "gstmccabssendtime.h"
#include "gstmccpacer.h"
#include "mccjitter.h"

#define START (1000 * GST_SECOND + 123456789)
#define PACKET_BYTES 1172 /* 1200 on the wire */
#define CAPS "application/x-rtp,media=video,encoding-name=H264,clock-rate=90000,payload=96"
#define CAPS_ID3 CAPS ",extmap-3=(string)" GST_MCC_ABS_SEND_TIME_URI

typedef struct {
  GstHarness *harness;
  GstTestClock *clock;
  GstMccPacer *pacer;
  guint sent, lists, largest_list, eos, key_units, caps_id;
  guint64 bytes;
  guint32 highest;
  guint sent_at_eos, sent_at_event;
  guint32 shift; /* of the caps that come next */
} Fixture;

static void
on_sent (gpointer owner, guint packets, guint64 bytes, guint32 highest_seq)
{
  Fixture *f = owner;

  f->sent += packets;
  f->bytes += bytes;
  f->highest = highest_seq;
  f->lists++;
  f->largest_list = MAX (f->largest_list, packets);
}

static void
on_caps (gpointer owner, GstCaps *caps, guint8 id)
{
  Fixture *f = owner;

  f->caps_id = id;
  gst_mcc_pacer_set_time_shift (f->pacer, f->shift);
}

static void
on_eos (gpointer owner)
{
  Fixture *f = owner;

  f->eos++;
  f->sent_at_eos = f->sent;
}

static void
on_key_unit (gpointer owner)
{
  ((Fixture *)owner)->key_units++;
}

static guint
on_lane (gpointer owner, guint32 ssrc)
{
  return ssrc == 0xaaaaaaaa ? 0 : ssrc; /* packet() */
}

static void
setup (Fixture *f, const gchar *caps)
{
  static const GstMccPacerHandler handler = {
    .sent = on_sent, .caps = on_caps, .eos = on_eos, .key_unit = on_key_unit, .lane = on_lane
  };

  memset (f, 0, sizeof *f);
  f->clock = GST_TEST_CLOCK (gst_test_clock_new_with_start_time (START));
  gst_system_clock_set_default (GST_CLOCK (f->clock));
  f->pacer = GST_MCC_PACER (gst_mcc_pacer_new (&handler, f));
  gst_mcc_pacer_set_target (f->pacer, 1000000);
  f->harness = gst_harness_new_with_element (GST_ELEMENT (f->pacer), "sink", "src");
  gst_harness_set_src_caps_str (f->harness, caps);
}

static void
teardown (Fixture *f)
{
  gst_harness_teardown (f->harness);
  gst_object_unref (f->pacer);
  gst_system_clock_set_default (NULL);
  gst_object_unref (f->clock);
}

/* An RTP packet of PACKET_BYTES; @reserved: with an empty abs-send-time of id 3. */
static GstBuffer *
packet (guint16 seq, gboolean reserved)
{
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, PACKET_BYTES, NULL);
  GstMapInfo map;

  gst_buffer_map (buffer, &map, GST_MAP_WRITE);
  memset (map.data, 0xaa, map.size);
  map.data[0] = reserved ? 0x90 : 0x80;
  map.data[1] = 96;
  GST_WRITE_UINT16_BE (map.data + 2, seq);
  if (reserved) {
    GST_WRITE_UINT32_BE (map.data + 12, 0xbede0001);
    GST_WRITE_UINT32_BE (map.data + 16, 0x32000000);
  }
  gst_buffer_unmap (buffer, &map);
  return buffer;
}

static void
push_frame (Fixture *f, guint16 seq, guint packets, gboolean reserved)
{
  GstBufferList *list = gst_buffer_list_new_sized (packets);
  GstPad *src = f->harness->srcpad;

  for (guint i = 0; i < packets; i++)
    gst_buffer_list_add (list, packet ((guint16)(seq + i), reserved));
  g_assert_cmpint (gst_pad_push_list (src, list), ==, GST_FLOW_OK);
}

/* Lets the virtual time run until @packets came out; fails after 20 s of real time. */
static void
run_until (Fixture *f, guint packets)
{
  gint64 end = g_get_monotonic_time () + 20 * G_TIME_SPAN_SECOND;

  while (gst_harness_buffers_received (f->harness) < packets) {
    g_assert_cmpint (g_get_monotonic_time (), <, end);
    if (gst_test_clock_peek_id_count (f->clock) > 0)
      gst_test_clock_crank (f->clock);
    else
      g_usleep (200);
  }
}

static guint16
seq_of (GstBuffer *buffer)
{
  GstMccRtpInfo info;

  g_assert_true (gst_mcc_rtp_info (buffer, &info));
  return info.seq;
}

/* The packets from @seq on, in the lane. */
static void
push_lane (Fixture *f, guint32 lane, guint16 seq, guint packets)
{
  GstBufferList *list = gst_buffer_list_new_sized (packets);

  for (guint i = 0; i < packets; i++) {
    GstBuffer *buffer = packet ((guint16)(seq + i), TRUE);
    GstMapInfo map;

    gst_buffer_map (buffer, &map, GST_MAP_WRITE);
    GST_WRITE_UINT32_BE (map.data + 8, lane);
    gst_buffer_unmap (buffer, &map);
    gst_buffer_list_add (list, buffer);
  }
  g_assert_cmpint (gst_pad_push_list (f->harness->srcpad, list), ==, GST_FLOW_OK);
}

/* The numbers of what has come out, as they came. */
static GArray *
pull_seqs (Fixture *f)
{
  GArray *seqs = g_array_new (FALSE, FALSE, sizeof (guint16));
  GstBuffer *buffer;

  while ((buffer = gst_harness_try_pull (f->harness))) {
    guint16 seq = seq_of (buffer);

    g_array_append_val (seqs, seq);
    gst_buffer_unref (buffer);
  }
  return seqs;
}

static guint
place_of (const GArray *seqs, guint16 seq)
{
  for (guint i = 0; i < seqs->len; i++)
    if (g_array_index (seqs, guint16, i) == seq)
      return i;
  g_assert_not_reached ();
}

/* Packets of one lane leave in order, between those of another. */
static void
test_lanes (void)
{
  Fixture f;
  GArray *seqs;

  setup (&f, CAPS_ID3);
  gst_mcc_pacer_set_lane_target (f.pacer, 0, 500000, 1000000);
  gst_mcc_pacer_set_lane_target (f.pacer, 1, 500000, 1000000);
  push_lane (&f, 0, 100, 20);
  push_lane (&f, 1, 200, 3);
  run_until (&f, 23);
  seqs = pull_seqs (&f);
  g_assert_cmpuint (seqs->len, ==, 23);
  for (guint16 seq = 101; seq < 120; seq++)
    g_assert_cmpuint (place_of (seqs, seq), >, place_of (seqs, seq - 1));
  for (guint16 seq = 201; seq < 203; seq++)
    g_assert_cmpuint (place_of (seqs, seq), >, place_of (seqs, seq - 1));
  g_assert_cmpuint (place_of (seqs, 200), <, place_of (seqs, 105));
  g_assert_cmpuint (place_of (seqs, 202), <, place_of (seqs, 115));
  g_assert_cmpuint (place_of (seqs, 202), >, place_of (seqs, 102)); /* not in a row */
  g_array_unref (seqs);
  teardown (&f);
}

static GstPadProbeReturn
note_event (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Fixture *f = data;

  if (GST_EVENT_TYPE (GST_PAD_PROBE_INFO_EVENT (info)) == GST_EVENT_CUSTOM_DOWNSTREAM)
    f->sent_at_event = f->sent;
  return GST_PAD_PROBE_OK;
}

/* An event leaves behind what came before it in any lane, one that was new then or not, and before
 * all that came later; so does EOS. */
static void
test_lanes_events (void)
{
  Fixture f;
  GArray *seqs;

  setup (&f, CAPS_ID3);
  gst_pad_add_probe (GST_PAD (GST_ELEMENT (f.pacer)->srcpads->data),
      GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, note_event, &f, NULL);
  push_lane (&f, 0, 100, 10);
  push_lane (&f, 2, 300, 2);
  gst_harness_push_event (f.harness,
      gst_event_new_custom (GST_EVENT_CUSTOM_DOWNSTREAM, gst_structure_new_empty ("between")));
  push_lane (&f, 2, 302, 2);
  push_lane (&f, 3, 400, 2);
  gst_harness_push_event (f.harness, gst_event_new_eos ());
  run_until (&f, 16);
  seqs = pull_seqs (&f);
  for (guint16 seq = 302; seq <= 303; seq++)
    g_assert_cmpuint (place_of (seqs, seq), >=, 12);
  for (guint16 seq = 400; seq <= 401; seq++)
    g_assert_cmpuint (place_of (seqs, seq), >=, 12);
  g_array_unref (seqs);
  while (gst_harness_events_received (f.harness) < 5)
    g_usleep (200);
  g_assert_cmpuint (f.sent_at_event, ==, 12);
  g_assert_cmpuint (f.eos, ==, 1);
  g_assert_cmpuint (f.sent_at_eos, ==, 16);
  teardown (&f);
}

/* What an event keeps waiting is paced when it has left, not sent in a row. */
static void
test_lanes_behind_event (void)
{
  Fixture f;

  setup (&f, CAPS_ID3);
  push_lane (&f, 0, 100, 8); /* 51 ms */
  gst_harness_push_event (f.harness,
      gst_event_new_custom (GST_EVENT_CUSTOM_DOWNSTREAM, gst_structure_new_empty ("between")));
  push_lane (&f, 1, 200, 20);
  run_until (&f, 28);
  g_assert_cmpuint (f.largest_list, <=, 6); /* after a late wake-up four bursts of 5 ms */
  teardown (&f);
}

static void
test_order (void)
{
  Fixture f;

  setup (&f, CAPS_ID3);
  for (guint i = 0; i < 20; i++)
    push_frame (&f, (guint16)(65500 + i * 10), 10, TRUE); /* wraps */
  run_until (&f, 200);
  for (guint i = 0; i < 200; i++) {
    GstBuffer *buffer = gst_harness_pull (f.harness);

    g_assert_cmpuint (seq_of (buffer), ==, (guint16)(65500 + i));
    g_assert_cmpuint (gst_buffer_get_size (buffer), ==, PACKET_BYTES);
    gst_buffer_unref (buffer);
  }
  gst_harness_teardown (g_steal_pointer (&f.harness));
  g_assert_cmpuint (f.sent, ==, 200);
  g_assert_cmpuint (f.bytes, ==, 200 * 1200);
  g_assert_cmpuint (f.highest, ==, 65699);
  gst_object_unref (f.pacer);
  gst_system_clock_set_default (NULL);
  gst_object_unref (f.clock);
}

/* What new caps say is of the packets behind them, not of those that are still queued. */
static void
test_caps_between (void)
{
  Fixture f;
  GstCaps *caps = gst_caps_from_string (CAPS ",extmap-5=(string)" GST_MCC_ABS_SEND_TIME_URI);

  setup (&f, CAPS_ID3);
  push_frame (&f, 100, 8, TRUE); /* 51 ms */
  f.shift = 1000;
  g_assert_true (gst_harness_push_event (f.harness, gst_event_new_caps (caps)));
  g_assert_cmpuint (f.caps_id, ==, 5);
  push_frame (&f, 108, 8, TRUE);
  run_until (&f, 16);
  for (guint i = 0; i < 16; i++) {
    GstBuffer *buffer = gst_harness_pull (f.harness);
    guint8 time[4];

    g_assert_cmpuint (seq_of (buffer), ==, 100 + i);
    g_assert_cmpuint (gst_buffer_extract (buffer, 4, time, sizeof time), ==, sizeof time);
    g_assert_cmphex (GST_READ_UINT32_BE (time), ==, 0xaaaaaaaa + (i < 8 ? 0 : 1000));
    g_assert_cmpuint (gst_buffer_get_size (buffer) > PACKET_BYTES, ==, i >= 8); /* has no id 5 */
    gst_buffer_unref (buffer);
  }
  gst_caps_unref (caps);
  teardown (&f);
}

static void
test_spreads (void)
{
  Fixture f;
  GstClockTime took;

  setup (&f, CAPS_ID3);
  /* 40 packets are 384 kbit: at 1.5 Mb/s 256 ms, so that the bound of 150 ms rules. */
  push_frame (&f, 1, 40, TRUE);
  run_until (&f, 40);
  took = gst_clock_get_time (GST_CLOCK (f.clock)) - START;
  g_assert_cmpuint (took, >=, 100 * GST_MSECOND);
  g_assert_cmpuint (took, <=, 155 * GST_MSECOND);
  /* 5 ms at the peak of the release rate */
  g_assert_cmpuint (f.largest_list, <=, 5);
  /* and a wake at most every 5 ms */
  g_assert_cmpuint (f.lists, <=, took / (5 * MCC_MSECOND) + 1);
  /* and 10 packets 64 ms */
  push_frame (&f, 41, 10, TRUE);
  took = gst_clock_get_time (GST_CLOCK (f.clock));
  run_until (&f, 50);
  took = gst_clock_get_time (GST_CLOCK (f.clock)) - took;
  g_assert_cmpuint (took, >=, 45 * GST_MSECOND);
  g_assert_cmpuint (took, <=, 75 * GST_MSECOND);
  teardown (&f);
}

/* Packets of 25 frames a second, of the target's rate together, one at a time until the next frame
 * comes; in bursts they are gone after two thirds of that. */
static void
test_even (void)
{
  static const MccPacing even = { .even = TRUE, .burst = MCC_PACING_BURST_LEAST };

  for (guint i = 0; i < 2; i++) {
    Fixture f;
    GstClockTime took = 0;

    setup (&f, CAPS_ID3);
    gst_mcc_pacer_set_target (f.pacer, 4000000);
    gst_mcc_pacer_set_pacing (f.pacer, i ? &even : &mcc_pacing_default);
    for (guint frame = 0; frame < 6; frame++) {
      GstClockTime start = START + frame * 40 * GST_MSECOND;

      gst_test_clock_set_time (f.clock, start);
      f.largest_list = 0;
      push_frame (&f, (guint16)(frame * 16), 16, TRUE); /* 38 ms */
      run_until (&f, (frame + 1) * 16);
      took = gst_clock_get_time (GST_CLOCK (f.clock)) - start;
    }
    g_assert_cmpuint (took, >=, (i ? 33 : 18) * GST_MSECOND);
    g_assert_cmpuint (took, <=, (i ? 40 : 29) * GST_MSECOND);
    g_assert_cmpuint (f.largest_list, <=, i ? 1 : 4);
    teardown (&f);
  }
}

static void
test_stamps_in_place (void)
{
  Fixture f;
  GstBuffer *buffer, *out;
  GstMapInfo map;
  guint32 stamp;
  guint8 *data;

  setup (&f, CAPS_ID3);
  g_assert_cmpuint (f.caps_id, ==, 3);
  buffer = packet (7, TRUE);
  gst_buffer_map (buffer, &map, GST_MAP_READ);
  data = map.data;
  gst_buffer_unmap (buffer, &map);
  gst_harness_push (f.harness, buffer);
  run_until (&f, 1);
  out = gst_harness_pull (f.harness);
  gst_buffer_map (out, &map, GST_MAP_READ);
  g_assert_true (map.data == data);
  stamp = GST_READ_UINT24_BE (map.data + 17);
  g_assert_cmpuint (stamp, ==, mcc_abs_send_time (gst_clock_get_time (GST_CLOCK (f.clock))));
  g_assert_cmpuint (map.data[16], ==, 0x32);
  g_assert_cmpuint (map.data[20], ==, 0xaa);
  gst_buffer_unmap (out, &map);
  gst_buffer_unref (out);
  teardown (&f);
}

static void
test_shared_packet_is_not_touched (void)
{
  Fixture f;
  GstBuffer *buffer;
  GstMapInfo map;

  setup (&f, CAPS_ID3);
  buffer = packet (7, TRUE);
  gst_harness_push (f.harness, gst_buffer_ref (buffer));
  run_until (&f, 1);
  gst_buffer_map (buffer, &map, GST_MAP_READ);
  g_assert_cmpuint (GST_READ_UINT24_BE (map.data + 17), ==, 0);
  gst_buffer_unmap (buffer, &map);
  gst_buffer_unref (buffer);
  teardown (&f);
}

static void
test_adds_extension (void)
{
  Fixture f;
  GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;
  GstBuffer *out;
  GstCaps *caps;
  gpointer data;
  guint size;

  setup (&f, CAPS ",extmap-14=(string)urn:x");
  g_assert_cmpuint (f.caps_id, ==, 13);
  gst_harness_push (f.harness, packet (9, FALSE));
  run_until (&f, 1);
  out = gst_harness_pull (f.harness);
  g_assert_cmpuint (gst_buffer_get_size (out), ==, PACKET_BYTES + 8);
  g_assert_true (gst_rtp_buffer_map (out, GST_MAP_READ, &rtp));
  g_assert_true (gst_rtp_buffer_get_extension_onebyte_header (&rtp, 13, 0, &data, &size));
  g_assert_cmpuint (size, ==, 3);
  g_assert_cmpuint (
      GST_READ_UINT24_BE (data), ==, mcc_abs_send_time (gst_clock_get_time (GST_CLOCK (f.clock))));
  g_assert_cmpuint (gst_rtp_buffer_get_payload_len (&rtp), ==, PACKET_BYTES - 12);
  gst_rtp_buffer_unmap (&rtp);
  gst_buffer_unref (out);
  caps = gst_pad_get_current_caps (f.harness->sinkpad);
  g_assert_cmpuint (gst_mcc_abs_send_time_id_from_caps (caps, NULL), ==, 13);
  gst_caps_unref (caps);
  teardown (&f);
}

static void
test_eos_last (void)
{
  Fixture f;

  setup (&f, CAPS_ID3);
  push_frame (&f, 1, 30, TRUE);
  gst_harness_push_event (f.harness, gst_event_new_eos ());
  g_assert_cmpuint (f.eos, ==, 0);
  run_until (&f, 30);
  for (guint i = 0; i < 2000 && f.eos == 0; i++)
    g_usleep (1000);
  g_assert_cmpuint (f.eos, ==, 1);
  g_assert_cmpuint (f.sent_at_eos, ==, 30);
  teardown (&f);
}

static void
test_never_blocks (void)
{
  Fixture f;

  setup (&f, CAPS_ID3);
  for (guint i = 0; i < 100; i++)
    push_frame (&f, (guint16)(i * 50), 50, TRUE); /* time stands still */
  g_assert_cmpuint (gst_harness_buffers_received (f.harness), <, 5000);
  run_until (&f, 5000);
  g_assert_cmpuint (gst_clock_get_time (GST_CLOCK (f.clock)) - START, <=, 155 * GST_MSECOND);
  teardown (&f);
}

static void
test_flush (void)
{
  Fixture f;
  GstSegment segment;
  GstBuffer *out;
  guint before;

  setup (&f, CAPS_ID3);
  push_frame (&f, 1, 100, TRUE);
  gst_harness_push_event (f.harness, gst_event_new_flush_start ());
  gst_harness_push_event (f.harness, gst_event_new_flush_stop (TRUE));
  while ((out = gst_harness_try_pull (f.harness)))
    gst_buffer_unref (out);
  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_harness_push_event (f.harness, gst_event_new_segment (&segment));
  before
      = gst_harness_buffers_received (f.harness); /* the pacer's thread sends the first at once */
  push_frame (&f, 500, 3, TRUE);
  run_until (&f, before + 3);
  out = gst_harness_pull (f.harness);
  g_assert_cmpuint (seq_of (out), ==, 500);
  gst_buffer_unref (out);
  teardown (&f);
}

static void
test_stopped (void)
{
  Fixture f;
  GstBuffer *out;

  setup (&f, CAPS_ID3);
  gst_mcc_pacer_set_stopped (f.pacer, TRUE);
  push_frame (&f, 1, 20, TRUE);
  gst_mcc_pacer_set_stopped (f.pacer, FALSE);
  push_frame (&f, 21, 2, TRUE);
  run_until (&f, 2);
  out = gst_harness_pull (f.harness);
  g_assert_cmpuint (seq_of (out), ==, 21);
  gst_buffer_unref (out);
  teardown (&f);
}

static void
test_key_unit (void)
{
  Fixture f;
  GstEvent *event;

  setup (&f, CAPS_ID3);
  gst_harness_push_upstream_event (
      f.harness, gst_video_event_new_upstream_force_key_unit (GST_CLOCK_TIME_NONE, TRUE, 0));
  g_assert_cmpuint (f.key_units, ==, 1);
  while ((event = gst_harness_try_pull_upstream_event (f.harness))) {
    g_assert_false (gst_video_event_is_force_key_unit (event));
    gst_event_unref (event);
  }
  teardown (&f);
}

static GstPadProbeReturn
on_payloaded (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  guint *reserved = data;
  GstBufferList *list = NULL;
  GstBuffer *buffer;
  gsize size;
  guint16 seq;

  if (info->type & GST_PAD_PROBE_TYPE_BUFFER_LIST) {
    list = gst_buffer_list_make_writable (GST_PAD_PROBE_INFO_BUFFER_LIST (info));
    GST_PAD_PROBE_INFO_DATA (info) = list;
  }
  buffer = list ? gst_buffer_list_get_writable (list, 0) : GST_PAD_PROBE_INFO_BUFFER (info);
  size = gst_buffer_get_size (buffer);
  g_assert_true (gst_mcc_abs_send_time_stamp (buffer, 14, 0x123456, &seq));
  if (gst_buffer_get_size (buffer) == size) {
    GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;
    gpointer bytes;
    guint length;

    g_assert_true (gst_rtp_buffer_map (buffer, GST_MAP_READ, &rtp));
    g_assert_true (gst_rtp_buffer_get_extension_onebyte_header (&rtp, 14, 0, &bytes, &length));
    g_assert_cmpuint (GST_READ_UINT24_BE (bytes), ==, 0x123456);
    gst_rtp_buffer_unmap (&rtp);
    (*reserved)++;
  }
  return GST_PAD_PROBE_OK;
}

static void
test_payloader_reserves (void)
{
  static const gchar *const chains[]
      = { "videotestsrc num-buffers=5 ! video/x-raw,format=I420 ! x264enc tune=zerolatency ! "
          "rtph264pay name=p ! fakesink name=s",
          "videotestsrc num-buffers=5 ! vp8enc deadline=1 ! rtpvp8pay name=p ! fakesink name=s",
          "audiotestsrc num-buffers=5 ! opusenc ! rtpopuspay name=p ! fakesink name=s" };

  for (guint i = 0; i < G_N_ELEMENTS (chains); i++) {
    GstElement *pipeline = gst_parse_launch (chains[i], NULL);
    GstElement *payloader = gst_bin_get_by_name (GST_BIN (pipeline), "p");
    GstPad *pad = gst_element_get_static_pad (payloader, "src");
    GstBus *bus = gst_element_get_bus (pipeline);
    GstCaps *caps;
    guint reserved = 0;

    g_assert_true (gst_mcc_abs_send_time_reserve (payloader));
    g_assert_true (gst_mcc_abs_send_time_reserve (payloader)); /* once is enough */
    gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_BUFFER_LIST,
        on_payloaded, &reserved, NULL);
    gst_element_set_state (pipeline, GST_STATE_PLAYING);
    gst_message_unref (
        gst_bus_timed_pop_filtered (bus, 20 * GST_SECOND, GST_MESSAGE_EOS | GST_MESSAGE_ERROR));
    caps = gst_pad_get_current_caps (pad);
    g_assert_cmpuint (gst_mcc_abs_send_time_id_from_caps (caps, NULL), ==, 14);
    g_assert_cmpuint (reserved, >=, 5);
    gst_caps_unref (caps);
    gst_element_set_state (pipeline, GST_STATE_NULL);
    gst_object_unref (bus);
    gst_object_unref (pad);
    gst_object_unref (payloader);
    gst_object_unref (pipeline);
  }
}

/* Whatever the bytes are, nothing outside the packet is touched (run under ASan too). */
static void
test_stamp_any_bytes (void)
{
  GRand *rand = g_rand_new_with_seed (42);

  for (guint round = 0; round < 20000; round++) {
    guint size = (guint)g_rand_int_range (rand, 0, 40);
    GstBuffer *buffer = gst_buffer_new_allocate (NULL, size, NULL);
    GstMapInfo map;
    GstMccRtpInfo info;
    guint16 seq;

    gst_buffer_map (buffer, &map, GST_MAP_WRITE);
    for (guint i = 0; i < size; i++)
      map.data[i] = (guint8)g_rand_int (rand);
    if (size > 0)
      map.data[0] = (guint8)(0x80 | (map.data[0] & 0x13));
    if (size > 15 && g_rand_boolean (rand))
      GST_WRITE_UINT32_BE (map.data + 12, g_rand_boolean (rand) ? 0xbede0003 : 0x10000003);
    gst_buffer_unmap (buffer, &map);
    gst_mcc_rtp_info (buffer, &info);
    gst_mcc_abs_send_time_stamp (buffer, round % 5 == 0 ? 0 : 3, 0xabcdef, &seq);
    gst_buffer_unref (buffer);
  }
  g_rand_free (rand);
}

int
main (int argc, char **argv)
{
  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/pacer/order", test_order);
  g_test_add_func ("/pacer/lanes/side-by-side", test_lanes);
  g_test_add_func ("/pacer/lanes/events-between", test_lanes_events);
  g_test_add_func ("/pacer/lanes/behind-an-event", test_lanes_behind_event);
  g_test_add_func ("/pacer/caps-between", test_caps_between);
  g_test_add_func ("/pacer/spreads-within-the-delay-bound", test_spreads);
  g_test_add_func ("/pacer/even", test_even);
  g_test_add_func ("/pacer/never-blocks", test_never_blocks);
  g_test_add_func ("/pacer/eos-behind-the-last", test_eos_last);
  g_test_add_func ("/pacer/flush", test_flush);
  g_test_add_func ("/pacer/stopped", test_stopped);
  g_test_add_func ("/pacer/key-unit-request-ends-here", test_key_unit);
  g_test_add_func ("/pacer/stamp/in-place", test_stamps_in_place);
  g_test_add_func ("/pacer/stamp/shared-untouched", test_shared_packet_is_not_touched);
  g_test_add_func ("/pacer/stamp/adds", test_adds_extension);
  g_test_add_func ("/pacer/stamp/payloader-reserves", test_payloader_reserves);
  g_test_add_func ("/pacer/stamp/any-bytes", test_stamp_any_bytes);
  return g_test_run ();
}
