/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>
#include <math.h>
#include <string.h>

#include "appequal.h"
#include "mccapp.h"
#include "mccrtt.h"

#define MAX_BYTES 2048
#define LARGEST (4 * 65536)

/* ---- samples ---- */

static void
sample_report (MccApp *app)
{
  memset (app, 0, sizeof *app);
  app->ssrc = 0xdecafbad;
  app->subtype = MCC_APP_REPORT;
  app->report = (MccAppReport){
    .number = 0xfffffffe,
    .flags = MCC_REPORT_RTT_MEASURED | MCC_REPORT_ECHO | MCC_REPORT_LOSS,
    .rate_bps = 1234567,
    .received_bps = 1200000,
    .loss_ratio = 0.0,
    .rtt = 40 * MCC_MSECOND,
    .jitter = 1500 * MCC_USECOND,
    .queue_delay = 20 * MCC_MSECOND,
    .packets_lost = 77,
    .highest_seq = 0x00012345,
    .echo = 0x00abcdef,
    .hold = 3 * MCC_MSECOND,
  };
}

static void
sample_rtt (MccApp *app)
{
  memset (app, 0, sizeof *app);
  app->ssrc = 0x01020304;
  app->subtype = MCC_APP_RTT;
  app->rtt.count = 3;
  for (unsigned i = 0; i < app->rtt.count; i++)
    app->rtt.entry[i] = (MccAppRtt){ 0x1000 + i, 7 + i, (i + 1) * 33 * MCC_MSECOND };
}

static void
sample_session (MccApp *app)
{
  memset (app, 0, sizeof *app);
  app->ssrc = 0x01020304;
  app->subtype = MCC_APP_SESSION;
  app->session = (MccAppSession){
    .number = 9,
    .flags = MCC_SESSION_ENHANCED,
    .send_time = 0x123456,
    .target_bps = 900000,
    .min_bps = 100000,
    .max_bps = 4000000,
    .start_bps = 150000,
    .session_bandwidth_bps = 4000000,
    .receivers = 3,
    .limiting_ssrc = 0xdecafbad,
    .rtt_max = 120 * MCC_MSECOND,
    .round = 5,
    .suppress_bps = UINT64_MAX,
    .media_ssrc = 0x55667788,
    .feedback = { .family = 4, .port = 5005, .bytes = { 192, 0, 2, 1 } },
    .ttl = 64,
    .payload_type = 96,
    .send_time_id = 1,
    .clock_rate = 90000,
    .media = "video",
    .encoding_name = "H264",
    .parameters = "packetization-mode=1;profile-level-id=42c01f",
  };
}

typedef void (*Sample) (MccApp *app);
static const Sample samples[] = { sample_report, sample_rtt, sample_session };

static size_t
encode_sample (Sample sample, MccApp *app, uint8_t *data)
{
  size_t bytes;

  sample (app);
  bytes = mcc_app_encode (app, data, MAX_BYTES);
  g_assert_cmpuint (bytes, >, 0);
  g_assert_cmpuint (bytes, ==, mcc_app_size (app));
  return bytes;
}

/* ---- helpers ---- */

/* Decodes from a heap block of exactly @size bytes, so that a sanitizer sees an over-read, and
 * checks that *out is untouched by a drop. */
static MccDrop
decode (const uint8_t *data, size_t size, MccApp *out)
{
  static MccApp before, app;
  uint8_t *copy = g_memdup2 (data, size);
  MccDrop drop;

  memset (&before, 0xa5, sizeof before);
  app = before;
  drop = mcc_app_decode (copy, size, &app);
  if (drop != MCC_DROP_NONE)
    g_assert_cmpint (memcmp (&app, &before, sizeof app), ==, 0);
  else if (out != NULL)
    *out = app;
  g_free (copy);
  return drop;
}

static void
assert_drop (const uint8_t *data, size_t size, MccDrop expected)
{
  g_assert_cmpstr (mcc_drop_name (decode (data, size, NULL)), ==, mcc_drop_name (expected));
}

static void
set_length (uint8_t *data, size_t bytes)
{
  data[2] = (uint8_t)((bytes / 4 - 1) >> 8);
  data[3] = (uint8_t)(bytes / 4 - 1);
}

