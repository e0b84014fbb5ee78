/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstmccscreen.h"

#include "mccbucket.h"

#define SETS 1024
#define WAYS 16

enum { PT_SR = 200, PT_RR, PT_SDES, PT_BYE, PT_APP, PT_RTPFB, PT_PSFB };
enum { FMT_PLI = 1, FMT_FIR = 4 };
enum { SDES_CNAME = 1 };

typedef struct {
  guint32 ssrc;
  guint32 heard; /* compounds, saturates at 2; 0 = free */
  gboolean forwarded;
  MccAddress address;
  MccBucket bucket;
  MccTime last;
  MccTime passed; /* the last one that rtpsession saw */
} Source;

typedef struct {
  const guint8 *data;
  gsize size; /* without padding */
  guint type, count;
} Packet;

struct _GstMccScreen {
  GstMccScreenFuncs funcs;
  gpointer user;
  guint64 seed; /* so that nobody can aim at one set */
  guint32 own_ssrc[GST_MCC_SCREEN_OWN];
  guint n_own;
  guint16 own_port;
  guint32 followed;
  MccAddress host;     /* ... of its RTP */
  gboolean lost;       /* ... is not there any more */
  MccBucket strangers; /* sources that rtpsession does not know yet */
  gboolean begun;      /* ... is valid */
  MccTime collision;   /* the next one is passed on then; 0: at once */
  MccTime wait;        /* ... and the one behind it so much later */
  Source *sources;     /* SETS x WAYS */
};

static guint32
read32 (const guint8 *data)
{
  return (guint32)data[0] << 24 | (guint32)data[1] << 16 | (guint32)data[2] << 8 | data[3];
}

GstMccScreen *
gst_mcc_screen_new (const GstMccScreenFuncs *funcs, gpointer user, guint64 seed)
{
  GstMccScreen *self = g_new0 (GstMccScreen, 1);

  self->funcs = *funcs;
  self->user = user;
  self->seed = seed;
  self->wait = GST_MCC_SCREEN_COLLISION;
  self->sources = g_new0 (Source, SETS * WAYS);
  return self;
}

void
gst_mcc_screen_free (GstMccScreen *self)
{
  if (!self)
    return;
  g_free (self->sources);
  g_free (self);
}

void
gst_mcc_screen_set_own (GstMccScreen *self, const guint32 *ssrcs, guint n, guint16 port)
{
  self->n_own = MIN (n, GST_MCC_SCREEN_OWN);
  memcpy (self->own_ssrc, ssrcs, self->n_own * sizeof *ssrcs);
  self->own_port = port;
}

void
gst_mcc_screen_set_followed (
    GstMccScreen *self, guint32 ssrc, const MccAddress *host, gboolean lost)
{
  self->followed = ssrc;
  self->host = *host;
  self->lost = lost;
}

static void
drop (GstMccScreen *self, MccDrop reason, guint32 ssrc)
{
  if (self->funcs.dropped)
    self->funcs.dropped (self->user, reason, ssrc);
}

/* SDES items end within the packet; rtpsession's parser is not asked to find out. */
static gboolean
sdes_is_valid (const Packet *packet)
{
  gsize at = 4;

  for (guint chunk = 0; chunk < packet->count; chunk++) {
    if (packet->size - at < 8)
      return FALSE;
    at += 4;
    while (at < packet->size && packet->data[at] != 0) {
      if (packet->size - at < 2 || packet->size - at - 2 < packet->data[at + 1])
        return FALSE;
      at += 2 + (gsize)packet->data[at + 1];
    }
    if (at >= packet->size)
      return FALSE;
    at = (at / 4 + 1) * 4; /* the null and what fills the word */
    if (at > packet->size)
      return FALSE;
  }
  return at == packet->size;
}

static gboolean
bye_is_valid (const Packet *packet)
{
  gsize at = 4 + 4 * (gsize)packet->count;

  if (packet->size < at)
    return FALSE;
  return packet->size == at || (gsize)packet->data[at] + 1 <= packet->size - at;
}

static gboolean
packet_is_valid (const Packet *packet)
{
  switch (packet->type) {
    case PT_SR:
      return packet->size >= 28 + 24 * (gsize)packet->count;
    case PT_RR:
      return packet->size >= 8 + 24 * (gsize)packet->count;
    case PT_SDES:
      return sdes_is_valid (packet);
    case PT_BYE:
      return bye_is_valid (packet);
    case PT_APP:
    case PT_RTPFB:
    case PT_PSFB:
      return packet->size >= 12;
    default:
      return TRUE; /* skipped, never looked into */
  }
}

