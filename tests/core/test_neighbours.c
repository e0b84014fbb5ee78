/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Two receivers below one branch: who is near has about our RTT, and nobody can make it tiny.
 */
#include <glib.h>

#include "mccjitter.h"
#include "mccneighbours.h"

#define T0 (777 * MCC_SECOND)
#define MS(x) ((MccTimeDelta)((x) * (MccTimeDelta)MCC_MSECOND))
#define OFFSET MS (123456) /* of our clock */
#define DOWN MS (40)       /* sender to us, without the queue */

typedef struct {
  MccNeighbours neighbours;
  MccTime sent;
} Fixture;

/* Packets each 20 ms for 2 s, behind a queue that grows by 1 ms with each. */
static void
init (Fixture *f)
{
  mcc_neighbours_init (&f->neighbours);
  f->sent = T0;
  for (guint i = 0; i < 100; i++) {
    f->sent += 20 * MCC_MSECOND;
    mcc_neighbours_handle_packet (&f->neighbours, mcc_abs_send_time (f->sent),
        DOWN + OFFSET + MS (i), f->sent + 40 * MCC_MSECOND + i * MCC_MSECOND);
  }
}

/* One reports that is @away ms (both ways) from where our paths part, and whose queue is longer
 * than ours by @more ms; of the packet before the newest. */
static void
hear (Fixture *f, guint32 ssrc, int away, int more)
{
  MccTimeDelta own = DOWN + OFFSET + MS (98);
  mcc_neighbours_handle_report (&f->neighbours, ssrc, 7,
      mcc_abs_send_time (f->sent - 20 * MCC_MSECOND), own + MS (away) + MS (more),
      (MccTime)(98 + more) * MCC_MSECOND, 98 * MCC_MSECOND);
}

static MccTime
borrowed (Fixture *f, guint32 ssrc, guint32 number, guint rtt_ms, MccTimeDelta *transit)
{
  MccTime rtt = 0;
  return mcc_neighbours_handle_rtt (
             &f->neighbours, ssrc, number, rtt_ms * MCC_MSECOND, &rtt, transit)
             ? rtt
             : 0;
}

static void
near_and_far (void)
{
  static const struct {
    const char *name;
    int away, more;
    guint rtt_ms, ms; /* 0: not borrowed */
  } table[] = {
    { "beside us", 2, 0, 180, 180 },
    { "an eighth of its RTT away", 22, 0, 180, 180 },
    { "half of its RTT away", 90, 0, 180, 0 },
    { "nearer than here: another way", -30, 0, 180, 0 },
    { "another queue makes up for the distance", 60, -60, 180, 0 },
    { "so short that it may be a lie", 0, 0, 1, 50 },
  };
  for (guint row = 0; row < G_N_ELEMENTS (table); row++) {
    Fixture f;
    MccTimeDelta transit = 0;
    init (&f);
    hear (&f, 99, table[row].away, table[row].more);
    g_test_message ("%s", table[row].name);
    g_assert_cmpuint (
        borrowed (&f, 99, 7, table[row].rtt_ms, &transit), ==, table[row].ms * MCC_MSECOND);
    if (table[row].ms > 0)
      g_assert_cmpint (transit, ==, DOWN + OFFSET + MS (98));
    /* Once each. */
    g_assert_cmpuint (borrowed (&f, 99, 7, table[row].rtt_ms, &transit), ==, 0);
  }
}

/* A report from elsewhere comes through our queue: one that has fallen since its packet hides the
 * way. */
static void
queue_falls (void)
{
  static const int fallen[] = { 0, 10, 58 };
  for (guint row = 0; row < G_N_ELEMENTS (fallen); row++) {
    Fixture f;
    MccTimeDelta transit = 0;
    init (&f);
    mcc_neighbours_handle_packet (&f.neighbours, mcc_abs_send_time (f.sent + 20 * MCC_MSECOND),
        DOWN + OFFSET + MS (98 - fallen[row]), f.sent + 200 * MCC_MSECOND);
    hear (&f, 99, 70 - fallen[row], 0);
    g_test_message ("by %d ms", fallen[row]);
    g_assert_cmpuint (borrowed (&f, 99, 7, 180, &transit), ==, 0);
    hear (&f, 99, 2, 0);
    g_assert_cmpuint (
        borrowed (&f, 99, 7, 180, &transit), ==, fallen[row] > 20 ? 0 : 180 * MCC_MSECOND);
  }
}

