/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "elm_receiver_fixture.h"

#include "mccelmpatience.h"

/* The merged sequence has no gap where a layer is not joined, comes, or goes. */
static void
test_no_losses_by_levels (gconstpointer data)
{
  World world;
  world_init (&world, GPOINTER_TO_UINT (data));
  g_assert_cmpuint (mcc_elm_receiver_next_timeout (world.receiver), ==, MCC_TIME_NONE);
  mcc_elm_receiver_handle_timeout (world.receiver, world.now);
  g_assert_null (mcc_elm_receiver_layers (world.receiver));
  run (&world, 30.0);
  MccElmReceiverStats stats = stats_of (&world);
  g_assert_cmpint (stats.level, ==, 2);
  for (int i = 0; i < 24; i++) {
    mcc_elm_receiver_set_max_level (world.receiver, i % 3, world.now);
    drain (&world);
    run (&world, 15.0);
  }
  stats = stats_of (&world);
  g_assert_cmpuint (stats.packets_lost, ==, 0);
  g_assert_cmpfloat (stats.loss_ratio, ==, 0.0);
  g_assert_cmpuint (stats.leaves, >=, 12);
  g_assert_cmpuint (stats.joins, >=, 12);
  g_assert_cmpuint (world.described, ==, 1);
  g_assert_cmpuint (world.sources, ==, 1);
  g_assert_cmpuint (world.sessions, ==, 1);
  g_assert_nonnull (mcc_elm_receiver_session (world.receiver));
  mcc_elm_receiver_free (world.receiver);
}

static void
test_drops (void)
{
  World world;
  world_init (&world, MCC_VARIANT_ENHANCED);
  g_assert_cmpint (packet (&world, 0, COUNT), ==, MCC_DROP_OTHER_SENDER);
  g_assert_cmpint (announce (&world), ==, MCC_DROP_OTHER_SENDER);
  MccElmLayers bad = world.layers;
  bad.layer[2].cumulative_bps = 1;
  g_assert_cmpint (describe (&world, &bad), ==, MCC_DROP_BAD_VALUE);
  g_assert_cmpint (describe (&world, &world.layers), ==, MCC_DROP_NONE);
  g_assert_cmpuint (world.joined, ==, 1); /* the base at once */
  g_assert_cmpint (describe (&world, &world.layers), ==, MCC_DROP_STALE);
  g_assert_cmpint (packet (&world, 1, COUNT), ==, MCC_DROP_STALE);         /* not joined */
  g_assert_cmpint (packet (&world, 0, COUNT + 1), ==, MCC_DROP_BAD_VALUE); /* other layers */
  g_assert_cmpint (packet (&world, MCC_ELM_LAYERS_MAX - 1, COUNT), ==, MCC_DROP_OTHER_SENDER);
  g_assert_cmpint (packet (&world, 0, COUNT), ==, MCC_DROP_NONE);
  MccElmApp app = { .ssrc = 7, .subtype = MCC_APP_REPORT };
  g_assert_cmpint (
      mcc_elm_receiver_handle_app (world.receiver, &app, NULL, world.now), ==, MCC_DROP_OWN);
  app.ssrc = 8;
  app.asmp.report.loss_ratio = 2.0;
  g_assert_cmpint (
      mcc_elm_receiver_handle_app (world.receiver, &app, NULL, world.now), ==, MCC_DROP_BAD_VALUE);
  app.ssrc = SENDER;
  app.subtype = 17;
  g_assert_cmpint (mcc_elm_receiver_handle_app (world.receiver, &app, NULL, world.now), ==,
      MCC_DROP_UNKNOWN_SUBTYPE);
  MccElmLayers other = world.layers;
  for (unsigned k = 0; k < COUNT; k++)
    other.layer[k].ssrc += 0x1000;
  g_assert_cmpint (describe (&world, &other), ==, MCC_DROP_OTHER_SENDER);
  g_assert_cmpint (describe (&world, &other), ==, MCC_DROP_OTHER_SENDER);
  g_assert_cmpuint (world.others, ==, 1);
  mcc_elm_receiver_free (world.receiver);
}

/* The base takes another SSRC, and its BYE is lost: the layers above, which go on, keep nobody. */
static void
test_base_renamed (void)
{
  World world;
  world_init (&world, MCC_VARIANT_ENHANCED);
  run (&world, 60.0);
  g_assert_cmpint (stats_of (&world).level, ==, 2);
  world.layers.layer[0].ssrc += 0x1000;
  world.renamed[0] = 0x1000;
  world.layers.number++;
  world.silent = true; /* nobody describes the layers for a while, either */
  run (&world, 40.0);
  g_assert_cmpuint (world.lost, ==, 1);
  world.silent = false;
  run (&world, 20.0);
  MccElmReceiverStats before = stats_of (&world);
  g_assert_cmpuint (
      mcc_elm_receiver_layers (world.receiver)->layer[0].ssrc, ==, world.layers.layer[0].ssrc);
  run (&world, 10.0);
  g_assert_cmpuint (stats_of (&world).packets_received, >, before.packets_received + 100);
  mcc_elm_receiver_free (world.receiver);
}

