/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The screen in front of rtpsession: the input is a sequence of datagrams, each a mode, an address,
 * a wait and a length. Some are mended: version, packet type and length of each part, and the APP
 * name, so that mutations reach what lies behind. What is passed on must be a compound that nobody
 * can misread, of one member that is not us.
 */
#include <math.h>
#include <string.h>

#include "fuzz.h"
#include "gstmccscreen.h"

#define OWN_SSRC 0x01020304u
#define OWN_PORT 5005

typedef struct {
  guint32 first_ssrc;
  guint8 first_type;
  const MccAddress *from;
  gboolean looped;
  guint64 calls;
} Datagram;

static guint32
read32 (const guint8 *data)
{
  return (guint32)data[0] << 24 | (guint32)data[1] << 16 | (guint32)data[2] << 8 | data[3];
}

static void
check_source (Datagram *self, guint32 ssrc, const MccAddress *from)
{
  CHECK (self->first_type == 200 || self->first_type == 201);
  CHECK (ssrc == self->first_ssrc && from == self->from);
  CHECK (!self->looped);
  self->calls++;
}

static void
on_app (gpointer user, const MccApp *app, const MccAddress *from)
{
  CHECK (app->subtype >= MCC_APP_REPORT && app->subtype <= MCC_APP_SESSION);
  check_source (user, app->ssrc, from);
}

static void
on_sender_report (
    gpointer user, guint32 ssrc, guint64 ntp, guint32 rtp_time, const MccAddress *from)
{
  check_source (user, ssrc, from);
}

static void
on_report_block (gpointer user, guint32 ssrc, const GstMccReportBlock *block, gboolean has_app,
    const MccAddress *from)
{
  CHECK (block->fraction_lost >= 0.0 && block->fraction_lost <= 1.0);
  check_source (user, ssrc, from);
}

static void
on_bye (gpointer user, guint32 ssrc, const MccAddress *from)
{
  check_source (user, ssrc, from);
}

static void
on_key_unit_request (gpointer user, guint32 ssrc, guint32 media_ssrc)
{
  Datagram *self = user;

  CHECK (ssrc == self->first_ssrc && !self->looped);
}

static void
on_dropped (gpointer user, MccDrop drop, guint32 ssrc)
{
  CHECK (drop > MCC_DROP_NONE && drop < MCC_DROP_COUNT);
}

/* As within SRTCP: what a member says of its streams. */
static void
on_indexes (gpointer user, const MccIndexApp *app, const MccAddress *from)
{
  guint8 bytes[MCC_INDEX_BYTES (MCC_INDEX_MAX)];
  MccIndexApp again;
  size_t size = mcc_index_app_encode (app, bytes, sizeof bytes);

  CHECK (size == MCC_INDEX_BYTES (app->count));
  CHECK (mcc_index_app_decode (bytes, size, &again) == MCC_DROP_NONE);
  CHECK (again.ssrc == app->ssrc && again.count == app->count);
}

/* One chunk with one CNAME, and nulls to its end: nothing that rtpsession keeps for ever. */
static void
check_sdes (const guint8 *data, gsize bytes, guint32 ssrc)
{
  gsize end;

  CHECK ((data[0] & 0x1f) == 1 && bytes >= 12);
  CHECK (read32 (data + 4) == ssrc && data[8] == 1);
  end = 10 + (gsize)data[9];
  CHECK (end < bytes && bytes - end <= 4);
  for (; end < bytes; end++)
    CHECK (data[end] == 0);
}

/* What rtpsession gets: whole packets of four types, the first a report, all of one member. */
static void
check_forward (const guint8 *data, gsize size, guint32 ssrc)
{
  gsize at = 0;

  CHECK (size <= GST_MCC_SCREEN_BYTES && size % 4 == 0);
  CHECK (size == 0 || data[1] == 200 || data[1] == 201);
  while (at < size) {
    gsize bytes;

    CHECK (size - at >= 4 && (data[at] & 0xe0) == 0x80);
    CHECK (data[at + 1] >= 200 && data[at + 1] <= 203);
    bytes = 4 + 4 * ((gsize)data[at + 2] << 8 | data[at + 3]);
    CHECK (bytes <= size - at);
    CHECK (bytes < 8 || (data[at] & 0x1f) == 0 || data[at + 1] >= 202
           || read32 (data + at + 4) == ssrc);
    if (data[at + 1] == 202)
      check_sdes (data + at, bytes, ssrc);
    at += bytes;
  }
}

