/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "splicefixture.h"

/* Two streams; the second one makes a key unit at 1 s, having been joined before. */
static void
test_overlap (void)
{
  static const struct {
    const char *name;
    Source a, b;
    uint32_t largest; /* timestamps between frames */
    MccTime latest;   /* of the cut, after the key unit's time */
  } table[] = {
    { "alike", { 0, 30, 3, 8, 0, 77, 10, 20 * MS, MS, true },
        { 1, 30, 9, 40, 0, 77, 900, 20 * MS, MS, true }, 3000, 70 * MS },
    { "behind", { 0, 30, 3, 8, 0, 77, 10, 20 * MS, MS, true },
        { 1, 30, 9, 40, 0, 77, 900, 120 * MS, MS, true }, 3000, 200 * MS },
    { "ahead", { 0, 30, 3, 8, 0, 77, 10, 110 * MS, MS, true },
        { 1, 30, 9, 40, 0, 77, 900, 20 * MS, MS, true }, 3000, 200 * MS },
    { "far ahead", { 0, 30, 3, 8, 0, 77, 10, 270 * MS, MS, true },
        { 1, 30, 9, 40, 0, 77, 900, 20 * MS, MS, true }, 3000, 350 * MS },
    { "slower", { 0, 30, 3, 8, 0, 77, 10, 20 * MS, MS, true },
        { 1, 15, 9, 60, 0, 77, 900, 20 * MS, 2 * MS, true }, 6000, 200 * MS },
    { "faster", { 0, 10, 3, 8, 0, 77, 10, 20 * MS, MS, true },
        { 1, 60, 9, 60, 0, 77, 900, 20 * MS, 2 * MS, true }, 9000, 250 * MS },
    { "timestamps wrap", { 0, 30, 3, 8, 0, 0xffffffff - 91500, 10, 20 * MS, MS, true },
        { 1, 30, 9, 40, 0, 0xffffffff - 91500, 900, 20 * MS, MS, true }, 3000, 70 * MS },
    { "numbers wrap", { 0, 30, 3, 8, 0, 77, 65500, 20 * MS, MS, true },
        { 1, 30, 9, 40, 0, 77, 65520, 20 * MS, MS, true }, 3000, 70 * MS },
    { "B frames", { 0, 30, 3, 8, 2, 77, 10, 20 * MS, MS, true },
        { 1, 30, 5, 40, 2, 77, 900, 20 * MS, MS, true }, 3000, 250 * MS },
    { "no markers", { 0, 30, 3, 8, 0, 77, 10, 20 * MS, MS, false },
        { 1, 30, 9, 40, 0, 77, 900, 20 * MS, MS, false }, 3000, 110 * MS },
    { "frames that touch", { 0, 30, 30, 40, 0, 77, 10, 20 * MS, MS, true },
        { 1, 30, 30, 60, 0, 77, 900, 20 * MS, MS, true }, 3000, 110 * MS },
  };
  for (unsigned row = 0; row < G_N_ELEMENTS (table); row++) {
    Stage stage = stage_new ();
    unsigned at = 0;
    g_test_message ("%s", table[row].name);
    make_both (&stage, &table[row].a, &table[row].b, 980 * MS, 2 * MCC_SECOND);
    g_ptr_array_sort (stage.packets, by_arrival);
    join (&stage, 0);
    run (&stage, &at, EPOCH + 600 * MS);
    g_assert_cmpuint (stage.cuts, ==, 1);
    join (&stage, 1);
    run (&stage, &at, EPOCH + 3 * MCC_SECOND);
    g_assert_cmpuint (stage.cuts, ==, 2);
    g_assert_cmpuint (stage.shown, ==, 1);
    g_assert_cmpuint (stage.cut_at, <=, EPOCH + 1000 * MS + table[row].latest);
    g_assert_cmpuint (check (&stage, false, table[row].largest), ==, 0);
    /* in time again: as it came */
    const Out *last = &g_array_index (stage.out, Out, stage.out->len - 1);
    g_assert_cmpuint (last->time, ==, last->packet->packet.rtp_time);
    stage_free (&stage);
  }
}

