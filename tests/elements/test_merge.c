/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * gstmccmerge: headers and sender reports of what comes out; what waits for its encoding.
 */
#include <string.h>

#include "gstmccmerge.h"

#define START (5000 * MCC_SECOND)
#define OUT 0xabcdef01u

typedef struct {
  GstMccMerge *merge;
  guint outs, late, cuts, kinds, left, torn;
  guint kind;          /* newest: stream */
  guint cut, cut_outs; /* newest: stream, packets before */
  guint8 first[16], last[16];
  guint8 delimiter[16]; /* the first packet since the newest cut */
  gsize delimiter_bytes;
  guint16 seq[2];
  MccTime now;
} World;

static void
on_out (gpointer owner, GstBuffer *buffer, gboolean late)
{
  World *world = owner;

  gst_buffer_extract (buffer, 0, world->last, sizeof world->last);
  if (world->outs == world->cut_outs)
    world->delimiter_bytes = gst_buffer_extract (buffer, 0, world->delimiter, 16);
  if (world->outs++ == 0)
    memcpy (world->first, world->last, sizeof world->first);
  world->late += late;
  gst_buffer_unref (buffer);
}

static void
on_cut (gpointer owner, guint stream)
{
  World *world = owner;

  world->cuts++;
  world->cut = stream;
  world->cut_outs = world->outs;
}

static void
on_kind (gpointer owner, guint stream)
{
  World *world = owner;

  world->kinds++;
  world->kind = stream;
}

static void
on_left (gpointer owner, guint stream)
{
  ((World *)owner)->left++;
}

static void
on_key_unit (gpointer owner, guint stream)
{
  ((World *)owner)->torn++;
}

static void
world_start (World *world)
{
  static const GstMccMergeFuncs funcs
      = { .out = on_out, .cut = on_cut, .kind = on_kind, .left = on_left, .key_unit = on_key_unit };

  memset (world, 0, sizeof *world);
  world->now = START;
  world->merge = gst_mcc_merge_new (&funcs, world, OUT);
  g_assert_cmpuint (gst_mcc_merge_get_ssrc (world->merge), ==, OUT);
}

/* One frame of one packet. */
static void
frame (World *world, guint stream, gboolean key, guint32 time)
{
  guint8 data[20] = { 0x80, 0x80 | 97 };

  GST_WRITE_UINT16_BE (data + 2, world->seq[stream]++);
  GST_WRITE_UINT32_BE (data + 4, time);
  GST_WRITE_UINT32_BE (data + 8, 0x10 + stream);
  data[12] = key ? 0x67 : 0x61;
  if (key) { /* SPS, then the slice */
    data[1] = 97;
    gst_mcc_merge_handle (
        world->merge, stream, gst_buffer_new_memdup (data, sizeof data), world->now);
    GST_WRITE_UINT16_BE (data + 2, world->seq[stream]++);
    data[1] = 0x80 | 97;
    data[12] = 0x65;
  }
  gst_mcc_merge_handle (
      world->merge, stream, gst_buffer_new_memdup (data, sizeof data), world->now);
  world->now += 10 * MCC_MSECOND;
  gst_mcc_merge_due (world->merge, world->now);
}

