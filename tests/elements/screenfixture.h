/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * screenfixture: a screen that counts what gets past it, and compounds to put into it.
 */
#pragma once

#include <string.h>

#include "gstmccscreen.h"

#define START (7000 * MCC_SECOND)
#define OWN_SSRC 0x0a0b0c0du
#define OWN_PORT 40000
#define SSRC 0x11223344u

typedef struct {
  guint apps, reports, blocks, byes, key_units;
  guint dropped[MCC_DROP_COUNT];
  GstMccReportBlock block;
  gboolean has_app;
  guint32 media_ssrc;
  guint64 ntp;
} Seen;

static Seen seen;
static guint8 forward[GST_MCC_SCREEN_BYTES];

static inline void
on_app (gpointer user, const MccApp *app, const MccAddress *from)
{
  seen.apps++;
}

static inline void
on_sender_report (
    gpointer user, guint32 ssrc, guint64 ntp, guint32 rtp_time, const MccAddress *from)
{
  seen.reports++;
  seen.ntp = ntp;
}

static inline void
on_block (gpointer user, guint32 ssrc, const GstMccReportBlock *block, gboolean has_app,
    const MccAddress *from)
{
  seen.blocks++;
  seen.block = *block;
  seen.has_app = has_app;
}

static inline void
on_bye (gpointer user, guint32 ssrc, const MccAddress *from)
{
  seen.byes++;
}

static inline void
on_key_unit (gpointer user, guint32 ssrc, guint32 media_ssrc)
{
  seen.key_units++;
  seen.media_ssrc = media_ssrc;
}

static inline void
on_dropped (gpointer user, MccDrop drop, guint32 ssrc)
{
  seen.dropped[drop]++;
}

static const GstMccScreenFuncs funcs = { on_app, NULL, on_sender_report, on_block, on_bye,
  on_key_unit, on_dropped, NULL, NULL, NULL };

static inline GstMccScreen *
make (void)
{
  GstMccScreen *screen = gst_mcc_screen_new (&funcs, NULL, 1);

  gst_mcc_screen_set_own (screen, &(guint32){ OWN_SSRC }, 1, OWN_PORT);
  memset (&seen, 0, sizeof seen);
  return screen;
}

static inline MccAddress
address (guint8 host, guint16 port)
{
  MccAddress a = { .family = 4, .port = port, .bytes = { 10, 0, 0, host } };

  return a;
}

/* ---- packets ---- */

typedef struct {
  guint8 data[4096];
  gsize size;
} Compound;

static inline void
put32 (Compound *c, guint32 value)
{
  for (gint shift = 24; shift >= 0; shift -= 8)
    c->data[c->size++] = (guint8)(value >> shift);
}

static inline void
put_header (Compound *c, guint8 type, guint count, guint words)
{
  put32 (c, 0x80000000u | count << 24 | (guint32)type << 16 | (words - 1));
}

static inline void
put_rr (Compound *c, guint32 ssrc, guint blocks)
{
  put_header (c, 201, blocks, 2 + 6 * blocks);
  put32 (c, ssrc);
  for (guint i = 0; i < blocks; i++) {
    put32 (c, OWN_SSRC);
    put32 (c, 0x40000007); /* a quarter lost */
    put32 (c, 0x00010203);
    put32 (c, 0);
    put32 (c, 0xaaaabbbb);
    put32 (c, 0x00010000);
  }
}

static inline void
put_sdes (Compound *c, guint32 ssrc)
{
  put_header (c, 202, 1, 4);
  put32 (c, ssrc);
  put32 (c, 0x01046e61); /* CNAME, 4 bytes */
  put32 (c, 0x6d650000);
}

static inline void
put_bye (Compound *c, guint32 ssrc)
{
  put_header (c, 203, 1, 2);
  put32 (c, ssrc);
}

static inline void
put_app (Compound *c, guint32 ssrc)
{
  MccApp app = { .ssrc = ssrc, .subtype = MCC_APP_REPORT };

  app.report.number = 1;
  app.report.rate_bps = 300000;
  c->size += mcc_app_encode (&app, c->data + c->size, sizeof c->data - c->size);
}

static inline gsize
handle (GstMccScreen *screen, const Compound *c, MccAddress from, MccTime now)
{
  /* a copy that ends where the packet ends, so that ASan and valgrind see a read behind it */
  guint8 *exact = g_memdup2 (c->data, c->size);
  gsize bytes = gst_mcc_screen_handle (screen, exact, c->size, &from, now, forward);

  g_free (exact);
  return bytes;
}

static inline Compound
report (guint32 ssrc)
{
  Compound c = { .size = 0 };

  put_rr (&c, ssrc, 1);
  put_sdes (&c, ssrc);
  put_app (&c, ssrc);
  return c;
}

static inline guint
drops (void)
{
  guint n = 0;

  for (guint i = 0; i < MCC_DROP_COUNT; i++)
    n += seen.dropped[i];
  return n;
}
