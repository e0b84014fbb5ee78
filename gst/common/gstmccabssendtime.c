/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstmccabssendtime.h"

#include <string.h>

#include "mccrtpextension.h"

#define RTP_HEADER_BYTES 12
#define EXTENSION_HEADER_BYTES 4
#define SEND_TIME_BYTES 3
#define ID_MAX 14 /* of one-byte headers; 15 ends them */

struct _GstMccAbsSendTime {
  GstRTPHeaderExtension parent;
};

G_DEFINE_FINAL_TYPE (GstMccAbsSendTime, gst_mcc_abs_send_time, GST_TYPE_RTP_HEADER_EXTENSION)

static GstRTPHeaderExtensionFlags
get_supported_flags (GstRTPHeaderExtension *ext)
{
  return GST_RTP_HEADER_EXTENSION_ONE_BYTE | GST_RTP_HEADER_EXTENSION_TWO_BYTE;
}

static gsize
get_max_size (GstRTPHeaderExtension *ext, const GstBuffer *input)
{
  return SEND_TIME_BYTES;
}

static gssize
write_zeros (GstRTPHeaderExtension *ext, const GstBuffer *input, GstRTPHeaderExtensionFlags flags,
    GstBuffer *output, guint8 *data, gsize size)
{
  if (size < SEND_TIME_BYTES)
    return -1;
  memset (data, 0, SEND_TIME_BYTES);
  return SEND_TIME_BYTES;
}

static gboolean
read_nothing (GstRTPHeaderExtension *ext, GstRTPHeaderExtensionFlags flags, const guint8 *data,
    gsize size, GstBuffer *buffer)
{
  return TRUE;
}

static gboolean
set_caps_from_attributes (GstRTPHeaderExtension *ext, GstCaps *caps)
{
  return gst_rtp_header_extension_set_caps_from_attributes_helper (ext, caps, NULL);
}

static void
gst_mcc_abs_send_time_class_init (GstMccAbsSendTimeClass *klass)
{
  GstRTPHeaderExtensionClass *ext = GST_RTP_HEADER_EXTENSION_CLASS (klass);

  ext->get_supported_flags = get_supported_flags;
  ext->get_max_size = get_max_size;
  ext->write = write_zeros;
  ext->read = read_nothing;
  ext->set_caps_from_attributes = set_caps_from_attributes;
  gst_element_class_set_static_metadata (GST_ELEMENT_CLASS (klass), "Absolute send time",
      GST_RTP_HDREXT_ELEMENT_CLASS, "Reserves bytes for the time at which a packet leaves",
      "adaptivemulticast");
  gst_rtp_header_extension_class_set_uri (ext, GST_MCC_ABS_SEND_TIME_URI);
}

static void
gst_mcc_abs_send_time_init (GstMccAbsSendTime *self)
{
}

guint8
gst_mcc_abs_send_time_id_from_caps (GstCaps *caps, guint8 *free_id)
{
  const GstStructure *s = gst_caps_get_structure (caps, 0);
  guint8 id = 0, spare = 0;

  for (guint8 i = 1; i <= ID_MAX; i++) {
    gchar name[16];
    const GValue *value;
    const gchar *uri = NULL;

    g_snprintf (name, sizeof name, "extmap-%u", i);
    value = gst_structure_get_value (s, name);
    if (!value) {
      spare = i;
      continue;
    }
    /* Either "uri" or <direction, uri, attributes> */
    if (G_VALUE_HOLDS_STRING (value))
      uri = g_value_get_string (value);
    else if (GST_VALUE_HOLDS_ARRAY (value) && gst_value_array_get_size (value) >= 2
             && G_VALUE_HOLDS_STRING (gst_value_array_get_value (value, 1)))
      uri = g_value_get_string (gst_value_array_get_value (value, 1));
    if (id == 0 && g_strcmp0 (uri, GST_MCC_ABS_SEND_TIME_URI) == 0)
      id = i;
  }
  if (free_id)
    *free_id = spare;
  return id;
}

/* The ids in use by @payloader as a bit mask, as far as it can be asked. */
static guint
used_ids (GstElement *payloader)
{
  GParamSpec *pspec = g_object_class_find_property (G_OBJECT_GET_CLASS (payloader), "extensions");
  GstPad *pad = gst_element_get_static_pad (payloader, "src");
  GstCaps *caps = pad ? gst_pad_get_allowed_caps (pad) : NULL;
  guint used = 0;

  /* From 1.24 on. */
  if (pspec && pspec->value_type == GST_TYPE_ARRAY) {
    GValue extensions = G_VALUE_INIT;

    g_object_get_property (G_OBJECT (payloader), "extensions", &extensions);
    for (guint i = 0; i < gst_value_array_get_size (&extensions); i++) {
      GstRTPHeaderExtension *ext = g_value_get_object (gst_value_array_get_value (&extensions, i));

      if (ext)
        used |= 1u << (gst_rtp_header_extension_get_id (ext) & 31);
    }
    g_value_unset (&extensions);
  }
  /* What a filter behind it demands. */
  if (caps && !gst_caps_is_any (caps) && !gst_caps_is_empty (caps)) {
    for (guint8 i = 1; i <= ID_MAX; i++) {
      gchar name[16];

      g_snprintf (name, sizeof name, "extmap-%u", i);
      if (gst_structure_has_field (gst_caps_get_structure (caps, 0), name))
        used |= 1u << i;
    }
  }
  gst_clear_caps (&caps);
  gst_clear_object (&pad);
  return used;
}

