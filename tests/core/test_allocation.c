/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Without memory: every allocation of the core fails once, the n-th for n = 1, 2, ... until all
 * succeed, and from the n-th on for ever. A constructor returns NULL, what grows refuses and says
 * so, or goes on with what it has; nothing crashes, nothing stays behind. The linker brings the
 * core's allocations here (-Wl,--wrap).
 */
#include <glib.h>
#include <stdlib.h>
#include <string.h>

#include "mccasmpreceiver.h"
#include "mccasmpsender.h"
#include "mccasspreceiver.h"
#include "mccasspsender.h"
#include "mccelmreceiver.h"
#include "mccelmsender.h"
#include "mccjitter.h"
#include "mcclayermerge.h"
#include "mccloss.h"
#include "mccpacer.h"
#include "mccrate.h"
#include "mccrateenhanced.h"
#include "mccreceivers.h"
#include "mccsplice.h"

#define EPOCH (1234567 * MCC_SECOND + 89)
#define ALLOCATIONS_MAX 100 /* of one constructor, or of a table until it is full */

void *__real_malloc (size_t size);
void *__real_calloc (size_t count, size_t size);
void *__real_realloc (void *data, size_t size);
void __real_free (void *data);
void *__wrap_malloc (size_t size);
void *__wrap_calloc (size_t count, size_t size);
void *__wrap_realloc (void *data, size_t size);
void __wrap_free (void *data);

static struct {
  unsigned fails; /* this one, from 1; 0: none */
  bool for_ever;  /* ... and all behind it */
  unsigned asked, refused;
  int held; /* blocks */
} memory;

static bool
refuses (void)
{
  memory.asked++;
  bool refused = memory.fails > 0
                 && (memory.for_ever ? memory.asked >= memory.fails : memory.asked == memory.fails);
  memory.refused += refused;
  return refused;
}

void *
__wrap_malloc (size_t size)
{
  void *data = refuses () ? NULL : __real_malloc (size);
  memory.held += data != NULL;
  return data;
}

void *
__wrap_calloc (size_t count, size_t size)
{
  void *data = refuses () ? NULL : __real_calloc (count, size);
  memory.held += data != NULL;
  return data;
}

void *
__wrap_realloc (void *data, size_t size)
{
  void *grown = refuses () ? NULL : __real_realloc (data, size);
  memory.held += data == NULL && grown != NULL;
  return grown;
}

void
__wrap_free (void *data)
{
  memory.held -= data != NULL;
  __real_free (data);
}

static void
fail_at (unsigned n, bool for_ever)
{
  memory.fails = n;
  memory.for_ever = for_ever;
  memory.asked = memory.refused = 0;
}

static void
all_given_back (void)
{
  fail_at (0, false);
  g_assert_cmpint (memory.held, ==, 0);
}

/* ---- constructors ---- */

static MccAsspStreams
streams (void)
{
  MccAsspStreams streams = { .count = 3 };
  for (unsigned j = 0; j < 3; j++)
    streams.stream[j] = (MccAsspStream){ .low_bps = 1000000 * (j + 1),
      .high_bps = 1000000 * (j + 2),
      .address_offset = (uint16_t)(1 + j),
      .port_offset = (uint16_t)(2 * j),
      .ssrc = 0x100 + j };
  return streams;
}

static MccElmLayers
layers (void)
{
  MccElmLayers layers = { .count = 3 };
  for (unsigned k = 0; k < 3; k++)
    layers.layer[k] = (MccElmLayer){ .cumulative_bps = 100000u << k,
      .address_offset = (uint16_t)k,
      .port_offset = (uint16_t)(2 * k),
      .ssrc = 0x100 + k };
  return layers;
}

static void *
new_asmp_sender (MccVariant variant)
{
  return mcc_asmp_sender_new (&(MccAsmpSenderConfig){ .variant = variant,
                                  .ssrc = 1,
                                  .min_bps = 100000,
                                  .max_bps = 10000000,
                                  .start_bps = 1000000,
                                  .max_receivers = 200 },
      EPOCH);
}

static void *
new_asmp_receiver (MccVariant variant)
{
  return mcc_asmp_receiver_new (&(MccAsmpReceiverConfig){ .variant = variant, .ssrc = 7 }, EPOCH);
}

static void *
new_assp_sender (MccVariant variant)
{
  return mcc_assp_sender_new (
      &(MccAsspSenderConfig){ .variant = variant, .streams = streams (), .max_streams = 3 }, EPOCH);
}

static void *
new_assp_receiver (MccVariant variant)
{
  return mcc_assp_receiver_new (
      &(MccAsspReceiverConfig){ .asmp = { .variant = variant, .ssrc = 7 }, .lock_stream = -1 },
      EPOCH);
}

static void *
new_elm_sender (MccVariant variant)
{
  return mcc_elm_sender_new (
      &(MccElmSenderConfig){ .variant = variant, .layers = layers () }, EPOCH);
}

