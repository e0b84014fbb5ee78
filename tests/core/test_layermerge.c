/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>
#include <string.h>

#include "mcclayermerge.h"

#define EPOCH (5000 * MCC_SECOND + 3)
#define MS MCC_MSECOND
#define WAIT (100 * MS)
#define FIRST_SEQ 65530
#define CLOCK 90000
#define PACKETS_MAX 64

enum { KEY = MCC_LAYER_KEY, SYNC = MCC_LAYER_SYNC, CLEAN = MCC_LAYER_CLEAN };

/* A stream of units of two packets each, written as one letter a unit:
 *   K key, P layer 0 (CLEAN), B layer 1 (SYNC), b layer 2 (SYNC), y layer 1 that needs its layer,
 *   x layer 2 that needs its layer, o layer 0 that is not CLEAN, l layer 0 that is LEADING
 * A packet is a letter's place times two, plus 0 or 1. */
typedef struct {
  const char *units;
  MccLayerMerge *merge;
  MccTime now;
  MccLayerPacket packet[PACKETS_MAX];
  uint16_t next;
  GString *out; /* letters whose second packet has left */
  int open;     /* first packet of a unit has left */
  unsigned keys, freed;
  GString *shown;
} Fixture;

static void
set_up (Fixture *self, const char *units, unsigned joined)
{
  MccLayerOrder order = { .count = 3, .c = { 65530, 10, 65533 } };
  *self = (Fixture){ .units = units, .now = EPOCH, .next = FIRST_SEQ, .open = -1 };
  self->out = g_string_new (NULL);
  self->shown = g_string_new (NULL);
  self->merge = mcc_layer_merge_new (WAIT, FIRST_SEQ);
  mcc_layer_merge_start (self->merge, 3, CLOCK, true, self->now);
  for (unsigned k = 0; k < joined; k++)
    mcc_layer_merge_join (self->merge, k, self->now);
  for (unsigned i = 0; units[i]; i++) {
    const char *kinds = "KPBbyxol", *kind = strchr (kinds, units[i]);
    static const uint8_t layer[] = { 0, 0, 1, 2, 1, 2, 0, 0 };
    static const uint8_t flags[]
        = { KEY | SYNC | CLEAN, CLEAN, SYNC, SYNC, 0, 0, 0, MCC_LAYER_LEADING };
    for (unsigned j = 0; j < 2; j++) {
      order.layer = layer[kind - kinds];
      order.flags = (uint8_t)(flags[kind - kinds] | (j == 0 ? MCC_LAYER_FIRST : 0));
      mcc_layer_order_next (&order);
      self->packet[2 * i + j] = (MccLayerPacket){ .order = order,
        .rtp_time = 1000 + 3000 * i,
        .bytes = 1000,
        .marker = j == 1,
        .data = &self->packet[2 * i + j] };
    }
  }
}

static void
drain (Fixture *self)
{
  MccLayerMergeAction action;
  while (mcc_layer_merge_poll (self->merge, &action)) {
    int i = (int)((MccLayerPacket *)action.data - self->packet);
    switch (action.type) {
      case MCC_LAYER_MERGE_EMIT:
        g_assert_cmpuint (action.seq, ==, self->next++);
        g_assert_cmpint (self->open, ==, i % 2 ? i - 1 : -1); /* whole */
        self->open = i % 2 ? -1 : i;
        if (i % 2)
          g_string_append_c (self->out, self->units[i / 2]);
        break;
      case MCC_LAYER_MERGE_FREE:
        self->freed++;
        break;
      case MCC_LAYER_MERGE_SHOWN:
        g_string_append_printf (self->shown, "%u", action.layer);
        break;
      case MCC_LAYER_MERGE_KEY_UNIT:
        self->keys++;
        break;
    }
  }
}

static void
give (Fixture *self, unsigned i)
{
  mcc_layer_merge_handle (self->merge, &self->packet[i], self->now);
  drain (self);
}

static void
pass (Fixture *self, MccTime time)
{
  self->now += time;
  mcc_layer_merge_handle_timeout (self->merge, self->now);
  drain (self);
}

