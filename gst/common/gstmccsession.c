/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstmccsessionprivate.h"

#include <gst/rtp/gstrtpbuffer.h>

#include "mccrtcp.h"

GST_DEBUG_CATEGORY (gst_mcc_session_debug);
#define GST_CAT_DEFAULT gst_mcc_session_debug

#define RTP_PROFILE_AVPF 3
#define RTP_PROFILE_SAVPF 4
#define DEFAULT_BANDWIDTH 1000000 /* until a target is known */
#define LEAST_BANDWIDTH 100.0     /* rtpsession counts RTCP's part of it in whole bits */
#define NTP_EPOCH 2208988800u     /* 1970 in NTP seconds */
#define RTT_MAX (10 * MCC_SECOND) /* more is a receiver's arithmetic, not a path */

MccTime
gst_mcc_session_clock (void)
{
  return (MccTime)g_get_monotonic_time () * MCC_USECOND;
}

static guint64
ntp_now (void)
{
  guint64 us = (guint64)g_get_real_time ();
  guint64 seconds = us / G_USEC_PER_SEC + NTP_EPOCH;

  return seconds << 32 | ((us % G_USEC_PER_SEC) << 32) / G_USEC_PER_SEC;
}

/* ---- RTCP out ---- */

/* Where RTCP goes; NULL: not known yet. Called with the lock. Transfer full. */
static GSocketAddress *
destination_locked (GstMccSession *self)
{
  return self->destination ? g_object_ref (self->destination) : NULL;
}

void
gst_mcc_session_set_destination_locked (GstMccSession *self, const MccAddress *address)
{
  g_clear_object (&self->destination);
  if (address->family)
    self->destination
        = gst_mcc_address_to_socket (address, gst_mcc_sockets_get_scope (&self->sockets));
}

static void
transmit (GstMccStream *stream, GstBuffer *buffer)
{
  GstMccSession *self = stream->session;
  guint8 data[GST_MCC_SCREEN_BYTES + GST_MCC_SRTP_ROOM];
  GSocketAddress *destination = NULL;
  GError *error = NULL;
  gsize size;

  g_mutex_lock (&self->lock);
  if (self->active)
    destination = destination_locked (self);
  g_mutex_unlock (&self->lock);
  if (!destination)
    return;
  size = gst_buffer_extract (buffer, 0, data, GST_MCC_SCREEN_BYTES);
  /* rtpsession's suppressed reports are empty */
  if (size > 0 && (!self->srtp || gst_mcc_srtp_protect (self->srtp, TRUE, data, &size))) {
    g_mutex_lock (&self->lock);
    stream->rtcp_sent = TRUE;
    g_mutex_unlock (&self->lock);
    if (g_socket_send_to (self->sockets.rtcp, destination, (const gchar *)data, size, NULL, &error)
        < 0) {
      GST_INFO_OBJECT (self->bin, "RTCP not sent: %s", error->message);
      g_clear_error (&error);
    }
  }
  g_object_unref (destination);
}

static GstFlowReturn
rtcp_out_chain (GstPad *pad, GstObject *parent, GstBuffer *buffer)
{
  GstMccStream *stream = gst_pad_get_element_private (pad);
  GstMccSession *self = stream->session;
  gboolean left;

  g_mutex_lock (&self->lock);
  left = stream->bye_sent || self->merge || self->layers || (!self->sender && !stream->app_sent)
         || (self->handler.elm_app && self->sender && stream->packets == 0);
  g_mutex_unlock (&self->lock);
  /* rtpsession does not know that we have said BYE, nor which streams there are; and what it calls
   * lost at the start did not come to it. Before our first report that would be a plain player's.
   */
  if (!left)
    transmit (stream, buffer);
  gst_buffer_unref (buffer);
  return GST_FLOW_OK;
}

static gboolean
rtcp_out_event (GstPad *pad, GstObject *parent, GstEvent *event)
{
  gst_event_unref (event); /* EOS too: RTCP goes on until _stop() */
  return TRUE;
}

