/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What a receiver sends: gstmcccompound (figures of report blocks, compounds that fit); and what it
 * reads out of RTP: gstmccrtpread.
 */
#include <gst/rtp/gstrtcpbuffer.h>

#include "gstmcccompound.h"
#include "gstmccrtpread.h"

#define START (9000 * MCC_SECOND)
#define SSRC 0x01020304u

typedef struct {
  GstRTCPType types[32];
  guint n;
  guint32 ssrc, ext_seq, jitter, lsr, dlsr;
  guint8 fraction;
  gint32 lost;
  guint blocks;
  gsize size;
} Parsed;

static Parsed
parse (GstBuffer *buffer)
{
  GstRTCPBuffer rtcp = GST_RTCP_BUFFER_INIT;
  Parsed out = { .n = 0, .size = gst_buffer_get_size (buffer) };
  GstRTCPPacket packet;

  g_assert_true (gst_rtcp_buffer_validate (buffer));
  gst_rtcp_buffer_map (buffer, GST_MAP_READ, &rtcp);
  for (gboolean more = gst_rtcp_buffer_get_first_packet (&rtcp, &packet); more;
       more = gst_rtcp_packet_move_to_next (&packet)) {
    out.types[out.n++] = gst_rtcp_packet_get_type (&packet);
    if (out.n == 1) {
      out.blocks = gst_rtcp_packet_get_rb_count (&packet);
      if (out.blocks)
        gst_rtcp_packet_get_rb (&packet, 0, &out.ssrc, &out.fraction, &out.lost, &out.ext_seq,
            &out.jitter, &out.lsr, &out.dlsr);
    }
  }
  gst_rtcp_buffer_unmap (&rtcp);
  gst_buffer_unref (buffer);
  return out;
}

static Parsed
build (GstMccReception *reception, MccTime now)
{
  GstMccCompound compound = { .ssrc = 7, .cname = "me", .reception = reception };

  return parse (gst_mcc_compound_build (&compound, NULL, 0, now, NULL));
}

/* RFC 3550 A.3 */
static void
test_block (void)
{
  GstMccReception reception = { .clock_rate = 90000 };
  Parsed p;

  gst_mcc_reception_reset (&reception, SSRC);
  p = build (&reception, START);
  g_assert_cmpuint (p.blocks, ==, 0); /* nothing received: nothing to say */
  gst_mcc_reception_handle_sr (&reception, G_GUINT64_CONSTANT (0x1111222233334444), START);
  /* 100 numbers over the wrap of the sequence number, every fourth lost, 10 ms apart */
  for (guint i = 0; i < 100; i++)
    if (i % 4 != 3)
      gst_mcc_reception_handle_rtp (
          &reception, (guint16)(65500 + i), i * 900, START + i * 10 * MCC_MSECOND);
  gst_mcc_reception_handle_rtp (&reception, (guint16)(65500 + 100), 90000, START + MCC_SECOND);
  p = build (&reception, START + 2 * MCC_SECOND);
  g_assert_cmpuint (p.blocks, ==, 1);
  g_assert_cmpuint (p.ssrc, ==, SSRC);
  g_assert_cmpint (p.lost, ==, 25);
  g_assert_cmpuint (p.fraction, ==, 25 * 256 / 101);
  g_assert_cmpuint (p.ext_seq & 0xffff, ==, (guint16)(65500 + 100));
  g_assert_cmpuint (p.jitter, ==, 0);
  g_assert_cmpuint (p.lsr, ==, 0x22223333);
  g_assert_cmpuint (p.dlsr, ==, 2 * 65536);
  /* the next block counts from this one on */
  gst_mcc_reception_handle_rtp (&reception, (guint16)(65500 + 101), 0, START + 2 * MCC_SECOND);
  p = build (&reception, START + 3 * MCC_SECOND);
  g_assert_cmpuint (p.fraction, ==, 0);
  g_assert_cmpint (p.lost, ==, 25);
}

