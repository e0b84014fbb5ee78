/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * vnetelm: ELM senders and receivers of the core on a vnet.
 *
 * Frames of `fps` a second, layers in a dyadic pattern (the highest has every other one), each
 * frame sent at `pacing` x the rate of all layers; fps 0: each layer sends single packets at its
 * rate, spread by a quarter of their spacing. Layer k is group 1 + k.
 */
#pragma once

#include "mccelmreceiver.h"
#include "mccelmsender.h"
#include "vnet.h"

typedef struct {
  MccVariant variant;
  unsigned count;
  guint64 cumulative_bps[MCC_ELM_LAYERS_MAX];
  double fps, pacing;
  guint32 packet_bytes;
  MccTime epoch;
  MccElmWholeBounds whole; /* its encoder follows at once */
} VnetElmSenderConfig;

/* Four layers, each twice the rate of those below: 250 kb/s to 2 Mb/s. */
extern const VnetElmSenderConfig vnet_elm_sender_default;

typedef struct VnetElmSender VnetElmSender;
typedef struct VnetElmReceiver VnetElmReceiver;

VnetElmSender *vnet_elm_sender_new (
    Vnet *vnet, const VnetElmSenderConfig *config, MccTime up_delay);
void vnet_elm_sender_free (VnetElmSender *self);
MccElmSender *vnet_elm_sender_core (VnetElmSender *self);
guint64 vnet_elm_sender_sent_bytes (const VnetElmSender *self, unsigned layer);
MccTime vnet_elm_sender_now (const VnetElmSender *self);
guint64 vnet_elm_sender_rtcp_bytes (const VnetElmSender *self);
/* Layer @layer is announced, but no packet of it is sent; or again. */
void vnet_elm_sender_mute (VnetElmSender *self, unsigned layer, bool mute);
/* It sends nothing any more; with a BYE or without. */
void vnet_elm_sender_stop (VnetElmSender *self, bool bye);
/* Other layers. */
void vnet_elm_sender_set_layers (
    VnetElmSender *self, unsigned count, const guint64 *cumulative_bps);

typedef struct {
  MccTime time; /* vnet_now() */
  int from, level;
  MccElmReason reason;
  MccTime duration;
} VnetElmSwitch;

/* @leave: how long the network goes on sending what was left. */
VnetElmReceiver *vnet_elm_receiver_new (Vnet *vnet, int link, MccTime up_delay,
    const MccElmReceiverConfig *config, MccTime leave, MccTime epoch, double drift_ppm);
void vnet_elm_receiver_free (VnetElmReceiver *self);
MccElmReceiver *vnet_elm_receiver_core (VnetElmReceiver *self);
int vnet_elm_receiver_level (VnetElmReceiver *self);
const GArray *vnet_elm_receiver_switches (VnetElmReceiver *self); /* VnetElmSwitch */
/* Joins, by time (MccTime of vnet_now()), of any layer above the base. */
const GArray *vnet_elm_receiver_joins (VnetElmReceiver *self);
guint64 vnet_elm_receiver_bytes (const VnetElmReceiver *self);
/* Packets of the base layer that were sent since its first arrived, and that did not come. */
guint64 vnet_elm_receiver_base_expected (const VnetElmReceiver *self);
guint64 vnet_elm_receiver_base_lost (const VnetElmReceiver *self);
guint64 vnet_elm_receiver_rtcp_bytes (const VnetElmReceiver *self);
/* Time so far that each level was kept, ns. */
MccTime vnet_elm_receiver_time_at (const VnetElmReceiver *self, int level);
