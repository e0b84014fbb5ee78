/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstmccsessionprivate.h"

#include <gst/rtp/gstrtpbuffer.h>

#include "mccrtcp.h"

GST_DEBUG_CATEGORY (gst_mcc_session_debug);
#define GST_CAT_DEFAULT gst_mcc_session_debug

#define RTP_PROFILE_AVPF 3
#define DEFAULT_BANDWIDTH 1000000    /* until a target is known */
#define NTP_EPOCH 2208988800u        /* 1970 in NTP seconds */
#define RTT_MAX (10 * MCC_SECOND)    /* more is a receiver's arithmetic, not a path */
#define ROUTE_QUIET (2 * MCC_SECOND) /* without a warning: it works again */

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
    self->destination = gst_mcc_address_to_socket (address, self->sockets.scope);
}

static void
transmit (GstMccSession *self, GstBuffer *buffer)
{
  GSocketAddress *destination = NULL;
  GError *error = NULL;
  GstMapInfo map;

  g_mutex_lock (&self->lock);
  if (self->active)
    destination = destination_locked (self);
  g_mutex_unlock (&self->lock);
  if (!destination)
    return;
  if (gst_buffer_map (buffer, &map, GST_MAP_READ)) {
    /* rtpsession's suppressed reports are empty */
    if (map.size > 0
        && g_socket_send_to (
               self->sockets.rtcp, destination, (const gchar *)map.data, map.size, NULL, &error)
               < 0) {
      GST_INFO_OBJECT (self->bin, "RTCP not sent: %s", error->message);
      g_clear_error (&error);
    }
    gst_buffer_unmap (buffer, &map);
  }
  g_object_unref (destination);
}

static GstFlowReturn
rtcp_out_chain (GstPad *pad, GstObject *parent, GstBuffer *buffer)
{
  GstMccSession *self = gst_pad_get_element_private (pad);
  gboolean left;

  g_mutex_lock (&self->lock);
  left = self->bye_sent;
  g_mutex_unlock (&self->lock);
  /* rtpsession does not know that we have said BYE */
  if (!left)
    transmit (self, buffer);
  gst_buffer_unref (buffer);
  return GST_FLOW_OK;
}

static gboolean
rtcp_out_event (GstPad *pad, GstObject *parent, GstEvent *event)
{
  gst_event_unref (event); /* EOS too: RTCP goes on until _stop() */
  return TRUE;
}

/* rtpsession may choose another SSRC (collision, caps): follow it. */
static void
refresh_ssrc (GstMccSession *self)
{
  guint32 ssrc = 0;
  gboolean changed;

  if (!self->rtp_session)
    return;
  g_object_get (self->rtp_session, "internal-ssrc", &ssrc, NULL);
  g_mutex_lock (&self->lock);
  if (self->sender && self->media_ssrc)
    ssrc = self->media_ssrc;
  changed = ssrc != self->ssrc;
  self->ssrc = ssrc;
  g_mutex_unlock (&self->lock);
  if (changed && self->handler.ssrc_changed)
    self->handler.ssrc_changed (self->owner, ssrc);
}

/* The stream's time now, as rtpsession's own sender reports have it. Called with the lock. */
static gboolean
sender_info_locked (GstMccSession *self, GstClockTime running_time, GstMccSenderInfo *out)
{
  if (!self->sender || self->packets == 0 || self->clock_rate == 0
      || !GST_CLOCK_TIME_IS_VALID (running_time)
      || !GST_CLOCK_TIME_IS_VALID (self->rtp_running_time))
    return FALSE;
  out->ntp = ntp_now ();
  out->packets = (guint32)self->packets;
  out->octets = (guint32)self->octets;
  out->rtp_time = self->rtp_time;
  if (running_time >= self->rtp_running_time)
    out->rtp_time += (guint32)gst_util_uint64_scale (
        running_time - self->rtp_running_time, self->clock_rate, GST_SECOND);
  else
    out->rtp_time -= (guint32)gst_util_uint64_scale (
        self->rtp_running_time - running_time, self->clock_rate, GST_SECOND);
  return TRUE;
}