static void
test_duplicates_are_no_negative_loss_fraction (void)
{
  GstMccReception reception = { .clock_rate = 0 };
  Parsed p;

  gst_mcc_reception_reset (&reception, SSRC);
  for (guint i = 0; i < 10; i++)
    gst_mcc_reception_handle_rtp (&reception, 5, 0, START);
  p = build (&reception, START);
  g_assert_cmpuint (p.fraction, ==, 0);
  g_assert_cmpint (p.lost, ==, -9);
}

static void
test_jitter (void)
{
  GstMccReception reception = { .clock_rate = 90000 };

  gst_mcc_reception_reset (&reception, SSRC);
  /* transit alternates by 10 ms = 900 units: the filter of A.8 tends to that */
  for (guint i = 0; i < 400; i++)
    gst_mcc_reception_handle_rtp (&reception, (guint16)i, i * 1800,
        START + i * 20 * MCC_MSECOND + (i % 2) * 10 * MCC_MSECOND);
  g_assert_cmpfloat_with_epsilon (reception.jitter, 900.0, 1.0);
}

static void
test_compound_order_and_size (void)
{
  static MccApp apps[8];
  GstMccSenderInfo info = { G_GUINT64_CONSTANT (0x1234567800000000), 99, 5, 500 };
  GstMccCompound compound = { .ssrc = SSRC, .cname = "someone", .sender = &info, .bye = TRUE };
  guint sent = 0, n = 0, byes = 0;

  for (guint i = 0; i < G_N_ELEMENTS (apps); i++) {
    apps[i].subtype = MCC_APP_RTT;
    apps[i].rtt.count = 40;
  }
  while (sent < G_N_ELEMENTS (apps)) {
    guint used;
    Parsed p = parse (
        gst_mcc_compound_build (&compound, apps + sent, G_N_ELEMENTS (apps) - sent, START, &used));

    g_assert_cmpuint (used, >, 0);
    g_assert_cmpuint (p.size, <=, GST_MCC_COMPOUND_BYTES);
    g_assert_cmpint (p.types[0], ==, GST_RTCP_TYPE_SR);
    g_assert_cmpint (p.types[1], ==, GST_RTCP_TYPE_SDES);
    g_assert_cmpint (p.types[2], ==, GST_RTCP_TYPE_APP);
    byes += p.types[p.n - 1] == GST_RTCP_TYPE_BYE;
    sent += used;
    n++;
  }
  g_assert_cmpuint (n, >, 1);
  g_assert_cmpuint (byes, ==, 1); /* in the last one */
}

/* An announcement was made, then our SSRC changed: what goes out under the new one says so. */
static void
test_announces_its_own_ssrc (void)
{
  for (guint assp = 0; assp < 2; assp++) {
    GstMccCompound compound = { .ssrc = SSRC, .cname = "someone" };
    MccApp app = { .ssrc = SSRC + 1, .subtype = MCC_APP_SESSION };
    MccAsspApp assp_app = { .ssrc = SSRC + 1, .subtype = MCC_APP_SESSION };
    GstMccApps apps = { .n = 1 };
    GstBuffer *buffer;
    GstMapInfo map;
    gboolean seen = FALSE;
    guint used;

    app.session = (MccAppSession){ .media_ssrc = SSRC + 1,
      .payload_type = 255,
      .min_bps = 1,
      .max_bps = 2,
      .start_bps = 1,
      .target_bps = 1 };
    assp_app.asmp = app;
    if (assp)
      apps.assp = &assp_app;
    else
      apps.asmp = &app;
    buffer = gst_mcc_compound_build_from (&compound, &apps, 0, START, &used);
    g_assert_true (gst_buffer_map (buffer, &map, GST_MAP_READ));
    for (gsize at = 0; at + 4 <= map.size;) {
      gsize size = 4 * (gsize)(GST_READ_UINT16_BE (map.data + at + 2) + 1);

      if (map.data[at + 1] == 204) {
        MccAsspApp decoded_assp;
        MccApp decoded;

        seen = TRUE;
        if (assp) {
          g_assert_cmpint (
              mcc_assp_app_decode (map.data + at, size, &decoded_assp), ==, MCC_DROP_NONE);
          decoded = decoded_assp.asmp;
        } else {
          g_assert_cmpint (mcc_app_decode (map.data + at, size, &decoded), ==, MCC_DROP_NONE);
        }
        g_assert_cmpuint (decoded.session.media_ssrc, ==, SSRC);
      }
      at += size;
    }
    g_assert_true (seen);
    gst_buffer_unmap (buffer, &map);
    gst_buffer_unref (buffer);
  }
}

