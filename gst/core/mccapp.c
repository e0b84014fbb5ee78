/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mccappprivate.h"
#include "mccrtt.h"

/* RTCP (RFC 3550 6.7). */
#define RTCP_VERSION_2 0x80u
#define RTCP_VERSION_AND_PADDING 0xe0u
#define RTCP_SUBTYPE_MASK 0x1fu
#define RTCP_PT_APP 204

/* Offsets from the start of the packet; docs/wire-format.md draws them. */
#define REPORT_RATE 14 /* 48 bits */
#define REPORT_NUMBER 20
#define REPORT_MORE_FLAGS 25 /* behind 8 reserved bits */
#define REPORT_RECEIVED 26   /* 48 bits */
#define REPORT_LOSS 32
#define REPORT_RTT 36
#define REPORT_JITTER 40
#define REPORT_QUEUE_DELAY 44
#define REPORT_PACKETS_LOST 48
#define REPORT_HIGHEST_SEQ 52
#define REPORT_ECN 56 /* 2 bits, then marked */
#define REPORT_MARKED_MAX 63
#define REPORT_ECHO 57 /* 24 bits */
#define REPORT_HOLD 60

#define RTT_COUNT 14 /* 16 bits */
#define RTT_ENTRIES 16
#define RTT_ENTRY_BYTES 12

#define SESSION_TTL 14
#define SESSION_PAYLOAD_TYPE 15
#define SESSION_NUMBER 16
#define SESSION_SEND_TIME_ID 20
#define SESSION_SEND_TIME 21 /* 24 bits */
#define SESSION_TARGET 24
#define SESSION_MIN 32
#define SESSION_MAX 40
#define SESSION_START 48
#define SESSION_BANDWIDTH 56
#define SESSION_SUPPRESS 64
#define SESSION_RECEIVERS 72
#define SESSION_LIMITING_SSRC 76
#define SESSION_RTT_MAX 80
#define SESSION_ROUND 84
#define SESSION_MEDIA_SSRC 88
#define SESSION_CLOCK_RATE 92
#define SESSION_FAMILY 96
#define SESSION_PORT 98
#define SESSION_FIXED_BYTES 100 /* the feedback address and the strings follow */

#define UINT24_MAX 0xffffffu
#define SEND_TIME_ID_MAX 14 /* RFC 8285: 15 is reserved in one-byte headers */

static uint64_t
min_u64 (uint64_t a, uint64_t b)
{
  return a < b ? a : b;
}

static void
put_us (uint8_t *data, MccTime time)
{
  mcc_app_put (data, 4, min_u64 (time / MCC_USECOND, UINT32_MAX));
}

static void
put_rtt (uint8_t *data, MccTime rtt)
{
  put_us (data, mcc_time_clamp (rtt, MCC_USECOND, MCC_RTT_MAX));
}

static bool
rtt_valid (MccTime rtt)
{
  return rtt > 0 && rtt <= MCC_RTT_MAX;
}

/* RFC 6838 4.2, restricted-name-chars: what names of media and encodings are made of. */
static bool
is_name_char (char c)
{
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')
         || (c != '\0' && strchr ("!#$&-^_.+", c) != NULL);
}

static bool
is_printable (char c)
{
  return c >= 0x20 && c <= 0x7e;
}

/* Adds the length of @text to *bytes; false when it has no end in @size or a bad character. */
static bool
add_length (const char *text, size_t size, bool (*valid) (char), size_t *bytes)
{
  for (size_t i = 0; i < size; i++) {
    if (text[i] == '\0') {
      *bytes += i;
      return true;
    }
    if (!valid (text[i]))
      return false;
  }
  return false;
}

/* The part of a packet that is still to be read. */
typedef struct {
  const uint8_t *data;
  size_t left;
} Reader;

/* Reads a string whose length stands in @prefix bytes; *out is all zero behind it. */
static MccDrop
read_string (Reader *reader, unsigned prefix, bool (*valid) (char), char *out, size_t size)
{
  size_t length;

  if (reader->left < prefix)
    return MCC_DROP_MALFORMED;
  length = (size_t)mcc_app_get (reader->data, prefix);
  if (length > reader->left - prefix)
    return MCC_DROP_MALFORMED;
  if (length >= size)
    return MCC_DROP_BAD_VALUE;
  memset (out, 0, size);
  memcpy (out, reader->data + prefix, length);
  for (size_t i = 0; i < length; i++)
    if (!valid (out[i]))
      return MCC_DROP_BAD_VALUE;
  reader->data += prefix + length;
  reader->left -= prefix + length;
  return MCC_DROP_NONE;
}