/* All but what is in @lost (packets, -1 ends). */
static void
give_but (Fixture *self, const int *lost)
{
  for (unsigned i = 0; self->units[i / 2]; i++) {
    bool is_lost = false;
    for (const int *l = lost; *l >= 0; l++)
      is_lost = is_lost || *l == (int)i;
    if (!is_lost)
      give (self, i);
    pass (self, 20 * MS);
  }
}

static void
tear_down (Fixture *self)
{
  mcc_layer_merge_reset (self->merge, self->now);
  drain (self);
  mcc_layer_merge_free (self->merge);
  g_string_free (self->out, TRUE);
  g_string_free (self->shown, TRUE);
}

static void
test_at_once (void)
{
  Fixture f;
  set_up (&f, "KBbbPBbb", 3);
  for (unsigned i = 0; i < 16; i++) {
    give (&f, i);
    g_assert_cmpuint (f.out->len, ==, (i + 1) / 2);
    g_assert_true (i % 2 == 0 || mcc_layer_merge_next_timeout (f.merge) == MCC_TIME_NONE);
  }
  g_assert_cmpstr (f.out->str, ==, "KBbbPBbb");
  g_assert_cmpstr (f.shown->str, ==, "012");
  g_assert_cmpuint (f.keys, ==, 0);
  tear_down (&f);
}

/* What is lost takes with it what needs it, and no more. */
static void
test_losses (void)
{
  static const struct {
    const char *what, *units;
    int lost[4];
    const char *out;
    unsigned keys;
  } rows[] = {
    { "a disposable unit", "KBbbPBbb", { 5, -1 }, "KBbPBbb", 0 },
    { "B: what is above it, up to the next P", "KBbbPBbb", { 2, -1 }, "KPBbb", 0 },
    { "half of P: all, up to the next key unit", "KBbbPBbbPBbKBbbP", { 9, -1 }, "KBbbKBbbP", 1 },
    { "P and half a key unit: the next one is asked for", "KPBKBPBbbPBKB", { 2, 7, -1 }, "KKB", 2 },
    { "VP8: y until the next unit that is SYNC", "KBxoyxoBxo", { 8, -1 }, "KBxooBo", 0 },
    { "what leads a key unit goes if there was no loss", "KPKlP", { -1 }, "KPKlP", 0 },
    { "what leads a key unit does not if there was", "KPKlP", { 2, -1 }, "KKP", 0 },
    { "what comes before the first key unit", "PBbPKBbP", { -1 }, "KBbP", 0 },
  };
  for (unsigned i = 0; i < G_N_ELEMENTS (rows); i++) {
    Fixture f;
    g_test_message ("%s", rows[i].what);
    set_up (&f, rows[i].units, 3);
    give_but (&f, rows[i].lost);
    for (unsigned j = 0; j < 20; j++)
      pass (&f, WAIT);
    g_assert_cmpstr (f.out->str, ==, rows[i].out);
    g_assert_cmpuint (f.keys, ==, rows[i].keys);
    g_assert_cmpuint (mcc_layer_merge_next_timeout (f.merge), ==, MCC_TIME_NONE);
    tear_down (&f);
  }
}

static void
test_wait (void)
{
  Fixture f;
  MccLayerMergeStats stats;
  set_up (&f, "KPPPP", 3);
  give (&f, 0);
  give (&f, 1);
  f.now += MS;
  give (&f, 4);
  give (&f, 5);
  g_assert_cmpstr (f.out->str, ==, "K");
  g_assert_cmpuint (mcc_layer_merge_next_timeout (f.merge), ==, f.now + WAIT);
  pass (&f, WAIT - 1);
  give (&f, 2); /* late, but in time */
  give (&f, 3);
  g_assert_cmpstr (f.out->str, ==, "KPP");
  give (&f, 8);
  pass (&f, WAIT - 1);
  g_assert_cmpuint (f.keys, ==, 0);
  pass (&f, 1);
  g_assert_cmpuint (f.keys, ==, 0); /* its second packet is waited for still */
  give (&f, 9);
  g_assert_cmpuint (f.keys, ==, 1);
  give (&f, 9); /* twice, and too late */
  give (&f, 6);
  mcc_layer_merge_get_stats (f.merge, &stats);
  g_assert_cmpuint (stats.gaps, ==, 1);
  g_assert_cmpuint (stats.late, ==, 2);
  g_assert_cmpuint (stats.undecodable, ==, 1);
  tear_down (&f);
}

