/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * asmppeer: a receiver of ASMP on 127.0.0.1 in the hands of a test. It hears what asmpsink sends to
 * it by unicast, and says what the test wants.
 */
#pragma once

#include <gio/gio.h>
#include <gst/gst.h>

#include "mccapp.h"

typedef struct {
  GSocket *rtp, *rtcp;
  guint16 port;           /* of RTP; RTCP is + 1 */
  GSocketAddress *sender; /* where the sender's RTCP comes from; NULL = not heard yet */
  guint32 ssrc;           /* ours */
  guint32 number;         /* of our next report */
  guint ecn;              /* MccReportEcn of our reports */
  gboolean blind;         /* our compounds name no media's SSRC */

  guint64 packets, bytes; /* RTP */
  guint64 largest;        /* RTP packet */
  guint64 together;       /* that left the pacer with the one before */
  guint gaps, unstamped;  /* sequence, abs-send-time of the announced id (or 14) */
  guint16 seq;            /* newest */
  guint32 media_ssrc;
  guint8 tos, rtcp_tos; /* of the newest packet: DSCP and ECN bits */
  gint64 last_rtp_us;   /* monotonic; 0 = none */
  guint32 send_time;    /* newest */
  gint64 send_time_us;  /* its arrival */

  guint sessions, rtts, srs, byes, reports_sent;
  guint32 sr_packets;    /* the sender's packet count (RFC 3550 6.4.1), the highest: rtpsession has
                            SRs, too */
  guint renames;         /* announcements of another SSRC than the one before */
  MccAppSession session; /* newest */
  MccAppRttList rtt;
  gint64 bye_us;
} AsmpPeer;

/* On a free even port. */
void asmp_peer_init (AsmpPeer *self, guint32 ssrc);
void asmp_peer_clear (AsmpPeer *self);
/* Takes what has come, for @ms. */
void asmp_peer_run (AsmpPeer *self, guint ms);
/* One report of @rate_bps with @flags besides ECHO and RTT_MEASURED. */
void asmp_peer_report (AsmpPeer *self, guint64 rate_bps, guint32 flags);
/* PLI for the sender's stream, with an RR. */
void asmp_peer_pli (AsmpPeer *self);
void asmp_peer_bye (AsmpPeer *self);
