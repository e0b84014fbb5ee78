/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Who may become a receiver, and under which name.
 */
#include "sender_fixture.h"

#define RTT (50 * MCC_MSECOND)
#define INTERVAL (200 * MCC_MSECOND)

static Fixture
fixture_that_wants_blocks (uint32_t max_receivers)
{
  Fixture f;
  MccAsmpSenderConfig config = default_config (MCC_VARIANT_ENHANCED);
  config.wants_block = true;
  config.max_receivers = max_receivers;
  fixture_init (&f, &config);
  run_for (&f, MCC_SECOND);
  return f;
}

/* A report with a block about the media beside it: of one who hears the session. */
static MccDrop
report_hearing (Fixture *f, Peer *peer)
{
  MccAddress from = address_of (peer->host);
  mcc_asmp_sender_handle_block (f->sender, peer->ssrc, &from, f->now);
  return peer_report (f, peer);
}

/* Who hears a newcomer's first report cannot take its name, however soon he reports. */
static void
test_newcomers_name (void)
{
  Fixture f = fixture_that_wants_blocks (4096);
  Peer victim = { .ssrc = 7, .host = 1, .rate_bps = 120000, .rtt = RTT };
  Peer thief = {
    .ssrc = 7, .host = 2, .rate_bps = 9000000, .rtt = 5 * MCC_SECOND, .flags = MCC_REPORT_NO_LIMIT
  };
  g_assert_cmpint (report_hearing (&f, &victim), ==, MCC_DROP_PROBATION);
  for (unsigned i = 0; i < 20; i++) {
    run_for (&f, 5 * MCC_MSECOND);
    g_assert_cmpint (report_hearing (&f, &thief), ==, MCC_DROP_ADDRESS);
  }
  g_assert_cmpint (report_hearing (&f, &victim), ==, MCC_DROP_NONE);
  g_assert_cmpuint (f.target, ==, 120000);
  for (unsigned i = 0; i < 50; i++) {
    g_assert_cmpint (report_hearing (&f, &thief), ==, MCC_DROP_ADDRESS);
    g_assert_cmpint (report_hearing (&f, &victim), ==, MCC_DROP_NONE);
    f.rtt.count = 0;
    run_for (&f, INTERVAL);
    for (unsigned k = 0; k < f.rtt.count; k++) /* the thief's is not taken for the victim's */
      g_assert_cmpuint (f.rtt.entry[k].rtt, <, MCC_SECOND);
  }
  g_assert_cmpuint (f.target, ==, 120000);
  fixture_clear (&f);
}

/* Whether the forger of a name or its true owner came first: a minute later both are members, and
 * the first one is what it was. One host's addresses do not take all places that there are. */
static void
test_name_taken_first (void)
{
  enum { PORTS = 6 };
  Fixture f = fixture_that_wants_blocks (4096);
  Peer first = { .ssrc = 7, .host = 1, .rate_bps = 600000, .rtt = RTT };
  Peer other = { .ssrc = 7, .host = 2, .rate_bps = 400000, .rtt = 2 * RTT };
  uint32_t number = 0;
  for (unsigned i = 0; i < 20; i++) {
    report_hearing (&f, &first);
    run_for (&f, INTERVAL);
  }
  MccTime begin = f.now, counted = 0;
  for (unsigned i = 0; f.now < begin + 90 * MCC_SECOND; i++) {
    MccAddress port = address_of (first.host);
    port.port = (uint16_t)(6000 + i % PORTS);
    mcc_asmp_sender_handle_block (f.sender, first.ssrc, &port, f.now);
    mcc_asmp_sender_handle_report (
        f.sender, first.ssrc, &(MccAppReport){ .number = number++, .rate_bps = 1 }, &port, f.now);
    g_assert_cmpint (report_hearing (&f, &first), ==, MCC_DROP_NONE);
    /* its places are taken when the other one comes */
    if (i >= 10 && report_hearing (&f, &other) == MCC_DROP_NONE && counted == 0)
      counted = f.now;
    g_assert_cmpuint (f.target, ==, counted > 0 ? 400000 : 600000);
    f.rtt.count = 0;
    run_for (&f, INTERVAL);
    for (unsigned k = 0; k < f.rtt.count; k++)
      g_assert_cmpuint (f.rtt.entry[k].rtt, <, 2 * RTT);
  }
  g_assert_cmpuint (counted, >=, begin + 62 * MCC_SECOND);
  g_assert_cmpuint (counted, <=, begin + 64 * MCC_SECOND);
  MccAddress gone = address_of (first.host);
  g_assert_cmpint (mcc_asmp_sender_handle_bye (f.sender, 7, &gone, f.now), ==, MCC_DROP_NONE);
  g_assert_cmpint (report_hearing (&f, &other), ==, MCC_DROP_NONE);
  fixture_clear (&f);
}