/* A layer above the base takes another SSRC: nothing is left, learnt anew or lost. */
static void
test_renamed (void)
{
  World world;
  world_init (&world, MCC_VARIANT_ENHANCED);
  run (&world, 60.0);
  MccElmReceiverStats before = stats_of (&world);
  g_assert_cmpint (before.level, ==, 2);
  for (unsigned i = 0; i < 5; i++) {
    world.layers.layer[1].ssrc += 0x1000;
    world.layers.number++;
    world.layers.set++;
    g_assert_cmpint (describe (&world, &world.layers), ==, MCC_DROP_NONE);
    run (&world, 5.0); /* the old one first, as long as it lasts */
    world.renamed[1] = world.layers.layer[1].ssrc - (SENDER + 1);
    run (&world, 5.0);
    MccRtpPacket old = { .ssrc = world.layers.layer[1].ssrc - 0x1000, .bytes = 1000 };
    g_assert_cmpint (
        mcc_elm_receiver_handle_rtp (world.receiver, 1, &old, world.c, COUNT, NULL, world.now), ==,
        MCC_DROP_OTHER_SENDER);
  }
  MccElmReceiverStats after = stats_of (&world);
  g_assert_cmpint (after.level, ==, 2);
  g_assert_cmpuint (after.leaves, ==, before.leaves);
  g_assert_cmpuint (after.joins, ==, before.joins);
  g_assert_cmpuint (after.packets_lost, ==, 0);
  g_assert_cmpuint (after.packets_received, >, before.packets_received + 1000);
  g_assert_cmpint (
      mcc_elm_receiver_layers (world.receiver)->layer[1].ssrc, ==, world.layers.layer[1].ssrc);
  /* Whoever joins later takes the new one; other groups are other layers. */
  mcc_elm_receiver_set_max_level (world.receiver, 0, world.now);
  drain (&world);
  mcc_elm_receiver_set_max_level (world.receiver, -1, world.now);
  run (&world, 60.0);
  g_assert_cmpint (stats_of (&world).level, ==, 2);
  world.layers.layer[1].ssrc += 0x1000;
  world.layers.layer[1].port_offset += 8;
  world.layers.number++;
  world.layers.set++;
  describe (&world, &world.layers);
  g_assert_cmpint (stats_of (&world).level, ==, 0);
  mcc_elm_receiver_free (world.receiver);
}

static void
test_reports (void)
{
  World world;
  world_init (&world, MCC_VARIANT_PUBLISHED);
  run (&world, 0.5);
  g_assert_cmpuint (world.reports, ==, 1); /* the first does not wait */
  g_assert_true (world.report.asmp.report.flags & MCC_REPORT_KEY_UNIT);
  g_assert_true (world.report.asmp.report.flags & MCC_REPORT_ECHO);
  g_assert_true (world.report.asmp.report.flags & MCC_REPORT_NO_LIMIT);
  run (&world, 20.0);
  g_assert_cmpuint (world.reports, >=, 16); /* t_fb = 1 s */
  g_assert_cmpuint (world.reports, <=, 25);
  unsigned before = world.reports;
  world.layers.feedback_interval = 10 * MCC_SECOND; /* taken over at once */
  run (&world, 40.0);
  g_assert_cmpuint (world.reports - before, >=, 3);
  g_assert_cmpuint (world.reports - before, <=, 7);
  MccElmApp last;
  mcc_elm_receiver_leave (world.receiver, &last, world.now);
  g_assert_true (last.asmp.report.flags & MCC_REPORT_LEAVING);
  g_assert_cmpuint (last.asmp.report.number, ==, world.report.asmp.report.number + 1);
  mcc_elm_receiver_free (world.receiver);
}

/* A path that no key unit passes does not cost all others one a second. */
static void
test_key_units (void)
{
  World world;
  world_init (&world, MCC_VARIANT_ENHANCED);
  run (&world, 60.0); /* 0, 1, 3, 7, 15, 31, 47 s */
  g_assert_cmpuint (world.key_units, >=, 6);
  g_assert_cmpuint (world.key_units, <=, 8);
  unsigned before = world.key_units;
  mcc_elm_receiver_handle_picture (world.receiver, true, world.now);
  run (&world, 20.0);
  g_assert_cmpuint (world.key_units, ==, before);
  mcc_elm_receiver_handle_picture (world.receiver, false, world.now);
  run (&world, 2.0); /* anew: 0, 1 s */
  g_assert_cmpuint (world.key_units, ==, before + 2);
  mcc_elm_receiver_free (world.receiver);
}