static uint8_t *
write_string (uint8_t *data, unsigned prefix, const char *text)
{
  size_t length = strlen (text);

  mcc_app_put (data, prefix, length);
  data += prefix;
  for (size_t i = 0; i < length; i++)
    data[i] = (uint8_t)text[i];
  return data + length;
}

static size_t
address_bytes (uint8_t family)
{
  return family == 4 ? 4 : family == 6 ? 16 : 0;
}

/* Receivers send their reports there, so it must be an address that one host can have. */
static bool
feedback_valid (const MccAddress *address)
{
  static const uint8_t zero[16] = { 0 };
  static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };

  switch (address->family) {
    case 0:
      return true;
    case 4:
      return address->port != 0 && address->bytes[0] != 0 && address->bytes[0] < 224;
    case 6:
      return address->port != 0 && address->bytes[0] != 0xff
             && memcmp (address->bytes, zero, sizeof zero) != 0
             && memcmp (address->bytes, mapped, sizeof mapped) != 0;
    default:
      return false;
  }
}

static MccDrop
read_feedback (Reader *reader, const uint8_t *data, MccAddress *out)
{
  size_t bytes = address_bytes (data[SESSION_FAMILY]);

  memset (out, 0, sizeof *out);
  out->family = data[SESSION_FAMILY];
  if (bytes == 0)
    return out->family == 0 ? MCC_DROP_NONE : MCC_DROP_BAD_VALUE;
  if (reader->left < bytes)
    return MCC_DROP_MALFORMED;
  out->port = (uint16_t)mcc_app_get (data + SESSION_PORT, 2);
  memcpy (out->bytes, reader->data, bytes);
  reader->data += bytes;
  reader->left -= bytes;
  return feedback_valid (out) ? MCC_DROP_NONE : MCC_DROP_BAD_VALUE;
}

static MccDrop
decode_report (const uint8_t *data, size_t size, MccAppReport *out)
{
  if (size < MCC_APP_REPORT_BYTES)
    return MCC_DROP_MALFORMED;
  *out = (MccAppReport){
    .number = mcc_app_get32 (data + REPORT_NUMBER),
    .flags = data[MCC_APP_OFFSET_FLAGS],
    .more_flags = data[REPORT_MORE_FLAGS],
    .rate_bps = mcc_app_get (data + REPORT_RATE, 6),
    .received_bps = mcc_app_get (data + REPORT_RECEIVED, 6),
    .ecn = data[REPORT_ECN] >> 6,
    .loss_ratio = mcc_app_get32 (data + REPORT_LOSS) / (double)UINT32_MAX,
    .marked_share = (data[REPORT_ECN] & REPORT_MARKED_MAX) / (double)REPORT_MARKED_MAX,
    .rtt = mcc_app_get32 (data + REPORT_RTT) * MCC_USECOND,
    .jitter = mcc_app_get32 (data + REPORT_JITTER) * MCC_USECOND,
    .queue_delay = mcc_app_get32 (data + REPORT_QUEUE_DELAY) * MCC_USECOND,
    .packets_lost = mcc_app_get32 (data + REPORT_PACKETS_LOST),
    .highest_seq = mcc_app_get32 (data + REPORT_HIGHEST_SEQ),
    .echo = (uint32_t)mcc_app_get (data + REPORT_ECHO, 3),
    .hold = mcc_app_get32 (data + REPORT_HOLD) * MCC_USECOND,
  };
  return rtt_valid (out->rtt) ? MCC_DROP_NONE : MCC_DROP_BAD_VALUE;
}

static MccDrop
decode_rtt (const uint8_t *data, size_t size, MccAppRttList *out)
{
  size_t count = (size_t)mcc_app_get (data + RTT_COUNT, 2);
  const uint8_t *entry = data + RTT_ENTRIES;

  if (count > (size - RTT_ENTRIES) / RTT_ENTRY_BYTES)
    return MCC_DROP_MALFORMED;
  if (count > MCC_APP_RTT_MAX)
    return MCC_DROP_BAD_VALUE;
  for (size_t i = 0; i < count; i++, entry += RTT_ENTRY_BYTES) {
    out->entry[i] = (MccAppRtt){
      .ssrc = mcc_app_get32 (entry),
      .number = mcc_app_get32 (entry + 4),
      .rtt = mcc_app_get32 (entry + 8) * MCC_USECOND,
    };
    if (!rtt_valid (out->entry[i].rtt))
      return MCC_DROP_BAD_VALUE;
  }
  out->count = (unsigned)count;
  return MCC_DROP_NONE;
}

