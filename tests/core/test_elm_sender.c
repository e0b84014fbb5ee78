/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>
#include <math.h>

#include "mccelmsender.h"
#include "mccjitter.h"

#define EPOCH (1000 * MCC_SECOND)
#define PACKET 1000
#define COUNT 3

typedef struct {
  MccElmSender *sender;
  MccTime now;
  MccTime next_packet[COUNT];
  double own_bps[COUNT]; /* sent of each layer */
  guint32 seq[COUNT];
  guint64 whole_bps; /* newest T */
  unsigned announced, key_units, levels, joined, left, lost, found;
  MccTime last_announced, longest; /* between two of them */
  MccElmLayers layers;
  MccAppRttList rtt;
} World;

static MccElmSenderConfig
config_of (MccVariant variant)
{
  MccElmSenderConfig config = { .variant = variant, .seed = 3, .layers.count = COUNT };
  for (unsigned k = 0; k < COUNT; k++)
    config.layers.layer[k] = (MccElmLayer){ .cumulative_bps = 100000u << k,
      .address_offset = (uint16_t)k,
      .port_offset = (uint16_t)(2 * k),
      .ssrc = 0x100 + k };
  return config;
}

static void
world_init (World *world, const MccElmSenderConfig *config)
{
  memset (world, 0, sizeof *world);
  world->now = EPOCH;
  world->sender = mcc_elm_sender_new (config, EPOCH);
  g_assert_nonnull (world->sender);
  for (unsigned k = 0; k < COUNT; k++) {
    world->next_packet[k] = EPOCH;
    world->own_bps[k] = k == 0 ? 100000.0 : 100000.0 * (1u << (k - 1));
  }
}

static void
drain (World *world)
{
  MccElmSenderAction action;
  while (mcc_elm_sender_poll (world->sender, &action)) {
    switch (action.type) {
      case MCC_ELM_SENDER_ANNOUNCE:
        g_assert_true (mcc_elm_layers_valid (action.layers));
        if (world->announced++ > 0)
          world->longest = MAX (world->longest, world->now - world->last_announced);
        world->last_announced = world->now;
        world->layers = *action.layers;
        if (action.rtt->count > 0)
          world->rtt = *action.rtt;
        break;
      case MCC_ELM_SENDER_RECEIVER:
        world->joined += action.state == MCC_RECEIVER_ACTIVE;
        world->left += action.state == MCC_RECEIVER_LEFT;
        break;
      case MCC_ELM_SENDER_WHOLE:
        world->whole_bps = action.target_bps;
        for (unsigned k = 0; k < COUNT; k++)
          world->own_bps[k] = (double)action.target_bps / (k == 0 ? 4.0 : 8 >> k);
        break;
      case MCC_ELM_SENDER_KEY_UNIT:
        world->key_units++;
        break;
      case MCC_ELM_SENDER_LEVELS:
        world->levels++;
        break;
      case MCC_ELM_SENDER_FEEDBACK_LOST:
        world->lost++;
        break;
      case MCC_ELM_SENDER_FEEDBACK_FOUND:
        world->found++;
        break;
      default:
        break;
    }
  }
}

static void
run (World *world, double seconds)
{
  MccTime end = world->now + mcc_time_from_seconds (seconds);
  for (;;) {
    MccTime next = MIN (end, mcc_elm_sender_next_timeout (world->sender));
    for (unsigned k = 0; k < COUNT; k++)
      if (world->own_bps[k] > 0.0)
        next = MIN (next, world->next_packet[k]);
    world->now = MAX (world->now, next);
    for (unsigned k = 0; k < COUNT; k++)
      if (world->own_bps[k] > 0.0 && world->now >= world->next_packet[k]) {
        mcc_elm_sender_handle_sent (world->sender, k, 1, PACKET, ++world->seq[k], world->now);
        world->next_packet[k] = world->now + (MccTime)(PACKET * 8e9 / world->own_bps[k]);
      }
    if (world->now >= mcc_elm_sender_next_timeout (world->sender))
      mcc_elm_sender_handle_timeout (world->sender, world->now);
    drain (world);
    if (world->now >= end)
      return;
  }
}