/* Splits a compound; 0 = not one. */
static guint
split (const guint8 *data, gsize size, Packet *packets)
{
  guint n = 0;
  gsize at = 0;

  if (size < 8 || size % 4 != 0 || size > GST_MCC_SCREEN_BYTES)
    return 0;
  while (at < size) {
    Packet *packet = &packets[n];
    gsize bytes;

    if (n == GST_MCC_SCREEN_PACKETS || size - at < 4 || data[at] >> 6 != 2)
      return 0;
    bytes = 4 + 4 * ((gsize)data[at + 2] << 8 | data[at + 3]);
    if (bytes > size - at)
      return 0;
    *packet = (Packet){ data + at, bytes, data[at + 1], data[at] & 0x1f };
    if (data[at] & 0x20) {
      guint8 padding = data[at + bytes - 1];

      if (at + bytes != size || padding == 0 || padding % 4 != 0 || padding + 4u > bytes)
        return 0;
      packet->size -= padding;
    }
    if (!packet_is_valid (packet))
      return 0;
    at += bytes;
    n++;
  }
  return packets[0].type == PT_SR || packets[0].type == PT_RR ? n : 0;
}

static Source *
set_of (GstMccScreen *self, guint32 ssrc, const MccAddress *from)
{
  guint64 hash = self->seed ^ ((guint64)ssrc << 16 | from->port), word;

  for (gsize i = 0; i < sizeof from->bytes; i += sizeof word) {
    memcpy (&word, from->bytes + i, sizeof word);
    hash = (hash ^ word) * G_GUINT64_CONSTANT (0x9e3779b97f4a7c15);
    hash ^= hash >> 29;
  }
  hash *= G_GUINT64_CONSTANT (0xbf58476d1ce4e5b9);
  return self->sources + (hash >> 32) % SETS * WAYS;
}

static guint
count_of (const Source *set, const MccAddress *from)
{
  guint n = 0;

  for (guint i = 0; i < WAYS; i++)
    n += mcc_address_same_site (&set[i].address, from);
  return n;
}

/* The one of the two that is missed less: heard once only, then silent for longer. */
static Source *
lesser (Source *a, Source *b)
{
  if (!a)
    return b;
  if ((a->heard < 2) != (b->heard < 2))
    return a->heard < 2 ? a : b;
  return b->last < a->last ? b : a;
}

/* Who makes room in a full set for one @from there: of a place that has more than its share, that
 * one's own first; else who was heard once. NULL: nobody. */
static Source *
find_crowd (Source *set, const MccAddress *from)
{
  Source *own = NULL, *crowd = NULL, *once = NULL;
  guint share = count_of (set, from);

  for (guint i = 0; i < WAYS; i++) {
    guint n = count_of (set, &set[i].address);

    if (share >= GST_MCC_SCREEN_SHARE && mcc_address_same_site (&set[i].address, from))
      own = lesser (own, &set[i]);
    if (n > GST_MCC_SCREEN_SHARE)
      crowd = lesser (crowd, &set[i]);
    if (set[i].heard < 2)
      once = lesser (once, &set[i]);
  }
  return own ? own : crowd ? crowd : once;
}

/* The source's entry, new if need be; NULL: its set is full of active ones. */
static Source *
find_source (GstMccScreen *self, guint32 ssrc, const MccAddress *from, MccTime now)
{
  Source *set = set_of (self, ssrc, from), *victim = NULL;

  for (guint i = 0; i < WAYS; i++) {
    Source *source = &set[i];

    if (source->heard && source->ssrc == ssrc && mcc_address_equal (&source->address, from))
      return source;
    if (!source->heard || now - source->last >= GST_MCC_SCREEN_IDLE)
      victim = !victim || source->last < victim->last ? source : victim;
  }
  if (!victim)
    victim = find_crowd (set, from);
  if (!victim)
    return NULL;
  memset (victim, 0, sizeof *victim);
  victim->ssrc = ssrc;
  victim->address = *from;
  mcc_bucket_init (&victim->bucket, GST_MCC_SCREEN_PER_S, GST_MCC_SCREEN_BURST, now);
  return victim;
}

