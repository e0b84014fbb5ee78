/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "appequal.h"
#include "mccelmapp.h"
#include "mccjitter.h"

#define MAX_BYTES 2048
#define LAYERS_BYTES(n) (36u + 20u * (n))

static MccElmApp
sample_layers (void)
{
  return (MccElmApp){ .ssrc = 0x11111111,
    .subtype = MCC_ELM_LAYERS,
    .layers = { .number = 0xfffffffe,
        .round = 77,
        .round_time = 0xabcdef,
        .round_interval = 2 * MCC_SECOND,
        .feedback_interval = MCC_ELM_FEEDBACK_MAX,
        .set = 3,
        .count = 3,
        .layer = { { 300000, 0x11111111, 0, 0, 7500, 0 }, { 500000, 0x22222222, 1, 2, 15000, 1 },
            { MCC_APP_RATE_MAX, 0x33333333, 2, 4, 0, 3 } } } };
}

static MccElmApp
sample_of (unsigned subtype)
{
  MccElmApp app = { .ssrc = 0xdecafbad, .subtype = subtype };
  app.asmp = (MccApp){ .ssrc = app.ssrc, .subtype = subtype };
  if (subtype == MCC_APP_REPORT) {
    app.level = 5;
    app.wanted = 6;
    app.flags = MCC_ELM_JOINING | 0x80;
    app.asmp.report = (MccAppReport){
      .number = 7, .rate_bps = 1234567, .rtt = 40 * MCC_MSECOND, .flags = MCC_REPORT_NO_LIMIT
    };
  } else if (subtype == MCC_APP_RTT) {
    app.asmp.rtt.count = 1;
    app.asmp.rtt.entry[0] = (MccAppRtt){ 5, 6, 33 * MCC_MSECOND };
  } else {
    app.asmp.session = (MccAppSession){ .min_bps = 300000,
      .max_bps = 300000,
      .suppress_bps = UINT64_MAX,
      .payload_type = 96,
      .clock_rate = 90000,
      .media = "video",
      .encoding_name = "H264" };
  }
  return app;
}

static void
assert_layers_equal (const MccElmLayers *a, const MccElmLayers *b)
{
  g_assert_true (mcc_elm_layers_same (a, b));
  g_assert_cmpuint (a->number, ==, b->number);
  g_assert_cmpuint (a->flags, ==, b->flags);
  g_assert_cmpuint (a->round, ==, b->round);
  g_assert_cmpuint (a->round_time, ==, b->round_time);
  g_assert_cmpuint (a->round_interval, ==, b->round_interval);
  g_assert_cmpuint (a->feedback_interval, ==, b->feedback_interval);
  for (unsigned k = 0; k < a->count; k++) {
    g_assert_cmpuint (a->layer[k].cumulative_bps, ==, b->layer[k].cumulative_bps);
    g_assert_cmpuint (a->layer[k].frame_rate, ==, b->layer[k].frame_rate);
  }
}

static void
test_round_trip (void)
{
  for (unsigned subtype = MCC_APP_REPORT; subtype <= MCC_ELM_LAYERS; subtype++) {
    MccElmApp app = subtype == MCC_ELM_LAYERS ? sample_layers () : sample_of (subtype), copy;
    guint8 data[MAX_BYTES];
    gsize bytes = mcc_elm_app_encode (&app, data, sizeof data);
    g_assert_cmpuint (bytes, ==, mcc_elm_app_size (&app));
    g_assert_cmpuint (mcc_elm_app_encode (&app, data, bytes - 1), ==, 0);
    g_assert_cmpuint (mcc_elm_app_encode (&app, data, bytes), ==, bytes);
    g_assert_cmpint (mcc_elm_app_decode (data, bytes, &copy), ==, MCC_DROP_NONE);
    g_assert_cmpuint (copy.ssrc, ==, app.ssrc);
    g_assert_cmpuint (copy.level, ==, app.level);
    g_assert_cmpuint (copy.wanted, ==, app.wanted);
    g_assert_cmpuint (copy.flags, ==, app.flags);
    if (subtype == MCC_ELM_LAYERS)
      assert_layers_equal (&copy.layers, &app.layers);
    else
      assert_equal (&copy.asmp, &app.asmp);
  }
}