static MccAddress
ipv6_of (unsigned network, unsigned host)
{
  MccAddress address = { .family = 6, .port = 5005, .bytes = { 0x20, 0x01, 0x0d, 0xb8 } };
  address.bytes[7] = (uint8_t)network;
  address.bytes[8] = (uint8_t)(host * 37); /* all of the lower half is a host's to choose */
  address.bytes[14] = (uint8_t)(host >> 8);
  address.bytes[15] = (uint8_t)host;
  return address;
}

static MccDrop
report_from (Fixture *f, uint32_t ssrc, uint32_t number, uint64_t rate_bps, const MccAddress *from)
{
  MccAppReport report = { .number = number,
    .flags = MCC_REPORT_ECHO | MCC_REPORT_RTT_MEASURED,
    .rate_bps = rate_bps,
    .rtt = RTT,
    .echo = mcc_abs_send_time (f->now - RTT) };
  mcc_asmp_sender_handle_block (f->sender, ssrc, from, f->now);
  MccDrop drop = mcc_asmp_sender_handle_report (f->sender, ssrc, &report, from, f->now);
  drain (f);
  return drop;
}

/* One host's addresses are those of its /64: they bring no more names for it, and a liar does not
 * get rid of its past by another one. A network of a few hundred receivers is there at once. */
static void
test_ipv6_network (void)
{
  Fixture f = fixture_that_wants_blocks (4096);
  for (unsigned i = 0; i < 200; i++) {
    MccAddress from = ipv6_of (1, i);
    g_assert_cmpint (report_from (&f, 1000 + i, 1, 2000000, &from), ==, MCC_DROP_PROBATION);
  }
  unsigned admitted = 0;
  for (unsigned i = 0; i < 2000; i++) {
    MccAddress from = ipv6_of (2, i);
    admitted += report_from (&f, 10000 + i, 1, 2000000, &from) == MCC_DROP_PROBATION;
  }
  g_assert_cmpuint (admitted, <=, 256);
  g_assert_cmpuint (admitted, >=, 240); /* a few fall on a place with others */
  MccAddress other = ipv6_of (3, 1);
  g_assert_cmpint (report_from (&f, 90000, 1, 2000000, &other), ==, MCC_DROP_PROBATION);
  fixture_clear (&f);
}

static MccAddress
mapped_of (unsigned host)
{
  MccAddress address
      = { .family = 6, .port = 5005, .bytes = { [10] = 0xff, [11] = 0xff, [12] = 10 } };
  address.bytes[14] = (uint8_t)(host >> 8);
  address.bytes[15] = (uint8_t)host;
  return address;
}

/* IPv4 hosts in IPv6 are no network of one host, and each brings its names, however their addresses
 * differ. */
static void
test_mapped_hosts (void)
{
  Fixture f = fixture_that_wants_blocks (4096);
  for (unsigned i = 0; i < 2000; i++) {
    MccAddress from = mapped_of (i);
    g_assert_cmpint (report_from (&f, 5000 + i, 1, 2000000, &from), ==, MCC_DROP_PROBATION);
  }
  fixture_clear (&f);
}