/* A layer that was left goes on filling the path for the leave latency: a key unit that can pass is
 * asked for as soon as that is over, not when the back-off has its turn. */
static void
test_key_unit_after_a_leave (void)
{
  World world;
  MccElmReceiverConfig config = config_of (MCC_VARIANT_ENHANCED);
  config.leave_latency = 2 * MCC_SECOND;
  world_init_with (&world, &config);
  mcc_elm_receiver_handle_picture (world.receiver, true, world.now);
  run (&world, 60.0);
  g_assert_cmpint (stats_of (&world).level, ==, 2);
  mcc_elm_receiver_handle_picture (world.receiver, false, world.now);
  run (&world, 1.5); /* asked at 0, 1 s; then it would be 3, 7 s */
  mcc_elm_receiver_set_max_level (world.receiver, 1, world.now);
  drain (&world);
  run (&world, 2.2);
  unsigned before = world.key_units;
  run (&world, 1.0);
  g_assert_cmpuint (world.key_units, ==, before + 1);
  g_assert_cmpuint (world.relieved, ==, 1);
  run (&world, 1.0); /* and anew: a second later */
  g_assert_cmpuint (world.key_units, ==, before + 2);
  mcc_elm_receiver_free (world.receiver);
}

/* Who hears a crowd report before it waits for as many (enhanced), whatever is announced. */
static void
test_crowd (void)
{
  World world;
  world_init (&world, MCC_VARIANT_ENHANCED);
  describe (&world, &world.layers);
  packet (&world, 0, COUNT);
  MccElmApp app = { .ssrc = 1000, .subtype = MCC_APP_REPORT };
  app.asmp.report.rate_bps = 1000;
  for (; app.ssrc < 1100; app.ssrc++)
    mcc_elm_receiver_handle_app (world.receiver, &app, NULL, world.now);
  run (&world, 5.0);
  g_assert_cmpuint (world.reports, ==, 0); /* 101 x 152 bytes in 3.75 kb/s: 33 s, at least half */
  run (&world, 50.0);
  g_assert_cmpuint (world.reports, >=, 1);
  mcc_elm_receiver_free (world.receiver);
}

/* Nobody's reports, honest or not, can silence us for good. */
static void
test_flood (void)
{
  World world;
  world_init (&world, MCC_VARIANT_ENHANCED);
  MccElmApp app = { .ssrc = 1000, .subtype = MCC_APP_REPORT };
  app.asmp.report.rate_bps = 1000;
  for (guint second = 0; second < 600; second++) {
    run (&world, 1.0);
    for (guint i = 0; i < 25; i++)
      mcc_elm_receiver_handle_app (world.receiver, &app, NULL, world.now);
  }
  g_assert_cmpuint (world.reports, >=, 2);
  mcc_elm_receiver_free (world.receiver);
}

/* Words of trials, under ever new names, put off for a while what losses call for, not for good. */
static void
test_forged_trials (void)
{
  MccElmReceiverConfig config = config_of (MCC_VARIANT_ENHANCED);
  MccElmApp app
      = { .ssrc = 1000, .subtype = MCC_APP_REPORT, .flags = MCC_ELM_JOINING, .wanted = 2 };
  World world;
  config.strategy = &mcc_elm_skeptical;
  config.timers = mcc_elm_timers_default;
  config.timers.leave_delay = 8 * MCC_SECOND;
  config.max_level = 1;
  world_init_with (&world, &config);
  run (&world, 30.0);
  g_assert_cmpint (stats_of (&world).level, ==, 1);
  app.asmp.report.rate_bps = 1000;
  world.lose = 25;
  MccElmApp rtt = { .ssrc = SENDER, .subtype = MCC_APP_RTT };
  rtt.asmp = (MccApp){ .ssrc = SENDER, .subtype = MCC_APP_RTT };
  rtt.asmp.rtt.count = 1;
  for (guint second = 0; second < 60 && stats_of (&world).level == 1; second++) {
    run (&world, 1.0);
    rtt.asmp.rtt.entry[0] = (MccAppRtt){ 7, world.report.asmp.report.number, 400 * MCC_MSECOND };
    mcc_elm_receiver_handle_app (world.receiver, &rtt, NULL, world.now);
    app.ssrc++;
    mcc_elm_receiver_handle_app (world.receiver, &app, NULL, world.now);
  }
  g_assert_cmpint (stats_of (&world).level, ==, 0);
  mcc_elm_receiver_free (world.receiver);
}