void
gst_mcc_session_refresh_ssrc (GstMccStream *stream)
{
  GstMccSession *self = stream->session;
  guint32 ssrc = 0;
  gboolean tell;

  if (!stream->rtp_session)
    return;
  g_object_get (stream->rtp_session, "internal-ssrc", &ssrc, NULL);
  g_mutex_lock (&self->lock);
  if (self->sender && stream->media_ssrc)
    ssrc = stream->media_ssrc;
  stream->ssrc = ssrc;
  tell = ssrc != stream->told_ssrc && (!self->sender || stream->media_ssrc);
  if (tell)
    stream->told_ssrc = ssrc;
  g_mutex_unlock (&self->lock);
  if (tell && self->handler.ssrc_changed)
    self->handler.ssrc_changed (self->owner, stream->number, ssrc);
}

/* TRUE: who has sent nothing does not say BYE (RFC 3550 6.3.7); it has left all the same. */
static gboolean
leave_unheard (GstMccStream *stream)
{
  gboolean unheard;

  g_mutex_lock (&stream->session->lock);
  unheard = !stream->rtcp_sent && stream->packets == 0;
  stream->bye_sent |= unheard;
  g_mutex_unlock (&stream->session->lock);
  return unheard;
}

static void
send_compounds (GstMccStream *stream, const GstMccApps *apps, guint32 pli_ssrc, gboolean bye)
{
  GstMccSession *self = stream->session;
  GstClockTime running_time = gst_element_get_current_running_time (GST_ELEMENT (self->bin));
  gboolean said = !self->sender || !self->srtp || apps->n == 0;
  MccIndexApp indexes;
  guint sent = 0;

  if (bye && leave_unheard (stream))
    return;
  gst_mcc_session_refresh_ssrc (stream);
  if (!said)
    gst_mcc_srtp_get_indexes (self->srtp, &indexes);
  do {
    GstMccSenderInfo info;
    GstMccCompound compound = { .cname = self->cname,
      .pli_ssrc = pli_ssrc,
      .bye = bye,
      .indexes = said ? NULL : &indexes,
      .said = &said };
    GstBuffer *buffer;
    guint used;

    g_mutex_lock (&self->lock);
    compound.ssrc = stream->ssrc;
    if (gst_mcc_session_get_sender_info_locked (stream, running_time, &info)) {
      info.ntp = ntp_now ();
      compound.sender = &info;
    }
    if (!self->sender)
      compound.reception = &self->reception;
    buffer = gst_mcc_compound_build_from (&compound, apps, sent, gst_mcc_session_clock (), &used);
    stream->bye_sent = bye;
    stream->app_sent |= apps->n > 0;
    g_mutex_unlock (&self->lock);
    transmit (stream, buffer);
    gst_buffer_unref (buffer);
    sent += used;
    pli_ssrc = 0;
  } while (sent < apps->n);
}

void
gst_mcc_session_send (
    GstMccSession *self, guint stream, const MccApp *apps, guint n_apps, gboolean bye)
{
  send_compounds (&self->stream[stream], &(GstMccApps){ .n = n_apps, .asmp = apps }, 0, bye);
}

void
gst_mcc_session_send_assp (
    GstMccSession *self, guint stream, const MccAsspApp *apps, guint n_apps, gboolean bye)
{
  send_compounds (&self->stream[stream], &(GstMccApps){ .n = n_apps, .assp = apps }, 0, bye);
}

void
gst_mcc_session_send_elm (
    GstMccSession *self, guint stream, const MccElmApp *apps, guint n_apps, gboolean bye)
{
  send_compounds (&self->stream[stream], &(GstMccApps){ .n = n_apps, .elm = apps }, 0, bye);
}

void
gst_mcc_session_request_key_unit (GstMccSession *self, guint32 ssrc)
{
  static const GstMccApps none;

  g_mutex_lock (&self->lock);
  if (!ssrc)
    ssrc = self->source_ssrc;
  g_mutex_unlock (&self->lock);
  if (ssrc)
    send_compounds (&self->stream[0], &none, ssrc, FALSE);
}

/* ---- RTCP in ---- */

