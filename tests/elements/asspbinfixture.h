/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * asspbinfixture: a pipeline with asspsimulcastbin that sends to an assppeer.
 */
#pragma once

#include <gst/gst.h>

#include "assppeer.h"

#define LADDER "streams=200000:400000,400000:900000,900000:2000000 "
#define SOURCE                                                                                     \
  "videotestsrc is-live=true pattern=snow ! video/x-raw,width=640,height=360,framerate=30/1 ! "

typedef struct {
  AsspPeer peer;
  GstElement *pipeline, *bin;
  GstBus *bus;
} BinFixture;

/* @description with "@" for the element and its place. FALSE: an element is missing, skip. */
gboolean bin_setup (BinFixture *f, const gchar *description);
void bin_teardown (BinFixture *f);
void bin_play (BinFixture *f);
/* Runs until @n streams were heard, and announced with caps. */
void bin_meet (BinFixture *f, guint n);
/* In @stream; the first report is probation. */
void bin_enter (BinFixture *f, guint stream, guint64 rate_bps);
gboolean bin_frames (BinFixture *f, guint stream, guint n);
GstMessage *bin_wait_message (BinFixture *f, GstMessageType type, guint ms);
GstStructure *bin_wait_element_message (BinFixture *f, const gchar *name, gint stream, guint ms);
/* One field of a stream's stats. */
guint64 bin_stream_u64 (BinFixture *f, guint stream, const gchar *field);
guint bin_stream_uint (BinFixture *f, guint stream, const gchar *field);
/* Until a sender report of each was heard; all share the RTCP of the lowest. */
void bin_wait_reports (BinFixture *f, guint n);
/* The same picture has the same RTP time in each stream, also where others chose the payloaders'
 * offsets. */
void bin_check_time_base (BinFixture *f, guint n);
