/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mccasspapp.h"

#include "mccappprivate.h"

/* Offsets from the start of the packet; docs/wire-format.md draws them. In the first three: a byte
 * that is reserved in ASMP's packets. */
#define REPORT_STREAM 24
#define RTT_STREAM 13
#define SESSION_STREAM 97

#define REPORT_POTENTIAL 64 /* 48 bits, and 16 reserved ones behind */

#define STREAMS_COUNT 14
#define STREAMS_NUMBER 16
#define STREAMS_ROUND 20
#define STREAMS_LADDER 24 /* 16 bits */
#define STREAMS_ENTRIES 28
#define ENTRY_LOW 0      /* 48 bits */
#define ENTRY_HIGH 6     /* 48 bits */
#define ENTRY_AVERAGE 12 /* 48 bits */
#define ENTRY_ADDRESS 18 /* 16 bits */
#define ENTRY_PORT 20    /* 16 bits */
#define ENTRY_FLAGS 22
#define ENTRY_SSRC 24
#define ENTRY_BYTES 28

static bool
stream_valid (const MccAsspStream *stream)
{
  return stream->low_bps > 0 && stream->low_bps <= stream->high_bps
         && stream->high_bps <= MCC_APP_RATE_MAX && stream->average_bps <= MCC_APP_RATE_MAX
         && stream->address_offset > 0 && stream->port_offset % 2 == 0;
}

bool
mcc_assp_streams_open (const MccAsspStreams *streams, unsigned stream)
{
  return stream < streams->count && !(streams->stream[stream].flags & MCC_ASSP_CLOSED);
}

bool
mcc_assp_streams_lower (const MccAsspStreams *streams, unsigned a, unsigned b)
{
  const MccAsspStream *s = &streams->stream[a], *t = &streams->stream[b];
  if (s->low_bps != t->low_bps)
    return s->low_bps < t->low_bps;
  return s->high_bps != t->high_bps ? s->high_bps < t->high_bps : a < b;
}

unsigned
mcc_assp_streams_above (const MccAsspStreams *streams, unsigned stream)
{
  unsigned found = MCC_ASSP_STREAMS_MAX;
  for (unsigned j = 0; j < streams->count; j++)
    if (mcc_assp_streams_open (streams, j) && mcc_assp_streams_lower (streams, stream, j)
        && (found == MCC_ASSP_STREAMS_MAX || mcc_assp_streams_lower (streams, j, found)))
      found = j;
  return found;
}

unsigned
mcc_assp_streams_below (const MccAsspStreams *streams, unsigned stream)
{
  unsigned found = MCC_ASSP_STREAMS_MAX;
  for (unsigned j = 0; j < streams->count; j++)
    if (mcc_assp_streams_open (streams, j) && mcc_assp_streams_lower (streams, j, stream)
        && (found == MCC_ASSP_STREAMS_MAX || mcc_assp_streams_lower (streams, found, j)))
      found = j;
  return found;
}

bool
mcc_assp_streams_list (const MccAsspStreams *streams, uint32_t ssrc)
{
  for (unsigned j = 0; j < streams->count; j++)
    if (ssrc != 0 && streams->stream[j].ssrc == ssrc) /* 0: one that has not begun says nothing */
      return true;
  return false;
}

unsigned
mcc_assp_streams_lowest (const MccAsspStreams *streams)
{
  unsigned found = 0;
  for (unsigned j = 0; j < streams->count; j++)
    if (mcc_assp_streams_open (streams, j)
        && (!mcc_assp_streams_open (streams, found) || mcc_assp_streams_lower (streams, j, found)))
      found = j;
  return found;
}

unsigned
mcc_assp_streams_place (const MccAsspStreams *streams, double bps)
{
  unsigned at = mcc_assp_streams_lowest (streams), next;
  while ((next = mcc_assp_streams_above (streams, at)) != MCC_ASSP_STREAMS_MAX
         && bps >= (double)streams->stream[next].low_bps)
    at = next;
  return at;
}

/* One group each, or nobody could leave one and keep another; and bounds apart. */
static bool
apart (const MccAsspStreams *streams, unsigned a, unsigned b)
{
  const MccAsspStream *s = &streams->stream[a], *t = &streams->stream[b];
  if (s->address_offset == t->address_offset)
    return false;
  return !mcc_assp_streams_open (streams, a) || !mcc_assp_streams_open (streams, b)
         || s->high_bps <= t->low_bps || t->high_bps <= s->low_bps;
}

bool
mcc_assp_streams_valid (const MccAsspStreams *streams)
{
  bool open = false;
  if (streams->count == 0 || streams->count > MCC_ASSP_STREAMS_MAX)
    return false;
  for (unsigned i = 0; i < streams->count; i++) {
    open = open || mcc_assp_streams_open (streams, i);
    if (!stream_valid (&streams->stream[i]))
      return false;
    for (unsigned k = 0; k < i; k++)
      if (!apart (streams, k, i))
        return false;
  }
  return open;
}

