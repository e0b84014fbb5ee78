/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdio.h>

#include "gstmcccaps.h"
#include "gstmccsessionprivate.h"

#define GST_CAT_DEFAULT gst_mcc_session_debug

#define DROPS_INTERVAL (100 * MCC_MSECOND)
#define RTP_HEADER_BYTES 12
#define SENDER_MOVED (15 * MCC_SECOND) /* not heard of where it was: its host may be another */
#define GAP_SHARE 4 /* of the latency: how long layers wait for a gap; the rest is for B frames */

/* ---- RTP on its way in: the source's thread ---- */

/* Where nobody has read by intent, nothing was dropped for want of time. */
static void
begin_input (GstMccInput *input)
{
  if (!g_atomic_int_get (&input->unread))
    return;
  g_atomic_int_set (&input->unread, FALSE);
  input->drops = gst_mcc_sockets_get_drops (input->socket);
  mcc_stall_init (&input->stall);
}

static void
check_drops (GstMccSession *self, GstMccInput *input, MccTime now)
{
  guint32 drops;

  if (now - input->drops_checked < DROPS_INTERVAL)
    return;
  input->drops_checked = now;
  drops = gst_mcc_sockets_get_drops (input->socket);
  if (drops != input->drops && self->handler.host_dropped)
    self->handler.host_dropped (self->owner, drops - input->drops);
  input->drops = drops;
}

/* TRUE: the packet has waited in the socket while this process stood still; it counts as dropped by
 * the host. */
static gboolean
is_stale (GstMccSession *self, GstMccInput *input, MccTime now)
{
  guint32 backlog = 0;
  guint64 dropped;
  gboolean stale;

  if (mcc_stall_needs_backlog (&input->stall, now))
    backlog = gst_mcc_sockets_get_backlog (input->socket);
  stale = mcc_stall_handle_packet (&input->stall, backlog, now, &dropped);
  if (dropped > 0 && self->handler.host_dropped)
    self->handler.host_dropped (self->owner, dropped);
  return stale;
}

/* For our report blocks, which are about one stream. */
static void
note_reception (GstMccSession *self, const guint8 *data, const MccAddress *from, MccTime now)
{
  guint32 ssrc = GST_READ_UINT32_BE (data + 8);

  g_mutex_lock (&self->lock);
  if (ssrc != self->source_ssrc && !self->merge && !self->layers) {
    self->source_ssrc = ssrc;
    gst_mcc_reception_reset (&self->reception, ssrc);
  }
  if (ssrc == self->source_ssrc) {
    self->source_address = *from;
    self->source_lost = self->source_gone = FALSE;
    if (self->host.family) {
      self->host = *from;
      self->host_heard = gst_mcc_session_clock ();
    }
    gst_mcc_reception_handle_rtp (
        &self->reception, GST_READ_UINT16_BE (data + 2), GST_READ_UINT32_BE (data + 4), now);
  }
  g_mutex_unlock (&self->lock);
}

static gboolean
on_encrypted (gpointer owner, guint8 *data, gsize *size)
{
  return gst_mcc_session_unprotect (owner, FALSE, data, size, NULL);
}

static gboolean
is_elsewhere (GstMccSession *self, const MccAddress *from)
{
  gboolean elsewhere;

  g_mutex_lock (&self->lock);
  elsewhere = self->host.family && !mcc_address_same_host (&self->host, from);
  g_mutex_unlock (&self->lock);
  return elsewhere;
}

static GstMccSourceVerdict
on_rtp (gpointer owner, GstMccInput *input, const guint8 *data, gsize size, const MccAddress *from,
    MccTime now)
{
  GstMccSession *self = owner;
  GstMccSourceVerdict verdict = GST_MCC_SOURCE_PASS;

  begin_input (input);
  if (is_stale (self, input, now))
    return GST_MCC_SOURCE_DROP;
  check_drops (self, input, now);
  if (size < RTP_HEADER_BYTES || data[0] >> 6 != 2) {
    if (self->handler.dropped)
      self->handler.dropped (self->owner, MCC_DROP_MALFORMED, 0);
    return GST_MCC_SOURCE_DROP;
  }
  if (self->handler.rtp)
    verdict = self->handler.rtp (self->owner, input->stream, data, size, from,
        (guint)size + gst_mcc_session_get_overhead (self), &input->arrival);
  if (verdict == GST_MCC_SOURCE_PASS)
    note_reception (self, data, from, now);
  else if (self->merge && !is_elsewhere (self, from)
           && gst_mcc_merge_wants (self->merge, input->stream, GST_READ_UINT32_BE (data + 8)))
    verdict = GST_MCC_SOURCE_PASS; /* the rest of a frame of a stream that is being left */
  return verdict;
}

