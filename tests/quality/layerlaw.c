/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * layerlaw: what the picture-quality chain takes from the core of layers, for Python's ctypes: to
 * which layer a picture belongs, the order that its packets carry, and which of them leave a
 * receiver, as elmlayersink and elmlayersrc have it. Times in ns; a packet is known by its number.
 */
#include <stdlib.h>
#include <string.h>

#include "mcclayerclass.h"
#include "mcclayermerge.h"

#if defined(__GNUC__)
#define QUALITY_API __attribute__ ((visibility ("default")))
#else
#define QUALITY_API
#endif

#define CLOCK_RATE 90000u

typedef struct {
  MccLayerClass class;
  MccLayerOrder order; /* of the packet before */
  MccLayerPacket *packet;
  size_t count, room;
} QualityLayers;

QUALITY_API QualityLayers *quality_layers_new (uint32_t count);
QUALITY_API void quality_layers_free (QualityLayers *self);
QUALITY_API void quality_layers_payload (QualityLayers *self, const uint8_t *data, uint32_t size);
QUALITY_API uint32_t quality_layers_unit (QualityLayers *self);
QUALITY_API void quality_layers_packet (
    QualityLayers *self, uint32_t unit, int first, int marker, uint32_t bytes, uint32_t rtp_time);
QUALITY_API MccLayerMerge *quality_merge_new (uint32_t count, MccTime wait, MccTime now);
QUALITY_API void quality_merge_free (MccLayerMerge *self, MccTime now);
QUALITY_API void quality_merge_join (MccLayerMerge *self, uint32_t layer, MccTime now);
QUALITY_API void quality_merge_leave (MccLayerMerge *self, uint32_t layer, MccTime now);
QUALITY_API void quality_merge_handle (
    MccLayerMerge *self, const QualityLayers *layers, uint32_t number, MccTime now);
QUALITY_API MccTime quality_merge_next (const MccLayerMerge *self);
QUALITY_API void quality_merge_timeout (MccLayerMerge *self, MccTime now);
QUALITY_API int64_t quality_merge_poll (MccLayerMerge *self);

QualityLayers *
quality_layers_new (uint32_t count)
{
  QualityLayers *self = calloc (1, sizeof *self);

  if (!self)
    return NULL;
  mcc_layer_class_init (&self->class, MCC_LAYER_CODEC_H264, count);
  self->order.count = (uint8_t)count;
  return self;
}

void
quality_layers_free (QualityLayers *self)
{
  if (self)
    free (self->packet);
  free (self);
}

/* The next RTP payload of the present picture. */
void
quality_layers_payload (QualityLayers *self, const uint8_t *data, uint32_t size)
{
  mcc_layer_class_add (&self->class, data, size);
}

/* The picture is whole: its flags << 8 | its layer; UINT32_MAX: it cannot be read. */
uint32_t
quality_layers_unit (QualityLayers *self)
{
  MccLayerUnit unit = mcc_layer_class_end (&self->class);

  return unit.error == MCC_LAYER_GOOD ? (uint32_t)unit.flags << 8 | unit.layer : UINT32_MAX;
}

/* The next packet in the order of sending, of a picture as _unit() told; numbers begin with 0. */
void
quality_layers_packet (
    QualityLayers *self, uint32_t unit, int first, int marker, uint32_t bytes, uint32_t rtp_time)
{
  if (self->count == self->room) {
    size_t room = self->room ? 2 * self->room : 4096;
    MccLayerPacket *packet = realloc (self->packet, room * sizeof *packet);
    if (!packet)
      abort ();
    self->packet = packet;
    self->room = room;
  }
  self->order.layer = (uint8_t)(unit & 0xff);
  self->order.flags = (uint8_t)(unit >> 8) | (first ? MCC_LAYER_FIRST : 0);
  mcc_layer_order_next (&self->order);
  self->packet[self->count] = (MccLayerPacket){
    .order = self->order, .rtp_time = rtp_time, .bytes = bytes, .marker = marker != 0
  };
  self->count++;
}

MccLayerMerge *
quality_merge_new (uint32_t count, MccTime wait, MccTime now)
{
  MccLayerMerge *self = mcc_layer_merge_new (wait, 0);

  if (self)
    mcc_layer_merge_start (self, count, CLOCK_RATE, false, now);
  return self;
}

void
quality_merge_free (MccLayerMerge *self, MccTime now)
{
  if (!self)
    return;
  mcc_layer_merge_reset (self, now);
  while (quality_merge_poll (self) >= 0)
    ;
  mcc_layer_merge_free (self);
}

void
quality_merge_join (MccLayerMerge *self, uint32_t layer, MccTime now)
{
  mcc_layer_merge_join (self, layer, now);
}

void
quality_merge_leave (MccLayerMerge *self, uint32_t layer, MccTime now)
{
  mcc_layer_merge_leave (self, layer, now);
}

void
quality_merge_handle (
    MccLayerMerge *self, const QualityLayers *layers, uint32_t number, MccTime now)
{
  MccLayerPacket packet = layers->packet[number];

  packet.data = (void *)(uintptr_t)(number + 1);
  mcc_layer_merge_handle (self, &packet, now);
}

MccTime
quality_merge_next (const MccLayerMerge *self)
{
  return mcc_layer_merge_next_timeout (self);
}

void
quality_merge_timeout (MccLayerMerge *self, MccTime now)
{
  mcc_layer_merge_handle_timeout (self, now);
}

/* The number of the next packet that leaves, or -1. */
int64_t
quality_merge_poll (MccLayerMerge *self)
{
  MccLayerMergeAction action;

  while (mcc_layer_merge_poll (self, &action))
    if (action.type == MCC_LAYER_MERGE_EMIT)
      return (int64_t)(uintptr_t)action.data - 1;
  return -1;
}