static void *
new_elm_receiver (MccVariant variant)
{
  return mcc_elm_receiver_new (
      &(MccElmReceiverConfig){ .variant = variant, .ssrc = 7, .max_level = -1 }, EPOCH);
}

static void *
new_loss (MccVariant variant)
{
  return mcc_loss_new (variant ? &mcc_loss_lip : &mcc_loss_interval, NULL);
}

static void *
new_rate (MccVariant variant)
{
  return mcc_rate_new (variant ? &mcc_rate_enhanced : &mcc_rate_published, 150000);
}

static void *
new_pacer (MccVariant variant)
{
  return mcc_pacer_new (NULL);
}

static void *
new_splice (MccVariant variant)
{
  return mcc_splice_new ();
}

static void *
new_layer_merge (MccVariant variant)
{
  return mcc_layer_merge_new (100 * MCC_MSECOND, 1);
}

#define FREE(type, function)                                                                       \
  static void free_##function (void *self)                                                         \
  {                                                                                                \
    mcc_##function##_free ((type *)self);                                                          \
  }
FREE (MccAsmpSender, asmp_sender)
FREE (MccAsmpReceiver, asmp_receiver)
FREE (MccAsspSender, assp_sender)
FREE (MccAsspReceiver, assp_receiver)
FREE (MccElmSender, elm_sender)
FREE (MccElmReceiver, elm_receiver)
FREE (MccLoss, loss)
FREE (MccRate, rate)
FREE (MccPacer, pacer)
FREE (MccSplice, splice)
FREE (MccLayerMerge, layer_merge)

static const struct {
  void *(*make) (MccVariant variant);
  void (*free) (void *self);
  unsigned allocations;
} constructors[]
    = { { new_asmp_sender, free_asmp_sender, 1 }, { new_asmp_receiver, free_asmp_receiver, 3 },
        { new_assp_sender, free_assp_sender, 4 }, { new_assp_receiver, free_assp_receiver, 4 },
        { new_elm_sender, free_elm_sender, 2 }, { new_elm_receiver, free_elm_receiver, 2 },
        { new_loss, free_loss, 1 }, { new_rate, free_rate, 1 }, { new_pacer, free_pacer, 2 },
        { new_splice, free_splice, 1 }, { new_layer_merge, free_layer_merge, 1 } };

static void
check_constructor (unsigned row, MccVariant variant, bool for_ever)
{
  void *made = NULL;
  unsigned n = 0;
  while (made == NULL) {
    g_assert_cmpuint (n, <, ALLOCATIONS_MAX);
    fail_at (++n, for_ever);
    made = constructors[row].make (variant);
    g_assert_true ((made == NULL) == (memory.refused > 0));
    if (made == NULL)
      all_given_back ();
  }
  /* Everything was tried: the first that was not refused is one behind the last. */
  g_assert_cmpuint (n - 1, ==, constructors[row].allocations);
  fail_at (0, false);
  constructors[row].free (made);
  all_given_back ();
}

static void
test_constructors (void)
{
  for (unsigned row = 0; row < G_N_ELEMENTS (constructors); row++)
    for (unsigned i = 0; i < 4; i++)
      check_constructor (row, i & 1 ? MCC_VARIANT_ENHANCED : MCC_VARIANT_PUBLISHED, i & 2);
}

static void
test_free_of_nothing (void)
{
  for (unsigned row = 0; row < G_N_ELEMENTS (constructors); row++)
    constructors[row].free (NULL);
}

/* ---- what grows ---- */

static MccAddress
address_of (unsigned host)
{
  return (MccAddress){
    .family = 4, .port = 5005, .bytes = { 10, 0, (uint8_t)(host >> 8), (uint8_t)host }
  };
}

/* Fills a table of @max while the n-th allocation fails; returns whether one was refused. */
static bool
fill_table (unsigned n, bool for_ever, unsigned max)
{
  MccReceivers table;
  unsigned in = 0, refused = 0;
  mcc_receivers_init (&table, max, 1);
  fail_at (n, for_ever);
  for (unsigned i = 0; i < max; i++) {
    MccAddress address = address_of (i);
    bool added = mcc_receivers_add (&table, i, &address) != NULL;
    in += added;
    refused += !added;
    g_assert_cmpuint (table.count, ==, in);
    g_assert_true ((mcc_receivers_find (&table, i, &address) != NULL) == added);
  }
  g_assert_true ((refused > 0) == (memory.refused > 0));
  bool any = memory.refused > 0;
  /* There is memory again: all who were refused come in, nobody was lost. */
  fail_at (0, false);
  for (unsigned i = 0; i < max; i++) {
    MccAddress address = address_of (i);
    if (mcc_receivers_find (&table, i, &address) == NULL)
      g_assert_nonnull (mcc_receivers_add (&table, i, &address));
  }
  g_assert_cmpuint (table.count, ==, max);
  mcc_receivers_clear (&table);
  all_given_back ();
  return any;
}