static void
on_app (gpointer user, const MccApp *app, const MccAddress *from)
{
  GstMccSession *self = user;

  if (self->handler.app)
    self->handler.app (self->owner, app, from);
}

static void
on_assp_app (gpointer user, const MccAsspApp *app, const MccAddress *from)
{
  GstMccSession *self = user;

  self->handler.assp_app (self->owner, app, from);
}

static void
on_elm_app (gpointer user, const MccElmApp *app, const MccAddress *from)
{
  GstMccSession *self = user;

  self->handler.elm_app (self->owner, app, from);
}

static void
on_sender_report (
    gpointer user, guint32 ssrc, guint64 ntp, guint32 rtp_time, const MccAddress *from)
{
  GstMccSession *self = user;

  g_mutex_lock (&self->lock);
  if (ssrc == self->source_ssrc && !self->sender)
    gst_mcc_reception_handle_sr (&self->reception, ntp, gst_mcc_session_clock ());
  g_mutex_unlock (&self->lock);
}

/* Time since our report @lsr less the reporter's hold, 0 = unknown or implausible. */
static MccTime
round_trip (guint32 lsr, guint32 dlsr)
{
  guint32 now = (guint32)(ntp_now () >> 16);
  gint32 units = (gint32)(now - lsr - dlsr);
  MccTime rtt;

  if (lsr == 0 || units <= 0)
    return 0;
  rtt = gst_util_uint64_scale ((guint64)units, GST_SECOND, 65536);
  return rtt <= RTT_MAX ? rtt : 0;
}

/* Which of our streams @ssrc is; NULL: none. */
static GstMccStream *
find_stream (GstMccSession *self, guint32 ssrc)
{
  GstMccStream *found = NULL;

  g_mutex_lock (&self->lock);
  for (guint i = 0; self->sender && !found && i < self->n_streams; i++)
    if (self->stream[i].ssrc == ssrc)
      found = &self->stream[i];
  g_mutex_unlock (&self->lock);
  return found;
}

static void
on_report_block (gpointer user, guint32 ssrc, const GstMccReportBlock *block, gboolean has_app,
    const MccAddress *from)
{
  GstMccSession *self = user;
  GstMccStream *stream = find_stream (self, block->ssrc);

  MccPlainReport report = { block->fraction_lost, block->packets_lost, block->highest_seq,
    round_trip (block->lsr, block->dlsr) };

  if (stream && self->handler.report_block)
    self->handler.report_block (self->owner, stream->number, ssrc, &report, has_app, from);
}

static void
on_bye (gpointer user, guint32 ssrc, const MccAddress *from)
{
  GstMccSession *self = user;

  if (self->handler.bye)
    self->handler.bye (self->owner, ssrc, from);
}

static void
on_key_unit_request (gpointer user, guint32 ssrc, guint32 media_ssrc)
{
  GstMccSession *self = user;
  GstMccStream *stream = find_stream (self, media_ssrc);

  if (stream && self->handler.key_unit_request)
    self->handler.key_unit_request (self->owner, stream->number, ssrc);
}

static void
on_dropped (gpointer user, MccDrop drop, guint32 ssrc)
{
  GstMccSession *self = user;

  if (self->handler.dropped)
    self->handler.dropped (self->owner, drop, ssrc);
}

static void
on_indexes (gpointer user, const MccIndexApp *app, const MccAddress *from)
{
  gst_mcc_session_handle_indexes (user, app, from);
}

/* A receiver's needs nobody but the sender. A sender's needs some, to know that receivers, too,
 * share its bandwidth. */
static guint
on_known (gpointer user)
{
  GstMccSession *self = user;
  guint most = self->sender ? 0 : G_MAXUINT;

  for (guint i = 0; self->sender && i < self->n_streams; i++) {
    guint known = 0;

    if (self->stream[i].rtp_session)
      g_object_get (self->stream[i].rtp_session, "num-sources", &known, NULL);
    most = MAX (most, known);
  }
  return most;
}

