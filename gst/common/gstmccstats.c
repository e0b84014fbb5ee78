/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstmccstats.h"

#include <gio/gio.h>

#include "mccbucket.h"

/* So many events may wait, of receivers that come and go mostly; beyond that they are only in the
 * stats. */
#define WAITING_MAX 64

/* A window of a second sees at most the burst and what was refilled. */
#define REFILL_PER_S (GST_MCC_MESSAGES_PER_S - GST_MCC_MESSAGES_BURST)

#define MESSAGE_TARGET "adaptive-multicast-target"
#define MESSAGE_STATS "adaptive-multicast-stats"

gchar *
gst_mcc_address_to_string (const MccAddress *address)
{
  GInetAddress *inet;
  gchar *host, *result;

  if (address->family != 4 && address->family != 6)
    return g_strdup ("");
  inet = g_inet_address_new_from_bytes (
      address->bytes, address->family == 4 ? G_SOCKET_FAMILY_IPV4 : G_SOCKET_FAMILY_IPV6);
  host = g_inet_address_to_string (inet);
  result = g_strdup_printf (address->family == 4 ? "%s:%u" : "[%s]:%u", host, address->port);
  g_free (host);
  g_object_unref (inet);
  return result;
}

static void
set_dropped (GstStructure *s, const uint64_t dropped[MCC_DROP_COUNT])
{
  gchar field[64];

  for (guint i = MCC_DROP_NONE + 1; i < MCC_DROP_COUNT; i++) {
    g_snprintf (field, sizeof field, "dropped-%s", mcc_drop_name ((MccDrop)i));
    gst_structure_set (s, field, G_TYPE_UINT64, (guint64)dropped[i], NULL);
  }
}

static void
set_receivers (
    GstStructure *s, const MccReceiverInfo *receivers, guint n_receivers, gboolean layers)
{
  GValue array = G_VALUE_INIT;

  g_value_init (&array, GST_TYPE_ARRAY);
  for (guint i = 0; i < n_receivers; i++) {
    const MccReceiverInfo *r = &receivers[i];
    GValue item = G_VALUE_INIT;
    gchar *address = gst_mcc_address_to_string (&r->address);
    GstStructure *one = gst_structure_new ("receiver", "ssrc", G_TYPE_UINT, r->ssrc, "address",
        G_TYPE_STRING, address, "rate", G_TYPE_UINT64, r->rate_bps, "received-bitrate",
        G_TYPE_UINT64, r->received_bps, "loss", G_TYPE_DOUBLE, r->loss_ratio, "rtt", G_TYPE_UINT64,
        r->rtt, "rtt-measured", G_TYPE_BOOLEAN, (gboolean)r->rtt_measured, "jitter", G_TYPE_UINT64,
        r->jitter, "age", G_TYPE_UINT64, r->age, "state", G_TYPE_STRING,
        mcc_receiver_state_name (r->state), "no-limit", G_TYPE_BOOLEAN, (gboolean)r->no_limit,
        "plain", G_TYPE_BOOLEAN, (gboolean)r->plain, "quarantine", G_TYPE_STRING,
        mcc_quarantine_name (r->quarantine), NULL);

    if (layers)
      gst_structure_set (one, "level", G_TYPE_UINT, r->level, NULL);
    g_free (address);
    g_value_init (&item, GST_TYPE_STRUCTURE);
    g_value_take_boxed (&item, one);
    gst_value_array_append_and_take_value (&array, &item);
  }
  gst_structure_take_value (s, "receivers", &array);
}

GstStructure *
gst_mcc_stats_new_sender (const MccAsmpSenderStats *stats, const GstMccSenderExtra *extra,
    const MccReceiverInfo *receivers, guint n_receivers)
{
  gchar *limiting = gst_mcc_address_to_string (&stats->limiting_address);
  MccTargetReason reason = extra->pacer_behind ? MCC_TARGET_PACER : stats->reason;
  GstStructure *s = gst_structure_new (GST_MCC_SENDER_STATS_NAME, "target-bitrate", G_TYPE_UINT64,
      stats->target_bps, "applied-bitrate", G_TYPE_UINT64, extra->applied_bps, "sent-bitrate",
      G_TYPE_UINT64, stats->sent_bps, "reason", G_TYPE_STRING, mcc_target_reason_name (reason),
      "limiting-ssrc", G_TYPE_UINT, stats->limiting_ssrc, "limiting-address", G_TYPE_STRING,
      limiting, "num-receivers", G_TYPE_UINT, stats->receivers, "num-quarantined", G_TYPE_UINT,
      stats->quarantined, "max-rtt", G_TYPE_UINT64, stats->rtt_max, "reports", G_TYPE_UINT64,
      stats->reports, "pacer-delay", G_TYPE_UINT64, extra->pacer_delay, "pacer-overruns",
      G_TYPE_UINT64, extra->pacer_overruns, "ecn", G_TYPE_BOOLEAN, (gboolean)stats->ect, NULL);

  g_free (limiting);
  set_receivers (s, receivers, n_receivers, extra->layers);
  set_dropped (s, stats->dropped);
  return s;
}