/* ... but what it carries of another stream goes out under that one's. */
static void
test_carries_others_ssrc (void)
{
  static const guint32 ssrcs[] = { SSRC, SSRC + 5 };
  GstMccCompound compound = { .ssrc = SSRC, .cname = "someone" };
  MccAsspApp apps[2];
  GstBuffer *buffer;
  GstMapInfo map;
  guint used, n = 0;

  for (guint i = 0; i < 2; i++) {
    apps[i]
        = (MccAsspApp){ .ssrc = ssrcs[i] + (i == 0), .subtype = MCC_APP_SESSION, .stream = 1 - i };
    apps[i].asmp = (MccApp){ .ssrc = apps[i].ssrc, .subtype = MCC_APP_SESSION };
    apps[i].asmp.session = (MccAppSession){ .media_ssrc = apps[i].ssrc,
      .payload_type = 255,
      .min_bps = 1,
      .max_bps = 2,
      .start_bps = 1,
      .target_bps = 1 };
  }
  buffer = gst_mcc_compound_build_from (
      &compound, &(GstMccApps){ .n = 2, .assp = apps }, 0, START, &used);
  g_assert_cmpuint (used, ==, 2);
  g_assert_true (gst_buffer_map (buffer, &map, GST_MAP_READ));
  for (gsize at = 0; at + 4 <= map.size;) {
    gsize size = 4 * (gsize)(GST_READ_UINT16_BE (map.data + at + 2) + 1);
    MccAsspApp app;

    if (map.data[at + 1] == 204) {
      g_assert_cmpint (mcc_assp_app_decode (map.data + at, size, &app), ==, MCC_DROP_NONE);
      g_assert_cmpuint (app.ssrc, ==, ssrcs[n]);
      g_assert_cmpuint (app.asmp.session.media_ssrc, ==, ssrcs[n]);
      g_assert_cmpuint (app.stream, ==, 1 - n);
      n++;
    }
    at += size;
  }
  g_assert_cmpuint (n, ==, 2);
  gst_buffer_unmap (buffer, &map);
  gst_buffer_unref (buffer);
}

typedef struct {
  const gchar *name;
  guint8 data[8];
  gsize size;
  gboolean key;
} Unit;

