/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * vnetasmp: ASMP senders and receivers of the core on a vnet.
 *
 * The sender has an encoder that takes a new target after `lag`, makes `fps` frames a second whose
 * sizes vary, and a pacer that spreads each frame at `pacing` x target. `scene` scales what the
 * encoder makes of its target: 0.2 is easy content.
 */
#pragma once

#include "mccasmpreceiver.h"
#include "mccasmpsender.h"
#include "vnet.h"

typedef struct {
  MccVariant variant;
  guint64 min_bps, max_bps, start_bps;
  MccTime lag;          /* encoder */
  double fps;           /* 0: CBR, a packet at a time */
  double noise;         /* frame sizes: uniform in 1 +- noise */
  double key_factor;    /* size of a key frame; 0 = none */
  unsigned key_frames;  /* every so many */
  double pacing;        /* 1.5 */
  guint32 packet_bytes; /* IP bytes at most */
  MccTime epoch;
  double drift_ppm;
  bool ecn;
  guint32 srtcp_bytes; /* with a key: its part of each compound */
} VnetSenderConfig;

extern const VnetSenderConfig vnet_sender_default;

typedef struct VnetSender VnetSender;
typedef struct VnetReceiver VnetReceiver;

VnetSender *vnet_sender_new (Vnet *vnet, const VnetSenderConfig *config, MccTime up_delay);
void vnet_sender_free (VnetSender *self);
void vnet_sender_set_scene (VnetSender *self, double scene);
/* Stops or resumes the media; announcements go on. */
void vnet_sender_set_playing (VnetSender *self, bool playing);
guint64 vnet_sender_target (const VnetSender *self);
/* Of @from_s to @to_s, ten times a second, which this runs; @lowest may be NULL. */
double vnet_sender_mean_target (
    VnetSender *self, Vnet *vnet, guint from_s, guint to_s, double *lowest);
guint64 vnet_sender_sent_bytes (const VnetSender *self);
guint64 vnet_sender_rtcp_bytes (const VnetSender *self);
guint64 vnet_sender_reports (const VnetSender *self);
/* Two packets that left together while that was asked for. */
guint64 vnet_sender_pairs (const VnetSender *self);
MccAsmpSender *vnet_sender_core (VnetSender *self);
guint32 vnet_sender_ssrc (const VnetSender *self);

/* A receiver on @link that joins now. @config NULL: enhanced, hears the group. */
VnetReceiver *vnet_receiver_new (Vnet *vnet, int link, MccTime up_delay,
    const MccAsmpReceiverConfig *config, MccTime epoch, double drift_ppm);
void vnet_receiver_free (VnetReceiver *self);
/* No packet and no report any more, without a word. */
void vnet_receiver_crash (VnetReceiver *self);
/* Why it wants to leave; the host's owner lets it crash. */
MccBreakerVerdict vnet_receiver_ceased (const VnetReceiver *self);
MccAsmpReceiver *vnet_receiver_core (VnetReceiver *self);
void vnet_receiver_get_stats (VnetReceiver *self, MccAsmpReceiverStats *out);
guint64 vnet_receiver_rtcp_bytes (const VnetReceiver *self);
