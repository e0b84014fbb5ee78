/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A stream that begins anew under its SSRC, and what only looks as if it did.
 */
#include "splicefixture.h"

#define STOPS (10 * MCC_SECOND)

typedef struct {
  const char *name;
  int step;      /* from its last number to the first new one, about */
  uint32_t base; /* of its timestamps */
  MccTime pause;
} Restart;

static const Restart restarts[] = {
  { "behind", -20000, 0, 300 * MS },
  { "ahead", 20000, 0, 300 * MS },
  { "little-behind", -60, 0, 300 * MS },
  { "little-ahead", 60, 0, 300 * MS },
  { "at-once", -20000, 0, 0 },
  { "later", -20000, 0, 30 * MCC_SECOND },
  { "another-base", -20000, 0x70000000, 300 * MS },
  { "another-base-ahead", 500, 0x70000000, 300 * MS },
};

/* Its running time, and so its timestamps, begin at 0 again, or anywhere. */
static Source
anew (const Source *source, unsigned sent, const Restart *restart)
{
  Source again = *source;
  again.first = (uint16_t)(source->first + (int)sent + restart->step);
  again.base = restart->base > 0
                   ? restart->base
                   : source->base - (uint32_t)((STOPS + restart->pause) * CLOCK / MCC_SECOND);
  return again;
}

/* What leaves goes on: numbers without a hole, timestamps forwards, in time with the arrivals. */
static void
test_shown (gconstpointer data)
{
  const Restart *restart = data;
  Source source = { 0, 30, 6, 20, 0, 70000, 40000, 20 * MS, MS, true };
  Stage stage = stage_new ();
  unsigned at = 0, before;
  MccTime begins = STOPS + restart->pause, ends = begins + 5 * MCC_SECOND;
  make (&stage, &source, 0, STOPS, key_first, 1);
  before = stage.packets->len;
  Source again = anew (&source, before, restart);
  make (&stage, &again, begins, ends, &begins, 1);
  g_ptr_array_sort (stage.packets, by_arrival);
  join (&stage, 0);
  run (&stage, &at, EPOCH + ends + MCC_SECOND);
  g_assert_cmpuint (stage.cuts, ==, 2);
  g_assert_cmpuint (stage.key_units, ==, 1);
  g_assert_cmpuint (stage.out->len, ==, stage.packets->len);
  for (unsigned i = 1; i < stage.out->len; i++) {
    const Out *out = &g_array_index (stage.out, Out, i);
    int32_t step = (int32_t)(out->time - (out - 1)->time);
    g_assert_cmpuint ((uint16_t)(out->seq - (out - 1)->seq), ==, 1);
    g_assert_cmpint (step, >=, 0);
    if (i == before)
      g_assert_cmpint (
          labs (step - (int32_t)((restart->pause + MCC_SECOND / 30) * CLOCK / MCC_SECOND)), <=,
          2 * CLOCK);
  }
  stage_free (&stage);
}

/* Of a stream that is joined, and not shown yet, too. */
static void
test_joined (gconstpointer data)
{
  const Restart *restart = data;
  Source a = { 0, 30, 6, 20, 0, 70000, 40000, 20 * MS, MS, true };
  Source b = { 1, 30, 6, 20, 0, 70000, 30000, 20 * MS, MS, true };
  Stage stage = stage_new ();
  unsigned at = 0;
  MccTime begins = STOPS + restart->pause, ends = begins + 5 * MCC_SECOND;
  make (&stage, &a, 0, ends, key_first, 1);
  unsigned before = stage.packets->len;
  make (&stage, &b, 9 * MCC_SECOND, STOPS, NULL, 0); /* no key unit yet */
  Source again = anew (&b, stage.packets->len - before, restart);
  make (&stage, &again, begins, ends, &begins, 1);
  g_ptr_array_sort (stage.packets, by_arrival);
  join (&stage, 0);
  run (&stage, &at, EPOCH + 9 * MCC_SECOND);
  join (&stage, 1);
  run (&stage, &at, EPOCH + ends + MCC_SECOND);
  g_assert_cmpuint (stage.cuts, ==, 2);
  g_assert_cmpuint (stage.shown, ==, 1);
  g_assert_cmpuint (stage.cut_at, <, EPOCH + begins + MCC_SECOND);
  stage_free (&stage);
}