static void
test_ipv6_liar (void)
{
  Fixture f = fixture_that_wants_blocks (4096);
  MccAddress from[] = { ipv6_of (1, 1), ipv6_of (2, 1), ipv6_of (2, 2) };
  for (uint32_t i = 0; i < 80; i++) {
    report_from (&f, 1, i, 2000000, &from[0]);
    report_from (&f, 2, i, 1000, &from[1]);
    run_for (&f, 500 * MCC_MSECOND);
  }
  g_assert_cmpuint (f.quarantined, ==, 1);
  for (uint32_t i = 80; i < 84; i++) {
    report_from (&f, 1, i, 2000000, &from[0]);
    report_from (&f, 3, i, 1000, &from[2]);
    run_for (&f, 500 * MCC_MSECOND);
  }
  g_assert_cmpuint (f.quarantined, ==, 2);
  fixture_clear (&f);
}

/* @from's receivers @first ..., all that there are, report; returns how many of them count. */
static unsigned
report_crowd (Fixture *f, uint32_t first, unsigned count, uint32_t number, uint64_t rate_bps,
    const MccAddress *from)
{
  unsigned counted = 0;
  for (unsigned i = 0; i < count; i++)
    counted += report_from (f, first + i, number, rate_bps, from) == MCC_DROP_NONE;
  return counted;
}

/* Where there is room many receivers behind one address are served; of a table that is half full
 * one host has a quarter at most, and who is refused for that holds no rate. */
static void
test_share_of_one_host (void)
{
  enum { PLACES = 800, SHARE = PLACES / 4, EACH = 60, SLOW = 2000000, FAST = 3000000 };
  Fixture f = fixture_that_wants_blocks (PLACES);
  MccAddress translator = address_of (1), hog = address_of (2), late = address_of (3);
  uint32_t number = 0;
  unsigned counted = 0;
  for (unsigned i = 0; i < 90; i++) {
    counted = report_crowd (&f, 1000, 300, ++number, SLOW, &translator);
    run_for (&f, MCC_SECOND);
  }
  g_assert_cmpuint (counted, ==, 300);
  for (unsigned i = 0; i < 4; i++) { /* 480 of 800 places are taken */
    report_crowd (&f, 1000, 300, ++number, SLOW, &translator);
    for (unsigned k = 0; k < 3; k++) {
      MccAddress from = address_of (10 + k);
      report_crowd (&f, 2000 + 100 * k, EACH, number, SLOW, &from);
    }
    run_for (&f, MCC_SECOND);
  }
  g_assert_cmpuint (f.target, ==, SLOW);
  for (unsigned i = 0; i < 120; i++) {
    ++number;
    g_assert_cmpuint (report_crowd (&f, 1000, 300, number, FAST, &translator), ==, 300);
    for (unsigned k = 0; k < 3; k++) {
      MccAddress from = address_of (10 + k);
      report_crowd (&f, 2000 + 100 * k, EACH, number, FAST, &from);
    }
    counted = report_crowd (&f, 5000, 400, number, FAST, &hog);
    g_assert_cmpuint (counted, <=, SHARE);
    run_for (&f, MCC_SECOND);
  }
  g_assert_cmpuint (counted, ==, SHARE);
  g_assert_cmpuint (dropped (&f, MCC_DROP_TABLE_FULL), >, 0);
  g_assert_cmpuint (f.target, ==, FAST);
  for (unsigned i = 0; i < 20; i++)
    g_assert_cmpint (report_from (&f, 9000 + i, 1, FAST, &late), ==, MCC_DROP_PROBATION);
  fixture_clear (&f);
}

/* However many strangers report, most of the table is not for them, they put out no newcomer that
 * hears the session, and they hold no rate. */
