/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Layers lost, reordered, twice there, joined and left at any time: what comes out of the merge is
 * in decoding order, whole, never without its references, numbered on by one, and not held for
 * long. References are the sender's own list here; the merge sees flags only.
 */
#include "mcclayermerge.h"
#include "prop.h"

#define EPOCH (700 * MCC_SECOND)
#define UNITS 400
#define TAIL 40 /* without losses, all layers joined */
#define PACKETS 3000
#define REFERENCES 6
#define MS MCC_MSECOND

typedef struct {
  uint8_t layer, flags;
  int reference[REFERENCES]; /* -1: none */
  unsigned first, count;     /* packets */
  unsigned left;             /* packets that have left */
} Unit;

typedef struct {
  MccTime arrival;
  unsigned packet;
} Arrival;

typedef struct {
  MccRng *rng;
  unsigned layers, units, packets, arrivals;
  Unit unit[UNITS];
  MccLayerPacket packet[PACKETS];
  unsigned unit_of[PACKETS];
  MccTime sent[PACKETS], came[PACKETS];
  unsigned given[PACKETS], gone[PACKETS];
  bool emitted[PACKETS];
  Arrival arrival[2 * PACKETS];
  MccLayerMerge *merge;
  MccTime now, wait;
  bool joined[MCC_LAYER_ORDER_LAYERS_MAX];
  /* out */
  bool any;
  uint16_t seq;
  unsigned last;
  unsigned shown;
} World;

static int
newest (const World *w, unsigned layer, unsigned before, unsigned not_before)
{
  for (unsigned i = before; i-- > not_before;)
    if (w->unit[i].layer == layer)
      return (int)i;
  return -1;
}

/* Of a strict pyramid: a unit needs the last two of layer 0, and all of the layers below it, and of
 * its own but the highest, since the last of layer 0. */
static void
make_pyramid (World *w, unsigned i, unsigned key)
{
  Unit *unit = &w->unit[i];
  int base = newest (w, 0, i, key);
  unsigned n = 0;
  if (unit->layer == 0) {
    unit->flags |= MCC_LAYER_CLEAN;
    unit->reference[n++] = base;
    return;
  }
  unit->flags |= MCC_LAYER_SYNC;
  unit->reference[n++] = base;
  unit->reference[n++] = newest (w, 0, (unsigned)base, key);
  for (unsigned j = i; j-- > (unsigned)base + 1 && n < REFERENCES;) {
    bool same = w->unit[j].layer == unit->layer;
    if (w->unit[j].layer < unit->layer || (same && unit->layer + 1u < w->layers)) {
      unit->reference[n++] = (int)j;
      if (same)
        unit->flags &= (uint8_t)~MCC_LAYER_SYNC;
    }
  }
}

/* As VP8's: the newest of each layer up to its own since the key unit, or those below it. */
static void
make_buffers (World *w, unsigned i, unsigned key)
{
  Unit *unit = &w->unit[i];
  bool sync = unit->layer > 0 && prop_below (w->rng, 3) == 0;
  unsigned n = 0;
  for (unsigned k = 0; k <= unit->layer && n < REFERENCES; k++)
    if (!sync || k < unit->layer)
      unit->reference[n++] = newest (w, k, i, key);
  if (sync)
    unit->flags |= MCC_LAYER_SYNC;
}

static void
make_unit (World *w, unsigned i, unsigned *key, unsigned kind)
{
  Unit *unit = &w->unit[i];
  unsigned before = *key;
  for (unsigned r = 0; r < REFERENCES; r++)
    unit->reference[r] = -1;
  unit->layer = (uint8_t)(i == *key + 1 ? 0 : prop_below (w->rng, w->layers));
  if (i == 0 || i + TAIL == w->units || prop_below (w->rng, 25) == 0) {
    unit->layer = 0;
    unit->flags = MCC_LAYER_KEY | MCC_LAYER_SYNC | MCC_LAYER_CLEAN;
    *key = i;
    return;
  }
  if (kind == 0)
    make_pyramid (w, i, *key);
  else
    make_buffers (w, i, *key);
  /* what leads: needs the unit before the key unit too */
  if (kind == 2 && i == *key + 1 && *key > 0) {
    unit->layer = 0;
    unit->flags = MCC_LAYER_LEADING;
    unit->reference[0] = (int)*key;
    unit->reference[1] = newest (w, 0, before, 0);
    for (unsigned r = 2; r < REFERENCES; r++)
      unit->reference[r] = -1;
  }
}

