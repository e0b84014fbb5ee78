/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mccqueue.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#define WINDOW (60 * MCC_SECOND)
#define SKEW_AFTER (30 * MCC_SECOND)
#define SKEW_MAX 500e-6  /* s/s; steeper is a changing queue */
#define SKEW_SLACK 50e-6 /* what the minima's noise may add to it */
#define SKEW_GAIN 0.25   /* of a new estimate, after the first */
#define FIT 1e6          /* ns: minima of a pure skew lie so near to one line */
#define QUARTERS 4

/* A minimum, relative to the oldest one (ns). */
typedef struct {
  double time, transit;
} Point;

void
mcc_queue_init (MccQueue *self, MccTime window)
{
  memset (self, 0, sizeof *self);
  self->window = window ? window : WINDOW;
  assert (self->window >= MCC_QUEUE_BUCKETS);
}

static unsigned
slot (const MccQueue *self, unsigned age)
{
  return (self->head + MCC_QUEUE_BUCKETS - age) % MCC_QUEUE_BUCKETS;
}

/* What the clocks' skew adds over @span. */
static MccTimeDelta
skewed (const MccQueue *self, MccTimeDelta span)
{
  return (MccTimeDelta)(self->skew * (double)span);
}

static MccTimeDelta
baseline (const MccQueue *self, MccTime time)
{
  return self->base + skewed (self, (MccTimeDelta)(time - self->base_time));
}

/* The minima, oldest first. */
static unsigned
collect (const MccQueue *self, Point *points)
{
  unsigned oldest = slot (self, self->count - 1);

  for (unsigned i = 0; i < self->count; i++) {
    unsigned b = slot (self, self->count - 1 - i);

    points[i].time = (double)(self->bucket[b].time - self->bucket[oldest].time);
    points[i].transit = (double)(self->bucket[b].transit - self->bucket[oldest].transit);
  }
  return self->count;
}

static bool
above (const Point *a, const Point *b, const Point *c)
{
  return (b->transit - a->transit) * (c->time - a->time)
         >= (c->transit - a->transit) * (b->time - a->time);
}

static unsigned
lower_hull (const Point *points, unsigned count, Point *hull)
{
  unsigned n = 0;

  for (unsigned i = 0; i < count; i++) {
    while (n >= 2 && above (&hull[n - 2], &hull[n - 1], &points[i]))
      n--;
    hull[n++] = points[i];
  }
  return n;
}

/* The hull's height at @time. */
static Point
on_hull (const Point *hull, unsigned count, double time)
{
  unsigned i = 1;

  while (i < count - 1 && hull[i].time < time)
    i++;
  double part = (time - hull[i - 1].time) / (hull[i].time - hull[i - 1].time);
  return (Point){ time, hull[i - 1].transit + part * (hull[i].transit - hull[i - 1].transit) };
}

/* Whether minima in each quarter lie near the line: noise and queues raise some of them, a change
 * of the path or a standing queue all of a quarter. */
static bool
fits (const Point *points, unsigned count, const Point *on, double slope)
{
  double span = points[count - 1].time;
  double nearest[QUARTERS] = { INFINITY, INFINITY, INFINITY, INFINITY };

  for (unsigned i = 0; i < count; i++) {
    unsigned quarter = (unsigned)(points[i].time / span * QUARTERS);
    double over = points[i].transit - on->transit - slope * (points[i].time - on->time);

    quarter = quarter < QUARTERS ? quarter : QUARTERS - 1;
    nearest[quarter] = fmin (nearest[quarter], fabs (over));
  }
  for (unsigned q = 0; q < QUARTERS; q++) {
    if (nearest[q] > FIT)
      return false;
  }
  return true;
}

static void
update_skew (MccQueue *self, MccTime now)
{
  Point points[MCC_QUEUE_BUCKETS], hull[MCC_QUEUE_BUCKETS];

  if (now - self->start < SKEW_AFTER || self->count < 2 * QUARTERS)
    return;
  unsigned count = collect (self, points);
  double span = points[count - 1].time;
  /* After a gap there is too little to tell a slope from. */
  if (span < (double)mcc_time_min (self->window, SKEW_AFTER) * 0.9)
    return;
  unsigned corners = lower_hull (points, count, hull);
  Point left = on_hull (hull, corners, 0.25 * span), right = on_hull (hull, corners, 0.75 * span);
  double slope = (right.transit - left.transit) / (right.time - left.time);

  if (fabs (slope) > SKEW_MAX + SKEW_SLACK || !fits (points, count, &left, slope))
    return;
  slope = fmax (-SKEW_MAX, fmin (SKEW_MAX, slope));
  self->skew += (self->has_skew ? SKEW_GAIN : 1.0) * (slope - self->skew);
  self->has_skew = true;
}

/* The highest line of this skew under all minima. */
static void
update_base (MccQueue *self, MccTime now)
{
  self->base_time = now;
  self->base = INT64_MAX;
  for (unsigned age = 0; age < self->count; age++) {
    unsigned b = slot (self, age);
    MccTimeDelta at_now
        = self->bucket[b].transit + skewed (self, (MccTimeDelta)(now - self->bucket[b].time));

    if (at_now < self->base)
      self->base = at_now;
  }
}

static void
open_bucket (MccQueue *self, MccTimeDelta transit, MccTime arrival)
{
  MccTime length = self->window / MCC_QUEUE_BUCKETS;

  /* On a grid from the first packet, so that a bucket is never longer than its share. */
  self->bucket_start = arrival - (arrival - self->start) % length;
  self->head = self->count ? (self->head + 1) % MCC_QUEUE_BUCKETS : 0;
  if (self->count < MCC_QUEUE_BUCKETS)
    self->count++;
  self->bucket[self->head].time = arrival;
  self->bucket[self->head].transit = transit;
  while (
      self->count > 1 && arrival - self->bucket[slot (self, self->count - 1)].time > self->window)
    self->count--;
  update_skew (self, arrival);
  update_base (self, arrival);
}

MccTime
mcc_queue_handle_packet (MccQueue *self, MccTimeDelta transit, MccTime arrival)
{
  assert (!self->started || arrival >= self->bucket_start);
  if (!self->started) {
    self->started = true;
    self->start = arrival;
    open_bucket (self, transit, arrival);
  } else if (arrival - self->bucket_start >= self->window / MCC_QUEUE_BUCKETS) {
    open_bucket (self, transit, arrival);
  } else {
    unsigned b = self->head;
    MccTimeDelta span = (MccTimeDelta)(arrival - self->bucket[b].time);

    if (transit - skewed (self, span) < self->bucket[b].transit) {
      self->bucket[b].time = arrival;
      self->bucket[b].transit = transit;
    }
  }
  if (transit < baseline (self, arrival)) {
    self->base = transit;
    self->base_time = arrival;
  }
  self->last = transit - baseline (self, arrival);
  if (self->last < 0) /* rounding */
    self->last = 0;
  return (MccTime)self->last;
}
