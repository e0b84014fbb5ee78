/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "appequal.h"
#include "mccasspapp.h"

#define MAX_BYTES 2048
#define STREAMS_BYTES(n) (28u + 28u * (n))

static MccAsspApp
sample_streams (void)
{
  return (MccAsspApp){ .ssrc = 0x01020304,
    .subtype = MCC_ASSP_STREAMS,
    .streams = { .number = 0xfffffffe,
        .flags = MCC_ASSP_DECIDE,
        .round = 77,
        .ladder = 3,
        .count = 3,
        .stream = { { 300000, 2000000, 450000, 1, 0, MCC_ASSP_RUNNING, 0x11111111 },
            { 2000000, 5000000, 2000000, 2, 2, 0, 0x22222222 },
            { 5000000, 10000000, MCC_APP_RATE_MAX, 3, 4, MCC_ASSP_RUNNING, 0x33333333 } } } };
}

static MccAsspApp
sample_of (unsigned subtype, unsigned stream)
{
  MccAsspApp app = { .ssrc = 0xdecafbad, .subtype = subtype, .stream = stream };
  app.asmp = (MccApp){ .ssrc = app.ssrc, .subtype = subtype };
  if (subtype == MCC_APP_REPORT) {
    app.asmp.report = (MccAppReport){
      .number = 7, .rate_bps = 1234567, .rtt = 40 * MCC_MSECOND, .flags = MCC_REPORT_NO_LIMIT
    };
  } else if (subtype == MCC_APP_RTT) {
    app.asmp.rtt.count = 1;
    app.asmp.rtt.entry[0] = (MccAppRtt){ 5, 6, 33 * MCC_MSECOND };
  } else {
    app.asmp.session = (MccAppSession){ .min_bps = 300000,
      .max_bps = 2000000,
      .suppress_bps = UINT64_MAX,
      .payload_type = 96,
      .clock_rate = 90000,
      .media = "video",
      .encoding_name = "H264" };
  }
  return app;
}

static void
assert_streams_equal (const MccAsspStreams *a, const MccAsspStreams *b)
{
  g_assert_cmpuint (a->number, ==, b->number);
  g_assert_cmpuint (a->flags, ==, b->flags);
  g_assert_cmpuint (a->round, ==, b->round);
  g_assert_cmpuint (a->ladder, ==, b->ladder);
  g_assert_cmpuint (a->count, ==, b->count);
  for (unsigned i = 0; i < a->count; i++) {
    const MccAsspStream *s = &a->stream[i], *t = &b->stream[i];
    g_assert_cmpuint (s->low_bps, ==, t->low_bps);
    g_assert_cmpuint (s->high_bps, ==, t->high_bps);
    g_assert_cmpuint (s->average_bps, ==, t->average_bps);
    g_assert_cmpuint (s->address_offset, ==, t->address_offset);
    g_assert_cmpuint (s->port_offset, ==, t->port_offset);
    g_assert_cmpuint (s->flags, ==, t->flags);
    g_assert_cmpuint (s->ssrc, ==, t->ssrc);
  }
}

static MccDrop
decode_untouched (const uint8_t *data, size_t size)
{
  static MccAsspApp out, before;
  memset (&out, 0xa5, sizeof out);
  before = out;
  /* A heap block of exactly this size: a sanitizer sees an over-read. */
  uint8_t *copy = g_memdup2 (data, size);
  MccDrop drop = mcc_assp_app_decode (copy, size, &out);
  g_free (copy);
  if (drop != MCC_DROP_NONE)
    g_assert_cmpmem (&out, sizeof out, &before, sizeof before);
  return drop;
}

static void
set_length (uint8_t *data, size_t size)
{
  data[2] = (uint8_t)((size / 4 - 1) >> 8);
  data[3] = (uint8_t)(size / 4 - 1);
}

