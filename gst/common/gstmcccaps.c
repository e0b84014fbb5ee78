/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstmcccaps.h"

#include "gstmccabssendtime.h"
#include "mcclayerorder.h"

#define ID_MAX 14 /* RFC 8285 4.2 */

GstCaps *
gst_mcc_caps_without_send_time (GstCaps *caps)
{
  guint8 id = gst_mcc_abs_send_time_id_from_caps (caps, NULL);
  gchar name[16];

  if (id == 0)
    return caps;
  /* depayloaders would look for an element for it, for every packet */
  g_snprintf (name, sizeof name, "extmap-%u", id);
  caps = gst_caps_make_writable (caps);
  gst_structure_remove_field (gst_caps_get_structure (caps, 0), name);
  return caps;
}

guint8
gst_mcc_caps_layer_order_id (GstCaps *caps)
{
  const GstStructure *s = gst_caps_get_structure (caps, 0);

  for (guint8 id = 1; id <= ID_MAX; id++) {
    gchar name[16];

    g_snprintf (name, sizeof name, "extmap-%u", id);
    if (g_strcmp0 (gst_structure_get_string (s, name), MCC_LAYER_ORDER_URI) == 0)
      return id;
  }
  return 0;
}

GstCaps *
gst_mcc_caps_without_layer_order (GstCaps *caps)
{
  guint8 id = gst_mcc_caps_layer_order_id (caps);
  gchar name[16];

  if (id == 0)
    return caps;
  g_snprintf (name, sizeof name, "extmap-%u", id);
  caps = gst_caps_make_writable (caps);
  gst_structure_remove_field (gst_caps_get_structure (caps, 0), name);
  return caps;
}

/* For a-ts-refclk rtpjitterbuffer starts an NTP clock of any host, or PTP and its helper process,
 * and for some values reads behind their end. */
gboolean
gst_mcc_caps_is_harmless (const gchar *name)
{
  static const gchar *const heeded[] = { "a-framerate", "a-framesize", NULL };

  return !g_str_has_prefix (name, "rtcp-fb-")
         && (!g_str_has_prefix (name, "a-") || g_strv_contains (heeded, name));
}

GstCaps *
gst_mcc_caps_of_any_stream (GstCaps *caps)
{
  static const gchar *const in_band[] = { "H264", "H265", "VP8", "VP9" };
  GstStructure *s;
  const gchar *name;

  caps = gst_caps_make_writable (caps);
  s = gst_caps_get_structure (caps, 0);
  name = gst_structure_get_string (s, "encoding-name");
  for (guint i = 0; name && i < G_N_ELEMENTS (in_band); i++)
    if (g_ascii_strcasecmp (name, in_band[i]) == 0)
      gst_structure_remove_fields (s, "sprop-parameter-sets", "sprop-vps", "sprop-sps", "sprop-pps",
          "profile", "profile-level-id", "profile-id", "level-id", "tier-flag", "profile-space",
          "interop-constraints", "a-framerate", "a-framesize", "framerate", "framesize", "width",
          "height", "ssrc", "seqnum-base", "clock-base", "seqnum-offset", "timestamp-offset", NULL);
  return caps;
}

/* Caps for `encoding-name` alone, of any payload type: which one a sender has they cannot know.
 * NULL: not one whose clock rate is known. */
static GstCaps *
caps_for_name (const gchar *name)
{
  static const struct {
    const gchar *name, *media;
    gint clock_rate;
  } known[] = { { "H264", "video", 90000 }, { "H265", "video", 90000 }, { "VP8", "video", 90000 },
    { "VP9", "video", 90000 }, { "JPEG", "video", 90000 }, { "MP2T", "video", 90000 },
    { "MP4V-ES", "video", 90000 }, { "OPUS", "audio", 48000 }, { "PCMU", "audio", 8000 },
    { "PCMA", "audio", 8000 } };

  for (guint i = 0; i < G_N_ELEMENTS (known); i++)
    if (g_ascii_strcasecmp (name, known[i].name) == 0)
      return gst_caps_new_simple ("application/x-rtp", "media", G_TYPE_STRING, known[i].media,
          "encoding-name", G_TYPE_STRING, known[i].name, "clock-rate", G_TYPE_INT,
          known[i].clock_rate, NULL);
  return NULL;
}

static gboolean
is_complete (GstCaps *caps)
{
  GstStructure *s = gst_caps_is_fixed (caps) ? gst_caps_get_structure (caps, 0) : NULL;
  gint clock_rate = 0;

  return s && gst_structure_has_name (s, "application/x-rtp")
         && gst_structure_get_int (s, "clock-rate", &clock_rate) && clock_rate > 0
         && gst_structure_get_string (s, "encoding-name");
}

gboolean
gst_mcc_caps_from_user (GstCaps *caps, const gchar *encoding_name, GstCaps **out, GError **error)
{
  if (caps && !is_complete (caps)) {
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
        "caps: not complete; give application/x-rtp with media, encoding-name, clock-rate and "
        "payload, or leave it unset: the sender announces its own");
    return FALSE;
  }
  if (caps) {
    *out = gst_caps_ref (caps);
    return TRUE;
  }
  *out = encoding_name ? caps_for_name (encoding_name) : NULL;
  if (encoding_name && !*out) {
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
        "encoding-name: '%s' is not known; set caps instead, or leave it unset: the sender "
        "announces its own",
        encoding_name);
    return FALSE;
  }
  return TRUE;
}
