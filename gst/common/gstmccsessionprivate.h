/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What gstmccsession.c (both directions) and gstmccsessionreceiver.c share.
 */
#pragma once

#include <gst/net/gstnetaddressmeta.h>

#include "gstmcccompound.h"
#include "gstmccoutlet.h"
#include "gstmccreader.h"
#include "gstmccscreen.h"
#include "gstmccsession.h"
#include "gstmccsockets.h"
#include "gstmccsource.h"
#include "gstmccstats.h"
#include "mccstall.h"

G_BEGIN_DECLS

struct _GstMccSession {
  gboolean sender;
  GstBin *bin; /* no ref: it owns us */
  GstMccSessionHandler handler;
  gpointer owner;

  /* Made by _open(), unmade by _close(); constant between. */
  GstMccSockets sockets;
  gchar *cname;
  guint64 session_bandwidth;
  GstElement *rtpbin, *udp;
  GObject *rtp_session;
  GstPad *rtp_pad; /* of rtpbin: sender's way in, receiver's RTP */
  GstPad *recv_rtcp, *send_rtcp;
  GstPad *rtcp_in, *rtcp_out; /* ours */
  gulong probe;
  GstMccReader *reader; /* between _start() and _stop() */
  GstMccScreen *screen; /* of the reader's thread alone */
  GstMccSource *source; /* receiver: .udp */
  GstMccOutlet *outlet;

  /* Of the source's thread alone. */
  MccTime drops_checked;
  guint32 drops;
  MccStall stall;

  /* Guards what follows; a leaf, never held over a call out. */
  GMutex lock;
  gboolean active, bye_sent;
  guint32 ssrc;       /* of our RTCP */
  guint32 media_ssrc; /* sender: of the RTP that goes out, 0 = none yet */
  GSocketAddress *destination;
  MccAddress learned;
  /* sender */
  GstSegment segment;
  guint clock_rate;
  guint32 rtp_time;
  GstClockTime rtp_running_time;
  guint64 packets, octets;
  gboolean route_lost;
  MccTime route_warning;
  /* receiver */
  guint32 source_ssrc;
  MccAddress source_address;
  GstMccReception reception;
  GstCaps *caps;
};

MccTime gst_mcc_session_clock (void);
/* In the bin; NULL: missing, which is posted and in @error. */
GstElement *gst_mcc_session_make_element (
    GstMccSession *self, const gchar *factory, GError **error);
/* Called with the lock. */
void gst_mcc_session_set_destination_locked (GstMccSession *self, const MccAddress *address);

gboolean gst_mcc_session_open_receiver (
    GstMccSession *self, const GstMccSessionSettings *settings, GError **error);
void gst_mcc_session_start_receiver (GstMccSession *self);
void gst_mcc_session_stop_receiver (GstMccSession *self);
void gst_mcc_session_close_receiver (GstMccSession *self);

GST_DEBUG_CATEGORY_EXTERN (gst_mcc_session_debug);

G_END_DECLS
