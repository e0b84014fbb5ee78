/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * An ELM receiver where something does not come: the sender, the path, a layer, pictures.
 */
#include "elm_receiver_fixture.h"

/* A sender that begins anew with the same SSRCs has other numbers, rounds and counts, wherever
 * these begin: layers are joined as before. */
static void
test_sender_begins_anew (void)
{
  static const struct {
    gboolean bye;
    double away; /* s without it */
    guint32 number, round;
  } table[] = {
    { TRUE, 1.0, 1000, 0x90000000 },
    { TRUE, 1.0, 0x80000000, 0x90000000 },
    { TRUE, 1.0, 1000, 1000 },
    { TRUE, 1.0, 0x90000000, 0xfffff000 },
    { FALSE, 6.0, 1000, 0x90000000 },
    { FALSE, 1.0, 1000, 0x90000000 }, /* has crashed, and is back at once */
    { FALSE, 1.0, 1000, 0xfffff000 },
  };
  for (guint row = 0; row < G_N_ELEMENTS (table); row++) {
    World world;
    world_init (&world, MCC_VARIANT_ENHANCED);
    run (&world, 30.0);
    g_assert_cmpint (stats_of (&world).level, ==, 2);
    mcc_elm_receiver_set_max_level (world.receiver, 0, world.now);
    drain (&world);
    if (table[row].bye)
      mcc_elm_receiver_handle_bye (world.receiver, SENDER, world.now);
    for (guint i = 0; i < table[row].away * 50; i++)
      step (&world);
    mcc_elm_receiver_set_max_level (world.receiver, -1, world.now);
    g_assert_cmpuint (world.sources, ==, 1);
    world.layers.number += table[row].number;
    world.round_base = table[row].round;
    for (guint k = 0; k < COUNT; k++)
      world.c[k] = (guint16)(world.c[k] + 20000 + 7000 * k);
    run (&world, 60.0);
    g_test_message ("row %u", row);
    g_assert_cmpint (stats_of (&world).level, ==, 2);
    g_assert_cmpuint (world.sources, ==, table[row].bye ? 2 : 1); /* the host is told */
    mcc_elm_receiver_free (world.receiver);
  }
}

/* What did not come in an outage, of whichever layer, is no loss of the path: it was none that
 * cares for rates; nor is what passed while our host stood still. */
static void
test_outage (gconstpointer data)
{
  for (guint stands = 0; stands < 2; stands++) {
    World world;
    world_init (&world, GPOINTER_TO_UINT (data));
    run (&world, 30.0);
    g_assert_cmpint (stats_of (&world).level, ==, 2);
    for (guint i = 0; i < 5; i++) {
      guint64 leaves = stats_of (&world).leaves;
      if (stands) {
        world.now += 3 * MCC_SECOND;
        for (guint k = 0; k < COUNT; k++)
          world.c[k] = (guint16)(world.c[k] + 40 * (k + 1));
      } else {
        world.cut = 7;
        run (&world, 3.0);
        world.cut = 0;
      }
      run (&world, 5.0);
      g_assert_cmpuint (stats_of (&world).packets_lost, ==, 0);
      g_assert_cmpfloat (stats_of (&world).loss_ratio, ==, 0.0);
      g_assert_cmpuint (stats_of (&world).leaves, ==, leaves);
    }
    world.lose = 10; /* losses are counted as ever */
    run (&world, 5.0);
    g_assert_cmpuint (stats_of (&world).packets_lost, >, 5);
    mcc_elm_receiver_free (world.receiver);
  }
}

/* A layer that comes no more, while those beside it do, is left, and what needs it; it is joined
 * again when it can be had. */
static void
test_layer_gone (gconstpointer data)
{
  for (guint layer = 1; layer < COUNT; layer++) {
    World world;
    world_init (&world, GPOINTER_TO_UINT (data));
    run (&world, 30.0);
    g_assert_cmpint (stats_of (&world).level, ==, 2);
    world.cut = 1u << layer;
    run (&world, 6.0);
    g_assert_cmpuint (world.joined >> layer & 1, ==, 0);
    g_assert_cmpint (stats_of (&world).level, ==, (gint)layer - 1);
    g_assert_cmpuint (stats_of (&world).absent, >=, 1);
    g_assert_cmpuint (stats_of (&world).packets_lost, ==, 0);
    world.cut = 0;
    run (&world, 60.0);
    g_assert_cmpint (stats_of (&world).level, ==, 2);
    mcc_elm_receiver_free (world.receiver);
  }
}

static void
join_in_vain (World *world)
{
  world->cut = 1u << 1;
  while (!(world->joined >> 1 & 1))
    run (world, 0.1);
  run (world, mcc_time_to_seconds (MCC_ELM_JOIN_TIMEOUT) + 0.1);
  g_assert_cmpuint (world->joined, ==, 1);
}

