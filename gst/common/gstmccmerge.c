/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstmccmerge.h"

#include "mccsplice.h"

enum { PT_SR = 200, PT_SDES = 202, PT_BYE };

typedef enum { COMMAND_JOIN, COMMAND_LEAVE, COMMAND_KIND } CommandType;

typedef struct {
  CommandType type;
  guint stream;
  guint32 ssrc;
  GstMccPayload kind;
  guint clock_rate;
} Command;

struct _GstMccMerge {
  GstMccMergeFuncs funcs;
  gpointer owner;
  guint32 ssrc;
  /* Of the one thread alone. */
  GArray *todo; /* MccSpliceAction */
  gint payload_type;
  gint told; /* shown, and its kind was told anew; -1: none */

  /* Guards what follows; never held over a call out. */
  GMutex lock;
  MccSplice *splice;
  GArray *commands;
  struct {
    GstMccPayload kind;
    guint clock_rate; /* 0 = not known */
  } stream[GST_MCC_MERGE_STREAMS];
  /* Joined, but its encoding is not known. */
  gboolean waiting;
  guint waiting_stream;
  guint32 waiting_ssrc;
  GQueue waiting_buffers;
  MccTime waiting_since;
};

GstMccMerge *
gst_mcc_merge_new (const GstMccMergeFuncs *funcs, gpointer owner, guint32 ssrc)
{
  MccSplice *splice = mcc_splice_new ();
  GstMccMerge *self;

  if (!splice)
    return NULL;
  self = g_new0 (GstMccMerge, 1);
  self->funcs = *funcs;
  self->owner = owner;
  self->ssrc = ssrc;
  self->payload_type = self->told = -1;
  self->splice = splice;
  self->todo = g_array_new (FALSE, FALSE, sizeof (MccSpliceAction));
  self->commands = g_array_new (FALSE, FALSE, sizeof (Command));
  g_queue_init (&self->waiting_buffers);
  g_mutex_init (&self->lock);
  return self;
}

static void
clear_waiting_locked (GstMccMerge *self)
{
  self->waiting = FALSE;
  g_queue_clear_full (&self->waiting_buffers, (GDestroyNotify)gst_buffer_unref);
}

void
gst_mcc_merge_reset (GstMccMerge *self, MccTime now)
{
  MccSpliceAction action;

  g_mutex_lock (&self->lock);
  g_array_set_size (self->commands, 0);
  clear_waiting_locked (self);
  mcc_splice_reset (self->splice, now);
  while (mcc_splice_poll (self->splice, &action))
    if (action.type == MCC_SPLICE_FREE)
      gst_buffer_unref (action.data);
  g_mutex_unlock (&self->lock);
}

void
gst_mcc_merge_free (GstMccMerge *self)
{
  if (!self)
    return;
  gst_mcc_merge_reset (self, 0);
  mcc_splice_free (self->splice);
  g_array_unref (self->todo);
  g_array_unref (self->commands);
  g_mutex_clear (&self->lock);
  g_free (self);
}

/* ---- commands ---- */

static void
command (GstMccMerge *self, const Command *command)
{
  g_return_if_fail (command->stream < GST_MCC_MERGE_STREAMS);
  g_mutex_lock (&self->lock);
  g_array_append_val (self->commands, *command);
  g_mutex_unlock (&self->lock);
}

void
gst_mcc_merge_join (GstMccMerge *self, guint stream, guint32 ssrc)
{
  command (self, &(Command){ .type = COMMAND_JOIN, .stream = stream, .ssrc = ssrc });
}

void
gst_mcc_merge_leave (GstMccMerge *self, guint stream)
{
  command (self, &(Command){ .type = COMMAND_LEAVE, .stream = stream });
}

void
gst_mcc_merge_set_kind (GstMccMerge *self, guint stream, GstMccPayload kind, guint clock_rate)
{
  command (self,
      &(Command){ .type = COMMAND_KIND, .stream = stream, .kind = kind, .clock_rate = clock_rate });
}

/* ---- the one thread ---- */

/* Takes what the splice wants done. */
static void
drain_locked (GstMccMerge *self)
{
  MccSpliceAction action;

  while (mcc_splice_poll (self->splice, &action))
    g_array_append_val (self->todo, action);
}

