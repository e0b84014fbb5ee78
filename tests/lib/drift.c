/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * drift: preloaded, it lets a program's monotonic clock drift by DRIFT_PPM from its start on.
 *
 * libfaketime's moves that clock to another epoch as well, and GStreamer's waits never end by it.
 * Relative waits (futex, poll) stay real: they are wrong by as little as the clock.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define SECOND 1000000000
#define PUBLIC __attribute__ ((visibility ("default")))

static int64_t begin_ns;
static double factor = 1.0;

static int64_t
from_timespec (const struct timespec *time)
{
  return (int64_t)time->tv_sec * SECOND + time->tv_nsec;
}

static struct timespec
to_timespec (int64_t ns)
{
  return (struct timespec){ .tv_sec = ns / SECOND, .tv_nsec = ns % SECOND };
}

__attribute__ ((constructor)) static void
begin (void)
{
  const char *ppm = getenv ("DRIFT_PPM");
  struct timespec now;

  if (ppm == NULL || syscall (SYS_clock_gettime, CLOCK_MONOTONIC, &now) != 0)
    return;
  begin_ns = from_timespec (&now);
  factor = 1.0 + 1e-6 * strtod (ppm, NULL);
}

PUBLIC int
clock_gettime (clockid_t clock, struct timespec *now)
{
  int result = (int)syscall (SYS_clock_gettime, clock, now);

  if (result == 0 && clock == CLOCK_MONOTONIC)
    *now = to_timespec (begin_ns + (int64_t)((double)(from_timespec (now) - begin_ns) * factor));
  return result;
}

PUBLIC int
clock_nanosleep (clockid_t clock, int flags, const struct timespec *until, struct timespec *left)
{
  struct timespec real = *until;

  if (clock == CLOCK_MONOTONIC && (flags & TIMER_ABSTIME) != 0)
    real = to_timespec (begin_ns + (int64_t)((double)(from_timespec (until) - begin_ns) / factor));
  return syscall (SYS_clock_nanosleep, clock, flags, &real, left) == 0 ? 0 : errno;
}
