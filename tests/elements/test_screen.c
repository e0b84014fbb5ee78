/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * gstmccscreen: what gets past it, what is counted, and that nothing from the network breaks it.
 */
#include "screenfixture.h"

/* ---- tests ---- */

static void
test_valid (void)
{
  GstMccScreen *screen = make ();
  Compound c = report (SSRC);
  gsize bytes;

  /* the first is heard, but rtpsession sees only who was heard before */
  g_assert_cmpuint (handle (screen, &c, address (1, 5005), START), ==, 0);
  g_assert_cmpuint (seen.apps, ==, 1);
  g_assert_cmpuint (seen.blocks, ==, 1);
  g_assert_true (seen.has_app);
  g_assert_cmpuint (seen.block.ssrc, ==, OWN_SSRC);
  g_assert_cmpfloat (seen.block.fraction_lost, ==, 0.25);
  g_assert_cmpint (seen.block.packets_lost, ==, 7);
  g_assert_cmpuint (seen.block.highest_seq, ==, 0x00010203);
  g_assert_cmpuint (seen.block.lsr, ==, 0xaaaabbbb);
  g_assert_cmpuint (seen.block.dlsr, ==, 0x00010000);
  bytes = handle (screen, &c, address (1, 5005), START + MCC_SECOND);
  g_assert_cmpuint (bytes, ==, 32 + 16); /* RR and SDES, no APP */
  g_assert_cmpmem (forward, bytes, c.data, bytes);
  g_assert_cmpuint (drops (), ==, 0);
  gst_mcc_screen_free (screen);
}

static void
test_every_truncation (void)
{
  GstMccScreen *screen = make ();
  Compound whole = report (SSRC), c;

  for (gsize size = 0; size < whole.size; size++) {
    c = whole;
    c.size = size;
    handle (screen, &c, address (1, 5005), START + size * MCC_SECOND);
    if (size % 4)
      g_assert_cmpuint (seen.dropped[MCC_DROP_MALFORMED], >, 0);
  }
  /* cut between packets it still is a compound, else not */
  g_assert_cmpuint (seen.blocks, ==, 2);
  g_assert_cmpuint (seen.apps, ==, 0);
  g_assert_cmpuint (seen.dropped[MCC_DROP_MALFORMED], ==, whole.size - 2);
  gst_mcc_screen_free (screen);
}

static void
test_every_byte_mutated (void)
{
  GstMccScreen *screen = make ();
  Compound whole = report (SSRC);
  MccTime now = START;

  put_bye (&whole, SSRC);
  for (gsize at = 0; at < whole.size; at++)
    for (guint value = 0; value < 256; value++) {
      Compound c = whole;
      gsize bytes;

      c.data[at] = (guint8)value;
      bytes = handle (screen, &c, address (1, 5005), now += 50 * MCC_MSECOND);
      g_assert_cmpuint (bytes, <=, c.size);
      g_assert_cmpuint (bytes % 4, ==, 0);
    }
  gst_mcc_screen_free (screen);
}

static void
test_random (void)
{
  GstMccScreen *screen = make ();
  GRand *rand = g_rand_new_with_seed (5);

  for (guint i = 0; i < 200000; i++) {
    Compound c;

    c.size = (gsize)g_rand_int_range (rand, 0, 40) * 4;
    for (gsize at = 0; at < c.size; at += 4) {
      guint32 word = g_rand_int (rand);

      memcpy (c.data + at, &word, 4);
    }
    if (c.size >= 8) { /* plausible heads get further */
      c.data[0] = (guint8)(0x80 | g_rand_int_range (rand, 0, 4));
      c.data[1] = (guint8)g_rand_int_range (rand, 200, 208);
      c.data[2] = 0;
      c.data[3] = (guint8)g_rand_int_range (rand, 0, 12);
    }
    handle (screen, &c, address ((guint8)i, (guint16)i), START + i * MCC_MSECOND);
  }
  g_rand_free (rand);
  gst_mcc_screen_free (screen);
}

