/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A path that gets 1000 bytes each 10 ms, 800 kb/s, and decides each 100 ms.
 */
#pragma once

#include <glib.h>

#include "mccasmppath.h"
#include "mcctcp.h"

#define T0 (4711 * MCC_SECOND)
#define BYTES 1000
#define RATE_BPS 800000.0
#define DELAY (20 * MCC_MSECOND)
#define HISTORY 32

typedef struct {
  MccAsmpPath path;
  MccRateInput input;
  MccTime now, decided;
  MccTime delay;
  guint16 seq;
  guint32 report;
  MccEcn ecn; /* of what comes */
} PathFixture;

static inline void
path_init (PathFixture *f, MccVariant variant)
{
  MccLossConfig config = mcc_loss_config_default;
  config.history = HISTORY;
  config.discounting = true;
  memset (f, 0, sizeof *f);
  f->now = f->decided = T0;
  f->delay = DELAY;
  f->seq = 65500;
  g_assert_true (mcc_asmp_path_init (&f->path, variant, mcc_loss_new (&mcc_loss_lip, &config)));
}

static inline void
decide (PathFixture *f)
{
  mcc_asmp_path_fit_history (&f->path, HISTORY);
  mcc_asmp_path_decide (&f->path, &f->input, f->now);
  f->decided = f->now;
}

/* @packets arrive; a decision each 100 ms. */
static inline void
stream (PathFixture *f, guint packets)
{
  while (packets-- > 0) {
    f->now += 10 * MCC_MSECOND;
    MccRtpPacket packet = { .seq = f->seq++,
      .bytes = BYTES,
      .has_send_time = true,
      .send_time = mcc_abs_send_time (f->now - f->delay),
      .ecn = f->ecn };
    g_assert_true (mcc_asmp_path_handle_packet (&f->path, &packet, f->now));
    if (f->now - f->decided >= 100 * MCC_MSECOND)
      decide (f);
  }
}

static inline void
measure_rtt (PathFixture *f, MccTime rtt)
{
  mcc_asmp_path_handle_report (&f->path, ++f->report);
  g_assert_true (mcc_rtt_handle_effective (&f->path.rtt, rtt, f->report, f->now));
}
