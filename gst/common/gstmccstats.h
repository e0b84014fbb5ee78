/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * gstmccstats: what users see of a session: the stats structures and the element messages of every
 * element. Rates guint64 bit/s, times guint64 ns, ratios double, counters guint64.
 */
#pragma once

#include <gst/gst.h>

#include "mccasmpreceiver.h"
#include "mccasmpsender.h"

G_BEGIN_DECLS

/* An MccTraceEvent in a log. */
#define GST_MCC_TRACE_FORMAT                                                                       \
  "%s ssrc=%08x i=%u a=%" G_GUINT64_FORMAT " b=%" G_GUINT64_FORMAT " x=%g y=%g z=%g"
#define GST_MCC_TRACE_ARGS(event)                                                                  \
  mcc_trace_name ((event).type), (event).ssrc, (event).i, (event).a, (event).b, (event).x,         \
      (event).y, (event).z

#define GST_MCC_SENDER_STATS_NAME "application/x-adaptive-multicast-sender-stats"
#define GST_MCC_RECEIVER_STATS_NAME "application/x-adaptive-multicast-receiver-stats"

/* Receivers in a message; the property lists all. */
#define GST_MCC_STATS_MESSAGE_RECEIVERS 16
/* Messages in any second, all kinds together, and how many of them may come at once. */
#define GST_MCC_MESSAGES_PER_S 10
#define GST_MCC_MESSAGES_BURST 3

/* What the sending element knows and the core does not. */
typedef struct {
  guint64 applied_bps; /* what the encoder was given; 0 = no encoder */
  MccTime pacer_delay;
  guint64 pacer_overruns;
  gboolean pacer_behind; /* for that the encoder gets less than the target */
  gboolean layers;       /* receivers have a level */
} GstMccSenderExtra;

/* What the receiving element knows and the core does not. */
typedef struct {
  guint64 host_dropped; /* packets the kernel dropped at our socket */
  guint64 switches, joins, leaves, late_joins, gaps;
} GstMccReceiverExtra;

/* "10.0.0.1:5005", "[fd00::1]:5005"; "" for family 0. Caller frees. */
gchar *gst_mcc_address_to_string (const MccAddress *address);

/* @receivers: the slowest first. */
GstStructure *gst_mcc_stats_new_sender (const MccAsmpSenderStats *stats,
    const GstMccSenderExtra *extra, const MccReceiverInfo *receivers, guint n_receivers);
GstStructure *gst_mcc_stats_new_receiver (
    const MccAsmpReceiverStats *stats, const GstMccReceiverExtra *extra);

/* Element messages of one element, at most GST_MCC_MESSAGES_PER_S a second. What is too early
 * waits (a newer target or stats replaces the waiting one of its stream, whose `previous` stays;
 * beyond 64 that wait the oldest of the others is dropped) and leaves by gst_mcc_messages_flush().
 * Call all of it without a lock held: posting may call the application. */
typedef struct _GstMccMessages GstMccMessages;

GstMccMessages *gst_mcc_messages_new (GstElement *element);
void gst_mcc_messages_free (GstMccMessages *self);
/* Drops what waits (stop). */
void gst_mcc_messages_clear (GstMccMessages *self);

/* adaptive-multicast-target; @stream: of several, -1: there is one */
void gst_mcc_messages_target (GstMccMessages *self, gint stream, guint64 bitrate, guint64 previous,
    const gchar *reason, guint32 limiting_ssrc, MccTime now);
/* adaptive-multicast-switch */
void gst_mcc_messages_switch (
    GstMccMessages *self, gint from, gint to, const gchar *reason, MccTime duration, MccTime now);
/* adaptive-multicast-receiver; @state: joined, left, timed out */
void gst_mcc_messages_receiver (GstMccMessages *self, gint stream, guint32 ssrc,
    const MccAddress *address, const gchar *state, const gchar *reason, MccTime now);
/* adaptive-multicast-stats: takes @stats; its fields become the message's */
void gst_mcc_messages_stats (GstMccMessages *self, GstStructure *stats, MccTime now);

/* Posts at once what installers look for (gst_is_missing_plugin_message()); the error that says it
 * to people is the caller's. */
void gst_mcc_messages_missing (GstElement *element, const gchar *factory);

/* Posts what is due; returns when to call again, MCC_TIME_NONE when nothing waits. */
MccTime gst_mcc_messages_flush (GstMccMessages *self, MccTime now);

G_END_DECLS