static const GstMccScreenFuncs screen_funcs = {
  .app = on_app,
  .sender_report = on_sender_report,
  .report_block = on_report_block,
  .bye = on_bye,
  .key_unit_request = on_key_unit_request,
  .dropped = on_dropped,
  .known = on_known,
};

/* From the reader's thread. */
static void
on_datagram (gpointer owner, const guint8 *data, gsize size, const MccAddress *from)
{
  GstMccSession *self = owner;
  guint8 forward[GST_MCC_SCREEN_BYTES], plain[GST_MCC_SCREEN_BYTES + GST_MCC_SRTP_ROOM];
  guint32 own[GST_MCC_STREAMS_MAX], followed;
  MccAddress host;
  gboolean lost;
  GstBuffer *buffer;
  gsize bytes;

  if (self->srtp) {
    size = MIN (size, sizeof plain); /* a longer one fails there, and would at the screen */
    memcpy (plain, data, size);
    data = plain;
    if (!gst_mcc_session_unprotect (self, TRUE, plain, &size, from))
      return;
  }
  g_mutex_lock (&self->lock);
  for (guint i = 0; i < self->n_streams; i++)
    own[i] = self->stream[i].ssrc;
  g_mutex_unlock (&self->lock);
  followed = gst_mcc_session_get_followed (self, &host, &lost);
  gst_mcc_session_learn_destination (self, data, size, from);
  gst_mcc_screen_set_followed (self->screen, followed, &host, lost);
  gst_mcc_screen_set_own (self->screen, own, self->n_streams, self->sockets.rtcp_port);
  bytes = gst_mcc_screen_handle (self->screen, data, size, from, gst_mcc_session_clock (), forward);
  if (self->merge || self->layers)
    bytes = gst_mcc_session_map_rtcp (self, forward, bytes);
  if (bytes == 0)
    return;
  buffer = gst_buffer_new_memdup (forward, bytes);
  GST_BUFFER_DTS (buffer) = gst_element_get_current_running_time (GST_ELEMENT (self->bin));
  {
    GSocketAddress *address
        = gst_mcc_address_to_socket (from, gst_mcc_sockets_get_scope (&self->sockets));

    gst_buffer_add_net_address_meta (buffer, address);
    g_object_unref (address);
  }
  for (guint i = 1; i < self->n_streams; i++)
    gst_pad_push (self->stream[i].rtcp_in, gst_buffer_copy (buffer));
  gst_pad_push (self->stream[0].rtcp_in, buffer);
}

/* ---- making and unmaking ---- */

GstElement *
gst_mcc_session_make_element (GstMccSession *self, const gchar *factory, GError **error)
{
  GstElement *element = gst_element_factory_make (factory, NULL);

  if (!element) {
    gst_mcc_messages_missing (GST_ELEMENT (self->bin), factory);
    g_set_error (error, GST_CORE_ERROR, GST_CORE_ERROR_MISSING_PLUGIN,
        "the element %s is missing; install GStreamer's good plugins "
        "(Debian: gstreamer1.0-plugins-good)",
        factory);
    return NULL;
  }
  gst_bin_add (self->bin, element);
  return element;
}

static gchar *
make_cname (const gchar *set)
{
  guint8 random[12];
  gchar *base64;

  if (set && *set)
    return g_strdup (set);
  /* RFC 7022 4.2: 96 random bits, nothing that tells who we are */
  for (guint i = 0; i < sizeof random; i += 4) {
    guint32 word = g_random_int ();

    memcpy (random + i, &word, 4);
  }
  base64 = g_base64_encode (random, sizeof random);
  return base64;
}

static void
configure_rtpbin (GstMccSession *self, const GstMccSessionSettings *settings)
{
  GstStructure *sdes = gst_structure_new (
      "application/x-rtp-source-sdes", "cname", G_TYPE_STRING, self->cname, NULL);

  g_object_set (self->rtpbin, "rtp-profile", self->srtp ? RTP_PROFILE_SAVPF : RTP_PROFILE_AVPF,
      "sdes", sdes, NULL);
  if (!self->sender)
    g_object_set (self->rtpbin, "latency", settings->latency_ms, "do-lost", TRUE, NULL);
  gst_structure_free (sdes);
}