static void
on_merge (gpointer owner, guint stream, GstBuffer *buffer, MccTime now)
{
  GstMccSession *self = owner;

  gst_mcc_merge_handle (self->merge, stream, buffer, now);
}

static MccTime
on_due (gpointer owner, MccTime now)
{
  GstMccSession *self = owner;

  return gst_mcc_merge_due (self->merge, now);
}

static void
on_eos (gpointer owner)
{
  GstMccSession *self = owner;

  gst_mcc_outlet_eos (self->outlet);
}

/* ---- streams: what comes out of the merge, in the source's thread ---- */

static void
on_merged (gpointer owner, GstBuffer *buffer, gboolean late)
{
  GstMccSession *self = owner;

  gst_mcc_source_push (self->source, buffer, late);
}

/* The payload type that goes with @caps: that of the stream before, if they are of one kind. */
static gint
choose_payload_type (GstCaps *before, GstCaps *caps)
{
  const GstStructure *b = gst_caps_get_structure (caps, 0);
  const GstStructure *a = before ? gst_caps_get_structure (before, 0) : b;
  gint payload_type = -1, rates[2] = { 0, 1 };

  gst_structure_get_int (a, "clock-rate", &rates[0]);
  gst_structure_get_int (b, "clock-rate", &rates[1]);
  if (rates[0] != rates[1]
      || g_strcmp0 (gst_structure_get_string (a, "encoding-name"),
             gst_structure_get_string (b, "encoding-name"))
             != 0)
    a = b;
  gst_structure_get_int (a, "payload", &payload_type);
  return payload_type;
}

/* In the source's thread. */
static void
set_shown_caps (GstMccSession *self, guint stream)
{
  GstCaps *caps, *before;
  gint payload_type;

  g_mutex_lock (&self->lock);
  caps = self->joined[stream].caps ? gst_caps_ref (self->joined[stream].caps) : NULL;
  before = self->caps ? gst_caps_ref (self->caps) : NULL;
  g_mutex_unlock (&self->lock);
  if (caps) {
    caps = gst_mcc_caps_of_any_stream (caps);
    payload_type = choose_payload_type (before, caps);
    if (payload_type >= 0)
      gst_caps_set_simple (caps, "payload", G_TYPE_INT, payload_type, NULL);
    gst_mcc_merge_set_payload_type (self->merge, payload_type);
    gst_mcc_session_set_caps (self, caps);
    gst_caps_unref (caps);
  }
  gst_clear_caps (&before);
}

static void
on_cut (gpointer owner, guint stream)
{
  GstMccSession *self = owner;

  set_shown_caps (self, stream);
  if (self->handler.cut)
    self->handler.cut (self->owner, stream);
}

static void
on_kind (gpointer owner, guint stream)
{
  set_shown_caps (owner, stream);
}

/* Out of the group of @stream. */
static void
drop_membership (GstMccSession *self, guint stream, gboolean only_leaving)
{
  GSocket *socket = NULL;

  g_mutex_lock (&self->lock);
  if (self->joined[stream].leaving || !only_leaving) {
    socket = g_steal_pointer (&self->joined[stream].socket);
    self->joined[stream].leaving = FALSE;
  }
  g_mutex_unlock (&self->lock);
  if (!socket)
    return;
  gst_mcc_sockets_leave_stream (&self->sockets, socket);
  gst_mcc_source_remove (self->source, socket);
  g_object_unref (socket); /* the source may still read what is in it */
}

static void
on_left (gpointer owner, guint stream)
{
  drop_membership (owner, stream, TRUE);
}

static void
on_key_unit_torn (gpointer owner, guint stream)
{
  GstMccSession *self = owner;

  if (self->handler.key_unit_torn)
    self->handler.key_unit_torn (self->owner, stream);
}

static const GstMccMergeFuncs merge_funcs = {
  .out = on_merged,
  .cut = on_cut,
  .kind = on_kind,
  .left = on_left,
  .key_unit = on_key_unit_torn,
};

/* ---- layers: the source's thread ---- */