static void
test_streams_round_trip (void)
{
  for (unsigned count = 1; count <= 3; count++) {
    uint8_t data[MAX_BYTES];
    MccAsspApp app = sample_streams (), out;
    app.streams.count = count;
    g_assert_cmpuint (mcc_assp_app_size (&app), ==, STREAMS_BYTES (count));
    g_assert_cmpuint (mcc_assp_app_encode (&app, data, sizeof data), ==, STREAMS_BYTES (count));
    g_assert_cmpuint (mcc_assp_app_encode (&app, data, STREAMS_BYTES (count) - 1), ==, 0);
    g_assert_cmpint (mcc_assp_app_decode (data, STREAMS_BYTES (count), &out), ==, MCC_DROP_NONE);
    g_assert_cmpuint (out.ssrc, ==, app.ssrc);
    g_assert_cmpuint (out.subtype, ==, MCC_ASSP_STREAMS);
    assert_streams_equal (&out.streams, &app.streams);
  }
}

static void
test_stream_of_each (void)
{
  for (unsigned subtype = MCC_APP_REPORT; subtype <= MCC_APP_SESSION; subtype++) {
    for (unsigned stream = 0; stream < MCC_ASSP_STREAMS_MAX; stream++) {
      uint8_t data[MAX_BYTES];
      MccAsspApp app = sample_of (subtype, stream), out;
      size_t bytes = mcc_assp_app_encode (&app, data, sizeof data);
      g_assert_cmpuint (
          bytes, ==, subtype == MCC_APP_REPORT ? MCC_ASSP_REPORT_BYTES : mcc_app_size (&app.asmp));
      g_assert_cmpint (mcc_assp_app_decode (data, bytes, &out), ==, MCC_DROP_NONE);
      g_assert_cmpuint (out.stream, ==, stream);
      assert_equal (&out.asmp, &app.asmp);
    }
    MccAsspApp app = sample_of (subtype, MCC_ASSP_STREAMS_MAX);
    uint8_t data[MAX_BYTES];
    g_assert_cmpuint (mcc_assp_app_encode (&app, data, sizeof data), ==, 0);
    /* The same byte, forged. */
    static const size_t offset[] = { 0, 24, 13, 97 };
    app.stream = 1;
    size_t bytes = mcc_assp_app_encode (&app, data, sizeof data);
    g_assert_cmpuint (data[offset[subtype]], ==, 1);
    data[offset[subtype]] = MCC_ASSP_STREAMS_MAX;
    g_assert_cmpint (decode_untouched (data, bytes), ==, MCC_DROP_BAD_VALUE);
  }
}

/* A report says what more its receiver could take; an older one, shorter, does not. */
static void
test_potential (void)
{
  static const struct {
    uint64_t bps, decoded;
  } table[] = { { 0, 0 }, { 2560000, 2560000 }, { MCC_APP_RATE_MAX, MCC_APP_RATE_MAX },
    { UINT64_MAX, MCC_APP_RATE_MAX } };
  uint8_t data[MAX_BYTES];
  MccAsspApp app = sample_of (MCC_APP_REPORT, 1), out;
  for (unsigned i = 0; i < G_N_ELEMENTS (table); i++) {
    app.asmp.report.potential_bps = table[i].bps;
    size_t bytes = mcc_assp_app_encode (&app, data, sizeof data);
    g_assert_cmpint (mcc_assp_app_decode (data, bytes, &out), ==, MCC_DROP_NONE);
    g_assert_cmpuint (out.asmp.report.potential_bps, ==, table[i].decoded);
  }
  set_length (data, MCC_APP_REPORT_BYTES);
  g_assert_cmpint (mcc_assp_app_decode (data, MCC_APP_REPORT_BYTES, &out), ==, MCC_DROP_NONE);
  g_assert_cmpuint (out.asmp.report.potential_bps, ==, 0);
}