/* Layers that are sent side by side: what is behind in another layer waits for one that comes in
 * its own time, from packet to packet; and no longer once that has gone on, or has fallen silent.
 */
static void
test_side_by_side (void)
{
  Fixture f;
  set_up (&f, "KPPB", 3);
  give (&f, 0);
  give (&f, 1);
  give (&f, 6);
  give (&f, 7);
  for (unsigned i = 2; i <= 5; i++) {
    pass (&f, WAIT - 1);
    give (&f, i);
  }
  g_assert_cmpstr (f.out->str, ==, "KPPB");
  g_assert_cmpuint (f.keys, ==, 0);
  tear_down (&f);

  set_up (&f, "KPPB", 3);
  for (unsigned i = 0; i < 3; i++)
    give (&f, i);
  give (&f, 6);
  give (&f, 7);
  pass (&f, WAIT - 1);
  give (&f, 3);
  g_assert_cmpuint (mcc_layer_merge_next_timeout (f.merge), ==, f.now + WAIT);
  pass (&f, WAIT - 1);
  g_assert_cmpuint (f.keys, ==, 0);
  pass (&f, 1);
  g_assert_cmpuint (f.keys, ==, 1);
  tear_down (&f);

  /* Layer 0 has gone on without packets 2 and 3. */
  set_up (&f, "KPPB", 3);
  give (&f, 0);
  give (&f, 1);
  give (&f, 6);
  give (&f, 7);
  pass (&f, WAIT / 2);
  give (&f, 4);
  g_assert_cmpuint (mcc_layer_merge_next_timeout (f.merge), ==, f.now + WAIT);
  give (&f, 5);
  pass (&f, WAIT - 1);
  g_assert_cmpuint (f.keys, ==, 0);
  pass (&f, 1);
  g_assert_cmpuint (f.keys, ==, 1);
  tear_down (&f);
}

/* The first picture of a layer that was just joined is waited for like any other. */
static void
test_side_by_side_joined (void)
{
  Fixture f;
  set_up (&f, "KBBP", 1);
  f.packet[3].marker = false; /* one picture of four packets */
  f.packet[4].order.flags &= (uint8_t)~MCC_LAYER_FIRST;
  f.packet[4].rtp_time = f.packet[5].rtp_time = f.packet[3].rtp_time;
  give (&f, 0);
  give (&f, 1);
  mcc_layer_merge_join (f.merge, 1, f.now);
  give (&f, 2);
  give (&f, 6);
  give (&f, 7);
  for (unsigned i = 3; i <= 5; i++) {
    pass (&f, WAIT - 1);
    give (&f, i);
  }
  g_assert_cmpstr (f.out->str, ==, "KBBP");
  tear_down (&f);
}

/* Copies of what has come are no sign that more does. */
static void
test_side_by_side_copies (void)
{
  Fixture f;
  set_up (&f, "KPPB", 3);
  for (unsigned i = 0; i < 3; i++)
    give (&f, i);
  give (&f, 6);
  give (&f, 7);
  for (unsigned i = 0; i < 3; i++) {
    pass (&f, WAIT / 4);
    give (&f, 2);
  }
  pass (&f, WAIT / 4 - 1);
  g_assert_cmpuint (f.keys, ==, 0);
  pass (&f, 1);
  g_assert_cmpuint (f.keys, ==, 1);
  tear_down (&f);
}

/* However it comes, not longer than MCC_LAYER_MERGE_STALL. */
static void
test_side_by_side_for_ever (void)
{
  Fixture f;
  set_up (&f, "KPPPPPPPPPPPPPPPPPPPPB", 3);
  give (&f, 0);
  give (&f, 1);
  give (&f, 42);
  give (&f, 43);
  MccTime began = f.now;
  for (unsigned i = 2; f.keys == 0 && i < 42; i++) {
    pass (&f, WAIT / 2);
    give (&f, i);
  }
  g_assert_cmpuint (f.keys, ==, 1);
  g_assert_cmpuint (f.now - began, <=, MCC_LAYER_MERGE_STALL + WAIT / 2);
  tear_down (&f);
}

