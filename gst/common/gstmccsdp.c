/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstmccsdp.h"

#include <gst/sdp/sdp.h>
#include <stdlib.h>
#include <string.h>

#include "gstmccabssendtime.h"
#include "gstmcccaps.h"
#include "mcclayerorder.h"

#define NO_PAYLOAD_TYPE 255
#define NEW_NAMES_MAX 256 /* parameter names that no plugin knows, in a process's life */

/* Not fields with a place of their own, or that only matter to the host that made them; nor what
 * would have a receiver do more than decode. */
static gboolean
is_parameter (const gchar *name)
{
  static const gchar *const others[] = { "media", "encoding-name", "payload", "clock-rate", "ssrc",
    "seqnum-base", "seqnum-offset", "clock-base", "timestamp-offset", "npt-start", "npt-stop",
    "play-speed", "play-scale", NULL };

  return !g_strv_contains (others, name) && !g_str_has_prefix (name, "ssrc-")
         && !g_str_has_prefix (name, "extmap-") && gst_mcc_caps_is_harmless (name);
}

/* Receivers of layers need this id; that of abs-send-time has a place of its own. */
static gboolean
is_layer_order (const gchar *name, const gchar *value)
{
  return g_str_has_prefix (name, "extmap-") && g_strcmp0 (value, MCC_LAYER_ORDER_URI) == 0;
}

/* Field names are interned for ever, and these come from the network: a flood of new ones must not
 * fill the memory. */
static gboolean
may_intern (const gchar *name)
{
  static gint interned;

  return g_quark_try_string (name) != 0 || g_atomic_int_add (&interned, 1) < NEW_NAMES_MAX;
}

/* Whether the wire can carry it: printable ASCII without our separator. */
static gboolean
is_plain (const gchar *text)
{
  for (; *text; text++)
    if (*text < 0x20 || *text > 0x7e || *text == ';')
      return FALSE;
  return TRUE;
}

/* Without it nothing can be decoded: the codebooks of Theora and Vorbis, of several kB, say. */
static gboolean
is_needed (const gchar *name)
{
  return strcmp (name, "configuration") == 0 || strcmp (name, "config") == 0;
}

/* FALSE: one that is needed cannot be carried. */
static gboolean
add (MccAppSession *session, GQuark field, const GValue *value, gboolean order)
{
  const gchar *name = g_quark_to_string (field), *text;
  gsize used = strlen (session->parameters), length;

  if (!G_VALUE_HOLDS_STRING (value) || strchr (name, '='))
    return TRUE;
  text = g_value_get_string (value);
  if (order ? !is_layer_order (name, text) : !is_parameter (name))
    return TRUE;
  length = (used ? 1 : 0) + strlen (name) + 1 + (text ? strlen (text) : 0);
  if (!text || !is_plain (text) || used + length >= sizeof session->parameters)
    return !is_needed (name);
  g_snprintf (session->parameters + used, sizeof session->parameters - used, "%s%s=%s",
      used ? ";" : "", name, text);
  return TRUE;
}

/* First: it always fits, and nothing can be received without it. */
static gboolean
add_layer_order (GQuark field, const GValue *value, gpointer session)
{
  return add (session, field, value, TRUE);
}

static gboolean
add_parameter (GQuark field, const GValue *value, gpointer session)
{
  return add (session, field, value, FALSE);
}

gboolean
gst_mcc_caps_to_session (GstCaps *caps, MccAppSession *session)
{
  const GstStructure *s = gst_caps_get_structure (caps, 0);
  const gchar *media = gst_structure_get_string (s, "media");
  const gchar *encoding = gst_structure_get_string (s, "encoding-name");
  gint payload, clock_rate;

  session->payload_type = NO_PAYLOAD_TYPE;
  session->parameters[0] = session->media[0] = session->encoding_name[0] = '\0';
  session->clock_rate = 0;
  session->send_time_id = gst_mcc_abs_send_time_id_from_caps (caps, NULL);
  if (!gst_structure_get_int (s, "payload", &payload) || payload < 0 || payload > 127
      || !gst_structure_get_int (s, "clock-rate", &clock_rate) || clock_rate <= 0 || !encoding
      || !media || strlen (encoding) >= sizeof session->encoding_name
      || strlen (media) >= sizeof session->media)
    return FALSE;
  session->payload_type = (uint8_t)payload;
  session->clock_rate = (uint32_t)clock_rate;
  g_strlcpy (session->media, media, sizeof session->media);
  g_strlcpy (session->encoding_name, encoding, sizeof session->encoding_name);
  gst_structure_foreach (s, add_layer_order, session);
  return gst_structure_foreach (s, add_parameter, session);
}