/* Makes a compound of any bytes: parts of 4 to 256 bytes. */
static void
mend (guint8 *data, gsize size, guint32 ssrc)
{
  static const guint8 types[] = { 201, 202, 203, 204, 204, 204, 205, 206, 200 };
  gsize at = 0;

  while (size - at >= 8) {
    gsize words = data[at + 3] % 64, left = (size - at) / 4 - 1;

    if (words > left || left - words < 2)
      words = left;
    data[at + 1] = at == 0 ? 200 + (data[at + 1] & 1) : types[data[at + 1] % sizeof types];
    data[at]
        = (guint8)(0x80 | (data[at + 1] == 203 ? 1 : data[at] % (data[at + 1] == 204 ? 4 : 3)));
    data[at + 2] = 0;
    data[at + 3] = (guint8)words;
    if (words > 255)
      data[at + 2] = (guint8)(words >> 8);
    data[at + 4] = (guint8)(ssrc >> 24);
    data[at + 5] = (guint8)(ssrc >> 16);
    data[at + 6] = (guint8)(ssrc >> 8);
    data[at + 7] = (guint8)ssrc;
    if (data[at + 1] == 204 && words >= 3) {
      memcpy (data + at + 8, MCC_APP_NAME, 4);
      data[at + 12] = MCC_APP_VERSION;
    }
    at += 4 + 4 * words;
  }
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  static const GstMccScreenFuncs funcs = { on_app, NULL, on_sender_report, on_report_block, on_bye,
    on_key_unit_request, on_dropped, NULL, on_indexes, NULL };
  FuzzInput in = { data, size };
  Datagram datagram = { 0 };
  MccTime now = 5 * MCC_SECOND;
  GstMccScreen *screen = gst_mcc_screen_new (&funcs, &datagram, 7);

  gst_mcc_screen_set_own (screen, &(guint32){ OWN_SSRC }, 1, OWN_PORT);
  for (unsigned i = 0; i < 64 && in.left > 0; i++) {
    guint8 mode = fuzz_u8 (&in), who = fuzz_u8 (&in);
    MccAddress from = { .family = 4, .port = (uint16_t)(OWN_PORT + who % 3), .bytes = { 10 } };
    gsize bytes;
    guint8 *copy, *forward;

    now += fuzz_scale (&in, 36);
    bytes = fuzz_take (&in, 2) % (mode & 1 ? 4096 : 256);
    bytes = MIN (bytes, in.left);
    if (mode & 2)
      bytes &= ~(gsize)3;
    /* Heap blocks of exactly these sizes: an over-read or an overflow is seen. */
    copy = g_memdup2 (in.data, bytes);
    forward = g_malloc (GST_MCC_SCREEN_BYTES);
    in.data += bytes;
    in.left -= bytes;
    if (mode & 4)
      mend (copy, bytes, mode & 8 ? OWN_SSRC : 0x1000u + who % 5);

    datagram.from = &from;
    datagram.first_type = bytes >= 8 ? copy[1] : 0;
    datagram.first_ssrc = bytes >= 8 ? read32 (copy + 4) : 0;
    datagram.looped = datagram.first_ssrc == OWN_SSRC && from.port == OWN_PORT;
    bytes = gst_mcc_screen_handle (screen, copy, bytes, &from, now, forward);
    CHECK (bytes == 0 || !datagram.looped);
    check_forward (forward, bytes, datagram.first_ssrc);
    g_free (forward);
    g_free (copy);
  }
  gst_mcc_screen_free (screen);
  return 0;
}