static void
test_reordered (void)
{
  Fixture f;
  set_up (&f, "KBbbPBbb", 3);
  for (unsigned i = 0; i < 8; i++)
    give (&f, i);
  for (unsigned i = 15; i > 7; i--) {
    g_assert_cmpstr (f.out->str, ==, "KBbb");
    give (&f, i);
    give (&f, i);
  }
  g_assert_cmpstr (f.out->str, ==, "KBbbPBbb");
  g_assert_cmpuint (f.freed, ==, 8);
  tear_down (&f);
}

/* Level 0, then 1, then 2, then 0: at once, without a gap in the numbers. */
static void
test_levels (void)
{
  Fixture f;
  set_up (&f, "KBbbPBbbPBbbPBbbPBbb", 1);
  for (unsigned i = 0; i < 40; i++) {
    if (i == 10)
      mcc_layer_merge_join (f.merge, 1, f.now);
    if (i == 20)
      mcc_layer_merge_join (f.merge, 2, f.now);
    if (i == 28) {
      mcc_layer_merge_leave (f.merge, 1, f.now);
      mcc_layer_merge_leave (f.merge, 2, f.now);
    }
    give (&f, i);
    f.now += MS;
  }
  drain (&f);
  g_assert_cmpstr (f.out->str, ==, "KPBPBbbPBP");
  g_assert_cmpstr (f.shown->str, ==, "012");
  g_assert_cmpuint (f.keys, ==, 0);
  tear_down (&f);
}

/* The middle of a unit is no place to begin; layer 2 without layer 1 neither. */
static void
test_joins (void)
{
  Fixture f;
  set_up (&f, "KBbbPBbbPBbb", 1);
  for (unsigned i = 0; i < 24; i++) {
    if (i == 3)
      mcc_layer_merge_join (f.merge, 1, f.now);
    if (i == 4)
      mcc_layer_merge_join (f.merge, 2, f.now);
    give (&f, i);
  }
  g_assert_cmpstr (f.out->str, ==, "KPBbbPBbb");
  tear_down (&f);
}

/* A layer that is left while its unit is half here is not waited for. */
static void
test_leave (void)
{
  Fixture f;
  set_up (&f, "KBPBP", 2);
  for (unsigned i = 0; i < 3; i++)
    give (&f, i);
  mcc_layer_merge_leave (f.merge, 1, f.now);
  drain (&f);
  for (unsigned i = 3; i < 10; i++)
    give (&f, i);
  g_assert_cmpstr (f.out->str, ==, "KPP");
  g_assert_cmpuint (mcc_layer_merge_next_timeout (f.merge), ==, MCC_TIME_NONE);
  tear_down (&f);
}

/* A layer whose path is longer is waited for from its first packet on; not before, and not once it
 * has fallen silent. */
static void
test_skew (void)
{
  Fixture f;
  MccLayerMergeStats stats;
  set_up (&f, "KPBPBPPBPBPP", 2);
  give (&f, 0);
  give (&f, 1);
  give (&f, 2);
  give (&f, 3);
  give (&f, 6); /* before anything of layer 1: nothing is waited for */
  give (&f, 7);
  g_assert_cmpstr (f.out->str, ==, "KPP");
  give (&f, 4); /* too late, but now it is known */
  give (&f, 5);
  give (&f, 10);
  give (&f, 11);
  g_assert_cmpstr (f.out->str, ==, "KPP");
  pass (&f, 30 * MS);
  give (&f, 8);
  give (&f, 9);
  g_assert_cmpstr (f.out->str, ==, "KPPBP");
  pass (&f, 2 * WAIT);
  give (&f, 12);
  give (&f, 13);
  give (&f, 16); /* layer 1 has gone: once more it is waited for */
  give (&f, 17);
  pass (&f, WAIT);
  give (&f, 20);
  give (&f, 21);
  g_assert_cmpstr (f.out->str, ==, "KPPBPPPP");
  mcc_layer_merge_get_stats (f.merge, &stats);
  g_assert_cmpuint (stats.gaps, ==, 1);
  tear_down (&f);
}