static uint32_t
get32 (const uint8_t *data)
{
  return (uint32_t)data[0] << 24 | (uint32_t)data[1] << 16 | (uint32_t)data[2] << 8 | data[3];
}

/* ---- encoding ---- */

static void
test_budgets (void)
{
  MccApp app;
  size_t session;

  sample_report (&app);
  g_assert_cmpuint (mcc_app_size (&app), ==, MCC_APP_REPORT_BYTES);
  g_assert_cmpuint (MCC_APP_REPORT_BYTES, <=, 64);

  /* IPv6 and UDP, SR, SDES with a CNAME of 96 bits (RFC 7022), the largest session. */
  sample_session (&app);
  app.session.feedback
      = (MccAddress){ .family = 6, .port = 1, .bytes = { 0x20, 0x01, 0x0d, 0xb8 } };
  memset (app.session.media, 'v', MCC_APP_MEDIA_MAX - 1);
  memset (app.session.encoding_name, 'E', MCC_APP_ENCODING_MAX - 1);
  memset (app.session.parameters, 'p', MCC_APP_PARAMETERS_MAX - 1);
  session = 48 + 28 + 28 + mcc_app_size (&app);
  g_assert_cmpuint (session, <=, 1400);
  sample_rtt (&app);
  app.rtt.count = 25;
  g_assert_cmpuint (session + mcc_app_size (&app), <=, 1400);
  /* The longest list fits into a compound of its own. */
  app.rtt.count = MCC_APP_RTT_MAX;
  g_assert_cmpuint (48 + 28 + 28 + mcc_app_size (&app), <=, 1400);
}

static void
test_encode_room (void)
{
  for (size_t i = 0; i < G_N_ELEMENTS (samples); i++) {
    MccApp app;
    uint8_t data[MAX_BYTES], small[MAX_BYTES];
    size_t bytes = encode_sample (samples[i], &app, data);

    for (size_t size = 0; size < bytes; size++) {
      memset (small, 0xee, sizeof small);
      g_assert_cmpuint (mcc_app_encode (&app, small, size), ==, 0);
      for (size_t k = size; k < sizeof small; k++)
        g_assert_cmphex (small[k], ==, 0xee);
    }
    memset (small, 0xee, sizeof small);
    g_assert_cmpuint (mcc_app_encode (&app, small, bytes), ==, bytes);
    g_assert_cmpmem (small, bytes, data, bytes);
    g_assert_cmphex (small[bytes], ==, 0xee);
  }
}

static void
test_encode_rounds_loss (void)
{
  static const struct {
    double loss_ratio;
    uint64_t wire;
  } rows[] = { { 0.0, 0 }, { 1e-11, 0 }, { 0.01, 0x028f5c29 }, { 0.3, 0x4ccccccd },
    { 1 - 1e-10, 0xffffffff }, { 1.0, 0xffffffff } };

  for (size_t i = 0; i < G_N_ELEMENTS (rows); i++) {
    MccApp app;
    uint8_t data[MAX_BYTES];

    sample_report (&app);
    app.report.loss_ratio = rows[i].loss_ratio;
    g_assert_cmpuint (mcc_app_encode (&app, data, sizeof data), ==, MCC_APP_REPORT_BYTES);
    g_assert_cmphex (get32 (data + 32), ==, rows[i].wire);
  }
}