/* The old stream is left first, in the middle of a frame: that one still goes out. */
static void
test_no_overlap (void)
{
  static const Source a = { 0, 30, 10, 20, 0, 5, 10, 20 * MS, MS, true };
  static const Source b = { 1, 30, 9, 40, 0, 5, 900, 20 * MS, MS, true };
  Stage stage = stage_new ();
  unsigned at = 0;
  make_both (&stage, &a, &b, 1200 * MS, 2 * MCC_SECOND);
  g_ptr_array_sort (stage.packets, by_arrival);
  join (&stage, 0);
  run (&stage, &at, EPOCH + 1024 * MS);
  mcc_splice_leave (stage.splice, 0, stage.now);
  join (&stage, 1);
  g_assert_cmpuint (stage.left, ==, 0);
  run (&stage, &at, EPOCH + 1035 * MS);
  g_assert_cmpuint (stage.left, ==, 1);
  run (&stage, &at, EPOCH + 3 * MCC_SECOND);
  g_assert_cmpuint (stage.cuts, ==, 2);
  /* as soon as the key unit is whole */
  g_assert_cmpuint (stage.cut_at, <=, EPOCH + 1261 * MS);
  g_assert_cmpuint (check (&stage, false, 20000), ==, 0);
  stage_free (&stage);
}

/* The first packet behind the one cut. */
static const Out *
after_cut (const Stage *stage)
{
  const Out *found = NULL;
  for (unsigned i = 1; i < stage->out->len; i++) {
    const Out *o = &g_array_index (stage->out, Out, i);
    if (o->packet->stream == o[-1].packet->stream)
      continue;
    g_assert_null (found);
    found = o;
  }
  g_assert_nonnull (found);
  return found;
}

/* The end of the frame does not come: 150 ms, a gap of one tells that it is torn, and a number is
 * there for what parts the frames. */
static void
test_left_in_a_frame (void)
{
  static const Source a = { 0, 4, 10, 20, 0, 5, 10, 20 * MS, 25 * MS, true };
  static const Source b = { 1, 30, 9, 40, 0, 5, 900, 20 * MS, MS, true };
  Stage stage = stage_new ();
  unsigned at = 0;
  make_both (&stage, &a, &b, 1300 * MS, 2 * MCC_SECOND);
  g_ptr_array_sort (stage.packets, by_arrival);
  join (&stage, 0);
  run (&stage, &at, EPOCH + 1031 * MS);
  mcc_splice_leave (stage.splice, 0, stage.now);
  join (&stage, 1);
  run (&stage, &at, EPOCH + 1180 * MS);
  g_assert_cmpuint (stage.left, ==, 0);
  run (&stage, &at, EPOCH + 1181 * MS);
  g_assert_cmpuint (stage.left, ==, 1);
  run (&stage, &at, EPOCH + 3 * MCC_SECOND);
  const Out *first = after_cut (&stage);
  g_assert_cmpuint ((uint16_t)(first->seq - first[-1].seq), ==, 3);
  g_assert_true (stage.delimit.packet == first->packet);
  g_assert_cmpuint ((uint16_t)(first->seq - stage.delimit.seq), ==, 1);
  g_assert_cmpuint (stage.delimit.time, ==, first->time);
  g_assert_cmpuint (check (&stage, true, 50000), ==, 1);
  stage_free (&stage);
}

static Packet *
find (Stage *stage, unsigned stream, MccTime after, bool key, unsigned order)
{
  for (unsigned i = 0; i < stage->packets->len; i++) {
    Packet *packet = stage->packets->pdata[i];
    if (packet->stream == stream && packet->arrival >= EPOCH + after && packet->key == key
        && packet->order == order)
      return packet;
  }
  g_assert_not_reached ();
}

/* The last frame before the cut has its end but lost packet @order of it: where there is something
 * that parts frames it has a number, and nothing is left out; a @late one fills the hole. */
