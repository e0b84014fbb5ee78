/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * vnet: a small multicast network in virtual time, for the core's tests.
 *
 * A core router with a tree of links below it; hosts hang on the lower ends of links (or on the
 * core). What a host sends climbs towards the core, each link's delay but no queue on the way, and
 * descends from every router that it passes. Every host has a clock of its own (epoch, drift). A
 * link has a rate, a delay, a drop-tail queue in bytes and packets, and random loss; all may change
 * while packets are in it. What a host sends goes to every other host, or to those that have joined
 * its group: a link carries a group while a host below it is a member, and for the leave latency
 * longer. Same seed, same run.
 */
#pragma once

#include <glib.h>

#include "mccasspapp.h"
#include "mccelmapp.h"
#include "mccrng.h"

#define VNET_CORE (-1)
#define VNET_GROUPS 16

typedef struct Vnet Vnet;

typedef enum { VNET_RTP, VNET_APP, VNET_FLOW, VNET_PLI, VNET_BYE } VnetKind;

typedef struct {
  VnetKind kind;
  int from;      /* host; for VNET_FLOW the flow */
  guint32 bytes; /* IP bytes */
  guint group;   /* 0: everybody; below VNET_GROUPS */
  MccAddress address;
  MccRtpPacket rtp; /* VNET_PLI: its ssrc is whose key unit is wanted; VNET_BYE: who leaves */
  bool key;         /* begins a picture that needs no other */
  MccApp *app;      /* VNET_APP, of ASMP */
  MccAsspApp *assp; /* ... of ASSP */
  MccElmApp *elm;   /* ... of ELM */
  /* ELM: packets sent so far in layers 0..k. */
  guint16 counts[MCC_ELM_LAYERS_MAX];
  unsigned layers;
} VnetPacket;

/* A host's machine. Times are of the host's own clock. */
typedef struct {
  void (*handle_packet) (gpointer owner, const VnetPacket *packet, MccTime now);
  void (*handle_timeout) (gpointer owner, MccTime now);
  MccTime (*next_timeout) (gpointer owner);
} VnetHandler;

/* What a link makes of ECN, but for marking where `mark_delay` says so. */
typedef enum { VNET_ECN_CARRIES, VNET_ECN_BLEACHES, VNET_ECN_MARKS_ALL, VNET_ECN_DROPS } VnetEcn;

typedef struct {
  guint64 rate_bps; /* 0 = infinite */
  MccTime delay;
  guint32 queue_bytes;   /* 0 = unlimited */
  guint32 queue_packets; /* 0 = unlimited */
  double loss_ratio;
  MccTime mark_delay; /* who would wait longer is marked, or dropped if not ECT; 0 = nobody */
  VnetEcn ecn;
} VnetLink;

typedef struct {
  guint64 packets, bytes; /* delivered */
  guint64 rtp_packets, rtp_bytes;
  guint64 app_bytes;     /* offered to the link */
  guint64 dropped, lost; /* queue; random */
  guint64 rtp_dropped;   /* RTP of both */
  guint64 marked;
  guint64 flow_bytes;
} VnetLinkStats;

Vnet *vnet_new (guint64 seed);
void vnet_free (Vnet *self);
int vnet_add_link (Vnet *self, int parent, const VnetLink *config);
/* @up_delay: what its own packets take in addition. */
int vnet_add_host (Vnet *self, int link, MccTime up_delay, MccTime epoch, double drift_ppm,
    const VnetHandler *handler, gpointer owner);
/* The host is gone: nothing is delivered, no time-out comes. */
void vnet_remove_host (Vnet *self, int host);
/* Membership of @group, 1 to VNET_GROUPS - 1. */
void vnet_join (Vnet *self, int host, guint group);
/* The host gets nothing more at once; the links above it prune after @latency. */
void vnet_leave (Vnet *self, int host, guint group, MccTime latency);
/* To every other host, or those in its group; takes a copy. */
void vnet_send (Vnet *self, int host, const VnetPacket *packet);
/* The host's next time-out may have changed for another reason than a call of its handler. */
void vnet_wake (Vnet *self, int host);
VnetLink *vnet_link (Vnet *self, int link); /* change at will; rate by vnet_set_rate */
void vnet_set_rate (Vnet *self, int link, guint64 rate_bps);
const VnetLinkStats *vnet_link_stats (Vnet *self, int link);
/* Time that a packet which enters the link now would wait. */
MccTime vnet_queue_delay (Vnet *self, int link);
MccRng *vnet_rng (Vnet *self);
/* Virtual time since vnet_new(). */
MccTime vnet_now (Vnet *self);
MccTime vnet_host_now (Vnet *self, int host);
void vnet_run (Vnet *self, MccTime until);

/* A competing AIMD flow (Reno-like: slow start, +1 packet/RTT, halved once per RTT with loss)
 * through @link; @rtt is its round trip without the link's own delay and queue. */
int vnet_add_flow (Vnet *self, int link, MccTime rtt, guint32 packet_bytes);
void vnet_stop_flow (Vnet *self, int flow);
guint64 vnet_flow_bytes (Vnet *self, int flow);