static void
on_layers_merge (gpointer owner, guint stream, GstBuffer *buffer, MccTime now)
{
  GstMccSession *self = owner;

  gst_mcc_layers_handle (self->layers, stream, buffer, now);
}

static MccTime
on_layers_due (gpointer owner, MccTime now)
{
  GstMccSession *self = owner;

  return gst_mcc_layers_due (self->layers, now);
}

/* Packets keep the time at which they came: a unit's first one says when it was sent. */
static void
on_layers_out (gpointer owner, GstBuffer *buffer)
{
  GstMccSession *self = owner;

  gst_mcc_source_push (self->source, buffer, FALSE);
}

static void
on_layer_shown (gpointer owner, guint layer)
{
  GstMccSession *self = owner;

  if (self->handler.layer_shown)
    self->handler.layer_shown (self->owner, layer);
}

static void
on_picture_lost (gpointer owner)
{
  GstMccSession *self = owner;

  if (self->handler.picture_lost)
    self->handler.picture_lost (self->owner);
}

static const GstMccLayersFuncs layers_funcs = {
  .out = on_layers_out,
  .shown = on_layer_shown,
  .key_unit = on_picture_lost,
};

/* ---- RTP on its way out: the jitterbuffers' threads ---- */

static void
on_key_unit_wanted (gpointer owner)
{
  GstMccSession *self = owner;

  if (self->handler.key_unit_request)
    self->handler.key_unit_request (self->owner, 0, 0);
}

static void
on_lost (gpointer owner, guint packets)
{
  GstMccSession *self = owner;

  if (self->handler.lost)
    self->handler.lost (self->owner, packets);
}

static GstBuffer *
on_leaving (gpointer owner, GstBuffer *buffer, GstBuffer **before)
{
  GstMccSession *self = owner;

  return self->handler.leaving ? self->handler.leaving (self->owner, buffer, before) : buffer;
}

/* Frees the jitterbuffers of all senders but *@current (NULL: of all); not from a jitterbuffer's
 * own thread. */
static void
clear_streams (GstElement *rtpbin, const guint32 *current)
{
  GstIterator *iterator
      = gst_bin_iterate_all_by_element_factory_name (GST_BIN (rtpbin), "rtpssrcdemux");
  GValue value = G_VALUE_INIT;
  GArray *old = g_array_new (FALSE, FALSE, sizeof (guint32));
  GstElement *demux = NULL;

  if (gst_iterator_next (iterator, &value) == GST_ITERATOR_OK) {
    demux = g_value_dup_object (&value);
    g_value_unset (&value);
  }
  gst_iterator_free (iterator);
  if (demux) {
    GST_OBJECT_LOCK (demux);
    for (GList *item = demux->srcpads; item; item = item->next) {
      guint32 ssrc;

      if (sscanf (GST_PAD_NAME (item->data), "src_%u", &ssrc) == 1
          && (!current || ssrc != *current))
        g_array_append_val (old, ssrc);
    }
    GST_OBJECT_UNLOCK (demux);
  }
  for (guint i = 0; i < old->len; i++)
    g_signal_emit_by_name (demux, "clear-ssrc", g_array_index (old, guint32, i));
  g_clear_object (&demux);
  g_array_unref (old);
}

static void
clear_old_streams (GstElement *rtpbin, gpointer data)
{
  guint32 current = GPOINTER_TO_UINT (data);

  clear_streams (rtpbin, &current);
}

static void
on_took_over (gpointer owner, guint32 ssrc)
{
  GstMccSession *self = owner;

  gst_element_call_async (self->rtpbin, clear_old_streams, GUINT_TO_POINTER (ssrc), NULL);
}

static void
on_pad_added (GstElement *rtpbin, GstPad *pad, GstMccSession *self)
{
  guint32 session, ssrc, pt;

  if (sscanf (GST_PAD_NAME (pad), "recv_rtp_src_%u_%u_%u", &session, &ssrc, &pt) == 3)
    gst_mcc_outlet_add (self->outlet, pad, ssrc);
}

static void
on_pad_removed (GstElement *rtpbin, GstPad *pad, GstMccSession *self)
{
  gst_mcc_outlet_remove (self->outlet, pad);
}

