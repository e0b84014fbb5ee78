/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * gstmccscreen: what it lets through to rtpsession, and whom it has room for.
 */
#include "screenfixture.h"

/* Two chunks; the CNAME is neither first nor last. */
static Compound
chatty (guint32 ssrc)
{
  Compound c = { .size = 0 };

  put_rr (&c, ssrc, 0);
  put_header (&c, 202, 2, 10);
  put32 (&c, ssrc);
  put32 (&c, 0x0804ff61); /* PRIV, whose prefix is longer than itself */
  put32 (&c, 0x62630204); /* NAME, 4 bytes */
  put32 (&c, 0x6e616d65);
  put32 (&c, 0x01026374); /* CNAME, 2 bytes */
  put32 (&c, 0x08020161); /* PRIV */
  put32 (&c, 0);
  put32 (&c, ssrc);
  put32 (&c, 0x01017800); /* another CNAME */
  return c;
}

/* Of SDES rtpsession gets the CNAME and nothing else. */
static void
test_cname_alone (void)
{
  static const guint8 wanted[]
      = { 0x81, 202, 0, 3, 0x11, 0x22, 0x33, 0x44, 1, 2, 'c', 't', 0, 0, 0, 0 };
  GstMccScreen *screen = make ();
  Compound c = chatty (SSRC), none = { .size = 0 };
  gsize bytes;

  handle (screen, &c, address (1, 5005), START);
  bytes = handle (screen, &c, address (1, 5005), START);
  g_assert_cmpuint (drops (), ==, 0);
  g_assert_cmpuint (bytes, ==, 8 + sizeof wanted);
  g_assert_cmpmem (forward + 8, bytes - 8, wanted, sizeof wanted);
  /* without one there is no SDES */
  put_rr (&none, SSRC, 0);
  put_header (&none, 202, 1, 4);
  put32 (&none, SSRC);
  put32 (&none, 0x08040161);
  put32 (&none, 0x62630000);
  bytes = handle (screen, &none, address (1, 5005), START + GST_MCC_SCREEN_PASS);
  g_assert_cmpuint (drops (), ==, 0);
  g_assert_cmpuint (bytes, ==, 8);
  gst_mcc_screen_free (screen);
}

/* Every length: it is whole, and ends in a null. */
static void
test_cname_lengths (void)
{
  for (guint length = 0; length < 256; length++) {
    GstMccScreen *screen = make ();
    Compound c = { .size = 0 };
    gsize bytes;

    put_rr (&c, SSRC, 0);
    put_header (&c, 202, 1, 2 + (2 + length) / 4 + 1);
    put32 (&c, SSRC);
    c.data[c.size] = 1;
    c.data[c.size + 1] = (guint8)length;
    memset (c.data + c.size + 2, 'x', length);
    c.size += ((2 + length) / 4 + 1) * 4;
    handle (screen, &c, address (1, 5005), START);
    bytes = handle (screen, &c, address (1, 5005), START);
    g_assert_cmpmem (forward, bytes, c.data, c.size);
    gst_mcc_screen_free (screen);
  }
}

/* One host with more names than the table holds, each heard twice, and no end of them: who comes
 * from another one is heard, and stays. */
static void
fill (gboolean ipv6)
{
  GstMccScreen *screen = make ();
  MccTime now = START;
  guint heard = 0;

  for (guint i = 0; i < 60000; i++) {
    Compound forged = report (0x50000000u + i), c = report (SSRC + i / 500);
    MccAddress from = address (3, (guint16)i), other = address (1, 5005);

    if (ipv6) {
      /* a /64 of the forger's, another of the others' */
      from = (MccAddress){ .family = 6, .port = 5005, .bytes = { 0x20, 1, 0xd, 0xb8, 1 } };
      other = from;
      memcpy (from.bytes + 8, &i, sizeof i);
      other.bytes[4] = 2;
    }
    now += MCC_MSECOND;
    handle (screen, &forged, from, now);
    handle (screen, &forged, from, now);
    if (i % 500 == 100) {
      seen.apps = 0;
      handle (screen, &c, other, now);
      heard += seen.apps;
    }
    if (i % 500 == 499) { /* half a second later it is known */
      guint byes = seen.byes;

      put_bye (&c, SSRC + i / 500);
      handle (screen, &c, other, now);
      heard += seen.byes - byes;
    }
  }
  g_assert_cmpuint (heard, ==, 2 * 60000 / 500);
  g_assert_cmpuint (seen.dropped[MCC_DROP_TABLE_FULL], ==, 0);
  gst_mcc_screen_free (screen);
}

