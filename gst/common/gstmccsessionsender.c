/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstmccsessionprivate.h"

#define GST_CAT_DEFAULT gst_mcc_session_debug

#define ROUTE_QUIET (2 * MCC_SECOND) /* without a warning: it works again */
#define ROUTE_SEEK MCC_SECOND        /* between looks for the interface while it does not */

/* ---- RTP on its way out ---- */

/* What the sender reports need of a buffer, and how many bytes of payload it has. */
static void
note_rtp_locked (GstMccStream *stream, GstBuffer *first, guint packets, gsize bytes)
{
  guint8 header[12];
  GstClockTime pts = GST_BUFFER_PTS (first);

  if (gst_buffer_extract (first, 0, header, sizeof header) < sizeof header)
    return;
  if (!GST_CLOCK_TIME_IS_VALID (pts))
    pts = GST_BUFFER_DTS (first);
  stream->media_ssrc = GST_READ_UINT32_BE (header + 8);
  stream->rtp_time = GST_READ_UINT32_BE (header + 4);
  stream->rtp_running_time
      = stream->segment.format == GST_FORMAT_TIME
            ? gst_segment_to_running_time (&stream->segment, GST_FORMAT_TIME, pts)
            : GST_CLOCK_TIME_NONE;
  if (stream->counted_ssrc != stream->media_ssrc) {
    stream->counted_ssrc = stream->media_ssrc;
    stream->packets_before = stream->packets;
    stream->octets_before = stream->octets;
  }
  stream->packets += packets;
  stream->octets += bytes - packets * sizeof header;
}

gboolean
gst_mcc_session_get_sender_info_locked (
    GstMccStream *stream, GstClockTime running_time, GstMccSenderInfo *out)
{
  if (!stream->session->sender || stream->packets == 0 || stream->clock_rate == 0
      || !GST_CLOCK_TIME_IS_VALID (running_time)
      || !GST_CLOCK_TIME_IS_VALID (stream->rtp_running_time))
    return FALSE;
  out->packets = (guint32)(stream->packets - stream->packets_before);
  out->octets = (guint32)(stream->octets - stream->octets_before);
  out->rtp_time = stream->rtp_time;
  if (running_time >= stream->rtp_running_time)
    out->rtp_time += (guint32)gst_util_uint64_scale (
        running_time - stream->rtp_running_time, stream->clock_rate, GST_SECOND);
  else
    out->rtp_time -= (guint32)gst_util_uint64_scale (
        stream->rtp_running_time - running_time, stream->clock_rate, GST_SECOND);
  return TRUE;
}

static void
note_caps (GstMccStream *stream, GstCaps *caps)
{
  GstStructure *structure = gst_caps_get_structure (caps, 0);
  gint clock_rate = 0;
  guint ssrc = 0;

  gst_structure_get_int (structure, "clock-rate", &clock_rate);
  gst_structure_get_uint (structure, "ssrc", &ssrc);
  g_mutex_lock (&stream->session->lock);
  stream->clock_rate = (guint)MAX (clock_rate, 0);
  if (ssrc)
    stream->media_ssrc = ssrc;
  g_mutex_unlock (&stream->session->lock);
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
    GST_ELEMENT_WARNING (self->bin, RESOURCE, WRITE, ("Packets are sent again."), (NULL));
}

static void
note_event (GstMccStream *stream, GstEvent *event)
{
  GstCaps *caps;

  if (GST_EVENT_TYPE (event) == GST_EVENT_SEGMENT) {
    g_mutex_lock (&stream->session->lock);
    gst_event_copy_segment (event, &stream->segment);
    g_mutex_unlock (&stream->session->lock);
  } else if (GST_EVENT_TYPE (event) == GST_EVENT_CAPS) {
    gst_event_parse_caps (event, &caps);
    note_caps (stream, caps);
    gst_mcc_session_refresh_ssrc (stream);
  }
}