/* A stream's place says nothing: the bounds of the open ones do. */
static void
test_order (void)
{
  MccAsspStreams streams = { .count = 5,
    .stream = { { 5000000, 9000000, 0, 1, 0, 0, 1 }, { 300000, 900000, 0, 2, 0, 0, 2 },
        { 1, 2, 0, 3, 0, MCC_ASSP_CLOSED, 3 }, { 2000000, 2000000, 0, 4, 0, 0, 4 },
        { 900000, 2000000, 0, 5, 0, 0, 5 } } };
  static const unsigned order[] = { 1, 4, 3, 0 };
  g_assert_true (mcc_assp_streams_valid (&streams));
  g_assert_cmpuint (mcc_assp_streams_lowest (&streams), ==, order[0]);
  for (unsigned i = 0; i < G_N_ELEMENTS (order); i++) {
    unsigned above = i + 1 < G_N_ELEMENTS (order) ? order[i + 1] : MCC_ASSP_STREAMS_MAX;
    unsigned below = i > 0 ? order[i - 1] : MCC_ASSP_STREAMS_MAX;
    g_assert_cmpuint (mcc_assp_streams_above (&streams, order[i]), ==, above);
    g_assert_cmpuint (mcc_assp_streams_below (&streams, order[i]), ==, below);
    g_assert_cmpuint (
        mcc_assp_streams_place (&streams, (double)streams.stream[order[i]].low_bps), ==, order[i]);
  }
  g_assert_cmpuint (mcc_assp_streams_place (&streams, 1.0), ==, 1);
  g_assert_cmpuint (mcc_assp_streams_above (&streams, 2), ==, 1); /* closed: by its bounds */
  g_assert_false (mcc_assp_streams_open (&streams, 2));
  g_assert_false (mcc_assp_streams_open (&streams, 5));
  streams.stream[2].flags = 0;
  streams.stream[2].high_bps = 300001; /* overlaps once it is open */
  g_assert_false (mcc_assp_streams_valid (&streams));
  for (unsigned j = 0; j < streams.count; j++)
    streams.stream[j].flags = MCC_ASSP_CLOSED;
  g_assert_false (mcc_assp_streams_valid (&streams));
}

/* Neither protocol takes the other's packets for its own. */
static void
test_names (void)
{
  uint8_t data[MAX_BYTES];
  MccAsspApp app = sample_of (MCC_APP_REPORT, 0);
  MccApp asmp;
  size_t bytes = mcc_assp_app_encode (&app, data, sizeof data);
  g_assert_cmpint (mcc_app_decode (data, bytes, &asmp), ==, MCC_DROP_UNKNOWN_NAME);
  bytes = mcc_app_encode (&app.asmp, data, sizeof data);
  g_assert_cmpint (decode_untouched (data, bytes), ==, MCC_DROP_UNKNOWN_NAME);
}

static void
test_truncated (void)
{
  uint8_t data[MAX_BYTES];
  MccAsspApp app = sample_streams ();
  size_t bytes = mcc_assp_app_encode (&app, data, sizeof data);
  for (size_t size = 0; size < bytes; size++) {
    g_assert_cmpint (decode_untouched (data, size), ==, MCC_DROP_MALFORMED);
    if (size >= 16 && size % 4 == 0) { /* ... although its length says so */
      uint8_t copy[MAX_BYTES];
      memcpy (copy, data, size);
      set_length (copy, size);
      g_assert_cmpint (decode_untouched (copy, size), ==, MCC_DROP_MALFORMED);
    }
  }
}

static void
test_appended (void)
{
  uint8_t data[MAX_BYTES];
  MccAsspApp app = sample_streams (), out;
  size_t bytes = mcc_assp_app_encode (&app, data, sizeof data);
  memset (data + bytes, 0xff, 8);
  set_length (data, bytes + 8);
  g_assert_cmpint (mcc_assp_app_decode (data, bytes + 8, &out), ==, MCC_DROP_NONE);
  assert_streams_equal (&out.streams, &app.streams);
}

static void
test_header (void)
{
  static const struct {
    size_t offset;
    uint8_t value;
    MccDrop drop;
  } table[] = {
    { 0, 0x44, MCC_DROP_MALFORMED },       /* version 1 */
    { 0, 0xa4, MCC_DROP_MALFORMED },       /* padding */
    { 0, 0x80, MCC_DROP_UNKNOWN_SUBTYPE }, /* subtype 0 */
    { 0, 0x85, MCC_DROP_UNKNOWN_SUBTYPE }, /* subtype 5 */
    { 1, 203, MCC_DROP_MALFORMED },        /* BYE */
    { 11, 'p', MCC_DROP_UNKNOWN_NAME }, { 12, 2, MCC_DROP_UNKNOWN_VERSION },
    { 14, 0, MCC_DROP_BAD_VALUE },                                /* no stream */
    { 14, 4, MCC_DROP_MALFORMED },                                /* more than there are */
    { 14, 255, MCC_DROP_MALFORMED }, { 15, 0xff, MCC_DROP_NONE }, /* reserved */
    { 13, 0xff, MCC_DROP_NONE },                                  /* unknown flags */
  };
  for (unsigned i = 0; i < G_N_ELEMENTS (table); i++) {
    uint8_t data[MAX_BYTES];
    MccAsspApp app = sample_streams ();
    size_t bytes = mcc_assp_app_encode (&app, data, sizeof data);
    data[table[i].offset] = table[i].value;
    g_assert_cmpint (decode_untouched (data, bytes), ==, table[i].drop);
  }
}

