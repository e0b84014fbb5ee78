/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Caps from announcements: whatever an announcement says either makes fixed RTP caps or none, and
 * caps survive the way through the wire. The input is the variable end of an announcement: payload
 * type, clock rate, extension id and the three strings.
 */
#include <string.h>

#include "fuzz.h"
#include "gstmccsdp.h"

#define FIXED_BYTES 100

static gboolean
decode (FuzzInput *in, MccApp *app)
{
  guint8 data[2048] = { 0x83, 204, 0, 0, 0, 0, 0, 1, 'A', 'S', 'M', 'P', MCC_APP_VERSION };
  gsize bytes;

  data[15] = fuzz_u8 (in);
  data[20] = fuzz_u8 (in) % 15;
  for (unsigned i = 0; i < 4; i++)
    data[92 + i] = fuzz_u8 (in);
  memset (data + 64, 0xff, 8);
  bytes = FIXED_BYTES + MIN (in->left, sizeof data - FIXED_BYTES - 4);
  memcpy (data + FIXED_BYTES, in->data, bytes - FIXED_BYTES);
  bytes = (bytes + 3) & ~(gsize)3;
  data[2] = (guint8)((bytes / 4 - 1) >> 8);
  data[3] = (guint8)(bytes / 4 - 1);
  return mcc_app_decode (data, bytes, app) == MCC_DROP_NONE;
}

static void
check_sdp (GstCaps *caps)
{
  gchar address[] = "239.255.12.42", source[] = "192.0.2.1";
  GstMccSessionSettings settings
      = { .address = address, .port = 5004, .ttl_mc = 64, .source_address = source };
  GError *error = NULL;
  gchar *text = gst_mcc_sdp_to_text (&settings, caps, 4000000, "fuzz", &error);

  CHECK ((text != NULL) == (error == NULL));
  if (text) {
    CHECK (strstr (text, "m=") != NULL);
    /* A line feed in a field would begin a line of its own. */
    CHECK (strstr (text, "\r\n\r\n") == NULL);
  }
  g_clear_error (&error);
  g_free (text);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  static MccApp app, again;
  FuzzInput in = { data, size };
  GstCaps *caps, *caps_again;

  if (!gst_is_initialized ())
    gst_init (NULL, NULL);
  if (!decode (&in, &app))
    return 0;
  caps = gst_mcc_caps_from_session (&app.session);
  if (!caps)
    return 0;
  CHECK (gst_caps_is_fixed (caps));
  memset (&again, 0, sizeof again);
  if (gst_mcc_caps_to_session (caps, &again.session)) {
    uint8_t packet[2048];

    again.subtype = MCC_APP_SESSION;
    CHECK (mcc_app_encode (&again, packet, sizeof packet) > 0);
    caps_again = gst_mcc_caps_from_session (&again.session);
    CHECK (caps_again != NULL && gst_caps_is_equal (caps, caps_again));
    gst_caps_unref (caps_again);
    check_sdp (caps);
  }
  gst_caps_unref (caps);
  return 0;
}
