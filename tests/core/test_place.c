/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>
#include <stdio.h>

#include "mccplace.h"

static MccAddress
v4 (const char *text, unsigned port)
{
  MccAddress address = { .family = 4, .port = (uint16_t)port };
  unsigned b[4];

  g_assert_cmpint (sscanf (text, "%u.%u.%u.%u", &b[0], &b[1], &b[2], &b[3]), ==, 4);
  for (unsigned i = 0; i < 4; i++)
    address.bytes[i] = (uint8_t)b[i];
  return address;
}

static void
test_offsets (void)
{
  static const struct {
    const char *base;
    unsigned port, address_offset, port_offset;
    MccPlaceVerdict verdict;
    const char *result; /* NULL: not placed */
  } table[] = {
    { "239.255.12.50", 5010, 1, 0, MCC_PLACE_GOOD, "239.255.12.51" },
    { "239.255.12.50", 5010, 8, 14, MCC_PLACE_GOOD, "239.255.12.58" },
    { "239.255.12.50", 5010, 0, 0, MCC_PLACE_GOOD, "239.255.12.50" },
    { "239.255.12.255", 5010, 1, 0, MCC_PLACE_GOOD, "239.255.13.0" },
    { "239.255.255.255", 5010, 1, 0, MCC_PLACE_BLOCK, NULL },
    { "239.255.255.254", 5010, 1, 0, MCC_PLACE_GOOD, "239.255.255.255" },
    { "239.254.255.255", 5010, 1, 0, MCC_PLACE_BLOCK, NULL }, /* another scope */
    { "239.191.255.255", 5010, 1, 0, MCC_PLACE_BLOCK, NULL },
    { "239.195.255.255", 5010, 1, 0, MCC_PLACE_BLOCK, NULL },
    { "239.192.255.255", 5010, 1, 0, MCC_PLACE_GOOD, "239.193.0.0" },
    { "232.255.255.255", 5010, 1, 0, MCC_PLACE_BLOCK, NULL },
    { "224.0.1.255", 5010, 1, 0, MCC_PLACE_BLOCK, NULL },
    { "224.0.0.251", 5010, 1, 0, MCC_PLACE_BLOCK, NULL },
    { "224.0.2.1", 5010, 1, 0, MCC_PLACE_GOOD, "224.0.2.2" },
    { "239.1.1.1", 65520, 1, 14, MCC_PLACE_GOOD, "239.1.1.2" },
    { "239.1.1.1", 65522, 1, 14, MCC_PLACE_PORT, NULL },
    { "10.0.0.1", 5010, 1, 0, MCC_PLACE_HOST, NULL },
    { "10.0.0.1", 5010, 0, 2, MCC_PLACE_GOOD, "10.0.0.1" },
  };

  for (unsigned i = 0; i < G_N_ELEMENTS (table); i++) {
    MccAddress base = v4 (table[i].base, table[i].port), out = v4 ("1.2.3.4", 5), kept = out;
    MccPlace place = { (uint16_t)table[i].address_offset, (uint16_t)table[i].port_offset };

    g_test_message ("%s:%u + %u, %u", table[i].base, table[i].port, table[i].address_offset,
        table[i].port_offset);
    g_assert_cmpint (mcc_place_address (&base, place, &out), ==, table[i].verdict);
    if (table[i].result)
      kept = v4 (table[i].result, table[i].port + table[i].port_offset);
    g_assert_true (mcc_address_equal (&out, &kept));
  }
}

static void
test_ipv6 (void)
{
  MccAddress base = { .family = 6, .port = 5010, .bytes = { 0xff, 0x15, [15] = 0xff } }, out;

  g_assert_cmpint (mcc_place_address (&base, (MccPlace){ 1, 2 }, &out), ==, MCC_PLACE_GOOD);
  g_assert_cmpuint (out.bytes[15], ==, 0);
  g_assert_cmpuint (out.bytes[14], ==, 1);
  g_assert_cmpuint (out.port, ==, 5012);
  for (unsigned i = 12; i < 16; i++)
    base.bytes[i] = 0xff;
  g_assert_cmpint (mcc_place_address (&base, (MccPlace){ 1, 2 }, &out), ==, MCC_PLACE_BLOCK);
  base.bytes[0] = 0xfd;
  base.bytes[15] = 1;
  g_assert_cmpint (mcc_place_address (&base, (MccPlace){ 1, 2 }, &out), ==, MCC_PLACE_HOST);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/place/carries-within-the-block", test_offsets);
  g_test_add_func ("/place/ipv6-low-32-bits", test_ipv6);
  return g_test_run ();
}
