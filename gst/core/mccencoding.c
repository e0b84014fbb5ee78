/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mccencoding.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#define WINDOW (2 * MCC_SECOND)
#define HEADERS_AFTER (500 * MCC_MSECOND)
#define HEADERS_START 0.05 /* 1000-byte packets with 48 bytes of headers */
#define HEADERS_MAX 0.7    /* of the target */
#define CORRECTION_MIN 0.5
#define CORRECTION_MAX 1.1
#define CORRECTION_STEP 0.1       /* a second, at most */
#define CORRECTION_EASY_STEP 0.02 /* a second, upwards while the content is easy */
#define CORRECTION_TIME 1.0       /* s, smooths what frame sizes vary by */
#define CHANGE_AT_ONCE 0.02
#define CHANGE_INTERVAL (250 * MCC_MSECOND)
#define CHANGE_MIN 0.002 /* less is noise of the headers */

void
mcc_encoding_init (MccEncoding *self)
{
  memset (self, 0, sizeof *self);
  self->correction = 1.0;
  self->correction_time = self->counted = MCC_TIME_NONE;
  mcc_meter_init (&self->wire, WINDOW);
  mcc_meter_init (&self->payload, WINDOW);
  mcc_meter_init (&self->asked, WINDOW);
}

/* Sums up what was asked for since the last time. */
static void
count_asked (MccEncoding *self, MccTime now)
{
  if (self->counted == MCC_TIME_NONE || now <= self->counted)
    return;
  self->asked_bits += (double)self->asked_bps * mcc_time_to_seconds (now - self->counted);
  self->counted = now;
  /* What was asked for before the window is no part of it: a pause leaves no heap behind it. */
  self->asked_bits
      = fmin (self->asked_bits, (double)self->asked_bps * mcc_time_to_seconds (WINDOW));
}

void
mcc_encoding_handle_packet (
    MccEncoding *self, uint32_t wire_bytes, uint32_t payload_bytes, MccTime now)
{
  if (self->counted == MCC_TIME_NONE && self->asked_bps > 0)
    self->counted = now;
  count_asked (self, now);
  /* The first frame was asked for in a time that is not known. */
  if (self->asked.first == MCC_TIME_NONE && self->asked_bits < 8.0)
    return;
  mcc_meter_add (&self->wire, wire_bytes, now);
  mcc_meter_add (&self->payload, payload_bytes, now);
  if (wire_bytes > self->full_bytes) {
    self->full_bytes = wire_bytes;
    self->full_headers = wire_bytes - payload_bytes;
  }
  /* Only now, so that a frame and what it was asked for are always in the window together. */
  uint32_t bytes = (uint32_t)fmin (self->asked_bits / 8.0, UINT32_MAX);
  mcc_meter_add (&self->asked, bytes, now);
  self->asked_bits -= 8.0 * bytes;
}

static void
update_headers (MccEncoding *self, MccTime now)
{
  double wire = (double)mcc_meter_rate_bps (&self->wire, WINDOW, now);
  double payload = (double)mcc_meter_rate_bps (&self->payload, WINDOW, now);

  if (wire <= 0.0 || payload <= 0.0 || now < self->payload.first + HEADERS_AFTER)
    return;
  self->wire_bps = wire;
  self->headers_bps = fmax (wire - payload, 0.0);
}

/* What of a wire rate of @target_bps would be headers. */
static double
headers_of (const MccEncoding *self, double target_bps)
{
  double headers = HEADERS_START * target_bps;

  if (self->wire_bps > 0.0 && target_bps <= self->wire_bps)
    headers = self->headers_bps * target_bps / self->wire_bps;
  else if (self->wire_bps > 0.0)
    headers
        = self->headers_bps + (target_bps - self->wire_bps) * self->full_headers / self->full_bytes;
  return fmin (headers, HEADERS_MAX * target_bps);
}

static void
update_correction (MccEncoding *self, MccTime now)
{
  MccTime last = self->correction_time;

  self->correction_time = now;
  if (self->asked.first == MCC_TIME_NONE || now < self->asked.first + WINDOW || now <= last)
    return;
  double asked = (double)mcc_meter_rate_bps (&self->asked, WINDOW, now);
  double produced = (double)mcc_meter_rate_bps (&self->payload, WINDOW, now);
  if (asked <= 0.0)
    return;

  double dt = fmin (mcc_time_to_seconds (now - last), 1.0);
  bool easy = produced * CORRECTION_MAX < asked;
  double aim = easy ? 1.0 : fmax (CORRECTION_MIN, asked / produced);
  double up = (easy ? CORRECTION_EASY_STEP : CORRECTION_STEP) * dt;
  double step = (aim - self->correction) * fmin (dt / CORRECTION_TIME, 1.0);

  self->correction += fmax (-CORRECTION_STEP * dt, fmin (step, up));
}

bool
mcc_encoding_update (
    MccEncoding *self, uint64_t target_bps, double pressure, MccTime now, uint64_t *out_bps)
{
  assert (pressure > 0.0 && pressure <= 1.0);
  bool fell = target_bps < self->target_bps;

  count_asked (self, now);
  update_headers (self, now);
  update_correction (self, now);
  self->target_bps = target_bps;

  double target = (double)target_bps;
  double wanted = pressure * (target - headers_of (self, target)) * self->correction;
  double asked = (double)self->asked_bps;
  double change = fabs (wanted - asked);

  if (wanted < 1.0 || (asked > 0.0 && !fell && change < CHANGE_MIN * asked))
    return false;
  if (asked > 0.0 && !fell && change < CHANGE_AT_ONCE * asked
      && now < self->asked_time + CHANGE_INTERVAL)
    return false;
  self->asked_bps = (uint64_t)wanted;
  self->asked_time = now;
  *out_bps = self->asked_bps;
  return true;
}
