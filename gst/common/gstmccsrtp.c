/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstmccsrtp.h"

#include <gst/gst.h>
#include <srtp2/srtp.h>
#include <string.h>

#define KEYS_MAX SRTP_MAX_NUM_MASTER_KEYS
#define KEY_BYTES_MAX 46
#define MKI_BYTES 4
#define TAG_80_BYTES 10
#define SRTCP_INDEX_BYTES 4
#define TAG_32_BYTES 4
#define RTP_HEADER_BYTES 12
#define RTCP_HEADER_BYTES 8
#define WINDOW 1024 /* packets that may come late: more than any reordering that is no loss */
/* SSRCs of one kind of packet that are kept: those who have the key, and no end of them might
 * come. Then whoever was silent longest makes room, but not before SILENT: those who take part
 * are heard more often, or lose nothing but their window. */
#define STREAMS_MAX 16384
#define SILENT (600 * MCC_SECOND)
/* Those of them whose newest index is remembered, so that what was recorded of them stays old; the
 * last to have the place of an SSRC, which is random. */
#define REMOVED_MAX 65536
#define SENT_MAX 8 /* SSRCs of ours whose indexes are announced */
#define OWN_MAX 64 /* SSRCs of ours, the newest, whose SRTCP is known again */

enum { RTP, RTCP, KINDS };

typedef struct {
  guint n;
  gboolean mki;
  guint32 id[KEYS_MAX];
  guint8 ids[KEYS_MAX][MKI_BYTES];
  guint8 bytes[KEYS_MAX][KEY_BYTES_MAX];
  srtp_master_key_t master[KEYS_MAX];
  srtp_master_key_t *list[KEYS_MAX];
} Keys;

/* One SSRC's packets that we read. */
typedef struct {
  guint64 announced; /* the index that was said last */
  gboolean has_announced;
  gboolean heard; /* RTP that is authentic has come */
  gboolean own;   /* a stream of libsrtp's of its own: not made from the template */
  guint32 ssrc;
  guint32 next;  /* RTCP: behind its newest index */
  guint32 floor; /* ... when it was removed before: what is older is old */
  MccTime last;  /* authentic packet, or announcement */
  GList link;    /* in .order */
} Source;

/* What is behind an SSRC's newest SRTCP packet. */
typedef struct {
  guint32 ssrc, next; /* 0: nobody */
} Next;

struct _GstMccSrtp {
  gboolean sender;
  GstMccSrtpCipher cipher;
  GstMccSrtpAuth auth;
  guint overhead; /* other keys do not change it */

  /* Guards all below: libsrtp's contexts are of one thread at a time. A leaf. */
  GMutex lock;
  Keys keys;
  guint use; /* the key that we protect with */
  srtp_t out[KINDS], in[KINDS];
  GHashTable *sources[KINDS]; /* by SSRC, of Source */
  GQueue order[KINDS];        /* of them, who was silent longest first */
  Next *removed;              /* of RTCP; NULL: none yet */
  Next own[OWN_MAX];          /* what we have sent; the last one is the newest */
  guint n_own;
  MccIndexApp sent; /* .ssrc unused */
};

/* ---- keys ---- */

static gsize
key_bytes (GstMccSrtpCipher cipher)
{
  return cipher == GST_MCC_SRTP_AES_256_ICM ? SRTP_AES_ICM_256_KEY_LEN_WSALT
                                            : SRTP_AES_ICM_128_KEY_LEN_WSALT;
}

static void
keys_clear (Keys *keys)
{
  volatile guint8 *bytes = (volatile guint8 *)keys; /* a memset that is not optimised away */

  for (gsize i = 0; i < sizeof *keys; i++)
    bytes[i] = 0;
}

static gboolean
bad_key (GError **error, guint line, const gchar *what)
{
  g_set_error (
      error, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS, "srtp-key: line %u %s", line, what);
  return FALSE;
}