/* TRUE: every SSRC that the packet speaks for is @ssrc. */
static gboolean
speaks_for (const Packet *packet, guint32 ssrc)
{
  gsize at = 4;

  switch (packet->type) {
    case PT_SDES:
      for (guint chunk = 0; chunk < packet->count; chunk++) {
        if (read32 (packet->data + at) != ssrc)
          return FALSE;
        for (at += 4; packet->data[at] != 0;)
          at += 2 + (gsize)packet->data[at + 1];
        at = (at / 4 + 1) * 4;
      }
      return TRUE;
    case PT_BYE:
      for (guint i = 0; i < packet->count; i++)
        if (read32 (packet->data + 4 + 4 * i) != ssrc)
          return FALSE;
      return TRUE;
    case PT_SR:
    case PT_RR:
    case PT_APP:
    case PT_RTPFB:
    case PT_PSFB:
      return read32 (packet->data + 4) == ssrc;
    default:
      return TRUE;
  }
}

static void
handle_blocks (GstMccScreen *self, const Packet *packet, guint32 ssrc, gboolean has_app,
    const MccAddress *from)
{
  const guint8 *data = packet->data + (packet->type == PT_SR ? 28 : 8);

  for (guint i = 0; self->funcs.report_block && i < packet->count; i++, data += 24) {
    GstMccReportBlock block = { .ssrc = read32 (data),
      .fraction_lost = data[4] / 256.0,
      .packets_lost = (gint32)(read32 (data + 4) << 8) / 256, /* 24 bits with a sign */
      .highest_seq = read32 (data + 8),
      .lsr = read32 (data + 16),
      .dlsr = read32 (data + 20) };

    self->funcs.report_block (self->user, ssrc, &block, has_app, from);
  }
}

static void
handle_feedback (GstMccScreen *self, const Packet *packet, guint32 ssrc)
{
  if (!self->funcs.key_unit_request)
    return;
  if (packet->count == FMT_PLI)
    self->funcs.key_unit_request (self->user, ssrc, read32 (packet->data + 8));
  /* FIR: its media SSRC is 0, the entries name the streams (RFC 5104 4.3.1) */
  if (packet->count == FMT_FIR)
    for (gsize at = 12; packet->size - at >= 8; at += 8)
      self->funcs.key_unit_request (self->user, ssrc, read32 (packet->data + at));
}

static void
handle_app (GstMccScreen *self, const Packet *packet, guint32 ssrc, const MccAddress *from)
{
  MccApp app;
  MccDrop reason = mcc_app_decode (packet->data, packet->size, &app);

  if (reason != MCC_DROP_NONE)
    drop (self, reason, ssrc);
  else if (self->funcs.app)
    self->funcs.app (self->user, &app, from);
}

static void
handle_assp_app (GstMccScreen *self, const Packet *packet, guint32 ssrc, const MccAddress *from)
{
  MccAsspApp app;
  MccDrop reason = mcc_assp_app_decode (packet->data, packet->size, &app);

  if (reason != MCC_DROP_NONE)
    drop (self, reason, ssrc);
  else
    self->funcs.assp_app (self->user, &app, from);
}

/* The session of another of a sender's streams, which one stream's compound carries in that one's
 * name (docs/wire-format.md, ASSP). Nobody gains by it: who says it from elsewhere than the sender
 * is as far as in a compound of its own. */
static gboolean
is_carried (const GstMccScreen *self, const Packet *packet)
{
  return self->funcs.assp_app && packet->type == PT_APP && packet->count == MCC_APP_SESSION
         && memcmp (packet->data + 8, MCC_ASSP_NAME, 4) == 0;
}

static void
handle_carried (GstMccScreen *self, const Packet *packet, guint32 ssrc, const MccAddress *from)
{
  gboolean followed = self->host.family != 0 && read32 (packet->data + 4) == self->followed;

  if (followed && !mcc_address_same_host (&self->host, from))
    drop (self, MCC_DROP_ADDRESS, ssrc);
  else
    handle_assp_app (self, packet, ssrc, from);
}

static void
handle_elm_app (GstMccScreen *self, const Packet *packet, guint32 ssrc, const MccAddress *from)
{
  MccElmApp app;
  MccDrop reason = mcc_elm_app_decode (packet->data, packet->size, &app);

  if (reason != MCC_DROP_NONE)
    drop (self, reason, ssrc);
  else
    self->funcs.elm_app (self->user, &app, from);
}

static gboolean
is_indexes (const Packet *packet)
{
  return packet->size >= MCC_INDEX_BYTES (0) && memcmp (packet->data + 8, MCC_INDEX_NAME, 4) == 0;
}

static void
handle_indexes (GstMccScreen *self, const Packet *packet, guint32 ssrc, const MccAddress *from)
{
  MccIndexApp app;
  MccDrop reason = mcc_index_app_decode (packet->data, packet->size, &app);

  if (reason != MCC_DROP_NONE)
    drop (self, reason, ssrc);
  else
    self->funcs.indexes (self->user, &app, from);
}