static void
splice_locked (GstMccMerge *self, guint stream, GstBuffer *buffer, MccTime now)
{
  GstMccPayload kind = self->stream[stream].kind;
  MccSplicePacket packet = { .data = buffer };
  const guint8 *payload;
  GstMapInfo map;
  gsize bytes;

  gst_buffer_map (buffer, &map, GST_MAP_READ);
  packet.bytes = (guint32)map.size;
  packet.marker = map.data[1] & 0x80;
  packet.seq = GST_READ_UINT16_BE (map.data + 2);
  packet.rtp_time = GST_READ_UINT32_BE (map.data + 4);
  packet.ssrc = GST_READ_UINT32_BE (map.data + 8);
  payload = gst_mcc_rtp_find_payload (map.data, map.size, &bytes);
  if (payload) {
    packet.key = gst_mcc_payload_is_key_unit (kind, payload, bytes);
    packet.begins = gst_mcc_payload_begins (kind, payload, bytes);
  }
  gst_buffer_unmap (buffer, &map);
  mcc_splice_handle (self->splice, stream, &packet, now);
  drain_locked (self);
}

static void
join_locked (GstMccMerge *self, guint stream, guint32 ssrc, MccTime now)
{
  GstMccPayload kind = self->stream[stream].kind;

  mcc_splice_join (self->splice, stream, ssrc, self->stream[stream].clock_rate,
      kind == GST_MCC_PAYLOAD_OTHER          ? MCC_SPLICE_OPAQUE
      : gst_mcc_payload_has_delimiter (kind) ? MCC_SPLICE_DELIMITED
                                             : MCC_SPLICE_KEYED,
      now);
  drain_locked (self);
}

static void
do_join_locked (GstMccMerge *self, guint stream, guint32 ssrc, MccTime now)
{
  clear_waiting_locked (self);
  if (self->stream[stream].clock_rate) {
    join_locked (self, stream, ssrc, now);
    return;
  }
  self->waiting = TRUE;
  self->waiting_stream = stream;
  self->waiting_ssrc = ssrc;
}

static void
do_leave_locked (GstMccMerge *self, guint stream, MccTime now)
{
  if (self->waiting && self->waiting_stream == stream)
    clear_waiting_locked (self);
  mcc_splice_leave (self->splice, stream, now);
  drain_locked (self);
}

static void
do_kind_locked (GstMccMerge *self, const Command *command, MccTime now)
{
  GstBuffer *buffer;

  self->stream[command->stream].kind = command->kind;
  self->stream[command->stream].clock_rate = command->clock_rate;
  if (command->clock_rate && mcc_splice_shows (self->splice, command->stream))
    self->told = (gint)command->stream;
  if (!command->clock_rate || !self->waiting || self->waiting_stream != command->stream)
    return;
  self->waiting = FALSE;
  join_locked (self, command->stream, self->waiting_ssrc, now);
  while ((buffer = g_queue_pop_head (&self->waiting_buffers)))
    splice_locked (self, command->stream, buffer, now);
}

static void
do_commands_locked (GstMccMerge *self, MccTime now)
{
  for (guint i = 0; i < self->commands->len; i++) {
    const Command *command = &g_array_index (self->commands, Command, i);

    switch (command->type) {
      case COMMAND_JOIN:
        do_join_locked (self, command->stream, command->ssrc, now);
        break;
      case COMMAND_LEAVE:
        do_leave_locked (self, command->stream, now);
        break;
      case COMMAND_KIND:
        do_kind_locked (self, command, now);
        break;
    }
  }
  g_array_set_size (self->commands, 0);
}

static void
wait_locked (GstMccMerge *self, GstBuffer *buffer, MccTime now)
{
  GQueue *queue = &self->waiting_buffers;

  /* what came long ago is of no use */
  if (queue->length > 0 && now - self->waiting_since > GST_MCC_MERGE_HOLD)
    g_queue_clear_full (queue, (GDestroyNotify)gst_buffer_unref);
  if (queue->length == 0)
    self->waiting_since = now;
  g_queue_push_tail (queue, buffer);
  if (queue->length > GST_MCC_MERGE_PACKETS)
    gst_buffer_unref (g_queue_pop_head (queue));
}

static void
emit (GstMccMerge *self, const MccSpliceAction *action)
{
  GstBuffer *buffer = action->data;
  guint32 words[3]; /* aligned */
  guint8 *header = (guint8 *)words;

  gst_buffer_extract (buffer, 1, header + 1, 1);
  if (self->payload_type >= 0)
    header[1] = (guint8)((header[1] & 0x80) | self->payload_type);
  GST_WRITE_UINT16_BE (header + 2, action->seq);
  GST_WRITE_UINT32_BE (header + 4, action->rtp_time);
  GST_WRITE_UINT32_BE (header + 8, self->ssrc);
  gst_buffer_fill (buffer, 1, header + 1, sizeof words - 1);
  self->funcs.out (self->owner, buffer, action->held);
}

