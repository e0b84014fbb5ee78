/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * gstmccsession: rtpbin and the sockets of one session, and the RTCP that passes its screen.
 *
 * A sender has one stream (ASMP) or several, each an RTP session of rtpbin with a group and an SSRC
 * of its own; the RTCP of all of them comes and goes by one socket, under one CNAME, and what comes
 * in goes to each. A receiver has stream 0. One of ASSP joins and leaves the groups of streams
 * while it runs and makes one RTP stream of them (gstmccmerge.h), which is all that rtpbin sees:
 * what rtpsession would report about it is not sent. Sender: RTP buffers and buffer lists go in at
 * an RTP pad and leave at once (nothing behind it queues or synchronises). Receiver: RTP comes out
 * of the RTP pad after rtpbin's jitterbuffer. rtpsession keeps its slow regular RTCP (a
 * receiver's begins with its first report); our compounds leave by gst_mcc_session_send().
 * One of ELM joins and leaves layers in the same way, and puts them together (gstmcclayers.h).
 *
 * Every received RTCP packet is screened before rtpbin sees it: compound form, name, exact length,
 * APP SSRC = RR or SR SSRC, own packets looped back, per-source token bucket. APP packets go to the
 * handler only, and so do PLI and FIR (rtpsession would send them upstream a second time); SR, RR,
 * SDES and BYE go on to rtpsession too.
 */
#pragma once

#include <gio/gio.h>
#include <gst/gst.h>

#include "gstmccsource.h"
#include "gstmccsrtp.h"
#include "mccasspapp.h"
#include "mccelmapp.h"
#include "mcclayermerge.h"
#include "mccplace.h"
#include "mccplain.h"

G_BEGIN_DECLS

#define GST_MCC_STREAMS_MAX 8

typedef struct _GstMccSession GstMccSession;

/* The network side of the properties (gstmccproperties.h); the owner frees its strings. */
typedef struct {
  gchar *bad_uri;         /* why `uri` was refused; NULL = it was not */
  gchar *address;         /* group or host */
  guint port;             /* RTP, even; RTCP is port + 1 */
  gchar *multicast_iface; /* NULL = by the routes */
  gint ttl, ttl_mc;       /* 0..255 */
  gboolean loop;
  gint qos_dscp;           /* -1 = unset */
  gchar *source_address;   /* source-specific multicast; NULL = any source */
  gchar *feedback_address; /* NULL = reports go to the group */
  guint feedback_port;     /* 0 = port + 1 */
  guint64 session_bandwidth;
  gchar *cname;         /* NULL = random, RFC 7022 */
  gchar *srtp_key;      /* secret; NULL = in srtp_key_file */
  gchar *srtp_key_file; /* NULL, too: plain RTP */
  GstMccSrtpCipher srtp_cipher;
  GstMccSrtpAuth srtp_auth;
  gboolean encrypted; /* there was a key when it was opened */
  guint latency_ms;   /* receiver's jitterbuffer */
} GstMccSessionSettings;

/* Called from streaming threads, with no lock of the session held. Any may be NULL. */
typedef struct {
  /* A valid APP packet from somebody else. */
  void (*app) (gpointer owner, const MccApp *app, const MccAddress *from);
  /* Not NULL: a session of ASSP, whose APP packets have that name. */
  void (*assp_app) (gpointer owner, const MccAsspApp *app, const MccAddress *from);
  /* Not NULL: a session of ELM. */
  void (*elm_app) (gpointer owner, const MccElmApp *app, const MccAddress *from);
  /* A report block about our @stream (sender). @has_app: the compound carried our APP too. */
  void (*report_block) (gpointer owner, guint stream, guint32 ssrc, const MccPlainReport *report,
      gboolean has_app, const MccAddress *from);
  void (*bye) (gpointer owner, guint32 ssrc, const MccAddress *from);
  /* Sender: PLI or FIR for our @stream. Receiver: a decoder downstream asks (@ssrc 0). */
  void (*key_unit_request) (gpointer owner, guint stream, guint32 ssrc);
  void (*dropped) (gpointer owner, MccDrop drop, guint32 ssrc);
  /* Our @stream's SSRC is this from now on (start, or after a collision). Sender: known by its caps
   * or its first packet, in every start anew; rtpsession's own before that does not count. */
  void (*ssrc_changed) (gpointer owner, guint stream, guint32 ssrc);
  /* Receiver, for every RTP packet (a whole header at least) before rtpbin. @bytes IP
   * bytes, @arrival what the kernel tells of it. */
  GstMccSourceVerdict (*rtp) (gpointer owner, guint stream, const guint8 *data, gsize size,
      const MccAddress *from, guint bytes, const GstMccArrival *arrival);
  /* Receiver: packets that the kernel dropped at our socket since the last call. */
  void (*host_dropped) (gpointer owner, guint64 packets);
  /* Receiver: the jitterbuffer gave up @packets packets. */
  void (*lost) (gpointer owner, guint packets);
  /* Receiver: every RTP packet that leaves by the src pad. */
  GstBuffer *(*leaving) (gpointer owner, GstBuffer *buffer, GstBuffer **before);
  /* Receiver of streams: @stream is shown from now on. */
  void (*cut) (gpointer owner, guint stream);
  /* ... a key unit of @stream, which is not shown yet, was torn. */
  void (*key_unit_torn) (gpointer owner, guint stream);
  /* Receiver of layers: the first picture of @layer since it was joined leaves; the base layer has
   * a gap, a key unit is needed. */
  void (*layer_shown) (gpointer owner, guint layer);
  void (*picture_lost) (gpointer owner);
} GstMccSessionHandler;