static void
test_strangers (void)
{
  enum { PLACES = 400 };
  Fixture f = fixture_that_wants_blocks (PLACES);
  Peer peers[] = { { .ssrc = 1, .host = 1, .rate_bps = 600000, .rtt = RTT },
    { .ssrc = 2, .host = 2, .rate_bps = 700000, .rtt = RTT } };
  Peer newcomer = { .ssrc = 3, .host = 3, .rate_bps = 900000, .rtt = RTT };
  for (unsigned i = 0; i < 10; i++) {
    report_hearing (&f, &peers[0]);
    report_hearing (&f, &peers[1]);
    run_for (&f, INTERVAL);
  }
  g_assert_cmpuint (f.target, ==, 600000);
  g_assert_cmpint (report_hearing (&f, &newcomer), ==, MCC_DROP_PROBATION);
  peers[0].rate_bps = peers[1].rate_bps = 800000;
  for (unsigned i = 0; i < 20000; i++) {
    Peer stranger = { .ssrc = 1000 + i, .host = 1000 + i, .rate_bps = 1, .rtt = i % 2 ? RTT : 0 };
    g_assert_cmpint (peer_report (&f, &stranger), ==, MCC_DROP_PROBATION);
    g_assert_cmpuint (mcc_asmp_sender_members (f.sender), <=, 3 + PLACES / 4);
    if (i % 2000 == 1999) {
      report_hearing (&f, &peers[0]);
      report_hearing (&f, &peers[1]);
      run_for (&f, INTERVAL);
    }
  }
  g_assert_cmpint (report_hearing (&f, &newcomer), ==, MCC_DROP_NONE);
  g_assert_cmpuint (f.target, ==, 800000);
  fixture_clear (&f);
}

/* Where all places are taken by those who hear the session a stranger is nobody; another one of
 * them may be the slowest. */
static void
test_full_of_receivers (void)
{
  enum { PLACES = 70 };
  for (unsigned hears = 0; hears < 2; hears++) {
    Fixture f = fixture_that_wants_blocks (PLACES);
    Peer peers[PLACES], late = { .ssrc = 999, .host = 999, .rate_bps = 500000, .rtt = RTT };
    for (unsigned i = 0; i < PLACES; i++)
      peers[i] = (Peer){ .ssrc = 1 + i, .host = 1 + i, .rate_bps = 600000, .rtt = RTT };
    for (unsigned n = 0; n < 20; n++) {
      for (unsigned i = 0; i < PLACES; i++) {
        report_hearing (&f, &peers[i]);
        peers[i].rate_bps = n < 10 ? 600000 : 800000;
      }
      if (n >= 10)
        g_assert_cmpint (
            hears ? report_hearing (&f, &late) : peer_report (&f, &late), ==, MCC_DROP_TABLE_FULL);
      run_for (&f, INTERVAL);
    }
    g_assert_cmpuint (f.target, ==, hears ? 600000 : 800000);
    fixture_clear (&f);
  }
}

/* Plain players have to report twice like all others, and seldom do, but name the media: of a crowd
 * of them that comes at once none makes room for another one while there is some. */
static void
test_plain_crowd (void)
{
  enum { PLACES = 400, CROWD = 300 };
  Fixture f = fixture_that_wants_blocks (PLACES);
  for (unsigned n = 0; n < 2; n++)
    for (unsigned i = 0; i < CROWD; i++) {
      MccAddress from = address_of (1 + i);
      MccDrop drop = mcc_asmp_sender_handle_plain_report (
          f.sender, 1 + i, &(MccPlainReport){ .rtt = RTT }, &from, f.now);
      g_assert_cmpint (drop, ==, n > 0 ? MCC_DROP_NONE : MCC_DROP_PROBATION);
      Peer stranger = { .ssrc = 1000 + i, .host = 1000 + i, .rate_bps = 1 };
      peer_report (&f, &stranger);
      run_for (&f, STEP);
    }
  fixture_clear (&f);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/asmp-sender/admit/a-newcomers-name-is-its-own", test_newcomers_name);
  g_test_add_func ("/asmp-sender/admit/a-name-that-another-one-has", test_name_taken_first);
  g_test_add_func ("/asmp-sender/admit/ipv6-network", test_ipv6_network);
  g_test_add_func ("/asmp-sender/admit/mapped-hosts", test_mapped_hosts);
  g_test_add_func ("/asmp-sender/admit/ipv6-liar", test_ipv6_liar);
  g_test_add_func ("/asmp-sender/admit/share-of-one-host", test_share_of_one_host);
  g_test_add_func ("/asmp-sender/admit/strangers-do-not-fill-the-table", test_strangers);
  g_test_add_func ("/asmp-sender/admit/full-of-receivers", test_full_of_receivers);
  g_test_add_func ("/asmp-sender/admit/crowd-of-plain-players", test_plain_crowd);
  return g_test_run ();
}