/* Of several the median: one that lies, or is near by chance, moves nobody. */
static void
median_of_several (void)
{
  static const guint rtt_ms[] = { 180, 60, 190, 185, 9000 };
  static const guint expected_ms[] = { 180, 180, 180, 185, 185 };
  Fixture f;
  MccTimeDelta transit;
  init (&f);
  for (guint i = 0; i < G_N_ELEMENTS (rtt_ms); i++) {
    hear (&f, 100 + i, 3, 0);
    g_assert_cmpuint (
        borrowed (&f, 100 + i, 7, rtt_ms[i], &transit), ==, expected_ms[i] * MCC_MSECOND);
  }
}

/* One reporter has one voice, however often it speaks. */
static void
one_voice (void)
{
  static const guint rtt_ms[] = { 180, 190, 170 };
  Fixture f;
  MccTimeDelta transit;
  init (&f);
  for (guint i = 0; i < G_N_ELEMENTS (rtt_ms); i++) {
    hear (&f, 100 + i, 3, 0);
    borrowed (&f, 100 + i, 7, rtt_ms[i], &transit);
  }
  for (guint i = 0; i < 10; i++) {
    hear (&f, 99, 3, 0);
    g_assert_cmpuint (borrowed (&f, 99, 7, 2000, &transit), ==, 190 * MCC_MSECOND);
  }
}

/* Of a report that we did not hear, or a packet that we do not know, nothing follows. */
static void
unheard (void)
{
  Fixture f;
  MccTimeDelta transit;
  init (&f);
  g_assert_cmpuint (borrowed (&f, 99, 7, 180, &transit), ==, 0);
  hear (&f, 99, 2, 0);
  g_assert_cmpuint (borrowed (&f, 99, 8, 180, &transit), ==, 0);
  mcc_neighbours_handle_report (&f.neighbours, 98, 7, mcc_abs_send_time (T0 - MCC_SECOND),
      DOWN + OFFSET, 98 * MCC_MSECOND, 98 * MCC_MSECOND);
  g_assert_cmpuint (borrowed (&f, 98, 7, 180, &transit), ==, 0);
}

/* Behind the same queue is who is as near, though its queue is longer than what we know of ours. */
static void
behind (void)
{
  static const struct {
    const char *name;
    int away, more;
    bool near, behind;
  } table[] = {
    { "as long a queue", 2, 0, true, true },
    { "a little longer", 2, 15, true, true },
    { "we came when it stood", 2, 60, false, true },
    { "ours is longer", 2, -60, false, false },
    { "far away", 90, 60, false, false },
    { "nearer than here: another way", -30, 60, false, false },
  };
  for (guint row = 0; row < G_N_ELEMENTS (table); row++) {
    Fixture f;
    init (&f);
    /* What is longer with it adds nothing to where it is. */
    hear (&f, 99, table[row].away - table[row].more, table[row].more);
    g_test_message ("%s", table[row].name);
    g_assert_cmpint (
        mcc_neighbours_is_near (&f.neighbours, 99, 7, 180 * MCC_MSECOND), ==, table[row].near);
    g_assert_cmpint (
        mcc_neighbours_is_behind (&f.neighbours, 99, 7, 180 * MCC_MSECOND), ==, table[row].behind);
    g_assert_false (mcc_neighbours_is_behind (&f.neighbours, 99, 8, 180 * MCC_MSECOND));
    g_assert_false (mcc_neighbours_is_behind (&f.neighbours, 98, 7, 180 * MCC_MSECOND));
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/neighbours/near-and-far", near_and_far);
  g_test_add_func ("/neighbours/queue-falls", queue_falls);
  g_test_add_func ("/neighbours/median-of-several", median_of_several);
  g_test_add_func ("/neighbours/one-voice-each", one_voice);
  g_test_add_func ("/neighbours/unheard", unheard);
  g_test_add_func ("/neighbours/behind", behind);
  return g_test_run ();
}