static void
send_compounds (
    GstMccSession *self, const MccApp *apps, guint n_apps, guint32 pli_ssrc, gboolean bye)
{
  GstClockTime running_time = gst_element_get_current_running_time (GST_ELEMENT (self->bin));
  guint sent = 0;

  refresh_ssrc (self);
  do {
    GstMccSenderInfo info;
    GstMccCompound compound = { .cname = self->cname, .pli_ssrc = pli_ssrc, .bye = bye };
    GstBuffer *buffer;
    guint used;

    g_mutex_lock (&self->lock);
    compound.ssrc = self->ssrc;
    if (sender_info_locked (self, running_time, &info))
      compound.sender = &info;
    if (!self->sender)
      compound.reception = &self->reception;
    buffer = gst_mcc_compound_build (
        &compound, apps + sent, n_apps - sent, gst_mcc_session_clock (), &used);
    self->bye_sent = bye;
    g_mutex_unlock (&self->lock);
    transmit (self, buffer);
    gst_buffer_unref (buffer);
    sent += used;
    pli_ssrc = 0;
  } while (sent < n_apps);
}

void
gst_mcc_session_send (GstMccSession *self, const MccApp *apps, guint n_apps, gboolean bye)
{
  send_compounds (self, apps, n_apps, 0, bye);
}

