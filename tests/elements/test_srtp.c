/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * gstmccsrtp, packet by packet.
 */
#include <gst/gst.h>

#include "gstmccsrtp.h"

/* 30 bytes each. */
#define KEY_A "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwd"
#define KEY_B "Hx4dHBsaGRgXFhUUExIREA8ODQwLCgkIBwYFBAMC"
#define SIZE 100
#define MINUTE (60 * MCC_SECOND)
#define STREAMS_MAX 16384 /* gstmccsrtp.c's */

static MccTime now = 5000 * MCC_SECOND;
static guint32 followed; /* 0: nobody */

static GstMccSrtp *
make (gboolean sender, const gchar *keys)
{
  GError *error = NULL;
  GstMccSrtp *srtp = gst_mcc_srtp_new (
      sender, keys, GST_MCC_SRTP_AES_128_ICM, GST_MCC_SRTP_HMAC_SHA1_80, &error);

  g_assert_no_error (error);
  return srtp;
}

typedef struct {
  guint8 data[SIZE + GST_MCC_SRTP_ROOM];
  gsize size;
} Packet;

/* A packet of @ssrc, encrypted. */
static Packet
rtp (GstMccSrtp *srtp, guint32 ssrc, guint16 seq)
{
  Packet packet = { .size = SIZE };

  memset (packet.data, 0x5a, SIZE);
  packet.data[0] = 0x80;
  packet.data[1] = 96;
  GST_WRITE_UINT16_BE (packet.data + 2, seq);
  GST_WRITE_UINT32_BE (packet.data + 8, ssrc);
  g_assert_true (gst_mcc_srtp_protect (srtp, FALSE, packet.data, &packet.size));
  return packet;
}

static Packet
rtcp (GstMccSrtp *srtp, guint32 ssrc)
{
  Packet packet = { { 0x80, 201, 0, 1 }, 8 };

  GST_WRITE_UINT32_BE (packet.data + 4, ssrc);
  g_assert_true (gst_mcc_srtp_protect (srtp, TRUE, packet.data, &packet.size));
  return packet;
}

static MccDrop
take (GstMccSrtp *srtp, gboolean control, Packet packet)
{
  MccDrop drop = gst_mcc_srtp_unprotect (srtp, control, packet.data, &packet.size, followed, now);

  if (drop == MCC_DROP_NONE && !control) {
    g_assert_cmpuint (packet.size, ==, SIZE);
    for (guint i = 12; i < SIZE; i++)
      g_assert_cmphex (packet.data[i], ==, 0x5a);
  }
  return drop;
}

static void
test_packets (void)
{
  GstMccSrtp *sender = make (TRUE, KEY_A), *receiver = make (FALSE, KEY_A);
  GstMccSrtp *other = make (FALSE, KEY_B);
  Packet packet = rtp (sender, 1, 10), plain = { { 0x80, 96 }, SIZE };

  g_assert_cmpuint (packet.size, ==, SIZE + gst_mcc_srtp_get_overhead (sender));
  g_assert_cmphex (packet.data[50], !=, 0x5a);
  g_assert_cmpint (take (other, FALSE, packet), ==, MCC_DROP_UNAUTHENTIC);
  for (guint i = 0; i < packet.size; i++) {
    Packet changed = packet;

    changed.data[i] ^= 1;
    g_assert_cmpint (take (receiver, FALSE, changed), ==, MCC_DROP_UNAUTHENTIC);
  }
  for (gsize size = 0; size < packet.size; size++) {
    Packet cut = packet;

    cut.size = size;
    g_assert_cmpint (take (receiver, FALSE, cut), ==, MCC_DROP_UNAUTHENTIC);
  }
  g_assert_cmpint (take (receiver, FALSE, plain), ==, MCC_DROP_UNAUTHENTIC);
  g_assert_cmpint (take (receiver, FALSE, packet), ==, MCC_DROP_NONE);
  g_assert_cmpint (take (receiver, FALSE, packet), ==, MCC_DROP_REPLAYED);

  packet = rtcp (receiver, 2);
  g_assert_cmpuint (packet.size, <=, 8 + GST_MCC_SRTP_ROOM);
  for (gsize i = 0; i < packet.size; i++) {
    Packet changed = packet;

    changed.data[i] ^= 1;
    g_assert_cmpint (take (sender, TRUE, changed), ==, MCC_DROP_UNAUTHENTIC);
  }
  g_assert_cmpint (take (sender, TRUE, packet), ==, MCC_DROP_NONE);
  g_assert_cmpint (take (sender, TRUE, packet), ==, MCC_DROP_REPLAYED);
  gst_mcc_srtp_free (sender);
  gst_mcc_srtp_free (receiver);
  gst_mcc_srtp_free (other);
}

