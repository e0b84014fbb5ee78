/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstmccrtpread.h"

#include <gst/gst.h>

#include "mccrtpextension.h"

#define RTP_HEADER_BYTES 12
#define SEND_TIME_BYTES 3

gboolean
gst_mcc_rtp_find_send_time (const guint8 *data, gsize size, guint8 id, guint32 *send_time)
{
  gsize bytes;
  const guint8 *element = mcc_rtp_packet_element (data, size, id, &bytes);

  if (!element || bytes != SEND_TIME_BYTES)
    return FALSE;
  *send_time = GST_READ_UINT24_BE (element);
  return TRUE;
}

const guint8 *
gst_mcc_rtp_find_payload (const guint8 *data, gsize size, gsize *payload_size)
{
  gsize at;

  if (size < RTP_HEADER_BYTES)
    return NULL;
  at = RTP_HEADER_BYTES + 4 * (gsize)(data[0] & 0x0f);
  if (data[0] & 0x10) {
    if (size < at + 4)
      return NULL;
    at += 4 + 4 * (gsize)GST_READ_UINT16_BE (data + at + 2);
  }
  if (at >= size)
    return NULL;
  *payload_size = size - at;
  return data + at;
}

GstMccPayload
gst_mcc_payload_from_name (const gchar *encoding_name)
{
  static const struct {
    const gchar *name;
    GstMccPayload kind;
  } names[] = { { "H264", GST_MCC_PAYLOAD_H264 }, { "H265", GST_MCC_PAYLOAD_H265 },
    { "VP8", GST_MCC_PAYLOAD_VP8 }, { "VP8-DRAFT-IETF-01", GST_MCC_PAYLOAD_VP8 },
    { "VP9", GST_MCC_PAYLOAD_VP9 }, { "VP9-DRAFT-IETF-01", GST_MCC_PAYLOAD_VP9 } };

  for (guint i = 0; encoding_name && i < G_N_ELEMENTS (names); i++)
    if (g_ascii_strcasecmp (encoding_name, names[i].name) == 0)
      return names[i].kind;
  return GST_MCC_PAYLOAD_OTHER;
}

/* RFC 6184: an IDR slice, alone, in an aggregate or in the first fragment. */
static gboolean
is_h264 (const guint8 *data, gsize size)
{
  guint8 type = data[0] & 0x1f;

  if (type == 24) { /* STAP-A */
    for (gsize at = 1; size - at > 2;) {
      gsize unit = (gsize)data[at] << 8 | data[at + 1];

      at += 2;
      if (unit == 0 || unit > size - at)
        return FALSE;
      if ((data[at] & 0x1f) == 5)
        return TRUE;
      at += unit;
    }
    return FALSE;
  }
  if (type == 28 || type == 29) /* FU */
    return size > 1 && (data[1] & 0x80) && (data[1] & 0x1f) == 5;
  return type == 5;
}

static gboolean
is_irap (guint8 type)
{
  return type >= 16 && type <= 21;
}

/* RFC 7798, as above. */
static gboolean
is_h265 (const guint8 *data, gsize size)
{
  guint8 type = (data[0] >> 1) & 0x3f;

  if (type == 48) { /* aggregation packet */
    for (gsize at = 2; at < size && size - at > 2;) {
      gsize unit = (gsize)data[at] << 8 | data[at + 1];

      at += 2;
      if (unit == 0 || unit > size - at)
        return FALSE;
      if (is_irap ((data[at] >> 1) & 0x3f))
        return TRUE;
      at += unit;
    }
    return FALSE;
  }
  if (type == 49) /* fragment */
    return size > 2 && (data[2] & 0x80) && is_irap (data[2] & 0x3f);
  return is_irap (type);
}