void
gst_mcc_session_request_key_unit (GstMccSession *self)
{
  guint32 ssrc;

  g_mutex_lock (&self->lock);
  ssrc = self->source_ssrc;
  g_mutex_unlock (&self->lock);
  if (ssrc)
    send_compounds (self, NULL, 0, ssrc, FALSE);
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

static void
on_report_block (gpointer user, guint32 ssrc, const GstMccReportBlock *block, gboolean has_app,
    const MccAddress *from)
{
  GstMccSession *self = user;
  gboolean ours;

  g_mutex_lock (&self->lock);
  ours = self->sender && block->ssrc == self->ssrc;
  g_mutex_unlock (&self->lock);
  if (ours && self->handler.report_block)
    self->handler.report_block (self->owner, ssrc, block->fraction_lost, block->highest_seq,
        round_trip (block->lsr, block->dlsr), has_app, from);
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
  gboolean ours;

  g_mutex_lock (&self->lock);
  ours = self->sender && media_ssrc == self->ssrc;
  g_mutex_unlock (&self->lock);
  if (ours && self->handler.key_unit_request)
    self->handler.key_unit_request (self->owner, ssrc);
}

static void
on_dropped (gpointer user, MccDrop drop, guint32 ssrc)
{
  GstMccSession *self = user;

  if (self->handler.dropped)
    self->handler.dropped (self->owner, drop, ssrc);
}

static const GstMccScreenFuncs screen_funcs = {
  .app = on_app,
  .sender_report = on_sender_report,
  .report_block = on_report_block,
  .bye = on_bye,
  .key_unit_request = on_key_unit_request,
  .dropped = on_dropped,
};

/* A unicast receiver answers where the sender's RTCP comes from. */
static void
learn_destination (GstMccSession *self, const guint8 *data, gsize size, const MccAddress *from)
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

/* From the reader's thread. */
static void
on_datagram (gpointer owner, const guint8 *data, gsize size, const MccAddress *from)
{
  GstMccSession *self = owner;
  guint8 forward[GST_MCC_SCREEN_BYTES];
  GstBuffer *buffer;
  gsize bytes;
  guint32 ssrc, followed;

  g_mutex_lock (&self->lock);
  ssrc = self->ssrc;
  followed = self->source_ssrc;
  g_mutex_unlock (&self->lock);
  learn_destination (self, data, size, from);
  gst_mcc_screen_set_followed (self->screen, followed);
  gst_mcc_screen_set_own (self->screen, ssrc, self->sockets.rtcp_port);
  bytes = gst_mcc_screen_handle (self->screen, data, size, from, gst_mcc_session_clock (), forward);
  if (bytes == 0)
    return;
  buffer = gst_buffer_new_memdup (forward, bytes);
  GST_BUFFER_DTS (buffer) = gst_element_get_current_running_time (GST_ELEMENT (self->bin));
  {
    GSocketAddress *address = gst_mcc_address_to_socket (from, self->sockets.scope);

    gst_buffer_add_net_address_meta (buffer, address);
    g_object_unref (address);
  }
  gst_pad_push (self->rtcp_in, buffer);
}

/* ---- the sender's RTP ---- */

/* What the sender reports need of a buffer, and how many bytes of payload it has. */
static void
note_rtp_locked (GstMccSession *self, GstBuffer *first, guint packets, gsize bytes)
{
  guint8 header[12];
  GstClockTime pts = GST_BUFFER_PTS (first);

  if (gst_buffer_extract (first, 0, header, sizeof header) < sizeof header)
    return;
  if (!GST_CLOCK_TIME_IS_VALID (pts))
    pts = GST_BUFFER_DTS (first);
  self->media_ssrc = GST_READ_UINT32_BE (header + 8);
  self->rtp_time = GST_READ_UINT32_BE (header + 4);
  self->rtp_running_time = self->segment.format == GST_FORMAT_TIME
                               ? gst_segment_to_running_time (&self->segment, GST_FORMAT_TIME, pts)
                               : GST_CLOCK_TIME_NONE;
  self->packets += packets;
  self->octets += bytes - packets * sizeof header;
}

static void
note_caps (GstMccSession *self, GstCaps *caps)
{
  GstStructure *structure = gst_caps_get_structure (caps, 0);
  gint clock_rate = 0;
  guint ssrc = 0;

  gst_structure_get_int (structure, "clock-rate", &clock_rate);
  gst_structure_get_uint (structure, "ssrc", &ssrc);
  g_mutex_lock (&self->lock);
  self->clock_rate = (guint)MAX (clock_rate, 0);
  if (ssrc)
    self->media_ssrc = ssrc;
  g_mutex_unlock (&self->lock);
}

/* Packets have left for a while without a warning: say once that they do. */
static void
check_route (GstMccSession *self)
{
  gboolean found;

  g_mutex_lock (&self->lock);
  found = self->route_lost && gst_mcc_session_clock () - self->route_warning >= ROUTE_QUIET;
  if (found)
    self->route_lost = FALSE;
  g_mutex_unlock (&self->lock);
  if (found)
    GST_ELEMENT_WARNING (
        self->bin, RESOURCE, WRITE, ("The route is back: packets are sent again."), (NULL));
}

static GstPadProbeReturn
on_sender_rtp (GstPad *pad, GstPadProbeInfo *info, gpointer user)
{
  GstMccSession *self = user;
  gboolean other, lost;

  if (GST_PAD_PROBE_INFO_TYPE (info) & GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM) {
    GstEvent *event = GST_PAD_PROBE_INFO_EVENT (info);
    GstCaps *caps;

    if (GST_EVENT_TYPE (event) == GST_EVENT_SEGMENT) {
      g_mutex_lock (&self->lock);
      gst_event_copy_segment (event, &self->segment);
      g_mutex_unlock (&self->lock);
    } else if (GST_EVENT_TYPE (event) == GST_EVENT_CAPS) {
      gst_event_parse_caps (event, &caps);
      note_caps (self, caps);
    }
    return GST_PAD_PROBE_OK;
  }
  g_mutex_lock (&self->lock);
  if (GST_PAD_PROBE_INFO_TYPE (info) & GST_PAD_PROBE_TYPE_BUFFER_LIST) {
    GstBufferList *list = GST_PAD_PROBE_INFO_BUFFER_LIST (info);
    guint n = gst_buffer_list_length (list);

    if (n > 0)
      note_rtp_locked (
          self, gst_buffer_list_get (list, 0), n, gst_buffer_list_calculate_size (list));
  } else {
    GstBuffer *buffer = GST_PAD_PROBE_INFO_BUFFER (info);

    note_rtp_locked (self, buffer, 1, gst_buffer_get_size (buffer));
  }
  other = self->media_ssrc != self->ssrc;
  lost = self->route_lost;
  g_mutex_unlock (&self->lock);
  if (other)
    refresh_ssrc (self);
  if (lost)
    check_route (self);
  return GST_PAD_PROBE_OK;
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

  g_object_set (self->rtpbin, "rtp-profile", RTP_PROFILE_AVPF, "sdes", sdes, NULL);
  if (!self->sender)
    g_object_set (self->rtpbin, "latency", settings->latency_ms, "do-lost", TRUE, NULL);
  gst_structure_free (sdes);
}

/* The rtpsession inside: its regular reports keep to their share. */
static void
configure_rtp_session (GstMccSession *self, const GstMccSessionSettings *settings)
{
  g_signal_emit_by_name (self->rtpbin, "get-internal-session", 0, &self->rtp_session);
  if (!self->rtp_session)
    return;
  g_object_set (
      self->rtp_session, "rtcp-fraction", MCC_RTCP_FRACTION * MCC_RTCP_REGULAR_SHARE, NULL);
  self->session_bandwidth = settings->session_bandwidth;
  gst_mcc_session_set_bandwidth (self, DEFAULT_BANDWIDTH);
}

void
gst_mcc_session_set_bandwidth (GstMccSession *self, guint64 bps)
{
  bps = mcc_rtcp_base_bps (bps, self->session_bandwidth ? self->session_bandwidth : G_MAXUINT64);
  if (self->rtp_session)
    g_object_set (self->rtp_session, "bandwidth", (gdouble)MAX (bps, 1000), NULL);
}

/* rtpbin's RTCP pads meet two pads of ours, which belong to no element: RTCP has no part in EOS,
 * preroll or liveness. */
static gboolean
link_rtcp (GstMccSession *self)
{
  self->recv_rtcp = gst_element_request_pad_simple (self->rtpbin, "recv_rtcp_sink_0");
  self->send_rtcp = gst_element_request_pad_simple (self->rtpbin, "send_rtcp_src_0");
  self->rtcp_in = gst_object_ref_sink (gst_pad_new ("mcc_rtcp_in", GST_PAD_SRC));
  self->rtcp_out = gst_object_ref_sink (gst_pad_new ("mcc_rtcp_out", GST_PAD_SINK));
  gst_pad_set_element_private (self->rtcp_out, self);
  gst_pad_set_chain_function (self->rtcp_out, rtcp_out_chain);
  gst_pad_set_event_function (self->rtcp_out, rtcp_out_event);
  return self->recv_rtcp && self->send_rtcp
         && gst_pad_link (self->rtcp_in, self->recv_rtcp) == GST_PAD_LINK_OK
         && gst_pad_link (self->send_rtcp, self->rtcp_out) == GST_PAD_LINK_OK;
}

static gboolean
open_sender (GstMccSession *self, const GstMccSessionSettings *settings, GError **error)
{
  if (!(self->udp = gst_mcc_session_make_element (self, "udpsink", error)))
    return FALSE;
  g_object_set (self->udp, self->sockets.ipv6 ? "socket-v6" : "socket", self->sockets.rtp,
      "close-socket", FALSE, "auto-multicast", FALSE, "sync", FALSE, "async", FALSE, "host",
      settings->address, "port", settings->port, "ttl", MAX (settings->ttl, 1), "ttl-mc",
      settings->ttl_mc, "loop", settings->loop, "qos-dscp", settings->qos_dscp, NULL);
  self->rtp_pad = gst_element_request_pad_simple (self->rtpbin, "send_rtp_sink_0");
  if (!self->rtp_pad
      || !gst_element_link_pads (self->rtpbin, "send_rtp_src_0", self->udp, "sink")) {
    g_set_error (error, GST_CORE_ERROR, GST_CORE_ERROR_FAILED, "rtpbin cannot be linked");
    return FALSE;
  }
  gst_segment_init (&self->segment, GST_FORMAT_TIME);
  self->probe = gst_pad_add_probe (self->rtp_pad,
      GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_BUFFER_LIST
          | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM,
      on_sender_rtp, self, NULL);
  return TRUE;
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

gboolean
gst_mcc_session_open (GstMccSession *self, const GstMccSessionSettings *settings, GError **error)
{
  gboolean good;

  if (!gst_mcc_sockets_open (&self->sockets, settings, self->sender, error))
    return FALSE;
  self->cname = make_cname (settings->cname);
  set_first_destination (self);
  self->rtpbin = gst_mcc_session_make_element (self, "rtpbin", error);
  good = self->rtpbin != NULL;
  if (good) {
    configure_rtpbin (self, settings);
    good = self->sender ? open_sender (self, settings, error)
                        : gst_mcc_session_open_receiver (self, settings, error);
  }
  if (good && !link_rtcp (self)) {
    g_set_error (error, GST_CORE_ERROR, GST_CORE_ERROR_FAILED, "rtpbin cannot be linked");
    good = FALSE;
  }
  if (!good) {
    gst_mcc_session_close (self);
    return FALSE;
  }
  configure_rtp_session (self, settings);
  self->screen
      = gst_mcc_screen_new (&screen_funcs, self, (guint64)g_random_int () << 32 | g_random_int ());
  refresh_ssrc (self);
  return TRUE;
}

gboolean
gst_mcc_session_start (GstMccSession *self)
{
  GstSegment segment;
  GstCaps *caps;

  g_mutex_lock (&self->lock);
  self->active = TRUE;
  self->bye_sent = FALSE;
  g_mutex_unlock (&self->lock);
  gst_pad_set_active (self->rtcp_out, TRUE);
  gst_pad_set_active (self->rtcp_in, TRUE);
  gst_pad_push_event (self->rtcp_in, gst_event_new_stream_start ("rtcp"));
  caps = gst_caps_new_empty_simple ("application/x-rtcp");
  gst_pad_push_event (self->rtcp_in, gst_event_new_caps (caps));
  gst_caps_unref (caps);
  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_pad_push_event (self->rtcp_in, gst_event_new_segment (&segment));
  if (!self->sender)
    gst_mcc_session_start_receiver (self);
  self->reader
      = gst_mcc_reader_new (self->sockets.rtcp, self->sockets.rtcp_group, on_datagram, self);
  return self->reader != NULL;
}

void
gst_mcc_session_stop (GstMccSession *self)
{
  gboolean say_bye;

  if (!self->reader)
    return;
  g_mutex_lock (&self->lock);
  say_bye = !self->bye_sent;
  g_mutex_unlock (&self->lock);
  if (say_bye)
    gst_mcc_session_send (self, NULL, 0, TRUE);
  g_mutex_lock (&self->lock);
  self->active = FALSE;
  g_mutex_unlock (&self->lock);
  g_clear_pointer (&self->reader, gst_mcc_reader_free);
  if (!self->sender)
    gst_mcc_session_stop_receiver (self);
  gst_pad_set_active (self->rtcp_in, FALSE);
  gst_pad_set_active (self->rtcp_out, FALSE);
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

void
gst_mcc_session_close (GstMccSession *self)
{
  gst_mcc_session_stop (self);
  if (self->probe)
    gst_pad_remove_probe (self->rtp_pad, self->probe);
  self->probe = 0;
  if (!self->sender)
    gst_mcc_session_close_receiver (self);
  if (self->rtpbin)
    gst_element_set_state (self->rtpbin, GST_STATE_NULL);
  release_pad (self, &self->rtp_pad);
  release_pad (self, &self->recv_rtcp);
  release_pad (self, &self->send_rtcp);
  g_clear_object (&self->rtp_session);
  remove_element (self, &self->udp);
  remove_element (self, &self->rtpbin);
  g_clear_object (&self->rtcp_in);
  g_clear_object (&self->rtcp_out);
  g_clear_pointer (&self->screen, gst_mcc_screen_free);
  gst_mcc_sockets_close (&self->sockets);
  g_clear_object (&self->destination);
  g_clear_pointer (&self->cname, g_free);
  self->ssrc = self->media_ssrc = self->source_ssrc = 0;
  self->packets = self->octets = 0;
  self->route_lost = FALSE;
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
  self->rtp_running_time = GST_CLOCK_TIME_NONE;
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
gst_mcc_session_get_rtp_pad (GstMccSession *self)
{
  if (!self->sender)
    return gst_object_ref (gst_mcc_outlet_get_src (self->outlet));
  return self->rtp_pad ? gst_object_ref (self->rtp_pad) : NULL;
}

guint32
gst_mcc_session_get_ssrc (GstMccSession *self)
{
  guint32 ssrc;

  g_mutex_lock (&self->lock);
  ssrc = self->ssrc;
  g_mutex_unlock (&self->lock);
  return ssrc;
}

guint
gst_mcc_session_get_overhead (GstMccSession *self)
{
  return self->sockets.ipv6 ? 48 : 28;
}

gboolean
gst_mcc_session_get_feedback (GstMccSession *self, MccAddress *out)
{
  if (!self->sender || self->sockets.feedback.family == 0)
    return FALSE;
  *out = self->sockets.feedback;
  return TRUE;
}

/* ---- one warning instead of one per packet ---- */

gboolean
gst_mcc_session_handle_message (GstMccSession *self, GstMessage *message)
{
  MccTime now = gst_mcc_session_clock ();
  gboolean first;

  if (!self->sender || GST_MESSAGE_TYPE (message) != GST_MESSAGE_WARNING || !self->udp
      || GST_MESSAGE_SRC (message) != GST_OBJECT (self->udp))
    return FALSE;
  g_mutex_lock (&self->lock);
  first = !self->route_lost;
  self->route_lost = TRUE;
  self->route_warning = now;
  g_mutex_unlock (&self->lock);
  if (first) {
    GError *error = NULL;
    gchar *debug = NULL;

    gst_message_parse_warning (message, &error, &debug);
    GST_ELEMENT_WARNING (self->bin, RESOURCE, WRITE,
        ("No route: packets cannot be sent. Is the interface up? Name one by multicast-iface, or "
         "add a route (ip route add 224.0.0.0/4 dev eth0)."),
        ("%s; %s", error->message, debug ? debug : ""));
    g_clear_error (&error);
    g_free (debug);
  }
  gst_message_unref (message);
  return TRUE;
}
