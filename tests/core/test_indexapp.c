/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>
#include <string.h>

#include "mccindexapp.h"

static const MccIndexApp app = { .ssrc = 0x01020304,
  .count = 2,
  .entry = { { 0x11121314, UINT64_C (0x2122232425) }, { 0x31323334, UINT64_C (0xffffffffffff) } } };

/* As docs/wire-format.md has it. */
static const uint8_t golden[]
    = { 0x82, 204, 0, 8, 1, 2, 3, 4, 'S', 'I', 'D', 'X', 0x11, 0x12, 0x13, 0x14, 0, 0x21, 0x22,
        0x23, 0x24, 0x25, 0, 0, 0x31, 0x32, 0x33, 0x34, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0 };

static void
test_bytes (void)
{
  uint8_t data[MCC_INDEX_BYTES (MCC_INDEX_MAX)];
  size_t size = mcc_index_app_encode (&app, data, sizeof data);
  MccIndexApp out;

  g_assert_cmpmem (data, size, golden, sizeof golden);
  g_assert_cmpint (mcc_index_app_decode (data, size, &out), ==, MCC_DROP_NONE);
  g_assert_cmphex (out.ssrc, ==, app.ssrc);
  g_assert_cmpuint (out.count, ==, 2);
  for (unsigned i = 0; i < 2; i++) {
    g_assert_cmphex (out.entry[i].ssrc, ==, app.entry[i].ssrc);
    g_assert_cmphex (out.entry[i].index, ==, app.entry[i].index);
  }
}

/* Truncated, too long for what it says, with more entries than bytes; *out stays as it was. */
static void
test_bad (void)
{
  MccIndexApp out = { .count = 77 };
  uint8_t data[sizeof golden + 4];

  for (size_t size = 0; size < sizeof golden; size++) {
    memcpy (data, golden, sizeof golden);
    g_assert_cmpint (mcc_index_app_decode (data, size, &out), ==, MCC_DROP_MALFORMED);
    if (size >= 4 && size % 4 == 0) { /* its own length says the same */
      data[3] = (uint8_t)(size / 4 - 1);
      g_assert_cmpint (mcc_index_app_decode (data, size, &out), ==, MCC_DROP_MALFORMED);
    }
  }
  memcpy (data, golden, sizeof golden);
  g_assert_cmpint (mcc_index_app_decode (data, sizeof data, &out), ==, MCC_DROP_MALFORMED);
  data[0] = 0x9f;
  g_assert_cmpint (mcc_index_app_decode (data, sizeof golden, &out), ==, MCC_DROP_MALFORMED);
  memcpy (data, golden, sizeof golden);
  data[8] = 'A';
  g_assert_cmpint (mcc_index_app_decode (data, sizeof golden, &out), ==, MCC_DROP_UNKNOWN_NAME);
  g_assert_cmpuint (out.count, ==, 77);
}

static void
test_range (void)
{
  MccIndexApp much = { .count = MCC_INDEX_MAX + 1 };
  MccIndexApp far = { .count = 1, .entry = { { 1, UINT64_C (1) << 48 } } };
  uint8_t data[MCC_INDEX_BYTES (MCC_INDEX_MAX + 1)];

  g_assert_cmpuint (mcc_index_app_encode (&much, data, sizeof data), ==, 0);
  g_assert_cmpuint (mcc_index_app_encode (&far, data, sizeof data), ==, 0);
  g_assert_cmpuint (mcc_index_app_encode (&app, data, sizeof golden - 1), ==, 0);
}

/* RFC 3711 3.3.1: the round in which @seq is nearest to the index. */
static void
test_roc (void)
{
  static const struct {
    uint64_t index;
    uint16_t seq;
    uint32_t roc;
  } cases[] = {
    { 0, 0, 0 },
    { 0, 0x8000, 0 },
    { 0, 0xffff, 0 }, /* before the first: there is no round below */
    { 0x10000, 0xffff, 0 },
    { 0x10000, 0x7fff, 1 },
    { 0x1ffff, 0, 2 },
    { 0x1ffff, 0x7ffe, 2 },
    { 0x1ffff, 0x7fff, 1 },
    { 0x17fff, 0xffff, 1 },
    { 0x17ffe, 0xffff, 0 },
    { UINT64_C (0xffffffff0000), 5, 0xffffffff },
  };

  for (unsigned i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_test_message ("case %u", i);
    g_assert_cmphex (mcc_index_roc (cases[i].index, cases[i].seq), ==, cases[i].roc);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/indexapp/bytes", test_bytes);
  g_test_add_func ("/indexapp/bad-ones-change-nothing", test_bad);
  g_test_add_func ("/indexapp/range", test_range);
  g_test_add_func ("/indexapp/round-of-numbers", test_roc);
  return g_test_run ();
}