static void
test_stall (void)
{
  Fixture f;
  set_up (&f, "KPP", 1);
  for (unsigned i = 0; i < 3; i++)
    give (&f, i);
  g_assert_cmpuint (mcc_layer_merge_next_timeout (f.merge), ==, f.now + MCC_LAYER_MERGE_STALL);
  pass (&f, MCC_LAYER_MERGE_STALL);
  g_assert_cmpuint (f.freed, ==, 1);
  g_assert_cmpuint (f.keys, ==, 1);
  tear_down (&f);
}

/* The end of a unit without a marker is where the next one begins. */
static void
test_no_markers (void)
{
  Fixture f;
  set_up (&f, "KBPB", 3);
  for (unsigned i = 0; i < 8; i++) {
    f.packet[i].marker = false;
    give (&f, i);
  }
  g_assert_cmpstr (f.out->str, ==, "KBP");
  tear_down (&f);
}

/* ... and of layers that are not joined it is known that they are all that is missing. */
static void
test_no_markers_below (void)
{
  static const struct {
    unsigned level;
    int lost[3];
    const char *out;
  } rows[] = { { 1, { -1 }, "KPP" }, { 2, { -1 }, "KBPBP" }, { 1, { 7, -1 }, "K" },
    { 2, { 3, -1 }, "KPBP" } };
  for (unsigned row = 0; row < G_N_ELEMENTS (rows); row++) {
    Fixture f;
    set_up (&f, "KBbPBbPbP", rows[row].level);
    for (unsigned i = 0; i < 18; i++)
      f.packet[i].marker = false;
    for (unsigned i = 0; i < 18; i++) {
      if (f.packet[i].order.layer < rows[row].level && rows[row].lost[0] != (int)i)
        give (&f, i);
      pass (&f, WAIT);
    }
    g_assert_cmpstr (f.out->str, ==, rows[row].out);
    tear_down (&f);
  }
}

/* Packets of a sender that mixes units, and counts that contradict each other, play nothing and
 * break nothing. */
static void
test_nonsense (void)
{
  Fixture f;
  set_up (&f, "KPPKP", 3);
  f.packet[2].order.c[0] = 7;
  f.packet[3].order.c[1] = 0;
  for (unsigned i = 0; i < 10; i++)
    give (&f, i);
  for (unsigned i = 0; i < 20; i++)
    pass (&f, WAIT);
  g_assert_cmpstr (f.out->str, ==, "KKP");
  tear_down (&f);
  set_up (&f, "KPPKP", 3);
  f.packet[2].order.count = 2; /* not of these layers */
  f.packet[4].order.layer = 1; /* two layers in a unit */
  give (&f, 2);
  g_assert_cmpuint (f.freed, ==, 1);
  tear_down (&f);
}

/* Numbers that jump are believed when a second packet agrees. */
static void
test_jump (void)
{
  Fixture f;
  set_up (&f, "KPPPKP", 1);
  for (unsigned i = 4; i < 12; i++)
    for (unsigned k = 0; k < 3; k++)
      f.packet[i].order.c[k] = (uint16_t)(f.packet[i].order.c[k] + 20000);
  for (unsigned i = 0; i < 12; i++)
    give (&f, i);
  pass (&f, WAIT); /* for the beginning of the unit that it jumped into */
  g_assert_cmpstr (f.out->str, ==, "KPKP");
  g_assert_cmpuint (f.keys, ==, 1);
  tear_down (&f);
  set_up (&f, "KPPP", 1);
  f.packet[4].order.c[2] = 30000; /* one alone is not */
  for (unsigned i = 0; i < 4; i++)
    give (&f, i);
  give (&f, 4);
  give (&f, 6);
  g_assert_cmpuint (f.keys, ==, 0);
  tear_down (&f);
}

