/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>

#include "mccreceivers.h"

static MccAddress
address_of (unsigned host)
{
  MccAddress address = { .family = 4, .port = 5005 };
  memcpy (address.bytes, &host, sizeof host);
  return address;
}

static void
test_key_is_ssrc_and_address (void)
{
  MccReceivers table;
  MccReceiver *same[MCC_RECEIVERS_PER_SSRC];
  mcc_receivers_init (&table, 100, 3);
  MccAddress a = address_of (1), b = address_of (2), c = address_of (3);
  g_assert_null (mcc_receivers_find (&table, 5, &a));
  g_assert_nonnull (mcc_receivers_add (&table, 5, &a));
  g_assert_nonnull (mcc_receivers_add (&table, 5, &b));
  g_assert_nonnull (mcc_receivers_add (&table, 6, &a));
  g_assert_true (mcc_receivers_find (&table, 5, &a) != mcc_receivers_find (&table, 5, &b));
  g_assert_null (mcc_receivers_find (&table, 5, &c));
  g_assert_null (mcc_receivers_find (&table, 6, &b));
  g_assert_cmpuint (mcc_receivers_find_ssrc (&table, 5, same), ==, 2);
  mcc_receivers_remove (&table, mcc_receivers_find (&table, 5, &a));
  g_assert_null (mcc_receivers_find (&table, 5, &a));
  g_assert_nonnull (mcc_receivers_find (&table, 5, &b));
  g_assert_cmpuint (table.count, ==, 2);
  mcc_receivers_clear (&table);
}

static void
test_shares_are_bounded (void)
{
  MccReceivers table;
  mcc_receivers_init (&table, 20, 3);
  for (unsigned i = 0; i < 10; i++) {
    MccAddress a = address_of (i);
    g_assert_cmpint (mcc_receivers_add (&table, 5, &a) != NULL, ==, i < MCC_RECEIVERS_PER_SSRC);
  }
  for (unsigned i = 0; i < 100; i++) {
    MccAddress a = address_of (i);
    g_assert_cmpint (
        mcc_receivers_add (&table, 100 + i, &a) != NULL, ==, i < 20 - MCC_RECEIVERS_PER_SSRC);
  }
  g_assert_cmpuint (table.capacity, ==, 20);
  mcc_receivers_clear (&table);
  g_assert_cmpuint (MCC_RECEIVERS_COST, <=, 256);
}

/* A model beside it: an array that is scanned. */
#define MODEL 700

typedef struct {
  bool used;
  uint64_t key[MCC_ORDER_COUNT];
} Model;

static void
check_first (const MccReceivers *table, const Model *model)
{
  for (unsigned order = 0; order < MCC_ORDER_COUNT; order++) {
    uint64_t least = MCC_RECEIVERS_NO_KEY;
    for (unsigned i = 0; i < MODEL; i++) {
      if (model[i].used && model[i].key[order] < least)
        least = model[i].key[order];
    }
    MccReceiver *first = mcc_receivers_first (table, (MccReceiversOrder)order);
    g_assert_cmpuint (first != NULL ? first->key[order] : MCC_RECEIVERS_NO_KEY, ==, least);
  }
}

static void
test_orders_hold_under_churn (void)
{
  MccReceivers table;
  g_autofree Model *model = g_new0 (Model, MODEL);
  GRand *rand = g_rand_new_with_seed (42);
  unsigned used = 0;
  mcc_receivers_init (&table, 600, 9);
  for (unsigned turn = 0; turn < 40000; turn++) {
    unsigned i = (unsigned)g_rand_int_range (rand, 0, MODEL);
    /* Few SSRCs apart in one bit only, so that runs of the hash are long. */
    uint32_t ssrc = i << 7;
    MccAddress address = address_of (i);
    MccReceiver *receiver = mcc_receivers_find (&table, ssrc, &address);
    g_assert_cmpint (receiver != NULL, ==, model[i].used);
    if (receiver == NULL) {
      receiver = mcc_receivers_add (&table, ssrc, &address);
      g_assert_cmpint (receiver != NULL, ==, used < 600);
      if (receiver == NULL)
        continue;
      memset (model[i].key, 0xff, sizeof model[i].key);
      model[i].used = true;
      used++;
    } else if (g_rand_int_range (rand, 0, 3) == 0) {
      mcc_receivers_remove (&table, receiver);
      model[i].used = false;
      used--;
      continue;
    }
    unsigned order = (unsigned)g_rand_int_range (rand, 0, MCC_ORDER_COUNT);
    model[i].key[order] = (uint64_t)g_rand_int_range (rand, 0, 5000);
    mcc_receivers_set_key (&table, receiver, (MccReceiversOrder)order, model[i].key[order]);
    g_assert_cmpuint (table.count, ==, used);
    if (turn % 16 == 0)
      check_first (&table, model);
  }
  g_rand_free (rand);
  mcc_receivers_clear (&table);
}

static void
test_lists_are_queues (void)
{
  MccReceivers table;
  mcc_receivers_init (&table, 100, 3);
  MccAddress a = address_of (1);
  for (uint32_t i = 0; i < 50; i++)
    mcc_receivers_append (&table, mcc_receivers_add (&table, i, &a), MCC_LIST_NEW);
  /* Again: to the end. The probation list is apart. */
  for (uint32_t i = 0; i < 50; i += 2)
    mcc_receivers_append (&table, mcc_receivers_find (&table, i, &a), MCC_LIST_NEW);
  for (uint32_t i = 0; i < 50; i += 5)
    mcc_receivers_append (&table, mcc_receivers_find (&table, i, &a), MCC_LIST_UNPROVEN);
  mcc_receivers_remove (&table, mcc_receivers_find (&table, 1, &a));
  mcc_receivers_remove (&table, mcc_receivers_find (&table, 20, &a));
  mcc_receivers_remove (&table, mcc_receivers_find (&table, 48, &a));
  MccReceiver *head;
  for (uint32_t turn = 0; turn < 2; turn++) {
    for (uint32_t i = turn == 0 ? 3 : 0; i < 50; i += 2) {
      if (i == 20 || i == 48)
        continue;
      head = mcc_receivers_head (&table, MCC_LIST_NEW);
      g_assert_nonnull (head);
      g_assert_cmpuint (head->ssrc, ==, i);
      mcc_receivers_unlink (&table, head, MCC_LIST_NEW);
    }
  }
  g_assert_null (mcc_receivers_head (&table, MCC_LIST_NEW));
  for (uint32_t i = 0; i < 50; i += 5) {
    if (i == 20)
      continue;
    head = mcc_receivers_head (&table, MCC_LIST_UNPROVEN);
    g_assert_cmpuint (head->ssrc, ==, i);
    mcc_receivers_unlink (&table, head, MCC_LIST_UNPROVEN);
  }
  g_assert_null (mcc_receivers_head (&table, MCC_LIST_UNPROVEN));
  mcc_receivers_clear (&table);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/receivers/key/ssrc-and-address", test_key_is_ssrc_and_address);
  g_test_add_func ("/receivers/bounds/ssrc-and-table", test_shares_are_bounded);
  g_test_add_func ("/receivers/orders/first-is-least-under-churn", test_orders_hold_under_churn);
  g_test_add_func ("/receivers/lists/first-in-first-out", test_lists_are_queues);
  return g_test_run ();
}