/* Losses of 200 s that count, beside words of trials or not. */
static guint64
losses_that_count (gboolean forged)
{
  MccElmReceiverConfig config = config_of (MCC_VARIANT_ENHANCED);
  MccElmApp app
      = { .ssrc = 1000, .subtype = MCC_APP_REPORT, .flags = MCC_ELM_JOINING, .wanted = 1 };
  World world;
  config.max_level = 0;
  world_init_with (&world, &config);
  run (&world, 30.0);
  app.asmp.report.rate_bps = 1000;
  world.lose = 10;
  for (guint i = 0; i < 400; i++, app.ssrc++) {
    if (forged)
      mcc_elm_receiver_handle_app (world.receiver, &app, NULL, world.now);
    run (&world, 0.5);
  }
  guint64 lost = stats_of (&world).packets_lost;
  mcc_elm_receiver_free (world.receiver);
  return lost;
}

/* Words hide losses from the equation for the share of the time that is granted, no longer. */
static void
test_forged_excuses (void)
{
  guint64 control = losses_that_count (FALSE), lost = losses_that_count (TRUE);
  g_test_message ("%" G_GUINT64_FORMAT " losses count, %" G_GUINT64_FORMAT " beside forged words",
      control, lost);
  double granted_s = 200.0 / MCC_ELM_PATIENCE_SHARE + mcc_time_to_seconds (MCC_ELM_PATIENCE_MOST);
  double first = granted_s / 2.0; /* that of each 2 s with which they begin */
  g_assert_cmpfloat ((double)lost, >=, (1.0 - granted_s / 200.0) * (double)control - first);
}

/* Seconds to the top level, while somebody says under ever new names that he tries, and has failed.
 */
static double
seconds_to_top (gboolean forged)
{
  MccElmApp app = { .ssrc = 1000, .subtype = MCC_APP_REPORT };
  World world;
  world_init (&world, MCC_VARIANT_ENHANCED);
  app.asmp.report.rate_bps = 1000;
  for (guint i = 0; i < 6000 && stats_of (&world).level < COUNT - 1; i++) {
    run (&world, 0.1);
    app.wanted = 1 + i / 2 % 2;
    app.ssrc += i % 2 == 0;
    app.flags = i % 2 == 0 ? MCC_ELM_JOINING : MCC_ELM_DROPPED | MCC_ELM_FAILED;
    if (forged)
      mcc_elm_receiver_handle_app (world.receiver, &app, NULL, world.now);
  }
  g_assert_cmpint (stats_of (&world).level, ==, COUNT - 1);
  g_assert_cmpuint (stats_of (&world).learned, ==, 0);
  double seconds = mcc_time_to_seconds (world.now - EPOCH);
  mcc_elm_receiver_free (world.receiver);
  return seconds;
}

/* Who loses nothing learns nothing of it, and is as soon at the top, but for a round. */
static void
test_forged_failures (void)
{
  double control = seconds_to_top (FALSE), seconds = seconds_to_top (TRUE);
  g_test_message ("%.1f s, %.1f s beside forged failures", control, seconds);
  g_assert_cmpfloat (seconds, <=, control + 2.1);
}

/* Seconds to the top level after losses by chance, 4 %, have ended: which were there for two
 * minutes, and forged words with them; the words go on. */
static double
seconds_after_losses (gboolean forged, guint32 seed)
{
  MccElmApp app = { .ssrc = 1000, .subtype = MCC_APP_REPORT };
  MccElmReceiverConfig config = config_of (MCC_VARIANT_ENHANCED);
  GRand *rand = g_rand_new_with_seed (seed);
  World world;
  config.max_level = 1; /* of the layer above it the words are */
  world_init_with (&world, &config);
  run (&world, 30.0);
  app.asmp.report.rate_bps = 1000;
  guint i;
  for (i = 0; i < 6000 && stats_of (&world).level < COUNT - 1; i++) {
    world.lose = i < 1200 ? (guint)g_rand_int_range (rand, 15, 40) : 0;
    if (i == 1200)
      mcc_elm_receiver_set_max_level (world.receiver, -1, world.now);
    run (&world, 0.1);
    app.wanted = (guint8)(stats_of (&world).level + 1);
    app.ssrc += i % 10 == 0;
    app.flags = i % 10 == 0 ? MCC_ELM_JOINING : MCC_ELM_DROPPED | MCC_ELM_FAILED;
    if (forged && i % 5 == 0)
      mcc_elm_receiver_handle_app (world.receiver, &app, NULL, world.now);
  }
  g_assert_cmpuint (stats_of (&world).learned, <=, 1); /* one by chance */
  g_assert_cmpint (stats_of (&world).level, ==, COUNT - 1);
  mcc_elm_receiver_free (world.receiver);
  g_rand_free (rand);
  return (i - 1200.0) / 10.0;
}