/* What is out of range is saturated where the header says so. */
static void
test_encode_saturates (void)
{
  MccApp app, out;
  uint8_t data[MAX_BYTES];

  sample_report (&app);
  app.report.rate_bps = app.report.received_bps = UINT64_MAX;
  app.report.rtt = app.report.jitter = app.report.queue_delay = app.report.hold = MCC_TIME_NONE;
  g_assert_cmpuint (mcc_app_encode (&app, data, sizeof data), ==, MCC_APP_REPORT_BYTES);
  g_assert_cmpint (decode (data, MCC_APP_REPORT_BYTES, &out), ==, MCC_DROP_NONE);
  g_assert_cmpuint (out.report.rate_bps, ==, MCC_APP_RATE_MAX);
  g_assert_cmpuint (out.report.received_bps, ==, MCC_APP_RATE_MAX);
  g_assert_cmpuint (out.report.rtt, ==, MCC_RTT_MAX);
  g_assert_cmpuint (out.report.jitter, ==, UINT32_MAX * MCC_USECOND);
  g_assert_cmpuint (out.report.queue_delay, ==, UINT32_MAX * MCC_USECOND);
  g_assert_cmpuint (out.report.hold, ==, UINT32_MAX * MCC_USECOND);

  app.report.rtt = 0;
  g_assert_cmpuint (mcc_app_encode (&app, data, sizeof data), ==, MCC_APP_REPORT_BYTES);
  g_assert_cmpint (decode (data, MCC_APP_REPORT_BYTES, &out), ==, MCC_DROP_NONE);
  g_assert_cmpuint (out.report.rtt, ==, MCC_USECOND);

  sample_rtt (&app);
  app.rtt.entry[0].rtt = 0;
  app.rtt.entry[1].rtt = MCC_TIME_NONE;
  g_assert_cmpint (
      decode (data, mcc_app_encode (&app, data, sizeof data), &out), ==, MCC_DROP_NONE);
  g_assert_cmpuint (out.rtt.entry[0].rtt, ==, MCC_USECOND);
  g_assert_cmpuint (out.rtt.entry[1].rtt, ==, MCC_RTT_MAX);

  sample_session (&app);
  app.session.rtt_max = MCC_TIME_NONE;
  g_assert_cmpint (
      decode (data, mcc_app_encode (&app, data, sizeof data), &out), ==, MCC_DROP_NONE);
  g_assert_cmpuint (out.session.rtt_max, ==, MCC_RTT_MAX);
}

#define REFUSED(sample, field, value)                                                              \
  G_STMT_START                                                                                     \
  {                                                                                                \
    sample (&app);                                                                                 \
    app.field = value;                                                                             \
    g_assert_cmpuint (mcc_app_encode (&app, data, sizeof data), ==, 0);                            \
  }                                                                                                \
  G_STMT_END

static void
test_encode_refuses (void)
{
  MccApp app;
  uint8_t data[MAX_BYTES];

  REFUSED (sample_report, subtype, 0);
  REFUSED (sample_report, subtype, 4);
  REFUSED (sample_report, subtype, 33);
  REFUSED (sample_report, report.flags, 0x100);
  REFUSED (sample_report, report.more_flags, 0x100);
  REFUSED (sample_report, report.echo, 0x1000000);
  REFUSED (sample_report, report.loss_ratio, -1e-9);
  REFUSED (sample_report, report.loss_ratio, 1.0000001);
  REFUSED (sample_report, report.loss_ratio, (double)NAN);
  REFUSED (sample_report, report.loss_ratio, (double)INFINITY);
  REFUSED (sample_rtt, rtt.count, MCC_APP_RTT_MAX + 1);
  REFUSED (sample_rtt, rtt.count, UINT_MAX);
  REFUSED (sample_session, session.flags, 0x100);
  REFUSED (sample_session, session.send_time, 0x1000000);
  REFUSED (sample_session, session.send_time_id, 15);
  REFUSED (sample_session, session.payload_type, 128);
  REFUSED (sample_session, session.payload_type, 254);
  REFUSED (sample_session, session.clock_rate, 0);
  REFUSED (sample_session, session.target_bps, MCC_APP_RATE_MAX + 1);
  REFUSED (sample_session, session.max_bps, MCC_APP_RATE_MAX + 1);
  REFUSED (sample_session, session.start_bps, UINT64_MAX);
  REFUSED (sample_session, session.session_bandwidth_bps, UINT64_MAX);
  REFUSED (sample_session, session.suppress_bps, UINT64_MAX - 1);
  REFUSED (sample_session, session.min_bps, 4000001);
  REFUSED (sample_session, session.feedback.family, 5);
  REFUSED (sample_session, session.feedback.port, 0);
  REFUSED (sample_session, session.feedback.bytes[0], 239);
  REFUSED (sample_session, session.media[0], ' ');
  REFUSED (sample_session, session.encoding_name[1], ';');
  REFUSED (sample_session, session.parameters[3], '\n');
  REFUSED (sample_session, session.parameters[3], '\x7f');
  REFUSED (sample_session, session.parameters[3], (char)0xc3);
  sample_session (&app);
  memset (app.session.media, 'v', sizeof app.session.media);
  g_assert_cmpuint (mcc_app_encode (&app, data, sizeof data), ==, 0);
  sample_session (&app);
  memset (app.session.parameters, 'p', sizeof app.session.parameters);
  g_assert_cmpuint (mcc_app_encode (&app, data, sizeof data), ==, 0);
}