gboolean
gst_mcc_abs_send_time_reserve (GstElement *payloader)
{
  static const gchar mark[] = "gst-mcc-abs-send-time";
  GstRTPHeaderExtension *ext;
  guint used, id = ID_MAX;

  if (!g_signal_lookup ("add-extension", G_OBJECT_TYPE (payloader)))
    return FALSE;
  if (g_object_get_data (G_OBJECT (payloader), mark))
    return TRUE;
  used = used_ids (payloader);
  while (id > 0 && (used & (1u << id)))
    id--;
  if (id == 0)
    return FALSE;
  ext = g_object_new (GST_TYPE_MCC_ABS_SEND_TIME, NULL);
  gst_object_ref_sink (ext);
  gst_rtp_header_extension_set_id (ext, id);
  g_signal_emit_by_name (payloader, "add-extension", ext);
  g_object_set_data_full (G_OBJECT (payloader), mark, ext, gst_object_unref);
  return TRUE;
}

static void
write_send_time (guint8 *data, guint32 send_time)
{
  GST_WRITE_UINT24_BE (data, send_time & 0xffffff);
}

/* Stamps an extension that starts at @data. */
static gboolean
stamp_extension (guint8 *data, gsize size, guint8 id, guint32 send_time)
{
  gsize bytes;
  const guint8 *element = mcc_rtp_extension_element (data, size, id, &bytes);

  if (!element || bytes != SEND_TIME_BYTES)
    return FALSE;
  write_send_time (data + (element - data), send_time);
  return TRUE;
}

static gboolean
add_extension (GstBuffer *buffer, guint8 id, guint32 send_time)
{
  GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;
  guint8 data[SEND_TIME_BYTES];
  gboolean ok;

  if (!gst_rtp_buffer_map (buffer, GST_MAP_READWRITE, &rtp))
    return FALSE;
  write_send_time (data, send_time);
  ok = gst_rtp_buffer_add_extension_onebyte_header (&rtp, id, data, SEND_TIME_BYTES)
       || gst_rtp_buffer_add_extension_twobytes_header (&rtp, 0, id, data, SEND_TIME_BYTES);
  gst_rtp_buffer_unmap (&rtp);
  return ok;
}

/* What stamping one memory found. */
typedef enum { NOT_RTP, STAMPED, NO_EXTENSION, EXTENSION_BEHIND } Found;

static Found
stamp_header (guint8 *data, gsize size, guint8 id, guint32 send_time, guint16 *seq)
{
  gsize header;

  if (size < RTP_HEADER_BYTES || (data[0] >> 6) != 2)
    return NOT_RTP;
  *seq = GST_READ_UINT16_BE (data + 2);
  if (!(data[0] & 0x10))
    return NO_EXTENSION;
  header = RTP_HEADER_BYTES + 4u * (data[0] & 0x0f);
  if (size == header)
    return EXTENSION_BEHIND;
  if (size < header || !stamp_extension (data + header, size - header, id, send_time))
    return NO_EXTENSION;
  return STAMPED;
}

gboolean
gst_mcc_abs_send_time_stamp (GstBuffer *buffer, guint8 id, guint32 send_time, guint16 *seq)
{
  GstMemory *memory;
  GstMapInfo map;
  Found found;

  if (gst_buffer_n_memory (buffer) == 0)
    return FALSE;
  /* The memory of the header alone: mapping all of them would merge, that is copy, them. One that
   * others share cannot be mapped for writing; the buffer then gets a copy of it. */
  memory = gst_buffer_peek_memory (buffer, 0);
  if (id == 0 || gst_memory_map (memory, &map, GST_MAP_READWRITE)) {
    if (id == 0 && !gst_memory_map (memory, &map, GST_MAP_READ))
      return FALSE;
    found = stamp_header (map.data, map.size, id, send_time, seq);
    gst_memory_unmap (memory, &map);
  } else if (gst_buffer_map_range (buffer, 0, 1, &map, GST_MAP_READWRITE)) {
    found = stamp_header (map.data, map.size, id, send_time, seq);
    gst_buffer_unmap (buffer, &map);
  } else {
    return FALSE;
  }
  if (found == EXTENSION_BEHIND && id && gst_buffer_n_memory (buffer) > 1
      && gst_buffer_map_range (buffer, 1, 1, &map, GST_MAP_READWRITE)) {
    if (stamp_extension (map.data, map.size, id, send_time))
      found = STAMPED;
    gst_buffer_unmap (buffer, &map);
  }
  if (found == NOT_RTP)
    return FALSE;
  return id == 0 || found == STAMPED || add_extension (buffer, id, send_time);
}

void
gst_mcc_rtp_shift_time (GstBuffer *buffer, guint32 shift)
{
  guint8 time[4];

  if (gst_buffer_extract (buffer, 4, time, sizeof time) < sizeof time)
    return;
  GST_WRITE_UINT32_BE (time, GST_READ_UINT32_BE (time) + shift);
  gst_buffer_fill (buffer, 4, time, sizeof time);
}

gboolean
gst_mcc_rtp_info (GstBuffer *buffer, GstMccRtpInfo *out)
{
  guint8 data[RTP_HEADER_BYTES], ext[EXTENSION_HEADER_BYTES];

  if (gst_buffer_extract (buffer, 0, data, sizeof data) != sizeof data || (data[0] >> 6) != 2)
    return FALSE;
  out->seq = GST_READ_UINT16_BE (data + 2);
  out->header_bytes = RTP_HEADER_BYTES + 4u * (data[0] & 0x0f);
  if ((data[0] & 0x10)
      && gst_buffer_extract (buffer, out->header_bytes, ext, sizeof ext) == sizeof ext)
    out->header_bytes += EXTENSION_HEADER_BYTES + 4u * GST_READ_UINT16_BE (ext + 2);
  return TRUE;
}