static void
test_waits_for_its_encoding (void)
{
  World world;

  world_start (&world);
  gst_mcc_merge_join (world.merge, 0, 0x10);
  gst_mcc_merge_due (world.merge, world.now);
  frame (&world, 0, TRUE, 1000);
  frame (&world, 0, FALSE, 4000);
  frame (&world, 1, TRUE, 4000); /* not joined */
  g_assert_cmpuint (world.outs, ==, 0);
  gst_mcc_merge_set_kind (world.merge, 0, GST_MCC_PAYLOAD_H264, 90000);
  gst_mcc_merge_due (world.merge, world.now);
  /* from the key unit on, with nothing lost */
  g_assert_cmpuint (world.cuts, ==, 1);
  g_assert_cmpuint (world.outs, ==, 3);
  g_assert_cmpuint (world.first[12], ==, 0x67);
  g_assert_cmpuint (GST_READ_UINT32_BE (world.first + 8), ==, OUT);
  g_assert_cmpuint (GST_READ_UINT32_BE (world.last + 4), ==, 4000);
  gst_mcc_merge_free (world.merge);

  /* what came long ago is not kept */
  world_start (&world);
  gst_mcc_merge_join (world.merge, 0, 0x10);
  frame (&world, 0, TRUE, 1000);
  world.now += GST_MCC_MERGE_HOLD;
  frame (&world, 0, FALSE, 94000);
  gst_mcc_merge_set_kind (world.merge, 0, GST_MCC_PAYLOAD_H264, 90000);
  gst_mcc_merge_due (world.merge, world.now);
  g_assert_cmpuint (world.outs, ==, 0);
  /* left while it waits */
  gst_mcc_merge_set_kind (world.merge, 0, GST_MCC_PAYLOAD_OTHER, 0);
  gst_mcc_merge_join (world.merge, 0, 0x10);
  frame (&world, 0, TRUE, 97000);
  gst_mcc_merge_leave (world.merge, 0);
  gst_mcc_merge_due (world.merge, world.now);
  g_assert_cmpuint (world.left, ==, 1);
  gst_mcc_merge_set_kind (world.merge, 0, GST_MCC_PAYLOAD_H264, 90000);
  gst_mcc_merge_due (world.merge, world.now);
  g_assert_cmpuint (world.outs, ==, 0);
  gst_mcc_merge_free (world.merge);
}

static gsize
make_compound (guint8 *data, guint32 ssrc, guint32 rtp_time)
{
  static const guint8 sdes[] = { 0x81, 202, 0, 3, 0, 0, 0, 0, 1, 4, 'n', 'a', 'm', 'e', 0, 0 };
  static const guint8 bye[] = { 0x81, 203, 0, 1, 0, 0, 0, 0 };

  memset (data, 0, 28);
  data[0] = 0x80;
  data[1] = 200;
  data[3] = 6;
  GST_WRITE_UINT32_BE (data + 4, ssrc);
  GST_WRITE_UINT32_BE (data + 16, rtp_time);
  memcpy (data + 28, bye, sizeof bye);
  GST_WRITE_UINT32_BE (data + 32, ssrc);
  memcpy (data + 36, sdes, sizeof sdes);
  GST_WRITE_UINT32_BE (data + 40, ssrc);
  return 52;
}

/* Reports of the shown stream are about what comes out; others, and BYE, are nobody's business. */
static void
test_reports (void)
{
  guint8 data[64];
  World world;

  world_start (&world);
  gst_mcc_merge_set_kind (world.merge, 0, GST_MCC_PAYLOAD_H264, 90000);
  gst_mcc_merge_set_kind (world.merge, 1, GST_MCC_PAYLOAD_H264, 90000);
  gst_mcc_merge_join (world.merge, 0, 0x10);
  g_assert_cmpuint (
      gst_mcc_merge_map_rtcp (world.merge, data, make_compound (data, 0x10, 7)), ==, 0);
  frame (&world, 0, TRUE, 1000);
  g_assert_cmpuint (
      gst_mcc_merge_map_rtcp (world.merge, data, make_compound (data, 0x11, 7)), ==, 0);
  g_assert_cmpuint (
      gst_mcc_merge_map_rtcp (world.merge, data, make_compound (data, 0x10, 7)), ==, 44);
  g_assert_cmpuint (GST_READ_UINT32_BE (data + 4), ==, OUT);
  g_assert_cmpuint (GST_READ_UINT32_BE (data + 16), ==, 7);
  g_assert_cmpuint (data[29], ==, 202);
  g_assert_cmpuint (GST_READ_UINT32_BE (data + 32), ==, OUT);
  /* a stream of another clock: the report moves with its packets */
  gst_mcc_merge_join (world.merge, 1, 0x11);
  frame (&world, 0, FALSE, 4000);
  world.now += 33 * MCC_MSECOND;
  frame (&world, 1, TRUE, 0x40000000);
  for (guint i = 1; i < 60; i++)
    frame (&world, 1, FALSE, 0x40000000 + i * 3000);
  g_assert_cmpuint (world.cut, ==, 1);
  g_assert_cmpuint (gst_mcc_merge_map_rtcp (
                        world.merge, data, make_compound (data, 0x11, 0x40000000 + 59 * 3000)),
      ==, 44);
  g_assert_cmpuint (GST_READ_UINT32_BE (data + 16), ==, GST_READ_UINT32_BE (world.last + 4));
  g_assert_cmpuint (
      gst_mcc_merge_map_rtcp (world.merge, data, make_compound (data, 0x10, 7)), ==, 0);
  gst_mcc_merge_free (world.merge);
}