static void
test_hole (MccSpliceKind kind, unsigned order, bool late)
{
  static const Source a = { 0, 30, 6, 20, 0, 5, 10, 20 * MS, MS, true };
  static const Source b = { 1, 30, 9, 40, 0, 5, 900, 20 * MS, MS, true };
  const MccTime keys[] = { 1300 * MS };
  Stage stage = stage_new ();
  unsigned at = 0, parts = kind == MCC_SPLICE_DELIMITED && !late;
  make (&stage, &a, 0, 1000 * MS, key_first, 1);
  make (&stage, &b, 500 * MS, 2 * MCC_SECOND, keys, 1);
  Packet *hole = find (&stage, 0, 986 * MS, false, order);
  hole->lost = !late;
  hole->arrival += 20 * MS;
  g_ptr_array_sort (stage.packets, by_arrival);
  join (&stage, 0);
  run (&stage, &at, EPOCH + 1030 * MS);
  mcc_splice_leave (stage.splice, 0, stage.now);
  mcc_splice_join (stage.splice, 1, ssrc_of (1), CLOCK, kind, stage.now);
  drain (&stage);
  run (&stage, &at, EPOCH + 3 * MCC_SECOND);
  g_assert_cmpuint (stage.delimit.packet != NULL, ==, parts);
  g_array_sort (stage.out, by_seq);
  const Out *first = after_cut (&stage);
  g_assert_cmpuint ((uint16_t)(first->seq - first[-1].seq), ==, 1 + parts);
  g_assert_true (!parts || (uint16_t)(first->seq - stage.delimit.seq) == 1);
  stage_free (&stage);
}

static void
test_holes (void)
{
  for (unsigned order = 1; order < 5; order++)
    test_hole (MCC_SPLICE_DELIMITED, order, false);
  test_hole (MCC_SPLICE_DELIMITED, 3, true);
  test_hole (MCC_SPLICE_KEYED, 3, false);
}

/* A key unit that loses a packet is not shown; another is asked for. */
static void
test_torn_key_unit (void)
{
  static const Source a = { 0, 30, 3, 20, 0, 5, 10, 20 * MS, MS, true };
  static const Source b = { 1, 30, 9, 25, 0, 5, 900, 20 * MS, MS, true };
  static const unsigned orders[] = { 0, 1, 7, 24 };
  for (unsigned row = 0; row < G_N_ELEMENTS (orders); row++) {
    const MccTime keys[] = { 1200 * MS, 1700 * MS };
    Stage stage = stage_new ();
    unsigned at = 0;
    make (&stage, &a, 0, 2500 * MS, key_first, 1);
    make (&stage, &b, 500 * MS, 2500 * MS, keys, 2);
    find (&stage, 1, 1100 * MS, true, orders[row])->lost = true;
    g_ptr_array_sort (stage.packets, by_arrival);
    join (&stage, 0);
    run (&stage, &at, EPOCH + 1000 * MS);
    join (&stage, 1);
    run (&stage, &at, EPOCH + 1600 * MS);
    g_assert_cmpuint (stage.cuts, ==, 1);
    g_assert_cmpuint (stage.key_units, ==, 1);
    run (&stage, &at, EPOCH + 3 * MCC_SECOND);
    g_assert_cmpuint (stage.cuts, ==, 2);
    g_assert_cmpuint (check (&stage, false, 3000), ==, 0);
    stage_free (&stage);
  }
}

/* What comes late by up to two packets keeps its place, on both sides of the cut. */
static void
test_reordering (void)
{
  static const Source a = { 0, 30, 6, 20, 0, 5, 65400, 20 * MS, MS, true };
  static const Source b = { 1, 30, 9, 25, 0, 5, 65300, 20 * MS, MS, true };
  MccRng rng;
  mcc_rng_init (&rng, 5);
  for (unsigned round = 0; round < 50; round++) {
    Stage stage = stage_new ();
    unsigned at = 0;
    make_both (&stage, &a, &b, 1000 * MS, 1800 * MS);
    for (unsigned i = 0; i < stage.packets->len; i++) {
      Packet *packet = stage.packets->pdata[i];
      if (mcc_rng_uniform (&rng) < 0.2)
        packet->arrival += 2 * MS + 1;
    }
    g_ptr_array_sort (stage.packets, by_arrival);
    join (&stage, 0);
    run (&stage, &at, EPOCH + 800 * MS);
    join (&stage, 1);
    run (&stage, &at, EPOCH + 3 * MCC_SECOND);
    g_assert_cmpuint (stage.cuts, ==, 2);
    g_assert_cmpuint (stage.key_units, ==, 0);
    g_assert_cmpuint (check (&stage, true, 3000), ==, 0);
    stage_free (&stage);
  }
}