/* ---- decoding ---- */

static void
test_decode_truncated (void)
{
  for (size_t i = 0; i < G_N_ELEMENTS (samples); i++) {
    MccApp app;
    uint8_t data[MAX_BYTES];
    size_t bytes = encode_sample (samples[i], &app, data);

    for (size_t size = 0; size < bytes; size++)
      assert_drop (data, size, MCC_DROP_MALFORMED);
    for (size_t size = 4; size < bytes; size += 4) {
      set_length (data, size);
      assert_drop (data, size, MCC_DROP_MALFORMED);
    }
  }
}

static void
test_decode_length_field (void)
{
  uint8_t *data = g_malloc0 (LARGEST + 4);

  for (size_t i = 0; i < G_N_ELEMENTS (samples); i++) {
    MccApp app, out;
    size_t bytes = encode_sample (samples[i], &app, data);

    for (size_t length = 0; length <= 65535; length++) {
      bool right = 4 * (length + 1) == bytes;

      set_length (data, 4 * (length + 1));
      g_assert_cmpint (
          mcc_app_decode (data, bytes, &out), ==, right ? MCC_DROP_NONE : MCC_DROP_MALFORMED);
      /* The same length, and a packet that has it: what is appended is ignored. */
      g_assert_cmpint (mcc_app_decode (data, 4 * (length + 1), &out), ==,
          4 * (length + 1) >= bytes ? MCC_DROP_NONE : MCC_DROP_MALFORMED);
      if (length % 997 == 0 && 4 * (length + 1) >= bytes)
        assert_equal (&app, &out);
    }
    /* Not a multiple of four. */
    set_length (data, bytes);
    for (size_t more = 1; more < 4; more++)
      assert_drop (data, bytes + more, MCC_DROP_MALFORMED);
    memset (data, 0, bytes);
  }
  g_free (data);
}

static void
test_decode_appended (void)
{
  for (size_t i = 0; i < G_N_ELEMENTS (samples); i++) {
    MccApp app, out;
    uint8_t data[MAX_BYTES];
    size_t bytes = encode_sample (samples[i], &app, data);

    memset (data + bytes, 0xff, sizeof data - bytes);
    for (size_t more = 4; more < 256; more += 4) {
      set_length (data, bytes + more);
      g_assert_cmpint (decode (data, bytes + more, &out), ==, MCC_DROP_NONE);
      assert_equal (&app, &out);
    }
  }
}

static void
test_decode_header (void)
{
  for (size_t i = 0; i < G_N_ELEMENTS (samples); i++) {
    MccApp app;
    uint8_t data[MAX_BYTES];
    size_t bytes = encode_sample (samples[i], &app, data);
    uint8_t first = data[0];

    /* Version and padding bit. */
    for (unsigned top = 0; top < 8; top++) {
      data[0] = (uint8_t)(top << 5 | app.subtype);
      assert_drop (data, bytes, top == 4 ? MCC_DROP_NONE : MCC_DROP_MALFORMED);
    }
    /* A padding bit whose count would be right. */
    data[0] = first | 0x20;
    data[bytes - 1] = 4;
    assert_drop (data, bytes, MCC_DROP_MALFORMED);
    encode_sample (samples[i], &app, data);
    for (unsigned type = 0; type < 256; type++) {
      data[1] = (uint8_t)type;
      assert_drop (data, bytes, type == 204 ? MCC_DROP_NONE : MCC_DROP_MALFORMED);
    }
    data[1] = 204;
    for (unsigned k = 8; k < 12; k++) {
      for (unsigned flip = 1; flip < 256; flip++) {
        data[k] ^= (uint8_t)flip;
        assert_drop (data, bytes, MCC_DROP_UNKNOWN_NAME);
        data[k] ^= (uint8_t)flip;
      }
    }
    for (unsigned version = 0; version < 256; version++) {
      data[12] = (uint8_t)version;
      assert_drop (data, bytes, version == 1 ? MCC_DROP_NONE : MCC_DROP_UNKNOWN_VERSION);
    }
  }
}