/* The rtpsessions inside: their regular reports keep to their share. */
static void
configure_rtp_sessions (GstMccSession *self, const GstMccSessionSettings *settings)
{
  self->session_bandwidth = settings->session_bandwidth;
  for (guint i = 0; i < self->n_streams; i++) {
    GstMccStream *stream = &self->stream[i];

    g_signal_emit_by_name (self->rtpbin, "get-internal-session", i, &stream->rtp_session);
    if (stream->rtp_session)
      g_object_set (
          stream->rtp_session, "rtcp-fraction", MCC_RTCP_FRACTION * MCC_RTCP_REGULAR_SHARE, NULL);
    gst_mcc_session_set_stream_bandwidth (self, i, DEFAULT_BANDWIDTH / self->n_streams);
  }
}

void
gst_mcc_session_set_stream_bandwidth (GstMccSession *self, guint stream, guint64 bps)
{
  GObject *rtp_session = self->stream[stream].rtp_session;

  if (rtp_session)
    g_object_set (rtp_session, "bandwidth", (gdouble)MAX (bps, 1000), NULL);
}

void
gst_mcc_session_set_bandwidth (GstMccSession *self, guint64 bps)
{
  guint64 most = self->session_bandwidth ? self->session_bandwidth : G_MAXUINT64;

  gst_mcc_session_set_stream_bandwidth (self, 0, mcc_rtcp_base_bps (bps, most));
}

void
gst_mcc_session_set_shared_bandwidth (GstMccSession *self, guint64 bps, guint receivers)
{
  guint64 most = self->session_bandwidth ? self->session_bandwidth : G_MAXUINT64;
  gdouble known = mcc_rtcp_known_bps (mcc_rtcp_base_bps (bps, most), receivers);

  if (self->stream[0].rtp_session)
    g_object_set (self->stream[0].rtp_session, "bandwidth", MAX (known, LEAST_BANDWIDTH), NULL);
}

static GstPad *
request_pad (GstMccSession *self, const gchar *format, guint number)
{
  gchar *name = g_strdup_printf (format, number);
  GstPad *pad = gst_element_request_pad_simple (self->rtpbin, name);

  g_free (name);
  return pad;
}

/* rtpbin's RTCP pads meet two pads of ours, which belong to no element: RTCP has no part in EOS,
 * preroll or liveness. */
static gboolean
link_rtcp (GstMccStream *stream)
{
  GstMccSession *self = stream->session;

  stream->recv_rtcp = request_pad (self, "recv_rtcp_sink_%u", stream->number);
  stream->send_rtcp = request_pad (self, "send_rtcp_src_%u", stream->number);
  stream->rtcp_in = gst_object_ref_sink (gst_pad_new ("mcc_rtcp_in", GST_PAD_SRC));
  stream->rtcp_out = gst_object_ref_sink (gst_pad_new ("mcc_rtcp_out", GST_PAD_SINK));
  gst_pad_set_element_private (stream->rtcp_out, stream);
  gst_pad_set_chain_function (stream->rtcp_out, rtcp_out_chain);
  gst_pad_set_event_function (stream->rtcp_out, rtcp_out_event);
  return stream->recv_rtcp && stream->send_rtcp
         && gst_pad_link (stream->rtcp_in, stream->recv_rtcp) == GST_PAD_LINK_OK
         && gst_pad_link (stream->send_rtcp, stream->rtcp_out) == GST_PAD_LINK_OK;
}

/* Where RTCP goes before anybody has announced anything. */
static void
set_first_destination (GstMccSession *self)
{
  MccAddress address = self->sockets.group;

  address.port = (uint16_t)(address.port + 1);
  if (!self->sender && self->sockets.feedback.family)
    address = self->sockets.feedback;
  else if (!self->sender && !self->sockets.multicast)
    return; /* learned from the sender's RTCP */
  gst_mcc_session_set_destination_locked (self, &address);
}

