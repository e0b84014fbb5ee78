/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * assppeer: a receiver of ASSP in the hands of a test, on the loopback interface. It is in the RTCP
 * group and in the groups of all streams at once, hears what asspsimulcastbin sends there, and says
 * what the test wants.
 */
#pragma once

#include <gio/gio.h>
#include <gst/gst.h>

#include "mccasspapp.h"

#define ASSP_PEER_STREAMS 3
#define ASSP_PEER_TIMES 64

typedef struct {
  GSocket *rtp;
  guint64 packets, bytes;
  guint64 together; /* that left the pacer with the one before */
  guint32 send_time;
  guint gaps, unstamped;
  guint16 seq;
  guint32 ssrc;
  gint64 last_us;
  guint32 time[ASSP_PEER_TIMES]; /* RTP times of the newest frames */
  guint frames, key_units;       /* key units: H.264 only */
  guint32 key_time;              /* of the newest one: it may have several slices */
  guint sessions, renames;       /* renames: of another SSRC than the one before */
  MccAppSession session;         /* newest announcement */
  guint reports;                 /* sender reports */
  guint32 sr_rtp_time;
  guint byes;
} AsspPeerStream;

typedef struct {
  gchar group[32];
  guint16 port;
  GSocket *rtcp;          /* in the group */
  GSocket *out;           /* what we say comes from here */
  GSocketAddress *sender; /* where the sender's RTCP comes from; NULL = not heard yet */
  guint32 ssrc;           /* ours */
  guint32 number;         /* of our next report */
  guint64 potential_bps;  /* what it says of that; 0 = not known */
  AsspPeerStream stream[ASSP_PEER_STREAMS];
  guint descriptions;
  MccAsspStreams streams; /* newest */
  guint rtts, others;     /* RTT lists; RTCP of unknown SSRCs */
  gchar cname[64];        /* of the sender */
  guint cnames;           /* how many differed */
} AsspPeer;

/* In groups of this process's own. */
void assp_peer_init (AsspPeer *self, guint32 ssrc);
void assp_peer_clear (AsspPeer *self);
/* Takes what has come, for @ms. */
void assp_peer_run (AsspPeer *self, guint ms);
/* One report in @stream with @flags besides RTT_MEASURED. */
void assp_peer_report (AsspPeer *self, guint stream, guint64 rate_bps, guint32 flags);
/* PLI for @stream, with an RR. */
void assp_peer_pli (AsspPeer *self, guint stream);
void assp_peer_bye (AsspPeer *self);