/* RFC 7741: the start of partition 0 of a frame whose P bit is clear. */
static gboolean
is_vp8 (const guint8 *data, gsize size)
{
  gsize at = 1;

  if (!(data[0] & 0x10) || (data[0] & 0x07))
    return FALSE;
  if (data[0] & 0x80) {
    guint8 extension;

    if (size < 2)
      return FALSE;
    extension = data[at++];
    if (extension & 0x80) {
      if (at >= size)
        return FALSE;
      at += data[at] & 0x80 ? 2 : 1;
    }
    at += extension & 0x40 ? 1 : 0;
    at += extension & 0x30 ? 1 : 0;
  }
  return at < size && !(data[at] & 0x01);
}

/* RFC 9628: the start of a frame that is not predicted. */
static gboolean
is_vp9 (const guint8 *data, gsize size)
{
  return !(data[0] & 0x40) && (data[0] & 0x08);
}

gboolean
gst_mcc_payload_is_key_unit (GstMccPayload kind, const guint8 *payload, gsize size)
{
  if (size == 0)
    return FALSE;
  switch (kind) {
    case GST_MCC_PAYLOAD_H264:
      return is_h264 (payload, size);
    case GST_MCC_PAYLOAD_H265:
      return is_h265 (payload, size);
    case GST_MCC_PAYLOAD_VP8:
      return is_vp8 (payload, size);
    case GST_MCC_PAYLOAD_VP9:
      return is_vp9 (payload, size);
    default:
      return FALSE;
  }
}

gboolean
gst_mcc_payload_continues (GstMccPayload kind, const guint8 *payload, gsize size)
{
  switch (kind) {
    case GST_MCC_PAYLOAD_H264: /* FU-A */
      return size > 1 && (payload[0] & 0x1f) == 28 && !(payload[1] & 0x80);
    case GST_MCC_PAYLOAD_H265:
      return size > 2 && ((payload[0] >> 1) & 0x3f) == 49 && !(payload[2] & 0x80);
    default:
      return FALSE;
  }
}

gboolean
gst_mcc_payload_has_delimiter (GstMccPayload kind)
{
  return kind == GST_MCC_PAYLOAD_H264 || kind == GST_MCC_PAYLOAD_H265;
}

GstBuffer *
gst_mcc_payload_new_delimiter (GstMccPayload kind, GstBuffer *packet)
{
  static const guint8 h264[] = { 0x09, 0xf0 }, h265[] = { 0x46, 0x01, 0x50 };
  gsize bytes = kind == GST_MCC_PAYLOAD_H264 ? sizeof h264 : sizeof h265;
  guint8 data[RTP_HEADER_BYTES + sizeof h265];
  GstBuffer *buffer;

  if (!gst_mcc_payload_has_delimiter (kind)
      || gst_buffer_extract (packet, 0, data, RTP_HEADER_BYTES) != RTP_HEADER_BYTES)
    return NULL;
  data[0] = 0x80; /* version 2, nothing more */
  data[1] &= 0x7f;
  memcpy (data + RTP_HEADER_BYTES, kind == GST_MCC_PAYLOAD_H264 ? h264 : h265, bytes);
  buffer = gst_buffer_new_memdup (data, RTP_HEADER_BYTES + bytes);
  gst_buffer_copy_into (buffer, packet,
      GST_BUFFER_COPY_FLAGS | GST_BUFFER_COPY_TIMESTAMPS | GST_BUFFER_COPY_META, 0, -1);
  return buffer;
}

gboolean
gst_mcc_payload_begins (GstMccPayload kind, const guint8 *payload, gsize size)
{
  guint8 type;

  if (size < 5)
    return FALSE;
  switch (kind) {
    case GST_MCC_PAYLOAD_H264: /* SPS, alone or first in a STAP-A */
      type = payload[0] & 0x1f;
      return type == 7 || (type == 24 && (payload[3] & 0x1f) == 7);
    case GST_MCC_PAYLOAD_H265: /* VPS or SPS, alone or first in an aggregation packet */
      type = (payload[0] >> 1) & 0x3f;
      if (type == 48)
        type = (payload[4] >> 1) & 0x3f;
      return type == 32 || type == 33;
    default:
      return gst_mcc_payload_is_key_unit (kind, payload, size);
  }
}