static void
test_form (void)
{
  GstMccScreen *screen = make ();
  Compound c = { .size = 0 };

  put_app (&c, SSRC); /* reduced size (RFC 5506): no report in front */
  handle (screen, &c, address (1, 1), START);
  g_assert_cmpuint (seen.dropped[MCC_DROP_MALFORMED], ==, 1);
  c = report (SSRC);
  c.data[0] |= 0x20; /* padding in a packet that is not the last */
  handle (screen, &c, address (1, 1), START);
  c = report (SSRC);
  c.data[0] &= 0x3f; /* version 0 */
  handle (screen, &c, address (1, 1), START);
  c = (Compound){ .size = 0 };
  for (guint i = 0; i <= GST_MCC_SCREEN_PACKETS; i++)
    put_rr (&c, SSRC, 0);
  handle (screen, &c, address (1, 1), START);
  c = (Compound){ .size = 0 };
  put_rr (&c, SSRC, 0);
  put_header (&c, 202, 1, 3); /* an SDES item that runs out of its packet */
  put32 (&c, SSRC);
  put32 (&c, 0x01ff6e61);
  handle (screen, &c, address (1, 1), START);
  c = (Compound){ .size = 0 };
  put_rr (&c, SSRC, 0);
  put_header (&c, 203, 1, 3); /* a BYE whose reason does */
  put32 (&c, SSRC);
  put32 (&c, 0x09000000);
  handle (screen, &c, address (1, 1), START);
  g_assert_cmpuint (seen.dropped[MCC_DROP_MALFORMED], ==, 6);
  g_assert_cmpuint (seen.apps + seen.byes, ==, 0);
  gst_mcc_screen_free (screen);
}

static void
test_padding (void)
{
  GstMccScreen *screen = make ();
  Compound c = { .size = 0 };

  put_rr (&c, SSRC, 0);
  put_header (&c, 203, 1, 3);
  c.data[8] |= 0x20;
  put32 (&c, SSRC);
  put32 (&c, 4);
  handle (screen, &c, address (1, 1), START);
  g_assert_cmpuint (handle (screen, &c, address (1, 1), START), ==, 16);
  g_assert_cmpuint (forward[8] & 0x20, ==, 0);
  g_assert_cmpuint (forward[11], ==, 1);
  g_assert_cmpuint (seen.byes, ==, 1);
  gst_mcc_screen_free (screen);
}

static void
test_one_member (void)
{
  GstMccScreen *screen = make ();
  Compound c = { .size = 0 };

  put_rr (&c, SSRC, 0);
  put_app (&c, SSRC + 1);
  put_bye (&c, SSRC + 1);
  put_sdes (&c, SSRC + 1);
  put_rr (&c, SSRC + 1, 1);
  handle (screen, &c, address (1, 1), START);
  g_assert_cmpuint (handle (screen, &c, address (1, 1), START), ==, 8);
  g_assert_cmpuint (seen.dropped[MCC_DROP_SSRC_MISMATCH], ==, 8);
  g_assert_cmpuint (seen.apps + seen.byes + seen.blocks, ==, 0);
  gst_mcc_screen_free (screen);
}

static guint32 carried_ssrc;
static guint8 carried_stream;

static void
on_carried (gpointer user, const MccAsspApp *app, const MccAddress *from)
{
  seen.apps++;
  carried_ssrc = app->ssrc;
  carried_stream = (guint8)app->stream;
}

static void
put_assp (Compound *c, guint32 ssrc, guint8 subtype)
{
  MccAsspApp app = { .ssrc = ssrc, .subtype = subtype, .stream = 2 };

  app.asmp = (MccApp){ .ssrc = ssrc, .subtype = subtype };
  if (subtype == MCC_APP_SESSION)
    app.asmp.session = (MccAppSession){ .media_ssrc = ssrc,
      .payload_type = 255,
      .min_bps = 1,
      .max_bps = 2,
      .start_bps = 1,
      .target_bps = 1 };
  else
    app.asmp.report = (MccAppReport){ .number = 1, .rate_bps = 300000 };
  c->size += mcc_assp_app_encode (&app, c->data + c->size, sizeof c->data - c->size);
}