/* The level is where ASMP has nothing: the rest of a report is the same byte for byte. */
static void
test_report_is_asmps (void)
{
  MccElmApp app = sample_of (MCC_APP_REPORT);
  guint8 elm[MAX_BYTES], asmp[MAX_BYTES];
  g_assert_cmpuint (mcc_elm_app_encode (&app, elm, sizeof elm), ==, MCC_APP_REPORT_BYTES);
  g_assert_cmpuint (mcc_app_encode (&app.asmp, asmp, sizeof asmp), ==, MCC_APP_REPORT_BYTES);
  unsigned differ = 0;
  for (unsigned i = 12; i < MCC_APP_REPORT_BYTES; i++)
    differ += elm[i] != asmp[i];
  g_assert_cmpuint (differ, ==, 2);
}

static void
test_truncated (void)
{
  MccElmApp app = sample_layers (), out;
  guint8 data[MAX_BYTES];
  gsize bytes = mcc_elm_app_encode (&app, data, sizeof data);
  for (gsize n = 0; n < bytes; n++) {
    guint8 *exact = g_memdup2 (data, n);
    if (n >= 4)
      exact[3] = (guint8)(n / 4 - 1);
    memset (&out, 0xa5, sizeof out);
    g_assert_cmpint (mcc_elm_app_decode (exact, n, &out), ==, MCC_DROP_MALFORMED);
    for (gsize i = 0; i < sizeof out; i++)
      g_assert_cmpuint (((guint8 *)&out)[i], ==, 0xa5);
    g_free (exact);
  }
}

static void
test_refused (void)
{
  static const struct {
    unsigned at;
    guint8 value;
    MccDrop drop;
  } cases[] = {
    { 8, 'A', MCC_DROP_UNKNOWN_NAME }, { 12, 2, MCC_DROP_UNKNOWN_VERSION },
    { 0, 0x85, MCC_DROP_UNKNOWN_SUBTYPE }, { 14, 0, MCC_DROP_BAD_VALUE }, /* no layer */
    { 14, 4, MCC_DROP_MALFORMED },      /* one more than there are */
    { 24, 0, MCC_DROP_BAD_VALUE },      /* rounds of 208 ms */
    { 28, 0, MCC_DROP_BAD_VALUE },      /* t_fb of 96 ms */
    { 36 + 7, 1, MCC_DROP_BAD_VALUE },  /* a base layer that is elsewhere */
    { 56 + 7, 0, MCC_DROP_BAD_VALUE },  /* two in one group */
    { 56 + 9, 3, MCC_DROP_BAD_VALUE },  /* an odd port */
    { 56 + 10, 2, MCC_DROP_BAD_VALUE }, /* depends on itself */
    { 56 + 3, 3, MCC_DROP_BAD_VALUE },  /* a rate that does not rise */
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    MccElmApp app = sample_layers (), out;
    app.layers.round_interval = 0x07d0 * MCC_MSECOND;
    app.layers.feedback_interval = 0x2760 * MCC_MSECOND;
    guint8 data[MAX_BYTES];
    gsize bytes = mcc_elm_app_encode (&app, data, sizeof data);
    g_assert_cmpuint (bytes, ==, LAYERS_BYTES (3));
    data[cases[i].at] = cases[i].value;
    g_test_message ("case %u", i);
    g_assert_cmpint (mcc_elm_app_decode (data, bytes, &out), ==, cases[i].drop);
  }
  MccElmApp app = sample_of (MCC_APP_REPORT), out;
  guint8 data[MAX_BYTES];
  gsize bytes = mcc_elm_app_encode (&app, data, sizeof data);
  data[24] = 0x85; /* level 8 */
  g_assert_cmpint (mcc_elm_app_decode (data, bytes, &out), ==, MCC_DROP_BAD_VALUE);
  data[24] = 0x58;
  g_assert_cmpint (mcc_elm_app_decode (data, bytes, &out), ==, MCC_DROP_BAD_VALUE);
}