static void
test_table (void)
{
  for (unsigned for_ever = 0; for_ever < 2; for_ever++) {
    unsigned n = 1;
    while (fill_table (n, for_ever, 200))
      g_assert_cmpuint (++n, <, ALLOCATIONS_MAX);
    g_assert_cmpuint (n, >, 10); /* it grew several times, by several arrays */
  }
}

static void
drain (MccAsmpSender *sender)
{
  MccSenderAction action;
  while (mcc_asmp_sender_poll (sender, &action))
    continue;
}

static MccDrop
report (MccAsmpSender *sender, unsigned i, uint32_t number, MccTime now)
{
  MccAddress from = address_of (i);
  MccAppReport report = { .number = number,
    .flags = MCC_REPORT_ECHO,
    .rate_bps = 500000 + 1000 * i,
    .received_bps = 500000,
    .rtt = 50 * MCC_MSECOND,
    .echo = mcc_abs_send_time (now - 50 * MCC_MSECOND) };
  MccDrop drop = mcc_asmp_sender_handle_report (sender, 100 + i, &report, &from, now);
  drain (sender);
  return drop;
}

/* Each of 100 receivers reports three times; the refused are counted, and the sender goes on. */
static bool
fill_sender (unsigned n, bool for_ever)
{
  MccAsmpSender *sender = new_asmp_sender (MCC_VARIANT_ENHANCED);
  MccAsmpSenderStats stats;
  MccTime now = EPOCH;
  unsigned full = 0;
  bool any;
  fail_at (n, for_ever);
  for (uint32_t number = 1; number <= 3; number++) {
    for (unsigned i = 0; i < 100; i++, now += MCC_MSECOND)
      full += report (sender, i, number, now) == MCC_DROP_TABLE_FULL;
    for (; mcc_asmp_sender_next_timeout (sender) <= now; drain (sender))
      mcc_asmp_sender_handle_timeout (sender, now);
  }
  any = memory.refused > 0;
  mcc_asmp_sender_get_stats (sender, now, &stats);
  g_assert_cmpuint (stats.dropped[MCC_DROP_TABLE_FULL], ==, full);
  g_assert_cmpuint (stats.target_bps, >=, 100000);
  g_assert_cmpuint (stats.target_bps, <=, 10000000);
  if (!any)
    g_assert_cmpuint (stats.receivers, ==, 100);
  fail_at (0, false);
  for (uint32_t number = 4; number <= 6; number++, now += MCC_SECOND)
    for (unsigned i = 0; i < 100; i++, now += MCC_MSECOND)
      report (sender, i, number, now);
  g_assert_cmpuint (mcc_asmp_sender_members (sender), ==, 100);
  mcc_asmp_sender_free (sender);
  all_given_back ();
  return any;
}

static void
test_sender (void)
{
  for (unsigned for_ever = 0; for_ever < 2; for_ever++) {
    unsigned n = 1;
    while (fill_sender (n, for_ever))
      g_assert_cmpuint (++n, <, ALLOCATIONS_MAX);
    g_assert_cmpuint (n, >, 10);
  }
}

/* What the ring has no room for leaves with what came before it, in time. */
static bool
fill_pacer (unsigned n, bool for_ever)
{
  MccPacer *pacer = mcc_pacer_new (NULL);
  MccTime now = EPOCH, last = EPOCH;
  unsigned queued = 0, released = 0;
  bool any;
  mcc_pacer_set_target (pacer, 1000000);
  fail_at (n, for_ever);
  for (; queued < 1000; queued++, now += 100000) { /* ns; ten times the target */
    mcc_pacer_enqueue (pacer, 1, 1200, now);
    released += mcc_pacer_release (pacer, now);
    g_assert_cmpuint (mcc_pacer_queued_packets (pacer), ==, queued + 1 - released);
  }
  last = now;
  any = memory.refused > 0;
  while (mcc_pacer_next_timeout (pacer) != MCC_TIME_NONE) {
    now = mcc_time_max (now, mcc_pacer_next_timeout (pacer));
    released += mcc_pacer_release (pacer, now);
  }
  g_assert_cmpuint (released, ==, queued);
  g_assert_cmpuint (mcc_pacer_queued_bytes (pacer), ==, 0);
  g_assert_cmpuint (now - last, <=, mcc_pacer_config_default.max_delay);
  fail_at (0, false);
  mcc_pacer_free (pacer);
  all_given_back ();
  return any;
}

static void
test_pacer (void)
{
  for (unsigned for_ever = 0; for_ever < 2; for_ever++) {
    unsigned n = 1;
    while (fill_pacer (n, for_ever))
      g_assert_cmpuint (++n, <, ALLOCATIONS_MAX);
    g_assert_cmpuint (n, >, 2); /* the ring grew */
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/allocation/constructors-return-null", test_constructors);
  g_test_add_func ("/allocation/free-takes-null", test_free_of_nothing);
  g_test_add_func ("/allocation/table-refuses-and-recovers", test_table);
  g_test_add_func ("/allocation/sender-counts-the-refused", test_sender);
  g_test_add_func ("/allocation/pacer-keeps-its-packets-and-its-bound", test_pacer);
  return g_test_run ();
}