static bool
session_valid (const MccAppSession *session)
{
  const uint64_t rate[] = { session->target_bps, session->min_bps, session->max_bps,
    session->start_bps, session->session_bandwidth_bps };

  for (size_t i = 0; i < sizeof rate / sizeof *rate; i++)
    if (rate[i] > MCC_APP_RATE_MAX)
      return false;
  if (session->suppress_bps > MCC_APP_RATE_MAX && session->suppress_bps != UINT64_MAX)
    return false;
  return session->min_bps <= session->max_bps && session->send_time_id <= SEND_TIME_ID_MAX
         && (session->payload_type == MCC_APP_NO_PAYLOAD_TYPE
             || (session->payload_type <= 127 && session->clock_rate > 0));
}

static void
read_session_fixed (const uint8_t *data, MccAppSession *out)
{
  out->flags = data[MCC_APP_OFFSET_FLAGS];
  out->ttl = data[SESSION_TTL];
  out->payload_type = data[SESSION_PAYLOAD_TYPE];
  out->number = mcc_app_get32 (data + SESSION_NUMBER);
  out->send_time_id = data[SESSION_SEND_TIME_ID];
  out->send_time = (uint32_t)mcc_app_get (data + SESSION_SEND_TIME, 3);
  out->target_bps = mcc_app_get (data + SESSION_TARGET, 8);
  out->min_bps = mcc_app_get (data + SESSION_MIN, 8);
  out->max_bps = mcc_app_get (data + SESSION_MAX, 8);
  out->start_bps = mcc_app_get (data + SESSION_START, 8);
  out->session_bandwidth_bps = mcc_app_get (data + SESSION_BANDWIDTH, 8);
  out->suppress_bps = mcc_app_get (data + SESSION_SUPPRESS, 8);
  out->receivers = mcc_app_get32 (data + SESSION_RECEIVERS);
  out->limiting_ssrc = mcc_app_get32 (data + SESSION_LIMITING_SSRC);
  out->rtt_max = mcc_app_get32 (data + SESSION_RTT_MAX) * MCC_USECOND;
  out->round = mcc_app_get32 (data + SESSION_ROUND);
  out->media_ssrc = mcc_app_get32 (data + SESSION_MEDIA_SSRC);
  out->clock_rate = mcc_app_get32 (data + SESSION_CLOCK_RATE);
}

static MccDrop
decode_session (const uint8_t *data, size_t size, MccAppSession *out)
{
  Reader reader;
  MccDrop drop;

  if (size < SESSION_FIXED_BYTES)
    return MCC_DROP_MALFORMED;
  reader = (Reader){ data + SESSION_FIXED_BYTES, size - SESSION_FIXED_BYTES };
  read_session_fixed (data, out);
  if (!session_valid (out) || out->rtt_max > MCC_RTT_MAX)
    return MCC_DROP_BAD_VALUE;
  drop = read_feedback (&reader, data, &out->feedback);
  if (drop == MCC_DROP_NONE)
    drop = read_string (&reader, 1, is_name_char, out->media, sizeof out->media);
  if (drop == MCC_DROP_NONE)
    drop = read_string (&reader, 1, is_name_char, out->encoding_name, sizeof out->encoding_name);
  if (drop == MCC_DROP_NONE)
    drop = read_string (&reader, 2, is_printable, out->parameters, sizeof out->parameters);
  return drop;
}

MccDrop
mcc_app_check_header (const uint8_t *data, size_t size, const char *name)
{
  /* Only the last packet of a compound may have padding, and ours never has. */
  if (size < MCC_APP_HEADER_BYTES || (data[0] & RTCP_VERSION_AND_PADDING) != RTCP_VERSION_2
      || data[1] != RTCP_PT_APP || 4 * ((size_t)mcc_app_get (data + 2, 2) + 1) != size)
    return MCC_DROP_MALFORMED;
  if (memcmp (data + 8, name, 4) != 0)
    return MCC_DROP_UNKNOWN_NAME;
  if (size < MCC_APP_HEADER_BYTES + 4)
    return MCC_DROP_MALFORMED;
  return data[MCC_APP_OFFSET_VERSION] == MCC_APP_VERSION ? MCC_DROP_NONE : MCC_DROP_UNKNOWN_VERSION;
}

