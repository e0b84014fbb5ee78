/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>

#include "mccrtpextension.h"

#define RTP 0x90, 96, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3

static void
test_find (void)
{
  static const struct {
    const char *what;
    size_t size;
    uint8_t data[40];
    int at; /* -1: not there */
    size_t bytes;
  } rows[] = {
    { "one-byte, behind another and padding", 28,
        { RTP, 0xbe, 0xde, 0, 3, 0x12, 7, 7, 7, 0, 0x52, 9, 8, 7, 0, 0, 0, 0xff }, 22, 3 },
    { "two-byte", 24, { RTP, 0x10, 0x07, 0, 2, 1, 0, 5, 3, 9, 8, 7, 0 }, 20, 3 },
    { "with a CSRC", 24,
        { 0x91, 96, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 1, 2, 3, 4, 0xbe, 0xde, 0, 1, 0x52, 9, 8, 7 }, 21,
        3 },
    { "no extension", 24, { 0x80, 96, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0xbe, 0xde, 0, 1, 0x52 }, -1,
        0 },
    { "another profile", 20, { RTP, 0xab, 0xcd, 0, 1, 0x52, 9, 8, 7 }, -1, 0 },
    { "behind one that a packet brought along", 24,
        { RTP, 0xbe, 0xde, 0, 2, 0x52, 1, 2, 3, 0x52, 9, 8, 7 }, 21, 3 },
    { "id 15 behind it", 24, { RTP, 0xbe, 0xde, 0, 2, 0x52, 9, 8, 7, 0xf0, 1, 0, 0 }, 17, 3 },
    { "id 15 ends it", 24, { RTP, 0xbe, 0xde, 0, 2, 0xf0, 1, 0x52, 9, 8, 7, 0, 0 }, -1, 0 },
    { "longer than the extension", 20, { RTP, 0xbe, 0xde, 0, 1, 0x53, 9, 8, 7 }, -1, 0 },
    { "two-byte, longer than the extension", 20, { RTP, 0x10, 0, 0, 1, 5, 3, 9, 8 }, -1, 0 },
    { "two-byte, ends in the header", 20, { RTP, 0x10, 0, 0, 1, 0, 0, 0, 5 }, -1, 0 },
    { "extension longer than the packet", 20, { RTP, 0xbe, 0xde, 0, 2, 0x52, 9, 8, 7 }, -1, 0 },
    { "ends in the extension's header", 14, { RTP, 0xbe, 0xde }, -1, 0 },
    { "not version 2", 20, { 0x50, 96, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0xbe, 0xde, 0, 1, 0x52 }, -1,
        0 },
    { "CSRC list longer than the packet", 16, { 0x9f, 96, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3 }, -1, 0 },
  };
  for (unsigned i = 0; i < G_N_ELEMENTS (rows); i++) {
    /* to the byte, so that a sanitizer sees what is read behind it */
    uint8_t *exact = g_memdup2 (rows[i].data, rows[i].size);
    size_t bytes = 0;
    const uint8_t *found = mcc_rtp_packet_element (exact, rows[i].size, 5, &bytes);
    g_test_message ("%s", rows[i].what);
    g_assert_cmpint (found != NULL ? (int)(found - exact) : -1, ==, rows[i].at);
    g_assert_cmpuint (bytes, ==, rows[i].bytes);
    for (size_t cut = 0; cut < rows[i].size; cut++) {
      uint8_t *part = g_memdup2 (rows[i].data, cut);
      found = mcc_rtp_packet_element (part, cut, 5, &bytes);
      g_assert_true (found == NULL || found + bytes <= part + cut);
      g_free (part);
    }
    g_assert_null (mcc_rtp_packet_element (exact, rows[i].size, 0, &bytes));
    g_assert_null (mcc_rtp_packet_element (exact, rows[i].size, 15, &bytes));
    g_assert_null (mcc_rtp_packet_element (exact, rows[i].size, 6, &bytes));
    g_free (exact);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/rtp-extension/found-in-both-forms-or-not-at-all", test_find);
  return g_test_run ();
}