/* After a silence numbers that lie behind are no late ones: they have gone round. */
static void
test_outage (void)
{
  static const uint16_t outages[] = { 62537, 63000, 65535, 40000 };
  for (unsigned row = 0; row < G_N_ELEMENTS (outages); row++) {
    Fixture f;
    set_up (&f, "KPKP", 1);
    for (unsigned i = 4; i < 8; i++)
      for (unsigned k = 0; k < 3; k++)
        f.packet[i].order.c[k] = (uint16_t)(f.packet[i].order.c[k] + outages[row]);
    for (unsigned i = 0; i < 4; i++)
      give (&f, i);
    pass (&f, 60 * MCC_SECOND);
    for (unsigned i = 4; i < 8; i++)
      give (&f, i);
    g_assert_cmpstr (f.out->str, ==, "KPKP");
    g_assert_cmpuint (f.keys, ==, 1);
    tear_down (&f);
  }
}

/* A sender may have little to say. */
static void
test_seldom (void)
{
  Fixture f;
  set_up (&f, "KPPP", 1);
  for (unsigned i = 0; i < 8; i++) {
    give (&f, i);
    pass (&f, i % 2 ? 10 * MCC_SECOND : 0);
  }
  g_assert_cmpstr (f.out->str, ==, "KPPP");
  g_assert_cmpuint (f.keys, ==, 0);
  tear_down (&f);
}

/* Another number of layers, and another sender: numbers and time go on. */
static void
test_start (void)
{
  Fixture f;
  uint32_t time;
  set_up (&f, "KPKP", 1);
  g_assert_false (mcc_layer_merge_map_time (f.merge, 5, &time));
  for (unsigned i = 0; i < 3; i++)
    give (&f, i);
  f.now += 500 * MS;
  mcc_layer_merge_start (f.merge, 2, CLOCK, true, f.now);
  drain (&f);
  g_assert_cmpuint (f.freed, ==, 1); /* what was held */
  for (unsigned i = 4; i < 8; i++) {
    f.packet[i].order.count = 2;
    f.packet[i].rtp_time += 0x80000000;
  }
  give (&f, 3);
  g_assert_cmpuint (f.freed, ==, 2); /* of three layers */
  for (unsigned i = 4; i < 8; i++)
    give (&f, i);
  g_assert_cmpstr (f.out->str, ==, "KKP");
  g_assert_true (mcc_layer_merge_map_time (f.merge, f.packet[4].rtp_time, &time));
  g_assert_cmpuint (time, ==, 1000 + CLOCK / 2);
  tear_down (&f);
}

/* A key unit of a picture and a rate that are large. */
static void
test_large (void)
{
  static const struct {
    unsigned packets;
    uint32_t bytes;
  } rows[] = { { 1500, 1200 }, { 3500, 1400 }, { 8000, 1400 } };
  for (unsigned row = 0; row < G_N_ELEMENTS (rows); row++) {
    MccLayerMerge *merge = mcc_layer_merge_new (WAIT, 0);
    MccLayerMergeAction action;
    MccLayerPacket packet
        = { .order = { .count = 1, .c = { 60000 } }, .bytes = rows[row].bytes, .data = &packet };
    unsigned left = 0, freed = 0, keys = 0;
    MccTime now = EPOCH;
    mcc_layer_merge_start (merge, 1, CLOCK, true, now);
    mcc_layer_merge_join (merge, 0, now);
    for (unsigned i = 0; i < rows[row].packets; i++) {
      packet.order.flags = i == 0 ? MCC_LAYER_FIRST | KEY | SYNC | CLEAN : 0;
      packet.order.c[0]++;
      packet.marker = i + 1 == rows[row].packets;
      mcc_layer_merge_handle (merge, &packet, now += 50 * MCC_USECOND);
      while (mcc_layer_merge_poll (merge, &action)) {
        left += action.type == MCC_LAYER_MERGE_EMIT;
        freed += action.type == MCC_LAYER_MERGE_FREE;
        keys += action.type == MCC_LAYER_MERGE_KEY_UNIT;
      }
    }
    g_assert_cmpuint (left, ==, rows[row].packets);
    g_assert_cmpuint (freed, ==, 0);
    g_assert_cmpuint (keys, ==, 0);
    mcc_layer_merge_reset (merge, now);
    mcc_layer_merge_free (merge);
  }
}

