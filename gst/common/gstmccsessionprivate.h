/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What gstmccsession.c (both directions), gstmccsessionsender.c and gstmccsessionreceiver.c share.
 */
#pragma once

#include <gst/net/gstnetaddressmeta.h>

#include "gstmcccompound.h"
#include "gstmcclayers.h"
#include "gstmccmerge.h"
#include "gstmccoutlet.h"
#include "gstmccreader.h"
#include "gstmccscreen.h"
#include "gstmccsession.h"
#include "gstmccsockets.h"
#include "gstmccsource.h"
#include "gstmccsrtp.h"
#include "gstmccstats.h"
#include "mccstall.h"

G_BEGIN_DECLS

/* One RTP session of rtpbin. A sender has one a stream, a receiver has one. */
typedef struct {
  GstMccSession *session;
  guint number;
  /* Made by _open(), unmade by _close(); constant between. */
  GObject *rtp_session;
  GstPad *recv_rtcp, *send_rtcp;
  GstPad *rtcp_in, *rtcp_out; /* ours */
  /* sender */
  GstElement *udp;
  GstPad *rtp_pad; /* of rtpbin */
  gulong probe;

  /* Guarded by the session's lock. */
  gboolean bye_sent, app_sent;
  gboolean rtcp_sent; /* since _start() */
  guint32 ssrc;       /* of our RTCP */
  guint32 told_ssrc;  /* to the owner, 0 = none yet */
  /* sender */
  guint32 media_ssrc; /* of the RTP that goes out, 0 = none yet */
  GstSegment segment;
  guint clock_rate;
  guint32 rtp_time;
  GstClockTime rtp_running_time;
  guint64 packets, octets;
  guint32 counted_ssrc; /* of sender reports, whose counts begin with it (RFC 3550 6.4.1) ... */
  guint64 packets_before, octets_before; /* ... .packets, .octets then */
  guint32 refused;       /* SSRC of RTP that cannot be encrypted, since the last one that can */
  MccTime ssrc_asked_at; /* another one of rtpsession */
} GstMccStream;

struct _GstMccSession {
  gboolean sender;
  GstBin *bin; /* no ref: it owns us */
  GstMccSessionHandler handler;
  gpointer owner;

  /* Made by _open(), unmade by _close(); constant between. */
  GstMccSockets sockets;
  gchar *cname;
  guint64 session_bandwidth;
  GstElement *rtpbin;
  GstElement *udp; /* receiver: where its RTP comes from */
  GstPad *rtp_pad; /* receiver: of rtpbin */
  GstMccStream stream[GST_MCC_STREAMS_MAX];
  guint n_streams;
  GstMccSrtp *srtp;     /* NULL: plain RTP. Unset with the lock */
  GstMccReader *reader; /* between _start() and _stop() */
  GstMccScreen *screen; /* of the reader's thread alone */
  GstMccSource *source; /* receiver: .udp */
  GstMccMerge *merge;   /* receiver of streams */
  GstMccLayers *layers; /* receiver of layers */
  GstMccOutlet *outlet;

  /* Guards what follows; a leaf, never held over a call out. */
  GMutex lock;
  gboolean active;
  GSocketAddress *destination;
  gboolean join_failed; /* and was told */
  MccAddress learned;
  /* sender */
  gboolean route_lost;
  gboolean payload_told; /* receiver: RTP comes that the caps are not of */
  MccTime route_warning, route_sought;
  gboolean told_unprotected; /* since _start() */
  /* receiver */
  guint32 source_ssrc;
  MccAddress source_address;
  MccAddress host; /* of streams or layers: where their sender was described; family 0: nowhere */
  MccTime host_heard;
  gboolean source_lost; /* it may be back with another address */
  gboolean source_gone; /* ... or another one in its place, for all we know */
  GstMccReception reception;
  GstCaps *caps;
  /* receiver of streams, layers */
  struct {
    GSocket *socket; /* NULL: not joined */
    gboolean leaving;
    GstCaps *caps;
  } joined[GST_MCC_STREAMS_MAX];
};

MccTime gst_mcc_session_clock (void);
/* In the bin; NULL: missing, which is posted and in @error. */
GstElement *gst_mcc_session_make_element (
    GstMccSession *self, const gchar *factory, GError **error);
/* Called with the lock. */
void gst_mcc_session_set_destination_locked (GstMccSession *self, const MccAddress *address);

/* Warns of the first @error (its transfer) since all could be joined; NULL: they could. */
void gst_mcc_session_tell_joined (GstMccSession *self, GError *error);

/* rtpsession may have chosen another SSRC (collision, caps): follow it. */
void gst_mcc_session_refresh_ssrc (GstMccStream *stream);

gboolean gst_mcc_session_open_sender (GstMccSession *self, const GstMccSessionSettings *settings,
    const MccPlace *places, GError **error);
void gst_mcc_session_close_sender (GstMccSession *self);
/* The stream's time now, as rtpsession's own sender reports have it; FALSE: nothing was sent yet.
 * Called with the lock. */
gboolean gst_mcc_session_get_sender_info_locked (
    GstMccStream *stream, GstClockTime running_time, GstMccSenderInfo *out);

/* gstmccsessionsrtp.c: what is done where there are keys. */
gboolean gst_mcc_session_open_srtp (
    GstMccSession *self, const GstMccSessionSettings *settings, GError **error);
void gst_mcc_session_close_srtp (GstMccSession *self);
/* Sender: what arrives at @pad leaves it encrypted. A payloader that begins anew at numbers which
 * were used under its SSRC gets another one. */
void gst_mcc_session_protect_rtp (GstMccStream *stream, GstPad *pad);
/* FALSE: it is dropped and counted. Without keys all is as it comes. @from: of RTCP. */
gboolean gst_mcc_session_unprotect (
    GstMccSession *self, gboolean rtcp, guint8 *data, gsize *size, const MccAddress *from);
/* Of the sender's streams, from SRTCP. While one is followed, from its host alone. */
void gst_mcc_session_handle_indexes (
    GstMccSession *self, const MccIndexApp *app, const MccAddress *from);

gboolean gst_mcc_session_open_receiver (
    GstMccSession *self, const GstMccSessionSettings *settings, GError **error);
/* Whom we follow, 0: nobody; *lost: it may be back elsewhere (gstmccscreen.h). */
guint32 gst_mcc_session_get_followed (GstMccSession *self, MccAddress *host, gboolean *lost);
/* A unicast receiver answers where the sender's RTCP comes from. */
void gst_mcc_session_learn_destination (
    GstMccSession *self, const guint8 *data, gsize size, const MccAddress *from);
/* See gst_mcc_merge_map_rtcp(). */
gsize gst_mcc_session_map_rtcp (GstMccSession *self, guint8 *data, gsize size);
void gst_mcc_session_start_receiver (GstMccSession *self);
void gst_mcc_session_stop_receiver (GstMccSession *self);
void gst_mcc_session_close_receiver (GstMccSession *self);

GST_DEBUG_CATEGORY_EXTERN (gst_mcc_session_debug);

G_END_DECLS
