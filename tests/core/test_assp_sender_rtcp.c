/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What an ASSP sender's announcements take, and what they tell.
 */
#include "assp_sender_fixture.h"

/* All streams' announcements: the sender's quarter of 5 % of the lowest stream, less rtpsession's
 * fifth; where a stream has no receivers, their part of its part, too. Nine tenths are the occupied
 * streams'. */
static void
test_rtcp (void)
{
  static const double share[] = { 0.8, 0.9 * 0.2 + 0.1 * 0.8, 0.9 * 0.2 + 0.1 * 0.8, 0.2 };
  for (unsigned hosts = 0; hosts <= 3; hosts++) {
    Fixture self = fixture_new (MCC_VARIANT_ENHANCED);
    double budget = 2000.0; /* what may be borrowed, once */
    for (unsigned i = 0; i < 240; i++) {
      for (unsigned host = 0; host < hosts; host++)
        report (&self, 1 + host, host, (host + 1) * 1500000);
      run (&self, 500 * MCC_MSECOND);
      uint64_t lowest = mcc_asmp_sender_target_bps (mcc_assp_sender_stream (self.sender, 0));
      budget += 0.05 * share[hosts] * (double)lowest / 8.0 * 0.5;
    }
    g_test_message ("%u hosts: %.0f of %.0f bytes", hosts, self.bytes, budget);
    g_assert_cmpfloat (self.bytes, <=, budget);
    g_assert_cmpfloat (self.bytes, >, 0.3 * budget);
    mcc_assp_sender_free (self.sender);
  }
}

/* Where RTCP is scarce one stream's announcement tells of the others that have receivers, too, and
 * all of it stays within the budget. */
static void
test_carried (MccVariant variant, uint64_t scale, unsigned told, MccTime longest_wait)
{
  Fixture self = fixture_new (variant);
  MccAppSession caps = { .payload_type = 96, .clock_rate = 90000, .encoding_name = "H264" };
  memset (caps.parameters, 'x', 150);
  for (unsigned j = 0; j < 3; j++)
    g_assert_true (mcc_assp_sender_set_caps (self.sender, j, &caps, self.now));
  double budget = 0.0;
  for (unsigned n = 0; n < 40; n++) {
    report (&self, 1, 0, 300000 * scale);
    report (&self, 2, 1, 2500000);
    if (n == 10) { /* newcomers are answered */
      memset (self.told, 0, sizeof self.told);
      self.bytes = 0.0;
    }
    run (&self, MCC_SECOND);
    uint64_t lowest = mcc_asmp_sender_target_bps (mcc_assp_sender_stream (self.sender, 0));
    if (n >= 10)
      budget += 0.05 * (0.9 * 0.2 + 0.1 * 0.8) * (double)lowest / 8.0;
  }
  /* Caps of H.264 take some 200 more; one of each stream may be ahead. */
  g_test_message ("%.0f of %.0f bytes", self.bytes, budget);
  g_assert_cmpfloat (self.bytes, <=, budget + 2 * 500.0);
  for (unsigned j = 0; j < 2; j++) {
    g_test_message ("stream %u: %u announced, %u carried, %.1f s", j, self.told[j].announced,
        self.told[j].carried, mcc_time_to_seconds (self.told[j].longest_wait));
    if (told > 0)
      g_assert_cmpuint (self.told[j].carried, >=, told);
    else
      g_assert_cmpuint (self.told[j].carried, ==, 0);
    g_assert_cmpuint (self.told[j].longest_wait, <=, longest_wait);
  }
  g_assert_cmpuint (self.told[2].carried, ==, 0); /* nobody is there */
  mcc_assp_sender_free (self.sender);
}

static void
test_carried_if_scarce (void)
{
  test_carried (MCC_VARIANT_ENHANCED, 1, 5, 2500 * MCC_MSECOND);
}

static void
test_carried_not_if_plenty (void)
{
  test_carried (MCC_VARIANT_ENHANCED, 6, 0, 1200 * MCC_MSECOND);
}

static void
test_carried_not_published (void)
{
  test_carried (MCC_VARIANT_PUBLISHED, 1, 0, 20 * MCC_SECOND);
}

/* All of an announcement goes into one packet, of however many streams it tells. */
static void
test_carried_in_a_packet (void)
{
  enum { N = MCC_ASSP_STREAMS_MAX };
  MccAsspSenderConfig config = { .variant = MCC_VARIANT_ENHANCED, .seed = 5, .ttl = 4 };
  MccAppSession caps = { .payload_type = 96, .clock_rate = 90000, .encoding_name = "H264" };
  Fixture self = { .now = START };
  unsigned most = 0;
  memset (caps.parameters, 'x', 150);
  config.streams.count = N;
  for (unsigned j = 0; j < N; j++)
    config.streams.stream[j] = (MccAsspStream){ .low_bps = 100000 * (j + 1),
      .high_bps = 100000 * (j + 2),
      .address_offset = (uint16_t)(1 + j),
      .port_offset = (uint16_t)(2 * j),
      .ssrc = 11 * (j + 1) };
  self.sender = mcc_assp_sender_new (&config, START);
  for (unsigned j = 0; j < N; j++)
    g_assert_true (mcc_assp_sender_set_caps (self.sender, j, &caps, self.now));
  for (unsigned i = 0; i < 600; i++) {
    MccAsspSenderAction action;
    self.now += 100 * MCC_MSECOND;
    for (unsigned j = 0; j < N && i % 10 == 0; j++) {
      MccAddress from = { .family = 4, .port = 5005, .bytes = { 10, 0, 0, (uint8_t)j } };
      MccAppReport said = { .number = i + 1, .rate_bps = 100000 * (j + 1) };
      mcc_assp_sender_handle_report (self.sender, j, 1000 + j, &said, &from, self.now);
    }
    mcc_assp_sender_handle_timeout (self.sender, self.now);
    while (mcc_assp_sender_poll (self.sender, &action)) {
      if (action.type != MCC_ASSP_SENDER_ASMP || action.asmp.type != MCC_SENDER_SEND_SESSION)
        continue;
      MccApp app = { .subtype = MCC_APP_SESSION, .session = *action.asmp.session };
      size_t bytes = 96 + 28 + 28 * N + mcc_app_size (&app);
      unsigned also = 0;
      for (unsigned j = 0; j < N; j++) {
        if (action.also[j] == NULL)
          continue;
        app.session = *action.also[j];
        bytes += mcc_app_size (&app);
        also++;
      }
      most = MAX (most, also);
      g_assert_cmpuint (bytes, <=, 1200);
    }
  }
  g_assert_cmpuint (most, >=, 3);
  mcc_assp_sender_free (self.sender);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/assp-sender-rtcp/rtcp-of-the-lowest-stream", test_rtcp);
  g_test_add_func (
      "/assp-sender-rtcp/tells-of-others/where-rtcp-is-scarce", test_carried_if_scarce);
  g_test_add_func ("/assp-sender-rtcp/tells-of-others/not-else", test_carried_not_if_plenty);
  g_test_add_func ("/assp-sender-rtcp/tells-of-others/not-published", test_carried_not_published);
  g_test_add_func ("/assp-sender-rtcp/tells-of-others/in-one-packet", test_carried_in_a_packet);
  return g_test_run ();
}
