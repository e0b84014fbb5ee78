/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstmccreceiverprivate.h"

#define SILENCE (5 * MCC_SECOND) /* without a sender: say so */

/* ---- what is told; with the lock but for tell ---- */

void
gst_mcc_receiver_begin_silence_locked (GstMccReceiver *self, MccTime now)
{
  self->silent_since = self->unread_since = now;
  self->lost = FALSE;
  self->unauthentic = 0;
  mcc_rejoin_init (&self->rejoin, now);
}

/* One that has said BYE has ended; else it may be we who hear nothing. */
void
gst_mcc_receiver_note_lost_locked (GstMccReceiver *self)
{
  if (self->bye || self->ceased)
    return;
  self->lost = TRUE;
  self->unauthentic = self->dropped[MCC_DROP_UNAUTHENTIC];
  self->silent_since = gst_mcc_pump_now (self->pump);
}

void
gst_mcc_receiver_note_rtp_locked (GstMccReceiver *self, gboolean ours, MccTime now)
{
  mcc_rejoin_handle_heard (&self->rejoin, now); /* whoever's: the membership works */
  if (ours)
    self->silent_since = MCC_TIME_NONE;
}

void
gst_mcc_receiver_note_rtcp_locked (GstMccReceiver *self, MccTime now)
{
  mcc_rejoin_handle_heard (&self->rejoin, now);
  if (self->lost && self->silent_since != MCC_TIME_NONE) /* its media pause */
    self->silent_since = now;
}

/* Once, when what is heard is not RTCP for as long: a sender that encrypts, and we do not. Its RTP
 * looks like any other. */
static gboolean
is_unread (GstMccReceiver *self, MccTime now, MccTime *next)
{
  if (self->unread_since == MCC_TIME_NONE || self->silent_since != MCC_TIME_NONE)
    return FALSE;
  if (now >= self->unread_since + SILENCE) {
    self->unread_since = MCC_TIME_NONE;
    return self->dropped[MCC_DROP_MALFORMED] > 0;
  }
  *next = mcc_time_min (*next, self->unread_since + SILENCE);
  return FALSE;
}

/* Once, when no sender was heard for SILENCE. */
static gboolean
is_silent (GstMccReceiver *self, MccTime now, MccTime *next)
{
  if (self->silent_since == MCC_TIME_NONE)
    return FALSE;
  if (now >= self->silent_since + SILENCE) {
    self->silent_since = MCC_TIME_NONE;
    return TRUE;
  }
  *next = mcc_time_min (*next, self->silent_since + SILENCE);
  return FALSE;
}

GstMccReceiverSilence
gst_mcc_receiver_check_silence_locked (GstMccReceiver *self, MccTime now, MccTime *next)
{
  gboolean silent = is_silent (self, now, next), unread = is_unread (self, now, next);

  if (silent && self->dropped[MCC_DROP_UNAUTHENTIC] > self->unauthentic)
    return GST_MCC_RECEIVER_SILENCE_KEY;
  if (silent)
    return self->lost ? GST_MCC_RECEIVER_SILENCE_LOST : GST_MCC_RECEIVER_SILENCE_NOBODY;
  return unread ? GST_MCC_RECEIVER_SILENCE_UNREAD : GST_MCC_RECEIVER_SILENCE_NONE;
}

void
gst_mcc_receiver_tell_silence (GstMccReceiver *self, GstMccReceiverSilence silence)
{
  GstMccSessionSettings settings;

  if (silence == GST_MCC_RECEIVER_SILENCE_NONE)
    return;
  gst_mcc_properties_get_opened (&self->properties, &settings);
  switch (silence) {
    case GST_MCC_RECEIVER_SILENCE_KEY:
      GST_ELEMENT_WARNING (self, STREAM, DECRYPT,
          ("What comes on %s port %u is not from who has our key: the sender has another one, "
           "another "
           "srtp-cipher or srtp-auth, or sends plain RTP; compare them.",
              settings.address, settings.port),
          (NULL));
      break;
    case GST_MCC_RECEIVER_SILENCE_UNREAD:
      GST_ELEMENT_WARNING (self, STREAM, DECRYPT,
          ("A sender is heard, but its RTCP cannot be read. If it encrypts, name a file with its "
           "key by "
           "srtp-key-file."),
          (NULL));
      break;
    case GST_MCC_RECEIVER_SILENCE_LOST:
      GST_ELEMENT_WARNING (self, RESOURCE, READ,
          ("The sender is not heard any more on %s port %u; still waiting, and joining its group "
           "again and again. Has it ended without a word, is an interface or a route gone, or does "
           "a switch forget its members (no IGMP querier)?",
              settings.address, settings.port),
          (NULL));
      break;
    default:
      GST_ELEMENT_WARNING (self, RESOURCE, READ,
          ("No sender heard on %s port %u for 5 s; still waiting. Is one running, on this "
           "interface "
           "(multicast-iface), with a TTL that reaches here, and does the firewall let UDP in?",
              settings.address, settings.port),
          (NULL));
      break;
  }
  gst_mcc_properties_settings_clear (&settings);
}

/* ---- memberships ---- */

void
gst_mcc_receiver_rejoin_locked (GstMccReceiver *self)
{
  gboolean good;

  if (!self->core || !mcc_rejoin_handle_timeout (&self->rejoin, gst_mcc_pump_now (self->pump)))
    return;
  g_mutex_unlock (&self->lock);
  good = gst_mcc_session_rejoin (self->session);
  g_mutex_lock (&self->lock);
  if (!good)
    mcc_rejoin_handle_failed (&self->rejoin, gst_mcc_pump_now (self->pump));
}

MccTime
gst_mcc_receiver_next_rejoin (GstMccReceiver *self)
{
  MccTime next;

  g_mutex_lock (&self->lock);
  next = self->core ? mcc_rejoin_next_timeout (&self->rejoin) : MCC_TIME_NONE;
  g_mutex_unlock (&self->lock);
  return next;
}
