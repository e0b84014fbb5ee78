/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * gstmccencoder: drives the encoder upstream of a sender.
 *
 * Finds it (through ghost pads, tees, queues, filters, parsers, payloaders), gives it settings that
 * make it follow quickly, and sets its bitrate. How an encoder is driven stands in a table
 * (gstmccencodertable.c); what to ask of it is decided in the core (mccencoding.h).
 *
 * Laws: only properties that are still at their default are configured. The bitrate is set by one
 * worker at a time, never by the caller; the latest value wins; an encoder whose change costs a key
 * frame gets at most one per its interval. The encoder is held by a weak reference. An encoder that
 * cannot follow live is never set; it is said once, with those that can.
 */
#pragma once

#include <gst/gst.h>

#include "mcctime.h"

G_BEGIN_DECLS

typedef enum { GST_MCC_ENCODER_CONTROL_AUTO, GST_MCC_ENCODER_CONTROL_NONE } GstMccEncoderControl;
typedef enum { GST_MCC_UNIT_UNKNOWN, GST_MCC_UNIT_BIT, GST_MCC_UNIT_KBIT } GstMccEncoderUnit;

#define GST_TYPE_MCC_ENCODER_CONTROL (gst_mcc_encoder_control_get_type ())
#define GST_TYPE_MCC_ENCODER_UNIT (gst_mcc_encoder_unit_get_type ())
GType gst_mcc_encoder_control_get_type (void);
GType gst_mcc_encoder_unit_get_type (void);

/* What the table says of an encoder. */
typedef enum {
  GST_MCC_LIVE_NO,        /* ignores or refuses a new rate while running */
  GST_MCC_LIVE_YES,       /* follows */
  GST_MCC_LIVE_KEY_FRAME, /* follows, but each change is a key frame */
} GstMccEncoderLive;

typedef struct {
  const gchar *property, *value; /* as in gst-launch */
  const gchar *unless;           /* leave it when this property was set by the user */
} GstMccEncoderSetting;

typedef struct {
  const gchar *factory;  /* a glob */
  const gchar *property; /* of the bitrate; a row counts only when the encoder has it */
  GstMccEncoderUnit unit;
  GstMccEncoderLive live;
  GstClockTime min_interval;            /* between two changes */
  const GstMccEncoderSetting *settings; /* up to one with property NULL; NULL = none */
  /* Why this encoder, as it is set now, would not follow, and the mend; NULL = it does.
   * *dangerous: a new rate must not even be tried. */
  const gchar *(*obstacle) (GstElement *encoder, gboolean *dangerous);
} GstMccEncoderRow;

/* The row of @encoder, NULL = not in the table. */
const GstMccEncoderRow *gst_mcc_encoder_table_lookup (GstElement *encoder);
const GstMccEncoderRow *gst_mcc_encoder_table_get (guint *n_rows);
/* What suits a stream of about @bps, before @encoder leaves READY. x264enc whose `threads` is at
 * its default encodes up to GST_MCC_ENCODER_ONE_THREAD_BPS in one: its slices, one a thread where
 * it must not delay, cost pictures of few bits up to 6 dB (352x288 at 100 kb/s, four threads). */
#define GST_MCC_ENCODER_ONE_THREAD_BPS 1000000
void gst_mcc_encoder_fit_rate (GstElement *encoder, guint64 bps);
/* vp8enc and vp9enc with temporal layers have a rate of each: they keep their shares of @bps. */
void gst_mcc_encoder_share_rate (GstElement *encoder, guint64 bps);
/* "x264enc, x265enc, ...": those that follow live. */
#define GST_MCC_ENCODERS_THAT_CAN                                                                  \
  "x264enc, x265enc, vp8enc, vp9enc, openh264enc, av1enc, nvh264enc, nvh265enc, vah264enc, "       \
  "vah265enc, qsvh264enc, msdkh264enc, amfh264enc, vtenc_h264, v4l2h264enc or opusenc"

typedef struct {
  GstMccEncoderControl control;
  gboolean configure;
  GstElement *encoder;       /* the application's choice, or NULL */
  const gchar *encoder_name; /* likewise, an element of the pipeline */
  const gchar *property;     /* bitrate property of an encoder not in the table, or NULL */
  GstMccEncoderUnit unit;    /* of that property */
  guint64 max_bps;           /* of the stream, for _fit_rate(); 0: not told */
} GstMccEncoderSettings;

typedef enum {
  GST_MCC_ENCODER_NONE,        /* nothing found: pre-encoded, or not linked yet */
  GST_MCC_ENCODER_FOUND,       /* controlled */
  GST_MCC_ENCODER_REFUSED,     /* found, but it cannot follow */
  GST_MCC_ENCODER_UNCONTROLLED /* encoder-control=none */
} GstMccEncoderStatus;

typedef struct _GstMccEncoder GstMccEncoder;

/* From the worker, without a lock, after @encoder was given @bitrate (bit/s). */
typedef void (*GstMccEncoderChanged) (gpointer owner, GstElement *encoder, guint64 bitrate);

/* @owner posts the warnings. */
GstMccEncoder *gst_mcc_encoder_new (GstElement *owner, GstMccEncoderChanged changed);
void gst_mcc_encoder_free (GstMccEncoder *self);

/* Copies @settings; takes effect at the next _find(). FALSE: an error was posted that names the
 * property and the mend. */
gboolean gst_mcc_encoder_set_settings (GstMccEncoder *self, const GstMccEncoderSettings *settings);
/* Looks upstream of @pad (a sink pad) and configures what it finds; an encoder that does not run
 * yet gets its bitrate before this returns. @expected: nothing more will be linked, so that finding
 * none is worth its warning. Call it in NULL->READY, on `linked` and on CAPS; cheap when nothing
 * changed. */
GstMccEncoderStatus gst_mcc_encoder_find (GstMccEncoder *self, GstPad *pad, gboolean expected);
/* Warns of a name by which the last _find() found nothing. For who was not `expected`, once all
 * that is named should be there: that another one is named while it runs. */
void gst_mcc_encoder_check_name (GstMccEncoder *self);
GstMccEncoderStatus gst_mcc_encoder_get_status (GstMccEncoder *self);
/* Whoever is controlled; NULL = nobody. Caller unrefs. */
GstElement *gst_mcc_encoder_get_element (GstMccEncoder *self);

/* Any thread; returns at once. 0: who is found keeps the rate that it has. */
void gst_mcc_encoder_set_bitrate (GstMccEncoder *self, guint64 bitrate_bps);
/* What the encoder was given last; 0 = nothing yet. */
guint64 gst_mcc_encoder_get_applied (GstMccEncoder *self);
/* What the encoder that is controlled is set to now, by whomever; 0 = not known. */
guint64 gst_mcc_encoder_get_present (GstMccEncoder *self);
/* Forgets the encoder and what is still to be set (READY->NULL). */
void gst_mcc_encoder_reset (GstMccEncoder *self);

/* The encoder upstream of @pad, NULL = none; the video one where several are muxed. Caller
 * unrefs. */
GstElement *gst_mcc_encoder_search (GstPad *pad);
/* The RTP payloader upstream of @pad, NULL = none. Caller unrefs. */
GstElement *gst_mcc_payloader_search (GstPad *pad);

G_END_DECLS