GstStructure *
gst_mcc_stats_new_receiver (const MccAsmpReceiverStats *stats, const GstMccReceiverExtra *extra)
{
  GstStructure *s = gst_structure_new (GST_MCC_RECEIVER_STATS_NAME, "source-ssrc", G_TYPE_UINT,
      stats->source_ssrc, "received-bitrate", G_TYPE_UINT64, stats->received_bps,
      "estimated-bitrate", G_TYPE_UINT64, stats->estimated_bps, "announced-bitrate", G_TYPE_UINT64,
      stats->announced_bps, "loss", G_TYPE_DOUBLE, stats->loss_ratio, "packets-received",
      G_TYPE_UINT64, stats->packets_received, "packets-lost", G_TYPE_UINT64, stats->packets_lost,
      "ecn", G_TYPE_STRING, mcc_ecn_path_name (stats->ecn), "ecn-marked", G_TYPE_UINT64,
      stats->packets_marked, "duplicates", G_TYPE_UINT64, stats->duplicates, "reordered",
      G_TYPE_UINT64, stats->reordered, "host-dropped", G_TYPE_UINT64, extra->host_dropped, "rtt",
      G_TYPE_UINT64, stats->rtt, "rtt-measured", G_TYPE_BOOLEAN, (gboolean)stats->rtt_measured,
      "jitter", G_TYPE_UINT64, stats->jitter, "queue-delay", G_TYPE_UINT64, stats->queue_delay,
      "congested", G_TYPE_BOOLEAN, (gboolean)stats->congested, "reports-sent", G_TYPE_UINT64,
      stats->reports_sent, "reports-suppressed", G_TYPE_UINT64, stats->reports_suppressed,
      "switches", G_TYPE_UINT64, extra->switches, "joins", G_TYPE_UINT64, extra->joins, "leaves",
      G_TYPE_UINT64, extra->leaves, "late-joins", G_TYPE_UINT64, extra->late_joins, "gaps",
      G_TYPE_UINT64, extra->gaps, NULL);

  set_dropped (s, stats->dropped);
  return s;
}

struct _GstMccMessages {
  GstElement *element; /* the owner, which outlives us: no reference */
  GMutex lock;         /* guards what follows; never held while posting */
  gboolean started;
  MccBucket bucket;
  GQueue waiting; /* of GstStructure, oldest first */
};

GstMccMessages *
gst_mcc_messages_new (GstElement *element)
{
  GstMccMessages *self = g_new0 (GstMccMessages, 1);

  self->element = element;
  g_mutex_init (&self->lock);
  g_queue_init (&self->waiting);
  return self;
}

void
gst_mcc_messages_clear (GstMccMessages *self)
{
  g_mutex_lock (&self->lock);
  g_queue_clear_full (&self->waiting, (GDestroyNotify)gst_structure_free);
  self->started = FALSE;
  g_mutex_unlock (&self->lock);
}

void
gst_mcc_messages_free (GstMccMessages *self)
{
  if (!self)
    return;
  gst_mcc_messages_clear (self);
  g_mutex_clear (&self->lock);
  g_free (self);
}

/* The stream that a message is about; -1: it does not say. */
static gint
stream_of (const GstStructure *s)
{
  gint stream = -1;

  gst_structure_get_int (s, "stream", &stream);
  return stream;
}

static void
set_stream (GstStructure *s, gint stream)
{
  if (stream >= 0)
    gst_structure_set (s, "stream", G_TYPE_INT, stream, NULL);
}

/* A newer one replaces the one of its kind and stream that waits. */
static gboolean
tells_state (const GstStructure *s)
{
  return gst_structure_has_name (s, MESSAGE_TARGET) || gst_structure_has_name (s, MESSAGE_STATS);
}