/* a host each of many */
static MccAddress
host_of (guint32 ssrc)
{
  uint8_t host = ssrc >= 1000 ? (uint8_t)ssrc : 0;
  return (MccAddress){ .family = 4, .port = 5005, .bytes = { 10, (uint8_t)(ssrc >> 8), host, 1 } };
}

static MccDrop
report (World *world, guint32 ssrc, guint32 number, unsigned level, guint64 rate_bps)
{
  MccElmApp app = { .ssrc = ssrc, .subtype = MCC_APP_REPORT, .level = level, .wanted = level };
  app.asmp = (MccApp){ .ssrc = ssrc, .subtype = MCC_APP_REPORT };
  app.asmp.report = (MccAppReport){ .number = number,
    .flags = MCC_REPORT_ECHO | (rate_bps == 0 ? MCC_REPORT_NO_LIMIT : 0),
    .rate_bps = rate_bps,
    .rtt = 50 * MCC_MSECOND,
    .echo = mcc_abs_send_time (world->now - 50 * MCC_MSECOND) };
  MccAddress from = host_of (ssrc);
  MccDrop drop = mcc_elm_sender_handle_report (world->sender, &app, &from, world->now);
  drain (world);
  return drop;
}

static void
test_rates (void)
{
  MccElmSenderConfig config = config_of (MCC_VARIANT_PUBLISHED);
  World world;
  world_init (&world, &config);
  run (&world, 1.0);
  g_assert_cmpuint (world.layers.layer[2].cumulative_bps, ==, 400000); /* as configured */
  world.own_bps[1] = 300000.0;
  run (&world, 20.0);
  static const double sums[COUNT] = { 100000.0, 400000.0, 600000.0 };
  MccElmSenderStats stats;
  mcc_elm_sender_get_stats (world.sender, world.now, &stats);
  for (unsigned k = 0; k < COUNT; k++) {
    double announced = (double)world.layers.layer[k].cumulative_bps;
    g_assert_cmpfloat_with_epsilon (announced / sums[k], 1.0, 0.1);
    g_assert_cmpfloat_with_epsilon ((double)stats.cumulative_bps[k] / sums[k], 1.0, 0.1);
  }
  /* A layer that falls silent keeps what it added: rates rise strictly. */
  world.own_bps[2] = 0.0;
  world.own_bps[0] = 150000.0;
  run (&world, 20.0);
  g_assert_cmpfloat_with_epsilon (
      (double)world.layers.layer[2].cumulative_bps / 650000.0, 1.0, 0.1);
  mcc_elm_sender_free (world.sender);
}

/* More layers above those that there are: what was measured of these stays, the new one adds what
 * is described until it has sent for 2 s; one that goes takes nothing with it. */