/* A layer that does not come when it is joined is left after MCC_ELM_JOIN_TIMEOUT, counted, and
 * tried again ever more seldom. */
static void
test_layer_never_comes (gconstpointer data)
{
  World world;
  world_init (&world, GPOINTER_TO_UINT (data));
  join_in_vain (&world);
  g_assert_cmpuint (stats_of (&world).absent, ==, 1);
  run (&world, 50.0);
  g_assert_cmpuint (stats_of (&world).absent, >=, 2);
  g_assert_cmpuint (stats_of (&world).absent, <=, 4);
  g_assert_cmpint (stats_of (&world).level, ==, 0);
  mcc_elm_receiver_free (world.receiver);
}

/* ... and may be on its way then: what it does to the path until its leave is seen is no loss of
 * the level that we keep. */
static void
test_layer_comes_too_late (void)
{
  World world;
  MccElmReceiverConfig config = config_of (MCC_VARIANT_ENHANCED);
  config.leave_latency = 2 * MCC_SECOND;
  world_init_with (&world, &config);
  join_in_vain (&world);
  world.lose = 3;
  run (&world, 1.5);
  world.lose = 0;
  run (&world, 1.0);
  g_assert_cmpuint (stats_of (&world).packets_lost, ==, 0);
  g_assert_cmpint (stats_of (&world).level, ==, 0);
  mcc_elm_receiver_free (world.receiver);
}

/* A source that rests while a layer is joined says nothing of the layer. */
static void
test_source_rests (gconstpointer data)
{
  World world;
  world_init (&world, GPOINTER_TO_UINT (data));
  for (guint i = 0; i < 5; i++) {
    guint64 joins = stats_of (&world).joins;
    for (guint n = 0; n < 1000 && stats_of (&world).joins == joins; n++)
      run (&world, 0.02);
    if (stats_of (&world).joins == joins)
      break;
    for (guint n = 0; n < 500; n++) {
      step (&world);
      if (n % 50 == 0)
        say (&world);
    }
    run (&world, 3.0);
  }
  g_assert_cmpuint (stats_of (&world).absent, ==, 0);
  run (&world, 30.0);
  g_assert_cmpint (stats_of (&world).level, ==, 2);
  mcc_elm_receiver_free (world.receiver);
}

/* A layer of which nothing is sent costs nothing, and is in no way of those above it. Once it is
 * sent it is as any other: it comes, or is left. */
static void
test_layer_empty (gconstpointer data)
{
  static const unsigned mute[] = { 1u << 1, 1u << 2, 3u << 1 };
  for (guint i = 0; i < G_N_ELEMENTS (mute); i++) {
    World world;
    world_init (&world, GPOINTER_TO_UINT (data));
    world.mute = mute[i];
    run (&world, 60.0);
    g_test_message ("row %u", i);
    g_assert_cmpint (stats_of (&world).level, ==, 2);
    g_assert_cmpuint (stats_of (&world).joins, ==, 3);
    g_assert_cmpuint (stats_of (&world).absent, ==, 0);
    g_assert_cmpuint (stats_of (&world).failed, ==, 0);
    world.mute = 0;
    run (&world, 10.0);
    g_assert_cmpint (stats_of (&world).level, ==, 2);
    g_assert_cmpuint (stats_of (&world).packets_lost, ==, 0);
    world.mute = mute[i];
    run (&world, 10.0);
    g_assert_cmpint (stats_of (&world).level, ==, 2);
    world.mute = 0;
    world.cut = 1u << 1;
    run (&world, 6.0);
    g_assert_cmpint (stats_of (&world).level, ==, 0);
    g_assert_cmpuint (stats_of (&world).absent, >=, 1);
    mcc_elm_receiver_free (world.receiver);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/elm/silence/a-sender-begins-anew", test_sender_begins_anew);
  static const struct {
    const char *name;
    void (*func) (gconstpointer data);
  } table[] = { { "outage", test_outage }, { "a-layer-is-gone", test_layer_gone },
    { "a-layer-never-comes", test_layer_never_comes }, { "a-source-rests", test_source_rests },
    { "a-layer-is-empty", test_layer_empty } };
  for (guint i = 0; i < 2 * G_N_ELEMENTS (table); i++) {
    MccVariant variant = i % 2 == 0 ? MCC_VARIANT_PUBLISHED : MCC_VARIANT_ENHANCED;
    char *path = g_strdup_printf (
        "/elm/silence/%s/%s", i % 2 == 0 ? "published" : "enhanced", table[i / 2].name);
    g_test_add_data_func (path, GUINT_TO_POINTER (variant), table[i / 2].func);
    g_free (path);
  }
  g_test_add_func ("/elm/silence/a-layer-comes-too-late", test_layer_comes_too_late);
  return g_test_run ();
}