static gboolean
has_our_app (const GstMccScreen *self, const Packet *packets, guint n)
{
  const gchar *name = self->funcs.elm_app    ? MCC_ELM_NAME
                      : self->funcs.assp_app ? MCC_ASSP_NAME
                                             : MCC_APP_NAME;

  for (guint i = 0; i < n; i++)
    if (packets[i].type == PT_APP && memcmp (packets[i].data + 8, name, 4) == 0)
      return TRUE;
  return FALSE;
}

static void
handle_packet (GstMccScreen *self, const Packet *packet, guint32 ssrc, gboolean has_app,
    gboolean known, const MccAddress *from)
{
  switch (packet->type) {
    case PT_SR:
      if (self->funcs.sender_report)
        self->funcs.sender_report (self->user, ssrc,
            (guint64)read32 (packet->data + 8) << 32 | read32 (packet->data + 12),
            read32 (packet->data + 16), from);
      handle_blocks (self, packet, ssrc, has_app, from);
      break;
    case PT_RR:
      handle_blocks (self, packet, ssrc, has_app, from);
      break;
    case PT_BYE:
      if (packet->count == 0)
        break;
      /* a BYE counts only from where its member was heard (RFC 3550 8.2) */
      if (!known)
        drop (self, MCC_DROP_ADDRESS, ssrc);
      else if (self->funcs.bye)
        self->funcs.bye (self->user, ssrc, from);
      break;
    case PT_APP:
      if (self->funcs.indexes && is_indexes (packet))
        handle_indexes (self, packet, ssrc, from);
      else if (self->funcs.elm_app)
        handle_elm_app (self, packet, ssrc, from);
      else if (self->funcs.assp_app)
        handle_assp_app (self, packet, ssrc, from);
      else
        handle_app (self, packet, ssrc, from);
      break;
    case PT_PSFB:
      handle_feedback (self, packet, ssrc);
      break;
    default:
      break;
  }
}

static gboolean
is_own_ssrc (const GstMccScreen *self, guint32 ssrc)
{
  for (guint i = 0; i < self->n_own; i++)
    if (self->own_ssrc[i] == ssrc)
      return TRUE;
  return FALSE;
}

/* Somebody has our SSRC. Changing it ends a true collision (RFC 3550 8.2), and those are rare. Who
 * forges them has a few at first; then the rest gained by keeping quiet is what a change costs. */
static gboolean
may_collide (GstMccScreen *self, MccTime now)
{
  if (now < self->collision)
    return FALSE;
  for (MccTime quiet = self->collision ? now - self->collision : 0;
       quiet >= GST_MCC_SCREEN_COLLISION_MAX && self->wait > GST_MCC_SCREEN_COLLISION;
       quiet -= GST_MCC_SCREEN_COLLISION_MAX)
    self->wait = mcc_time_max (self->wait / 2, GST_MCC_SCREEN_COLLISION);
  self->collision = now + self->wait;
  self->wait = mcc_time_min (2 * self->wait, GST_MCC_SCREEN_COLLISION_MAX);
  return TRUE;
}

/* TRUE: ours, or claims to be; *forward says whether rtpsession shall see it. */
static gboolean
is_own (GstMccScreen *self, guint32 ssrc, const MccAddress *from, MccTime now, gboolean *forward)
{
  if (!is_own_ssrc (self, ssrc))
    return FALSE;
  *forward = FALSE;
  if (from->port == self->own_port) {
    drop (self, MCC_DROP_OWN, ssrc);
  } else if (may_collide (self, now)) {
    *forward = TRUE;
  } else {
    drop (self, MCC_DROP_ADDRESS, ssrc);
  }
  return TRUE;
}

static gboolean
says_bye (const Packet *packets, guint n)
{
  for (guint i = 0; i < n; i++)
    if (packets[i].type == PT_BYE)
      return TRUE;
  return FALSE;
}

/* Whether rtpsession knows @source still, or may get to know another one. */
static gboolean
has_room (const GstMccScreen *self, const Source *source, MccTime now)
{
  if (source->forwarded && now - source->passed < GST_MCC_SCREEN_KEPT)
    return TRUE;
  return !self->funcs.known || self->funcs.known (self->user) < GST_MCC_SCREEN_KNOWN;
}