MccDrop
mcc_app_decode_body (const uint8_t *data, size_t size, MccApp *out)
{
  MccApp app;
  MccDrop drop;

  memset (&app, 0, sizeof app);
  app.ssrc = mcc_app_get32 (data + 4);
  app.subtype = data[0] & RTCP_SUBTYPE_MASK;
  switch (app.subtype) {
    case MCC_APP_REPORT:
      drop = decode_report (data, size, &app.report);
      break;
    case MCC_APP_RTT:
      drop = decode_rtt (data, size, &app.rtt);
      break;
    case MCC_APP_SESSION:
      drop = decode_session (data, size, &app.session);
      break;
    default:
      return MCC_DROP_UNKNOWN_SUBTYPE;
  }
  if (drop == MCC_DROP_NONE)
    *out = app;
  return drop;
}

MccDrop
mcc_app_decode (const uint8_t *data, size_t size, MccApp *out)
{
  MccDrop drop = mcc_app_check_header (data, size, MCC_APP_NAME);

  return drop == MCC_DROP_NONE ? mcc_app_decode_body (data, size, out) : drop;
}

static size_t
session_size (const MccAppSession *session)
{
  size_t bytes = SESSION_FIXED_BYTES + address_bytes (session->feedback.family) + 1 + 1 + 2;

  if (!add_length (session->media, sizeof session->media, is_name_char, &bytes)
      || !add_length (session->encoding_name, sizeof session->encoding_name, is_name_char, &bytes)
      || !add_length (session->parameters, sizeof session->parameters, is_printable, &bytes))
    return 0;
  return (bytes + 3) & ~(size_t)3;
}

size_t
mcc_app_size (const MccApp *app)
{
  switch (app->subtype) {
    case MCC_APP_REPORT:
      return MCC_APP_REPORT_BYTES;
    case MCC_APP_RTT:
      return app->rtt.count <= MCC_APP_RTT_MAX ? RTT_ENTRIES + app->rtt.count * RTT_ENTRY_BYTES : 0;
    case MCC_APP_SESSION:
      return session_size (&app->session);
    default:
      return 0;
  }
}

static bool
encode_report (const MccAppReport *report, uint8_t *data)
{
  if (report->flags > UINT8_MAX || report->more_flags > UINT8_MAX || report->echo > UINT24_MAX
      || !(report->loss_ratio >= 0.0 && report->loss_ratio <= 1.0)
      || !(report->marked_share >= 0.0 && report->marked_share <= 1.0)
      || report->ecn > MCC_REPORT_ECN_BROKEN)
    return false;
  data[REPORT_ECN]
      = (uint8_t)(report->ecn << 6 | (unsigned)(report->marked_share * REPORT_MARKED_MAX + 0.5));
  data[MCC_APP_OFFSET_FLAGS] = (uint8_t)report->flags;
  data[REPORT_MORE_FLAGS] = (uint8_t)report->more_flags;
  mcc_app_put (data + REPORT_RATE, 6, min_u64 (report->rate_bps, MCC_APP_RATE_MAX));
  mcc_app_put (data + REPORT_NUMBER, 4, report->number);
  mcc_app_put (data + REPORT_RECEIVED, 6, min_u64 (report->received_bps, MCC_APP_RATE_MAX));
  mcc_app_put (data + REPORT_LOSS, 4, (uint64_t)(report->loss_ratio * UINT32_MAX + 0.5));
  put_rtt (data + REPORT_RTT, report->rtt);
  put_us (data + REPORT_JITTER, report->jitter);
  put_us (data + REPORT_QUEUE_DELAY, report->queue_delay);
  mcc_app_put (data + REPORT_PACKETS_LOST, 4, report->packets_lost);
  mcc_app_put (data + REPORT_HIGHEST_SEQ, 4, report->highest_seq);
  mcc_app_put (data + REPORT_ECHO, 3, report->echo);
  put_us (data + REPORT_HOLD, report->hold);
  return true;
}