/* Of the base layer, while others come by its side. */
static void
test_large_beside (void)
{
  enum { BASE = 6000, ABOVE = 500 };
  MccLayerMerge *merge = mcc_layer_merge_new (WAIT, 0);
  MccLayerMergeAction action;
  unsigned left = 0, keys = 0;
  MccTime now = EPOCH;
  mcc_layer_merge_start (merge, 2, CLOCK, true, now);
  mcc_layer_merge_join (merge, 0, now);
  mcc_layer_merge_join (merge, 1, now);
  for (unsigned i = 0; i < BASE + ABOVE; i++) {
    bool above = i % (BASE / ABOVE + 1) == 1;
    unsigned j = i / (BASE / ABOVE + 1); /* so many of them above */
    unsigned in_layer = above ? j : i - j - (i % (BASE / ABOVE + 1) > 1);
    unsigned of_layer = above ? ABOVE : BASE;
    MccLayerPacket packet = { .bytes = 1400, .data = &merge };
    packet.order = (MccLayerOrder){ .layer = above, .count = 2 };
    packet.order.flags = (uint8_t)(in_layer > 0 ? 0
                                   : above      ? MCC_LAYER_FIRST | SYNC
                                                : MCC_LAYER_FIRST | KEY | SYNC | CLEAN);
    packet.order.c[0] = (uint16_t)(above ? BASE : in_layer + 1);
    packet.order.c[1] = (uint16_t)(above ? BASE + in_layer + 1 : in_layer + 1);
    packet.marker = in_layer + 1 == of_layer;
    mcc_layer_merge_handle (merge, &packet, now += 50 * MCC_USECOND);
    while (mcc_layer_merge_poll (merge, &action)) {
      g_assert_cmpint (action.type, !=, MCC_LAYER_MERGE_FREE);
      left += action.type == MCC_LAYER_MERGE_EMIT;
      keys += action.type == MCC_LAYER_MERGE_KEY_UNIT;
    }
  }
  g_assert_cmpuint (left, ==, BASE + ABOVE);
  g_assert_cmpuint (keys, ==, 0);
  mcc_layer_merge_free (merge);
}

/* What is held is bounded, whatever comes. */
static void
test_full (void)
{
  static uint8_t data[4 * MCC_LAYER_MERGE_PACKETS];
  MccLayerMerge *merge = mcc_layer_merge_new (WAIT, 0);
  MccLayerMergeAction action;
  MccLayerPacket packet = { .order = { .count = 1, .c = { 0 } }, .bytes = 1500 };
  size_t there = 0;
  mcc_layer_merge_start (merge, 1, CLOCK, true, EPOCH);
  mcc_layer_merge_join (merge, 0, EPOCH);
  for (unsigned i = 0; i < G_N_ELEMENTS (data); i++) {
    packet.order.c[0] = (uint16_t)(i * 2);
    packet.data = &data[i];
    packet.order.flags = i == 0 ? MCC_LAYER_FIRST | KEY : 0;
    mcc_layer_merge_handle (merge, &packet, EPOCH);
    there++;
    while (mcc_layer_merge_poll (merge, &action))
      there -= action.type == MCC_LAYER_MERGE_FREE;
    g_assert_cmpuint (there, <=, MCC_LAYER_MERGE_PACKETS);
  }
  packet.bytes = MCC_LAYER_MERGE_BYTES; /* takes all the room */
  packet.order.c[0] = (uint16_t)(2 * G_N_ELEMENTS (data));
  mcc_layer_merge_handle (merge, &packet, EPOCH);
  there++;
  while (mcc_layer_merge_poll (merge, &action))
    there -= action.type == MCC_LAYER_MERGE_FREE;
  g_assert_cmpuint (there, ==, 1);
  packet.bytes++; /* there is no such packet */
  mcc_layer_merge_handle (merge, &packet, EPOCH);
  g_assert_true (mcc_layer_merge_poll (merge, &action));
  g_assert_cmpint (action.type, ==, MCC_LAYER_MERGE_FREE);
  mcc_layer_merge_set_wait (merge, 0);
  mcc_layer_merge_reset (merge, EPOCH);
  while (mcc_layer_merge_poll (merge, &action))
    ;
  mcc_layer_merge_free (merge);
}

