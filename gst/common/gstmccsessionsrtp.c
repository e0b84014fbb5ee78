/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gstmccsessionprivate.h"

#define GST_CAT_DEFAULT gst_mcc_session_debug

/* Of files; more is no key. */
#define FILE_MAX 65536
/* Between two SSRCs for one stream: what is queued under the old one has left by then. */
#define SSRC_INTERVAL MCC_SECOND

static void
wipe (gchar *text)
{
  volatile gchar *at = text; /* a memset that is not optimised away */

  while (at && *at)
    *at++ = 0;
  g_free (text);
}

/* FILE_MAX + 1 bytes at most to @text. What is wrong, or NULL. A stranger's URI may name any path:
 * a device could be read without end, and a pipe's writer waited for. */
static const gchar *
read_file (const gchar *name, gchar *text, gsize *size)
{
  gint fd = open (name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  const gchar *wrong = NULL;
  struct stat status;
  gssize got;

  if (fd < 0 || fstat (fd, &status) != 0)
    wrong = g_strerror (errno);
  else if (!S_ISREG (status.st_mode))
    wrong = "it is no regular file";
  *size = 0;
  while (!wrong && *size <= FILE_MAX && (got = read (fd, text + *size, FILE_MAX + 1 - *size)) != 0)
    if (got > 0)
      *size += (gsize)got;
    else if (errno != EINTR)
      wrong = g_strerror (errno);
  if (fd >= 0)
    close (fd);
  return wrong;
}

/* *out NULL: there are none. It is the caller's to wipe. */
static gboolean
read_keys (const GstMccSessionSettings *settings, gchar **out, GError **error)
{
  const gchar *wrong;
  gchar *name;
  gsize size;

  *out = NULL;
  if (settings->srtp_key) {
    *out = g_strdup (settings->srtp_key);
    return TRUE;
  }
  if (!settings->srtp_key_file)
    return TRUE;
  *out = g_malloc0 (FILE_MAX + 2);
  wrong = read_file (settings->srtp_key_file, *out, &size);
  if (!wrong && size <= FILE_MAX && strlen (*out) == size)
    return TRUE;
  name = g_filename_display_name (settings->srtp_key_file);
  if (wrong)
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_OPEN_READ,
        "srtp-key-file: %s: %s; name a file that holds the group's keys", name, wrong);
  else
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
        "srtp-key-file: %s is no file of keys: one a line, [MKI] BASE64", name);
  g_free (name);
  wipe (g_steal_pointer (out));
  return FALSE;
}

gboolean
gst_mcc_session_open_srtp (
    GstMccSession *self, const GstMccSessionSettings *settings, GError **error)
{
  gchar *keys;

  if (!read_keys (settings, &keys, error))
    return FALSE;
  if (!keys)
    return TRUE;
  self->srtp
      = gst_mcc_srtp_new (self->sender, keys, settings->srtp_cipher, settings->srtp_auth, error);
  wipe (keys);
  return self->srtp != NULL;
}

void
gst_mcc_session_close_srtp (GstMccSession *self)
{
  GstMccSrtp *srtp;

  g_mutex_lock (&self->lock);
  srtp = g_steal_pointer (&self->srtp);
  g_mutex_unlock (&self->lock);
  gst_mcc_srtp_free (srtp);
}

gboolean
gst_mcc_session_set_keys (
    GstMccSession *self, const GstMccSessionSettings *settings, GError **error)
{
  gboolean good;
  gchar *keys;

  if (!read_keys (settings, &keys, error))
    return FALSE;
  g_mutex_lock (&self->lock);
  good = self->srtp && keys && gst_mcc_srtp_set_keys (self->srtp, keys, error);
  if (!self->srtp != !keys && self->n_streams > 0)
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
        "srtp-key: encryption begins and ends in NULL; start anew");
  else if (!self->srtp)
    good = TRUE; /* plain it was, plain it is; or not open */
  g_mutex_unlock (&self->lock);
  wipe (keys);
  return good;
}

/* ---- RTP on its way out ---- */

/* Payloaders take rtpsession's. */
static void
renew_ssrc (GstMccStream *stream)
{
  if (stream->rtp_session)
    g_object_set (stream->rtp_session, "internal-ssrc", g_random_int (), NULL);
}

/* A packet of @ssrc cannot be encrypted: another SSRC is asked for. That is no help, and said, if
 * packets come under the old one for long, or those under the new one fail as well. */
static void
handle_refused (GstMccStream *stream, guint32 ssrc)
{
  GstMccSession *self = stream->session;
  gboolean numbers_on = self->handler.elm_app != NULL, waits, helpless, first;
  MccTime now = gst_mcc_session_clock ();

  g_mutex_lock (&self->lock);
  waits = now - stream->ssrc_asked_at < SSRC_INTERVAL;
  helpless = numbers_on || (stream->refused ? ssrc != stream->refused || !waits : waits);
  stream->refused = ssrc;
  if (!waits)
    stream->ssrc_asked_at = now;
  first = helpless && !self->told_unprotected;
  self->told_unprotected |= helpless;
  g_mutex_unlock (&self->lock);
  GST_LOG_OBJECT (self->bin, "a packet of %08x cannot be encrypted; it is dropped", ssrc);
  if (!waits && !numbers_on)
    renew_ssrc (stream);
  if (first)
    GST_ELEMENT_WARNING (self->bin, RESOURCE, WRITE,
        ("Packets cannot be encrypted and are dropped: their SSRC and sequence numbers were used "
         "before under this key. Leave the ssrc of payloaders unset."),
        (NULL));
}