static void
test_decode_subtypes (void)
{
  for (size_t i = 0; i < G_N_ELEMENTS (samples); i++) {
    MccApp app;
    uint8_t data[MAX_BYTES];
    size_t bytes = encode_sample (samples[i], &app, data);

    for (unsigned subtype = 0; subtype < 32; subtype++) {
      data[0] = (uint8_t)(0x80 | subtype);
      if (subtype == app.subtype)
        assert_drop (data, bytes, MCC_DROP_NONE);
      else if (subtype < MCC_APP_REPORT || subtype > MCC_APP_SESSION)
        assert_drop (data, bytes, MCC_DROP_UNKNOWN_SUBTYPE);
      else
        decode (data, bytes, NULL);
    }
    /* A newer version may number them anew. */
    data[0] = 0x9f;
    data[12] = 2;
    assert_drop (data, bytes, MCC_DROP_UNKNOWN_VERSION);
    /* Nothing behind the name. */
    data[12] = 1;
    set_length (data, 12);
    assert_drop (data, 12, MCC_DROP_MALFORMED);
  }
}

typedef struct {
  Sample sample;
  size_t offset;
  unsigned bytes;
  uint64_t value;
  MccDrop drop;
} Field;

/* Offsets as drawn in docs/wire-format.md. */
static const Field fields[] = {
  { sample_report, 32, 4, UINT32_MAX, MCC_DROP_NONE },       /* loss 1 */
  { sample_report, 36, 4, 0, MCC_DROP_BAD_VALUE },           /* RTT */
  { sample_report, 36, 4, 10000000, MCC_DROP_NONE },         /* 10 s */
  { sample_report, 36, 4, 10000001, MCC_DROP_BAD_VALUE },    /* more */
  { sample_report, 24, 1, 0xff, MCC_DROP_NONE },             /* reserved: ignored */
  { sample_report, 25, 1, 0xff, MCC_DROP_NONE },             /* flags that are not known */
  { sample_report, 56, 1, 0xff, MCC_DROP_NONE },             /* broken, marked 1 */
  { sample_rtt, 14, 2, 2, MCC_DROP_NONE },                   /* fewer than there are */
  { sample_rtt, 14, 2, 4, MCC_DROP_MALFORMED },              /* one more than there is */
  { sample_rtt, 14, 2, 0xffff, MCC_DROP_MALFORMED },         /* count */
  { sample_rtt, 24, 4, 0, MCC_DROP_BAD_VALUE },              /* RTT of the first */
  { sample_rtt, 48, 4, 10000001, MCC_DROP_BAD_VALUE },       /* RTT of the last */
  { sample_session, 15, 1, 127, MCC_DROP_NONE },             /* payload type */
  { sample_session, 15, 1, 128, MCC_DROP_BAD_VALUE },        /* */
  { sample_session, 15, 1, 254, MCC_DROP_BAD_VALUE },        /* */
  { sample_session, 15, 1, 255, MCC_DROP_NONE },             /* no caps yet */
  { sample_session, 20, 1, 14, MCC_DROP_NONE },              /* extension id */
  { sample_session, 20, 1, 15, MCC_DROP_BAD_VALUE },         /* */
  { sample_session, 20, 1, 255, MCC_DROP_BAD_VALUE },        /* */
  { sample_session, 24, 8, UINT64_MAX, MCC_DROP_BAD_VALUE }, /* target */
  { sample_session, 24, 8, MCC_APP_RATE_MAX, MCC_DROP_NONE },
  { sample_session, 24, 8, MCC_APP_RATE_MAX + 1, MCC_DROP_BAD_VALUE },
  { sample_session, 32, 8, 4000001, MCC_DROP_BAD_VALUE },              /* min > max */
  { sample_session, 40, 8, 99999, MCC_DROP_BAD_VALUE },                /* max < min */
  { sample_session, 40, 8, MCC_APP_RATE_MAX + 1, MCC_DROP_BAD_VALUE }, /* max */
  { sample_session, 48, 8, MCC_APP_RATE_MAX + 1, MCC_DROP_BAD_VALUE }, /* start */
  { sample_session, 56, 8, MCC_APP_RATE_MAX + 1, MCC_DROP_BAD_VALUE }, /* bandwidth */
  { sample_session, 64, 8, UINT64_MAX - 1, MCC_DROP_BAD_VALUE },       /* suppress */
  { sample_session, 80, 4, 0, MCC_DROP_NONE },                         /* largest RTT */
  { sample_session, 80, 4, 10000001, MCC_DROP_BAD_VALUE },             /* */
  { sample_session, 92, 4, 0, MCC_DROP_BAD_VALUE },                    /* clock rate */
  { sample_session, 96, 1, 1, MCC_DROP_BAD_VALUE },                    /* address family */
  { sample_session, 96, 1, 255, MCC_DROP_BAD_VALUE },                  /* */
  { sample_session, 97, 1, 255, MCC_DROP_NONE },                       /* reserved */
  { sample_session, 98, 2, 0, MCC_DROP_BAD_VALUE },                    /* port */
  { sample_session, 100, 1, 0, MCC_DROP_BAD_VALUE },                   /* 0.0.2.1 */
  { sample_session, 100, 1, 224, MCC_DROP_BAD_VALUE },                 /* multicast */
  { sample_session, 100, 4, UINT32_MAX, MCC_DROP_BAD_VALUE },          /* broadcast */
  { sample_session, 104, 1, 16, MCC_DROP_BAD_VALUE },                  /* media too long */
  { sample_session, 104, 1, 255, MCC_DROP_MALFORMED },                 /* beyond the end */
  { sample_session, 105, 1, 0, MCC_DROP_BAD_VALUE },                   /* a NUL inside */
  { sample_session, 105, 1, ' ', MCC_DROP_BAD_VALUE },
  { sample_session, 105, 1, 0x80, MCC_DROP_BAD_VALUE },
  { sample_session, 110, 1, 32, MCC_DROP_BAD_VALUE },    /* encoding name too long */
  { sample_session, 111, 1, '=', MCC_DROP_BAD_VALUE },   /* a character */
  { sample_session, 115, 2, 768, MCC_DROP_MALFORMED },   /* beyond the end */
  { sample_session, 117, 1, 0x1f, MCC_DROP_BAD_VALUE },  /* a character */
  { sample_session, 117, 1, 0x7f, MCC_DROP_BAD_VALUE },  /* */
  { sample_session, 117, 1, '\0', MCC_DROP_BAD_VALUE },  /* */
  { sample_session, 117, 1, ' ', MCC_DROP_NONE },        /* */
  { sample_session, 115, 2, 0xffff, MCC_DROP_MALFORMED } /* */
};