/* rtpbin and what is linked to it. */
static gboolean
make_children (GstMccSession *self, const GstMccSessionSettings *settings, const MccPlace *places,
    GError **error)
{
  self->rtpbin = gst_mcc_session_make_element (self, "rtpbin", error);
  if (!self->rtpbin)
    return FALSE;
  configure_rtpbin (self, settings);
  if (self->sender ? !gst_mcc_session_open_sender (self, settings, places, error)
                   : !gst_mcc_session_open_receiver (self, settings, error))
    return FALSE;
  for (guint i = 0; i < self->n_streams; i++)
    if (!link_rtcp (&self->stream[i])) {
      g_set_error (error, GST_CORE_ERROR, GST_CORE_ERROR_FAILED, "rtpbin cannot be linked");
      return FALSE;
    }
  return TRUE;
}

gboolean
gst_mcc_session_open_streams (GstMccSession *self, const GstMccSessionSettings *settings,
    const MccPlace *places, guint n, GError **error)
{
  GstMccScreenFuncs funcs = screen_funcs;
  gboolean several = self->handler.assp_app || self->handler.elm_app;
  GstMccSocketsKind kind = self->sender ? GST_MCC_SOCKETS_SENDER
                           : several    ? GST_MCC_SOCKETS_STREAMS
                                        : GST_MCC_SOCKETS_RECEIVER;

  g_return_val_if_fail (n > 0 && n <= GST_MCC_STREAMS_MAX, FALSE);
  if (!gst_mcc_sockets_open (&self->sockets, settings, kind, error))
    return FALSE;
  self->n_streams = n;
  for (guint i = 0; i < n; i++)
    self->stream[i]
        = (GstMccStream){ .session = self, .number = i, .rtp_running_time = GST_CLOCK_TIME_NONE };
  self->cname = make_cname (settings->cname);
  set_first_destination (self);
  if (!gst_mcc_session_open_srtp (self, settings, error)
      || !make_children (self, settings, places, error)) {
    gst_mcc_session_close (self);
    return FALSE;
  }
  configure_rtp_sessions (self, settings);
  if (self->handler.assp_app)
    funcs.assp_app = on_assp_app;
  if (self->handler.elm_app)
    funcs.elm_app = on_elm_app;
  if (self->srtp)
    funcs.indexes = on_indexes;
  self->screen
      = gst_mcc_screen_new (&funcs, self, (guint64)g_random_int () << 32 | g_random_int ());
  for (guint i = 0; i < n; i++)
    gst_mcc_session_refresh_ssrc (&self->stream[i]);
  return TRUE;
}

gboolean
gst_mcc_session_open (GstMccSession *self, const GstMccSessionSettings *settings, GError **error)
{
  static const MccPlace here;

  return gst_mcc_session_open_streams (self, settings, &here, 1, error);
}

static void
start_rtcp (GstMccStream *stream)
{
  GstSegment segment;
  GstCaps *caps = gst_caps_new_empty_simple ("application/x-rtcp");

  gst_pad_set_active (stream->rtcp_out, TRUE);
  gst_pad_set_active (stream->rtcp_in, TRUE);
  gst_pad_push_event (stream->rtcp_in, gst_event_new_stream_start ("rtcp"));
  gst_pad_push_event (stream->rtcp_in, gst_event_new_caps (caps));
  gst_caps_unref (caps);
  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_pad_push_event (stream->rtcp_in, gst_event_new_segment (&segment));
}

/* A sender's RTP may have another SSRC than before. */
static void
begin_locked (GstMccStream *stream)
{
  stream->bye_sent = stream->app_sent = stream->rtcp_sent = FALSE;
  if (!stream->session->sender)
    return;
  stream->media_ssrc = stream->told_ssrc = stream->refused = 0;
  stream->rtp_running_time = GST_CLOCK_TIME_NONE; /* of the run before */
}

