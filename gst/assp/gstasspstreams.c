/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstasspstreams.h"

#include <errno.h>
#include <math.h>

#define EXAMPLE "300000:2000000,2000000:5000000"
#define BPS G_GUINT64_FORMAT

static gboolean refuse (GError **error, const gchar *format, ...) G_GNUC_PRINTF (2, 3);

static gboolean
refuse (GError **error, const gchar *format, ...)
{
  va_list args;

  va_start (args, format);
  if (error)
    *error = g_error_new_valist (GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS, format, args);
  va_end (args);
  return FALSE;
}

/* Streams are at address + 1 + k, port + 2k. */
static void
set_place (MccAsspStream *stream, guint k)
{
  stream->address_offset = (guint16)(1 + k);
  stream->port_offset = (guint16)(2 * k);
}

/* A decimal number and nothing else; *end is what follows it. */
static gboolean
parse_number (const gchar *text, const gchar **end, guint64 *out)
{
  gchar *stop;

  if (!g_ascii_isdigit (*text)) /* no sign, no space */
    return FALSE;
  errno = 0;
  *out = g_ascii_strtoull (text, &stop, 10);
  *end = stop;
  return errno == 0;
}

static gboolean
parse_bounds (const gchar *text, MccAsspStream *stream)
{
  const gchar *end;

  return parse_number (text, &end, &stream->low_bps) && *end == ':'
         && parse_number (end + 1, &end, &stream->high_bps) && *end == '\0';
}

static gboolean
check_bounds (const MccAsspStreams *streams, guint k, GError **error)
{
  const MccAsspStream *stream = &streams->stream[k];

  if (stream->low_bps < GST_MCC_LOWEST_BPS)
    return refuse (error, "streams: stream %u has the lower bound %" BPS "; set it to %d or more.",
        k, (guint64)stream->low_bps, GST_MCC_LOWEST_BPS);
  if (stream->high_bps > GST_MCC_HIGHEST_BPS)
    return refuse (error,
        "streams: stream %u has the upper bound %" BPS "; set it to %" BPS " or less.", k,
        (guint64)stream->high_bps, (guint64)GST_MCC_HIGHEST_BPS);
  if (stream->low_bps > stream->high_bps)
    return refuse (error,
        "streams: stream %u has a lower bound (%" BPS ") above its upper bound (%" BPS
        "); exchange them.",
        k, (guint64)stream->low_bps, (guint64)stream->high_bps);
  if (k > 0 && stream->low_bps < streams->stream[k - 1].high_bps)
    return refuse (error,
        "streams: stream %u begins at %" BPS ", but stream %u reaches up to %" BPS
        "; let them not overlap, lowest stream first.",
        k, (guint64)stream->low_bps, k - 1, (guint64)streams->stream[k - 1].high_bps);
  return TRUE;
}

gboolean
gst_assp_streams_parse (const gchar *text, MccAsspStreams *out, GError **error)
{
  gchar **parts = g_strsplit (text, ",", -1);
  MccAsspStreams streams = { 0 };
  gboolean good = TRUE;

  if (g_strv_length (parts) > MCC_ASSP_STREAMS_MAX)
    good = refuse (error, "streams: there are %u streams; give at most %d.", g_strv_length (parts),
        MCC_ASSP_STREAMS_MAX);
  else if (!parts[0])
    good = refuse (error, "streams: no stream; give the bounds of each, such as " EXAMPLE ".");
  for (guint k = 0; good && parts[k]; k++) {
    if (!parse_bounds (g_strstrip (parts[k]), &streams.stream[k])) {
      good = refuse (error,
          "streams: '%s' is not low:high in bit/s; give the bounds of each stream, such as " EXAMPLE
          ".",
          parts[k]);
      break;
    }
    set_place (&streams.stream[k], k);
    streams.count = k + 1;
    good = check_bounds (&streams, k, error);
  }
  g_strfreev (parts);
  if (good)
    *out = streams;
  return good;
}

void
gst_assp_streams_make (guint n, guint64 low_bps, guint64 high_bps, MccAsspStreams *out)
{
  gdouble step = pow ((gdouble)high_bps / (gdouble)low_bps, 1.0 / n);
  guint64 bound = low_bps;

  *out = (MccAsspStreams){ .count = n };
  for (guint k = 0; k < n; k++) {
    out->stream[k].low_bps = bound;
    bound = k + 1 == n ? high_bps : (guint64)((gdouble)low_bps * pow (step, k + 1) + 0.5);
    out->stream[k].high_bps = bound;
    set_place (&out->stream[k], k);
  }
}

MccPlace
gst_assp_streams_place (const MccAsspStreams *streams, guint stream)
{
  return (MccPlace){ streams->stream[stream].address_offset, streams->stream[stream].port_offset };
}