/* "[MKI] BASE64" without spaces around. */
static gboolean
parse_line (Keys *keys, gchar *text, gsize wanted, guint line, GError **error)
{
  gchar *base64 = strpbrk (text, " \t"), *end = NULL, *short_of;
  guint64 mki = 0;
  guchar *raw;
  gsize size;

  if (keys->n == KEYS_MAX)
    return bad_key (error, line, "is one too many; take the oldest keys out");
  if (base64) {
    *base64++ = '\0';
    mki = g_ascii_strtoull (text, &end, 10);
    if (*end || mki == 0 || mki > G_MAXUINT32)
      return bad_key (error, line, "does not begin with an MKI, a number from 1 to 4294967295");
  } else {
    base64 = text;
  }
  if (keys->n > 0 && (mki == 0 || !keys->mki))
    return bad_key (error, line, "is another key: number all of them, as in \"1 BASE64\"");
  for (guint i = 0; i < keys->n; i++)
    if (keys->id[i] == mki)
      return bad_key (error, line, "has an MKI that another line has; number them apart");
  raw = g_base64_decode (g_strstrip (base64), &size);
  if (size == wanted)
    memcpy (keys->bytes[keys->n], raw, size);
  memset (raw, 0, size);
  g_free (raw);
  if (size != wanted) {
    short_of
        = g_strdup_printf ("holds %" G_GSIZE_FORMAT " bytes where the cipher takes %" G_GSIZE_FORMAT
                           "; make one: openssl rand -base64 %" G_GSIZE_FORMAT,
            size, wanted, wanted);
    bad_key (error, line, short_of);
    g_free (short_of);
    return FALSE;
  }
  keys->mki = mki > 0;
  keys->id[keys->n] = (guint32)mki;
  GST_WRITE_UINT32_BE (keys->ids[keys->n], (guint32)mki);
  keys->n++;
  return TRUE;
}

static gboolean
keys_parse (Keys *keys, const gchar *text, GstMccSrtpCipher cipher, GError **error)
{
  gchar **lines = g_strsplit_set (text, "\n\r;", -1);
  gboolean good = TRUE;

  memset (keys, 0, sizeof *keys);
  for (guint i = 0; good && lines[i]; i++) {
    gchar *line = lines[i], *comment = strchr (line, '#');

    if (comment)
      *comment = '\0';
    line = g_strstrip (line);
    if (*line)
      good = parse_line (keys, line, key_bytes (cipher), i + 1, error);
  }
  for (guint i = 0; lines[i]; i++)
    memset (lines[i], 0, strlen (lines[i]));
  g_strfreev (lines);
  if (good && keys->n == 0) {
    g_set_error (error, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS,
        "srtp-key: there is no key; make one: openssl rand -base64 %" G_GSIZE_FORMAT,
        key_bytes (cipher));
    good = FALSE;
  }
  if (!good)
    keys_clear (keys);
  return good;
}

static void
keys_link (Keys *keys)
{
  for (guint i = 0; i < keys->n; i++) {
    keys->master[i] = (srtp_master_key_t){ .key = keys->bytes[i],
      .mki_id = keys->mki ? keys->ids[i] : NULL,
      .mki_size = keys->mki ? MKI_BYTES : 0 };
    keys->list[i] = &keys->master[i];
  }
}

/* ---- libsrtp ---- */

static void
make_policy (GstMccSrtp *self, srtp_ssrc_type_t type, guint32 ssrc, srtp_policy_t *policy)
{
  memset (policy, 0, sizeof *policy);
  if (self->cipher == GST_MCC_SRTP_AES_256_ICM) {
    srtp_crypto_policy_set_aes_cm_256_hmac_sha1_80 (&policy->rtp);
    srtp_crypto_policy_set_aes_cm_256_hmac_sha1_80 (&policy->rtcp);
    if (self->auth == GST_MCC_SRTP_HMAC_SHA1_32)
      srtp_crypto_policy_set_aes_cm_256_hmac_sha1_32 (&policy->rtp);
  } else {
    srtp_crypto_policy_set_aes_cm_128_hmac_sha1_80 (&policy->rtp);
    srtp_crypto_policy_set_aes_cm_128_hmac_sha1_80 (&policy->rtcp);
    if (self->auth == GST_MCC_SRTP_HMAC_SHA1_32)
      srtp_crypto_policy_set_aes_cm_128_hmac_sha1_32 (&policy->rtp);
  }
  policy->ssrc.type = type;
  policy->ssrc.value = ssrc;
  policy->keys = self->keys.list;
  policy->num_master_keys = self->keys.n;
  policy->window_size = WINDOW;
}