/* Nothing but another leading unit may need a leading one. */
static void
forget_leading (World *w)
{
  for (unsigned i = 0; i < w->units; i++)
    for (unsigned r = 0; r < REFERENCES; r++) {
      int to = w->unit[i].reference[r];
      if (to >= 0 && w->unit[to].flags & MCC_LAYER_LEADING)
        w->unit[i].reference[r] = newest (w, 0, (unsigned)to, 0);
    }
}

static void
make_stream (World *w)
{
  unsigned kind = (unsigned)prop_below (w->rng, 3), key = 0;
  MccLayerOrder order = { .count = (uint8_t)w->layers };
  MccTime time = EPOCH;
  for (unsigned k = 0; k < w->layers; k++)
    order.c[k] = (uint16_t)mcc_rng_next (w->rng);
  for (unsigned i = 0; i < w->units; i++) {
    Unit *unit = &w->unit[i];
    *unit = (Unit){ .first = w->packets, .count = 1 + (unsigned)prop_below (w->rng, 5) };
    make_unit (w, i, &key, kind);
    time += prop_below (w->rng, 40) * MS;
    for (unsigned j = 0; j < unit->count; j++, w->packets++) {
      order.layer = unit->layer;
      order.flags = (uint8_t)(unit->flags | (j == 0 ? MCC_LAYER_FIRST : 0));
      mcc_layer_order_next (&order);
      w->packet[w->packets] = (MccLayerPacket){ .order = order,
        .rtp_time = 3000 * i,
        .bytes = 100,
        .marker = j + 1 == unit->count,
        .data = &w->emitted[w->packets] };
      w->unit_of[w->packets] = i;
      w->sent[w->packets] = time;
      time += prop_below (w->rng, 3) * MS;
    }
  }
  forget_leading (w);
}

static int
by_arrival (const void *a, const void *b)
{
  const Arrival *x = a, *y = b;
  return x->arrival != y->arrival ? (x->arrival > y->arrival) - (x->arrival < y->arrival)
                                  : (x->packet > y->packet) - (x->packet < y->packet);
}

static void
make_arrivals (World *w)
{
  MccTime delay[MCC_LAYER_ORDER_LAYERS_MAX];
  unsigned loss = (unsigned)prop_below (w->rng, 20), twice = (unsigned)prop_below (w->rng, 20);
  uint64_t jitter = 1 + prop_below (w->rng, 60);
  for (unsigned k = 0; k < w->layers; k++)
    delay[k] = prop_below (w->rng, 60) * MS;
  for (unsigned i = 0; i < w->packets; i++) {
    bool tail = w->unit_of[i] + TAIL >= w->units;
    unsigned copies = !tail && prop_below (w->rng, 100) < loss ? 0 : 1;
    copies += !tail && prop_below (w->rng, 100) < twice;
    for (; copies > 0; copies--)
      w->arrival[w->arrivals++] = (Arrival){ .packet = i,
        .arrival = w->sent[i] + (tail ? 60 * MS : delay[w->packet[i].order.layer])
                   + (tail ? 0 : prop_below (w->rng, jitter) * MS) };
  }
  qsort (w->arrival, w->arrivals, sizeof *w->arrival, by_arrival);
}

/* ---- the laws ---- */

static void
check_emit (World *w, const MccLayerMergeAction *action, unsigned i)
{
  Unit *unit = &w->unit[w->unit_of[i]];
  g_assert_false (w->emitted[i]);
  w->emitted[i] = true;
  g_assert_cmpuint (action->rtp_time, ==, w->packet[i].rtp_time);
  if (w->any) {
    g_assert_cmpuint (action->seq, ==, (uint16_t)(w->seq + 1));
    g_assert_cmpuint (i, >, w->last); /* decoding order */
    if (i != unit->first)
      g_assert_cmpuint (i, ==, w->last + 1); /* whole */
    else
      g_assert_cmpuint (w->unit[w->unit_of[w->last]].left, ==,
          w->unit[w->unit_of[w->last]].count); /* the one before is */
  }
  if (i == unit->first)
    for (unsigned r = 0; r < REFERENCES; r++)
      if (unit->reference[r] >= 0)
        g_assert_cmpuint (w->unit[unit->reference[r]].left, ==, w->unit[unit->reference[r]].count);
  unit->left++;
  w->any = true;
  w->seq = action->seq;
  w->last = i;
}