static void
test_one_host (void)
{
  fill (FALSE);
  fill (TRUE);
}

/* As long as there is room a host may have it all: many behind one address translator. */
static void
test_many_behind_one (void)
{
  GstMccScreen *screen = make ();

  for (guint round = 0; round < 10; round++)
    for (guint i = 0; i < 4096; i++) {
      Compound c = report (0x1000u + i);

      if (round == 9)
        put_bye (&c, 0x1000u + i);
      handle (screen, &c, address (3, (guint16)(1000 + i)), START + round * 10 * MCC_SECOND);
    }
  g_assert_cmpuint (seen.apps, ==, 10 * 4096);
  g_assert_cmpuint (seen.byes, >=, 4095); /* all are known still */
  g_assert_cmpuint (seen.dropped[MCC_DROP_TABLE_FULL], ==, 0);
  gst_mcc_screen_free (screen);
}

/* As IPv6 has it (RFC 4291 2.5.5.2). */
static MccAddress
mapped (MccAddress address)
{
  MccAddress out = { .family = 6, .port = address.port, .bytes = { [10] = 0xff, [11] = 0xff } };

  memcpy (out.bytes + 12, address.bytes, 4);
  return out;
}

/* Many hosts fill it: nobody who is active has to go, and it is said. */
static void
test_many_hosts (void)
{
  for (guint form = 0; form < 2; form++) {
    GstMccScreen *screen = make ();
    Compound c = report (SSRC);
    guint apps;

    for (guint i = 0; i < 40000; i++) {
      Compound forged = report (0x50000000u + i);
      MccAddress from = address ((guint8)i, (guint16)i);

      handle (screen, &forged, form ? mapped (from) : from, START);
      handle (screen, &forged, form ? mapped (from) : from, START);
    }
    apps = seen.apps;
    for (guint port = 0; port < 100; port++) {
      MccAddress from = { .family = 4, .port = (guint16)port, .bytes = { 11 } };

      handle (screen, &c, form ? mapped (from) : from, START + MCC_SECOND);
    }
    g_assert_cmpuint (seen.apps, <, apps + 50);
    g_assert_cmpuint (seen.dropped[MCC_DROP_TABLE_FULL], >, 0);
    gst_mcc_screen_free (screen);
  }
}

static guint known;

static guint
on_known (gpointer user)
{
  return known;
}

/* rtpsession knows so many: whom it surely knows it goes on to hear, who leaves included, and
 * nobody else; but the sender that a receiver follows, and a collision. */