/* Drops the oldest event, never a state: that is the newest of its kind. */
static void
make_room (GstMccMessages *self)
{
  GList *l = self->waiting.head;

  while (l && tells_state (l->data))
    l = l->next;
  if (!l)
    return;
  gst_structure_free (l->data);
  g_queue_delete_link (&self->waiting, l);
}

static void
queue_message (GstMccMessages *self, GstStructure *s)
{
  for (GList *l = self->waiting.head; tells_state (s) && l; l = l->next) {
    GstStructure *old = l->data;
    guint64 previous;

    if (!gst_structure_has_name (old, gst_structure_get_name (s))
        || stream_of (old) != stream_of (s))
      continue;
    if (gst_structure_get_uint64 (old, "previous", &previous))
      gst_structure_set (s, "previous", G_TYPE_UINT64, previous, NULL);
    gst_structure_free (old);
    l->data = s;
    return;
  }
  if (self->waiting.length >= WAITING_MAX)
    make_room (self);
  g_queue_push_tail (&self->waiting, s);
}

static void
post (GstMccMessages *self, GstStructure *s, MccTime now)
{
  g_mutex_lock (&self->lock);
  queue_message (self, s);
  g_mutex_unlock (&self->lock);
  gst_mcc_messages_flush (self, now);
}

MccTime
gst_mcc_messages_flush (GstMccMessages *self, MccTime now)
{
  for (;;) {
    GstStructure *s = NULL;
    gboolean empty;

    g_mutex_lock (&self->lock);
    if (!self->started) {
      mcc_bucket_init (&self->bucket, REFILL_PER_S, GST_MCC_MESSAGES_BURST, now);
      self->started = TRUE;
    }
    empty = g_queue_is_empty (&self->waiting);
    if (!empty && mcc_bucket_take (&self->bucket, now))
      s = g_queue_pop_head (&self->waiting);
    g_mutex_unlock (&self->lock);

    if (!s)
      return empty ? MCC_TIME_NONE : now + MCC_SECOND / REFILL_PER_S;
    gst_element_post_message (
        self->element, gst_message_new_element (GST_OBJECT (self->element), s));
  }
}

void
gst_mcc_messages_target (GstMccMessages *self, gint stream, guint64 bitrate, guint64 previous,
    const gchar *reason, guint32 limiting_ssrc, MccTime now)
{
  GstStructure *s = gst_structure_new (MESSAGE_TARGET, "bitrate", G_TYPE_UINT64, bitrate,
      "previous", G_TYPE_UINT64, previous, "reason", G_TYPE_STRING, reason, "limiting-ssrc",
      G_TYPE_UINT, limiting_ssrc, NULL);

  set_stream (s, stream);
  post (self, s, now);
}

void
gst_mcc_messages_switch (
    GstMccMessages *self, gint from, gint to, const gchar *reason, MccTime duration, MccTime now)
{
  post (self,
      gst_structure_new ("adaptive-multicast-switch", "from", G_TYPE_INT, from, "to", G_TYPE_INT,
          to, "reason", G_TYPE_STRING, reason, "duration", G_TYPE_UINT64, duration, NULL),
      now);
}

void
gst_mcc_messages_receiver (GstMccMessages *self, gint stream, guint32 ssrc,
    const MccAddress *address, const gchar *state, const gchar *reason, MccTime now)
{
  gchar *text = gst_mcc_address_to_string (address);
  GstStructure *s = gst_structure_new ("adaptive-multicast-receiver", "ssrc", G_TYPE_UINT, ssrc,
      "address", G_TYPE_STRING, text, "state", G_TYPE_STRING, state, "reason", G_TYPE_STRING,
      reason, NULL);

  set_stream (s, stream);
  post (self, s, now);
  g_free (text);
}

void
gst_mcc_messages_stats (GstMccMessages *self, GstStructure *stats, MccTime now)
{
  gst_structure_set_name (stats, MESSAGE_STATS);
  post (self, stats, now);
}

void
gst_mcc_messages_missing (GstElement *element, const gchar *factory)
{
  gchar *name = g_strdup_printf ("GStreamer element %s", factory);
  GstStructure *structure = gst_structure_new ("missing-plugin", "type", G_TYPE_STRING, "element",
      "detail", G_TYPE_STRING, factory, "name", G_TYPE_STRING, name, NULL);

  g_free (name);
  gst_element_post_message (element, gst_message_new_element (GST_OBJECT (element), structure));
}
