/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * asspworld: a pipeline with asspsimulcastsrc that receives from an asspsource, and what came out
 * of it.
 */
#pragma once

#include <gst/gst.h>

#include "asspsource.h"

/* What came out, and what was said. */
typedef struct {
  GMutex lock;
  guint buffers, caps, stream_starts, segments, eos;
  guint gaps, back, torn, other_ssrc; /* in numbers, in times, within frames */
  guint32 ssrc, time, out_packets;
  guint16 seq;
  gint64 newest_us, longest_us; /* between packets */
  guint8 stream;                /* of the newest packet */
  gint from, to;
  gchar reason[16];
  guint switches, warnings, errors;
  gchar warning[256], error[256];
  gint notified; /* of `stream` */
  GstElement *pipeline, *src;
  AsspSource *peer; /* whom a failure tells of */
} World;

/* Plays at the place of @peer, with @more properties. */
void world_start (World *world, AsspSource *peer, const gchar *more);
/* Nothing leaks, and there was no error. */
void world_stop (World *world);
/* The property `stream`. */
gint world_shown (World *world);
/* Within @seconds; else it is said what was instead. */
gboolean world_comes_to (World *world, gint stream, gdouble seconds);
guint64 world_stat (World *world, const gchar *name);
gboolean world_stat_reaches (World *world, const gchar *name, guint64 least, gdouble seconds);
