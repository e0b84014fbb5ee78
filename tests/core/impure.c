/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Everything that purity.py must find.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

double mcc_impure (void);
void gst_object_unref (void *object);
long g_get_monotonic_time (void);

static int counter;

double
mcc_impure (void)
{
  struct timespec now;

  clock_gettime (CLOCK_MONOTONIC, &now);
  gst_object_unref (malloc (1));
  counter += rand ();
  return (double)(now.tv_nsec + counter + g_get_monotonic_time ());
}