static GstPadProbeReturn
on_rtp (GstPad *pad, GstPadProbeInfo *info, gpointer user)
{
  GstMccStream *stream = user;
  GstMccSession *self = stream->session;
  gboolean other, lost;

  if (GST_PAD_PROBE_INFO_TYPE (info) & GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM) {
    note_event (stream, GST_PAD_PROBE_INFO_EVENT (info));
    return GST_PAD_PROBE_OK;
  }
  g_mutex_lock (&self->lock);
  if (GST_PAD_PROBE_INFO_TYPE (info) & GST_PAD_PROBE_TYPE_BUFFER_LIST) {
    GstBufferList *list = GST_PAD_PROBE_INFO_BUFFER_LIST (info);
    guint n = gst_buffer_list_length (list);

    if (n > 0)
      note_rtp_locked (
          stream, gst_buffer_list_get (list, 0), n, gst_buffer_list_calculate_size (list));
  } else {
    GstBuffer *buffer = GST_PAD_PROBE_INFO_BUFFER (info);

    note_rtp_locked (stream, buffer, 1, gst_buffer_get_size (buffer));
  }
  other = stream->media_ssrc != stream->told_ssrc;
  lost = self->route_lost;
  g_mutex_unlock (&self->lock);
  if (other)
    gst_mcc_session_refresh_ssrc (stream);
  if (lost)
    check_route (self);
  return GST_PAD_PROBE_OK;
}

void
gst_mcc_session_set_ect (GstMccSession *self, gboolean ect)
{
  gst_mcc_sockets_set_ect (&self->sockets, ect);
}

/* ---- making and unmaking ---- */

gboolean
gst_mcc_session_settings_place (const GstMccSessionSettings *settings, MccPlace place,
    gchar **address, guint *port, GError **error)
{
  MccAddress base = { 0 }, result;
  MccPlaceVerdict verdict;
  GInetAddress *inet;

  gst_mcc_address_parse (settings->address, settings->port, &base);
  verdict = mcc_place_address (&base, place, &result);
  if (verdict != MCC_PLACE_GOOD) {
    const gchar *why = verdict == MCC_PLACE_HOST
                           ? "is a host, which cannot leave a stream that is "
                             "too much; give a group such as 239.255.12.42, or "
                             "send one stream by asmpsink"
                       : verdict == MCC_PLACE_BLOCK ? "is too near to the end of its block for a "
                                                      "group for each stream; choose a lower one"
                                                    : "";

    if (verdict == MCC_PLACE_PORT)
      g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
          "port: %u leaves no ports for all streams; choose a lower one", settings->port);
    else
      g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS, "address: %s %s",
          settings->address, why);
    return FALSE;
  }
  inet = g_inet_address_new_from_bytes (
      result.bytes, result.family == 6 ? G_SOCKET_FAMILY_IPV6 : G_SOCKET_FAMILY_IPV4);
  *address = g_inet_address_to_string (inet);
  *port = result.port;
  g_object_unref (inet);
  return TRUE;
}

static gboolean
link_rtp (GstMccStream *stream)
{
  GstMccSession *self = stream->session;
  gchar *sink = g_strdup_printf ("send_rtp_sink_%u", stream->number);
  gchar *src = g_strdup_printf ("send_rtp_src_%u", stream->number);
  GstPad *out = gst_element_get_static_pad (stream->udp, "sink");
  gboolean good;

  gst_mcc_session_protect_rtp (stream, out);
  gst_object_unref (out);
  stream->rtp_pad = gst_element_request_pad_simple (self->rtpbin, sink);
  good = stream->rtp_pad && gst_element_link_pads (self->rtpbin, src, stream->udp, "sink");
  g_free (sink);
  g_free (src);
  return good;
}