/* @bin: the element; the session adds its children to it. */
GstMccSession *gst_mcc_session_new_sender (
    GstBin *bin, const GstMccSessionHandler *handler, gpointer owner);
GstMccSession *gst_mcc_session_new_receiver (
    GstBin *bin, const GstMccSessionHandler *handler, gpointer owner);
void gst_mcc_session_free (GstMccSession *self);

/* NULL->READY: checks the settings, makes sockets and children. On FALSE, *error's message names
 * the property and the mend. */
gboolean gst_mcc_session_open (
    GstMccSession *self, const GstMccSessionSettings *settings, GError **error);
/* Sender: the same for @n streams at @places, seen from the settings' address and port. */
gboolean gst_mcc_session_open_streams (GstMccSession *self, const GstMccSessionSettings *settings,
    const MccPlace *places, guint n, GError **error);
/* READY->PAUSED and PAUSED->READY: the RTCP source runs between them whatever the element's
 * state. */
gboolean gst_mcc_session_start (GstMccSession *self);
void gst_mcc_session_stop (GstMccSession *self);
/* Receiver: leaves the group while paused, so that the link is relieved, and joins it again; what
 * had piled up in the socket is dropped. Between BYE and the next report no RTCP goes out. */
void gst_mcc_session_pause (GstMccSession *self);
void gst_mcc_session_resume (GstMccSession *self);
/* While nothing is heard: out of all groups and in again, on the interface that now has the name or
 * the route (mccrejoin.h). From who joins and leaves streams. FALSE: one could not be joined. */
gboolean gst_mcc_session_rejoin (GstMccSession *self);
/* READY->NULL. */
void gst_mcc_session_close (GstMccSession *self);

/* Sender: rtpbin's send_rtp_sink_<stream>. Receiver: a src pad to ghost, available after _open; it
 * gets caps when gst_mcc_session_set_caps() was called. Transfer: caller unrefs. */
GstPad *gst_mcc_session_get_rtp_pad (GstMccSession *self, guint stream);
/* Receiver: the owner's ghost pad of it (no transfer; it outlives _close). Packets are pushed there
 * at once. */
void gst_mcc_session_set_exit (GstMccSession *self, GstPad *ghost);
/* Receiver: caps of the RTP stream @source_ssrc, known from the announcement or the user. */
void gst_mcc_session_set_caps (GstMccSession *self, GstCaps *caps);
/* Receiver: as announced, the unicast address of feedback (family 0: to the group) and the TTL of
 * what goes to the group. Reports by unicast keep ours: the way back may be longer than the media's
 * (tunnels), and there is nobody beyond the sender whom they could reach. */
void gst_mcc_session_set_feedback (GstMccSession *self, const MccAddress *address, guint8 ttl);
/* Receiver: follow another sender: reset what belongs to the old one. */
void gst_mcc_session_reset_source (GstMccSession *self, guint32 ssrc);

/* Sends RR or SR of @stream + SDES + @apps (+ BYE) now, from the session's RTCP socket under the
 * stream's SSRC. Never blocks. Of a BYE nothing is sent where nothing was since _start() (RFC 3550
 * 6.3.7). */
void gst_mcc_session_send (
    GstMccSession *self, guint stream, const MccApp *apps, guint n_apps, gboolean bye);
void gst_mcc_session_send_assp (
    GstMccSession *self, guint stream, const MccAsspApp *apps, guint n_apps, gboolean bye);
void gst_mcc_session_send_elm (
    GstMccSession *self, guint stream, const MccElmApp *apps, guint n_apps, gboolean bye);
/* Receiver: PLI to the stream @ssrc; 0: the one that we follow. */
void gst_mcc_session_request_key_unit (GstMccSession *self, guint32 ssrc);

/* Receiver of streams. Joins the group of @stream and shows it as soon as that can be done without
 * a seam; FALSE: *error says why not. */
gboolean gst_mcc_session_join (
    GstMccSession *self, guint stream, const MccAsspStream *group, GError **error);