static void
test_more_layers (void)
{
  MccElmSenderConfig config = config_of (MCC_VARIANT_ENHANCED);
  World world;
  config.layers.count = 2;
  world_init (&world, &config);
  world.own_bps[0] = 500000.0;
  world.own_bps[1] = 300000.0;
  world.own_bps[2] = 0.0;
  run (&world, 20.0);
  mcc_elm_sender_set_frame_rate (world.sender, 0, 7500, world.now);
  MccElmLayers before = *mcc_elm_sender_layers (world.sender);
  g_assert_cmpfloat_with_epsilon ((double)before.layer[1].cumulative_bps / 800000.0, 1.0, 0.1);
  /* As elmlayersink describes them: in equal steps of what it begins with. */
  MccElmLayers more = config_of (MCC_VARIANT_ENHANCED).layers;
  for (unsigned k = 0; k < COUNT; k++)
    more.layer[k].cumulative_bps = 50000 * (k + 1);
  g_assert_true (mcc_elm_sender_set_layers (world.sender, &more, world.now));
  guint64 new_bps = before.layer[1].cumulative_bps + 50000;
  for (guint i = 0; i < 40; i++) {
    const MccElmLayers *now = mcc_elm_sender_layers (world.sender);
    g_assert_cmpuint (now->layer[0].cumulative_bps, ==, before.layer[0].cumulative_bps);
    g_assert_cmpuint (now->layer[1].cumulative_bps, ==, before.layer[1].cumulative_bps);
    g_assert_cmpuint (now->layer[2].cumulative_bps, ==, new_bps);
    g_assert_cmpuint (now->layer[0].frame_rate, ==, 7500);
    MccElmSenderStats stats;
    mcc_elm_sender_get_stats (world.sender, world.now, &stats);
    g_assert_cmpuint (stats.cumulative_bps[2] - stats.cumulative_bps[1], ==, 50000);
    if (i == 20) { /* it has been described for a while, and begins */
      world.own_bps[2] = 400000.0;
      world.next_packet[2] = world.now;
    }
    run (&world, 0.1);
  }
  run (&world, 4.0);
  g_assert_cmpfloat_with_epsilon (
      (double)mcc_elm_sender_layers (world.sender)->layer[2].cumulative_bps / 1200000.0, 1.0, 0.1);
  world.own_bps[2] = 0.0;
  more.count = 2;
  before = *mcc_elm_sender_layers (world.sender);
  g_assert_true (mcc_elm_sender_set_layers (world.sender, &more, world.now));
  run (&world, 1.0);
  g_assert_cmpuint (world.layers.count, ==, 2);
  for (unsigned k = 0; k < 2; k++)
    g_assert_cmpfloat_with_epsilon (
        (double)world.layers.layer[k].cumulative_bps / (double)before.layer[k].cumulative_bps, 1.0,
        0.1);
  /* Another base is another sender's layers. */
  more.layer[0].ssrc += 0x1000;
  g_assert_true (mcc_elm_sender_set_layers (world.sender, &more, world.now));
  g_assert_cmpuint (mcc_elm_sender_layers (world.sender)->layer[0].cumulative_bps, ==, 50000);
  mcc_elm_sender_free (world.sender);
}

/* Above the target t_fb grows, 10 % at most; below it shrinks by 10 %; alone it stays. */
static void
test_feedback_interval (void)
{
  MccElmSenderConfig config = config_of (MCC_VARIANT_PUBLISHED);
  World world;
  world_init (&world, &config);
  run (&world, 20.0);
  g_assert_cmpuint (world.layers.feedback_interval, ==, MCC_ELM_FEEDBACK_START);
  guint32 number = 0;
  for (unsigned i = 0; i < 12 * 5; i++) { /* 2 a second */
    report (&world, 7, ++number, 0, 0);
    report (&world, 8, number, 0, 0);
    run (&world, 1.0);
  }
  MccElmSenderStats stats;
  mcc_elm_sender_get_stats (world.sender, world.now, &stats);
  g_assert_cmpfloat_with_epsilon (stats.feedback_hz, 2.0, 0.25);
  double grown = mcc_time_to_seconds (stats.feedback_interval);
  g_assert_cmpfloat (grown, >=, pow (1.1, 10.0));
  g_assert_cmpfloat (grown, <=, pow (1.1, 13.0));
  for (unsigned i = 0; i < 10; i++) {
    report (&world, 7, ++number, 0, 0);
    run (&world, 5.0);
  }
  mcc_elm_sender_get_stats (world.sender, world.now, &stats);
  g_assert_cmpfloat (mcc_time_to_seconds (stats.feedback_interval), <=, grown * pow (0.9, 8.0));
  mcc_elm_sender_free (world.sender);
}

#define CROWD 100

/* Each of the first @count reports by the announced t_fb: x 1.25 the first, x 0.75 the last. */
static void
run_crowd (World *world, unsigned count, unsigned seconds, MccTime *last)
{
  static guint32 number;
  for (MccTime end = world->now + seconds * MCC_SECOND; world->now < end;) {
    for (unsigned i = 0; i < count; i++)
      if (world->now - last[i]
          >= world->layers.feedback_interval * (5 * CROWD - 2 * i) / (4 * CROWD)) {
        report (world, 1000 + i, ++number, 0, 0);
        last[i] = world->now;
      }
    run (world, 0.1);
  }
}

