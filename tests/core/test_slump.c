/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>
#include <math.h>

#include "mccslump.h"

#define START (777777 * MCC_SECOND + 5)
#define BYTES 1000

/* A queue that serves us at a rate. */
typedef struct {
  MccSlump slump;
  MccTime sent, free; /* when the next packet leaves; when the link has served all */
  uint64_t found_bps; /* the first that it says */
  MccTime found;
} Link;

static void
link_init (Link *link)
{
  mcc_slump_clear (&link->slump);
  link->sent = link->free = START;
  link->found_bps = link->found = 0;
}

/* Packets at @sent_bps for @length over a link of @link_bps; the queue holds @most. */
static void
link_run (Link *link, uint64_t sent_bps, uint64_t link_bps, MccTime length, MccTime most)
{
  for (MccTime end = link->sent + length; link->sent < end;) {
    link->sent += mcc_time_from_seconds (8.0 * BYTES / (double)sent_bps);
    MccTime begin = MAX (link->free, link->sent);
    if (begin - link->sent > most)
      continue; /* dropped */
    link->free = begin + mcc_time_from_seconds (8.0 * BYTES / (double)link_bps);
    mcc_slump_handle_packet (&link->slump, BYTES, begin - link->sent, link->free);
    if (link->found == 0 && (link->found_bps = mcc_slump_bps (&link->slump)) > 0)
      link->found = link->free;
  }
}

/* Within the time of 17 packets what a link has fallen to is known. */
static void
test_found (void)
{
  static const struct {
    uint64_t before_bps, after_bps;
  } falls[] = { { 10000000, 2400000 }, { 4000000, 1000000 }, { 800000, 200000 } };
  for (guint i = 0; i < G_N_ELEMENTS (falls); i++) {
    Link link;
    double after_bps = (double)falls[i].after_bps, packet_s = 8.0 * BYTES / after_bps;
    link_init (&link);
    link_run (&link, falls[i].before_bps, falls[i].before_bps * 11 / 10, MCC_SECOND, MCC_SECOND);
    g_assert_cmpuint (link.found, ==, 0);
    MccTime fall = link.free;
    link_run (&link, falls[i].before_bps, falls[i].after_bps, MCC_SECOND, MCC_SECOND);
    g_assert_cmpuint (link.found, >, fall);
    g_assert_cmpfloat (mcc_time_to_seconds (link.found - fall), <, 18.0 * packet_s);
    g_assert_cmpfloat (fabs ((double)link.found_bps - after_bps), <, 0.07 * after_bps);
  }
}

/* A slight overload, a queue that stands or is full, one burst of somebody else's. */
static void
test_not_found (void)
{
  Link link;
  link_init (&link);
  link_run (&link, 5000000, 4000000, 2 * MCC_SECOND, MCC_SECOND);
  g_assert_cmpuint (link.found, ==, 0);
  link_init (&link);
  link_run (&link, 4100000, 4000000, 10 * MCC_SECOND, 160 * MCC_MSECOND); /* fills, slowly */
  link_run (&link, 10000000, 4000000, MCC_SECOND, 160 * MCC_MSECOND);     /* full: nothing to see */
  g_assert_cmpuint (link.found, ==, 0);
  link_init (&link);
  for (guint i = 0; i < 50; i++) {
    link_run (&link, 3000000, 4000000, 300 * MCC_MSECOND, MCC_SECOND);
    link.free += 80 * MCC_MSECOND; /* 40 packets at once */
  }
  g_assert_cmpuint (link.found, ==, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/slump/what-the-link-fell-to", test_found);
  g_test_add_func ("/slump/no-burst-no-full-queue", test_not_found);
  return g_test_run ();
}
