/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * gstmccproperties: the network properties that all elements share (docs/asmpsrc.md): address port
 * uri multicast-iface ttl ttl-mc loop qos-dscp source-address feedback-address feedback-port
 * variant session-bandwidth cname seed stats-interval srtp-key srtp-key-file srtp-cipher srtp-auth;
 * and the signal request-srtp-key.
 *
 * Values are taken as they come (ranges are wider than what is valid) and checked at NULL->READY by
 * gst_mcc_session_settings_check(), so that a bad one fails with a message that names it.
 */
#pragma once

#include <gst/gst.h>

#include "gstmccsession.h"

G_BEGIN_DECLS

/* Property ids 1 .. GST_MCC_PROPERTY_LAST are these; an element's own start behind. */
enum {
  GST_MCC_PROPERTY_ADDRESS = 1,
  GST_MCC_PROPERTY_PORT,
  GST_MCC_PROPERTY_URI,
  GST_MCC_PROPERTY_MULTICAST_IFACE,
  GST_MCC_PROPERTY_TTL,
  GST_MCC_PROPERTY_TTL_MC,
  GST_MCC_PROPERTY_LOOP,
  GST_MCC_PROPERTY_QOS_DSCP,
  GST_MCC_PROPERTY_SOURCE_ADDRESS,
  GST_MCC_PROPERTY_FEEDBACK_ADDRESS,
  GST_MCC_PROPERTY_FEEDBACK_PORT,
  GST_MCC_PROPERTY_VARIANT,
  GST_MCC_PROPERTY_SESSION_BANDWIDTH,
  GST_MCC_PROPERTY_CNAME,
  GST_MCC_PROPERTY_SEED,
  GST_MCC_PROPERTY_STATS_INTERVAL,
  GST_MCC_PROPERTY_SRTP_KEY,
  GST_MCC_PROPERTY_SRTP_KEY_FILE,
  GST_MCC_PROPERTY_SRTP_CIPHER,
  GST_MCC_PROPERTY_SRTP_AUTH,
  GST_MCC_PROPERTY_LAST = GST_MCC_PROPERTY_SRTP_AUTH
};

typedef struct {
  const gchar *scheme;            /* of the URI, static */
  GMutex lock;                    /* guards all below; properties may be set from any thread */
  GstMccSessionSettings settings; /* as they were set last */
  GstMccSessionSettings opened;   /* as the session has them, without the key */
  MccVariant variant;
  guint64 seed; /* 0 = from the operating system */
  guint stats_interval_ms;
} GstMccProperties;

#define GST_TYPE_MCC_VARIANT (gst_mcc_variant_get_type ())
GType gst_mcc_variant_get_type (void);

#define GST_TYPE_MCC_SRTP_CIPHER (gst_mcc_srtp_cipher_get_type ())
GType gst_mcc_srtp_cipher_get_type (void);
#define GST_TYPE_MCC_SRTP_AUTH (gst_mcc_srtp_auth_get_type ())
GType gst_mcc_srtp_auth_get_type (void);

/* In class_init; get_property and set_property must be set before. @session_bandwidth: the blurb of
 * that, static. */
void gst_mcc_properties_install (
    GObjectClass *klass, const gchar *scheme, const gchar *session_bandwidth);
void gst_mcc_properties_init (GstMccProperties *self, const gchar *scheme);
void gst_mcc_properties_clear (GstMccProperties *self);
/* FALSE: the id is not one of these. @object: the element. */
gboolean gst_mcc_properties_set (
    GstMccProperties *self, GObject *object, guint id, const GValue *value);
gboolean gst_mcc_properties_get (GstMccProperties *self, GObject *object, guint id, GValue *value);
/* NULL->READY: a copy of the network settings for the session that is to be opened, to be cleared
 * by _settings_clear(). Where no property has a key it has what the application says
 * (request-srtp-key). */
void gst_mcc_properties_open (GstMccProperties *self, GObject *object, GstMccSessionSettings *out);
/* Another one of what the last _open() gave, without the key: a later change waits for the next. */
void gst_mcc_properties_get_opened (GstMccProperties *self, GstMccSessionSettings *out);
void gst_mcc_properties_settings_clear (GstMccSessionSettings *settings);
/* From a base class's class_init: the signal request-srtp-key of @type. */
void gst_mcc_properties_install_signals (GType type);
/* Behind _set() of @id while @session may be open: new keys are taken over; what is wrong with them
 * is a warning of @element. */
void gst_mcc_properties_apply_key (
    GstMccProperties *self, GstElement *element, guint id, GstMccSession *session);
/* The seed to use: the property's, or one from the operating system. */
guint64 gst_mcc_properties_get_seed (GstMccProperties *self);
/* The same for SSRCs, which never come twice under one key: behind _open(). */
guint64 gst_mcc_properties_get_ssrc_seed (GstMccProperties *self);
/* MCC_TIME_NONE: no stats are posted. */
MccTime gst_mcc_properties_get_stats_interval (GstMccProperties *self);

G_END_DECLS