/* A stream's sessions may be told by a sibling; nobody else is spoken for by another. */
static void
test_carried_sessions (void)
{
  GstMccScreenFuncs assp = funcs;
  Compound c = { .size = 0 }, report = { .size = 0 };
  MccAddress sender = address (1, 5005);
  GstMccScreen *screen;

  put_rr (&c, SSRC, 0);
  put_assp (&c, SSRC + 1, MCC_APP_SESSION);
  put_rr (&report, SSRC, 0);
  put_assp (&report, SSRC + 1, MCC_APP_REPORT);
  memset (&seen, 0, sizeof seen);
  assp.assp_app = on_carried;
  screen = gst_mcc_screen_new (&assp, NULL, 1);
  handle (screen, &c, sender, START);
  g_assert_cmpuint (handle (screen, &c, sender, START), ==, 8); /* RR: none of it is rtpsession's */
  g_assert_cmpuint (seen.apps, ==, 2);
  g_assert_cmpuint (carried_ssrc, ==, SSRC + 1);
  g_assert_cmpuint (carried_stream, ==, 2);
  g_assert_cmpuint (drops (), ==, 0);
  handle (screen, &report, sender, START);
  g_assert_cmpuint (seen.apps, ==, 2);
  g_assert_cmpuint (seen.dropped[MCC_DROP_SSRC_MISMATCH], ==, 1);
  /* who is followed speaks from one host, carried or not */
  gst_mcc_screen_set_followed (screen, SSRC + 1, &sender, FALSE);
  handle (screen, &c, sender, START);
  handle (screen, &c, address (2, 5005), START);
  g_assert_cmpuint (seen.apps, ==, 3);
  g_assert_cmpuint (seen.dropped[MCC_DROP_ADDRESS], ==, 1);
  gst_mcc_screen_free (screen);
  /* only ASSP has siblings */
  screen = make ();
  handle (screen, &c, sender, START);
  g_assert_cmpuint (seen.dropped[MCC_DROP_SSRC_MISMATCH], ==, 1);
  gst_mcc_screen_free (screen);
}

static void
test_bye_needs_the_address (void)
{
  GstMccScreen *screen = make ();
  Compound c = report (SSRC), bye = { .size = 0 };

  put_rr (&bye, SSRC, 0);
  put_bye (&bye, SSRC);
  handle (screen, &c, address (1, 5005), START);
  handle (screen, &c, address (1, 5005), START);
  g_assert_cmpuint (handle (screen, &bye, address (2, 5005), START), ==, 0);
  g_assert_cmpuint (seen.byes, ==, 0);
  g_assert_cmpuint (seen.dropped[MCC_DROP_ADDRESS], ==, 1);
  g_assert_cmpuint (handle (screen, &bye, address (1, 5005), START), ==, bye.size);
  g_assert_cmpuint (seen.byes, ==, 1);
  gst_mcc_screen_free (screen);
}

static void
test_own (void)
{
  GstMccScreen *screen = make ();
  Compound c = report (OWN_SSRC);

  g_assert_cmpuint (handle (screen, &c, address (9, OWN_PORT), START), ==, 0);
  g_assert_cmpuint (seen.dropped[MCC_DROP_OWN], ==, 1);
  /* a collision reaches rtpsession, but a forger cannot repeat it at will */
  g_assert_cmpuint (handle (screen, &c, address (8, 1), START), >, 0);
  for (guint i = 1; i < 100; i++)
    g_assert_cmpuint (handle (screen, &c, address (8, 1), START + i * 50 * MCC_MSECOND), ==, 0);
  g_assert_cmpuint (handle (screen, &c, address (8, 1), START + 10 * MCC_SECOND), >, 0);
  g_assert_cmpuint (seen.apps + seen.blocks, ==, 0);
  gst_mcc_screen_free (screen);
}

static void
test_bucket_per_source (void)
{
  GstMccScreen *screen = make ();
  Compound c = report (SSRC), other = report (SSRC + 1);

  for (guint i = 0; i < 1000; i++)
    handle (screen, &c, address (1, 1), START + i * MCC_MSECOND);
  /* burst + 1 s worth */
  g_assert_cmpuint (seen.apps, >=, 70);
  g_assert_cmpuint (seen.apps, <=, 77);
  g_assert_cmpuint (seen.dropped[MCC_DROP_RATE_LIMITED], ==, 1000 - seen.apps);
  seen.apps = 0;
  handle (screen, &other, address (2, 1), START + MCC_SECOND);
  g_assert_cmpuint (seen.apps, ==, 1);
  gst_mcc_screen_free (screen);
}