/* Duplicates leave as duplicates or not at all; they open and close no gap. */
static void
test_duplicates (void)
{
  static const Source a = { 0, 30, 6, 20, 0, 5, 10, 20 * MS, MS, true };
  static const Source b = { 1, 30, 9, 25, 0, 5, 900, 20 * MS, MS, true };
  Stage stage = stage_new ();
  unsigned at = 0, seen[65536] = { 0 };
  make_both (&stage, &a, &b, 1000 * MS, 1800 * MS);
  for (unsigned i = 0, n = stage.packets->len; i < n; i++) {
    Packet *copy = g_memdup2 (stage.packets->pdata[i], sizeof (Packet));
    copy->arrival += i % 3 * MS + i % 7 / 6 * 60 * MS;
    copy->packet.data = copy;
    g_ptr_array_add (stage.packets, copy);
  }
  g_ptr_array_sort (stage.packets, by_arrival);
  join (&stage, 0);
  run (&stage, &at, EPOCH + 800 * MS);
  join (&stage, 1);
  run (&stage, &at, EPOCH + 3 * MCC_SECOND);
  g_assert_cmpuint (stage.cuts, ==, 2);
  /* under one number always the same packet */
  const Packet *of[65536] = { NULL };
  for (unsigned i = 0; i < stage.out->len; i++) {
    const Out *o = &g_array_index (stage.out, Out, i);
    if (of[o->seq]) {
      g_assert_cmpuint (of[o->seq]->packet.seq, ==, o->packet->packet.seq);
      g_assert_cmpuint (of[o->seq]->stream, ==, o->packet->stream);
    }
    of[o->seq] = o->packet;
    seen[o->seq]++;
  }
  uint16_t first = g_array_index (stage.out, Out, 0).seq;
  unsigned n = 0;
  while (seen[(uint16_t)(first + n)])
    n++;
  for (unsigned i = n; i < 65536; i++)
    g_assert_cmpuint (seen[(uint16_t)(first + i)], ==, 0);
  stage_free (&stage);
}

/* Streams of two clocks (another sender): arrivals say how they lie to each other. */
static void
test_other_base (void)
{
  static const Source a = { 0, 30, 6, 20, 0, 5, 10, 20 * MS, MS, true };
  static const Source b = { 1, 30, 9, 25, 0, 0x70000000, 900, 20 * MS, MS, true };
  Stage stage = stage_new ();
  unsigned at = 0;
  make_both (&stage, &a, &b, 1000 * MS, 1800 * MS);
  g_ptr_array_sort (stage.packets, by_arrival);
  join (&stage, 0);
  run (&stage, &at, EPOCH + 800 * MS);
  join (&stage, 1);
  run (&stage, &at, EPOCH + 3 * MCC_SECOND);
  g_assert_cmpuint (stage.cuts, ==, 2);
  g_assert_cmpuint (check (&stage, false, 3300), ==, 0);
  /* it goes on where its frames would be by a's base, within a millisecond */
  const Out *last = &g_array_index (stage.out, Out, stage.out->len - 1);
  uint32_t right = last->packet->packet.rtp_time - 0x70000000u + 5;
  g_assert_cmpint (abs ((int32_t)(last->time - right)), <=, 3000);
  stage_free (&stage);
}

/* The old stream falls silent in a frame: 100 ms, then the new one. */
static void
test_silent (void)
{
  static const Source a = { 0, 30, 20, 20, 0, 5, 10, 20 * MS, MS, true };
  static const Source b = { 1, 30, 9, 25, 0, 5, 900, 20 * MS, MS, true };
  const MccTime keys[] = { 1000 * MS };
  Stage stage = stage_new ();
  unsigned at = 0;
  make (&stage, &a, 0, 1001 * MS, key_first, 1);
  make (&stage, &b, 500 * MS, 1800 * MS, keys, 1);
  for (unsigned order = 10; order < 20; order++)
    find (&stage, 0, 1019 * MS, false, order)->lost = true;
  g_ptr_array_sort (stage.packets, by_arrival);
  join (&stage, 0);
  run (&stage, &at, EPOCH + 800 * MS);
  join (&stage, 1);
  run (&stage, &at, EPOCH + 3 * MCC_SECOND);
  g_assert_cmpuint (stage.cuts, ==, 2);
  g_assert_cmpuint (stage.cut_at, >=, EPOCH + 1144 * MS);
  g_assert_cmpuint (stage.cut_at, <=, EPOCH + 1146 * MS);
  g_assert_cmpuint (check (&stage, true, 3000), ==, 1);
  stage_free (&stage);
}

/* The end of the old stream's last frame comes when it is too late: nothing may hide that it is
 * torn, and no number is used twice. */