/* What an hour brings at 2 Mb/s (numbers in steps of a hundred, which wrap 11 times) and a report a
 * second; then the first minute's packets once more, and to who has just begun and was told how far
 * the stream is. */
static void
test_replay_after_an_hour (void)
{
  GstMccSrtp *sender = make (TRUE, KEY_A), *receiver = make (FALSE, KEY_A);
  GstMccSrtp *late = make (FALSE, KEY_A);
  Packet media[100], control[100];
  MccIndexApp indexes;

  for (guint i = 0; i < 7500; i++) {
    Packet packet = rtp (sender, 1, (guint16)(100 * i));

    if (i < G_N_ELEMENTS (media))
      media[i] = packet;
    g_assert_cmpint (take (receiver, FALSE, packet), ==, MCC_DROP_NONE);
  }
  for (guint i = 0; i < 3600; i++) {
    Packet packet = rtcp (receiver, 2);

    if (i < G_N_ELEMENTS (control))
      control[i] = packet;
    g_assert_cmpint (take (sender, TRUE, packet), ==, MCC_DROP_NONE);
  }
  gst_mcc_srtp_get_indexes (sender, &indexes);
  gst_mcc_srtp_set_indexes (late, &indexes, followed, now);
  for (guint i = 0; i < G_N_ELEMENTS (media); i++) {
    g_assert_cmpint (take (receiver, FALSE, media[i]), !=, MCC_DROP_NONE);
    g_assert_cmpint (take (late, FALSE, media[i]), ==, MCC_DROP_UNAUTHENTIC);
    g_assert_cmpint (take (sender, TRUE, control[i]), ==, MCC_DROP_REPLAYED);
  }
  g_assert_cmpint (take (receiver, FALSE, rtp (sender, 1, (guint16)750000)), ==, MCC_DROP_NONE);
  g_assert_cmpint (take (sender, TRUE, rtcp (receiver, 2)), ==, MCC_DROP_NONE);
  gst_mcc_srtp_free (sender);
  gst_mcc_srtp_free (receiver);
  gst_mcc_srtp_free (late);
}

static void
set (GstMccSrtp *srtp, const gchar *keys)
{
  GError *error = NULL;

  g_assert_true (gst_mcc_srtp_set_keys (srtp, keys, &error));
  g_assert_no_error (error);
}

/* The receiver gets the new key first; it speaks under it once the sender does. No packet is lost,
 * nor let in twice, late ones under the old key included; then the old key goes. */