/* It goes on under another SSRC, with a key unit. */
void gst_mcc_session_rename (GstMccSession *self, guint stream, guint32 ssrc);
/* Leaves it: at the end of a frame if it is shown. */
void gst_mcc_session_leave (GstMccSession *self, guint stream);
/* Reports are about the stream of @ssrc from now on. */
void gst_mcc_session_follow (GstMccSession *self, guint32 ssrc);
/* Receiver of streams, layers: what describes them comes from there: so does the sender's RTCP,
 * whichever of them is followed. */
void gst_mcc_session_set_host (GstMccSession *self, const MccAddress *host);
/* The sender is gone, and may be back with another address. */
void gst_mcc_session_lose_source (GstMccSession *self);
/* What @stream carries; NULL: not known any more. */
void gst_mcc_session_set_stream_caps (GstMccSession *self, guint stream, GstCaps *caps);

/* Receiver of layers. Joins the group of @layer; FALSE: *error says why not. */
gboolean gst_mcc_session_join_layer (
    GstMccSession *self, guint layer, MccPlace place, GError **error);
/* Leaves it at once. */
void gst_mcc_session_leave_layer (GstMccSession *self, guint layer);
/* Receiver: out of all groups, with a BYE; RTCP goes on until the session stops. */
void gst_mcc_session_cease (GstMccSession *self);
/* What comes is from another sender, whose base layer has @ssrc. */
void gst_mcc_session_restart_layers (GstMccSession *self, guint32 ssrc);
/* What the layers carry, and the id of their order's header extension. */
void gst_mcc_session_set_layer_caps (GstMccSession *self, GstCaps *caps, guint8 order_id);
void gst_mcc_session_get_layer_stats (GstMccSession *self, MccLayerMergeStats *out);

/* The announced target: rtpsession's regular reports keep to their share of 5 % of it. */
void gst_mcc_session_set_bandwidth (GstMccSession *self, guint64 bps);
/* Receiver, whose rtpsession knows the sender only: as one of @receivers. */
void gst_mcc_session_set_shared_bandwidth (GstMccSession *self, guint64 bps, guint receivers);
/* Sender: what the regular reports of @stream are 5 % of, as such. */
void gst_mcc_session_set_stream_bandwidth (GstMccSession *self, guint stream, guint64 bps);
/* From GstBin::handle_message: TRUE: consumed (transfer full), else the caller chains up. Turns the
 * one warning per packet of a sink without a route into one, and one when it works again. */
gboolean gst_mcc_session_handle_message (GstMccSession *self, GstMessage *message);
/* Receiver: packets dropped for want of caps. */
guint64 gst_mcc_session_get_unheld (GstMccSession *self);
/* Receiver: whether reports of other receivers reach us. */
gboolean gst_mcc_session_hears_group (GstMccSession *self);

guint32 gst_mcc_session_get_ssrc (GstMccSession *self, guint stream);
/* Sender, READY->PAUSED, before data flows: streams that have sent, and have said BYE, go on under
 * other SSRCs. Payloaders begin at any number and time: under the old SSRC a receiver would take
 * packets for late ones and, with keys, for a replay, or the key stream would be used again. Layers
 * number on, under SSRCs that their splitter renews. */
void gst_mcc_session_renew_ssrcs (GstMccSession *self);
/* Sender: what the RTP of the stream will have, for RTCP before it. */
void gst_mcc_session_expect_ssrc (GstMccSession *self, guint stream, guint32 ssrc);
/* IP and UDP header bytes of this session's packets: 28 or 48, and what SRTP adds. */
guint gst_mcc_session_get_overhead (GstMccSession *self);
/* What SRTCP adds to an RTCP compound; 0 without a key. */
guint gst_mcc_session_get_srtcp_bytes (GstMccSession *self);
/* Sender: whether RTP leaves as ECT(0) (RFC 3168). Any thread, between _open and _close. */
void gst_mcc_session_set_ect (GstMccSession *self, gboolean ect);
/* Sender: our own unicast feedback address to announce; FALSE = none. */
gboolean gst_mcc_session_get_feedback (GstMccSession *self, MccAddress *out);

/* The keys of @settings from now on, between _open and _close. FALSE: the old ones stay. */
gboolean gst_mcc_session_set_keys (
    GstMccSession *self, const GstMccSessionSettings *settings, GError **error);

/* Checks that need no socket: port even, address valid, range, TTL. */
gboolean gst_mcc_session_settings_check (const GstMccSessionSettings *settings, GError **error);
/* The address and port of the stream at @place; *address is the caller's. FALSE: the settings
 * (which were checked) leave no room for it; *error names the property and the mend. */
gboolean gst_mcc_session_settings_place (const GstMccSessionSettings *settings, MccPlace place,
    gchar **address, guint *port, GError **error);

G_END_DECLS
