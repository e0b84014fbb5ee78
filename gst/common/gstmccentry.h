/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * gstmccentry: the pads of a sender of several streams or layers: an always pad for all, or a
 * request pad each, and the clocksync behind each, which go in any state.
 */
#pragma once

#include "gstmccsender.h"

G_BEGIN_DECLS

#define GST_MCC_ENTRIES_MAX GST_MCC_STREAMS_MAX

/* What messages say; static. */
typedef struct {
  const gchar *name;     /* of request pads: name_0, name_1, ... */
  const gchar *things;   /* what they are for, in the plural */
  const gchar *lowest;   /* what name_0 is for */
  const gchar *to_sink;  /* what is linked to the always pad */
  const gchar *to_names; /* ... and what to request pads */
} GstMccEntryWords;

typedef struct {
  GstMccSender *owner; /* no ref */
  const GstMccEntryWords *words;
  guint max;
  GstPad *sink;     /* the always pad; without target in NULL */
  gboolean of_pads; /* built behind request pads, not behind the always pad */
  /* Guarded by the owner's object lock. */
  GstPad *request[GST_MCC_ENTRIES_MAX]; /* no ref */
  GstElement *clocksync[GST_MCC_ENTRIES_MAX];
} GstMccEntries;

/* From an instance's init: adds the always pad, which refuses to be linked beside request pads. */
void gst_mcc_entries_init (GstMccEntries *self, GstMccSender *owner, const GstMccEntryWords *words,
    guint max, GstStaticPadTemplate *sink_template);

/* For request_new_pad and release_pad. Releasing waits for nobody: a thread that streams into the
 * pad may wait for PLAYING. Its clocksync stays where it is, in NULL whatever its bin does; who is
 * behind it gets EOS. */
GstPad *gst_mcc_entries_request (GstMccEntries *self, GstPadTemplate *template, const gchar *name);
void gst_mcc_entries_release (GstMccEntries *self, GstPad *pad);

guint gst_mcc_entries_count (GstMccEntries *self);
/* Whether the first @n request pads are there; FALSE: an error was posted. */
gboolean gst_mcc_entries_check (GstMccEntries *self, guint n);

/* NULL->READY: makes clocksync @i, behind request pad @i or the always pad. FALSE: an error was
 * posted. */
gboolean gst_mcc_entries_build (GstMccEntries *self, guint i, gboolean request, gboolean sync);
/* Unmakes it, if it was made. */
void gst_mcc_entries_clear (GstMccEntries *self, guint i);
void gst_mcc_entries_set_sync (GstMccEntries *self, gboolean sync);
/* READY->PAUSED: who is behind a request pad that was released before gets EOS. */
void gst_mcc_entries_end_released (GstMccEntries *self);

G_END_DECLS