static GstCaps *
on_request_pt_map (GstElement *rtpbin, guint session, guint pt, GstMccSession *self)
{
  GstCaps *caps = NULL;
  gint payload = -1;
  gboolean tell;

  g_mutex_lock (&self->lock);
  if (self->caps
      && (!gst_structure_get_int (gst_caps_get_structure (self->caps, 0), "payload", &payload)
          || payload == (gint)pt))
    caps = gst_caps_ref (self->caps);
  tell = self->caps && !caps && !self->payload_told;
  self->payload_told |= tell;
  g_mutex_unlock (&self->lock);
  if (tell)
    GST_ELEMENT_WARNING (self->bin, STREAM, FORMAT,
        ("RTP of payload type %u comes, the caps say %d: it is not played. Set `caps` to that of "
         "the sender's payloader.",
            pt, payload),
        (NULL));
  return caps;
}

/* ---- a flush: the application's thread ---- */

static void
on_flush_start (gpointer owner)
{
  GstMccSession *self = owner;

  gst_mcc_outlet_flush_start (self->outlet);
}

/* A decoder that was flushed begins with a key unit. */
static void
on_flush_stop (gpointer owner, gboolean reset_time)
{
  GstMccSession *self = owner;

  gst_mcc_outlet_flush_stop (self->outlet, reset_time);
  on_key_unit_wanted (self);
}

/* ---- making and unmaking ---- */

static const GstMccSourceFuncs source_funcs = {
  .accept = on_rtp,
  .eos = on_eos,
  .flush_start = on_flush_start,
  .flush_stop = on_flush_stop,
};

static const GstMccOutletFuncs outlet_funcs = {
  .key_unit_wanted = on_key_unit_wanted,
  .lost = on_lost,
  .took_over = on_took_over,
  .leaving = on_leaving,
};

gboolean
gst_mcc_session_open_receiver (
    GstMccSession *self, const GstMccSessionSettings *settings, GError **error)
{
  GstMccSourceFuncs funcs = source_funcs;
  GstMccLayers *layers = NULL;
  gchar *stream_id;

  if (self->srtp)
    funcs.decrypt = on_encrypted;
  if (self->handler.assp_app) {
    self->merge = gst_mcc_merge_new (&merge_funcs, self, g_random_int ());
    funcs.merge = on_merge;
    funcs.due = on_due;
  }
  if (self->handler.elm_app) {
    layers = gst_mcc_layers_new (
        &layers_funcs, self, g_random_int (), settings->latency_ms * MCC_MSECOND / GAP_SHARE);
    funcs.merge = on_layers_merge;
    funcs.due = on_layers_due;
  }
  if ((self->handler.assp_app && !self->merge) || (self->handler.elm_app && !layers)) {
    g_set_error (error, GST_CORE_ERROR, GST_CORE_ERROR_FAILED, "no memory for the streams");
    return FALSE;
  }
  self->udp = gst_mcc_source_new (self->sockets.rtp, &funcs, self);
  g_mutex_lock (&self->lock); /* figures may be read meanwhile */
  self->source = GST_MCC_SOURCE (gst_object_ref (self->udp));
  self->layers = layers;
  g_mutex_unlock (&self->lock);
  gst_bin_add (self->bin, self->udp);
  /* With the name: another one of the pipeline may take another sender of the group. */
  stream_id = g_strdup_printf ("adaptive-multicast/%s/%u/%s", settings->address, settings->port,
      GST_OBJECT_NAME (self->bin));
  self->outlet = gst_mcc_outlet_new (
      &outlet_funcs, self, stream_id, (GstClockTime)settings->latency_ms * GST_MSECOND);
  g_free (stream_id);
  self->rtp_pad = gst_element_request_pad_simple (self->rtpbin, "recv_rtp_sink_0");
  if (!self->rtp_pad || !gst_mcc_source_link (self->source, self->rtp_pad)) {
    g_set_error (error, GST_CORE_ERROR, GST_CORE_ERROR_FAILED, "rtpbin cannot be linked");
    return FALSE;
  }
  g_signal_connect (self->rtpbin, "pad-added", G_CALLBACK (on_pad_added), self);
  g_signal_connect (self->rtpbin, "pad-removed", G_CALLBACK (on_pad_removed), self);
  g_signal_connect (self->rtpbin, "request-pt-map", G_CALLBACK (on_request_pt_map), self);
  return TRUE;
}

void
gst_mcc_session_start_receiver (GstMccSession *self)
{
  g_mutex_lock (&self->lock);
  self->payload_told = FALSE;
  g_mutex_unlock (&self->lock);
  if (self->layers)
    gst_mcc_layers_clear_stats (self->layers);
  gst_mcc_outlet_start (self->outlet);
}

