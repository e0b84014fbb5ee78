/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * vnetassp: ASSP senders and receivers of the core on a vnet.
 *
 * Each stream has an encoder that takes a new target after `lag`, makes `fps` frames a second, the
 * first and those asked for as key frames, and spreads each at `pacing` x target. A receiver shows
 * a stream from the first packet of a key frame on; stream k is group 1 + k.
 */
#pragma once

#include "mccasspreceiver.h"
#include "mccasspsender.h"
#include "vnet.h"

typedef struct {
  MccVariant variant;
  unsigned count;
  struct {
    guint64 low_bps, high_bps;
  } bounds[MCC_ASSP_STREAMS_MAX];
  MccTime lag;
  double fps, pacing;
  guint32 packet_bytes;
  unsigned max_streams; /* 0: the ladder stays; else live */
  bool idle;            /* an encoder without receivers stops */
  MccTime epoch;
} VnetAsspSenderConfig;

/* The papers' three streams. */
extern const VnetAsspSenderConfig vnet_assp_sender_default;

typedef struct VnetAsspSender VnetAsspSender;
typedef struct VnetAsspReceiver VnetAsspReceiver;

VnetAsspSender *vnet_assp_sender_new (
    Vnet *vnet, const VnetAsspSenderConfig *config, MccTime up_delay);
void vnet_assp_sender_free (VnetAsspSender *self);
MccAsspSender *vnet_assp_sender_core (VnetAsspSender *self);
guint64 vnet_assp_sender_target (const VnetAsspSender *self, unsigned stream);
guint64 vnet_assp_sender_sent_bytes (const VnetAsspSender *self, unsigned stream);
guint64 vnet_assp_sender_rtcp_bytes (const VnetAsspSender *self);
bool vnet_assp_sender_running (const VnetAsspSender *self, unsigned stream);
/* The encoder of @stream breaks: no media, whatever is asked. */
void vnet_assp_sender_break (VnetAsspSender *self, unsigned stream);

typedef struct {
  MccTime time; /* vnet_now() */
  unsigned from, stream;
  MccAsspReason reason;
  MccTime duration;
} VnetAsspSwitch;

/* @leave: how long the network goes on sending what was left. */
VnetAsspReceiver *vnet_assp_receiver_new (Vnet *vnet, int link, MccTime up_delay,
    const MccAsspReceiverConfig *config, MccTime leave, MccTime epoch, double drift_ppm);
void vnet_assp_receiver_free (VnetAsspReceiver *self);
MccAsspReceiver *vnet_assp_receiver_core (VnetAsspReceiver *self);
unsigned vnet_assp_receiver_stream (VnetAsspReceiver *self);
const GArray *vnet_assp_receiver_switches (VnetAsspReceiver *self); /* VnetAsspSwitch */
guint64 vnet_assp_receiver_shown_bytes (const VnetAsspReceiver *self);
/* RTP of the stream shown that was lost, and that came. */
guint64 vnet_assp_receiver_lost (VnetAsspReceiver *self);
guint64 vnet_assp_receiver_rtcp_bytes (const VnetAsspReceiver *self);