/* Who loses packets anyway does not take them for the doing of one who says that he tries. */
static void
test_forged_beside_losses (void)
{
  for (guint32 seed = 1; seed <= 8; seed++) {
    double control = seconds_after_losses (FALSE, seed),
           seconds = seconds_after_losses (TRUE, seed);
    g_test_message ("%.1f s, %.1f s beside forged words", control, seconds);
    g_assert_cmpfloat (seconds, <=, control * 8.0 / 7.0 + 12.0 + 8.0);
  }
}

/* Losses of another one's trial are excused: also where we leave a layer meanwhile, where the
 * network's leave latency is longer than may be excused, and where others have often tried behind
 * other links. */
static void
test_trial_of_another (void)
{
  static const struct {
    MccTime leave_latency;
    gboolean leaves;
    guint elsewhere;
  } cases[] = { { 1, FALSE, 0 }, { 1, TRUE, 0 }, { 60 * MCC_SECOND, FALSE, 0 }, { 1, FALSE, 50 } };
  MccElmApp app
      = { .ssrc = 1000, .subtype = MCC_APP_REPORT, .flags = MCC_ELM_JOINING, .wanted = 2 };
  app.asmp.report.rate_bps = 1000;
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    MccElmReceiverConfig config = config_of (MCC_VARIANT_ENHANCED);
    World world;
    g_test_message ("case %u", i);
    config.leave_latency = cases[i].leave_latency;
    config.max_level = 1;
    world_init_with (&world, &config);
    run (&world, 30.0);
    g_assert_cmpint (stats_of (&world).level, ==, 1);
    for (guint n = 0; n < cases[i].elsewhere; n++, app.ssrc++) {
      mcc_elm_receiver_handle_app (world.receiver, &app, NULL, world.now);
      run (&world, 4.0);
    }
    mcc_elm_receiver_handle_app (world.receiver, &app, NULL, world.now);
    run (&world, 0.1);
    if (cases[i].leaves)
      mcc_elm_receiver_set_max_level (world.receiver, 0, world.now);
    drain (&world);
    run (&world, 0.8);
    world.lose = 3;
    run (&world, 0.9);
    world.lose = 0;
    run (&world, 3.0);
    g_assert_cmpuint (stats_of (&world).packets_lost, ==, 0);
    world.lose = 3; /* for a while only */
    run (&world, 20.0);
    g_assert_cmpuint (stats_of (&world).packets_lost, >, 0);
    mcc_elm_receiver_free (world.receiver);
  }
}

/* After a turn of the packets' numbers, too: a change of our own level while another one tries is
 * no loss, and its failure is not ours. */
static void
test_trial_after_a_turn (void)
{
  MccElmReceiverConfig config = config_of (MCC_VARIANT_ENHANCED);
  MccElmApp app
      = { .ssrc = 1000, .subtype = MCC_APP_REPORT, .flags = MCC_ELM_JOINING, .wanted = 2 };
  World world;
  app.asmp.report.rate_bps = 1000;
  config.max_level = 0;
  world_init_with (&world, &config);
  run (&world, 66000 / 12.5);
  mcc_elm_receiver_set_max_level (world.receiver, 1, world.now);
  for (guint i = 0; i < 1000 && stats_of (&world).level < 1; i++) {
    if (i % 5 == 0)
      mcc_elm_receiver_handle_app (world.receiver, &app, NULL, world.now);
    run (&world, 0.2);
  }
  g_assert_cmpint (stats_of (&world).level, ==, 1);
  run (&world, 0.2);
  app.flags = MCC_ELM_DROPPED | MCC_ELM_FAILED;
  mcc_elm_receiver_handle_app (world.receiver, &app, NULL, world.now);
  g_assert_cmpuint (stats_of (&world).learned, ==, 0);
  mcc_elm_receiver_free (world.receiver);
}

/* Who need not say any more that it has joined, for another one has said so, does not say it long
 * after: others would take it for a trial that begins then. */
