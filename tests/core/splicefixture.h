/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * splicefixture: streams that senders make, packet by packet, through a splice in virtual time.
 */
#pragma once

#include <glib.h>
#include <stdlib.h>

#include "mccrng.h"
#include "mccsplice.h"

#define EPOCH (9000 * MCC_SECOND + 17)
#define CLOCK 90000
#define MS MCC_MSECOND

/* A stream that a sender makes. */
typedef struct {
  unsigned stream;
  unsigned fps, packets, key_packets;
  unsigned b_frames;
  uint32_t base;  /* its timestamp at EPOCH */
  uint16_t first; /* its first number */
  MccTime delay;  /* of the path */
  MccTime spread; /* between packets of a frame */
  bool marks;
} Source;

/* A packet, on its way and where it got to. */
typedef struct {
  MccTime arrival;
  unsigned stream, frame, order, of; /* of: packets of its frame */
  bool key, lost;
  MccSplicePacket packet;
  unsigned fate; /* times emitted */
  bool freed;
} Packet;

typedef struct {
  const Packet *packet;
  uint16_t seq;
  uint32_t time;
  MccTime at;
} Out;

typedef struct {
  MccSplice *splice;
  GPtrArray *packets; /* by arrival once sorted */
  GArray *out;
  unsigned cuts, key_units, left;
  Out delimit; /* newest; its packet is the next to leave */
  MccTime cut_at;
  unsigned shown;
  MccTime now;
} Stage;

static Stage
stage_new (void)
{
  return (Stage){ .splice = mcc_splice_new (),
    .packets = g_ptr_array_new_with_free_func (g_free),
    .out = g_array_new (FALSE, TRUE, sizeof (Out)),
    .shown = UINT_MAX,
    .now = EPOCH };
}

static uint32_t
ssrc_of (unsigned stream)
{
  return 0x1000 + stream;
}

/* Frames from @from to @to (of EPOCH); each frame of @keys that is due makes a key unit. */
static void
make (Stage *stage, const Source *source, MccTime from, MccTime to, const MccTime *keys,
    unsigned n_keys)
{
  unsigned frame = (unsigned)((from * source->fps + MCC_SECOND - 1) / MCC_SECOND), next_key = 0;
  uint16_t seq = source->first;
  MccTime sent = 0; /* packets queue behind each other */
  for (;; frame++) {
    /* decoding order: P before the B frames that it follows */
    unsigned group = source->b_frames + 1, in = frame % group;
    unsigned shown_as = in == 0 ? frame + source->b_frames : frame - 1;
    MccTime time = frame * MCC_SECOND / source->fps;
    bool key = next_key < n_keys && time >= keys[next_key] && in == 0;
    if (time >= to)
      return;
    next_key += key;
    unsigned n = key ? source->key_packets : source->packets;
    for (unsigned i = 0; i < n; i++) {
      Packet *packet = g_new0 (Packet, 1);
      sent = mcc_time_max (sent + source->spread, EPOCH + time + source->delay);
      packet->arrival = sent;
      packet->stream = source->stream;
      packet->frame = shown_as;
      packet->order = i;
      packet->of = n;
      packet->key = key;
      packet->packet = (MccSplicePacket){ .ssrc = ssrc_of (source->stream),
        .seq = seq++,
        .rtp_time = source->base + (uint32_t)((uint64_t)shown_as * CLOCK / source->fps),
        .bytes = 1200,
        .marker = source->marks && i == n - 1,
        .key = key && (i % 8 == 1 || n == 1), /* slices */
        .begins = key && i == 0 && n > 1,
        .data = packet };
      g_ptr_array_add (stage->packets, packet);
    }
  }
}

static gint
by_arrival (gconstpointer a, gconstpointer b)
{
  const Packet *x = *(Packet *const *)a, *y = *(Packet *const *)b;
  if (x->arrival != y->arrival)
    return x->arrival < y->arrival ? -1 : 1;
  return x->stream != y->stream ? (x->stream < y->stream ? -1 : 1)
                                : (int)x->packet.seq - (int)y->packet.seq;
}

static void
drain (Stage *stage)
{
  MccSpliceAction action;
  while (mcc_splice_poll (stage->splice, &action)) {
    Packet *packet = action.data;
    Out out = { packet, action.seq, action.rtp_time, stage->now };
    switch (action.type) {
      case MCC_SPLICE_EMIT:
        g_assert_false (packet->freed);
        g_assert_cmpuint (packet->fate++, ==, 0);
        g_assert_cmpuint (packet->stream, ==, action.stream);
        g_array_append_val (stage->out, out);
        break;
      case MCC_SPLICE_FREE:
        g_assert_false (packet->freed);
        g_assert_cmpuint (packet->fate, ==, 0);
        packet->freed = true;
        break;
      case MCC_SPLICE_CUT:
        stage->cuts++;
        stage->cut_at = stage->now;
        stage->shown = action.stream;
        break;
      case MCC_SPLICE_DELIMIT:
        g_assert_true (packet->key && packet->order == 0);
        g_assert_cmpuint (packet->fate + packet->freed, ==, 0);
        stage->delimit = out;
        break;
      case MCC_SPLICE_LEFT:
        stage->left++;
        break;
      case MCC_SPLICE_KEY_UNIT:
        stage->key_units++;
        break;
    }
  }
}