/* An encrypted copy; NULL: it cannot leave. */
static GstBuffer *
protect (GstMccStream *stream, GstBuffer *in)
{
  GstMccSession *self = stream->session;
  gsize size = gst_buffer_get_size (in);
  GstBuffer *out = gst_buffer_new_allocate (NULL, size + GST_MCC_SRTP_ROOM, NULL);
  gboolean good = FALSE;
  guint32 ssrc = 0;
  GstMapInfo map;

  if (gst_buffer_map (out, &map, GST_MAP_WRITE)) {
    gst_buffer_extract (in, 0, map.data, size);
    ssrc = size >= 12 ? GST_READ_UINT32_BE (map.data + 8) : 0;
    good = gst_mcc_srtp_protect (self->srtp, FALSE, map.data, &size);
    gst_buffer_unmap (out, &map);
  }
  if (!good) {
    handle_refused (stream, ssrc);
    gst_buffer_unref (out);
    return NULL;
  }
  g_mutex_lock (&self->lock);
  stream->refused = 0;
  g_mutex_unlock (&self->lock);
  gst_buffer_set_size (out, (gssize)size);
  gst_buffer_copy_into (out, in, GST_BUFFER_COPY_FLAGS | GST_BUFFER_COPY_TIMESTAMPS, 0, -1);
  return out;
}

static GstPadProbeReturn
on_plain_rtp (GstPad *pad, GstPadProbeInfo *info, gpointer user)
{
  GstMccStream *stream = user;
  gpointer out;

  if (GST_PAD_PROBE_INFO_TYPE (info) & GST_PAD_PROBE_TYPE_BUFFER_LIST) {
    GstBufferList *in = GST_PAD_PROBE_INFO_BUFFER_LIST (info), *list;
    guint n = gst_buffer_list_length (in);

    list = gst_buffer_list_new_sized (n);
    for (guint i = 0; i < n; i++) {
      GstBuffer *buffer = protect (stream, gst_buffer_list_get (in, i));

      if (buffer)
        gst_buffer_list_add (list, buffer);
    }
    out = list;
  } else {
    out = protect (stream, GST_PAD_PROBE_INFO_BUFFER (info));
  }
  if (!out)
    return GST_PAD_PROBE_DROP;
  gst_mini_object_unref (GST_PAD_PROBE_INFO_DATA (info));
  GST_PAD_PROBE_INFO_DATA (info) = out;
  return GST_PAD_PROBE_OK;
}

void
gst_mcc_session_protect_rtp (GstMccStream *stream, GstPad *pad)
{
  if (stream->session->srtp)
    gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_BUFFER_LIST,
        on_plain_rtp, stream, NULL);
}

void
gst_mcc_session_renew_ssrcs (GstMccSession *self)
{
  for (guint i = 0; !self->handler.elm_app && i < self->n_streams; i++) {
    GstMccStream *stream = &self->stream[i];

    if (stream->packets == 0)
      continue;
    renew_ssrc (stream);
    g_mutex_lock (&self->lock);
    stream->media_ssrc = 0; /* of the run before */
    g_mutex_unlock (&self->lock);
    gst_mcc_session_refresh_ssrc (stream);
  }
}

/* ---- packets in ---- */

static guint32
get_followed (GstMccSession *self)
{
  guint32 ssrc;

  g_mutex_lock (&self->lock);
  ssrc = self->source_ssrc;
  g_mutex_unlock (&self->lock);
  return ssrc;
}

gboolean
gst_mcc_session_unprotect (
    GstMccSession *self, gboolean rtcp, guint8 *data, gsize *size, const MccAddress *from)
{
  MccDrop drop;

  if (!self->srtp)
    return TRUE;
  drop = gst_mcc_srtp_unprotect (
      self->srtp, rtcp, data, size, get_followed (self), gst_mcc_session_clock ());
  /* Looped back it comes from us; who else sends it makes a collision of it. */
  if (drop == MCC_DROP_OWN && from->port != self->sockets.rtcp_port)
    drop = MCC_DROP_REPLAYED;
  if (drop != MCC_DROP_NONE && self->handler.dropped)
    self->handler.dropped (self->owner, drop, 0);
  return drop == MCC_DROP_NONE;
}

void
gst_mcc_session_handle_indexes (GstMccSession *self, const MccIndexApp *app, const MccAddress *from)
{
  gboolean elsewhere, ours = FALSE;
  guint32 followed;

  if (self->sender)
    return;
  g_mutex_lock (&self->lock);
  followed = self->source_ssrc;
  elsewhere = followed && !self->source_gone && self->source_address.family
              && !mcc_address_same_host (&self->source_address, from);
  g_mutex_unlock (&self->lock);
  for (guint i = 0; i < app->count; i++)
    ours |= app->entry[i].ssrc == followed;
  if (!elsewhere)
    gst_mcc_srtp_set_indexes (self->srtp, app, followed, gst_mcc_session_clock ());
  else if (ours && self->handler.dropped)
    self->handler.dropped (self->owner, MCC_DROP_ADDRESS, app->ssrc);
}