GstCaps *
gst_mcc_caps_from_session (const MccAppSession *session)
{
  GstCaps *caps;
  gchar **parameters;

  if (session->payload_type > 127 || session->clock_rate == 0 || session->clock_rate > G_MAXINT)
    return NULL;
  caps = gst_caps_new_simple ("application/x-rtp", "media", G_TYPE_STRING, session->media,
      "encoding-name", G_TYPE_STRING, session->encoding_name, "payload", G_TYPE_INT,
      session->payload_type, "clock-rate", G_TYPE_INT, (gint)session->clock_rate, NULL);
  parameters = g_strsplit (session->parameters, ";", -1);
  for (guint i = 0; parameters[i]; i++) {
    /* Base64 has = of its own: the first one separates. */
    gchar *value = strchr (parameters[i], '=');

    if (!value || value == parameters[i])
      continue;
    *value++ = '\0';
    if ((is_parameter (parameters[i]) || is_layer_order (parameters[i], value))
        && may_intern (parameters[i]))
      gst_caps_set_simple (caps, parameters[i], G_TYPE_STRING, value, NULL);
  }
  g_strfreev (parameters);
  if (session->send_time_id) {
    gchar name[16];

    g_snprintf (name, sizeof name, "extmap-%u", session->send_time_id);
    gst_caps_set_simple (caps, name, G_TYPE_STRING, GST_MCC_ABS_SEND_TIME_URI, NULL);
  }
  return caps;
}

/* RFC 4570: the address type and the group are those of c=. */
static void
add_source_filter (GstSDPMedia *media, const GstMccSessionSettings *settings, const gchar *type)
{
  gchar *filter;

  if (!settings->source_address)
    return;
  filter = g_strdup_printf (" incl IN %s %s %s", type, settings->address, settings->source_address);
  gst_sdp_media_add_attribute (media, "source-filter", filter);
  g_free (filter);
}

/* RFC 3605: only when RTCP is not where RTP is, one port up. */
static void
add_rtcp (GstSDPMedia *media, const GstMccSessionSettings *settings)
{
  const gchar *address
      = settings->feedback_address ? settings->feedback_address : settings->source_address;
  guint port = settings->feedback_port ? settings->feedback_port : settings->port + 1;
  gchar *rtcp;

  if (!address)
    return;
  rtcp = g_strdup_printf ("%u IN %s %s", port, strchr (address, ':') ? "IP6" : "IP4", address);
  gst_sdp_media_add_attribute (media, "rtcp", rtcp);
  g_free (rtcp);
}

static gboolean
is_multicast (const gchar *address)
{
  GInetAddress *inet = g_inet_address_new_from_string (address);
  gboolean result = inet && g_inet_address_get_is_multicast (inet);

  g_clear_object (&inet);
  return result;
}

static GstSDPMedia *
new_media (const GstMccSessionSettings *settings, GstCaps *caps, guint64 max_bps)
{
  const gchar *type = strchr (settings->address, ':') ? "IP6" : "IP4";
  gboolean multicast = is_multicast (settings->address);
  GstSDPMedia *media;
  MccAppSession session;

  if (!gst_mcc_caps_to_session (caps, &session))
    return NULL;
  gst_sdp_media_new (&media);
  /* Fills in m=, rtpmap, fmtp and extmap. */
  if (gst_sdp_media_set_media_from_caps (caps, media) != GST_SDP_OK) {
    gst_sdp_media_free (media);
    return NULL;
  }
  /* The key is not written there: who may read the file may not yet watch. */
  gst_sdp_media_set_proto (media, settings->encrypted ? "RTP/SAVPF" : "RTP/AVP");
  gst_sdp_media_set_port_info (media, settings->port, 1);
  /* IPv6 has no TTL here (RFC 8866 5.7). */
  gst_sdp_media_add_connection (media, "IN", type, settings->address,
      multicast && *(type + 2) == '4' ? (guint)settings->ttl_mc : 0, 0);
  if (max_bps > 0)
    gst_sdp_media_add_bandwidth (media, GST_SDP_BWTYPE_AS, (guint)MIN (max_bps / 1000, G_MAXUINT));
  if (multicast)
    add_source_filter (media, settings, type);
  add_rtcp (media, settings);
  gst_sdp_media_add_attribute (media, "recvonly", "");
  return media;
}

gchar *
gst_mcc_sdp_to_text (const GstMccSessionSettings *settings, GstCaps *caps, guint64 max_bps,
    const gchar *name, GError **error)
{
  const gchar *origin = settings->source_address ? settings->source_address : "127.0.0.1";
  GstSDPMedia *media = new_media (settings, caps, max_bps);
  GstSDPMessage *message;
  gchar *id, *text;

  if (!media) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
        "the RTP caps have no media, encoding-name, payload or clock-rate");
    return NULL;
  }
  id = g_strdup_printf ("%" G_GINT64_FORMAT, g_get_real_time () / G_USEC_PER_SEC);
  gst_sdp_message_new (&message);
  gst_sdp_message_set_version (message, "0");
  gst_sdp_message_set_origin (
      message, "-", id, id, "IN", strchr (origin, ':') ? "IP6" : "IP4", origin);
  gst_sdp_message_set_session_name (message, name);
  gst_sdp_message_add_time (message, "0", "0", NULL);
  gst_sdp_message_add_attribute (message, "tool", PACKAGE_NAME " " PACKAGE_VERSION);
  gst_sdp_message_add_media (message, media); /* takes what @media has */
  text = gst_sdp_message_as_text (message);
  gst_sdp_media_free (media);
  gst_sdp_message_free (message);
  g_free (id);
  return text;
}