static void
put (uint8_t *data, unsigned bytes, uint64_t value)
{
  while (bytes-- > 0) {
    data[bytes] = (uint8_t)value;
    value >>= 8;
  }
}

static void
test_decode_values (void)
{
  for (size_t i = 0; i < G_N_ELEMENTS (fields); i++) {
    MccApp app;
    uint8_t data[MAX_BYTES];
    size_t bytes = encode_sample (fields[i].sample, &app, data);

    g_test_message ("field %zu: subtype %u, offset %zu", i, app.subtype, fields[i].offset);
    put (data + fields[i].offset, fields[i].bytes, fields[i].value);
    assert_drop (data, bytes, fields[i].drop);
  }
}

static void
test_decode_long_strings (void)
{
  MccApp app;
  uint8_t data[MAX_BYTES] = { 0 };
  size_t bytes = encode_sample (sample_session, &app, data);

  /* Parameters of 767 characters fit, 768 leave no room for the end. */
  memset (data + 117, 'x', 1024);
  bytes = 117 + 1024 + 3;
  set_length (data, bytes);
  put (data + 115, 2, 767);
  assert_drop (data, bytes, MCC_DROP_NONE);
  put (data + 115, 2, 768);
  assert_drop (data, bytes, MCC_DROP_BAD_VALUE);
}