static void
test_rekey (void)
{
  GstMccSrtp *sender = make (TRUE, "1 " KEY_A), *receiver = make (FALSE, "1 " KEY_A);
  GstMccSrtp *old = make (TRUE, "1 " KEY_A);
  Packet late, packet;

  /* round the wrap, so that the roll-over counter must go on, too */
  for (guint i = 0; i < 10; i++)
    g_assert_cmpint (take (receiver, FALSE, rtp (sender, 1, (guint16)(65530 + i))), ==, 0);
  g_assert_cmpint (take (sender, TRUE, rtcp (receiver, 2)), ==, MCC_DROP_NONE);
  set (receiver, "1 " KEY_A "\n2 " KEY_B " # from Monday on");
  g_assert_cmpint (take (old, TRUE, rtcp (receiver, 2)), ==, MCC_DROP_NONE);
  late = rtp (sender, 1, 4);
  set (sender, "1 " KEY_A "\n2 " KEY_B);
  g_assert_cmpint (take (sender, TRUE, rtcp (receiver, 2)), ==, MCC_DROP_NONE);
  packet = rtp (sender, 1, 5);
  g_assert_cmpint (take (receiver, FALSE, packet), ==, MCC_DROP_NONE);
  g_assert_cmpint (take (receiver, FALSE, packet), ==, MCC_DROP_REPLAYED);
  g_assert_cmpint (take (receiver, FALSE, late), ==, MCC_DROP_NONE);
  packet = rtcp (receiver, 2);
  g_assert_cmpint (take (old, TRUE, packet), ==, MCC_DROP_UNAUTHENTIC);
  g_assert_cmpint (take (sender, TRUE, packet), ==, MCC_DROP_NONE);
  g_assert_cmpint (take (sender, TRUE, packet), ==, MCC_DROP_REPLAYED);
  late = rtp (old, 7, 1);
  set (receiver, "2 " KEY_B);
  g_assert_cmpint (take (receiver, FALSE, late), ==, MCC_DROP_UNAUTHENTIC);
  g_assert_cmpint (take (receiver, FALSE, rtp (sender, 1, 6)), ==, MCC_DROP_NONE);
  gst_mcc_srtp_free (sender);
  gst_mcc_srtp_free (receiver);
  gst_mcc_srtp_free (old);
}

/* What the sender announces after @n numbers from @first on: one in 64, and the last 64, are sent.
 */
static MccIndexApp
send_many (GstMccSrtp *sender, guint32 ssrc, guint16 first, guint n)
{
  MccIndexApp app;

  for (guint i = 0; i < n; i += i + 64 < n ? 64 : 1)
    rtp (sender, ssrc, (guint16)(first + i));
  gst_mcc_srtp_get_indexes (sender, &app);
  return app;
}

/* Streams that begin anew under another SSRC do not crowd out those that are sent. */
static void
test_newest (void)
{
  GstMccSrtp *sender = make (TRUE, KEY_A);
  MccIndexApp app;

  for (guint32 ssrc = 1; ssrc <= 20; ssrc++)
    rtp (sender, ssrc, (guint16)ssrc);
  rtp (sender, 15, 16);
  gst_mcc_srtp_get_indexes (sender, &app);
  g_assert_cmpuint (app.count, ==, 8);
  for (guint i = 0; i < app.count; i++) {
    g_assert_cmpuint (app.entry[i].ssrc, ==, 13 + i);
    g_assert_cmpuint (app.entry[i].index, ==, i == 2 ? 16 : 13 + i);
  }
  gst_mcc_srtp_free (sender);
}

/* Behind the first round of numbers, a newcomer can read once it knows which round it is; also when
 * the announcement is from before a wrap, and when rounds pass that it does not see. */