static void
test_end_too_late (void)
{
  static const Source a = { 0, 30, 20, 20, 0, 5, 10, 20 * MS, MS, true };
  static const Source b = { 1, 30, 9, 25, 0, 5, 900, 20 * MS, MS, true };
  Stage stage = stage_new ();
  unsigned at = 0;
  make_both (&stage, &a, &b, 1000 * MS, 1800 * MS);
  /* before the key unit is whole */
  Packet *late[]
      = { find (&stage, 0, 1030 * MS, false, 18), find (&stage, 0, 1030 * MS, false, 19) };
  late[0]->arrival += 60 * MS;
  late[1]->arrival += 60 * MS;
  g_ptr_array_sort (stage.packets, by_arrival);
  join (&stage, 0);
  run (&stage, &at, EPOCH + 800 * MS);
  join (&stage, 1);
  run (&stage, &at, EPOCH + 3 * MCC_SECOND);
  g_assert_cmpuint (stage.cuts, ==, 2);
  const Out *first = after_cut (&stage);
  g_assert_cmpuint ((uint16_t)(first->seq - first[-1].seq), ==, 3);
  g_assert_true (late[0]->freed && late[1]->freed);
  stage_free (&stage);
}

/* What comes after the cut takes no number that is taken, however late it is. */
static void
test_very_late (void)
{
  static const Source a = { 0, 30, 6, 20, 0, 5, 65400, 20 * MS, MS, true };
  static const Source b = { 1, 30, 9, 25, 0, 5, 65300, 20 * MS, MS, true };
  MccRng rng;
  mcc_rng_init (&rng, 8);
  for (unsigned round = 0; round < 50; round++) {
    Stage stage = stage_new ();
    unsigned at = 0;
    make_both (&stage, &a, &b, 1000 * MS, 1800 * MS);
    for (unsigned i = 0; i < stage.packets->len; i++) {
      Packet *packet = stage.packets->pdata[i];
      if (packet->stream == 0 && mcc_rng_uniform (&rng) < 0.3)
        packet->arrival += (MccTime)(mcc_rng_uniform (&rng) * 120e6);
    }
    g_ptr_array_sort (stage.packets, by_arrival);
    join (&stage, 0);
    run (&stage, &at, EPOCH + 800 * MS);
    join (&stage, 1);
    run (&stage, &at, EPOCH + 3 * MCC_SECOND);
    if (stage.cuts == 2)
      check (&stage, true, 20000);
    stage_free (&stage);
  }
}

/* Key units cannot be told: at the begin of whatever frame. */
static void
test_not_keyed (void)
{
  static const Source a = { 0, 50, 1, 1, 0, 5, 10, 20 * MS, MS, false };
  static const Source b = { 1, 50, 1, 1, 0, 5, 900, 20 * MS, MS, false };
  Stage stage = stage_new ();
  unsigned at = 0;
  make (&stage, &a, 0, 1800 * MS, NULL, 0);
  make (&stage, &b, 500 * MS, 1800 * MS, NULL, 0);
  g_ptr_array_sort (stage.packets, by_arrival);
  mcc_splice_join (stage.splice, 0, ssrc_of (0), CLOCK, MCC_SPLICE_OPAQUE, stage.now);
  run (&stage, &at, EPOCH + 800 * MS);
  g_assert_cmpuint (stage.cuts, ==, 1);
  mcc_splice_join (stage.splice, 1, ssrc_of (1), CLOCK, MCC_SPLICE_OPAQUE, stage.now);
  run (&stage, &at, EPOCH + 3 * MCC_SECOND);
  g_assert_cmpuint (stage.cuts, ==, 2);
  g_assert_cmpuint (stage.cut_at, <=, EPOCH + 861 * MS);
  for (unsigned i = 1; i < stage.out->len; i++) {
    const Out *o = &g_array_index (stage.out, Out, i);
    g_assert_cmpuint ((uint16_t)(o->seq - o[-1].seq), ==, 1);
    g_assert_cmpint ((int32_t)(o->time - o[-1].time), >, 0);
  }
  stage_free (&stage);
}