static void
test_flood_evicts_nobody_active (void)
{
  GstMccScreen *screen = make ();
  Compound c = report (SSRC);
  MccTime now = START;

  handle (screen, &c, address (1, 5005), now);
  handle (screen, &c, address (1, 5005), now);
  for (guint i = 0; i < 300000; i++) {
    Compound forged = report (0x50000000u + i * 2654435761u);

    now += 100 * MCC_USECOND;
    /* nothing of a flood of SSRCs heard once reaches rtpsession */
    g_assert_cmpuint (handle (screen, &forged, address (3, (guint16)i), now), ==, 0);
  }
  seen.apps = 0;
  g_assert_cmpuint (handle (screen, &c, address (1, 5005), now), >, 0);
  g_assert_cmpuint (seen.apps, ==, 1);
  gst_mcc_screen_free (screen);
}

/* We hear each report; rtpsession, for which one is a walk over all that it knows, a few. */
static void
test_known_is_passed_on_seldom (void)
{
  GstMccScreen *screen = make ();
  Compound c = report (SSRC), bye = report (SSRC);
  guint passed = 0;

  put_bye (&bye, SSRC);
  handle (screen, &c, address (1, 5005), START);
  for (guint i = 1; i <= 200; i++) /* 20 s */
    passed += handle (screen, &c, address (1, 5005), START + i * 100 * MCC_MSECOND) > 0;
  g_assert_cmpuint (seen.apps, ==, 201);
  g_assert_cmpuint (passed, ==, 8);
  g_assert_cmpuint (handle (screen, &bye, address (1, 5005), START + 20100 * MCC_MSECOND), >, 0);
  gst_mcc_screen_free (screen);
}

/* All are heard at once; rtpsession gets to know them a little later. */
static void
test_four_thousand_members (void)
{
  GstMccScreen *screen = make ();
  guint forwarded = 0;

  for (guint round = 0; round < 10; round++) {
    guint before = forwarded;

    forwarded = 0;
    for (guint i = 0; i < 4096; i++) {
      Compound c = report (0x1000u + i);

      forwarded += handle (screen, &c, address ((guint8)(i >> 4), (guint16)(1000 + i)),
                       START + round * 10 * MCC_SECOND)
                   > 0;
    }
    g_assert_cmpuint (forwarded, <=, before + 500);
    g_assert_cmpuint (forwarded, >=, MIN (before + 100, 4096) * (round > 0));
  }
  g_assert_cmpuint (seen.apps, ==, 10 * 4096);
  g_assert_cmpuint (seen.dropped[MCC_DROP_TABLE_FULL], ==, 0);
  for (guint round = 0; round < 50; round++) {
    forwarded = 0;
    for (guint i = 0; i < 4096; i++) {
      Compound c = report (0x1000u + i);

      forwarded += handle (screen, &c, address ((guint8)(i >> 4), (guint16)(1000 + i)),
                       START + (100 + round * 3) * MCC_SECOND)
                   > 0;
    }
  }
  g_assert_cmpuint (forwarded, ==, 4096);
  gst_mcc_screen_free (screen);
}

/* Sources that speak twice get past "heard before": what reaches rtpsession is bounded, and those
 * that it knows, and the sender that a receiver follows, are not among what is held back. */
static void
test_flood_of_speakers (void)
{
  GstMccScreen *screen = make ();
  MccAddress unknown = { 0 };
  Compound c = report (SSRC), media = report (SSRC + 1);
  MccTime now = START;
  guint forwarded = 0;

  handle (screen, &c, address (1, 5005), now);
  g_assert_cmpuint (handle (screen, &c, address (1, 5005), now), >, 0);
  for (guint i = 0; i < 5000; i++) {
    Compound forged = report (0x50000000u + i);

    now += 500 * MCC_USECOND;
    handle (screen, &forged, address (3, 1), now);
    forwarded += handle (screen, &forged, address (3, 1), now) > 0;
  }
  /* the burst, and 2.5 s worth */
  g_assert_cmpuint (forwarded, >=, 200);
  g_assert_cmpuint (forwarded, <=, 226);
  g_assert_cmpuint (handle (screen, &c, address (1, 5005), now), >, 0);
  gst_mcc_screen_set_followed (screen, SSRC + 1, &unknown, FALSE);
  handle (screen, &media, address (2, 5005), now);
  g_assert_cmpuint (handle (screen, &media, address (2, 5005), now), >, 0);
  gst_mcc_screen_free (screen);
}