static gboolean
make_contexts (GstMccSrtp *self)
{
  srtp_policy_t policy;

  for (guint i = 0; i < KINDS; i++) {
    make_policy (self, ssrc_any_outbound, 0, &policy);
    if (srtp_create (&self->out[i], &policy) != srtp_err_status_ok)
      return FALSE;
    make_policy (self, ssrc_any_inbound, 0, &policy);
    if (srtp_create (&self->in[i], &policy) != srtp_err_status_ok)
      return FALSE;
  }
  return TRUE;
}

GstMccSrtp *
gst_mcc_srtp_new (gboolean sender, const gchar *keys, GstMccSrtpCipher cipher, GstMccSrtpAuth auth,
    GError **error)
{
  static gsize once = 0;
  static gboolean works;
  GstMccSrtp *self;

  if (g_once_init_enter (&once)) {
    works = srtp_init () == srtp_err_status_ok;
    g_once_init_leave (&once, 1);
  }
  self = g_new0 (GstMccSrtp, 1);
  g_mutex_init (&self->lock);
  self->sender = sender;
  self->cipher = cipher;
  self->auth = auth;
  for (guint i = 0; i < KINDS; i++)
    self->sources[i] = g_hash_table_new_full (NULL, NULL, NULL, g_free);
  if (!keys_parse (&self->keys, keys, cipher, error)) {
    gst_mcc_srtp_free (self);
    return NULL;
  }
  keys_link (&self->keys);
  self->overhead = (self->keys.mki ? MKI_BYTES : 0)
                   + (auth == GST_MCC_SRTP_HMAC_SHA1_32 ? TAG_32_BYTES : TAG_80_BYTES);
  self->use = sender ? self->keys.n - 1 : 0;
  if (!works || !make_contexts (self)) {
    g_set_error (error, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_INIT,
        "srtp-cipher, srtp-auth: this libsrtp does not have them; choose aes-128-icm and "
        "hmac-sha1-80");
    gst_mcc_srtp_free (self);
    return NULL;
  }
  return self;
}

void
gst_mcc_srtp_free (GstMccSrtp *self)
{
  if (!self)
    return;
  for (guint i = 0; i < KINDS; i++) {
    if (self->out[i])
      srtp_dealloc (self->out[i]);
    if (self->in[i])
      srtp_dealloc (self->in[i]);
    g_hash_table_unref (self->sources[i]); /* .order's links with it */
  }
  g_free (self->removed);
  keys_clear (&self->keys);
  g_mutex_clear (&self->lock);
  g_free (self);
}

/* Indexes go on under the new keys: a late packet is no newer one, and none is lost. */
static gboolean
update_locked (GstMccSrtp *self)
{
  gboolean good = TRUE;
  srtp_policy_t policy;
  GHashTableIter iter;
  gpointer ssrc, source;

  for (guint i = 0; i < KINDS; i++) {
    make_policy (self, ssrc_any_outbound, 0, &policy);
    good &= srtp_update_stream (self->out[i], &policy) == srtp_err_status_ok;
    make_policy (self, ssrc_any_inbound, 0, &policy);
    good &= srtp_update_stream (self->in[i], &policy) == srtp_err_status_ok;
    g_hash_table_iter_init (&iter, self->sources[i]);
    while (g_hash_table_iter_next (&iter, &ssrc, &source))
      if (((Source *)source)->own) {
        make_policy (self, ssrc_specific, GPOINTER_TO_UINT (ssrc), &policy);
        good &= srtp_update_stream (self->in[i], &policy) == srtp_err_status_ok;
      }
  }
  return good;
}

gboolean
gst_mcc_srtp_set_keys (GstMccSrtp *self, const gchar *text, GError **error)
{
  gboolean good;
  Keys keys;

  if (!keys_parse (&keys, text, self->cipher, error))
    return FALSE;
  g_mutex_lock (&self->lock);
  good = keys.mki == self->keys.mki;
  if (good) {
    guint32 used = self->keys.id[self->use];

    self->keys = keys;
    keys_link (&self->keys);
    self->use = self->sender ? keys.n - 1 : 0;
    /* a receiver waits until the sender speaks under a new one */
    for (guint i = 0; !self->sender && keys.mki && i < keys.n; i++)
      if (keys.id[i] == used)
        self->use = i;
    good = update_locked (self);
    if (!good)
      g_set_error (error, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_FAILED,
          "srtp-key: libsrtp does not take the new keys; start anew");
  } else {
    g_set_error (error, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS,
        "srtp-key: keys with and without MKI cannot follow each other while running; start anew, "
        "with an MKI in front of each");
  }
  g_mutex_unlock (&self->lock);
  keys_clear (&keys);
  return good;
}