static MccDrop
decode_streams (const uint8_t *data, size_t size, MccAsspStreams *out)
{
  const uint8_t *entry = data + STREAMS_ENTRIES;

  if (size < STREAMS_ENTRIES)
    return MCC_DROP_MALFORMED;
  *out = (MccAsspStreams){
    .number = mcc_app_get32 (data + STREAMS_NUMBER),
    .flags = data[MCC_APP_OFFSET_FLAGS],
    .round = mcc_app_get32 (data + STREAMS_ROUND),
    .ladder = (uint16_t)mcc_app_get (data + STREAMS_LADDER, 2),
    .count = data[STREAMS_COUNT],
  };
  if (out->count > (size - STREAMS_ENTRIES) / ENTRY_BYTES)
    return MCC_DROP_MALFORMED;
  if (out->count > MCC_ASSP_STREAMS_MAX)
    return MCC_DROP_BAD_VALUE;
  for (unsigned i = 0; i < out->count; i++, entry += ENTRY_BYTES) {
    out->stream[i] = (MccAsspStream){
      .low_bps = mcc_app_get (entry + ENTRY_LOW, 6),
      .high_bps = mcc_app_get (entry + ENTRY_HIGH, 6),
      .average_bps = mcc_app_get (entry + ENTRY_AVERAGE, 6),
      .address_offset = (uint16_t)mcc_app_get (entry + ENTRY_ADDRESS, 2),
      .port_offset = (uint16_t)mcc_app_get (entry + ENTRY_PORT, 2),
      .flags = entry[ENTRY_FLAGS],
      .ssrc = mcc_app_get32 (entry + ENTRY_SSRC),
    };
  }
  return mcc_assp_streams_valid (out) ? MCC_DROP_NONE : MCC_DROP_BAD_VALUE;
}

static bool
encode_streams (const MccAsspStreams *streams, uint8_t *data)
{
  uint8_t *entry = data + STREAMS_ENTRIES;

  if (streams->flags > UINT8_MAX || !mcc_assp_streams_valid (streams))
    return false;
  data[MCC_APP_OFFSET_FLAGS] = (uint8_t)streams->flags;
  data[STREAMS_COUNT] = (uint8_t)streams->count;
  mcc_app_put (data + STREAMS_NUMBER, 4, streams->number);
  mcc_app_put (data + STREAMS_ROUND, 4, streams->round);
  mcc_app_put (data + STREAMS_LADDER, 2, streams->ladder);
  for (unsigned i = 0; i < streams->count; i++, entry += ENTRY_BYTES) {
    const MccAsspStream *stream = &streams->stream[i];
    if (stream->flags > UINT8_MAX)
      return false;
    mcc_app_put (entry + ENTRY_LOW, 6, stream->low_bps);
    mcc_app_put (entry + ENTRY_HIGH, 6, stream->high_bps);
    mcc_app_put (entry + ENTRY_AVERAGE, 6, stream->average_bps);
    mcc_app_put (entry + ENTRY_ADDRESS, 2, stream->address_offset);
    mcc_app_put (entry + ENTRY_PORT, 2, stream->port_offset);
    entry[ENTRY_FLAGS] = (uint8_t)stream->flags;
    mcc_app_put (entry + ENTRY_SSRC, 4, stream->ssrc);
  }
  return true;
}

/* Where a packet says which stream it is about; 0: nowhere. */
static size_t
stream_offset (unsigned subtype)
{
  switch (subtype) {
    case MCC_APP_REPORT:
      return REPORT_STREAM;
    case MCC_APP_RTT:
      return RTT_STREAM;
    case MCC_APP_SESSION:
      return SESSION_STREAM;
    default:
      return 0;
  }
}

MccDrop
mcc_assp_app_decode (const uint8_t *data, size_t size, MccAsspApp *out)
{
  MccAsspApp app;
  MccDrop drop = mcc_app_check_header (data, size, MCC_ASSP_NAME);

  if (drop != MCC_DROP_NONE)
    return drop;
  memset (&app, 0, sizeof app);
  app.ssrc = mcc_app_get32 (data + 4);
  app.subtype = data[0] & 0x1fu;
  if (app.subtype == MCC_ASSP_STREAMS) {
    drop = decode_streams (data, size, &app.streams);
  } else {
    drop = mcc_app_decode_body (data, size, &app.asmp);
    if (drop == MCC_DROP_NONE && app.subtype == MCC_APP_REPORT && size >= MCC_ASSP_REPORT_BYTES)
      app.asmp.report.potential_bps = mcc_app_get (data + REPORT_POTENTIAL, 6);
    /* The body is complete, so the byte is there. */
    if (drop == MCC_DROP_NONE
        && (app.stream = data[stream_offset (app.subtype)]) >= MCC_ASSP_STREAMS_MAX)
      drop = MCC_DROP_BAD_VALUE;
  }
  if (drop == MCC_DROP_NONE)
    *out = app;
  return drop;
}

size_t
mcc_assp_app_size (const MccAsspApp *app)
{
  if (app->subtype == MCC_ASSP_STREAMS)
    return app->streams.count <= MCC_ASSP_STREAMS_MAX
               ? STREAMS_ENTRIES + app->streams.count * ENTRY_BYTES
               : 0;
  if (app->asmp.subtype != app->subtype)
    return 0;
  return app->subtype == MCC_APP_REPORT ? MCC_ASSP_REPORT_BYTES : mcc_app_size (&app->asmp);
}

size_t
mcc_assp_app_encode (const MccAsspApp *app, uint8_t *data, size_t size)
{
  size_t bytes = mcc_assp_app_size (app);

  if (bytes == 0 || bytes > size)
    return 0;
  memset (data, 0, bytes);
  mcc_app_put_header (data, bytes, app->subtype, app->ssrc, MCC_ASSP_NAME);
  if (app->subtype == MCC_ASSP_STREAMS)
    return encode_streams (&app->streams, data) ? bytes : 0;
  if (app->stream >= MCC_ASSP_STREAMS_MAX || !mcc_app_encode_body (&app->asmp, data))
    return 0;
  data[stream_offset (app->subtype)] = (uint8_t)app->stream;
  if (app->subtype == MCC_APP_REPORT) {
    uint64_t bps = app->asmp.report.potential_bps;
    mcc_app_put (data + REPORT_POTENTIAL, 6, bps < MCC_APP_RATE_MAX ? bps : MCC_APP_RATE_MAX);
  }
  return bytes;
}