static void
test_late_joiner (void)
{
  GstMccSrtp *sender = make (TRUE, KEY_A), *receiver = make (FALSE, KEY_A);
  MccIndexApp app = send_many (sender, 1, 65000, 65536 + 530);
  Packet packet = rtp (sender, 1, 65530);

  g_assert_cmpuint (app.count, ==, 1);
  g_assert_cmpuint (app.entry[0].index, ==, (1 << 16) + 65529);
  g_assert_cmpint (take (receiver, FALSE, packet), ==, MCC_DROP_UNAUTHENTIC);
  gst_mcc_srtp_set_indexes (receiver, &app, followed, now);
  g_assert_cmpint (take (receiver, FALSE, packet), ==, MCC_DROP_NONE);
  g_assert_cmpint (take (receiver, FALSE, packet), ==, MCC_DROP_REPLAYED);
  gst_mcc_srtp_free (receiver);

  receiver = make (FALSE, KEY_A);
  gst_mcc_srtp_set_indexes (receiver, &app, followed, now);
  send_many (sender, 1, 65531, 10);
  g_assert_cmpint (take (receiver, FALSE, rtp (sender, 1, 5)), ==, MCC_DROP_NONE);
  /* away for two rounds */
  app = send_many (sender, 1, 6, 2 * 65536);
  packet = rtp (sender, 1, 6);
  g_assert_cmpint (take (receiver, FALSE, packet), !=, MCC_DROP_NONE);
  gst_mcc_srtp_set_indexes (receiver, &app, followed, now);
  g_assert_cmpint (take (receiver, FALSE, packet), ==, MCC_DROP_NONE);
  g_assert_cmpint (take (receiver, FALSE, packet), ==, MCC_DROP_REPLAYED);
  gst_mcc_srtp_free (receiver);
  gst_mcc_srtp_free (sender);
}

/* Who has come late gets new keys as the others do: the round stays known. */
static void
test_late_rekey (void)
{
  static const gchar both[] = "1 " KEY_A "\n2 " KEY_B;
  GstMccSrtp *sender = make (TRUE, "1 " KEY_A), *receiver = make (FALSE, "1 " KEY_A);
  MccIndexApp app = send_many (sender, 1, 1, 65536 + 10);

  gst_mcc_srtp_set_indexes (receiver, &app, followed, now);
  g_assert_cmpint (take (receiver, FALSE, rtp (sender, 1, 11)), ==, MCC_DROP_NONE);
  set (receiver, both);
  g_assert_cmpint (take (receiver, FALSE, rtp (sender, 1, 12)), ==, MCC_DROP_NONE);
  set (sender, both);
  g_assert_cmpint (take (receiver, FALSE, rtp (sender, 1, 13)), ==, MCC_DROP_NONE);
  set (sender, "2 " KEY_B);
  set (receiver, "2 " KEY_B);
  g_assert_cmpint (take (receiver, FALSE, rtp (sender, 1, 14)), ==, MCC_DROP_NONE);
  gst_mcc_srtp_free (receiver);
  gst_mcc_srtp_free (sender);
}

/* A member that lies about the index, with a stranger's help, locks nobody out; nor does an old
 * announcement that is heard again turn the window back. */
static void
test_false_index (void)
{
  GstMccSrtp *sender = make (TRUE, KEY_A), *receiver = make (FALSE, KEY_A);
  MccIndexApp lie = { .count = 1, .entry = { { 1, (guint64)9 << 16 } } };
  Packet first = rtp (sender, 1, 1), forged = first;

  g_assert_cmpint (take (receiver, FALSE, first), ==, MCC_DROP_NONE);
  gst_mcc_srtp_set_indexes (receiver, &lie, followed, now);
  for (guint i = 0; i < 5; i++) {
    forged.data[2] = (guint8)i;
    forged.data[20] ^= 0xff;
    g_assert_cmpint (take (receiver, FALSE, forged), !=, MCC_DROP_NONE);
    g_assert_cmpint (take (receiver, FALSE, rtp (sender, 1, (guint16)(2 + i))), ==, MCC_DROP_NONE);
  }
  g_assert_cmpint (take (receiver, FALSE, first), ==, MCC_DROP_REPLAYED);
  gst_mcc_srtp_free (receiver);
  gst_mcc_srtp_free (sender);
}