gboolean
gst_mcc_session_start (GstMccSession *self)
{
  g_mutex_lock (&self->lock);
  self->active = TRUE;
  self->told_unprotected = FALSE;
  for (guint i = 0; i < self->n_streams; i++)
    begin_locked (&self->stream[i]);
  g_mutex_unlock (&self->lock);
  for (guint i = 0; i < self->n_streams; i++)
    start_rtcp (&self->stream[i]);
  if (!self->sender)
    gst_mcc_session_start_receiver (self);
  self->reader
      = gst_mcc_reader_new (self->sockets.rtcp, self->sockets.rtcp_group, on_datagram, self);
  return self->reader != NULL;
}

static void
say_bye (GstMccStream *stream)
{
  gboolean said;

  g_mutex_lock (&stream->session->lock);
  said = stream->bye_sent;
  g_mutex_unlock (&stream->session->lock);
  if (!said)
    gst_mcc_session_send (stream->session, stream->number, NULL, 0, TRUE);
}

void
gst_mcc_session_stop (GstMccSession *self)
{
  gboolean active;

  g_mutex_lock (&self->lock);
  active = self->active;
  g_mutex_unlock (&self->lock);
  if (!active)
    return;
  for (guint i = 0; i < self->n_streams; i++)
    say_bye (&self->stream[i]);
  g_mutex_lock (&self->lock);
  self->active = FALSE;
  g_mutex_unlock (&self->lock);
  g_clear_pointer (&self->reader, gst_mcc_reader_free);
  if (!self->sender)
    gst_mcc_session_stop_receiver (self);
  for (guint i = 0; i < self->n_streams; i++) {
    gst_pad_set_active (self->stream[i].rtcp_in, FALSE);
    gst_pad_set_active (self->stream[i].rtcp_out, FALSE);
  }
}

static void
release_pad (GstMccSession *self, GstPad **pad)
{
  if (!*pad)
    return;
  if (self->rtpbin)
    gst_element_release_request_pad (self->rtpbin, *pad);
  g_clear_pointer (pad, gst_object_unref);
}

static void
remove_element (GstMccSession *self, GstElement **element)
{
  if (!*element)
    return;
  gst_element_set_state (*element, GST_STATE_NULL);
  gst_bin_remove (self->bin, *element);
  *element = NULL;
}

static void
close_stream (GstMccStream *stream)
{
  GstMccSession *self = stream->session;

  release_pad (self, &stream->rtp_pad);
  release_pad (self, &stream->recv_rtcp);
  release_pad (self, &stream->send_rtcp);
  g_clear_object (&stream->rtp_session);
  remove_element (self, &stream->udp);
  g_clear_object (&stream->rtcp_in);
  g_clear_object (&stream->rtcp_out);
}

void
gst_mcc_session_tell_joined (GstMccSession *self, GError *error)
{
  gboolean first;

  g_mutex_lock (&self->lock);
  first = error && !self->join_failed;
  self->join_failed = error != NULL;
  g_mutex_unlock (&self->lock);
  if (first)
    GST_ELEMENT_WARNING (self->bin, RESOURCE, OPEN_READ,
        ("%s. It is tried again until it works.", error->message), (NULL));
  g_clear_error (&error);
}

gboolean
gst_mcc_session_rejoin (GstMccSession *self)
{
  GSocket *streams[GST_MCC_STREAMS_MAX];
  MccAddress address;
  GError *error = NULL;
  gboolean good;
  guint n = 0;

  if (!self->sockets.multicast)
    return TRUE;
  g_mutex_lock (&self->lock);
  for (guint i = 0; i < GST_MCC_STREAMS_MAX; i++)
    if (self->joined[i].socket && !self->joined[i].leaving)
      streams[n++] = g_object_ref (self->joined[i].socket);
  g_mutex_unlock (&self->lock);
  good = gst_mcc_sockets_renew (&self->sockets, streams, n, &error);
  GST_INFO_OBJECT (self->bin, "joined again: %s", error ? error->message : "all groups");
  gst_mcc_session_tell_joined (self, error);
  while (n > 0)
    g_object_unref (streams[--n]);
  g_mutex_lock (&self->lock);
  /* it may name the interface */
  if (self->destination && gst_mcc_address_from_socket (self->destination, &address))
    gst_mcc_session_set_destination_locked (self, &address);
  g_mutex_unlock (&self->lock);
  return good;
}