/* What is joined and left again before it was shown leaves no trace. */
static void
test_forgotten (void)
{
  static const Source a = { 0, 30, 6, 20, 0, 5, 10, 20 * MS, MS, true };
  static const Source b = { 1, 30, 9, 60, 0, 5, 900, 20 * MS, MS, true };
  Stage stage = stage_new ();
  unsigned at = 0;
  make_both (&stage, &a, &b, 1000 * MS, 1800 * MS);
  g_ptr_array_sort (stage.packets, by_arrival);
  join (&stage, 0);
  run (&stage, &at, EPOCH + 800 * MS);
  join (&stage, 1);
  run (&stage, &at, EPOCH + 1040 * MS); /* half its key unit is there */
  mcc_splice_leave (stage.splice, 1, stage.now);
  drain (&stage);
  g_assert_cmpuint (stage.left, ==, 1);
  g_assert_false (mcc_splice_wants (stage.splice, 1, ssrc_of (1)));
  run (&stage, &at, EPOCH + 3 * MCC_SECOND);
  g_assert_cmpuint (stage.cuts, ==, 1);
  g_assert_cmpuint (check (&stage, false, 3000), ==, 0);
  stage_free (&stage);
}

/* A key unit beyond all bounds ends in a request, not in memory. */
static void
test_bounded (void)
{
  static const Source b = { 1, 30, 9, 9000, 0, 5, 900, 20 * MS, 1000, true };
  const MccTime keys[] = { 500 * MS };
  Stage stage = stage_new ();
  unsigned at = 0;
  make (&stage, &b, 400 * MS, 1000 * MS, keys, 1);
  g_ptr_array_sort (stage.packets, by_arrival);
  join (&stage, 1);
  run (&stage, &at, EPOCH + 3 * MCC_SECOND);
  g_assert_cmpuint (stage.cuts, ==, 0);
  g_assert_cmpuint (stage.key_units, >=, 1);
  stage_free (&stage);
}

/* A key unit of 50 Mb/s and more is shown, alone (@data 0) and beside another stream (1): all of
 * it, and at once. */
static void
test_large (gconstpointer data)
{
  bool beside = GPOINTER_TO_INT (data);
  static const guint sizes[] = { 1500, 8000 };
  for (guint row = 0; row < G_N_ELEMENTS (sizes); row++) {
    Source a = { 0, 30, 6, 20, 0, 5, 10, 20 * MS, MS, true };
    Source b = { 1, 30, 9, sizes[row], 0, 5, 900, 20 * MS, 10000, true };
    const MccTime keys[] = { 1000 * MS };
    Stage stage = stage_new ();
    unsigned at = 0, emitted = 0;
    if (beside)
      make (&stage, &a, 0, 1800 * MS, key_first, 1);
    make (&stage, &b, 500 * MS, 1800 * MS, keys, 1);
    g_ptr_array_sort (stage.packets, by_arrival);
    join (&stage, 0);
    run (&stage, &at, EPOCH + 800 * MS);
    join (&stage, 1);
    run (&stage, &at, EPOCH + 3 * MCC_SECOND);
    g_assert_cmpuint (stage.cuts, ==, 1 + beside);
    g_assert_cmpuint (stage.key_units, ==, 0);
    for (unsigned i = 0; i < stage.out->len; i++) {
      const Packet *packet = g_array_index (stage.out, Out, i).packet;
      emitted += packet->stream == 1 && packet->key;
    }
    g_assert_cmpuint (emitted, ==, sizes[row]);
    g_assert_cmpuint (check (&stage, false, 3000), ==, 0);
    stage_free (&stage);
  }
}