/* What encodes decodes, what does not is refused on both sides. */
static void
test_values (void)
{
  struct {
    const char *what;
    MccAsspApp app;
  } table[16];
  unsigned n = 0;
#define CASE(change)                                                                               \
  do {                                                                                             \
    table[n].what = #change;                                                                       \
    table[n].app = sample_streams ();                                                              \
    MccAsspStream *s = table[n].app.streams.stream;                                                \
    s->change;                                                                                     \
    n++;                                                                                           \
  } while (0)
  CASE (low_bps = 0);
  CASE (low_bps = s->high_bps + 1);
  CASE (high_bps = s[1].low_bps + 1); /* overlap */
  CASE (address_offset = 0);          /* RTCP's own group */
  CASE (address_offset = s[2].address_offset);
  CASE (port_offset = 3);
#undef CASE
  for (unsigned i = 0; i < n; i++) {
    uint8_t data[MAX_BYTES], *entry = data + 28;
    MccAsspApp good = sample_streams ();
    const MccAsspStream *s = table[i].app.streams.stream;
    g_test_message ("%s", table[i].what);
    g_assert_cmpuint (mcc_assp_app_encode (&table[i].app, data, sizeof data), ==, 0);
    size_t bytes = mcc_assp_app_encode (&good, data, sizeof data);
    g_assert_cmpint (decode_untouched (data, bytes), ==, MCC_DROP_NONE);
    for (unsigned b = 0; b < 6; b++) {
      entry[b] = (uint8_t)(s->low_bps >> (40 - 8 * b));
      entry[6 + b] = (uint8_t)(s->high_bps >> (40 - 8 * b));
    }
    entry[19] = (uint8_t)s->address_offset;
    entry[21] = (uint8_t)s->port_offset;
    g_assert_cmpint (decode_untouched (data, bytes), ==, MCC_DROP_BAD_VALUE);
  }
}

static void
test_too_many (void)
{
  uint8_t data[MAX_BYTES] = { 0 };
  MccAsspApp app = sample_streams ();
  app.streams.count = MCC_ASSP_STREAMS_MAX + 1;
  g_assert_cmpuint (mcc_assp_app_size (&app), ==, 0);
  app.streams.count = 3;
  mcc_assp_app_encode (&app, data, sizeof data);
  data[14] = MCC_ASSP_STREAMS_MAX + 1;
  size_t bytes = STREAMS_BYTES (MCC_ASSP_STREAMS_MAX + 1);
  set_length (data, bytes);
  g_assert_cmpint (decode_untouched (data, bytes), ==, MCC_DROP_BAD_VALUE);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/assp-app/streams/round-trip", test_streams_round_trip);
  g_test_add_func ("/assp-app/each-packet-says-its-stream", test_stream_of_each);
  g_test_add_func ("/assp-app/report/potential", test_potential);
  g_test_add_func ("/assp-app/streams/order-is-by-bounds", test_order);
  g_test_add_func ("/assp-app/names-are-apart", test_names);
  g_test_add_func ("/assp-app/streams/truncated-is-malformed", test_truncated);
  g_test_add_func ("/assp-app/streams/appended-is-ignored", test_appended);
  g_test_add_func ("/assp-app/streams/header", test_header);
  g_test_add_func ("/assp-app/streams/values", test_values);
  g_test_add_func ("/assp-app/streams/too-many", test_too_many);
  return g_test_run ();
}