/* The shown stream begins anew while another is joined: that one comes in its place; where it does
 * not, the shown one is joined again. */
static void
test_between (gconstpointer data)
{
  bool comes = GPOINTER_TO_UINT (data);
  Source a = { 0, 30, 6, 20, 0, 70000, 40000, 20 * MS, MS, true };
  Source b = { 1, 30, 6, 20, 0, 70000, 30000, 20 * MS, MS, true };
  static const MccTime keys[] = { STOPS, STOPS + 2 * MCC_SECOND, STOPS + 4 * MCC_SECOND };
  Stage stage = stage_new ();
  unsigned at = 0;
  make (&stage, &a, 0, STOPS, key_first, 1);
  Source again = anew (&a, stage.packets->len, &restarts[0]);
  again.base = a.base;
  make (&stage, &again, STOPS, STOPS + 6 * MCC_SECOND, keys, 3);
  make (&stage, &b, 9 * MCC_SECOND, STOPS + 3 * MCC_SECOND, &keys[1], comes);
  g_ptr_array_sort (stage.packets, by_arrival);
  join (&stage, 0);
  run (&stage, &at, EPOCH + 9500 * MS);
  join (&stage, 1);
  run (&stage, &at, EPOCH + STOPS + 3 * MCC_SECOND);
  g_assert_cmpuint (stage.cuts, ==, 1 + comes);
  if (!comes) {
    mcc_splice_leave (stage.splice, 1, stage.now);
    drain (&stage);
    run (&stage, &at, EPOCH + STOPS + 5 * MCC_SECOND);
    g_assert_cmpuint (stage.cuts, ==, 2);
    g_assert_cmpuint (stage.shown, ==, 0);
  }
  stage_free (&stage);
}

/* Late packets, far behind, keep their places; after a long gap, or a pause of the source, it is
 * the same stream. */
static void
test_goes_on (void)
{
  Source source = { 0, 30, 6, 20, 0, 70000, 40000, 20 * MS, MS, true };
  Source rests = source;
  Stage stage = stage_new ();
  unsigned at = 0;
  make (&stage, &source, 0, STOPS, key_first, 1);
  unsigned n = stage.packets->len;
  rests.base -= 20 * CLOCK; /* it stood still for so long */
  rests.first = (uint16_t)(source.first + n);
  make (&stage, &rests, STOPS + 20 * MCC_SECOND, STOPS + 25 * MCC_SECOND, NULL, 0);
  for (unsigned i = 300; i < 306; i++) { /* 800 ms late, in disorder */
    Packet *packet = stage.packets->pdata[i];
    packet->arrival += 800 * MS + (i % 2 ? 0 : 40 * MS);
  }
  for (unsigned i = n - 600; i < n - 60; i++)
    ((Packet *)stage.packets->pdata[i])->lost = true;
  g_ptr_array_sort (stage.packets, by_arrival);
  join (&stage, 0);
  run (&stage, &at, EPOCH + STOPS + 26 * MCC_SECOND);
  g_assert_cmpuint (stage.cuts, ==, 1);
  g_assert_cmpuint (stage.key_units, ==, 0);
  g_assert_cmpuint (stage.out->len, ==, stage.packets->len - 540);
  const Out *first = &g_array_index (stage.out, Out, 0);
  for (unsigned i = 0; i < stage.out->len; i++) {
    const Out *out = first + i;
    g_assert_cmpuint ((uint16_t)(out->seq - first->seq), ==,
        (uint16_t)(out->packet->packet.seq - first->packet->packet.seq));
  }
  stage_free (&stage);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (unsigned i = 0; i < G_N_ELEMENTS (restarts); i++) {
    char *name = g_strconcat ("/splice/begins-anew/shown/", restarts[i].name, NULL);
    g_test_add_data_func (name, &restarts[i], test_shown);
    g_free (name);
    name = g_strconcat ("/splice/begins-anew/joined/", restarts[i].name, NULL);
    g_test_add_data_func (name, &restarts[i], test_joined);
    g_free (name);
  }
  g_test_add_data_func ("/splice/begins-anew/another-comes", GUINT_TO_POINTER (TRUE), test_between);
  g_test_add_data_func ("/splice/begins-anew/another-does-not", NULL, test_between);
  g_test_add_func ("/splice/goes-on", test_goes_on);
  return g_test_run ();
}