void
gst_mcc_session_close (GstMccSession *self)
{
  gst_mcc_session_stop (self);
  if (self->sender)
    gst_mcc_session_close_sender (self);
  else
    gst_mcc_session_close_receiver (self);
  if (self->rtpbin)
    gst_element_set_state (self->rtpbin, GST_STATE_NULL);
  release_pad (self, &self->rtp_pad);
  for (guint i = 0; i < self->n_streams; i++)
    close_stream (&self->stream[i]);
  remove_element (self, &self->udp);
  remove_element (self, &self->rtpbin);
  g_clear_pointer (&self->screen, gst_mcc_screen_free);
  gst_mcc_session_close_srtp (self);
  gst_mcc_sockets_close (&self->sockets);
  g_clear_object (&self->destination);
  g_clear_pointer (&self->cname, g_free);
  memset (self->stream, 0, sizeof self->stream);
  self->n_streams = 0;
  self->source_ssrc = 0;
  self->source_lost = self->source_gone = FALSE;
  self->route_lost = FALSE;
  self->join_failed = FALSE;
  memset (&self->learned, 0, sizeof self->learned);
  memset (&self->reception, 0, sizeof self->reception);
}

static GstMccSession *
session_new (GstBin *bin, gboolean sender, const GstMccSessionHandler *handler, gpointer owner)
{
  static gsize once = 0;
  GstMccSession *self = g_new0 (GstMccSession, 1);

  if (g_once_init_enter (&once)) {
    GST_DEBUG_CATEGORY_INIT (gst_mcc_session_debug, "mccsession", 0, "adaptive multicast session");
    g_once_init_leave (&once, 1);
  }
  self->bin = bin;
  self->sender = sender;
  self->handler = *handler;
  self->owner = owner;
  g_mutex_init (&self->lock);
  return self;
}

GstMccSession *
gst_mcc_session_new_sender (GstBin *bin, const GstMccSessionHandler *handler, gpointer owner)
{
  return session_new (bin, TRUE, handler, owner);
}

GstMccSession *
gst_mcc_session_new_receiver (GstBin *bin, const GstMccSessionHandler *handler, gpointer owner)
{
  return session_new (bin, FALSE, handler, owner);
}

void
gst_mcc_session_free (GstMccSession *self)
{
  if (!self)
    return;
  gst_mcc_session_close (self);
  g_mutex_clear (&self->lock);
  g_free (self);
}

GstPad *
gst_mcc_session_get_rtp_pad (GstMccSession *self, guint stream)
{
  GstPad *pad = self->sender ? self->stream[stream].rtp_pad : gst_mcc_outlet_get_src (self->outlet);

  return pad ? gst_object_ref (pad) : NULL;
}

void
gst_mcc_session_expect_ssrc (GstMccSession *self, guint stream, guint32 ssrc)
{
  g_mutex_lock (&self->lock);
  if (self->stream[stream].media_ssrc == 0)
    self->stream[stream].media_ssrc = ssrc;
  g_mutex_unlock (&self->lock);
}

guint32
gst_mcc_session_get_ssrc (GstMccSession *self, guint stream)
{
  guint32 ssrc;

  g_mutex_lock (&self->lock);
  ssrc = self->stream[stream].ssrc;
  g_mutex_unlock (&self->lock);
  return ssrc;
}

guint
gst_mcc_session_get_overhead (GstMccSession *self)
{
  return (self->sockets.ipv6 ? 48 : 28) + (self->srtp ? gst_mcc_srtp_get_overhead (self->srtp) : 0);
}

guint
gst_mcc_session_get_srtcp_bytes (GstMccSession *self)
{
  return self->srtp ? gst_mcc_srtp_get_rtcp_overhead (self->srtp) : 0;
}

gboolean
gst_mcc_session_get_feedback (GstMccSession *self, MccAddress *out)
{
  if (!self->sender || self->sockets.feedback.family == 0)
    return FALSE;
  *out = self->sockets.feedback;
  return TRUE;
}
