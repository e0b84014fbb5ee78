/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * gstmccscreen: what received RTCP must be before anybody acts on it. No clock, no socket.
 *
 *  - A compound (RFC 3550 A.2): SR or RR first, version 2, exact lengths inside and out, padding in
 *    the last packet only, at most GST_MCC_SCREEN_PACKETS packets. Else all of it is dropped.
 *  - One member a compound: every RR, SR, SDES chunk, BYE, feedback and APP packet in it carries
 * the SSRC of the first packet; a packet that does not is dropped.
 *  - Own packets looped back (our SSRC and our RTCP socket's port) are dropped; our SSRC from
 *    another port is a collision. The next one is passed on GST_MCC_SCREEN_COLLISION later, then
 *    after twice, four times as long, up to GST_MCC_SCREEN_COLLISION_MAX; each time that this goes
 *    by without one behind the wait halves it. However it is done, in the long run that is one in
 *    GST_MCC_SCREEN_COLLISION_MAX.
 *  - The followed sender's RTCP comes from the host that its RTP comes from, else it is dropped: a
 *    BYE, an announcement or a sender report of somebody else in its name has no effect. Once it is
 *    lost its APP packets alone are taken from anywhere: whose they may be is for the core to say.
 *  - A source is (SSRC, address). Each has a token bucket (GST_MCC_SCREEN_PER_S). The table is
 *    bounded, a look-up is O(1). When its set is full, one that was not heard for
 *    GST_MCC_SCREEN_IDLE gives way; then, where one host (of IPv6 one /64) has more than
 *    GST_MCC_SCREEN_SHARE places there, the least heard of its own: as long as there is room it
 *    may have all; then who was heard only once; nobody else.
 *  - SR, RR, SDES and BYE are passed on (`forward`) only for sources that were heard before from
 *    this address, so that a BYE from elsewhere does not reach rtpsession. Its first contact with a
 *    source costs a walk over all that it knows, so a token bucket (GST_MCC_SCREEN_NEW_PER_S) lets
 *    new ones through to it: a flood of SSRCs costs little, a large audience is known a little
 *    later. While it knows GST_MCC_SCREEN_KNOWN sources (`known`) it gets to know none: they are
 *    as good as all of them for its timing, and each costs memory. One that it knows it hears once
 * in GST_MCC_SCREEN_PASS, which is more often than regular RTCP, and leaving at once. The sender
 * that a receiver follows waits for neither. Of SDES the CNAME alone is passed on. Unknown packet
 * types are skipped. APP, PLI and FIR are never passed on.
 */
#pragma once

#include <glib.h>

#include "mccasspapp.h"
#include "mccelmapp.h"
#include "mccindexapp.h"

G_BEGIN_DECLS

#define GST_MCC_SCREEN_OWN 8 /* SSRCs of ours */
#define GST_MCC_SCREEN_PACKETS 32
#define GST_MCC_SCREEN_BYTES 2048 /* a longer compound is dropped */
#define GST_MCC_SCREEN_PER_S 25.0
#define GST_MCC_SCREEN_BURST 50.0
#define GST_MCC_SCREEN_NEW_PER_S 50.0 /* sources that rtpsession gets to know */
#define GST_MCC_SCREEN_NEW_BURST 100.0
#define GST_MCC_SCREEN_KNOWN 256 /* that it knows */
#define GST_MCC_SCREEN_PASS (2500 * MCC_MSECOND)
#define GST_MCC_SCREEN_KEPT (5 * MCC_SECOND) /* it knows one for so long, whatever it hears */
#define GST_MCC_SCREEN_SHARE 4               /* of the 16 places of a set */
#define GST_MCC_SCREEN_IDLE (60 * MCC_SECOND)
#define GST_MCC_SCREEN_COLLISION (10 * MCC_SECOND)
#define GST_MCC_SCREEN_COLLISION_MAX (3600 * MCC_SECOND)

typedef struct _GstMccScreen GstMccScreen;

typedef struct {
  guint32 ssrc; /* about whom */
  gdouble fraction_lost;
  gint32 packets_lost; /* ever */
  guint32 highest_seq;
  guint32 lsr, dlsr;
} GstMccReportBlock;

/* Any may be NULL. Called in the packets' order. */
typedef struct {
  void (*app) (gpointer user, const MccApp *app, const MccAddress *from);
  /* Not NULL: our APP packets are those named "ASSP"; elm_app: "ELM "; else "ASMP". */
  void (*assp_app) (gpointer user, const MccAsspApp *app, const MccAddress *from);
  void (*sender_report) (
      gpointer user, guint32 ssrc, guint64 ntp, guint32 rtp_time, const MccAddress *from);
  void (*report_block) (gpointer user, guint32 ssrc, const GstMccReportBlock *block,
      gboolean has_app, const MccAddress *from);
  void (*bye) (gpointer user, guint32 ssrc, const MccAddress *from);
  /* PLI or FIR for the stream @media_ssrc. */
  void (*key_unit_request) (gpointer user, guint32 ssrc, guint32 media_ssrc);
  void (*dropped) (gpointer user, MccDrop drop, guint32 ssrc);
  void (*elm_app) (gpointer user, const MccElmApp *app, const MccAddress *from);
  /* Not NULL: what came is authentic, and this is read, too. */
  void (*indexes) (gpointer user, const MccIndexApp *app, const MccAddress *from);
  /* How many sources rtpsession knows; NULL: it is not asked. */
  guint (*known) (gpointer user);
} GstMccScreenFuncs;

GstMccScreen *gst_mcc_screen_new (const GstMccScreenFuncs *funcs, gpointer user, guint64 seed);
void gst_mcc_screen_free (GstMccScreen *self);
/* Who we are: packets with one of these @n SSRCs and this source port are ours. */
void gst_mcc_screen_set_own (GstMccScreen *self, const guint32 *ssrcs, guint n, guint16 port);
/* The sender whose reports rtpsession needs; 0 = none. @host: where its RTP comes from (family 0 =
 * not known); @lost: it is gone from there, and may be back elsewhere. */
void gst_mcc_screen_set_followed (
    GstMccScreen *self, guint32 ssrc, const MccAddress *host, gboolean lost);
/* Screens one datagram. Returns how many bytes of @forward (GST_MCC_SCREEN_BYTES long) hold a
 * compound for rtpsession, 0 = none. */
gsize gst_mcc_screen_handle (GstMccScreen *self, const guint8 *data, gsize size,
    const MccAddress *from, MccTime now, guint8 *forward);

G_END_DECLS
