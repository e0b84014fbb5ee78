/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * gstmcccompound: RTCP compounds of our own making (SR or RR, SDES with the CNAME, APP, PLI, BYE),
 * and the figures of a report block (RFC 3550 A.3, A.8). No clock: every time is an argument.
 */
#pragma once

#include <gst/gst.h>

#include "mccasspapp.h"
#include "mccelmapp.h"
#include "mccindexapp.h"
#include "mccseq.h"

G_BEGIN_DECLS

#define GST_MCC_COMPOUND_BYTES 1400

/* What was received of one stream. */
typedef struct {
  guint32 ssrc;
  MccSeq seq;
  guint64 first, received;
  guint64 expected_prior, received_prior; /* at the last block */
  guint clock_rate;                       /* 0 = no jitter */
  gboolean has_transit;
  gint32 transit;
  gdouble jitter; /* in RTP time units */
  guint32 lsr;    /* middle of the last SR's NTP time */
  MccTime sr_time;
} GstMccReception;

void gst_mcc_reception_reset (GstMccReception *self, guint32 ssrc);
void gst_mcc_reception_handle_rtp (
    GstMccReception *self, guint16 seq, guint32 rtp_time, MccTime now);
void gst_mcc_reception_handle_sr (GstMccReception *self, guint64 ntp, MccTime now);

typedef struct {
  guint64 ntp;
  guint32 rtp_time, packets, octets;
} GstMccSenderInfo;

typedef struct {
  guint32 ssrc;
  const gchar *cname;
  const GstMccSenderInfo *sender; /* NULL: a receiver report */
  GstMccReception *reception;     /* NULL: no report block; its interval ends here */
  guint32 pli_ssrc;               /* 0 = no PLI */
  const MccIndexApp *indexes;     /* NULL: none; behind the others, where they fit */
  gboolean *said;                 /* TRUE: they did */
  gboolean bye;
} GstMccCompound;

/* APP packets of one kind; the others are NULL. */
typedef struct {
  guint n;
  const MccApp *asmp;
  const MccAsspApp *assp;
  const MccElmApp *elm;
} GstMccApps;

/* Builds one compound with as many of @apps, from the @first on, as fit; *used says how many (the
 * caller asks again for the rest); their SSRC is the compound's. An APP that fits no compound is
 * skipped and counted in *used. Never NULL. */
GstBuffer *gst_mcc_compound_build_from (
    const GstMccCompound *self, const GstMccApps *apps, guint first, MccTime now, guint *used);
/* The same of ASMP's, all of them. */
GstBuffer *gst_mcc_compound_build (
    const GstMccCompound *self, const MccApp *apps, guint n_apps, MccTime now, guint *used);

G_END_DECLS