/* A crowd has brought t_fb to most of a minute. Who stays when it goes may report as seldom as that
 * for a while: it is there, and is asked for more soon. */
static void
test_crowd_goes (void)
{
  static const MccVariant variants[] = { MCC_VARIANT_PUBLISHED, MCC_VARIANT_ENHANCED };
  for (unsigned i = 0; i < G_N_ELEMENTS (variants); i++) {
    MccElmSenderConfig config = config_of (variants[i]);
    World world;
    MccTime last[CROWD] = { 0 };
    world_init (&world, &config);
    run (&world, 1.0);
    run_crowd (&world, CROWD, 300, last);
    g_assert_cmpuint (world.joined, ==, CROWD);
    g_assert_cmpuint (world.layers.feedback_interval, >, 30 * MCC_SECOND);
    for (unsigned k = 1; k < CROWD; k++) {
      MccAddress from = host_of (1000 + k);
      mcc_elm_sender_handle_bye (world.sender, 1000 + k, &from, world.now);
      drain (&world);
    }
    run_crowd (&world, 1, 120, last);
    g_assert_cmpuint (world.left, ==, CROWD - 1);
    g_assert_cmpuint (world.layers.feedback_interval, <=, 10 * MCC_SECOND);
    g_assert_cmpuint (world.lost, ==, 0);
    mcc_elm_sender_free (world.sender);
  }
}

/* enhanced: one that reports without end makes nobody wait for long. */
static void
test_reports_without_end (void)
{
  MccElmSenderConfig config = config_of (MCC_VARIANT_ENHANCED);
  World world;
  world_init (&world, &config);
  run (&world, 20.0);
  guint32 number = 0, flood = 0;
  MccTime next = 0;
  for (unsigned i = 0; i < 25 * 300; i++) {
    report (&world, 8, ++flood, 0, 0);
    if (world.now >= next) {
      report (&world, 7, ++number, 0, 0);
      next = world.now + world.layers.feedback_interval;
    }
    run (&world, 0.04);
  }
  g_assert_cmpuint (world.joined, ==, 2);
  g_assert_cmpuint (world.layers.feedback_interval, <=, 3 * MCC_SECOND);
  mcc_elm_sender_free (world.sender);
}

/* enhanced: many that come at once are asked for less at once: 152 bytes each in three quarters of
 * RTCP's 5 %, rtpsession's part taken off. */
static void
test_budget (void)
{
  static const struct {
    double base_bps;
    guint64 session_bps;
    guint32 receivers;
    double interval_s;
  } rows[] = {
    { 100000.0, 0, 400, 60.0 }, /* at most; 108 s by 150 kb/s */
    { 5000.0, 0, 40, 40 * 152 * 8 / 4500.0 }, { 100000.0, 50000, 40, 40 * 152 * 8 / 1500.0 },
    { 4000.0, 40000, 8, 8 * 152 * 8 / 300.0 }, /* a quarter of 40 kb/s */
  };
  for (unsigned i = 0; i < G_N_ELEMENTS (rows); i++) {
    MccElmSenderConfig config = config_of (MCC_VARIANT_ENHANCED);
    World world;
    config.session_bandwidth_bps = rows[i].session_bps;
    world_init (&world, &config);
    world.own_bps[0] = rows[i].base_bps;
    run (&world, 3.0);
    for (guint32 ssrc = 1000; ssrc < 1000 + rows[i].receivers; ssrc++)
      report (&world, ssrc, 1, 0, 0);
    run (&world, 10.0);
    const MccElmLayers *layers = mcc_elm_sender_layers (world.sender);
    g_assert_cmpuint (mcc_elm_sender_members (world.sender), ==, rows[i].receivers);
    g_assert_cmpfloat_with_epsilon (
        mcc_time_to_seconds (layers->feedback_interval), rows[i].interval_s, 0.01);
    mcc_elm_sender_free (world.sender);
  }
}