static void
test_key_units (void)
{
  static const Unit units[] = {
    { "H264", { 0x65 }, 1, TRUE },                               /* IDR */
    { "H264", { 0x61, 0x65 }, 2, FALSE },                        /* P */
    { "H264", { 0x67 }, 1, FALSE },                              /* SPS alone */
    { "H264", { 0x78, 0, 1, 0x67, 0, 1, 0x65 }, 7, TRUE },       /* STAP-A: SPS, IDR */
    { "H264", { 0x78, 0, 1, 0x67, 0, 9, 0x65 }, 7, FALSE },      /* a length that lies */
    { "H264", { 0x7c, 0x85 }, 2, TRUE },                         /* FU-A start */
    { "H264", { 0x7c, 0x05 }, 2, FALSE },                        /* FU-A middle */
    { "H264", { 0x7c }, 1, FALSE },                              /* FU-A cut */
    { "H265", { 0x26, 1 }, 2, TRUE },                            /* IDR_W_RADL */
    { "H265", { 0x02, 1 }, 2, FALSE },                           /* TRAIL_R */
    { "H265", { 0x62, 1, 0x93 }, 3, TRUE },                      /* FU start */
    { "H265", { 0x62, 1, 0x13 }, 3, FALSE },                     /* FU middle */
    { "H265", { 0x60, 1, 0, 2, 0x26, 1 }, 6, TRUE },             /* AP */
    { "VP8", { 0x10, 0x00 }, 2, TRUE },                          /* S, P clear */
    { "VP8", { 0x10, 0x01 }, 2, FALSE },                         /* inter frame */
    { "VP8", { 0x00, 0x00 }, 2, FALSE },                         /* not the start */
    { "VP8", { 0x90, 0x80, 0x81, 0x02, 0x00 }, 5, TRUE },        /* 15-bit picture id */
    { "VP8", { 0x90, 0xf0, 0x01, 0x02, 0x03, 0x01 }, 6, FALSE }, /* all extensions */
    { "VP8", { 0x90, 0x80 }, 2, FALSE },                         /* cut */
    { "VP9", { 0x08 }, 1, TRUE },
    { "VP9", { 0x48 }, 1, FALSE },
    { "OPUS", { 0x65 }, 1, FALSE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (units); i++) {
    guint8 *exact = g_memdup2 (units[i].data, units[i].size);

    g_assert_cmpint (gst_mcc_payload_is_key_unit (
                         gst_mcc_payload_from_name (units[i].name), exact, units[i].size),
        ==, units[i].key);
    g_free (exact);
  }
  for (guint kind = GST_MCC_PAYLOAD_OTHER; kind <= GST_MCC_PAYLOAD_VP9; kind++)
    g_assert_false (gst_mcc_payload_is_key_unit ((GstMccPayload)kind, NULL, 0));
}

static void
test_payload_random (void)
{
  GRand *rand = g_rand_new_with_seed (3);

  for (guint i = 0; i < 100000; i++) {
    gsize size = (gsize)g_rand_int_range (rand, 1, 12);
    guint8 *exact = g_malloc (size);

    for (gsize at = 0; at < size; at++)
      exact[at] = (guint8)g_rand_int (rand);
    gst_mcc_payload_is_key_unit ((GstMccPayload)(i % 5), exact, size);
    g_free (exact);
  }
  g_rand_free (rand);
}

static void
test_send_time (void)
{
  /* X, no CSRC; one-byte extensions: padding, id 3 with 1 byte, id 5 with 3 bytes */
  static const guint8 packet[] = { 0x90, 96, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0xbe, 0xde, 0, 2, 0,
    0x30, 0xaa, 0x52, 0x12, 0x34, 0x56, 0, 0xff };
  /* the same with two-byte headers, and an id that only these have room for */
  static const guint8 large[] = { 0x90, 96, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0x10, 0x03, 0, 3, 0, 20,
    0, 5, 3, 0x65, 0x43, 0x21, 3, 1, 0xaa, 0 };
  guint32 time = 0;

  g_assert_true (gst_mcc_rtp_find_send_time (large, sizeof large, 5, &time));
  g_assert_cmphex (time, ==, 0x654321);
  g_assert_false (gst_mcc_rtp_find_send_time (large, sizeof large, 3, &time));
  for (gsize size = 12; size < sizeof large; size++) {
    guint8 *exact = g_memdup2 (large, size);

    g_assert_false (gst_mcc_rtp_find_send_time (exact, size, 5, &time));
    g_free (exact);
  }
  g_assert_true (gst_mcc_rtp_find_send_time (packet, sizeof packet, 5, &time));
  g_assert_cmphex (time, ==, 0x123456);
  g_assert_false (gst_mcc_rtp_find_send_time (packet, sizeof packet, 3, &time));
  g_assert_false (gst_mcc_rtp_find_send_time (packet, sizeof packet, 0, &time));
  for (gsize size = 12; size < 24; size++) {
    guint8 *exact = g_memdup2 (packet, size);

    g_assert_false (gst_mcc_rtp_find_send_time (exact, size, 5, &time));
    g_free (exact);
  }
}

int
main (int argc, char **argv)
{
  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/compound/report-block", test_block);
  g_test_add_func ("/compound/duplicates", test_duplicates_are_no_negative_loss_fraction);
  g_test_add_func ("/compound/jitter", test_jitter);
  g_test_add_func ("/compound/order-and-size", test_compound_order_and_size);
  g_test_add_func ("/compound/announces-its-own-ssrc", test_announces_its_own_ssrc);
  g_test_add_func ("/compound/carries-others-under-theirs", test_carries_others_ssrc);
  g_test_add_func ("/rtp-read/key-units", test_key_units);
  g_test_add_func ("/rtp-read/random", test_payload_random);
  g_test_add_func ("/rtp-read/send-time", test_send_time);
  return g_test_run ();
}