static void
test_old_news (void)
{
  World world;
  world_init (&world, MCC_VARIANT_ENHANCED);
  world.layers.feedback_interval = 30 * MCC_SECOND;
  guint kept = 0;
  while (!(world.joined >> 1 & 1))
    run (&world, 0.02);
  guint reports = world.reports;
  MccElmApp app
      = { .ssrc = 1000, .subtype = MCC_APP_REPORT, .flags = MCC_ELM_JOINING, .wanted = 1 };
  app.asmp.report.rate_bps = 1000;
  mcc_elm_receiver_set_max_level (world.receiver, 1, world.now);
  mcc_elm_receiver_handle_app (world.receiver, &app, NULL, world.now);
  drain (&world);
  for (guint i = 0; i < 100; i++) {
    run (&world, 1.0);
    kept += world.reports > reports && (world.report.flags & MCC_ELM_JOINING);
  }
  g_assert_cmpuint (world.reports, >, reports);
  g_assert_cmpuint (kept, ==, 0);
  mcc_elm_receiver_free (world.receiver);
}

/* It is described before it sends: a sender may wait for its first receiver. */
static void
test_reports_before_media (void)
{
  World world;
  world_init (&world, MCC_VARIANT_ENHANCED);
  describe (&world, &world.layers);
  for (guint i = 0; i < 40; i++) {
    world.now += 100 * MCC_MSECOND;
    if (mcc_elm_receiver_next_timeout (world.receiver) <= world.now)
      mcc_elm_receiver_handle_timeout (world.receiver, world.now);
    drain (&world);
  }
  g_assert_cmpuint (world.reports, >=, 1);
  mcc_elm_receiver_free (world.receiver);
}

/* The sender is where the description came from: in its name from elsewhere nothing counts, until
 * it has been silent. */
static void
test_one_host (gconstpointer data)
{
  MccAddress home = { .family = 4, .port = 5005, .bytes = { 10, 0, 0, 1 } }, media = home;
  MccAddress other = { .family = 4, .port = 5005, .bytes = { 10, 0, 0, 2 } };
  MccElmApp rtt = { .ssrc = SENDER, .subtype = MCC_APP_RTT };
  World world;
  world_init (&world, GPOINTER_TO_UINT (data));
  media.port = 5004; /* a host, not a port */
  g_assert_cmpint (describe_from (&world, &world.layers, &home), ==, MCC_DROP_NONE);
  for (unsigned i = 0; i < 10; i++)
    g_assert_cmpint (packet_from (&world, 0, COUNT, &media), ==, MCC_DROP_NONE);
  MccElmReceiverStats stats = stats_of (&world);
  for (unsigned i = 0; i < 5; i++) { /* gaps, too, which would be losses */
    world.seq[0] += 100;
    g_assert_cmpint (packet_from (&world, 0, COUNT, &other), ==, MCC_DROP_ADDRESS);
  }
  world.layers.number++;
  g_assert_cmpint (describe_from (&world, &world.layers, &other), ==, MCC_DROP_ADDRESS);
  g_assert_cmpint (
      mcc_elm_receiver_handle_app (world.receiver, &rtt, &other, world.now), ==, MCC_DROP_ADDRESS);
  g_assert_cmpuint (stats_of (&world).packets_received, ==, stats.packets_received);
  g_assert_cmpuint (stats_of (&world).dropped[MCC_DROP_ADDRESS], ==, 7);
  g_assert_cmpint (describe_from (&world, &world.layers, &home), ==, MCC_DROP_NONE);
  /* It has moved. */
  for (unsigned i = 0; i < 50; i++) {
    world.now += MCC_ELM_SENDER_TIMEOUT / 50;
    if (mcc_elm_receiver_next_timeout (world.receiver) <= world.now)
      mcc_elm_receiver_handle_timeout (world.receiver, world.now);
    drain (&world);
  }
  world.layers.number++;
  g_assert_cmpint (packet_from (&world, 0, COUNT, &other), ==, MCC_DROP_ADDRESS);
  g_assert_cmpint (
      mcc_elm_receiver_handle_app (world.receiver, &rtt, &other, world.now), ==, MCC_DROP_ADDRESS);
  g_assert_cmpint (describe_from (&world, &world.layers, &other), ==, MCC_DROP_NONE);
  g_assert_cmpint (
      mcc_elm_receiver_handle_app (world.receiver, &rtt, &other, world.now), ==, MCC_DROP_NONE);
  g_assert_cmpint (packet_from (&world, 0, COUNT, &other), ==, MCC_DROP_NONE);
  g_assert_cmpint (packet_from (&world, 0, COUNT, &home), ==, MCC_DROP_ADDRESS);
  mcc_elm_receiver_free (world.receiver);
}

/* Clear overload is left within seconds, also where a link that stood still once had a longer
 * queue. */
