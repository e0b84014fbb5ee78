/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * mcclayerclass: the layer of an access unit, read from its RTP payloads, and what the unit needs.
 *
 * | encoding        | layer                                 | key              | sync by itself |
 * |-----------------|---------------------------------------|------------------|----------------|
 * | H.264, RFC 6184 | a slice is I or P: 0; B, nal_ref_idc  | IDR              | -              |
 * |                 | > 0: 1; = 0: 2                        |                  |                |
 * | VP8, RFC 7741   | TID (no TID: 0)                       | P = 0            | Y              |
 * | H.265, RFC 7798 | TemporalId                            | IRAP             | TSA, STSA      |
 * | VP9, RFC 9628   | 0                                     | P = 0 with B = 1 | -              |
 * | other           | 0                                     | each unit        | each unit      |
 *
 * The H.264 rule is that of a strict B pyramid: a P picture never needs a B picture, and no B
 * picture one of before the last P or I, so that each unit of layer 0 is CLEAN. Of VP8, H.265 and
 * VP9 only key units are. Units of others say nothing of what they need: a loss is the decoder's. A
 * unit is SYNC also when no unit of its layer that others may need has come since the last CLEAN
 * one. Where there are fewer layers than the encoding has, the highest takes the rest.
 *
 * It is the whole unit that is classified: parameter sets, delimiters and SEI before its slices
 * have no layer. Sizes are checked to the byte; what is not as long as it says is MALFORMED.
 */
#pragma once

#include "mcclayerorder.h"

typedef enum {
  MCC_LAYER_CODEC_OTHER,
  MCC_LAYER_CODEC_H264,
  MCC_LAYER_CODEC_VP8,
  MCC_LAYER_CODEC_H265,
  MCC_LAYER_CODEC_VP9
} MccLayerCodec;

typedef enum {
  MCC_LAYER_GOOD,
  MCC_LAYER_MALFORMED,   /* lengths, reserved values */
  MCC_LAYER_UNSUPPORTED, /* a packet form that is never used with layers: interleaved, PACI */
  MCC_LAYER_MIXED        /* packets of one unit say different layers */
} MccLayerError;

/* What one payload says. */
typedef struct {
  bool slice; /* the layer and what is below are said */
  uint8_t layer;
  bool key, sync, leading;
  bool needed; /* units of its layer may need it */
} MccLayerSlice;

typedef struct {
  MccLayerCodec codec;
  unsigned count;                          /* layers to sort into */
  bool needed[MCC_LAYER_ORDER_LAYERS_MAX]; /* a unit since the last CLEAN one, by its layer */
  bool folded;                             /* the encoding has more layers */
  /* Of the unit that is being read. */
  MccLayerSlice unit;
  MccLayerError error;
} MccLayerClass;

typedef struct {
  uint8_t layer;    /* < count */
  uint8_t encoding; /* the layer that the encoding says; more than `layer`: there are too few */
  uint8_t flags;    /* MccLayerFlags, without FIRST */
  MccLayerError error;
} MccLayerUnit;

/* @count: 1 to MCC_LAYER_ORDER_LAYERS_MAX. */
void mcc_layer_class_init (MccLayerClass *self, MccLayerCodec codec, unsigned count);
/* The next payload (behind the RTP header) of the present unit. */
void mcc_layer_class_add (MccLayerClass *self, const uint8_t *payload, size_t size);
/* The unit is whole. One with an error, or without a slice, is of layer 0 and needs what is before
 * it: everybody gets it, nobody begins with it. */
MccLayerUnit mcc_layer_class_end (MccLayerClass *self);

/* One payload each; *out is written only on GOOD. */
MccLayerError mcc_layer_h264 (const uint8_t *payload, size_t size, MccLayerSlice *out);
MccLayerError mcc_layer_vp8 (const uint8_t *payload, size_t size, MccLayerSlice *out);
MccLayerError mcc_layer_h265 (const uint8_t *payload, size_t size, MccLayerSlice *out);
MccLayerError mcc_layer_vp9 (const uint8_t *payload, size_t size, MccLayerSlice *out);
