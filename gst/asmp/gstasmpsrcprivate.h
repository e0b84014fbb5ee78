/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What gstasmpsrc.c and gstasmpsrcproperties.c share.
 */
#pragma once

#include "gstasmpsrc.h"

#include "gstmccproperties.h"
#include "gstmccpump.h"
#include "gstmccrtpread.h"
#include "gstmccsession.h"
#include "gstmccstats.h"
#include "mccasmpreceiver.h"
#include "mcckeywait.h"

G_BEGIN_DECLS

#define GST_ASMP_SRC_SCHEME "asmp"

struct _GstAsmpSrc {
  GstBin parent;
  GstPad *src;
  GstMccProperties properties;
  GstMccSession *session;
  GstMccPump *pump;
  GstMccMessages *messages;
  GstCaps *user_caps; /* from `caps` or `encoding-name`, between READY and NULL */

  /* Guards what follows: the machine and what belongs to it. A leaf: nothing is called out, not
   * the session either, while it is held. */
  GMutex lock;
  MccAsmpReceiver *core; /* only while PLAYING */
  MccAsmpReceiverStats last_stats;
  GstMccReceiverExtra extra;
  MccKeyWait key_wait;
  gboolean key_wanted; /* read without the lock for every packet */
  GstMccPayload payload;
  MccAppSession announced; /* the last one of the sender we follow or will */
  gboolean has_announced;
  MccAddress announcer;
  guint8 send_time_id;
  guint64 dropped[MCC_DROP_COUNT]; /* by the screen */
  MccTime silent_since;            /* MCC_TIME_NONE: a sender was heard or it was said */
  MccTime next_stats;
  guint64 estimated_bps;
  guint64 told_bps; /* to rtpsession */
  gboolean other_told, feedback_told;
  /* properties */
  GstCaps *caps;
  gchar *encoding_name;
  guint ssrc;
};

void gst_asmp_src_install_properties (GObjectClass *object);
void gst_asmp_src_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec);
void gst_asmp_src_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec);
/* Transfer: full. */
GstStructure *gst_asmp_src_make_stats (GstAsmpSrc *self);

G_END_DECLS