static void
test_overload (void)
{
  for (guint stood = 0; stood < 2; stood++) {
    World world;
    world_init (&world, MCC_VARIANT_ENHANCED);
    run (&world, 60.0);
    world.queue = stood ? 400 * MCC_MSECOND : 0;
    run (&world, 0.1);
    world.queue = 0;
    run (&world, 60.0);
    g_assert_cmpint (stats_of (&world).level, ==, 2);
    world.queue = 180 * MCC_MSECOND;
    world.lose = 3;
    run (&world, 3.0);
    g_test_message ("stood still before: %u", stood);
    g_assert_cmpint (stats_of (&world).level, <=, 1);
    mcc_elm_receiver_free (world.receiver);
  }
}

/* RTTs: of our reports only, and each once. */
static void
test_rtt (gconstpointer data)
{
  World world;
  world_init (&world, GPOINTER_TO_UINT (data));
  run (&world, 3.0);
  g_assert_false (stats_of (&world).rtt_measured);
  MccElmApp app = { .ssrc = SENDER, .subtype = MCC_APP_RTT };
  app.asmp = (MccApp){ .ssrc = SENDER, .subtype = MCC_APP_RTT };
  app.asmp.rtt.count = 2;
  app.asmp.rtt.entry[0] = (MccAppRtt){ 8, 1, 900 * MCC_MSECOND };
  app.asmp.rtt.entry[1] = (MccAppRtt){ 7, 1000, 900 * MCC_MSECOND }; /* never sent */
  mcc_elm_receiver_handle_app (world.receiver, &app, NULL, world.now);
  g_assert_false (stats_of (&world).rtt_measured);
  app.asmp.rtt.entry[1] = (MccAppRtt){ 7, 1, 80 * MCC_MSECOND };
  mcc_elm_receiver_handle_app (world.receiver, &app, NULL, world.now);
  app.asmp.rtt.entry[1].rtt = 900 * MCC_MSECOND;
  mcc_elm_receiver_handle_app (world.receiver, &app, NULL, world.now); /* repeated */
  MccElmReceiverStats stats = stats_of (&world);
  g_assert_true (stats.rtt_measured);
  g_assert_cmpuint (stats.rtt, ==, 80 * MCC_MSECOND);
  g_assert_cmpuint (stats.dropped[MCC_DROP_STALE], ==, 2);
  MccTraceEvent event;
  unsigned rtts = 0;
  while (mcc_elm_receiver_poll_trace (world.receiver, &event))
    rtts += event.type == MCC_TRACE_RTT;
  g_assert_cmpuint (rtts, >=, 1);
  mcc_elm_receiver_free (world.receiver);
}

static void
test_pictures (void)
{
  World world;
  world_init (&world, MCC_VARIANT_ENHANCED);
  run (&world, 3.5);
  g_assert_cmpuint (world.key_units, ==, 3); /* at 0, 1, 3 s */
  mcc_elm_receiver_handle_picture (world.receiver, true, world.now);
  run (&world, 3.0);
  g_assert_cmpuint (world.key_units, ==, 3);
  mcc_elm_receiver_handle_picture (world.receiver, false, world.now);
  run (&world, 0.5);
  g_assert_cmpuint (world.key_units, ==, 4);
  /* What our own socket dropped is no loss of the path. */
  mcc_elm_receiver_handle_host_dropped (world.receiver, 1, world.now);
  world.c[0]++, world.c[1]++, world.c[2]++;
  run (&world, 2.0);
  g_assert_cmpuint (stats_of (&world).packets_lost, ==, 0);
  mcc_elm_receiver_set_ssrc (world.receiver, 99);
  run (&world, 2.0);
  g_assert_cmpuint (world.report.ssrc, ==, 99);
  mcc_elm_receiver_free (world.receiver);
}

/* Silence, BYE, return; and a host that stood still. */
static void
test_lost (void)
{
  World world;
  world_init (&world, MCC_VARIANT_ENHANCED);
  run (&world, 10.0);
  mcc_elm_receiver_handle_bye (world.receiver, 0xbad, world.now);
  drain (&world);
  g_assert_cmpuint (world.lost, ==, 0);
  mcc_elm_receiver_handle_bye (world.receiver, SENDER, world.now);
  mcc_elm_receiver_handle_bye (world.receiver, SENDER, world.now);
  drain (&world);
  g_assert_cmpuint (world.lost, ==, 1);
  packet (&world, 0, COUNT); /* overtook the BYE in another socket */
  g_assert_cmpuint (mcc_elm_receiver_next_timeout (world.receiver), >, world.now);
  run (&world, 5.0); /* it is back */
  g_assert_cmpint (stats_of (&world).level, >=, 1);
  for (unsigned i = 0; i < 100; i++) { /* silent */
    world.now += 100 * MCC_MSECOND;
    if (mcc_elm_receiver_next_timeout (world.receiver) <= world.now)
      mcc_elm_receiver_handle_timeout (world.receiver, world.now);
    drain (&world);
  }
  g_assert_cmpuint (world.lost, ==, 2);
  packet (&world, 0, COUNT);
  run (&world, 3.0);
  unsigned lost = world.lost;
  world.now += 30 * MCC_SECOND; /* our own absence is nobody's silence */
  mcc_elm_receiver_handle_timeout (world.receiver, world.now);
  drain (&world);
  g_assert_cmpuint (world.lost, ==, lost);
  mcc_elm_receiver_free (world.receiver);
  mcc_elm_receiver_free (NULL);
}