/* ... other layers change nothing of that: all replan by the description that tells of them. */
static void
test_budget_of_other_layers (void)
{
  MccElmSenderConfig config = config_of (MCC_VARIANT_ENHANCED);
  World world;
  world_init (&world, &config);
  run (&world, 3.0);
  for (guint32 ssrc = 1000; ssrc < 1400; ssrc++)
    report (&world, ssrc, 1, 0, 0);
  run (&world, 10.0);
  MccElmLayers layers = *mcc_elm_sender_layers (world.sender);
  unsigned announced = world.announced;
  uint16_t set = layers.set;
  g_assert_true (mcc_elm_sender_set_layers (world.sender, &layers, world.now));
  while (world.announced == announced)
    run (&world, 0.01);
  g_assert_cmpuint (world.layers.set, ==, set + 1);
  g_assert_cmpfloat_with_epsilon (mcc_time_to_seconds (world.layers.feedback_interval), 60.0, 0.6);
  mcc_elm_sender_free (world.sender);
}

/* ... but names of which none has named the media are no crowd: the one that is there has its own
 * interval. */
static void
test_names_are_no_crowd (void)
{
  MccElmSenderConfig config = config_of (MCC_VARIANT_ENHANCED);
  World world;
  config.wants_block = true;
  world_init (&world, &config);
  run (&world, 1.0);
  guint32 number = 0, name = 1000;
  for (unsigned second = 0; second < 30; second++) {
    MccAddress from = host_of (7);
    mcc_elm_sender_handle_block (world.sender, 7, &from, world.now);
    report (&world, 7, ++number, 0, 0);
    for (unsigned i = 0; i < 10; i++)
      g_assert_cmpint (report (&world, name++, 1, 0, 0), ==, MCC_DROP_PROBATION);
    run (&world, 1.0);
    g_assert_cmpuint (world.layers.feedback_interval, <=, 2 * MCC_SECOND);
  }
  g_assert_cmpuint (world.joined, ==, 1);
  mcc_elm_sender_free (world.sender);
}

/* A base layer that is hardly there, as of a picture that stands still: who comes must hear of the
 * layers all the same. */
static void
test_low_base (void)
{
  static const MccVariant variants[] = { MCC_VARIANT_PUBLISHED, MCC_VARIANT_ENHANCED };
  MccAppSession caps
      = { .payload_type = 96, .send_time_id = 1, .clock_rate = 90000, .media = "video" };
  strcpy (caps.encoding_name, "H264");
  memset (caps.parameters, 'p', 150);
  for (unsigned i = 0; i < G_N_ELEMENTS (variants); i++) {
    MccElmSenderConfig config = config_of (variants[i]);
    World world;
    world_init (&world, &config);
    g_assert_true (mcc_elm_sender_set_caps (world.sender, &caps, world.now));
    world.own_bps[0] = 5000.0;
    world.own_bps[1] = world.own_bps[2] = 0.0;
    run (&world, 10.0);
    world.longest = 0;
    for (guint32 second = 1; second <= 120; second++) {
      report (&world, 7, second, 0, 0);
      report (&world, 8, second, 0, 0);
      run (&world, 1.0);
    }
    world.longest = MAX (world.longest, world.now - world.last_announced);
    g_test_message ("base %u b/s: %.2f s between two announcements",
        (unsigned)world.layers.layer[0].cumulative_bps, mcc_time_to_seconds (world.longest));
    g_assert_cmpuint (world.layers.layer[0].cumulative_bps, <, 10000);
    g_assert_cmpuint (world.longest, <=, 5 * MCC_SECOND);
    mcc_elm_sender_free (world.sender);
  }
}