guint
gst_mcc_srtp_get_overhead (GstMccSrtp *self)
{
  return self->overhead;
}

guint
gst_mcc_srtp_get_rtcp_overhead (GstMccSrtp *self)
{
  return SRTCP_INDEX_BYTES + TAG_80_BYTES + (self->keys.mki ? MKI_BYTES : 0);
}

/* The index is in front of MKI and tag, behind the bit E (RFC 3711 3.4). */
static guint32
read_rtcp_index (const GstMccSrtp *self, const guint8 *data, gsize size)
{
  gsize behind = SRTCP_INDEX_BYTES + (self->keys.mki ? MKI_BYTES : 0) + TAG_80_BYTES;
  guint32 index = 0;

  if (size >= RTCP_HEADER_BYTES + behind)
    memcpy (&index, data + size - behind, sizeof index);
  return GUINT32_FROM_BE (index) & 0x7fffffff;
}

/* ---- packets out ---- */

static void
note_sent_locked (GstMccSrtp *self, guint32 ssrc, guint16 seq)
{
  guint32 roc = 0;
  guint i = 0;

  while (i < self->sent.count && self->sent.entry[i].ssrc != ssrc)
    i++;
  if (i == SENT_MAX) { /* the oldest is one that collided, or of an earlier start */
    i--;
    memmove (self->sent.entry, self->sent.entry + 1, i * sizeof self->sent.entry[0]);
  } else if (i == self->sent.count) {
    self->sent.count++;
  }
  srtp_get_stream_roc (self->out[RTP], ssrc, &roc);
  self->sent.entry[i] = (MccIndex){ ssrc, (guint64)roc << 16 | seq };
}

static void
note_own_locked (GstMccSrtp *self, guint32 ssrc, guint32 index)
{
  guint i = 0;

  while (i < self->n_own && self->own[i].ssrc != ssrc)
    i++;
  if (i == OWN_MAX)
    i = 0;
  else if (i == self->n_own)
    self->n_own++;
  memmove (self->own + i, self->own + i + 1, (self->n_own - i - 1) * sizeof self->own[0]);
  self->own[self->n_own - 1] = (Next){ ssrc, index + 1 };
}

/* We have sent it: another one with our SSRC, who counts for himself, is behind us if he is new,
 * and then it is he who hears of us. */
static gboolean
is_own_locked (const GstMccSrtp *self, guint32 ssrc, guint32 index)
{
  for (guint i = 0; i < self->n_own; i++)
    if (self->own[i].ssrc == ssrc)
      return index < self->own[i].next;
  return FALSE;
}

gboolean
gst_mcc_srtp_protect (GstMccSrtp *self, gboolean rtcp, guint8 *data, gsize *size)
{
  srtp_err_status_t status;
  int bytes = (int)*size;

  if (*size < (rtcp ? RTCP_HEADER_BYTES : RTP_HEADER_BYTES) || *size > G_MAXUINT16)
    return FALSE;
  g_mutex_lock (&self->lock);
  if (rtcp)
    status = srtp_protect_rtcp_mki (self->out[RTCP], data, &bytes, self->keys.mki, self->use);
  else
    status = srtp_protect_mki (self->out[RTP], data, &bytes, self->keys.mki, self->use);
  if (status == srtp_err_status_ok && !rtcp)
    note_sent_locked (self, GST_READ_UINT32_BE (data + 8), GST_READ_UINT16_BE (data + 2));
  else if (status == srtp_err_status_ok)
    note_own_locked (
        self, GST_READ_UINT32_BE (data + 4), read_rtcp_index (self, data, (gsize)bytes));
  g_mutex_unlock (&self->lock);
  *size = (gsize)bytes;
  return status == srtp_err_status_ok;
}

void
gst_mcc_srtp_get_indexes (GstMccSrtp *self, MccIndexApp *out)
{
  g_mutex_lock (&self->lock);
  *out = self->sent;
  g_mutex_unlock (&self->lock);
}

/* ---- packets in ---- */

/* Who makes room for one more; NULL: nobody was silent for long enough. */
static Source *
find_silent_locked (GstMccSrtp *self, guint kind, guint32 followed, MccTime now)
{
  GList *link = self->order[kind].head;
  Source *source;

  if (link && followed && ((Source *)link->data)->ssrc == followed)
    link = link->next;
  source = link ? link->data : NULL;
  return source && now >= source->last + SILENT ? source : NULL;
}