/* A depayloader takes what it has of a frame that lost packets, be they its end or such of the
 * slice that its end is of, and the slice that comes next, for one access unit, which no decoder
 * decodes: the key unit would be gone. */
static void
delimit (GstMccMerge *self, const MccSpliceAction *action)
{
  MccSpliceAction out = *action;
  GstMccPayload kind;

  g_mutex_lock (&self->lock);
  kind = self->stream[action->stream].kind;
  g_mutex_unlock (&self->lock);
  out.data = gst_mcc_payload_new_delimiter (kind, action->data);
  if (!out.data)
    return;
  out.held = TRUE;
  emit (self, &out);
}

/* Without the lock. */
static void
act (GstMccMerge *self)
{
  if (self->told >= 0)
    self->funcs.kind (self->owner, (guint)self->told);
  self->told = -1;
  for (guint i = 0; i < self->todo->len; i++) {
    MccSpliceAction action = g_array_index (self->todo, MccSpliceAction, i);

    switch (action.type) {
      case MCC_SPLICE_EMIT:
        emit (self, &action);
        break;
      case MCC_SPLICE_FREE:
        gst_buffer_unref (action.data);
        break;
      case MCC_SPLICE_DELIMIT:
        delimit (self, &action);
        break;
      case MCC_SPLICE_CUT:
        self->funcs.cut (self->owner, action.stream);
        break;
      case MCC_SPLICE_LEFT:
        self->funcs.left (self->owner, action.stream);
        break;
      case MCC_SPLICE_KEY_UNIT:
        self->funcs.key_unit (self->owner, action.stream);
        break;
    }
  }
  g_array_set_size (self->todo, 0);
}

void
gst_mcc_merge_handle (GstMccMerge *self, guint stream, GstBuffer *buffer, MccTime now)
{
  guint8 ssrc[4] = { 0 };

  gst_buffer_extract (buffer, 8, ssrc, sizeof ssrc);
  g_mutex_lock (&self->lock);
  do_commands_locked (self, now);
  if (self->waiting && self->waiting_stream == stream
      && self->waiting_ssrc == GST_READ_UINT32_BE (ssrc))
    wait_locked (self, buffer, now);
  else
    splice_locked (self, stream, buffer, now);
  g_mutex_unlock (&self->lock);
  act (self);
}

MccTime
gst_mcc_merge_due (GstMccMerge *self, MccTime now)
{
  MccTime next;

  g_mutex_lock (&self->lock);
  do_commands_locked (self, now);
  if (now >= mcc_splice_next_timeout (self->splice)) {
    mcc_splice_handle_timeout (self->splice, now);
    drain_locked (self);
  }
  next = mcc_splice_next_timeout (self->splice);
  g_mutex_unlock (&self->lock);
  act (self);
  return next;
}

void
gst_mcc_merge_set_payload_type (GstMccMerge *self, gint payload_type)
{
  self->payload_type = payload_type;
}

/* ---- what others ask ---- */

gboolean
gst_mcc_merge_wants (GstMccMerge *self, guint stream, guint32 ssrc)
{
  gboolean wants;

  g_mutex_lock (&self->lock);
  wants = mcc_splice_wants (self->splice, stream, ssrc);
  g_mutex_unlock (&self->lock);
  return wants;
}

guint32
gst_mcc_merge_get_ssrc (GstMccMerge *self)
{
  return self->ssrc;
}

/* Screened: every packet has its SSRC behind its header, SDES one chunk or more of that SSRC. */
gsize
gst_mcc_merge_map_rtcp (GstMccMerge *self, guint8 *data, gsize size)
{
  guint32 ssrc, rtp_time;
  gboolean shown;
  gsize kept = 0;

  if (size < 20 || data[1] != PT_SR)
    return 0;
  ssrc = GST_READ_UINT32_BE (data + 4);
  g_mutex_lock (&self->lock);
  shown = mcc_splice_map_report (self->splice, ssrc, GST_READ_UINT32_BE (data + 16), &rtp_time);
  g_mutex_unlock (&self->lock);
  if (!shown)
    return 0;
  GST_WRITE_UINT32_BE (data + 16, rtp_time);
  for (gsize at = 0; at + 8 <= size;) {
    gsize bytes = 4 + 4 * (gsize)GST_READ_UINT16_BE (data + at + 2);
    guint8 type = data[at + 1];

    if (bytes > size - at)
      break;
    if (type == PT_SR || type == PT_SDES) {
      GST_WRITE_UINT32_BE (data + at + 4, self->ssrc);
      memmove (data + kept, data + at, bytes);
      kept += bytes;
    }
    at += bytes;
  }
  return kept;
}