static void
test_members (void)
{
  MccElmSenderConfig config = config_of (MCC_VARIANT_ENHANCED);
  World world;
  world_init (&world, &config);
  run (&world, 1.0);
  g_assert_cmpint (report (&world, 7, 1, COUNT, 0), ==, MCC_DROP_BAD_VALUE);
  g_assert_cmpint (report (&world, 7, 1, 2, 0), ==, MCC_DROP_PROBATION);
  run (&world, 1.0);
  g_assert_cmpint (report (&world, 7, 2, 2, 0), ==, MCC_DROP_NONE);
  g_assert_cmpint (report (&world, 7, 2, 2, 0), ==, MCC_DROP_STALE);
  g_assert_cmpuint (world.joined, ==, 1);
  run (&world, 2.0);
  MccElmSenderStats stats;
  mcc_elm_sender_get_stats (world.sender, world.now, &stats);
  g_assert_cmpuint (stats.members[2], ==, 1);
  g_assert_cmpuint (stats.receivers, ==, 1);
  g_assert_cmpuint (stats.reports, ==, 1);
  g_assert_cmpuint (world.levels, >=, 1);
  g_assert_cmpuint (world.rtt.count, >=, 1);
  g_assert_cmpuint (world.rtt.entry[0].ssrc, ==, 7);
  g_assert_cmpfloat_with_epsilon (mcc_time_to_seconds (world.rtt.entry[0].rtt), 0.05, 0.001);
  MccReceiverInfo info;
  mcc_elm_sender_get_receiver (world.sender, 0, world.now, &info);
  g_assert_cmpuint (info.level, ==, 2);
  g_assert_cmpuint (mcc_elm_sender_get_receivers (world.sender, world.now, &info, 1), ==, 1);
  g_assert_cmpint (report (&world, 7, 3, 1, 0), ==, MCC_DROP_NONE);
  run (&world, 2.0);
  mcc_elm_sender_get_stats (world.sender, world.now, &stats);
  g_assert_cmpuint (stats.members[1], ==, 1);
  MccAddress from = { .family = 4, .port = 5005, .bytes = { 10, 0, 0, 1 } };
  g_assert_cmpint (
      mcc_elm_sender_handle_bye (world.sender, 7, &from, world.now), ==, MCC_DROP_NONE);
  run (&world, 2.0);
  g_assert_cmpuint (world.left, ==, 1);
  mcc_elm_sender_get_stats (world.sender, world.now, &stats);
  g_assert_cmpuint (stats.receivers, ==, 0);
  MccElmApp other = { .subtype = MCC_ELM_LAYERS };
  g_assert_cmpint (mcc_elm_sender_handle_report (world.sender, &other, &from, world.now), ==,
      MCC_DROP_UNKNOWN_SUBTYPE);
  mcc_elm_sender_handle_dropped (world.sender, MCC_DROP_MALFORMED, 1, world.now);
  mcc_elm_sender_get_stats (world.sender, world.now, &stats);
  g_assert_cmpuint (stats.dropped[MCC_DROP_MALFORMED], ==, 1);
  mcc_elm_sender_free (world.sender);
}

/* no-feedback=stop: nobody has reported, and the host has stopped the media. Who comes then hears
 * descriptions alone: no block of his can name the media, and it has to begin for him. */
static void
test_first_viewer_of_silence (void)
{
  MccElmSenderConfig config = config_of (MCC_VARIANT_ENHANCED);
  World world;
  config.wants_block = true;
  world_init (&world, &config);
  run (&world, 1.0);
  g_assert_cmpint (report (&world, 7, 1, 0, 0), ==, MCC_DROP_PROBATION);
  g_assert_cmpint (report (&world, 7, 2, 0, 0), ==, MCC_DROP_PROBATION); /* it is sent */
  for (unsigned k = 0; k < COUNT; k++)
    world.own_bps[k] = 0.0;
  run (&world, 30.0);
  g_assert_cmpuint (world.lost, ==, 1);
  g_assert_cmpint (report (&world, 8, 1, 0, 0), ==, MCC_DROP_PROBATION);
  run (&world, 1.0);
  g_assert_cmpint (report (&world, 8, 2, 0, 0), ==, MCC_DROP_NONE);
  g_assert_cmpuint (world.joined, ==, 1);
  g_assert_cmpuint (world.found, ==, 1);
  mcc_elm_sender_free (world.sender);
}

