/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>

#include "mccjitter.h"
#include "mccnumbering.h"

#define T0 (4711 * MCC_SECOND)
#define DELAY (20 * MCC_MSECOND)
#define FIRST 40000

typedef struct {
  MccNumbering numbering;
  MccTime now, between; /* packets */
  gboolean stamped;
  MccTimeDelta clock; /* the sender's, less ours */
  guint16 seq;
  guint64 number; /* the newest */
} Fixture;

static void
init (Fixture *f, gboolean stamped, guint packets_per_s)
{
  *f = (Fixture){
    .now = T0, .between = MCC_SECOND / packets_per_s, .stamped = stamped, .seq = FIRST
  };
  mcc_numbering_init (&f->numbering);
}

static gboolean
feed (Fixture *f, guint16 seq, MccTime sent, guint64 *number)
{
  MccRtpPacket packet = { .seq = seq,
    .has_send_time = f->stamped,
    .send_time = mcc_abs_send_time (sent + (MccTime)f->clock) };
  MccNumberingInput input = { .packet = &packet, .now = f->now, .arrival = f->now };
  return mcc_numbering_handle_packet (&f->numbering, &input, number);
}

static void
stream (Fixture *f, guint packets)
{
  while (packets-- > 0) {
    f->now += f->between;
    g_assert_true (feed (f, f->seq++, f->now - DELAY, &f->number));
  }
}

/* A sender that begins anew with other numbers: what is ahead, or was sent after what came, with
 * the second packet; else when nothing newer came for a while. */
static void
restart (void)
{
  static const guint packets_per_s[] = { 20, 100, 10000 };
  static const gint jumps[] = { -150, -3000, -20000, 5000, 30000 };
  static const struct {
    gboolean stamped;
    gint clock_s; /* put forward */
  } stamps[] = { { TRUE, 0 }, { TRUE, 5 }, { TRUE, -5 }, { FALSE, 0 } };
  for (guint row = 0; row < G_N_ELEMENTS (stamps); row++) {
    for (guint i = 0; i < G_N_ELEMENTS (packets_per_s) * G_N_ELEMENTS (jumps); i++) {
      gint jump = jumps[i % G_N_ELEMENTS (jumps)];
      guint n = 0;
      Fixture f;
      init (&f, stamps[row].stamped, packets_per_s[i / G_N_ELEMENTS (jumps)]);
      stream (&f, 5000);
      guint64 newest = f.number, number;
      MccTime last = f.now;
      f.clock = stamps[row].clock_s * (MccTimeDelta)MCC_SECOND;
      f.seq = (guint16)(f.seq + jump);
      do {
        f.now += f.between;
        n++;
      } while (!feed (&f, f.seq++, f.now - DELAY, &number) || number <= newest);
      g_assert_cmpuint (number, ==, newest + 1);
      if (jump > 0 || (stamps[row].stamped && stamps[row].clock_s >= 0))
        g_assert_cmpuint (n, ==, 2);
      else
        g_assert_cmpuint (f.now - last, <=, MAX (MCC_NUMBERING_RESTART + f.between, 2 * f.between));
      stream (&f, 10);
      g_assert_cmpuint (f.number, ==, newest + 11);
    }
  }
}

/* What is late has the number that was left out for it, as far as that is known. */
static void
late (void)
{
  Fixture f;
  guint64 number;
  init (&f, TRUE, 1000);
  stream (&f, 2000);
  guint64 newest = f.number;
  f.seq += 500;
  stream (&f, 1);
  g_assert_cmpuint (f.number, ==, newest + 501);
  for (guint i = 0; i < 200; i++) {
    g_assert_true (feed (&f, (guint16)(FIRST + 2000 + i), f.now - 300 * MCC_MSECOND, &number));
    g_assert_cmpuint (number, ==, newest + 1 + i);
  }
  for (guint i = 0; i < 10; i++) /* from before the stream */
    g_assert_false (feed (&f, (guint16)(FIRST - 1000 + i), f.now - 4 * MCC_SECOND, &number));
  stream (&f, 1);
  g_assert_cmpuint (f.number, ==, newest + 502);
  /* Behind a gap that was none of the network's the numbers are others. */
  f.now += 3 * MCC_SECOND;
  f.seq += 500;
  stream (&f, 150);
  g_assert_cmpuint (f.number, ==, newest + 652);
  for (guint i = 0; i < 10; i++)
    g_assert_false (feed (&f, (guint16)(FIRST + 2600 + i), f.now - 4 * MCC_SECOND, &number));
  stream (&f, 1);
  g_assert_cmpuint (f.number, ==, newest + 653);
}

/* One that is far off is a stray. */
static void
stray (void)
{
  Fixture f;
  guint64 number;
  init (&f, FALSE, 20);
  stream (&f, 100);
  for (guint i = 0; i < 100; i++) {
    g_assert_false (feed (&f, (guint16)(f.seq + 5000 + i), f.now, &number));
    guint64 newest = f.number;
    stream (&f, 1);
    g_assert_cmpuint (f.number, ==, newest + 1);
  }
}

/* Drops of our socket that no gap showed, or one that was excused anyway, excuse nothing later. */
static void
old_drops (void)
{
  static const struct {
    guint packets_per_s, dropped, missing;
    guint jumps; /* packets until so many missing are taken for a restart */
    guint then;  /* packets until the network loses some */
  } table[] = { { 1000, 500, 0, 0, 2000 }, { 1000, 5000, 5000, 0, 2000 },
    { 1000, 5000, 5000, 0, 1 }, { 10000, 5000, 5000, 1, 1 } };
  for (guint row = 0; row < G_N_ELEMENTS (table); row++) {
    Fixture f;
    guint64 number;
    init (&f, TRUE, table[row].packets_per_s);
    stream (&f, 100);
    mcc_numbering_handle_host_dropped (&f.numbering, table[row].dropped, f.now);
    f.now += table[row].missing * f.between;
    f.seq = (guint16)(f.seq + table[row].missing);
    for (guint i = 0; i < table[row].jumps; i++)
      g_assert_false (feed (&f, f.seq++, f.now - DELAY, &number));
    stream (&f, table[row].then);
    guint64 newest = f.number;
    mcc_numbering_handle_host_dropped (&f.numbering, 1, f.now);
    f.seq = (guint16)(f.seq + 200);
    stream (&f, 1);
    g_assert_cmpuint (f.number, ==, newest + 200);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/numbering/restart-is-followed-soon", restart);
  g_test_add_func ("/numbering/late-is-no-restart", late);
  g_test_add_func ("/numbering/one-far-off-is-a-stray", stray);
  g_test_add_func ("/numbering/old-drops-excuse-nothing", old_drops);
  return g_test_run ();
}
