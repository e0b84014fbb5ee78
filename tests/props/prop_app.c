/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * decode (encode (x)) = x for random x in range, and encoding is canonical.
 */
#include <string.h>

#include "../core/appequal.h"

#define MAX_BYTES 2048

static uint64_t
random_uint (GRand *rand, unsigned bits)
{
  uint64_t value = (uint64_t)g_rand_int (rand) << 32 | g_rand_int (rand);

  /* Small values and the two ends as often as the middle. */
  switch (g_rand_int_range (rand, 0, 4)) {
    case 0:
      return value >> (64 - bits) >> g_rand_int_range (rand, 0, (gint32)bits);
    case 1:
      return g_rand_boolean (rand) ? 0 : UINT64_MAX >> (64 - bits);
    default:
      return value >> (64 - bits);
  }
}

static MccTime
random_rtt (GRand *rand)
{
  return (1 + random_uint (rand, 40) % 10000000) * MCC_USECOND;
}

static void
random_string (GRand *rand, char *out, size_t size, const char *alphabet)
{
  size_t length = random_uint (rand, 16) % size;

  memset (out, 0, size);
  for (size_t i = 0; i < length; i++)
    out[i] = alphabet[g_rand_int_range (rand, 0, (gint32)strlen (alphabet))];
}

static void
random_session (GRand *rand, MccAppSession *s)
{
  static const char names[] = "azAZ09!#$&-^_.+";
  static const char printable[] = " !\"%'()*,/:;<=>?@[\\]`{|}~azAZ09";

  s->number = (uint32_t)random_uint (rand, 32);
  s->flags = (uint32_t)random_uint (rand, 8);
  s->send_time = (uint32_t)random_uint (rand, 24);
  s->target_bps = random_uint (rand, 48);
  s->min_bps = random_uint (rand, 47);
  s->max_bps = s->min_bps + random_uint (rand, 47);
  s->start_bps = random_uint (rand, 48);
  s->session_bandwidth_bps = random_uint (rand, 48);
  s->suppress_bps = g_rand_boolean (rand) ? UINT64_MAX : random_uint (rand, 48);
  s->receivers = (uint32_t)random_uint (rand, 32);
  s->limiting_ssrc = (uint32_t)random_uint (rand, 32);
  s->rtt_max = random_rtt (rand);
  s->round = (uint32_t)random_uint (rand, 32);
  s->media_ssrc = (uint32_t)random_uint (rand, 32);
  s->ttl = (uint8_t)random_uint (rand, 8);
  s->payload_type = g_rand_boolean (rand) ? 255 : (uint8_t)random_uint (rand, 7);
  s->send_time_id = (uint8_t)(random_uint (rand, 8) % 15);
  s->clock_rate = s->payload_type == 255 ? 0 : 1 + (uint32_t)random_uint (rand, 31);
  s->feedback.family = (uint8_t)(2 * g_rand_int_range (rand, 1, 4) % 6);
  if (s->feedback.family == 2)
    s->feedback.family = 6;
  if (s->feedback.family != 0) {
    s->feedback.port = (uint16_t)(1 + random_uint (rand, 15));
    for (unsigned i = 0; i < (s->feedback.family == 4 ? 4 : 16); i++)
      s->feedback.bytes[i] = (uint8_t)random_uint (rand, 8);
    s->feedback.bytes[0] = (uint8_t)g_rand_int_range (rand, 1, 224);
  }
  random_string (rand, s->media, sizeof s->media, names);
  random_string (rand, s->encoding_name, sizeof s->encoding_name, names);
  random_string (rand, s->parameters, sizeof s->parameters, printable);
}

static void
random_app (GRand *rand, MccApp *app)
{
  memset (app, 0, sizeof *app);
  app->ssrc = (uint32_t)random_uint (rand, 32);
  app->subtype = (unsigned)g_rand_int_range (rand, MCC_APP_REPORT, MCC_APP_SESSION + 1);
  if (app->subtype == MCC_APP_REPORT) {
    app->report = (MccAppReport){
      .number = (uint32_t)random_uint (rand, 32),
      .flags = (uint32_t)random_uint (rand, 8),
      .rate_bps = random_uint (rand, 48),
      .received_bps = random_uint (rand, 48),
      .loss_ratio = (double)random_uint (rand, 32) / 4294967295.0,
      .marked_share = (double)random_uint (rand, 6) / 63.0,
      .ecn = (unsigned)random_uint (rand, 2),
      .rtt = random_rtt (rand),
      .jitter = random_uint (rand, 32) * MCC_USECOND,
      .queue_delay = random_uint (rand, 32) * MCC_USECOND,
      .packets_lost = (uint32_t)random_uint (rand, 32),
      .highest_seq = (uint32_t)random_uint (rand, 32),
      .echo = (uint32_t)random_uint (rand, 24),
      .hold = random_uint (rand, 32) * MCC_USECOND,
    };
  } else if (app->subtype == MCC_APP_RTT) {
    app->rtt.count = (unsigned)(random_uint (rand, 16) % (MCC_APP_RTT_MAX + 1));
    for (unsigned i = 0; i < app->rtt.count; i++)
      app->rtt.entry[i] = (MccAppRtt){ (uint32_t)random_uint (rand, 32),
        (uint32_t)random_uint (rand, 32), random_rtt (rand) };
  } else {
    random_session (rand, &app->session);
  }
}

static void
test_round_trip (void)
{
  const gchar *fixed = g_getenv ("MCC_SEED");
  guint32 seed = fixed != NULL ? (guint32)g_ascii_strtoull (fixed, NULL, 10) : g_random_int ();
  GRand *rand = g_rand_new_with_seed (seed);
  uint8_t data[MAX_BYTES], again[MAX_BYTES];

  g_test_message ("seed %u", seed);
  for (int n = 0; n < 5000; n++) {
    MccApp in, out;
    size_t bytes;

    random_app (rand, &in);
    bytes = mcc_app_encode (&in, data, sizeof data);
    g_assert_cmpuint (bytes, ==, mcc_app_size (&in));
    g_assert_cmpuint (bytes, >, 0);
    g_assert_cmpuint (bytes % 4, ==, 0);
    g_assert_cmpint (mcc_app_decode (data, bytes, &out), ==, MCC_DROP_NONE);
    assert_equal (&in, &out);
    g_assert_cmpuint (mcc_app_encode (&out, again, sizeof again), ==, bytes);
    g_assert_cmpmem (data, bytes, again, bytes);
  }
  g_rand_free (rand);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/app/decode-inverts-encode", test_round_trip);
  return g_test_run ();
}
