/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>
#include <string.h>

#include "mcclayerorder.h"

static void
test_bytes (void)
{
  /* docs/wire-format.md: the third packet of layer 1 of 3, the first of its unit. */
  static const uint8_t golden[] = { 0xa1, 0x00, 0x02, 0x01, 0x00, 0xff, 0xff };
  MccLayerOrder order = {
    .layer = 1, .count = 3, .flags = MCC_LAYER_FIRST | MCC_LAYER_SYNC, .c = { 2, 256, 65535 }
  };
  uint8_t bytes[MCC_LAYER_ORDER_BYTES_MAX];
  MccLayerOrder read;
  g_assert_cmpmem (bytes, mcc_layer_order_write (&order, bytes), golden, sizeof golden);
  g_assert_true (mcc_layer_order_read (golden, sizeof golden, &read));
  g_assert_cmpmem (&read, sizeof read, &order, sizeof order);
}

static void
test_counts (void)
{
  /* c[k] counts the packets in layers 0..k, and wraps. */
  static const struct {
    uint8_t layer;
    uint16_t c[3];
  } sent[] = { { 0, { 0, 1, 2 } }, { 2, { 0, 1, 3 } }, { 2, { 0, 1, 4 } }, { 1, { 0, 2, 5 } },
    { 0, { 1, 3, 6 } } };
  MccLayerOrder order = { .count = 3, .c = { 65535, 0, 1 } };
  for (unsigned i = 0; i < G_N_ELEMENTS (sent); i++) {
    order.layer = sent[i].layer;
    mcc_layer_order_next (&order);
    for (unsigned k = 0; k < 3; k++)
      g_assert_cmpuint (order.c[k], ==, sent[i].c[k]);
  }
}

static void
test_refused (void)
{
  uint8_t bytes[18] = { 0x07 };
  MccLayerOrder order = { .layer = 9 };
  for (size_t n = 0; n <= sizeof bytes; n++) {
    bool good = n % 2 == 1 && n >= 3 && n <= 15;
    bytes[0] = 0x00;
    g_assert_cmpint (mcc_layer_order_read (bytes, n, &order), ==, good);
    /* the layer that is one too high */
    bytes[0] = (uint8_t)(n / 2);
    order.layer = 9;
    g_assert_false (mcc_layer_order_read (bytes, n, &order));
    g_assert_cmpuint (order.layer, ==, 9);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/layer-order/bytes-are-those-of-the-wire-format", test_bytes);
  g_test_add_func ("/layer-order/each-count-is-of-its-layer-and-those-below", test_counts);
  g_test_add_func ("/layer-order/other-lengths-and-layers-are-refused", test_refused);
  return g_test_run ();
}