static gboolean
open_stream (
    GstMccStream *stream, const GstMccSessionSettings *settings, MccPlace place, GError **error)
{
  GstMccSession *self = stream->session;
  gchar *address;
  guint port;

  if (!gst_mcc_session_settings_place (settings, place, &address, &port, error))
    return FALSE;
  stream->udp = gst_mcc_session_make_element (self, "udpsink", error);
  if (stream->udp)
    g_object_set (stream->udp, self->sockets.ipv6 ? "socket-v6" : "socket", self->sockets.rtp,
        "close-socket", FALSE, "auto-multicast", FALSE, "sync", FALSE, "async", FALSE, "host",
        address, "port", (gint)port, "ttl", MAX (settings->ttl, 1), "ttl-mc", settings->ttl_mc,
        "loop", settings->loop, "qos-dscp", settings->qos_dscp, NULL);
  g_free (address);
  if (!stream->udp)
    return FALSE;
  if (!link_rtp (stream)) {
    g_set_error (error, GST_CORE_ERROR, GST_CORE_ERROR_FAILED, "rtpbin cannot be linked");
    return FALSE;
  }
  gst_segment_init (&stream->segment, GST_FORMAT_TIME);
  stream->probe = gst_pad_add_probe (stream->rtp_pad,
      GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_BUFFER_LIST
          | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM,
      on_rtp, stream, NULL);
  return TRUE;
}

gboolean
gst_mcc_session_open_sender (GstMccSession *self, const GstMccSessionSettings *settings,
    const MccPlace *places, GError **error)
{
  for (guint i = 0; i < self->n_streams; i++)
    if (!open_stream (&self->stream[i], settings, places[i], error))
      return FALSE;
  return TRUE;
}

void
gst_mcc_session_close_sender (GstMccSession *self)
{
  for (guint i = 0; i < self->n_streams; i++)
    if (self->stream[i].probe)
      gst_pad_remove_probe (self->stream[i].rtp_pad, self->stream[i].probe);
}

/* ---- one warning instead of one per packet ---- */

static gboolean
is_from_udp (GstMccSession *self, GstMessage *message)
{
  for (guint i = 0; i < self->n_streams; i++)
    if (self->stream[i].udp && GST_MESSAGE_SRC (message) == GST_OBJECT (self->stream[i].udp))
      return TRUE;
  return FALSE;
}

/* udpsink's own text says only that there was an error; the system's is in @debug. */
static const gchar *
reason_of (const GError *error, const gchar *debug)
{
  const gchar *reason = debug ? strstr (debug, "reason: ") : NULL;

  return reason ? reason + strlen ("reason: ") : error->message;
}

gboolean
gst_mcc_session_handle_message (GstMccSession *self, GstMessage *message)
{
  MccTime now = gst_mcc_session_clock ();
  gboolean first, seek;

  if (!self->sender || GST_MESSAGE_TYPE (message) != GST_MESSAGE_WARNING
      || !is_from_udp (self, message))
    return FALSE;
  g_mutex_lock (&self->lock);
  first = !self->route_lost;
  self->route_lost = TRUE;
  self->route_warning = now;
  seek = first || now - self->route_sought >= ROUTE_SEEK;
  if (seek)
    self->route_sought = now;
  g_mutex_unlock (&self->lock);
  if (seek) /* one that was made anew has the name, but another index */
    gst_mcc_sockets_renew_output (&self->sockets);
  if (first) {
    GError *error = NULL;
    gchar *debug = NULL;

    gst_message_parse_warning (message, &error, &debug);
    GST_ELEMENT_WARNING (self->bin, RESOURCE, WRITE,
        ("Packets cannot be sent: %s. No route? Is the interface up? Name one by multicast-iface, "
         "or "
         "add a route (ip route add 224.0.0.0/4 dev eth0; IPv6: ip -6 route add multicast ff00::/8 "
         "dev eth0 table local). Not permitted? A firewall of this host.",
            reason_of (error, debug)),
        ("%s; %s", error->message, debug ? debug : ""));
    g_clear_error (&error);
    g_free (debug);
  }
  gst_message_unref (message);
  return TRUE;
}
