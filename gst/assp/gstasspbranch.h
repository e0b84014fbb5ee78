/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * gstasspbranch: one version of the video that asspsimulcastbin encodes itself.
 *
 *   tee -> gate queue ! videoscale ! videoconvert ! capsfilter ! encoder ! payloader -> pacer
 *
 * The gate lets frames in or, while the stream idles, none; of those, one of so many where the
 * stream's rate is for fewer (mccpicture.h). The size is set when the input's caps come. An encoder
 * that fails closes the gate until the next start: what comes then does not reach it, EOS goes past
 * it, and the tee does not hear of it.
 */
#pragma once

#include <gst/gst.h>

#include "mccpicture.h"

G_BEGIN_DECLS

typedef struct _GstAsspBranch GstAsspBranch;

typedef struct {
  const gchar *description; /* of the encoder, as in gst-launch */
  guint64 low_bps, high_bps;
  guint32 timestamp_offset; /* the same in all streams */
  guint32 ssrc;
  gboolean leaky;     /* frames that an encoder is too slow for are dropped */
  gboolean configure; /* the encoder, where its properties are at their defaults */
} GstAsspBranchSettings;

/* Makes it and adds it to @owner; NULL: an error of @owner says why. */
GstAsspBranch *gst_assp_branch_new (
    GstBin *owner, guint number, const GstAsspBranchSettings *settings);
/* Takes it out of its bin. */
void gst_assp_branch_free (GstAsspBranch *self);
/* Links it between @tee and @pacer. */
gboolean gst_assp_branch_link (GstAsspBranch *self, GstElement *tee, GstElement *pacer);
void gst_assp_branch_set_leaky (GstAsspBranch *self, gboolean leaky);
/* READY->PAUSED: it runs, under @ssrc; an encoder that had failed tries again. */
void gst_assp_branch_start (GstAsspBranch *self, guint32 ssrc);
/* Any thread. */
void gst_assp_branch_set_running (GstAsspBranch *self, gboolean running);
/* Bounds of another picture; taken over with the next frame. @watched: only where they are far from
 * those of the present one. */
void gst_assp_branch_set_bounds (
    GstAsspBranch *self, guint64 low_bps, guint64 high_bps, gboolean watched);
/* Whether @message is about a failure in here. */
gboolean gst_assp_branch_owns (GstAsspBranch *self, GstObject *object);
/* From then on nothing goes in. FALSE: it had failed before. */
gboolean gst_assp_branch_fail (GstAsspBranch *self);
/* Width 0: not known yet. */
MccPicture gst_assp_branch_get_picture (GstAsspBranch *self);
/* Frames that the encoder was too slow for. */
guint64 gst_assp_branch_get_dropped (GstAsspBranch *self);

G_END_DECLS
