/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What a receiver makes of its losses where many others are: the lowest of many estimates counts.
 */
#include <math.h>

#include "pathfixture.h"
#include "vnetasmp.h"

#define MANY 10

/* A queue of @queue stands before the loss. */
static void
lose_after (PathFixture *f, guint packets, MccTime queue)
{
  stream (f, packets - 4);
  f->delay += queue;
  stream (f, 1);
  f->seq++;
  stream (f, 3);
  f->delay -= queue;
}

/* Many who lose each by its own chance remember longer; those whom one queue makes lose, and few,
 * do not. */
static void
history (void)
{
  static const struct {
    guint receivers;
    MccTime queue_before, queue;
    double least, most; /* of the mean interval; 50 before, 100 now */
  } table[] = { { 1, 0, 0, 99, 102 }, { 4, 0, 0, 99, 102 }, { MANY, 0, 0, 75, 90 },
    { 1000, 0, 0, 75, 90 }, { MANY, 50 * MCC_MSECOND, 50 * MCC_MSECOND, 99, 102 },
    { MANY, 0, 50 * MCC_MSECOND, 99, 102 } };
  for (guint row = 0; row < G_N_ELEMENTS (table); row++) {
    PathFixture f;
    path_init (&f, MCC_VARIANT_ENHANCED);
    mcc_asmp_path_handle_group (&f.path, table[row].receivers, true);
    stream (&f, 100);
    measure_rtt (&f, 100 * MCC_MSECOND);
    for (guint i = 0; i < 96; i++)
      lose_after (&f, i < 64 ? 50 : 100, i < 64 ? table[row].queue_before : table[row].queue);
    double interval = 1.0 / f.input.loss_ratio;
    g_test_message ("%u receivers: %.1f", table[row].receivers, interval);
    g_assert_cmpfloat (interval, >=, table[row].least);
    g_assert_cmpfloat (interval, <=, table[row].most);
    mcc_asmp_path_clear (&f.path);
  }
}

/* Four intervals that one receiver in a million has by chance are a change to one alone; with a
 * thousand, who each look at every loss, somebody will have such. */
static void
change (void)
{
  static const struct {
    guint receivers;
    bool changed;
  } table[] = { { 1, true }, { 1000, false } };
  for (guint row = 0; row < G_N_ELEMENTS (table); row++) {
    PathFixture f;
    path_init (&f, MCC_VARIANT_ENHANCED);
    mcc_asmp_path_handle_group (&f.path, table[row].receivers, false);
    stream (&f, 100);
    measure_rtt (&f, 100 * MCC_MSECOND);
    for (guint i = 0; i < 12; i++)
      lose_after (&f, 900, 0);
    double before = f.input.loss_ratio;
    for (guint i = 0; i < 4; i++)
      lose_after (&f, 15, 0);
    stream (&f, 10);
    g_test_message (
        "%u receivers: %.5f, then %.5f", table[row].receivers, before, f.input.loss_ratio);
    if (table[row].changed)
      g_assert_cmpfloat (f.input.loss_ratio, >, 4.0 * before);
    else
      g_assert_cmpfloat (f.input.loss_ratio, <, 1.5 * before);
    mcc_asmp_path_clear (&f.path);
  }
}

/* A newcomer to others who are limited takes its first losses for chance, until they are none. */
static void
first_losses (void)
{
  static const struct {
    guint receivers;
    bool limited;
    MccTime queue;
    guint losses, between;
    bool expects;
  } table[] = {
    { MANY, true, 0, 2, 60, true }, { MANY, true, 0, 1, 20, true }, { 2, true, 0, 1, 20, true },
    { 1, true, 0, 1, 20, false }, { MANY, false, 0, 1, 20, false }, /* nothing says what there is */
    { MANY, true, 50 * MCC_MSECOND, 1, 20, false }, /* its own link may be narrower */
    { MANY, true, 0, 5, 60, false },                /* 500 ms apart each: five events */
  };
  double expected = mcc_tcp_loss_ratio (&mcc_tcp_model_default, BYTES, 0.1, RATE_BPS);
  for (guint row = 0; row < G_N_ELEMENTS (table); row++) {
    PathFixture f;
    path_init (&f, MCC_VARIANT_ENHANCED);
    mcc_asmp_path_handle_group (&f.path, table[row].receivers, table[row].limited);
    stream (&f, 20);
    for (guint i = 0; i < table[row].losses; i++)
      lose_after (&f, table[row].between, table[row].queue);
    stream (&f, 10);
    g_assert_cmpint (mcc_asmp_path_is_expecting (&f.path), ==, table[row].expects);
    measure_rtt (&f, 100 * MCC_MSECOND);
    stream (&f, 10);
    g_test_message ("row %u: %.4f, expected %.4f", row, f.input.loss_ratio, expected);
    if (table[row].expects) {
      g_assert_cmpfloat (f.input.loss_ratio, <, 1.15 * expected);
      g_assert_cmpfloat (f.input.loss_ratio, >, 0.85 * expected);
    }
    g_assert_false (mcc_asmp_path_is_expecting (&f.path));
    mcc_asmp_path_clear (&f.path);
  }
}