static void
nine_and (World *world, unsigned seconds, unsigned level, guint64 rate_bps, guint64 *least_bps)
{
  for (; seconds > 0; seconds--) {
    guint32 number = (guint32)((world->now - EPOCH) / MCC_SECOND) + 1;
    for (guint32 i = 0; i < 9; i++)
      report (world, 1000 + i, number, 2, 0);
    if (level < COUNT)
      report (world, 2000, number, level, rate_bps);
    run (world, 1.0);
    *least_bps = MIN (*least_bps, world->whole_bps);
  }
}

/* One keyed liar beside nine that have outgrown the layers: its false rate keeps them from more for
 * 30 s and a trial, and nothing it says takes away what they have. */
static void
test_liar (void)
{
  static const struct {
    unsigned level;
    guint64 rate_bps; /* 0: no limit */
    gboolean found_out;
  } cases[] = { { 2, 1000, TRUE }, { 0, 1000, TRUE }, { 2, 40000, TRUE }, { 0, 0, FALSE } };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    MccElmSenderConfig config = config_of (MCC_VARIANT_ENHANCED);
    guint64 least = G_MAXUINT64;
    World world;
    config.feedback_target_hz = 100.0; /* t_fb stays */
    config.whole = (MccElmWholeBounds){ .max_bps = 1600000, .home_bps = 400000 };
    world_init (&world, &config);
    world.whole_bps = config.whole.home_bps;
    nine_and (&world, 60, COUNT, 0, &least);
    guint64 before = world.whole_bps;
    g_assert_cmpuint (before, >, 500000);
    least = G_MAXUINT64;
    nine_and (&world, 60, cases[i].level, cases[i].rate_bps, &least);
    g_test_message ("case %u: T %u before, %u at least, %u after 60 s", i, (unsigned)before,
        (unsigned)least, (unsigned)world.whole_bps);
    g_assert_cmpuint (least, >=, (guint64)((double)before / 1.11)); /* of a trial */
    if (cases[i].found_out)
      g_assert_cmpuint (world.whole_bps, >, before);
    nine_and (&world, 240, cases[i].level, cases[i].rate_bps, &least);
    g_assert_cmpuint (least, >=, (guint64)((double)before / 1.11));
    if (cases[i].found_out)
      g_assert_cmpuint (world.whole_bps, >, 1500000);
    mcc_elm_sender_free (world.sender);
  }
}

/* An encoder that can be moved is found, is another one, or goes while it runs. */
static void
test_another_encoder (void)
{
  static const MccElmWholeBounds bounds = { .max_bps = 1600000, .home_bps = 400000 }, none;
  MccElmSenderConfig config = config_of (MCC_VARIANT_ENHANCED);
  guint64 least = G_MAXUINT64;
  World world;
  config.feedback_target_hz = 100.0; /* t_fb stays */
  world_init (&world, &config);
  nine_and (&world, 60, COUNT, 0, &least);
  g_assert_cmpuint (world.whole_bps, ==, 0);
  mcc_elm_sender_set_whole (world.sender, &bounds, world.now);
  nine_and (&world, 60, COUNT, 0, &least);
  g_assert_cmpuint (world.whole_bps, >, 500000);
  mcc_elm_sender_set_whole (world.sender, &bounds, world.now);
  MccElmSenderStats stats;
  mcc_elm_sender_get_stats (world.sender, world.now, &stats);
  g_assert_cmpuint (stats.whole_bps, ==, 400000);
  mcc_elm_sender_set_whole (world.sender, &none, world.now);
  world.whole_bps = 0;
  nine_and (&world, 60, COUNT, 0, &least);
  g_assert_cmpuint (world.whole_bps, ==, 0);
  mcc_elm_sender_free (world.sender);
}