static void
test_payload_type (void)
{
  World world;

  world_start (&world);
  gst_mcc_merge_set_kind (world.merge, 0, GST_MCC_PAYLOAD_H264, 90000);
  gst_mcc_merge_join (world.merge, 0, 0x10);
  frame (&world, 0, TRUE, 1000);
  g_assert_cmpuint (world.last[1], ==, 0x80 | 97);
  gst_mcc_merge_set_payload_type (world.merge, 101);
  frame (&world, 0, FALSE, 4000);
  g_assert_cmpuint (world.last[1], ==, 0x80 | 101);
  gst_mcc_merge_free (world.merge);
}

/* What is shown may become another encoding under its SSRC: the owner must hear of it, but of no
 * other stream's, for that is told when it is cut to. */
static void
test_told_anew (void)
{
  World world;

  world_start (&world);
  gst_mcc_merge_set_kind (world.merge, 0, GST_MCC_PAYLOAD_H264, 90000);
  gst_mcc_merge_join (world.merge, 0, 0x10);
  frame (&world, 0, TRUE, 1000);
  g_assert_cmpuint (world.cuts, ==, 1);
  g_assert_cmpuint (world.kinds, ==, 0);
  gst_mcc_merge_set_kind (world.merge, 1, GST_MCC_PAYLOAD_VP8, 90000);
  gst_mcc_merge_set_kind (world.merge, 0, GST_MCC_PAYLOAD_OTHER, 0);
  gst_mcc_merge_due (world.merge, world.now);
  g_assert_cmpuint (world.kinds, ==, 0);
  gst_mcc_merge_set_kind (world.merge, 0, GST_MCC_PAYLOAD_VP8, 90000);
  gst_mcc_merge_due (world.merge, world.now);
  g_assert_cmpuint (world.kinds, ==, 1);
  g_assert_cmpuint (world.kind, ==, 0);
  gst_mcc_merge_due (world.merge, world.now);
  g_assert_cmpuint (world.kinds, ==, 1);
  gst_mcc_merge_leave (world.merge, 0);
  gst_mcc_merge_due (world.merge, world.now);
  gst_mcc_merge_set_kind (world.merge, 0, GST_MCC_PAYLOAD_H264, 90000);
  gst_mcc_merge_due (world.merge, world.now);
  g_assert_cmpuint (world.kinds, ==, 1);
  gst_mcc_merge_free (world.merge);
}

/* A slice of a frame whose end is lost, and the key unit of another stream behind it: between them
 * a number that is left out, and an access unit delimiter where the encoding has one. */