/* The sender that we follow is one host: whoever speaks in its name from another is not heard. */
static void
test_followed_host (void)
{
  GstMccScreen *screen = make ();
  Compound said = report (SSRC), bye = { .size = 0 };
  MccAddress host = address (1, 5004);

  put_rr (&bye, SSRC, 0);
  put_bye (&bye, SSRC);
  gst_mcc_screen_set_followed (screen, SSRC, &host, FALSE);
  for (guint i = 0; i < 5; i++) {
    g_assert_cmpuint (handle (screen, &said, address (3, 5005), START + i * MCC_SECOND), ==, 0);
    g_assert_cmpuint (handle (screen, &bye, address (3, 5005), START + i * MCC_SECOND), ==, 0);
  }
  g_assert_cmpuint (seen.apps, ==, 0);
  g_assert_cmpuint (seen.byes, ==, 0);
  g_assert_cmpuint (seen.dropped[MCC_DROP_ADDRESS], ==, 10);
  handle (screen, &said, address (1, 5005), START + 10 * MCC_SECOND);
  handle (screen, &bye, address (1, 5005), START + 10 * MCC_SECOND);
  g_assert_cmpuint (seen.apps, ==, 1);
  g_assert_cmpuint (seen.byes, ==, 1);
  gst_mcc_screen_free (screen);
}

/* It is gone from there: the core hears what it may say elsewhere, nobody hears anything else. */
static void
test_followed_host_lost (void)
{
  GstMccScreen *screen = make ();
  Compound said = report (SSRC), bye = { .size = 0 };
  MccAddress host = address (1, 5004);

  put_rr (&bye, SSRC, 1);
  put_bye (&bye, SSRC);
  gst_mcc_screen_set_followed (screen, SSRC, &host, TRUE);
  for (guint i = 0; i < 5; i++) {
    g_assert_cmpuint (handle (screen, &said, address (3, 5005), START + i * MCC_SECOND), ==, 0);
    g_assert_cmpuint (handle (screen, &bye, address (3, 5005), START + i * MCC_SECOND), ==, 0);
  }
  g_assert_cmpuint (seen.apps, ==, 5);
  g_assert_cmpuint (seen.byes, ==, 0);
  g_assert_cmpuint (seen.blocks, ==, 0);
  handle (screen, &said, address (1, 5005), START + 10 * MCC_SECOND);
  g_assert_cmpuint (handle (screen, &bye, address (1, 5005), START + 10 * MCC_SECOND), >, 0);
  g_assert_cmpuint (seen.byes, ==, 1);
  gst_mcc_screen_free (screen);
}

static void
test_key_units (void)
{
  GstMccScreen *screen = make ();
  Compound c = { .size = 0 };

  put_rr (&c, SSRC, 0);
  put_header (&c, 206, 1, 3);
  put32 (&c, SSRC);
  put32 (&c, OWN_SSRC);
  handle (screen, &c, address (1, 1), START);
  g_assert_cmpuint (seen.key_units, ==, 1);
  g_assert_cmpuint (seen.media_ssrc, ==, OWN_SSRC);
  c = (Compound){ .size = 0 };
  put_rr (&c, SSRC, 0);
  put_header (&c, 206, 4, 7); /* FIR with two entries */
  put32 (&c, SSRC);
  put32 (&c, 0);
  put32 (&c, 77);
  put32 (&c, 0x01000000);
  put32 (&c, OWN_SSRC);
  put32 (&c, 0x01000000);
  /* PLI and FIR stay here: rtpsession would send them upstream a second time */
  g_assert_cmpuint (handle (screen, &c, address (1, 1), START), ==, 8);
  g_assert_cmpuint (seen.key_units, ==, 3);
  g_assert_cmpuint (seen.media_ssrc, ==, OWN_SSRC);
  gst_mcc_screen_free (screen);
}

