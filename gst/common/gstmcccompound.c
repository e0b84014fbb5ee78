/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstmcccompound.h"

#include <gst/rtp/gstrtcpbuffer.h>

#define MAX_DROPOUT 3000     /* RFC 3550 A.1 */
#define LOST_MAX 0x7fffff    /* cumulative loss is a signed 24-bit number */
#define BYE_RESERVE_BYTES 16 /* kept free for PLI or BYE behind the APP packets */

void
gst_mcc_reception_reset (GstMccReception *self, guint32 ssrc)
{
  guint clock_rate = self->clock_rate;

  memset (self, 0, sizeof *self);
  self->ssrc = ssrc;
  self->clock_rate = clock_rate;
}

static void
update_jitter (GstMccReception *self, guint32 rtp_time, MccTime now)
{
  guint32 arrival;
  gint32 transit, d;

  if (self->clock_rate == 0)
    return;
  arrival = (guint32)gst_util_uint64_scale (now, self->clock_rate, GST_SECOND);
  transit = (gint32)(arrival - rtp_time);
  d = (gint32)((guint32)transit - (guint32)self->transit);
  if (self->has_transit)
    self->jitter += (ABS ((gdouble)d) - self->jitter) / 16.0;
  self->transit = transit;
  self->has_transit = TRUE;
}

void
gst_mcc_reception_handle_rtp (GstMccReception *self, guint16 seq, guint32 rtp_time, MccTime now)
{
  guint64 before = self->seq.highest, extended;
  gboolean started = self->seq.started;

  extended = mcc_seq_extend16 (&self->seq, seq);
  if (!started || extended > before + MAX_DROPOUT) {
    /* the first packet, or a sender that restarted with the same SSRC */
    self->first = extended;
    self->received = self->received_prior = self->expected_prior = 0;
  }
  self->received++;
  update_jitter (self, rtp_time, now);
}

void
gst_mcc_reception_handle_sr (GstMccReception *self, guint64 ntp, MccTime now)
{
  self->lsr = (guint32)(ntp >> 16);
  self->sr_time = now;
}

static void
add_block (GstRTCPPacket *packet, GstMccReception *self, MccTime now)
{
  guint64 expected = self->seq.highest - self->first + 1;
  gint64 lost = (gint64)expected - (gint64)self->received;
  gint64 interval = (gint64)(expected - self->expected_prior);
  gint64 missed = interval - (gint64)(self->received - self->received_prior);
  guint8 fraction = interval > 0 && missed > 0 ? (guint8)MIN (255, missed * 256 / interval) : 0;
  /* 1/65536 s; a receiver that has heard no SR for 18 h says "none" */
  guint64 dlsr = self->lsr ? gst_util_uint64_scale (now - self->sr_time, 65536, GST_SECOND) : 0;

  self->expected_prior = expected;
  self->received_prior = self->received;
  gst_rtcp_packet_add_rb (packet, self->ssrc, fraction, (gint32)CLAMP (lost, -LOST_MAX, LOST_MAX),
      mcc_seq_highest32 (&self->seq), (guint32)MIN (self->jitter, (gdouble)G_MAXUINT32),
      dlsr <= G_MAXUINT32 ? self->lsr : 0, dlsr <= G_MAXUINT32 ? (guint32)dlsr : 0);
}

static void
add_report (GstRTCPBuffer *rtcp, const GstMccCompound *self, MccTime now)
{
  GstRTCPPacket packet;

  if (self->sender) {
    gst_rtcp_buffer_add_packet (rtcp, GST_RTCP_TYPE_SR, &packet);
    gst_rtcp_packet_sr_set_sender_info (&packet, self->ssrc, self->sender->ntp,
        self->sender->rtp_time, self->sender->packets, self->sender->octets);
  } else {
    gst_rtcp_buffer_add_packet (rtcp, GST_RTCP_TYPE_RR, &packet);
    gst_rtcp_packet_rr_set_ssrc (&packet, self->ssrc);
  }
  if (self->reception && self->reception->seq.started)
    add_block (&packet, self->reception, now);
  gst_rtcp_buffer_add_packet (rtcp, GST_RTCP_TYPE_SDES, &packet);
  gst_rtcp_packet_sdes_add_item (&packet, self->ssrc);
  gst_rtcp_packet_sdes_add_entry (&packet, GST_RTCP_SDES_CNAME,
      (guint8)MIN (strlen (self->cname), 255), (const guint8 *)self->cname);
}

/* What goes out under @ssrc announces it: ours may have changed since the announcement was made.
 * Returns bytes, 0: cannot be encoded. */
static gsize
encode_app (const GstMccApps *apps, guint i, guint32 ssrc, guint8 *bytes, gsize max)
{
  if (apps->elm) {
    MccElmApp app = apps->elm[i];

    if (app.subtype == MCC_APP_SESSION)
      app.asmp.session.media_ssrc = ssrc;
    return mcc_elm_app_encode (&app, bytes, max);
  } else if (apps->assp) {
    MccAsspApp app = apps->assp[i];

    if (app.subtype == MCC_APP_SESSION)
      app.asmp.session.media_ssrc = ssrc;
    return mcc_assp_app_encode (&app, bytes, max);
  } else {
    MccApp app = apps->asmp[i];

    if (app.subtype == MCC_APP_SESSION)
      app.session.media_ssrc = ssrc;
    return mcc_app_encode (&app, bytes, max);
  }
}

