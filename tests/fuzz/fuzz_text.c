/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What people and play lists write: URIs, the property `streams`, keys, addresses; and SRTP of who
 * has no key. The first byte says which. What is refused has a reason and changes nothing; what is
 * taken reads back.
 */
#include <string.h>

#include "fuzz.h"
#include "gstasmpsink.h"
#include "gstasmpsrc.h"
#include "gstasspsimulcastbin.h"
#include "gstasspsimulcastsrc.h"
#include "gstasspstreams.h"
#include "gstelmlayersink.h"
#include "gstelmlayersrc.h"
#include "gstmccsockets.h"
#include "gstmccsrtp.h"
#include "gstmccuri.h"

static GstElement *
make_element (unsigned kind)
{
  const GType types[] = { GST_TYPE_ASMP_SRC, GST_TYPE_ASMP_SINK, GST_TYPE_ASSP_SIMULCAST_SRC,
    GST_TYPE_ASSP_SIMULCAST_BIN, GST_TYPE_ELM_LAYER_SRC, GST_TYPE_ELM_LAYER_SINK };

  return gst_object_ref_sink (g_object_new (types[kind % G_N_ELEMENTS (types)], NULL));
}

/* What a URI may never set. */
static void
check_refused (GstElement *element)
{
  static const gchar *const names[] = { "sdp-location", "srtp-key" };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    GParamSpec *pspec = g_object_class_find_property (G_OBJECT_GET_CLASS (element), names[i]);
    gchar *value = NULL;

    if (!pspec || !(pspec->flags & G_PARAM_READABLE))
      continue;
    g_object_get (element, names[i], &value, NULL);
    CHECK (value == NULL);
  }
}

/* Nothing of an earlier URI stays. */
static void
check_again (GstElement *element, const gchar *scheme)
{
  gchar *plain = g_strconcat (scheme, "://239.1.2.3:6000", NULL), *now;

  CHECK (gst_mcc_uri_set (element, scheme, plain, NULL));
  now = gst_mcc_uri_get (element, scheme);
  CHECK (g_str_equal (now, plain));
  g_free (now);
  g_free (plain);
}

static void
check_uri (const gchar *text, unsigned kind)
{
  GstElement *element = make_element (kind);
  const gchar *scheme = gst_uri_handler_get_protocols (GST_URI_HANDLER (element))[0];
  gchar *uri = g_strconcat (scheme, "://", text, NULL), *before, *after, *again;
  GError *error = NULL;
  gboolean good;

  before = gst_mcc_uri_get (element, scheme);
  good = gst_mcc_uri_set (element, scheme, kind & 8 ? text : uri, &error);
  after = gst_mcc_uri_get (element, scheme);
  CHECK (good == (error == NULL));
  check_refused (element);
  if (good) {
    CHECK (after != NULL);
    CHECK (gst_mcc_uri_set (element, scheme, after, &error));
    again = gst_mcc_uri_get (element, scheme);
    CHECK (g_str_equal (again, after));
    g_free (again);
    check_again (element, scheme);
  } else {
    CHECK (g_strcmp0 (before, after) == 0);
    CHECK (error->message && g_utf8_validate (error->message, -1, NULL));
  }
  g_clear_error (&error);
  g_free (before);
  g_free (after);
  g_free (uri);
  gst_object_unref (element);
}

static void
check_streams (const gchar *text)
{
  static const MccAsspStreams untouched;
  MccAsspStreams streams = { 0 };
  GError *error = NULL;

  if (!gst_assp_streams_parse (text, &streams, &error)) {
    CHECK (error != NULL && memcmp (&streams, &untouched, sizeof streams) == 0);
    g_error_free (error);
    return;
  }
  CHECK (error == NULL);
  for (unsigned j = 0; j < streams.count; j++)
    streams.stream[j].ssrc = 1 + j; /* the session's to choose */
  CHECK (mcc_assp_streams_valid (&streams));
}

static void
check_keys (const gchar *text, unsigned kind)
{
  GError *error = NULL;
  GstMccSrtp *srtp = gst_mcc_srtp_new (kind & 1, text,
      kind & 2 ? GST_MCC_SRTP_AES_256_ICM : GST_MCC_SRTP_AES_128_ICM,
      kind & 4 ? GST_MCC_SRTP_HMAC_SHA1_32 : GST_MCC_SRTP_HMAC_SHA1_80, &error);

  CHECK ((srtp == NULL) == (error != NULL));
  /* No line of the text is in what is said about it. */
  if (error && strlen (text) >= 16)
    CHECK (strstr (error->message, text) == NULL);
  g_clear_error (&error);
  g_clear_pointer (&srtp, gst_mcc_srtp_free);
}

/* Nobody guesses what authenticates. */
static void
check_srtp (const uint8_t *data, size_t size, unsigned kind)
{
  GstMccSrtp *srtp
      = gst_mcc_srtp_new (FALSE, "1 MTIzNDU2Nzg5MDEyMzQ1Njc4OTAxMjM0NTY3ODkw\n", kind & 1, 0, NULL);
  guint8 *copy = g_malloc (size + GST_MCC_SRTP_ROOM);
  gsize bytes = size;

  CHECK (srtp != NULL || (kind & 1));
  memcpy (copy, data, size);
  if (srtp)
    CHECK (gst_mcc_srtp_unprotect (srtp, kind >> 1 & 1, copy, &bytes, 0, 0) != MCC_DROP_NONE);
  g_free (copy);
  g_clear_pointer (&srtp, gst_mcc_srtp_free);
}

static void
check_address (const gchar *text)
{
  MccAddress address, again;
  GSocketAddress *socket;

  memset (&address, 0, sizeof address);
  if (!gst_mcc_address_parse (text, 5004, &address))
    return;
  CHECK ((address.family == 4 || address.family == 6) && address.port == 5004);
  socket = gst_mcc_address_to_socket (&address, 0);
  CHECK (socket != NULL && gst_mcc_address_from_socket (socket, &again));
  CHECK (mcc_address_equal (&address, &again));
  g_object_unref (socket);
}

static void
ignore_log (const gchar *domain, GLogLevelFlags level, const gchar *message, gpointer data)
{
  CHECK (!(level & (G_LOG_LEVEL_CRITICAL | G_LOG_LEVEL_ERROR)));
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  gchar *text;
  unsigned kind;

  if (size == 0)
    return 0;
  if (!gst_is_initialized ()) {
    gst_init (NULL, NULL);
    g_log_set_default_handler (ignore_log, NULL);
  }
  kind = data[0];
  text = g_strndup ((const gchar *)data + 1, size - 1);
  switch (kind >> 4) {
    case 0:
    case 1:
      check_streams (text);
      break;
    case 2:
      check_keys (text, kind);
      break;
    case 3:
      check_srtp (data + 1, size - 1, kind);
      break;
    case 4:
      check_address (text);
      break;
    default:
      check_uri (text, kind);
  }
  g_free (text);
  return 0;
}
