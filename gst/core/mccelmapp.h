/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * mccelmapp: codec of ELM's RTCP APP packets, name "ELM ". The layout, byte by byte, is
 * docs/wire-format.md.
 *
 * Reports, RTT lists and announcements are ASMP's (mccapp.h); two bytes that are reserved in a
 * report say at which level the receiver is. The fourth kind describes the layers. The laws are
 * mccapp.h's.
 */
#pragma once

#include "mccapp.h"
#include "mccelmlayers.h"

#define MCC_ELM_NAME "ELM "
#define MCC_ELM_LAYERS 4 /* subtype: sender -> group, all layers */

/* MccElmApp.flags of a report: what the receiver does with the layer `wanted`. */
#define MCC_ELM_JOINING 0x01u /* has just joined it, to see whether it can bear it */
#define MCC_ELM_DROPPED 0x02u /* has just left it: too much */
#define MCC_ELM_FAILED 0x04u  /* with DROPPED: it was joined lately, that was the failure */

typedef struct {
  uint32_t ssrc; /* of the APP packet */
  unsigned subtype;
  /* Report only. */
  unsigned level;  /* 0..MCC_ELM_LAYERS_MAX - 1 */
  unsigned wanted; /* the layer that the flags are about, else = level */
  uint32_t flags;  /* 8 bits */
  union {
    MccApp asmp; /* subtypes 1 to 3; its ssrc and subtype are the same */
    MccElmLayers layers;
  };
} MccElmApp;

/* Decodes one whole APP packet; see mcc_app_decode(). */
MccDrop mcc_elm_app_decode (const uint8_t *data, size_t size, MccElmApp *out);
/* Bytes that encoding needs, a multiple of 4; 0 when it cannot be encoded. */
size_t mcc_elm_app_size (const MccElmApp *app);
/* Writes the packet; returns its bytes, 0 when @size is too small or a field is out of range. */
size_t mcc_elm_app_encode (const MccElmApp *app, uint8_t *data, size_t size);
