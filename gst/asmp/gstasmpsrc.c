/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * SECTION:element-asmpsrc: see docs/asmpsrc.md.
 */
#include "gstasmpsrc.h"

#include "gstmccuri.h"

#define SCHEME "asmp"

struct _GstAsmpSrc {
  GstMccReceiver parent;
};

G_DEFINE_FINAL_TYPE_WITH_CODE (GstAsmpSrc, gst_asmp_src, GST_TYPE_MCC_RECEIVER,
    gst_mcc_uri_implement (g_define_type_id, GST_URI_SRC, SCHEME))
GST_ELEMENT_REGISTER_DEFINE (asmpsrc, "asmpsrc", GST_RANK_PRIMARY, GST_TYPE_ASMP_SRC)

/* ---- the machine ---- */

static gpointer
machine_create (GstMccReceiver *owner, const MccAsmpReceiverConfig *config, MccTime now)
{
  return mcc_asmp_receiver_new (config, now);
}

static void
machine_destroy (gpointer core)
{
  mcc_asmp_receiver_free (core);
}

static MccDrop
machine_handle_rtp (
    gpointer core, guint stream, const MccRtpPacket *packet, const MccAddress *from, MccTime now)
{
  return mcc_asmp_receiver_handle_rtp (core, packet, from, now);
}

static void
machine_handle_bye (gpointer core, guint32 ssrc, MccTime now)
{
  mcc_asmp_receiver_handle_bye (core, ssrc, now);
}

static void
machine_handle_host_dropped (gpointer core, guint64 packets, MccTime now)
{
  mcc_asmp_receiver_handle_host_dropped (core, packets, now);
}

static void
machine_set_ssrc (gpointer core, guint32 ssrc)
{
  mcc_asmp_receiver_set_ssrc (core, ssrc);
}

static void
machine_handle_timeout (gpointer core, MccTime now)
{
  mcc_asmp_receiver_handle_timeout (core, now);
}

static MccTime
machine_next_timeout (gpointer core)
{
  return mcc_asmp_receiver_next_timeout (core);
}

static bool
machine_poll (gpointer core, MccAsspReceiverAction *out)
{
  out->type = MCC_ASSP_RECEIVER_ASMP;
  out->stream = 0;
  return mcc_asmp_receiver_poll (core, &out->asmp);
}

static bool
machine_poll_trace (gpointer core, MccTraceEvent *out)
{
  return mcc_asmp_receiver_poll_trace (core, out);
}

static void
machine_get_stats (gpointer core, MccTime now, MccAsmpReceiverStats *out)
{
  mcc_asmp_receiver_get_stats (core, now, out);
}

static void
machine_leave (gpointer core, guint *stream, MccAppReport *out, MccTime now)
{
  *stream = 0;
  mcc_asmp_receiver_leave (core, out, now);
}

static const GstMccMachine machine = {
  .create = machine_create,
  .destroy = machine_destroy,
  .handle_rtp = machine_handle_rtp,
  .handle_bye = machine_handle_bye,
  .handle_host_dropped = machine_handle_host_dropped,
  .set_ssrc = machine_set_ssrc,
  .handle_timeout = machine_handle_timeout,
  .next_timeout = machine_next_timeout,
  .poll = machine_poll,
  .poll_trace = machine_poll_trace,
  .get_stats = machine_get_stats,
  .leave = machine_leave,
};

/* ---- what the machine wants ---- */

static void
send_report (GstMccReceiver *self, guint stream, const MccAppReport *report, gboolean bye)
{
  MccApp app = { .ssrc = gst_mcc_session_get_ssrc (self->session, 0), .subtype = MCC_APP_REPORT };

  app.report = *report;
  gst_mcc_session_send (self->session, 0, &app, 1, bye);
}

static void
apply_caps (GstMccReceiver *self, guint stream, const MccAppSession *session)
{
  GstCaps *caps = gst_mcc_receiver_make_caps (self, session);

  if (!caps)
    return;
  gst_mcc_session_set_caps (self->session, caps);
  gst_caps_unref (caps);
}

static void
new_source (GstMccReceiver *self, guint stream, guint32 ssrc)
{
  MccAppSession session;
  gboolean known;

  gst_mcc_session_reset_source (self->session, ssrc);
  g_mutex_lock (&self->lock);
  known = self->has_announced[0] && self->announced[0].media_ssrc == ssrc;
  session = self->announced[0];
  self->extra.joins++;
  g_mutex_unlock (&self->lock);
  gst_mcc_receiver_follow_key_unit (self);
  apply_caps (self, 0, known ? &session : NULL);
}

static void
handle_app (gpointer owner, const MccApp *app, const MccAddress *from)
{
  GstMccReceiver *self = owner;
  GstMccReceiverTodo todo = GST_MCC_RECEIVER_NOTHING;

  g_mutex_lock (&self->lock);
  if (self->core) {
    MccTime now = gst_mcc_pump_now (self->pump);
    MccDrop verdict = mcc_asmp_receiver_handle_app (self->core, app, now);

    if (verdict == MCC_DROP_NONE && app->subtype == MCC_APP_SESSION) {
      self->announcer = *from;
      gst_mcc_receiver_note_rtcp_locked (self, now);
    }
    gst_mcc_receiver_drain_locked (self, &todo);
  }
  g_mutex_unlock (&self->lock);
  gst_mcc_receiver_act (self, &todo);
}

static const GstMccSessionHandler session_handler = { .app = handle_app };

/* ---- class ---- */

static void
gst_asmp_src_class_init (GstAsmpSrcClass *klass)
{
  GstMccReceiverClass *receiver = GST_MCC_RECEIVER_CLASS (klass);

  receiver->scheme = SCHEME;
  receiver->element_name = "asmpsrc";
  receiver->machine = &machine;
  receiver->handler = &session_handler;
  receiver->send_report = send_report;
  receiver->new_source = new_source;
  receiver->apply_caps = apply_caps;
  gst_mcc_receiver_class_install (receiver);
  gst_element_class_set_static_metadata (GST_ELEMENT_CLASS (klass),
      "Adaptive multicast receiver (ASMP)", "Source/Network/RTP",
      "Receives an adaptive RTP stream from a multicast group and reports to its sender the rate "
      "that the path can take",
      "adaptivemulticast");
}

static void
gst_asmp_src_init (GstAsmpSrc *self)
{
  gst_mcc_receiver_setup (GST_MCC_RECEIVER (self));
}