static gboolean
has_room_locked (GstMccSrtp *self, guint kind, guint32 ssrc, guint32 followed, MccTime now)
{
  return g_hash_table_size (self->sources[kind]) < STREAMS_MAX
         || g_hash_table_contains (self->sources[kind], GUINT_TO_POINTER (ssrc))
         || find_silent_locked (self, kind, followed, now);
}

/* What is behind the newest index of who was removed; 0: nobody was, or it is forgotten. */
static guint32
get_removed_locked (GstMccSrtp *self, guint32 ssrc)
{
  const Next *removed = self->removed ? &self->removed[ssrc % REMOVED_MAX] : NULL;

  return removed && removed->ssrc == ssrc ? removed->next : 0;
}

static void
remove_source_locked (GstMccSrtp *self, guint kind, Source *source)
{
  if (kind == RTCP) {
    if (!self->removed)
      self->removed = g_new0 (Next, REMOVED_MAX);
    self->removed[source->ssrc % REMOVED_MAX] = (Next){ source->ssrc, source->next };
  }
  g_queue_unlink (&self->order[kind], &source->link);
  srtp_remove_stream (self->in[kind], g_htonl (source->ssrc)); /* or it has none */
  g_hash_table_remove (self->sources[kind], GUINT_TO_POINTER (source->ssrc));
}

/* Who has been heard just now. Bounded: NULL: there are too many. */
static Source *
get_source_locked (GstMccSrtp *self, guint kind, guint32 ssrc, guint32 followed, MccTime now)
{
  Source *source = g_hash_table_lookup (self->sources[kind], GUINT_TO_POINTER (ssrc));

  if (!has_room_locked (self, kind, ssrc, followed, now))
    return NULL;
  if (source) {
    g_queue_unlink (&self->order[kind], &source->link);
  } else {
    if (g_hash_table_size (self->sources[kind]) >= STREAMS_MAX)
      remove_source_locked (self, kind, find_silent_locked (self, kind, followed, now));
    source = g_new0 (Source, 1);
    source->ssrc = ssrc;
    source->link.data = source;
    if (kind == RTCP)
      source->next = source->floor = get_removed_locked (self, ssrc);
    g_hash_table_insert (self->sources[kind], GUINT_TO_POINTER (ssrc), source);
  }
  source->last = now;
  g_queue_push_tail_link (&self->order[kind], &source->link);
  return source;
}

void
gst_mcc_srtp_set_indexes (GstMccSrtp *self, const MccIndexApp *app, guint32 followed, MccTime now)
{
  g_mutex_lock (&self->lock);
  for (guint i = 0; i < app->count; i++) {
    Source *source = get_source_locked (self, RTP, app->entry[i].ssrc, followed, now);

    /* lower ones, too: whoever has the key may have said a false one before */
    if (source) {
      source->announced = app->entry[i].index;
      source->has_announced = TRUE;
    }
  }
  g_mutex_unlock (&self->lock);
}

/* TRUE: by what was announced the packet is in another round of numbers than libsrtp takes it for:
 * now it knows. */
static gboolean
tell_roc_locked (GstMccSrtp *self, Source *source, guint32 ssrc, guint16 seq)
{
  guint32 roc = mcc_index_roc (source->announced, seq), known;
  srtp_policy_t policy;

  if (srtp_get_stream_roc (self->in[RTP], ssrc, &known) != srtp_err_status_ok) {
    make_policy (self, ssrc_specific, ssrc, &policy);
    if (srtp_add_stream (self->in[RTP], &policy) != srtp_err_status_ok)
      return FALSE;
    source->own = TRUE;
    known = 0;
  }
  /* back is never right: it would let old packets in again */
  return (roc > known || !source->heard)
         && srtp_set_stream_roc (self->in[RTP], ssrc, roc) == srtp_err_status_ok;
}

