/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * law: what the picture-quality chain takes from the core, for Python's ctypes: the encoder's
 * bitrate, the pacer, a stream's picture, when a receiver asks for a key unit, and when the sender
 * makes one. One sender, one stream, one receiver, as asmpsink and asmpsrc put them together. Times
 * in ns.
 */
#include <stdlib.h>

#include "mccencoding.h"
#include "mcckeyunit.h"
#include "mcckeywait.h"
#include "mccpacer.h"
#include "mccpicture.h"

#if defined(__GNUC__)
#define QUALITY_API __attribute__ ((visibility ("default")))
#else
#define QUALITY_API
#endif

typedef struct {
  MccEncoding encoding;
  MccPacer *pacer;
  uint64_t target_bps;
} QualitySender;

typedef struct {
  MccKeyWait wait; /* the receiver's */
  MccKeyUnit unit; /* the sender's */
  MccTime rtt;
} QualityKeys;

QUALITY_API void quality_picture (uint32_t width, uint32_t height, uint32_t fps, uint64_t low_bps,
    uint64_t high_bps, uint32_t *out);
QUALITY_API QualitySender *quality_sender_new (void);
QUALITY_API void quality_sender_free (QualitySender *self);
QUALITY_API uint64_t quality_sender_ask (QualitySender *self, uint64_t target_bps, MccTime now);
QUALITY_API void quality_sender_packet (
    QualitySender *self, uint32_t wire_bytes, uint32_t payload_bytes, MccTime now);
QUALITY_API MccTime quality_sender_next (const QualitySender *self);
QUALITY_API uint32_t quality_sender_release (QualitySender *self, MccTime now);
QUALITY_API QualityKeys *quality_keys_new (MccTime rtt, MccTime now);
QUALITY_API void quality_keys_free (QualityKeys *self);
QUALITY_API void quality_keys_lost (QualityKeys *self, MccTime now);
QUALITY_API void quality_keys_got (QualityKeys *self);
QUALITY_API int quality_keys_request (QualityKeys *self, MccTime now);
QUALITY_API void quality_keys_requested (QualityKeys *self, MccTime now);
QUALITY_API void quality_keys_made (QualityKeys *self, MccTime now);
QUALITY_API int quality_keys_make (QualityKeys *self, MccTime now);

/* @out: width, height, one frame of so many. */
void
quality_picture (uint32_t width, uint32_t height, uint32_t fps, uint64_t low_bps, uint64_t high_bps,
    uint32_t *out)
{
  MccPicture picture = mcc_picture_choose (width, height, fps, 1, low_bps, high_bps);

  out[0] = picture.width;
  out[1] = picture.height;
  out[2] = picture.every;
}

QualitySender *
quality_sender_new (void)
{
  QualitySender *self = calloc (1, sizeof *self);

  if (!self)
    return NULL;
  mcc_encoding_init (&self->encoding);
  self->pacer = mcc_pacer_new (&mcc_pacer_config_default);
  if (!self->pacer) {
    free (self);
    return NULL;
  }
  return self;
}

void
quality_sender_free (QualitySender *self)
{
  if (self)
    mcc_pacer_free (self->pacer);
  free (self);
}

/* The bitrate that the encoder should get now; 0: as it was. */
uint64_t
quality_sender_ask (QualitySender *self, uint64_t target_bps, MccTime now)
{
  uint64_t bps = 0;

  if (target_bps != self->target_bps)
    mcc_pacer_set_target (self->pacer, target_bps);
  self->target_bps = target_bps;
  if (!mcc_encoding_update (
          &self->encoding, target_bps, mcc_pacer_pressure (self->pacer, now), now, &bps))
    return 0;
  return bps;
}

void
quality_sender_packet (
    QualitySender *self, uint32_t wire_bytes, uint32_t payload_bytes, MccTime now)
{
  mcc_encoding_handle_packet (&self->encoding, wire_bytes, payload_bytes, now);
  mcc_pacer_enqueue (self->pacer, 1, wire_bytes, now);
}

/* UINT64_MAX: nothing is queued. */
MccTime
quality_sender_next (const QualitySender *self)
{
  return mcc_pacer_next_timeout (self->pacer);
}

uint32_t
quality_sender_release (QualitySender *self, MccTime now)
{
  return mcc_pacer_release (self->pacer, now);
}

QualityKeys *
quality_keys_new (MccTime rtt, MccTime now)
{
  QualityKeys *self = calloc (1, sizeof *self);

  if (!self)
    return NULL;
  mcc_key_wait_init (&self->wait);
  mcc_key_unit_init (&self->unit);
  mcc_key_wait_follow (&self->wait, now);
  self->rtt = rtt;
  return self;
}

void
quality_keys_free (QualityKeys *self)
{
  free (self);
}

/* The receiver misses a packet. */
void
quality_keys_lost (QualityKeys *self, MccTime now)
{
  if (mcc_key_wait_loss_counts (&self->wait, now))
    mcc_key_wait_want (&self->wait, true, now);
}

/* A key unit has come. */
void
quality_keys_got (QualityKeys *self)
{
  mcc_key_wait_got (&self->wait);
}

/* Whether the receiver asks for a key unit now. */
int
quality_keys_request (QualityKeys *self, MccTime now)
{
  return mcc_key_wait_take (&self->wait, self->rtt, now);
}

/* The request is at the sender. */
void
quality_keys_requested (QualityKeys *self, MccTime now)
{
  mcc_key_unit_request (&self->unit, self->rtt, now);
}

/* One was made for another reason: it answers who asks just now. */
void
quality_keys_made (QualityKeys *self, MccTime now)
{
  self->unit.last = now;
  self->unit.wanted = false;
}

/* Whether the sender makes a key unit now. */
int
quality_keys_make (QualityKeys *self, MccTime now)
{
  return mcc_key_unit_take (&self->unit, self->rtt, now);
}