void
gst_mcc_session_stop_receiver (GstMccSession *self)
{
  gst_mcc_outlet_stop (self->outlet);
  gst_mcc_source_stop (self->source);
  /* rtpbin keeps them, and would hold the next start's stream in sync with what they remember */
  clear_streams (self->rtpbin, NULL);
}

static void
leave_all (GstMccSession *self)
{
  for (guint i = 0; (self->merge || self->layers) && i < GST_MCC_STREAMS_MAX; i++)
    drop_membership (self, i, FALSE);
}

void
gst_mcc_session_cease (GstMccSession *self)
{
  if (self->sockets.rtp)
    gst_mcc_sockets_leave (&self->sockets);
  leave_all (self);
  gst_mcc_session_send (self, 0, NULL, 0, TRUE);
}

void
gst_mcc_session_close_receiver (GstMccSession *self)
{
  GstMccSource *source;
  GstMccLayers *layers;

  if (self->udp)
    gst_element_set_state (self->udp, GST_STATE_NULL);
  if (self->rtpbin) {
    gst_element_set_state (self->rtpbin, GST_STATE_NULL);
    g_signal_handlers_disconnect_by_data (self->rtpbin, self);
  }
  leave_all (self);
  g_mutex_lock (&self->lock); /* figures may be read meanwhile */
  source = g_steal_pointer (&self->source);
  layers = g_steal_pointer (&self->layers);
  g_mutex_unlock (&self->lock);
  g_clear_object (&source);
  g_clear_pointer (&self->merge, gst_mcc_merge_free);
  g_clear_pointer (&layers, gst_mcc_layers_free);
  g_clear_pointer (&self->outlet, gst_mcc_outlet_free);
  for (guint i = 0; i < GST_MCC_STREAMS_MAX; i++)
    gst_clear_caps (&self->joined[i].caps);
  gst_clear_caps (&self->caps);
  memset (&self->source_address, 0, sizeof self->source_address);
  memset (&self->host, 0, sizeof self->host);
}

void
gst_mcc_session_pause (GstMccSession *self)
{
  leave_all (self);
  if (self->merge)
    gst_mcc_merge_reset (self->merge, gst_mcc_session_clock ());
  if (self->layers)
    gst_mcc_layers_reset (self->layers, gst_mcc_session_clock ());
  gst_mcc_sockets_leave (&self->sockets);
  g_mutex_lock (&self->lock);
  self->source_ssrc = 0;
  memset (&self->host, 0, sizeof self->host);
  g_mutex_unlock (&self->lock);
}

void
gst_mcc_session_resume (GstMccSession *self)
{
  GError *error = NULL;

  gst_mcc_sockets_rejoin (&self->sockets, &error);
  gst_mcc_session_tell_joined (self, error);
  gst_mcc_source_set_unread (self->source);
}

/* ---- RTCP on its way in: the reader's thread ---- */

guint32
gst_mcc_session_get_followed (GstMccSession *self, MccAddress *host, gboolean *lost)
{
  MccTime now = gst_mcc_session_clock ();
  guint32 ssrc;

  g_mutex_lock (&self->lock);
  ssrc = self->source_ssrc;
  *host = self->source_address;
  /* what is followed and has not come yet does not tell where its sender is now */
  *lost = self->source_lost || (self->host.family && now - self->host_heard >= SENDER_MOVED);
  g_mutex_unlock (&self->lock);
  return ssrc;
}

void
gst_mcc_session_learn_destination (
    GstMccSession *self, const guint8 *data, gsize size, const MccAddress *from)
{
  if (self->sender || self->sockets.multicast || size < 8)
    return;
  g_mutex_lock (&self->lock);
  if (self->source_ssrc && GST_READ_UINT32_BE (data + 4) == self->source_ssrc
      && self->sockets.feedback.family == 0 && mcc_address_same_host (from, &self->source_address)
      && !mcc_address_equal (from, &self->learned)) {
    self->learned = *from;
    gst_mcc_session_set_destination_locked (self, from);
  }
  g_mutex_unlock (&self->lock);
}

/* ---- streams: what the element tells ---- */