static srtp_err_status_t
unprotect_rtp_locked (GstMccSrtp *self, guint8 *data, int *size)
{
  guint32 ssrc = GST_READ_UINT32_BE (data + 8), known;
  guint16 seq = GST_READ_UINT16_BE (data + 2);
  Source *source = g_hash_table_lookup (self->sources[RTP], GUINT_TO_POINTER (ssrc));
  srtp_err_status_t status;
  int bytes = *size;

  /* Before the first packet what was announced alone counts, each time: libsrtp's own guess, round
   * 0, would let an old recording in. */
  if (source && source->has_announced
      && (!source->heard
          || srtp_get_stream_roc (self->in[RTP], ssrc, &known) != srtp_err_status_ok))
    tell_roc_locked (self, source, ssrc, seq);
  status = srtp_unprotect_mki (self->in[RTP], data, size, self->keys.mki);
  if (status != srtp_err_status_ok && source && source->has_announced && source->heard
      && tell_roc_locked (self, source, ssrc, seq)) {
    *size = bytes;
    if (srtp_unprotect_mki (self->in[RTP], data, size, self->keys.mki) == srtp_err_status_ok)
      return srtp_err_status_ok;
    srtp_set_stream_roc (self->in[RTP], ssrc, 0); /* forged: what was told counts no more */
  }
  return status;
}

/* The number of the key that a packet which turned out to be authentic bears: ours, too, from now
 * on. Not back: packets under the old key come late. */
static void
follow_key_locked (GstMccSrtp *self, guint32 mki)
{
  for (guint i = self->use + 1; i < self->keys.n; i++)
    if (self->keys.id[i] == mki)
      self->use = i;
}

/* The MKI is in front of the tag (RFC 3711 3.1). */
static guint32
read_mki (const GstMccSrtp *self, const guint8 *data, gsize size)
{
  gsize tag = self->auth == GST_MCC_SRTP_HMAC_SHA1_32 ? TAG_32_BYTES : TAG_80_BYTES;
  guint32 mki = 0; /* anywhere: payloads have any length */

  if (size >= tag + MKI_BYTES)
    memcpy (&mki, data + size - tag - MKI_BYTES, sizeof mki);
  return GUINT32_FROM_BE (mki);
}

static srtp_err_status_t
unprotect_rtcp_locked (GstMccSrtp *self, guint8 *data, int *size, guint32 ssrc, guint32 index)
{
  const Source *source = g_hash_table_lookup (self->sources[RTCP], GUINT_TO_POINTER (ssrc));

  /* libsrtp has forgotten who was removed, and takes its first packet for no replay */
  if (index < (source ? source->floor : get_removed_locked (self, ssrc)))
    return srtp_err_status_replay_old;
  return srtp_unprotect_rtcp_mki (self->in[RTCP], data, size, self->keys.mki);
}

MccDrop
gst_mcc_srtp_unprotect (
    GstMccSrtp *self, gboolean rtcp, guint8 *data, gsize *size, guint32 followed, MccTime now)
{
  guint kind = rtcp ? RTCP : RTP;
  guint32 mki = 0, index = 0, ssrc;
  srtp_err_status_t status;
  int bytes = (int)*size;
  gboolean own = FALSE;

  if (*size < (rtcp ? RTCP_HEADER_BYTES : RTP_HEADER_BYTES) || *size > G_MAXUINT16)
    return MCC_DROP_UNAUTHENTIC;
  ssrc = GST_READ_UINT32_BE (data + (rtcp ? 4 : 8));
  g_mutex_lock (&self->lock);
  if (rtcp)
    index = read_rtcp_index (self, data, *size);
  else if (self->keys.mki && !self->sender)
    mki = read_mki (self, data, *size);
  if (!has_room_locked (self, kind, ssrc, followed, now))
    status = srtp_err_status_no_ctx;
  else if (rtcp)
    status = unprotect_rtcp_locked (self, data, &bytes, ssrc, index);
  else
    status = unprotect_rtp_locked (self, data, &bytes);
  if (status == srtp_err_status_ok) {
    /* only now: who has no key drives nobody out */
    Source *source = get_source_locked (self, kind, ssrc, followed, now);

    if (rtcp)
      source->next = MAX (source->next, index + 1);
    else
      source->heard = TRUE;
    if (mki)
      follow_key_locked (self, mki);
    own = rtcp && is_own_locked (self, ssrc, index);
  }
  g_mutex_unlock (&self->lock);
  *size = (gsize)MAX (bytes, 0);
  switch (status) {
    case srtp_err_status_ok:
      return own ? MCC_DROP_OWN : MCC_DROP_NONE;
    case srtp_err_status_replay_fail:
    case srtp_err_status_replay_old:
      return MCC_DROP_REPLAYED;
    default:
      return MCC_DROP_UNAUTHENTIC;
  }
}