/* Groups over vnet behind random loss alone, RTT about 100 ms. */
typedef struct {
  guint receivers, newcomers; /* these all within a second, after 60 s */
  double loss_ratio, newcomers_loss_ratio;
  double least; /* mean of the lowest target in the 20 s after, of the mean in the 20 s before */
  double most;  /* mean of the target between 5 and 10 s after, likewise */
  guint64 seeds;
} GroupCase;

#define JOIN_S 60

static void
add_receiver (Vnet *vnet, VnetReceiver **out, double loss_ratio, guint number)
{
  VnetLink path = { .delay = 45 * MCC_MSECOND, .loss_ratio = loss_ratio };
  *out = vnet_receiver_new (vnet, vnet_add_link (vnet, VNET_CORE, &path), 45 * MCC_MSECOND, NULL,
      (3000 + number) * MCC_SECOND, (double)(number % 41) - 20.0);
}

static void
join (gconstpointer data)
{
  const GroupCase *test = data;
  double lowest_sum = 0.0, later_sum = 0.0;
  guint all = test->receivers + test->newcomers;
  for (guint64 seed = 1; seed <= test->seeds; seed++) {
    VnetSenderConfig config = vnet_sender_default;
    config.start_bps = 500000;
    config.max_bps = 10000000;
    config.packet_bytes = BYTES;
    config.fps = 0;
    Vnet *vnet = vnet_new (seed);
    VnetSender *sender = vnet_sender_new (vnet, &config, 5 * MCC_MSECOND);
    g_autofree VnetReceiver **receiver = g_new0 (VnetReceiver *, all);
    double lowest, dip, rest;
    for (guint i = 0; i < test->receivers; i++)
      add_receiver (vnet, &receiver[i], test->loss_ratio, i);
    double before = vnet_sender_mean_target (sender, vnet, JOIN_S - 20, JOIN_S, &lowest);
    for (guint i = test->receivers; i < all; i++) {
      vnet_run (vnet, JOIN_S * MCC_SECOND + MCC_SECOND * (i - test->receivers) / test->newcomers);
      add_receiver (vnet, &receiver[i], test->newcomers_loss_ratio, i);
    }
    vnet_sender_mean_target (sender, vnet, JOIN_S + 1, JOIN_S + 5, &dip);
    double later = vnet_sender_mean_target (sender, vnet, JOIN_S + 5, JOIN_S + 10, &lowest);
    vnet_sender_mean_target (sender, vnet, JOIN_S + 10, JOIN_S + 20, &rest);
    lowest = fmin (fmin (dip, rest), lowest);
    g_test_message ("seed %d: %.0f kb/s, then at least %.0f, 5 to 10 s later %.0f", (int)seed,
        before / 1e3, lowest / 1e3, later / 1e3);
    lowest_sum += lowest / before;
    later_sum += later / before;
    for (guint i = 0; i < all; i++)
      vnet_receiver_free (receiver[i]);
    vnet_sender_free (sender);
    vnet_free (vnet);
  }
  g_test_message (
      "lowest %.2f, later %.2f", lowest_sum / (double)test->seeds, later_sum / (double)test->seeds);
  g_assert_cmpfloat (lowest_sum / (double)test->seeds, >=, test->least);
  g_assert_cmpfloat (later_sum / (double)test->seeds, <=, test->most);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  /* The fair rate of 5 % is 0.42 of that of 1 %. */
  static const GroupCase fourth = { 3, 1, 0.01, 0.01, 0.85, INFINITY, 40 },
                         equals = { 10, 50, 0.01, 0.01, 0.68, INFINITY, 8 },
                         slow = { 10, 1, 0.01, 0.05, 0.0, 0.6, 96 };
  g_test_add_func ("/asmpmany/history", history);
  g_test_add_func ("/asmpmany/change", change);
  g_test_add_func ("/asmpmany/first-losses", first_losses);
  g_test_add_data_func ("/asmpmany/join/a-fourth", &fourth, join);
  g_test_add_data_func ("/asmpmany/join/equals", &equals, join);
  g_test_add_data_func ("/asmpmany/join/one-behind-more-loss", &slow, join);
  return g_test_run ();
}