static void
test_known (void)
{
  GstMccScreenFuncs counting = funcs;
  GstMccScreen *screen;
  MccAddress unknown = { 0 };
  MccTime now = START;
  Compound a = report (SSRC), b = report (SSRC + 1), bye = report (SSRC);
  Compound own = report (OWN_SSRC), media = report (SSRC + 2);

  put_bye (&bye, SSRC);
  memset (&seen, 0, sizeof seen);
  counting.known = on_known;
  screen = gst_mcc_screen_new (&counting, NULL, 1);
  gst_mcc_screen_set_own (screen, &(guint32){ OWN_SSRC }, 1, OWN_PORT);
  gst_mcc_screen_set_followed (screen, SSRC + 2, &unknown, FALSE);
  known = GST_MCC_SCREEN_KNOWN - 1;
  handle (screen, &a, address (1, 1), now);
  g_assert_cmpuint (handle (screen, &a, address (1, 1), now), >, 0);
  known = GST_MCC_SCREEN_KNOWN;
  for (guint i = 0; i < 10; i++) {
    now += GST_MCC_SCREEN_PASS;
    g_assert_cmpuint (handle (screen, &a, address (1, 1), now), >, 0);
    g_assert_cmpuint (handle (screen, &b, address (2, 1), now), ==, 0);
    g_assert_true ((handle (screen, &media, address (3, 1), now) > 0) == (i > 0));
  }
  g_assert_cmpuint (handle (screen, &own, address (4, 1), now), >, 0);
  g_assert_cmpuint (handle (screen, &bye, address (1, 1), now), >, 0);
  /* it has left, and is new */
  g_assert_cmpuint (handle (screen, &a, address (1, 1), now), ==, 0);
  known = 0;
  now += GST_MCC_SCREEN_PASS;
  g_assert_cmpuint (handle (screen, &a, address (1, 1), now), >, 0);
  g_assert_cmpuint (handle (screen, &b, address (2, 1), now), >, 0);
  known = GST_MCC_SCREEN_KNOWN;
  now += GST_MCC_SCREEN_KEPT; /* it may have been forgotten meanwhile */
  g_assert_cmpuint (handle (screen, &a, address (1, 1), now), ==, 0);
  g_assert_cmpuint (seen.byes, ==, 1);
  gst_mcc_screen_free (screen);
}

/* A true collision is passed on at once; one that is forged again and again less and less often,
 * whether with or without pauses; after quiet times as at first. */
static void
test_collisions (void)
{
  static const guint at_s[] = { 0, 10, 30, 70, 150, 310, 630, 1270, 2550, 5110, 8710, 12310 };
  GstMccScreen *screen = make ();
  Compound c = report (OWN_SSRC);
  guint passed = 0;

  for (guint s = 0; s < 12500; s++)
    if (handle (screen, &c, address (8, (guint16)(s + 1)), START + s * MCC_SECOND) > 0) {
      g_assert_cmpuint (passed, <, G_N_ELEMENTS (at_s));
      g_assert_cmpuint (s, ==, at_s[passed++]);
    }
  g_assert_cmpuint (passed, ==, G_N_ELEMENTS (at_s));
  g_assert_cmpuint (seen.dropped[MCC_DROP_ADDRESS], ==, 12500 - passed);
  /* a day later */
  for (guint s = 0; s < 100; s++)
    passed += handle (screen, &c, address (8, 1), START + (100000 + s) * MCC_SECOND) > 0;
  g_assert_cmpuint (passed, ==, G_N_ELEMENTS (at_s) + 4);
  gst_mcc_screen_free (screen);
}

/* Bursts with quiet hours between them gain nothing in the long run. */
static void
test_collisions_in_bursts (void)
{
  Compound c = report (OWN_SSRC);

  for (guint hours = 1; hours <= 12; hours++) {
    GstMccScreen *screen = make ();
    guint passed = 0, days = 20, last = 0;

    for (guint s = 0; s < days * 86400; s += 10)
      if (s < last + 600 || s >= last + hours * 3600) {
        if (s >= last + hours * 3600)
          last = s;
        passed += handle (screen, &c, address (8, 1), START + s * MCC_SECOND) > 0;
      }
    g_assert_cmpuint (passed, <=, days * 24 + 10);
    gst_mcc_screen_free (screen);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/screen/forward/cname-alone", test_cname_alone);
  g_test_add_func ("/screen/forward/cname-lengths", test_cname_lengths);
  g_test_add_func ("/screen/table/one-host", test_one_host);
  g_test_add_func ("/screen/table/many-behind-one", test_many_behind_one);
  g_test_add_func ("/screen/table/many-hosts", test_many_hosts);
  g_test_add_func ("/screen/forward/known", test_known);
  g_test_add_func ("/screen/forward/collisions", test_collisions);
  g_test_add_func ("/screen/forward/collisions-in-bursts", test_collisions_in_bursts);
  return g_test_run ();
}