static void
test_unknown_types_are_skipped (void)
{
  GstMccScreen *screen = make ();
  Compound c = { .size = 0 };

  put_rr (&c, SSRC, 0);
  put_header (&c, 207, 3, 2); /* XR */
  put32 (&c, 0xdeadbeef);
  put_bye (&c, SSRC);
  handle (screen, &c, address (1, 1), START);
  g_assert_cmpuint (handle (screen, &c, address (1, 1), START), ==, 16);
  g_assert_cmpuint (seen.byes, ==, 1);
  gst_mcc_screen_free (screen);
}

static void
on_assp_app (gpointer user, const MccAsspApp *app, const MccAddress *from)
{
  g_assert_cmpuint (app->stream, ==, 2);
  g_assert_cmpuint (app->asmp.report.rate_bps, ==, 300000);
  seen.apps++;
}

/* A session of ASSP: another name, several SSRCs of ours. */
static void
test_assp (void)
{
  GstMccScreenFuncs assp = funcs;
  GstMccScreen *screen;
  MccAsspApp app = { .ssrc = SSRC, .subtype = MCC_APP_REPORT, .stream = 2 };
  Compound c = { .size = 0 }, own = { .size = 0 }, asmp = report (SSRC);

  assp.assp_app = on_assp_app;
  screen = gst_mcc_screen_new (&assp, NULL, 1);
  memset (&seen, 0, sizeof seen);
  gst_mcc_screen_set_own (screen, (guint32[]){ 7, 8, 9 }, 3, OWN_PORT);
  app.asmp.ssrc = SSRC;
  app.asmp.subtype = MCC_APP_REPORT;
  app.asmp.report.number = 1;
  app.asmp.report.rate_bps = 300000;
  put_rr (&c, SSRC, 1);
  c.size += mcc_assp_app_encode (&app, c.data + c.size, sizeof c.data - c.size);
  handle (screen, &c, address (1, 1), START);
  g_assert_cmpuint (seen.apps, ==, 1);
  g_assert_true (seen.has_app);
  handle (screen, &asmp, address (1, 1), START);
  g_assert_cmpuint (seen.apps, ==, 1);
  g_assert_false (seen.has_app);
  g_assert_cmpuint (seen.dropped[MCC_DROP_UNKNOWN_NAME], ==, 1);
  put_rr (&own, 9, 0);
  handle (screen, &own, address (1, OWN_PORT), START);
  g_assert_cmpuint (seen.dropped[MCC_DROP_OWN], ==, 1);
  gst_mcc_screen_free (screen);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/screen/assp", test_assp);
  g_test_add_func ("/screen/valid", test_valid);
  g_test_add_func ("/screen/every-truncation", test_every_truncation);
  g_test_add_func ("/screen/every-byte-mutated", test_every_byte_mutated);
  g_test_add_func ("/screen/carried-sessions", test_carried_sessions);
  g_test_add_func ("/screen/random", test_random);
  g_test_add_func ("/screen/form", test_form);
  g_test_add_func ("/screen/padding", test_padding);
  g_test_add_func ("/screen/one-member-a-compound", test_one_member);
  g_test_add_func ("/screen/bye-needs-the-address", test_bye_needs_the_address);
  g_test_add_func ("/screen/own", test_own);
  g_test_add_func ("/screen/bucket-per-source", test_bucket_per_source);
  g_test_add_func ("/screen/flood-evicts-nobody-active", test_flood_evicts_nobody_active);
  g_test_add_func ("/screen/known-is-passed-on-seldom", test_known_is_passed_on_seldom);
  g_test_add_func ("/screen/flood-of-speakers-is-held-back", test_flood_of_speakers);
  g_test_add_func ("/screen/4096-members", test_four_thousand_members);
  g_test_add_func ("/screen/followed-host", test_followed_host);
  g_test_add_func ("/screen/followed-host-is-gone", test_followed_host_lost);
  g_test_add_func ("/screen/key-units", test_key_units);
  g_test_add_func ("/screen/unknown-types-are-skipped", test_unknown_types_are_skipped);
  return g_test_run ();
}