static void
test_not_encoded (void)
{
  guint8 data[MAX_BYTES];
  MccElmApp app = sample_of (MCC_APP_REPORT);
  app.level = MCC_ELM_LAYERS_MAX;
  g_assert_cmpuint (mcc_elm_app_encode (&app, data, sizeof data), ==, 0);
  app = sample_of (MCC_APP_REPORT);
  app.flags = 0x100;
  g_assert_cmpuint (mcc_elm_app_encode (&app, data, sizeof data), ==, 0);
  app = sample_of (MCC_APP_REPORT);
  app.asmp.subtype = MCC_APP_RTT;
  g_assert_cmpuint (mcc_elm_app_encode (&app, data, sizeof data), ==, 0);
  app = sample_of (MCC_APP_SESSION);
  app.asmp.session.min_bps = app.asmp.session.max_bps + 1;
  g_assert_cmpuint (mcc_elm_app_encode (&app, data, sizeof data), ==, 0);
  app = sample_layers ();
  app.layers.round_time = 0x1000000;
  g_assert_cmpuint (mcc_elm_app_encode (&app, data, sizeof data), ==, 0);
  app = sample_layers ();
  app.layers.count = MCC_ELM_LAYERS_MAX + 1;
  g_assert_cmpuint (mcc_elm_app_encode (&app, data, sizeof data), ==, 0);
}

static void
test_layers (void)
{
  MccElmLayers layers = sample_layers ().layers, other = layers;
  g_assert_true (mcc_elm_layers_have (&layers, 0x22222222));
  g_assert_false (mcc_elm_layers_have (&layers, 0x44444444));
  g_assert_cmpuint (mcc_elm_layers_place (&layers, 1.0), ==, 0);
  g_assert_cmpuint (mcc_elm_layers_place (&layers, 499999.0), ==, 0);
  g_assert_cmpuint (mcc_elm_layers_place (&layers, 500000.0), ==, 1);
  g_assert_cmpuint (mcc_elm_layers_place (&layers, 1e18), ==, 2);
  other.layer[1].cumulative_bps++;
  other.number++;
  g_assert_true (mcc_elm_layers_same (&layers, &other));
  other.layer[1].ssrc++;
  g_assert_false (mcc_elm_layers_same (&layers, &other));
  other = layers;
  other.count--;
  g_assert_false (mcc_elm_layers_same (&layers, &other));
}

/* Send times alone tell the round, before and behind the announced one and across their wrap. */
static void
test_rounds (void)
{
  MccElmLayers layers = sample_layers ().layers;
  for (MccTime base = 60 * MCC_SECOND; base < 70 * MCC_SECOND; base += MCC_SECOND) {
    layers.round_time = mcc_abs_send_time (base);
    for (int r = -5; r <= 12; r++) {
      MccTime begin = (MccTime)((gint64)base + r * 2 * (gint64)MCC_SECOND);
      g_assert_cmpuint (
          mcc_elm_layers_round (&layers, mcc_abs_send_time (begin + 10 * MCC_USECOND)), ==,
          77u + (guint32)r);
      g_assert_cmpuint (
          mcc_elm_layers_round (&layers, mcc_abs_send_time (begin - 10 * MCC_USECOND)), ==,
          76u + (guint32)r);
    }
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/elm/app/round-trip", test_round_trip);
  g_test_add_func ("/elm/app/report-is-asmps", test_report_is_asmps);
  g_test_add_func ("/elm/app/truncated", test_truncated);
  g_test_add_func ("/elm/app/refused", test_refused);
  g_test_add_func ("/elm/app/not-encoded", test_not_encoded);
  g_test_add_func ("/elm/layers/which", test_layers);
  g_test_add_func ("/elm/layers/rounds-by-send-time", test_rounds);
  return g_test_run ();
}