static void
test_decode_rtt_count (void)
{
  uint8_t data[MAX_BYTES];
  MccApp app;

  memset (&app, 0, sizeof app);
  app.subtype = MCC_APP_RTT;
  app.rtt.count = MCC_APP_RTT_MAX;
  for (unsigned i = 0; i < MCC_APP_RTT_MAX; i++)
    app.rtt.entry[i] = (MccAppRtt){ i, i, MCC_SECOND };
  g_assert_cmpuint (mcc_app_encode (&app, data, sizeof data), ==, 16 + 12 * MCC_APP_RTT_MAX);
  /* One more entry is in the packet, but not in the list. */
  memcpy (data + 16 + 12 * MCC_APP_RTT_MAX, data + 16, 12);
  set_length (data, 16 + 12 * (MCC_APP_RTT_MAX + 1));
  assert_drop (data, 16 + 12 * (MCC_APP_RTT_MAX + 1), MCC_DROP_NONE);
  put (data + 14, 2, MCC_APP_RTT_MAX + 1);
  assert_drop (data, 16 + 12 * (MCC_APP_RTT_MAX + 1), MCC_DROP_BAD_VALUE);
}

static void
set_feedback6 (uint8_t *data, const uint8_t *bytes)
{
  memcpy (data + 100, bytes, 16);
}

static void
test_decode_address6 (void)
{
  static const uint8_t bad[][16] = {
    { 0 }, /* :: */
    { 0xff, 0x02, [15] = 1 },
    { [10] = 0xff, [11] = 0xff, 192, 0, 2, 1 }, /* an IPv4 address in disguise */
  };
  static const uint8_t good[][16] = {
    { 0x20, 0x01, 0x0d, 0xb8, [15] = 1 }, { 0xfe, 0x80, [15] = 1 },
    { [15] = 1 }, /* loopback: senders and receivers on one host */
  };
  MccApp app, out;
  uint8_t data[MAX_BYTES];
  size_t bytes;

  sample_session (&app);
  app.session.feedback = (MccAddress){ .family = 6, .port = 1, .bytes = { 0x20 } };
  bytes = mcc_app_encode (&app, data, sizeof data);
  for (size_t i = 0; i < G_N_ELEMENTS (bad); i++) {
    set_feedback6 (data, bad[i]);
    assert_drop (data, bytes, MCC_DROP_BAD_VALUE);
  }
  for (size_t i = 0; i < G_N_ELEMENTS (good); i++) {
    set_feedback6 (data, good[i]);
    g_assert_cmpint (decode (data, bytes, &out), ==, MCC_DROP_NONE);
    g_assert_cmpmem (out.session.feedback.bytes, 16, good[i], 16);
  }
}

static void
test_decode_mutated (void)
{
  static const uint8_t values[]
      = { 0, 1, 2, 4, 6, 15, 16, 0x1f, 0x20, 0x7e, 0x7f, 0x80, 0xc0, 0xfe, 0xff };

  for (size_t i = 0; i < G_N_ELEMENTS (samples); i++) {
    MccApp app, first, second;
    uint8_t data[MAX_BYTES], again[MAX_BYTES];
    size_t bytes = encode_sample (samples[i], &app, data);
    unsigned accepted = 0, dropped = 0;

    for (size_t k = 0; k < bytes; k++) {
      uint8_t original = data[k];

      for (unsigned v = 0; v < G_N_ELEMENTS (values) + 8; v++) {
        data[k] = v < 8 ? (uint8_t)(original ^ 1u << v) : values[v - 8];
        if (decode (data, bytes, &first) != MCC_DROP_NONE) {
          dropped++;
          continue;
        }
        /* What was accepted can be sent, and is understood again. */
        accepted++;
        g_assert_cmpuint (mcc_app_encode (&first, again, sizeof again), >, 0);
        g_assert_cmpint (decode (again, mcc_app_size (&first), &second), ==, MCC_DROP_NONE);
        assert_equal (&first, &second);
      }
      data[k] = original;
    }
    g_assert_cmpuint (accepted, >, 0);
    g_assert_cmpuint (dropped, >, 0);
  }
}

static void
test_decode_noise (void)
{
  guint32 seed = g_test_rand_int_range (0, G_MAXINT32);
  GRand *rand = g_rand_new_with_seed (seed);
  MccApp app;
  uint8_t data[MAX_BYTES];

  g_test_message ("seed %u", seed);
  for (int n = 0; n < 20000; n++) {
    size_t bytes = encode_sample (samples[n % 3], &app, data);
    int changes = g_rand_int_range (rand, 1, 12);

    while (changes-- > 0)
      data[g_rand_int_range (rand, 13, (gint32)bytes)] = (uint8_t)g_rand_int (rand);
    decode (data, bytes, NULL);
    for (size_t k = 0; k < 64; k++)
      data[k] = (uint8_t)g_rand_int (rand);
    decode (data, 64, NULL);
  }
  g_rand_free (rand);
}