static void
drain (World *w)
{
  MccLayerMergeAction action;
  while (mcc_layer_merge_poll (w->merge, &action)) {
    unsigned i;
    if (action.type == MCC_LAYER_MERGE_SHOWN)
      w->shown++;
    if (action.type != MCC_LAYER_MERGE_EMIT && action.type != MCC_LAYER_MERGE_FREE)
      continue;
    i = (unsigned)((bool *)action.data - w->emitted);
    g_assert_cmpuint (i, <, w->packets);
    g_assert_cmpuint (++w->gone[i], <=, w->given[i]);
    if (action.type == MCC_LAYER_MERGE_EMIT)
      check_emit (w, &action, i);
  }
}

static void
pass_to (World *w, MccTime time)
{
  while (mcc_layer_merge_next_timeout (w->merge) <= time) {
    MccTime due = mcc_layer_merge_next_timeout (w->merge);
    w->now = due > w->now ? due : w->now;
    mcc_layer_merge_handle_timeout (w->merge, w->now);
    drain (w);
    g_assert_cmpuint (mcc_layer_merge_next_timeout (w->merge), >, w->now);
  }
  w->now = time;
}

static void
change_level (World *w, bool all)
{
  for (unsigned k = 0; k < w->layers; k++) {
    bool join = all || prop_below (w->rng, 4) > 0;
    if (!all && prop_below (w->rng, 3) > 0)
      continue;
    if (join && !w->joined[k])
      mcc_layer_merge_join (w->merge, k, w->now);
    else if (!join && w->joined[k])
      mcc_layer_merge_leave (w->merge, k, w->now);
    w->joined[k] = join;
    drain (w);
  }
}

static void
run (World *w)
{
  bool tail = false;
  for (unsigned n = 0; n < w->arrivals; n++) {
    unsigned i = w->arrival[n].packet;
    pass_to (w, w->arrival[n].arrival);
    if (!tail && w->unit_of[i] + TAIL + 20 >= w->units) {
      tail = true;
      change_level (w, true);
    } else if (!tail && prop_below (w->rng, 30) == 0) {
      change_level (w, false);
    }
    w->given[i]++;
    w->came[i] = w->now;
    mcc_layer_merge_handle (w->merge, &w->packet[i], w->now);
    drain (w);
    /* held for as long as a gap, or the end of a unit, is waited for */
    for (unsigned j = i > 60 ? i - 60 : 0; j < i; j++)
      if (w->given[j] > w->gone[j])
        g_assert_cmpuint (w->now - w->came[j], <=, w->wait + MCC_LAYER_MERGE_STALL);
  }
  pass_to (w, w->now + 2 * MCC_LAYER_MERGE_STALL + w->wait);
}

static void
law (MccRng *rng)
{
  static World world;
  World *w = &world;
  MccLayerMergeStats stats;
  world = (World){ .rng = rng, .units = UNITS, .now = EPOCH };
  w->layers = 1 + (unsigned)prop_below (rng, MCC_LAYER_ORDER_LAYERS_MAX);
  w->wait = prop_below (rng, 150) * MS;
  make_stream (w);
  make_arrivals (w);
  w->merge = mcc_layer_merge_new (w->wait, (uint16_t)mcc_rng_next (rng));
  mcc_layer_merge_start (w->merge, w->layers, 90000, true, w->now);
  mcc_layer_merge_join (w->merge, 0, w->now);
  w->joined[0] = true;
  run (w);
  for (unsigned i = 0; i < w->packets; i++) {
    g_assert_cmpuint (w->gone[i], ==, w->given[i]); /* nothing stays */
    /* and once nothing is lost any more, all comes */
    if (w->unit_of[i] + TAIL >= w->units && w->unit[w->unit_of[i]].flags & MCC_LAYER_SYNC
        && w->unit[w->unit_of[i]].layer == 0)
      g_assert_true (w->emitted[i]);
  }
  for (unsigned u = w->units - TAIL / 2; u < w->units; u++)
    if (w->wait >= 62 * MS)
      g_assert_cmpuint (w->unit[u].left, ==, w->unit[u].count);
  mcc_layer_merge_get_stats (w->merge, &stats);
  mcc_layer_merge_reset (w->merge, w->now);
  drain (w);
  mcc_layer_merge_free (w->merge);
}

static void
test_merge (void)
{
  prop_run (law, 400);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/layer-merge/what-comes-out-can-be-decoded", test_merge);
  return g_test_run ();
}