static gboolean
open_group (GstMccSession *self, guint stream, MccPlace place, GError **error)
{
  GSocket *socket = gst_mcc_sockets_open_stream (&self->sockets, place, error);
  GstMccInput *input;

  if (!socket) {
    gst_mcc_source_wake (self->source);
    return FALSE;
  }
  g_mutex_lock (&self->lock);
  self->joined[stream].socket = socket;
  g_mutex_unlock (&self->lock);
  input = gst_mcc_input_new (socket, stream);
  gst_mcc_source_add (self->source, input);
  gst_mcc_input_unref (input);
  return TRUE;
}

gboolean
gst_mcc_session_join (GstMccSession *self, guint stream, const MccAsspStream *group, GError **error)
{
  MccPlace place = { .address_offset = group->address_offset, .port_offset = group->port_offset };

  g_return_val_if_fail (stream < GST_MCC_STREAMS_MAX, FALSE);
  drop_membership (self, stream, FALSE);
  gst_mcc_merge_join (self->merge, stream, group->ssrc);
  return open_group (self, stream, place, error);
}

void
gst_mcc_session_rename (GstMccSession *self, guint stream, guint32 ssrc)
{
  gst_mcc_merge_join (self->merge, stream, ssrc);
  gst_mcc_source_wake (self->source);
  gst_mcc_session_follow (self, ssrc);
}

void
gst_mcc_session_leave (GstMccSession *self, guint stream)
{
  g_return_if_fail (stream < GST_MCC_STREAMS_MAX);
  g_mutex_lock (&self->lock);
  self->joined[stream].leaving = TRUE;
  g_mutex_unlock (&self->lock);
  gst_mcc_merge_leave (self->merge, stream);
  gst_mcc_source_wake (self->source);
}

void
gst_mcc_session_follow (GstMccSession *self, guint32 ssrc)
{
  g_mutex_lock (&self->lock);
  if (self->source_ssrc != ssrc) {
    self->source_ssrc = ssrc;
    self->source_address = self->host; /* one sender's streams come from one host */
    self->source_lost = self->source_gone = FALSE;
    gst_mcc_reception_reset (&self->reception, ssrc);
  }
  g_mutex_unlock (&self->lock);
}

void
gst_mcc_session_set_host (GstMccSession *self, const MccAddress *host)
{
  g_mutex_lock (&self->lock);
  self->host = *host;
  self->host_heard = gst_mcc_session_clock ();
  if (!mcc_address_same_host (&self->source_address, host)) {
    self->source_address = *host;
    self->source_lost = self->source_gone = FALSE;
  }
  g_mutex_unlock (&self->lock);
}

void
gst_mcc_session_lose_source (GstMccSession *self)
{
  g_mutex_lock (&self->lock);
  /* Its RTP would tell where it is now, but that of layers counts only once they are described. */
  self->source_lost = self->layers != NULL;
  self->source_gone = TRUE;
  g_mutex_unlock (&self->lock);
}

void
gst_mcc_session_set_stream_caps (GstMccSession *self, guint stream, GstCaps *caps)
{
  GstMccPayload kind = GST_MCC_PAYLOAD_OTHER;
  gint clock_rate = 0;

  g_return_if_fail (stream < GST_MCC_STREAMS_MAX);
  if (caps) {
    GstStructure *s = gst_caps_get_structure (caps, 0);

    kind = gst_mcc_payload_from_name (gst_structure_get_string (s, "encoding-name"));
    gst_structure_get_int (s, "clock-rate", &clock_rate);
  }
  g_mutex_lock (&self->lock);
  gst_caps_replace (&self->joined[stream].caps, caps);
  g_mutex_unlock (&self->lock);
  gst_mcc_merge_set_kind (self->merge, stream, kind, (guint)MAX (clock_rate, 0));
  gst_mcc_source_wake (self->source);
}

gsize
gst_mcc_session_map_rtcp (GstMccSession *self, guint8 *data, gsize size)
{
  gboolean own;

  if (size < 8)
    return size;
  g_mutex_lock (&self->lock);
  own = GST_READ_UINT32_BE (data + 4) == self->stream[0].ssrc;
  g_mutex_unlock (&self->lock);
  if (own) /* somebody has our SSRC: rtpsession chooses another */
    return size;
  return self->layers ? gst_mcc_layers_map_rtcp (self->layers, data, size)
                      : gst_mcc_merge_map_rtcp (self->merge, data, size);
}

/* ---- layers: what the element tells ---- */