/* A hundred cuts between four streams at random moments, with and without overlap. */
static void
test_random_cuts (gconstpointer data)
{
  double loss = GPOINTER_TO_UINT (data) / 1000.0;
  MccRng rng;
  mcc_rng_init (&rng, 11);
  for (unsigned run_number = 0; run_number < 10; run_number++) {
    Stage stage = stage_new ();
    MccTime keys[4][40];
    unsigned at = 0, done = 0;
    for (unsigned s = 0; s < 4; s++)
      for (unsigned k = 0; k < 40; k++)
        keys[s][k] = k * 300 * MS + (MccTime)(mcc_rng_uniform (&rng) * 200e6);
    for (unsigned s = 0; s < 4; s++) {
      Source source = { s, s == 0 ? 15 : 30, 2 + 2 * s, 8 + 6 * s, 0, 0xfffff000u,
        (uint16_t)(mcc_rng_uniform (&rng) * 65536), 20 * MS + s * 17 * MS, MS / 2, true };
      make (&stage, &source, 0, 12 * MCC_SECOND, keys[s], 40);
    }
    for (unsigned i = 0; i < stage.packets->len; i++)
      ((Packet *)stage.packets->pdata[i])->lost = mcc_rng_uniform (&rng) < loss;
    g_ptr_array_sort (stage.packets, by_arrival);
    join (&stage, 0);
    run (&stage, &at, EPOCH + 700 * MS);
    for (unsigned cut = 0; cut < 10; cut++) {
      unsigned to = (stage.shown + 1 + (unsigned)(mcc_rng_uniform (&rng) * 3)) % 4;
      unsigned from = stage.shown, before = stage.cuts;
      bool overlap = mcc_rng_uniform (&rng) < 0.6;
      if (stage.cuts == 0)
        break;
      if (!overlap)
        mcc_splice_leave (stage.splice, from, stage.now);
      join (&stage, to);
      run (&stage, &at, stage.now + 900 * MS + (MccTime)(mcc_rng_uniform (&rng) * 200e6));
      if (stage.cuts > before && overlap)
        mcc_splice_leave (stage.splice, from, stage.now);
      drain (&stage);
      done += stage.cuts > before;
    }
    g_assert_cmpuint (done, >=, loss > 0 ? 5 : 10);
    unsigned torn = check (&stage, loss > 0, loss > 0 ? 200000 : 72000);
    if (!(loss > 0))
      g_assert_cmpuint (torn, ==, 0);
    stage_free (&stage);
  }
}

/* A key unit that takes seconds to come, while the old stream is shown: time does not go back. */
static void
test_slow_key_unit (void)
{
  static const MccTime key_at[] = { 2 * MCC_SECOND };
  Source a = { 0, 30, 6, 20, 0, 5, 10, 20 * MS, MS, true };
  Source b = { 1, 30, 1, 50, 0, 5, 900, 20 * MS, 50 * MS, true };
  Stage stage = stage_new ();
  unsigned at = 0;
  make (&stage, &a, 0, 8 * MCC_SECOND, key_first, 1);
  make (&stage, &b, 2 * MCC_SECOND, 8 * MCC_SECOND, key_at, 1);
  g_ptr_array_sort (stage.packets, by_arrival);
  join (&stage, 0);
  run (&stage, &at, EPOCH + MCC_SECOND);
  join (&stage, 1);
  run (&stage, &at, EPOCH + 7 * MCC_SECOND);
  g_assert_cmpuint (stage.cuts, ==, 2);
  g_assert_cmpuint (stage.cut_at - EPOCH, >, 4400 * MS);
  uint32_t shown = 0;
  for (guint i = 0; i < stage.out->len; i++) {
    const Out *out = &g_array_index (stage.out, Out, i);
    if (out->packet->stream == 0)
      shown = out->time;
    else
      g_assert_cmpint ((int32_t)(out->time - shown), >, 0);
  }
  stage_free (&stage);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/splice/overlap", test_overlap);
  g_test_add_func ("/splice/left-first-at-the-end-of-a-frame", test_no_overlap);
  g_test_add_func ("/splice/left-in-a-frame-leaves-a-gap", test_left_in_a_frame);
  g_test_add_func ("/splice/a-frame-with-a-hole-is-parted-from-the-next", test_holes);
  g_test_add_func ("/splice/torn-key-unit-is-not-shown", test_torn_key_unit);
  g_test_add_func ("/splice/late-packets-keep-their-place", test_reordering);
  g_test_add_func ("/splice/duplicates", test_duplicates);
  g_test_add_func ("/splice/another-base", test_other_base);
  g_test_add_func ("/splice/old-stream-silent", test_silent);
  g_test_add_func ("/splice/end-too-late", test_end_too_late);
  g_test_add_func ("/splice/very-late", test_very_late);
  g_test_add_func ("/splice/no-key-units", test_not_keyed);
  g_test_add_func ("/splice/forgotten", test_forgotten);
  g_test_add_func ("/splice/bounded", test_bounded);
  g_test_add_data_func ("/splice/large-key-unit", GINT_TO_POINTER (false), test_large);
  g_test_add_data_func ("/splice/large-key-unit/beside", GINT_TO_POINTER (true), test_large);
  g_test_add_data_func ("/splice/hundred-random-cuts", GUINT_TO_POINTER (0), test_random_cuts);
  g_test_add_data_func (
      "/splice/hundred-random-cuts-with-loss", GUINT_TO_POINTER (5), test_random_cuts);
  g_test_add_func ("/splice/slow-key-unit", test_slow_key_unit);
  return g_test_run ();
}