static void
test_torn_frame (GstMccPayload kind, const guint8 *delimiter, gsize bytes)
{
  guint8 slice[20] = { 0x80, 97, 0, 7, 0, 0, 0x1b, 0x58, 0, 0, 0, 0x10, 0x61 };
  World world;
  guint16 seq;
  guint outs;

  world_start (&world);
  gst_mcc_merge_set_kind (world.merge, 0, GST_MCC_PAYLOAD_H264, 90000);
  gst_mcc_merge_set_kind (world.merge, 1, GST_MCC_PAYLOAD_H264, 90000);
  gst_mcc_merge_join (world.merge, 0, 0x10);
  frame (&world, 0, TRUE, 1000);
  frame (&world, 0, FALSE, 4000);
  GST_WRITE_UINT16_BE (slice + 2, world.seq[0]);
  gst_mcc_merge_handle (world.merge, 0, gst_buffer_new_memdup (slice, sizeof slice), world.now);
  seq = GST_READ_UINT16_BE (world.last + 2);
  gst_mcc_merge_join (world.merge, 1, 0x11);
  frame (&world, 1, TRUE, 10000);
  gst_mcc_merge_set_kind (world.merge, 1, kind, 90000);
  g_assert_cmpuint (world.cuts, ==, 1);
  outs = world.outs;
  world.now += MCC_SECOND;
  gst_mcc_merge_due (world.merge, world.now);
  g_assert_cmpuint (world.cuts, ==, 2);
  g_assert_cmpuint (world.outs, ==, outs + 2 + (bytes > 0));
  g_assert_cmpuint (GST_READ_UINT16_BE (world.last + 2), ==, (guint16)(seq + 4));
  if (bytes > 0) {
    g_assert_cmpmem (world.delimiter + 12, world.delimiter_bytes - 12, delimiter, bytes);
    g_assert_cmpuint (world.delimiter[0], ==, 0x80);
    g_assert_cmpuint (world.delimiter[1], ==, 97); /* no marker */
    g_assert_cmpuint (GST_READ_UINT16_BE (world.delimiter + 2), ==, (guint16)(seq + 2));
    g_assert_cmpuint (GST_READ_UINT32_BE (world.delimiter + 4), ==, 10000);
    g_assert_cmpuint (GST_READ_UINT32_BE (world.delimiter + 8), ==, OUT);
  }
  gst_mcc_merge_free (world.merge);
}

static void
test_torn (void)
{
  static const guint8 h264[] = { 0x09, 0xf0 }, h265[] = { 0x46, 0x01, 0x50 };

  test_torn_frame (GST_MCC_PAYLOAD_H264, h264, sizeof h264);
  test_torn_frame (GST_MCC_PAYLOAD_H265, h265, sizeof h265);
  test_torn_frame (GST_MCC_PAYLOAD_VP8, NULL, 0);
}

/* A reset takes all with it, and what comes out goes on behind. */
static void
test_reset (void)
{
  World world;
  guint16 seq;

  world_start (&world);
  gst_mcc_merge_set_kind (world.merge, 0, GST_MCC_PAYLOAD_H264, 90000);
  gst_mcc_merge_join (world.merge, 0, 0x10);
  frame (&world, 0, TRUE, 1000);
  frame (&world, 0, FALSE, 4000);
  seq = GST_READ_UINT16_BE (world.last + 2);
  gst_mcc_merge_reset (world.merge, world.now);
  g_assert_false (gst_mcc_merge_wants (world.merge, 0, 0x10));
  frame (&world, 0, TRUE, 7000);
  g_assert_cmpuint (world.outs, ==, 3);
  gst_mcc_merge_join (world.merge, 0, 0x10);
  frame (&world, 0, TRUE, 10000);
  g_assert_cmpuint (world.outs, ==, 5);
  g_assert_cmpuint (GST_READ_UINT16_BE (world.last + 2), ==, (guint16)(seq + 2));
  gst_mcc_merge_free (world.merge);
}

int
main (int argc, char **argv)
{
  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/merge/waits-for-its-encoding", test_waits_for_its_encoding);
  g_test_add_func ("/merge/reports-are-about-what-comes-out", test_reports);
  g_test_add_func ("/merge/payload-type", test_payload_type);
  g_test_add_func ("/merge/told-anew-of-what-is-shown", test_told_anew);
  g_test_add_func ("/merge/a-key-unit-behind-a-torn-frame", test_torn);
  g_test_add_func ("/merge/reset", test_reset);
  return g_test_run ();
}