static void
encode_rtt (const MccAppRttList *rtt, uint8_t *data)
{
  uint8_t *entry = data + RTT_ENTRIES;

  mcc_app_put (data + RTT_COUNT, 2, rtt->count);
  for (unsigned i = 0; i < rtt->count; i++, entry += RTT_ENTRY_BYTES) {
    mcc_app_put (entry, 4, rtt->entry[i].ssrc);
    mcc_app_put (entry + 4, 4, rtt->entry[i].number);
    put_rtt (entry + 8, rtt->entry[i].rtt);
  }
}

static void
write_session_fixed (const MccAppSession *session, uint8_t *data)
{
  data[MCC_APP_OFFSET_FLAGS] = (uint8_t)session->flags;
  data[SESSION_TTL] = session->ttl;
  data[SESSION_PAYLOAD_TYPE] = session->payload_type;
  mcc_app_put (data + SESSION_NUMBER, 4, session->number);
  data[SESSION_SEND_TIME_ID] = session->send_time_id;
  mcc_app_put (data + SESSION_SEND_TIME, 3, session->send_time);
  mcc_app_put (data + SESSION_TARGET, 8, session->target_bps);
  mcc_app_put (data + SESSION_MIN, 8, session->min_bps);
  mcc_app_put (data + SESSION_MAX, 8, session->max_bps);
  mcc_app_put (data + SESSION_START, 8, session->start_bps);
  mcc_app_put (data + SESSION_BANDWIDTH, 8, session->session_bandwidth_bps);
  mcc_app_put (data + SESSION_SUPPRESS, 8, session->suppress_bps);
  mcc_app_put (data + SESSION_RECEIVERS, 4, session->receivers);
  mcc_app_put (data + SESSION_LIMITING_SSRC, 4, session->limiting_ssrc);
  put_us (data + SESSION_RTT_MAX, mcc_time_min (session->rtt_max, MCC_RTT_MAX));
  mcc_app_put (data + SESSION_ROUND, 4, session->round);
  mcc_app_put (data + SESSION_MEDIA_SSRC, 4, session->media_ssrc);
  mcc_app_put (data + SESSION_CLOCK_RATE, 4, session->clock_rate);
}

static bool
encode_session (const MccAppSession *session, uint8_t *data)
{
  const MccAddress *feedback = &session->feedback;
  size_t bytes = address_bytes (feedback->family);
  uint8_t *end = data + SESSION_FIXED_BYTES;

  if (session->flags > UINT8_MAX || session->send_time > UINT24_MAX || !session_valid (session)
      || !feedback_valid (feedback))
    return false;
  write_session_fixed (session, data);
  if (bytes > 0) {
    data[SESSION_FAMILY] = feedback->family;
    mcc_app_put (data + SESSION_PORT, 2, feedback->port);
    memcpy (end, feedback->bytes, bytes);
    end += bytes;
  }
  end = write_string (end, 1, session->media);
  end = write_string (end, 1, session->encoding_name);
  write_string (end, 2, session->parameters);
  return true;
}

void
mcc_app_put_header (uint8_t *data, size_t bytes, unsigned subtype, uint32_t ssrc, const char *name)
{
  data[0] = (uint8_t)(RTCP_VERSION_2 | subtype);
  data[1] = RTCP_PT_APP;
  mcc_app_put (data + 2, 2, bytes / 4 - 1);
  mcc_app_put (data + 4, 4, ssrc);
  for (unsigned i = 0; i < 4; i++)
    data[8 + i] = (uint8_t)name[i];
  data[MCC_APP_OFFSET_VERSION] = MCC_APP_VERSION;
}

bool
mcc_app_encode_body (const MccApp *app, uint8_t *data)
{
  if (app->subtype == MCC_APP_REPORT)
    return encode_report (&app->report, data);
  if (app->subtype == MCC_APP_SESSION)
    return encode_session (&app->session, data);
  encode_rtt (&app->rtt, data);
  return true;
}

size_t
mcc_app_encode (const MccApp *app, uint8_t *data, size_t size)
{
  size_t bytes = mcc_app_size (app);

  if (bytes == 0 || bytes > size)
    return 0;
  memset (data, 0, bytes);
  mcc_app_put_header (data, bytes, app->subtype, app->ssrc, MCC_APP_NAME);
  return mcc_app_encode_body (app, data) ? bytes : 0;
}
