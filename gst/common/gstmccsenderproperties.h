/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * gstmccsenderproperties: the properties that all senders share (docs/asmpsink.md): min-bitrate
 * max-bitrate start-bitrate target-bitrate sync encoder encoder-name encoder-control
 * configure-encoder encoder-bitrate-property encoder-bitrate-unit pacing-factor pacing-max-delay
 * no-feedback max-receivers ecn sdp-location stats.
 *
 * What is wrong in their values is said at NULL->READY.
 */
#pragma once

#include <gst/gst.h>

#include "gstmccencoder.h"
#include "gstmccproperties.h"
#include "mccasmpsender.h"

G_BEGIN_DECLS

/* An element's own ids start behind. */
enum {
  GST_MCC_SENDER_PROPERTY_MIN_BITRATE = GST_MCC_PROPERTY_LAST + 1,
  GST_MCC_SENDER_PROPERTY_MAX_BITRATE,
  GST_MCC_SENDER_PROPERTY_START_BITRATE,
  GST_MCC_SENDER_PROPERTY_TARGET_BITRATE, /* the element's to get */
  GST_MCC_SENDER_PROPERTY_SYNC,
  GST_MCC_SENDER_PROPERTY_ENCODER,
  GST_MCC_SENDER_PROPERTY_ENCODER_NAME,
  GST_MCC_SENDER_PROPERTY_ENCODER_CONTROL,
  GST_MCC_SENDER_PROPERTY_CONFIGURE_ENCODER,
  GST_MCC_SENDER_PROPERTY_ENCODER_BITRATE_PROPERTY,
  GST_MCC_SENDER_PROPERTY_ENCODER_BITRATE_UNIT,
  GST_MCC_SENDER_PROPERTY_PACING_FACTOR,
  GST_MCC_SENDER_PROPERTY_PACING_MAX_DELAY,
  GST_MCC_SENDER_PROPERTY_NO_FEEDBACK,
  GST_MCC_SENDER_PROPERTY_MAX_RECEIVERS,
  GST_MCC_SENDER_PROPERTY_ECN,
  GST_MCC_SENDER_PROPERTY_SDP_LOCATION,
  GST_MCC_SENDER_PROPERTY_STATS, /* the element's to get */
  GST_MCC_SENDER_PROPERTY_LAST = GST_MCC_SENDER_PROPERTY_STATS
};

/* Guarded by the element's object lock. */
typedef struct {
  guint64 min_bps, max_bps, start_bps;
  gboolean min_set, max_set, start_set; /* by the user */
  gboolean sync;
  gdouble pacing_factor;
  guint pacing_max_delay_ms;
  MccNoFeedback no_feedback;
  guint max_receivers;
  gboolean ecn;
  gchar *sdp_location;
  GstElement *encoder;
  gchar *encoder_name, *encoder_property;
  GstMccEncoderControl encoder_control;
  GstMccEncoderUnit encoder_unit;
  gboolean configure_encoder;
} GstMccSenderSettings;

#define GST_MCC_LOWEST_BPS 1000 /* below, RTCP has nothing to report with */
#define GST_MCC_HIGHEST_BPS MCC_APP_RATE_MAX

#define GST_TYPE_MCC_NO_FEEDBACK (gst_mcc_no_feedback_get_type ())
GType gst_mcc_no_feedback_get_type (void);

/* What is sent: one stream; several, whose rates are bounds of all of them; the layers of one,
 * whose rate only rises. */
typedef enum { GST_MCC_SENDS_STREAM, GST_MCC_SENDS_STREAMS, GST_MCC_SENDS_LAYERS } GstMccSends;

/* In class_init, the network's, too, as gst_mcc_properties_install() has them. */
void gst_mcc_sender_properties_install (GObjectClass *klass, const gchar *scheme, GstMccSends what);
/* Of those whose receivers heed marks: layers are joined and left by losses. */
void gst_mcc_sender_properties_install_ecn (GObjectClass *klass);
void gst_mcc_sender_settings_init (GstMccSenderSettings *self);
void gst_mcc_sender_settings_clear (GstMccSenderSettings *self);
/* FALSE: the id is not one of these. They take @element's object lock. */
gboolean gst_mcc_sender_settings_set (
    GstMccSenderSettings *self, GstElement *element, guint id, const GValue *value);
gboolean gst_mcc_sender_settings_get (
    GstMccSenderSettings *self, GstElement *element, guint id, GValue *value);
/* A copy without what must be freed. Takes the object lock. */
GstMccSenderSettings gst_mcc_sender_settings_copy (GstMccSenderSettings *self, GstElement *element);
/* Whether the rates go together; if not, an error of @element says which, and the mend. */
gboolean gst_mcc_sender_settings_check (const GstMccSenderSettings *self, GstElement *element);
/* start-bitrate within the bounds. */
guint64 gst_mcc_sender_settings_start (const GstMccSenderSettings *self);
/* What gstmccencoder wants of it; to be cleared by _encoder_clear(). Takes the object lock. */
void gst_mcc_sender_settings_get_encoder (
    GstMccSenderSettings *self, GstElement *element, GstMccEncoderSettings *out);
void gst_mcc_sender_settings_encoder_clear (GstMccEncoderSettings *encoder);

G_END_DECLS