/* ... nor for good one that has just come: it reads from the next announcement on. */
static void
test_false_index_first (void)
{
  GstMccSrtp *sender = make (TRUE, KEY_A), *receiver = make (FALSE, KEY_A);
  MccIndexApp lie = { .count = 1, .entry = { { 1, ((guint64)1 << 48) - 1 } } };
  MccIndexApp app = send_many (sender, 1, 65000, 65536);

  for (guint i = 0; i < 5; i++) {
    gst_mcc_srtp_set_indexes (receiver, &lie, followed, now);
    g_assert_cmpint (
        take (receiver, FALSE, rtp (sender, 1, (guint16)(65000 + i))), ==, MCC_DROP_UNAUTHENTIC);
  }
  gst_mcc_srtp_set_indexes (receiver, &app, followed, now);
  g_assert_cmpint (take (receiver, FALSE, rtp (sender, 1, 65005)), ==, MCC_DROP_NONE);
  gst_mcc_srtp_set_indexes (receiver, &lie, followed, now);
  g_assert_cmpint (take (receiver, FALSE, rtp (sender, 1, 65006)), ==, MCC_DROP_NONE);
  gst_mcc_srtp_free (receiver);
  gst_mcc_srtp_free (sender);
}

/* Each says which line is wrong, and how to mend it, but not what the line holds. */
static void
test_key_errors (void)
{
  static const struct {
    const gchar *keys, *part;
  } cases[] = {
    { "", "there is no key" },
    { "# later\n\n", "there is no key" },
    { "SECRETsecretSECRET", "bytes where the cipher takes 30" },
    { KEY_A "\n" KEY_B, "line 2 is another key" },
    { "1 " KEY_A "\n1 " KEY_B, "line 2 has an MKI" },
    { "0 " KEY_A, "line 1 does not begin with an MKI" },
    { "SECRETsecret " KEY_A, "line 1 does not begin with an MKI" },
    { "4294967296 " KEY_A, "line 1 does not begin with an MKI" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    GError *error = NULL;

    g_assert_null (gst_mcc_srtp_new (
        TRUE, cases[i].keys, GST_MCC_SRTP_AES_128_ICM, GST_MCC_SRTP_HMAC_SHA1_80, &error));
    g_assert_nonnull (strstr (error->message, cases[i].part));
    g_assert_null (strstr (error->message, "SECRET"));
    g_assert_null (strstr (error->message, "AAEC"));
    g_clear_error (&error);
  }
}

static void
test_ciphers (void)
{
  static const gchar key256[] = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8gISIjJCUmJygpKissLQ==";

  for (guint cipher = 0; cipher < 2; cipher++)
    for (guint auth = 0; auth < 2; auth++) {
      const gchar *key = cipher == GST_MCC_SRTP_AES_256_ICM ? key256 : KEY_A;
      GstMccSrtp *sender
          = gst_mcc_srtp_new (TRUE, key, (GstMccSrtpCipher)cipher, (GstMccSrtpAuth)auth, NULL);
      GstMccSrtp *receiver
          = gst_mcc_srtp_new (FALSE, key, (GstMccSrtpCipher)cipher, (GstMccSrtpAuth)auth, NULL);
      Packet packet = rtp (sender, 1, 1);

      g_assert_cmpuint (packet.size, ==, SIZE + (auth == GST_MCC_SRTP_HMAC_SHA1_32 ? 4 : 10));
      g_assert_cmpint (take (receiver, FALSE, packet), ==, MCC_DROP_NONE);
      g_assert_cmpint (take (sender, TRUE, rtcp (receiver, 2)), ==, MCC_DROP_NONE);
      gst_mcc_srtp_free (sender);
      gst_mcc_srtp_free (receiver);
    }
}

/* What we have sent is no other one's, under an SSRC of before either; a member that has our SSRC
 * is heard as soon as it has sent more than we have. */
static void
test_own (void)
{
  GstMccSrtp *self = make (TRUE, KEY_A), *other = make (FALSE, KEY_A);
  Packet before = rtcp (self, 1), forged, first, second;

  for (guint32 ssrc = 2; ssrc <= 64; ssrc++)
    first = rtcp (self, ssrc);
  second = rtcp (self, 64);
  g_assert_cmpint (take (other, TRUE, first), ==, MCC_DROP_NONE);
  g_assert_cmpint (take (self, TRUE, second), ==, MCC_DROP_OWN);
  g_assert_cmpint (take (self, TRUE, second), ==, MCC_DROP_REPLAYED);
  g_assert_cmpint (take (self, TRUE, first), ==, MCC_DROP_OWN);
  forged = before;
  forged.data[20] ^= 1;
  g_assert_cmpint (take (self, TRUE, forged), ==, MCC_DROP_UNAUTHENTIC);
  g_assert_cmpint (take (self, TRUE, before), ==, MCC_DROP_OWN);
  rtcp (other, 64);
  rtcp (other, 64);
  g_assert_cmpint (take (self, TRUE, rtcp (other, 64)), ==, MCC_DROP_NONE);
  gst_mcc_srtp_free (self);
  gst_mcc_srtp_free (other);
}

/* Strangers' SSRCs leave nothing behind. */
static void
test_flood (void)
{
  GstMccSrtp *sender = make (TRUE, KEY_A), *stranger = make (FALSE, KEY_B);
  GstMccSrtp *member = make (FALSE, KEY_A);
  gint64 start = g_get_monotonic_time ();
  Packet packet = rtcp (stranger, 1);

  for (guint32 i = 0; i < 100000; i++) {
    GST_WRITE_UINT32_BE (packet.data + 4, i);
    g_assert_cmpint (take (sender, TRUE, packet), ==, MCC_DROP_UNAUTHENTIC);
  }
  g_test_message ("%.2f us a packet", (gdouble)(g_get_monotonic_time () - start) / 100000);
  g_assert_cmpint (take (sender, TRUE, rtcp (member, 5)), ==, MCC_DROP_NONE);
  gst_mcc_srtp_free (sender);
  gst_mcc_srtp_free (stranger);
  gst_mcc_srtp_free (member);
}

/* More members than are kept, one after the other: who was silent longest makes room, but nobody
 * who was heard in the last 10 minutes, nor whom we follow. What was removed is no newer for it. */
static void
test_full (void)
{
  GstMccSrtp *srtp = make (FALSE, KEY_A), *members = NULL, *stranger = make (FALSE, KEY_B);
  GstMccSrtp *first = make (FALSE, KEY_A); /* 1 .. 4 */
  Packet packets[4];

  for (guint32 i = 0; i < STREAMS_MAX; i++) {
    Packet packet;

    if (i % 64 == 0) { /* libsrtp looks for a stream one by one */
      gst_mcc_srtp_free (members);
      members = make (FALSE, KEY_A);
    }
    packet = rtcp (i < 4 ? first : members, 1 + i);
    g_assert_cmpint (take (srtp, TRUE, packet), ==, MCC_DROP_NONE);
    if (i < 4)
      packets[i] = packet;
  }
  followed = 1;
  g_assert_cmpint (take (srtp, TRUE, rtcp (members, 50001)), ==, MCC_DROP_UNAUTHENTIC);
  now += 10 * MINUTE - 1;
  g_assert_cmpint (take (srtp, TRUE, rtcp (members, 50001)), ==, MCC_DROP_UNAUTHENTIC);
  now += 50 * MINUTE;
  g_assert_cmpint (take (srtp, TRUE, rtcp (first, 2)), ==, MCC_DROP_NONE);
  /* who has no key drives nobody out */
  g_assert_cmpint (take (srtp, TRUE, rtcp (stranger, 50002)), ==, MCC_DROP_UNAUTHENTIC);
  g_assert_cmpint (take (srtp, TRUE, packets[2]), ==, MCC_DROP_REPLAYED);
  g_assert_cmpint (take (srtp, TRUE, rtcp (members, 50001)), ==, MCC_DROP_NONE);
  g_assert_cmpint (take (srtp, TRUE, rtcp (members, 50003)), ==, MCC_DROP_NONE);
  /* not 1, which is followed, nor 2, which was heard: 3 and 4 had to go; old packets stay old */
  for (guint i = 0; i < 4; i++)
    g_assert_cmpint (take (srtp, TRUE, packets[i]), ==, MCC_DROP_REPLAYED);
  g_assert_cmpint (take (srtp, TRUE, rtcp (first, 3)), ==, MCC_DROP_NONE);
  for (guint i = 0; i < 4; i++)
    g_assert_cmpint (take (srtp, TRUE, packets[i]), ==, MCC_DROP_REPLAYED);
  followed = 0;
  g_assert_cmpint (take (srtp, TRUE, rtcp (members, 50004)), ==, MCC_DROP_NONE);
  g_assert_cmpint (take (srtp, TRUE, packets[0]), ==, MCC_DROP_REPLAYED);
  gst_mcc_srtp_free (srtp);
  gst_mcc_srtp_free (first);
  gst_mcc_srtp_free (members);
  gst_mcc_srtp_free (stranger);
}

/* The same of a sender that begins anew, under another SSRC, again and again. One that comes back
 * is read once it says how far it is. */
static void
test_full_of_streams (void)
{
  GstMccSrtp *sender = make (TRUE, KEY_A), *receiver = make (FALSE, KEY_A);
  MccIndexApp back = send_many (sender, 1, 65000, 65536), app = back;

  gst_mcc_srtp_set_indexes (receiver, &app, followed, now);
  g_assert_cmpint (take (receiver, FALSE, rtp (sender, 1, 65000)), ==, MCC_DROP_NONE);
  for (guint32 ssrc = 2; ssrc <= STREAMS_MAX; ssrc++) {
    app.entry[0].ssrc = ssrc;
    gst_mcc_srtp_set_indexes (receiver, &app, followed, now);
  }
  g_assert_cmpint (take (receiver, FALSE, rtp (sender, 50001, 1)), ==, MCC_DROP_UNAUTHENTIC);
  now += 60 * MINUTE;
  g_assert_cmpint (take (receiver, FALSE, rtp (sender, 50001, 2)), ==, MCC_DROP_NONE);
  g_assert_cmpint (take (receiver, FALSE, rtp (sender, 1, 65001)), ==, MCC_DROP_UNAUTHENTIC);
  gst_mcc_srtp_set_indexes (receiver, &back, followed, now);
  g_assert_cmpint (take (receiver, FALSE, rtp (sender, 1, 65002)), ==, MCC_DROP_NONE);
  gst_mcc_srtp_free (receiver);
  gst_mcc_srtp_free (sender);
}

int
main (int argc, char **argv)
{
  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/srtp/packets", test_packets);
  g_test_add_func ("/srtp/replay-after-an-hour", test_replay_after_an_hour);
  g_test_add_func ("/srtp/ciphers", test_ciphers);
  g_test_add_func ("/srtp/new-keys", test_rekey);
  g_test_add_func ("/srtp/late-joiner/round", test_late_joiner);
  g_test_add_func ("/srtp/late-joiner/new-keys", test_late_rekey);
  g_test_add_func ("/srtp/indexes-of-the-newest-streams", test_newest);
  g_test_add_func ("/srtp/false-index", test_false_index);
  g_test_add_func ("/srtp/false-index/first", test_false_index_first);
  g_test_add_func ("/srtp/errors-name-the-line-not-the-key", test_key_errors);
  g_test_add_func ("/srtp/own", test_own);
  g_test_add_func ("/srtp/flood-of-ssrcs", test_flood);
  g_test_add_func ("/srtp/more-members-than-are-kept", test_full);
  g_test_add_func ("/srtp/more-streams-than-are-kept", test_full_of_streams);
  return g_test_run ();
}
