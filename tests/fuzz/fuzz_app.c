/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The APP codec. The input is a packet; because a mutation seldom keeps name, version and length
 * right, it is decoded as it is and again with these mended, for both protocols that use it. What
 * decodes must encode, and mean the same again; what does not must leave the output alone.
 */
#include <math.h>
#include <string.h>

#include "fuzz.h"
#include "mccasspapp.h"
#include "mccrtt.h"

#define MAX_BYTES 4096

static void
check_string (const char *text, size_t size)
{
  const char *end = memchr (text, '\0', size);

  CHECK (end != NULL);
  for (const char *p = text; p < end; p++)
    CHECK (*p >= 0x20 && *p <= 0x7e);
}

static void
check_values (const MccApp *app)
{
  if (app->subtype == MCC_APP_REPORT) {
    const MccAppReport *report = &app->report;

    CHECK (report->loss_ratio >= 0.0 && report->loss_ratio <= 1.0);
    CHECK (report->rtt > 0 && report->rtt <= MCC_RTT_MAX);
    CHECK (report->rate_bps <= MCC_APP_RATE_MAX && report->received_bps <= MCC_APP_RATE_MAX);
    CHECK (report->echo <= 0xffffff && report->flags <= 0xff);
  } else if (app->subtype == MCC_APP_RTT) {
    CHECK (app->rtt.count <= MCC_APP_RTT_MAX);
    for (unsigned i = 0; i < app->rtt.count; i++)
      CHECK (app->rtt.entry[i].rtt > 0 && app->rtt.entry[i].rtt <= MCC_RTT_MAX);
  } else {
    const MccAppSession *session = &app->session;

    CHECK (app->subtype == MCC_APP_SESSION);
    CHECK (session->min_bps <= session->max_bps && session->max_bps <= MCC_APP_RATE_MAX);
    CHECK (session->target_bps <= MCC_APP_RATE_MAX && session->rtt_max <= MCC_RTT_MAX);
    CHECK (session->send_time <= 0xffffff && session->send_time_id <= 14);
    CHECK (session->payload_type <= 127 || session->payload_type == 255);
    CHECK (session->feedback.family == 0 || session->feedback.port != 0);
    check_string (session->media, sizeof session->media);
    check_string (session->encoding_name, sizeof session->encoding_name);
    check_string (session->parameters, sizeof session->parameters);
  }
}

static void
check_packet (const uint8_t *data, size_t size)
{
  static const MccApp untouched;
  static MccApp app, again;
  uint8_t first[MAX_BYTES], second[MAX_BYTES];
  size_t bytes;

  memset (&app, 0, sizeof app);
  if (mcc_app_decode (data, size, &app) != MCC_DROP_NONE) {
    CHECK (memcmp (&app, &untouched, sizeof app) == 0);
    return;
  }
  check_values (&app);
  bytes = mcc_app_encode (&app, first, sizeof first);
  CHECK (bytes > 0 && bytes <= size && bytes == mcc_app_size (&app));
  CHECK (mcc_app_encode (&app, second, bytes - 1) == 0);
  CHECK (mcc_app_decode (first, bytes, &again) == MCC_DROP_NONE);
  CHECK (mcc_app_encode (&again, second, sizeof second) == bytes);
  CHECK (memcmp (first, second, bytes) == 0);
}

static void
check_assp_packet (const uint8_t *data, size_t size)
{
  static const MccAsspApp untouched;
  static MccAsspApp app, again;
  uint8_t first[MAX_BYTES], second[MAX_BYTES];
  size_t bytes;

  memset (&app, 0, sizeof app);
  if (mcc_assp_app_decode (data, size, &app) != MCC_DROP_NONE) {
    CHECK (memcmp (&app, &untouched, sizeof app) == 0);
    return;
  }
  CHECK (app.stream < MCC_ASSP_STREAMS_MAX);
  if (app.subtype == MCC_ASSP_STREAMS)
    CHECK (mcc_assp_streams_valid (&app.streams));
  else
    check_values (&app.asmp);
  bytes = mcc_assp_app_encode (&app, first, sizeof first);
  /* A report of before it told a potential grows by that. */
  CHECK (bytes > 0 && (bytes <= size || bytes == MCC_ASSP_REPORT_BYTES)
         && bytes == mcc_assp_app_size (&app));
  CHECK (mcc_assp_app_encode (&app, second, bytes - 1) == 0);
  CHECK (mcc_assp_app_decode (first, bytes, &again) == MCC_DROP_NONE);
  CHECK (mcc_assp_app_encode (&again, second, sizeof second) == bytes);
  CHECK (memcmp (first, second, bytes) == 0);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  uint8_t *copy;

  check_packet (data, size);
  check_assp_packet (data, size);
  if (size < MCC_APP_HEADER_BYTES + 4 || size > MAX_BYTES)
    return 0;
  /* A heap block of exactly this size: an over-read is seen. */
  size &= ~(size_t)3;
  copy = malloc (size);
  CHECK (copy != NULL);
  memcpy (copy, data, size);
  copy[0] = (uint8_t)(0x80 | (data[0] & 0x1f) % 6);
  copy[1] = 204;
  copy[2] = (uint8_t)((size / 4 - 1) >> 8);
  copy[3] = (uint8_t)(size / 4 - 1);
  memcpy (copy + 8, MCC_APP_NAME, 4);
  copy[12] = MCC_APP_VERSION;
  check_packet (copy, size);
  memcpy (copy + 8, MCC_ASSP_NAME, 4);
  check_assp_packet (copy, size);
  free (copy);
  return 0;
}