/* Time-outs and packets until @until. */
static void
run (Stage *stage, unsigned *at, MccTime until)
{
  for (;;) {
    MccTime due = mcc_splice_next_timeout (stage->splice);
    Packet *packet = *at < stage->packets->len ? stage->packets->pdata[*at] : NULL;
    MccTime next = mcc_time_min (due, packet ? packet->arrival : MCC_TIME_NONE);
    if (next > until)
      break;
    stage->now = mcc_time_max (next, stage->now);
    if (due <= next) {
      mcc_splice_handle_timeout (stage->splice, stage->now);
    } else {
      (*at)++;
      if (!packet->lost)
        mcc_splice_handle (stage->splice, packet->stream, &packet->packet, stage->now);
      else
        packet->freed = true;
    }
    drain (stage);
  }
  stage->now = until;
}

static void
join (Stage *stage, unsigned stream)
{
  mcc_splice_join (
      stage->splice, stream, ssrc_of (stream), CLOCK, MCC_SPLICE_DELIMITED, stage->now);
  drain (stage);
}

static void
stage_free (Stage *stage)
{
  mcc_splice_reset (stage->splice, stage->now);
  drain (stage);
  for (unsigned i = 0; i < stage->packets->len; i++) {
    const Packet *packet = stage->packets->pdata[i];
    if (packet->arrival <= stage->now)
      g_assert_cmpuint (packet->fate + packet->freed, ==, 1);
  }
  mcc_splice_free (stage->splice);
  g_ptr_array_unref (stage->packets);
  g_array_unref (stage->out);
}

static gint
by_seq (gconstpointer a, gconstpointer b)
{
  const Out *x = a, *y = b;
  return (int16_t)(x->seq - y->seq);
}

static int
by_value (const void *a, const void *b)
{
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return x < y ? -1 : x > y;
}

/* The laws, over what has left: returns the frames that are not whole. */
G_GNUC_UNUSED static unsigned
check (Stage *stage, bool may_lose, uint32_t largest_gap)
{
  GArray *out = stage->out;
  unsigned torn = 0, in_frame = 0;
  uint32_t latest = 0, highest_before = 0;
  bool begun = false;
  uint32_t *shown = g_new (uint32_t, out->len);
  unsigned n = 0;
  g_assert_true (may_lose || !stage->delimit.packet);
  /* in pieces, for by_seq() knows half a cycle */
  g_assert_cmpuint (out->len, <, 0x8000);
  g_array_sort (out, by_seq);
  for (unsigned i = 0; i < out->len; i++) {
    const Out *o = &g_array_index (out, Out, i), *p = i ? o - 1 : NULL;
    bool same = p && p->packet->stream == o->packet->stream && p->packet->frame == o->packet->frame;
    bool cut = !p || p->packet->stream != o->packet->stream;
    if (p)
      g_assert_true (may_lose ? o->seq != p->seq : (uint16_t)(o->seq - p->seq) == 1);
    if (same) {
      g_assert_cmpuint (o->time, ==, p->time);
      in_frame++;
      if (i + 1 == out->len)
        break;
      continue;
    }
    torn += p && in_frame != p->packet->of;
    in_frame = 1;
    if (cut) {
      g_assert_true (o->packet->key);
      g_assert_cmpuint (o->packet->order, ==, 0);
      highest_before = latest;
    }
    if (begun) {
      g_assert_cmpint ((int32_t)(o->time - highest_before), >, 0);
      g_assert_cmpuint (o->time, !=, p->time);
    } else {
      highest_before = o->time - 1;
      latest = o->time;
    }
    begun = true;
    shown[n++] = o->time - g_array_index (out, Out, 0).time + (1u << 31);
    if ((int32_t)(o->time - latest) > 0)
      latest = o->time;
  }
  /* in the order of pictures: none twice, no hole */
  qsort (shown, n, sizeof *shown, by_value);
  for (unsigned i = 1; i < n; i++) {
    g_assert_cmpuint (shown[i], >, shown[i - 1]);
    g_assert_cmpuint (shown[i] - shown[i - 1], <=, largest_gap);
  }
  g_free (shown);
  return torn;
}

static const MccTime key_first[] = { 0 };

/* @a from EPOCH on, with a key unit first; @b half a second later, with one at @key. */
G_GNUC_UNUSED static void
make_both (Stage *stage, const Source *a, const Source *b, MccTime key, MccTime to)
{
  make (stage, a, 0, to, key_first, 1);
  make (stage, b, 500 * MS, to, &key, 1);
}