/* An APP packet of @size bytes, as it is but for its SSRC. */
static gboolean
add_bytes (GstRTCPBuffer *rtcp, guint32 ssrc, guint subtype, const guint8 *bytes, gsize size)
{
  GstRTCPPacket packet;

  if (size == 0 || !gst_rtcp_buffer_add_packet (rtcp, GST_RTCP_TYPE_APP, &packet))
    return FALSE;
  if (!gst_rtcp_packet_app_set_data_length (
          &packet, (guint16)((size - MCC_APP_HEADER_BYTES) / 4))) {
    gst_rtcp_packet_remove (&packet);
    return FALSE;
  }
  gst_rtcp_packet_app_set_subtype (&packet, (guint8)subtype);
  gst_rtcp_packet_app_set_ssrc (&packet, ssrc);
  gst_rtcp_packet_app_set_name (&packet, (const gchar *)bytes + 8);
  memcpy (gst_rtcp_packet_app_get_data (&packet), bytes + MCC_APP_HEADER_BYTES,
      size - MCC_APP_HEADER_BYTES);
  return TRUE;
}

static void
add_indexes (GstRTCPBuffer *rtcp, const GstMccCompound *self)
{
  guint8 bytes[MCC_INDEX_BYTES (MCC_INDEX_MAX)];
  gsize size = MCC_INDEX_BYTES (self->indexes->count);

  if (rtcp->map.size + size + BYE_RESERVE_BYTES > rtcp->map.maxsize)
    return;
  size = mcc_index_app_encode (self->indexes, bytes, sizeof bytes);
  *self->said = add_bytes (rtcp, self->ssrc, self->indexes->count, bytes, size);
}

/* What the first one's stream carries of another one (ASSP) keeps that one's. */
static guint32
app_ssrc (const GstMccApps *apps, guint i, guint32 ssrc)
{
  gboolean carried = apps->assp && apps->assp[i].stream != apps->assp[0].stream;

  return carried ? apps->assp[i].ssrc : ssrc;
}

/* FALSE: it does not fit behind what is there. */
static gboolean
add_app (GstRTCPBuffer *rtcp, guint32 ssrc, const GstMccApps *apps, guint i)
{
  guint8 bytes[GST_MCC_COMPOUND_BYTES];
  gsize size = apps->elm    ? mcc_elm_app_size (&apps->elm[i])
               : apps->assp ? mcc_assp_app_size (&apps->assp[i])
                            : mcc_app_size (&apps->asmp[i]);
  guint subtype = apps->elm    ? apps->elm[i].subtype
                  : apps->assp ? apps->assp[i].subtype
                               : apps->asmp[i].subtype;

  if (size < MCC_APP_HEADER_BYTES || rtcp->map.size + size + BYE_RESERVE_BYTES > rtcp->map.maxsize)
    return FALSE;
  ssrc = app_ssrc (apps, i, ssrc);
  size = encode_app (apps, i, ssrc, bytes, sizeof bytes);
  return add_bytes (rtcp, ssrc, subtype, bytes, size);
}

GstBuffer *
gst_mcc_compound_build_from (
    const GstMccCompound *self, const GstMccApps *apps, guint first, MccTime now, guint *used)
{
  GstBuffer *buffer = gst_rtcp_buffer_new (GST_MCC_COMPOUND_BYTES);
  GstRTCPBuffer rtcp = GST_RTCP_BUFFER_INIT;
  GstRTCPPacket packet;
  guint n = first, added = 0;

  gst_rtcp_buffer_map (buffer, GST_MAP_READWRITE, &rtcp);
  add_report (&rtcp, self, now);
  while (n < apps->n) {
    if (add_app (&rtcp, self->ssrc, apps, n))
      added++;
    else if (added > 0)
      break; /* the next compound takes it */
    n++;
  }
  if (self->indexes && self->indexes->count > 0)
    add_indexes (&rtcp, self);
  if (self->pli_ssrc && gst_rtcp_buffer_add_packet (&rtcp, GST_RTCP_TYPE_PSFB, &packet)) {
    gst_rtcp_packet_fb_set_type (&packet, GST_RTCP_PSFB_TYPE_PLI);
    gst_rtcp_packet_fb_set_sender_ssrc (&packet, self->ssrc);
    gst_rtcp_packet_fb_set_media_ssrc (&packet, self->pli_ssrc);
  }
  if (self->bye && n == apps->n && gst_rtcp_buffer_add_packet (&rtcp, GST_RTCP_TYPE_BYE, &packet))
    gst_rtcp_packet_bye_add_ssrc (&packet, self->ssrc);
  gst_rtcp_buffer_unmap (&rtcp);
  if (used)
    *used = n - first;
  return buffer;
}

GstBuffer *
gst_mcc_compound_build (
    const GstMccCompound *self, const MccApp *apps, guint n_apps, MccTime now, guint *used)
{
  return gst_mcc_compound_build_from (
      self, &(GstMccApps){ .n = n_apps, .asmp = apps }, 0, now, used);
}