gboolean
gst_mcc_session_join_layer (GstMccSession *self, guint layer, MccPlace place, GError **error)
{
  g_return_val_if_fail (layer < GST_MCC_STREAMS_MAX, FALSE);
  drop_membership (self, layer, FALSE);
  gst_mcc_layers_join (self->layers, layer);
  return open_group (self, layer, place, error);
}

void
gst_mcc_session_leave_layer (GstMccSession *self, guint layer)
{
  g_return_if_fail (layer < GST_MCC_STREAMS_MAX);
  gst_mcc_layers_leave (self->layers, layer);
  drop_membership (self, layer, FALSE);
}

void
gst_mcc_session_restart_layers (GstMccSession *self, guint32 ssrc)
{
  gst_mcc_layers_restart (self->layers, ssrc);
  gst_mcc_session_follow (self, ssrc);
  gst_mcc_source_wake (self->source);
}

void
gst_mcc_session_set_layer_caps (GstMccSession *self, GstCaps *caps, guint8 order_id)
{
  gint clock_rate = 0;

  gst_structure_get_int (gst_caps_get_structure (caps, 0), "clock-rate", &clock_rate);
  gst_mcc_layers_set_media (self->layers, order_id, (guint)MAX (clock_rate, 0));
  gst_mcc_session_set_caps (self, caps);
}

void
gst_mcc_session_get_layer_stats (GstMccSession *self, MccLayerMergeStats *out)
{
  memset (out, 0, sizeof *out);
  g_mutex_lock (&self->lock);
  if (self->layers)
    gst_mcc_layers_get_stats (self->layers, out);
  g_mutex_unlock (&self->lock);
}

/* ---- what the element tells ---- */

void
gst_mcc_session_set_exit (GstMccSession *self, GstPad *ghost)
{
  gst_mcc_outlet_set_exit (self->outlet, ghost);
}

void
gst_mcc_session_set_caps (GstMccSession *self, GstCaps *caps)
{
  gboolean changed;
  gint clock_rate = 0;

  gst_structure_get_int (gst_caps_get_structure (caps, 0), "clock-rate", &clock_rate);
  g_mutex_lock (&self->lock);
  changed = !self->caps || !gst_caps_is_equal (self->caps, caps);
  gst_caps_replace (&self->caps, caps);
  self->reception.clock_rate = (guint)MAX (clock_rate, 0);
  g_mutex_unlock (&self->lock);
  if (changed && self->rtpbin)
    g_signal_emit_by_name (self->rtpbin, "clear-pt-map");
  if (self->source)
    gst_mcc_source_set_caps (self->source, caps);
}

void
gst_mcc_session_set_feedback (GstMccSession *self, const MccAddress *address, guint8 ttl)
{
  g_mutex_lock (&self->lock);
  if (self->sockets.multicast) {
    MccAddress group = self->sockets.group;

    group.port = (uint16_t)(group.port + 1);
    if (address->family)
      gst_mcc_session_set_destination_locked (self, address);
    else if (self->sockets.feedback.family)
      gst_mcc_session_set_destination_locked (self, &self->sockets.feedback);
    else
      gst_mcc_session_set_destination_locked (self, &group);
  }
  g_mutex_unlock (&self->lock);
  gst_mcc_sockets_set_ttl (&self->sockets, ttl);
}

void
gst_mcc_session_reset_source (GstMccSession *self, guint32 ssrc)
{
  g_mutex_lock (&self->lock);
  if (self->source_ssrc != ssrc) {
    self->source_ssrc = ssrc;
    self->source_address.family = 0; /* until its RTP comes */
    self->source_lost = self->source_gone = FALSE;
    gst_mcc_reception_reset (&self->reception, ssrc);
    memset (&self->learned, 0, sizeof self->learned);
  }
  g_mutex_unlock (&self->lock);
  if (self->source)
    gst_mcc_source_reset (self->source);
}

guint64
gst_mcc_session_get_unheld (GstMccSession *self)
{
  guint64 dropped;

  g_mutex_lock (&self->lock);
  dropped = self->source ? gst_mcc_source_get_dropped (self->source) : 0;
  g_mutex_unlock (&self->lock);
  return dropped;
}

gboolean
gst_mcc_session_hears_group (GstMccSession *self)
{
  return self->sockets.rtcp_group != NULL && !self->sockets.ssm
         && self->sockets.feedback.family == 0;
}