/* Whether rtpsession shall see what @source, which was heard before, says; @bye: that it leaves. */
static gboolean
may_forward (GstMccScreen *self, Source *source, gboolean bye, MccTime now)
{
  gboolean due = bye || now - source->passed >= GST_MCC_SCREEN_PASS, pass;

  if (!self->begun)
    mcc_bucket_init (&self->strangers, GST_MCC_SCREEN_NEW_PER_S, GST_MCC_SCREEN_NEW_BURST, now);
  self->begun = TRUE;
  if (source->ssrc == self->followed)
    return source->forwarded = TRUE;
  if (source->forwarded && !due)
    return FALSE;
  source->forwarded = has_room (self, source, now)
                      && (source->forwarded || mcc_bucket_take (&self->strangers, now));
  source->passed = now;
  pass = source->forwarded;
  source->forwarded &= !bye;
  return pass;
}

/* The member's first CNAME, in one chunk; 0: it has none. rtpsession makes a name that is never
 * freed of each PRIV item's prefix, and takes the prefix's length on trust. */
static gsize
append_cname (guint8 *forward, gsize at, const Packet *packet)
{
  gsize item = 4, bytes;

  for (guint chunk = 0; chunk < packet->count; chunk++) {
    for (item += 4; packet->data[item] != 0; item += 2 + (gsize)packet->data[item + 1]) {
      if (packet->data[item] != SDES_CNAME)
        continue;
      bytes = (8 + 2 + (gsize)packet->data[item + 1]) / 4 * 4 + 4; /* a null at least behind it */
      memset (forward + at, 0, bytes);
      forward[at] = 0x81;
      forward[at + 1] = PT_SDES;
      forward[at + 3] = (guint8)(bytes / 4 - 1);
      memcpy (forward + at + 4, packet->data + 4, 4);
      memcpy (forward + at + 8, packet->data + item, 2 + (gsize)packet->data[item + 1]);
      return at + bytes;
    }
    item = (item / 4 + 1) * 4;
  }
  return at;
}

static gsize
append (guint8 *forward, gsize at, const Packet *packet)
{
  if (packet->type == PT_SDES)
    return append_cname (forward, at, packet);
  memcpy (forward + at, packet->data, packet->size);
  forward[at] &= (guint8)~0x20; /* without its padding */
  forward[at + 2] = (guint8)((packet->size / 4 - 1) >> 8);
  forward[at + 3] = (guint8)(packet->size / 4 - 1);
  return at + packet->size;
}

gsize
gst_mcc_screen_handle (GstMccScreen *self, const guint8 *data, gsize size, const MccAddress *from,
    MccTime now, guint8 *forward)
{
  Packet packets[GST_MCC_SCREEN_PACKETS];
  guint n = split (data, size, packets);
  gboolean has_app, known = FALSE, pass = TRUE, own, elsewhere;
  gsize bytes = 0;
  guint32 ssrc;

  if (n == 0) {
    drop (self, MCC_DROP_MALFORMED, 0);
    return 0;
  }
  ssrc = read32 (packets[0].data + 4);
  own = is_own (self, ssrc, from, now, &pass);
  if (own && !pass)
    return 0;
  elsewhere = self->followed != 0 && ssrc == self->followed && self->host.family != 0
              && !mcc_address_same_host (&self->host, from);
  if (elsewhere && !self->lost) {
    drop (self, MCC_DROP_ADDRESS, ssrc);
    return 0;
  }
  if (!own) {
    Source *source = find_source (self, ssrc, from, now);

    if (!source || !mcc_bucket_take (&source->bucket, now)) {
      drop (self, source ? MCC_DROP_RATE_LIMITED : MCC_DROP_TABLE_FULL, ssrc);
      return 0;
    }
    known = source->heard > 0;
    source->heard = MIN (source->heard + 1, 2);
    source->last = now;
    pass = known && !elsewhere && may_forward (self, source, says_bye (packets, n), now);
  }
  has_app = has_our_app (self, packets, n);
  for (guint i = 0; i < n; i++) {
    if (!speaks_for (&packets[i], ssrc)) {
      if (!own && is_carried (self, &packets[i]))
        handle_carried (self, &packets[i], ssrc, from);
      else
        drop (self, MCC_DROP_SSRC_MISMATCH, ssrc);
      continue;
    }
    if (!own && (!elsewhere || packets[i].type == PT_APP))
      handle_packet (self, &packets[i], ssrc, has_app, known, from);
    if (pass && packets[i].type >= PT_SR && packets[i].type <= PT_BYE)
      bytes = append (forward, bytes, &packets[i]);
  }
  return bytes;
}
