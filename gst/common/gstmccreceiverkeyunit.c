/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Key units: who wants one, and what leaves until it has come.
 */
#include "gstmccreceiverprivate.h"

void
gst_mcc_receiver_follow_key_unit (GstMccReceiver *self)
{
  g_mutex_lock (&self->lock);
  if (self->core && !self->ceased) {
    mcc_key_wait_set_recognised (&self->key_wait, self->payload != GST_MCC_PAYLOAD_OTHER);
    mcc_key_wait_follow (&self->key_wait, gst_mcc_pump_now (self->pump));
    g_atomic_int_set (&self->key_wanted, TRUE);
  }
  g_mutex_unlock (&self->lock);
  gst_mcc_pump_wake (self->pump, 0);
}

void
gst_mcc_receiver_leave_key_unit (GstMccReceiver *self)
{
  g_mutex_lock (&self->lock);
  mcc_key_wait_leave_to_others (&self->key_wait, gst_mcc_pump_now (self->pump));
  g_atomic_int_set (&self->key_wanted, FALSE);
  g_mutex_unlock (&self->lock);
}

static void
want_key_unit (GstMccReceiver *self, gboolean loss)
{
  MccTime now = gst_mcc_pump_now (self->pump);

  g_mutex_lock (&self->lock);
  if (loss && mcc_key_wait_loss_counts (&self->key_wait, now))
    self->extra.gaps++;
  /* where no key unit can be told from other packets, loss is left to the decoder */
  if (self->core && !self->ceased && (!loss || self->payload != GST_MCC_PAYLOAD_OTHER)) {
    mcc_key_wait_set_recognised (&self->key_wait, self->payload != GST_MCC_PAYLOAD_OTHER);
    mcc_key_wait_want (&self->key_wait, loss, now);
    g_atomic_int_set (&self->key_wanted, TRUE);
  }
  g_mutex_unlock (&self->lock);
  gst_mcc_pump_wake (self->pump, 0);
}

void
gst_mcc_receiver_renew_key_unit (GstMccReceiver *self)
{
  g_mutex_lock (&self->lock);
  if (self->core && g_atomic_int_get (&self->key_wanted))
    mcc_key_wait_renew (&self->key_wait, gst_mcc_pump_now (self->pump));
  g_mutex_unlock (&self->lock);
  gst_mcc_pump_wake (self->pump, 0);
}

void
gst_mcc_receiver_want_key_unit (GstMccReceiver *self)
{
  g_mutex_lock (&self->lock);
  self->extra.gaps++;
  g_mutex_unlock (&self->lock);
  want_key_unit (self, FALSE);
}

void
gst_mcc_receiver_handle_key_unit_request (gpointer owner, guint stream, guint32 ssrc)
{
  want_key_unit (owner, FALSE);
}

void
gst_mcc_receiver_handle_lost (gpointer owner, guint packets)
{
  GstMccReceiver *self = owner;

  self->missing = TRUE;
  want_key_unit (owner, TRUE);
}

/* In the place of @packet, or before it. */
static GstBuffer *
new_delimiter (GstMccPayload kind, GstBuffer *packet, gboolean before)
{
  GstBuffer *delimiter = gst_mcc_payload_new_delimiter (kind, packet);
  guint8 number[2];

  if (delimiter && before) {
    gst_buffer_extract (delimiter, 2, number, sizeof number);
    GST_WRITE_UINT16_BE (number, GST_READ_UINT16_BE (number) - 1);
    gst_buffer_fill (delimiter, 2, number, sizeof number);
  }
  return delimiter;
}

/* A depayloader drops fragments of a unit that lost some, and the marker with the last one: what it
 * has of that frame becomes a part of the next, be that a key unit. A delimiter parts them, in the
 * place of that last one, or of a lost packet when the end itself is lost. */
GstBuffer *
gst_mcc_receiver_handle_leaving (gpointer owner, GstBuffer *buffer, GstBuffer **before)
{
  GstMccReceiver *self = owner;
  gboolean after_hole = self->holed || self->missing, marker;
  /* of one RTP timestamp, as the jitterbuffer gives them */
  gboolean ends_missing = self->missing && GST_CLOCK_TIME_IS_VALID (self->left_pts)
                          && GST_BUFFER_PTS (buffer) != self->left_pts;
  GstBuffer *delimiter;
  GstMccPayload kind;
  const guint8 *payload;
  GstMapInfo map;
  gsize bytes = 0;

  self->missing = FALSE;
  self->left_pts = GST_BUFFER_PTS (buffer);
  if ((!after_hole && !g_atomic_int_get (&self->key_wanted))
      || !gst_buffer_map (buffer, &map, GST_MAP_READ))
    return buffer;
  payload = gst_mcc_rtp_find_payload (map.data, map.size, &bytes);
  g_mutex_lock (&self->lock);
  kind = self->payload;
  if (payload && gst_mcc_payload_is_key_unit (kind, payload, bytes)) {
    mcc_key_wait_got (&self->key_wait);
    g_atomic_int_set (&self->key_wanted, FALSE);
  }
  g_mutex_unlock (&self->lock);
  self->holed = after_hole && payload && gst_mcc_payload_continues (kind, payload, bytes);
  marker = map.data[1] & 0x80;
  gst_buffer_unmap (buffer, &map);
  if (ends_missing && !self->holed)
    *before = new_delimiter (kind, buffer, TRUE);
  if (!self->holed || !marker)
    return buffer;
  delimiter = new_delimiter (kind, buffer, FALSE);
  if (!delimiter)
    return buffer;
  self->holed = FALSE;
  gst_buffer_unref (buffer);
  return delimiter;
}