/* An announced feedback address counts only where it is the announcer's own host. */
static void
test_feedback (void)
{
  static const struct {
    MccAddress feedback, announcer;
    bool good, used;
  } table[] = {
    { { 0 }, { 4, 0, 5005, { 10, 0, 0, 1 } }, true, false },
    { { 4, 0, 7000, { 10, 0, 0, 1 } }, { 4, 0, 5005, { 10, 0, 0, 1 } }, true, true },
    { { 4, 0, 5005, { 10, 0, 0, 2 } }, { 4, 0, 5005, { 10, 0, 0, 1 } }, false, false },
    { { 6, 0, 5005, { 10, 0, 0, 1 } }, { 4, 0, 5005, { 10, 0, 0, 1 } }, false, false },
    { { 6, 0, 7000, { 0xfd, [15] = 1 } }, { 6, 0, 5005, { 0xfd, [15] = 1 } }, true, true },
    { { 6, 0, 7000, { 0xfd, [15] = 2 } }, { 6, 0, 5005, { 0xfd, [15] = 1 } }, false, false },
  };

  for (unsigned i = 0; i < G_N_ELEMENTS (table); i++) {
    MccAppSession session = { .feedback = table[i].feedback };
    MccAddress out, group = { 0 };
    memset (&out, 0xff, sizeof out);
    bool good = mcc_app_session_feedback (&session, &table[i].announcer, &out);
    g_assert_cmpint (good, ==, table[i].good);
    g_assert_true (mcc_address_equal (&out, table[i].used ? &table[i].feedback : &group));
  }
}

static void
ecn_of_a_report (void)
{
  uint8_t data[MAX_BYTES];
  MccApp app, out;

  for (unsigned byte = 0; byte <= 255; byte++) {
    size_t bytes = encode_sample (sample_report, &app, data);
    app.report.ecn = byte >> 6;
    app.report.marked_share = (byte & 63) / 63.0;
    g_assert_cmpuint (mcc_app_encode (&app, data, sizeof data), ==, bytes);
    g_assert_cmpuint (data[56], ==, byte);
    g_assert_cmpint (mcc_app_decode (data, bytes, &out), ==, MCC_DROP_NONE);
    assert_equal (&app, &out);
  }
  app.report.ecn = MCC_REPORT_ECN_BROKEN + 1;
  g_assert_cmpuint (mcc_app_encode (&app, data, sizeof data), ==, 0);
  app.report.ecn = 0;
  app.report.marked_share = 1.01;
  g_assert_cmpuint (mcc_app_encode (&app, data, sizeof data), ==, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/app/budgets", test_budgets);
  g_test_add_func ("/app/encode/never-writes-beyond-size", test_encode_room);
  g_test_add_func ("/app/encode/rounds-loss-to-nearest", test_encode_rounds_loss);
  g_test_add_func ("/app/encode/saturates", test_encode_saturates);
  g_test_add_func ("/app/encode/refuses-out-of-range", test_encode_refuses);
  g_test_add_func ("/app/decode/truncated-is-malformed", test_decode_truncated);
  g_test_add_func ("/app/decode/every-length-field", test_decode_length_field);
  g_test_add_func ("/app/decode/appended-is-ignored", test_decode_appended);
  g_test_add_func ("/app/decode/header", test_decode_header);
  g_test_add_func ("/app/decode/every-subtype", test_decode_subtypes);
  g_test_add_func ("/app/decode/values", test_decode_values);
  g_test_add_func ("/app/decode/long-strings", test_decode_long_strings);
  g_test_add_func ("/app/decode/rtt-count", test_decode_rtt_count);
  g_test_add_func ("/app/decode/address6", test_decode_address6);
  g_test_add_func ("/app/decode/mutated-is-dropped-or-stable", test_decode_mutated);
  g_test_add_func ("/app/decode/noise", test_decode_noise);
  g_test_add_func ("/app/session/feedback-is-the-announcers", test_feedback);
  g_test_add_func ("/app/report/ecn", ecn_of_a_report);
  return g_test_run ();
}