/* Figures begin anew when the host says so, and nothing else does. */
static void
test_stats_anew (void)
{
  MccLayerMerge *merge = mcc_layer_merge_new (WAIT, 0);
  MccLayerPacket packet = { .order = { .count = 1, .flags = MCC_LAYER_FIRST | KEY, .c = { 7 } },
    .bytes = 100,
    .marker = true,
    .data = &merge };
  MccLayerMergeAction action;
  MccLayerMergeStats stats;
  mcc_layer_merge_start (merge, 1, CLOCK, true, EPOCH);
  mcc_layer_merge_join (merge, 0, EPOCH);
  for (unsigned i = 0; i < 2; i++) { /* twice there: late */
    mcc_layer_merge_handle (merge, &packet, EPOCH);
    while (mcc_layer_merge_poll (merge, &action))
      ;
    mcc_layer_merge_get_stats (merge, &stats);
    g_assert_cmpuint (stats.units[0], ==, 1);
    g_assert_cmpuint (stats.late, ==, i);
  }
  mcc_layer_merge_clear_stats (merge);
  mcc_layer_merge_get_stats (merge, &stats);
  g_assert_cmpuint (stats.units[0] + stats.late, ==, 0);
  mcc_layer_merge_handle (merge, &packet, EPOCH); /* it still was there */
  while (mcc_layer_merge_poll (merge, &action))
    g_assert_cmpint (action.type, ==, MCC_LAYER_MERGE_FREE);
  mcc_layer_merge_free (merge);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/layer-merge/without-gaps-a-unit-leaves-with-its-last-packet", test_at_once);
  g_test_add_func ("/layer-merge/a-loss-takes-with-it-what-needs-it-and-no-more", test_losses);
  g_test_add_func ("/layer-merge/a-gap-is-waited-for-so-long-and-no-longer", test_wait);
  g_test_add_func ("/layer-merge/a-layer-that-comes-is-waited-for", test_side_by_side);
  g_test_add_func ("/layer-merge/a-layer-that-was-joined-too", test_side_by_side_joined);
  g_test_add_func ("/layer-merge/copies-are-not-waited-for", test_side_by_side_copies);
  g_test_add_func (
      "/layer-merge/a-layer-that-comes-slowly-is-not-for-ever", test_side_by_side_for_ever);
  g_test_add_func ("/layer-merge/any-order-in-one-order-out", test_reordered);
  g_test_add_func ("/layer-merge/levels-change-without-a-gap", test_levels);
  g_test_add_func ("/layer-merge/a-layer-begins-with-a-whole-unit-that-can-be-decoded", test_joins);
  g_test_add_func ("/layer-merge/a-layer-that-is-left-is-not-waited-for", test_leave);
  g_test_add_func ("/layer-merge/a-layer-is-waited-for-while-it-is-heard", test_skew);
  g_test_add_func ("/layer-merge/the-end-of-a-unit-is-not-waited-for-ever", test_stall);
  g_test_add_func ("/layer-merge/senders-without-markers", test_no_markers);
  g_test_add_func ("/layer-merge/senders-without-markers-at-a-low-level", test_no_markers_below);
  g_test_add_func ("/layer-merge/nonsense-breaks-nothing", test_nonsense);
  g_test_add_func ("/layer-merge/a-jump-is-believed-when-a-second-packet-agrees", test_jump);
  g_test_add_func ("/layer-merge/numbers-go-round-in-an-outage", test_outage);
  g_test_add_func ("/layer-merge/a-sender-that-says-little-is-silent-often", test_seldom);
  g_test_add_func ("/layer-merge/numbers-and-time-go-on-with-another-sender", test_start);
  g_test_add_func ("/layer-merge/a-large-key-unit-leaves-whole", test_large);
  g_test_add_func ("/layer-merge/a-large-key-unit-beside-a-layer", test_large_beside);
  g_test_add_func ("/layer-merge/what-is-held-is-bounded", test_full);
  g_test_add_func ("/layer-merge/figures-begin-anew", test_stats_anew);
  return g_test_run ();
}
