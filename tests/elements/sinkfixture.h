/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * sinkfixture: a pipeline with asmpsink that sends to an asmppeer.
 */
#pragma once

#include <gst/gst.h>

#include "asmppeer.h"

#define VIDEO                                                                                      \
  "video/x-raw,format=I420,width=320,height=240,framerate=30/1 ! x264enc name=e "                  \
  "tune=zerolatency ! rtph264pay name=p ! "
#define LIVE "videotestsrc is-live=true pattern=snow ! " VIDEO

typedef struct {
  AsmpPeer peer;
  GstElement *pipeline, *sink, *encoder; /* encoder: named "e"; NULL = none */
  GstBus *bus;
} SinkFixture;

/* @description with "@" for asmpsink that sends to our peer. FALSE: an element is missing, skip. */
gboolean sink_setup (SinkFixture *f, const gchar *description);
void sink_teardown (SinkFixture *f);
void sink_play (SinkFixture *f);
/* Runs until the peer has heard packets and an announcement with caps. */
void sink_meet (SinkFixture *f);
/* Two reports: the first one is probation. */
void sink_join (SinkFixture *f, guint64 rate_bps);
/* Runs until @packets more have come; FALSE: not within 5 s. */
gboolean sink_packets (SinkFixture *f, guint packets);

/* The peer runs meanwhile. NULL: none within @ms. */
GstMessage *sink_wait_message (SinkFixture *f, GstMessageType type, guint ms);
/* An element message with this name (and @field = @text, unless NULL); its structure. */
GstStructure *sink_wait_element_message (
    SinkFixture *f, const gchar *name, const gchar *field, const gchar *text, guint ms);
/* Warnings with @part that wait on the bus; all warnings are taken. */
guint sink_count_warnings (SinkFixture *f, const gchar *part);
/* Exactly one comes, within 5 s, and no other in the @ms after it. */
gboolean sink_warns_once (SinkFixture *f, const gchar *part, guint ms);

guint64 get_u64 (GstElement *element, const gchar *property);
guint get_uint (GstElement *element, const gchar *property);