static void
test_life (void)
{
  MccElmSenderConfig config = config_of (MCC_VARIANT_ENHANCED);
  World world;
  world_init (&world, &config);
  run (&world, 1.0);
  g_assert_cmpuint (world.announced, >=, 1);
  guint32 number = world.layers.number, round = world.layers.round;
  unsigned announced = world.announced;
  run (&world, 10.0);
  g_assert_cmpuint (world.layers.number - number, ==, world.announced - announced);
  /* Rounds follow the clock, whenever they are announced. */
  MccElmSenderStats stats;
  mcc_elm_sender_get_stats (world.sender, world.now, &stats);
  g_assert_cmpuint (stats.round - round, ==, 5);
  g_assert_cmpuint (mcc_elm_layers_round (&world.layers, mcc_abs_send_time (world.now + 1000000)),
      ==, stats.round);
  mcc_elm_sender_handle_key_unit_request (world.sender, world.now);
  run (&world, 1.0);
  g_assert_cmpuint (world.key_units, ==, 1);
  g_assert_cmpint (mcc_elm_sender_handle_plain_report (
                       world.sender, 9, &(MccPlainReport){ .highest_seq = 1 }, NULL, world.now),
      ==, MCC_DROP_PROBATION);
  g_assert_nonnull (mcc_elm_sender_asmp (world.sender));
  uint16_t set = world.layers.set;
  mcc_elm_sender_set_ssrc (world.sender, 1, 0x101, world.now); /* as it was */
  mcc_elm_sender_set_ssrc (world.sender, 1, 0x999, world.now);
  mcc_elm_sender_set_ssrc (world.sender, 0, 0x998, world.now);
  mcc_elm_sender_set_frame_rate (world.sender, 0, 7500, world.now);
  run (&world, 5.0);
  g_assert_cmpuint (world.layers.set, ==, set + 2);
  g_assert_cmpuint (world.layers.layer[1].ssrc, ==, 0x999);
  g_assert_cmpuint (world.layers.layer[0].frame_rate, ==, 7500);
  MccElmLayers layers = *mcc_elm_sender_layers (world.sender);
  layers.layer[1].port_offset = 3;
  g_assert_false (mcc_elm_sender_set_layers (world.sender, &layers, world.now));
  layers.layer[1].port_offset = 2;
  layers.count = COUNT;
  layers.layer[0].ssrc = 0x500;
  g_assert_true (mcc_elm_sender_set_layers (world.sender, &layers, world.now));
  run (&world, 5.0);
  g_assert_cmpuint (world.layers.set, ==, set + 3);
  MccTraceEvent event;
  while (mcc_elm_sender_poll_trace (world.sender, &event)) {
  }
  mcc_elm_sender_free (world.sender);
}

static void
test_refused (void)
{
  MccElmSenderConfig config = config_of (MCC_VARIANT_ENHANCED);
  config.layers.layer[1].cumulative_bps = 1;
  g_assert_null (mcc_elm_sender_new (&config, EPOCH));
  mcc_elm_sender_free (NULL);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/elm/sender/rates-are-measured", test_rates);
  g_test_add_func ("/elm/sender/more-layers-keep-what-is-known", test_more_layers);
  g_test_add_func ("/elm/sender/feedback-interval", test_feedback_interval);
  g_test_add_func ("/elm/sender/crowd-goes", test_crowd_goes);
  g_test_add_func ("/elm/sender/one-reports-without-end", test_reports_without_end);
  g_test_add_func ("/elm/sender/budget", test_budget);
  g_test_add_func ("/elm/sender/budget-of-other-layers", test_budget_of_other_layers);
  g_test_add_func ("/elm/sender/names-are-no-crowd", test_names_are_no_crowd);
  g_test_add_func ("/elm/sender/low-base-is-announced", test_low_base);
  g_test_add_func ("/elm/sender/members", test_members);
  g_test_add_func ("/elm/sender/first-viewer-of-silence", test_first_viewer_of_silence);
  g_test_add_func ("/elm/sender/liar-for-30-s", test_liar);
  g_test_add_func ("/elm/sender/another-encoder", test_another_encoder);
  g_test_add_func ("/elm/sender/life", test_life);
  g_test_add_func ("/elm/sender/refused", test_refused);
  return g_test_run ();
}