static void
test_names (void)
{
  g_assert_cmpstr (mcc_elm_reason_name (MCC_ELM_REASON_START), ==, "start");
  g_assert_cmpstr (mcc_elm_reason_name (MCC_ELM_REASON_LAYERS), ==, "layers");
  g_assert_cmpstr (mcc_elm_reason_name ((MccElmReason)99), ==, "unknown");
}

/* An RTT that is only assumed says nothing of what TCP would get. */
static void
test_no_rtt_no_congestion (void)
{
  World world;
  world_init (&world, MCC_VARIANT_ENHANCED);
  for (guint k = 0; k < COUNT; k++)
    world.layers.layer[k].cumulative_bps = 4000000u << k;
  for (guint i = 0; i < 1500; i++) { /* 30 s of 4 Mb/s, a thirtieth lost */
    if (i % 100 == 0)
      say (&world);
    step (&world);
    for (guint k = 0; k < 10; k++)
      if (k == 0 && i % 3 == 0) {
        world.seq[0]++;
        world.c[0]++;
      } else {
        packet (&world, 0, COUNT);
      }
  }
  g_assert_cmpint (stats_of (&world).level, ==, 0);
  g_assert_false (stats_of (&world).rtt_measured);
  g_assert_cmpuint (world.ceased, ==, 0);
  mcc_elm_receiver_free (world.receiver);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  gpointer published = GUINT_TO_POINTER (MCC_VARIANT_PUBLISHED);
  gpointer enhanced = GUINT_TO_POINTER (MCC_VARIANT_ENHANCED);
  g_test_add_data_func (
      "/elm/receiver/published/levels-are-no-losses", published, test_no_losses_by_levels);
  g_test_add_data_func (
      "/elm/receiver/enhanced/levels-are-no-losses", enhanced, test_no_losses_by_levels);
  g_test_add_func ("/elm/receiver/drops", test_drops);
  g_test_add_data_func ("/elm/receiver/published/one-host", published, test_one_host);
  g_test_add_data_func ("/elm/receiver/enhanced/one-host", enhanced, test_one_host);
  g_test_add_func ("/elm/receiver/a-layer-that-is-renamed-stays", test_renamed);
  g_test_add_func ("/elm/receiver/a-base-that-is-renamed-is-followed", test_base_renamed);
  g_test_add_func ("/elm/receiver/asks-less-and-less-for-a-key-unit", test_key_units);
  g_test_add_func ("/elm/receiver/key-unit-after-a-leave", test_key_unit_after_a_leave);
  g_test_add_func ("/elm/receiver/reports", test_reports);
  g_test_add_func ("/elm/receiver/crowd", test_crowd);
  g_test_add_func ("/elm/receiver/flood", test_flood);
  g_test_add_func ("/elm/receiver/forged-trials", test_forged_trials);
  g_test_add_func ("/elm/receiver/forged-excuses", test_forged_excuses);
  g_test_add_func ("/elm/receiver/forged-failures", test_forged_failures);
  g_test_add_func ("/elm/receiver/forged-failures-beside-losses", test_forged_beside_losses);
  g_test_add_func ("/elm/receiver/trial-of-another", test_trial_of_another);
  g_test_add_func ("/elm/receiver/reports-before-media", test_reports_before_media);
  g_test_add_data_func ("/elm/receiver/published/rtt", published, test_rtt);
  g_test_add_data_func ("/elm/receiver/enhanced/rtt", enhanced, test_rtt);
  g_test_add_func ("/elm/receiver/overload", test_overload);
  g_test_add_func ("/elm/receiver/pictures", test_pictures);
  g_test_add_func ("/elm/receiver/lost-and-found", test_lost);
  g_test_add_func ("/elm/receiver/names", test_names);
  g_test_add_func ("/elm/receiver/trial-after-a-turn", test_trial_after_a_turn);
  g_test_add_func ("/elm/receiver/old-news", test_old_news);
  g_test_add_func ("/elm/receiver/no-rtt-no-congestion", test_no_rtt_no_congestion);
  return g_test_run ();
}
