/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * gstmccreceiver: what the receiving elements share: an abstract bin with the session, the pump,
 * the properties, states, stats and requests for key units. A class brings the protocol machine.
 */
#pragma once

#include "gstmccproperties.h"
#include "gstmccpump.h"
#include "gstmccrtpread.h"
#include "gstmccsession.h"
#include "gstmccstats.h"
#include "mccasspreceiver.h"
#include "mcckeywait.h"
#include "mccrejoin.h"

G_BEGIN_DECLS

#define GST_TYPE_MCC_RECEIVER (gst_mcc_receiver_get_type ())
#define GST_MCC_RECEIVER(object)                                                                   \
  (G_TYPE_CHECK_INSTANCE_CAST ((object), GST_TYPE_MCC_RECEIVER, GstMccReceiver))
#define GST_MCC_RECEIVER_CLASS(klass)                                                              \
  (G_TYPE_CHECK_CLASS_CAST ((klass), GST_TYPE_MCC_RECEIVER, GstMccReceiverClass))
#define GST_MCC_RECEIVER_GET_CLASS(object)                                                         \
  (G_TYPE_INSTANCE_GET_CLASS ((object), GST_TYPE_MCC_RECEIVER, GstMccReceiverClass))

/* Property ids of a class start behind. */
enum {
  GST_MCC_RECEIVER_PROPERTY_LATENCY = GST_MCC_PROPERTY_LAST + 1,
  GST_MCC_RECEIVER_PROPERTY_CAPS,
  GST_MCC_RECEIVER_PROPERTY_ENCODING_NAME,
  GST_MCC_RECEIVER_PROPERTY_SSRC,
  GST_MCC_RECEIVER_PROPERTY_ESTIMATED_BITRATE,
  GST_MCC_RECEIVER_PROPERTY_STATS,
  GST_MCC_RECEIVER_PROPERTY_LAST = GST_MCC_RECEIVER_PROPERTY_STATS
};

typedef struct {
  GstBin parent;
  GstPad *src;
  GstMccProperties properties;
  GstMccSession *session;
  GstMccPump *pump;
  GstMccMessages *messages;
  GstCaps *user_caps; /* from `caps` or `encoding-name`, between READY and NULL */
  MccTime next_stats; /* of the pump's thread */

  /* Guards what follows: the machine and what belongs to it. A leaf: nothing is called out, not
   * the session either, while it is held. */
  GMutex lock;
  gpointer core; /* only while PLAYING */
  MccAsmpReceiverStats last_stats;
  MccAsmpReceiverStats counted; /* ... by machines, and of senders, before the present ones */
  GstMccReceiverExtra extra;
  MccKeyWait key_wait;
  gboolean key_wanted; /* read without the lock for every packet */
  /* Of what leaves; theirs alone who deliver. */
  gboolean holed;        /* fragments of a unit that lost some */
  gboolean missing;      /* the number before the next one is */
  GstClockTime left_pts; /* of the newest one; GST_CLOCK_TIME_NONE: none since the start */
  GstMccPayload payload;
  /* The last ones of the sender that we follow or will. */
  MccAppSession announced[GST_MCC_STREAMS_MAX];
  gboolean has_announced[GST_MCC_STREAMS_MAX];
  MccAddress announcer;
  GQueue waiting; /* of MccAsspReceiverAction */
  GThread *actor; /* who acts on them; NULL: nobody */
  GCond acted;
  /* Memberships that are wanted and could not be had: tried again. */
  struct {
    gboolean wanted;
    MccAsspStream group;
    MccTime at;
  } retry[GST_MCC_STREAMS_MAX];
  guint8 send_time_id[GST_MCC_STREAMS_MAX];
  guint64 dropped[MCC_DROP_COUNT]; /* by the screen */
  MccTime silent_since;            /* MCC_TIME_NONE: a sender was heard or it was said */
  MccTime unread_since;            /* ... its announcement was read ... */
  gboolean lost;                   /* it was heard before */
  gboolean bye;                    /* while a BYE is handled */
  gboolean ceased;                 /* has left for good */
  guint64 unauthentic;             /* .dropped when it was lost */
  MccRejoin rejoin;
  guint64 estimated_bps;
  guint64 told_bps; /* to rtpsession */
  guint told_receivers;
  gboolean other_told, join_told, feedback_told;
  guint ssrc; /* whom to follow; constant while PLAYING */
  /* properties, guarded by the object's lock */
  GstCaps *caps;
  gchar *encoding_name;
  guint wanted_ssrc;
} GstMccReceiver;

/* A protocol machine. Called with the lock, but for create and destroy. */
typedef struct {
  gpointer (*create) (GstMccReceiver *owner, const MccAsmpReceiverConfig *config, MccTime now);
  void (*destroy) (gpointer core);
  MccDrop (*handle_rtp) (
      gpointer core, guint stream, const MccRtpPacket *packet, const MccAddress *from, MccTime now);
  /* What else the packet says, whole, before handle_rtp; may be NULL. */
  void (*read_rtp) (gpointer core, const guint8 *data, gsize size);
  void (*handle_bye) (gpointer core, guint32 ssrc, MccTime now);
  void (*handle_host_dropped) (gpointer core, guint64 packets, MccTime now);
  void (*set_ssrc) (gpointer core, guint32 ssrc);
  void (*handle_timeout) (gpointer core, MccTime now);
  MccTime (*next_timeout) (gpointer core);
  /* One that has streams says which; else MCC_ASSP_RECEIVER_ASMP of stream 0. */
  bool (*poll) (gpointer core, MccAsspReceiverAction *out);
  /* What it measured and decided, for level 6 of mccreceiver; may be NULL. */
  bool (*poll_trace) (gpointer core, MccTraceEvent *out);
  void (*get_stats) (gpointer core, MccTime now, MccAsmpReceiverStats *out);
  /* The last report, and of which stream it is. */
  void (*leave) (gpointer core, guint *stream, MccAppReport *out, MccTime now);
} GstMccMachine;

typedef struct {
  GstBinClass parent;
  const gchar *scheme;       /* of URIs, static */
  const gchar *element_name; /* static */
  guint latency_ms;          /* default of `latency`; 0: 300 */
  const GstMccMachine *machine;
  /* .app, or .assp_app and what belongs to it; the rest is ours. */
  const GstMccSessionHandler *handler;
  /* Without the lock. Reports of @stream (with BYE if @bye). */
  void (*send_report) (
      GstMccReceiver *self, guint stream, const MccAppReport *report, gboolean bye);
  /* A sender is heard that was not. */
  void (*new_source) (GstMccReceiver *self, guint stream, guint32 ssrc);
  /* What @stream carries is known, or has changed. */
  void (*apply_caps) (GstMccReceiver *self, guint stream, const MccAppSession *session);
  /* Joins @stream, of several streams or layers; FALSE: *error says why not. May be NULL. */
  gboolean (*join) (GstMccReceiver *self, guint stream, const MccAsspStream *group, GError **error);
  const gchar *join_name; /* what is joined, static */
  /* An action that is not ASMP's; may be NULL. */
  void (*act) (GstMccReceiver *self, const MccAsspReceiverAction *action);
  /* With the lock, the core is there: a BYE in the sender's name from somewhere else. May be NULL.
   */
  gboolean (*is_forged) (GstMccReceiver *self, guint32 ssrc, const MccAddress *from, MccTime now);
  /* What else stats say; with the lock, the core may be NULL; may be NULL. */
  void (*add_stats) (GstMccReceiver *self, GstStructure *stats);
  /* With the lock, the core is new: what may have been set since it was made. May be NULL. */
  void (*settle) (GstMccReceiver *self, MccTime now);
  /* PLAYING begins, has ended: the core is not there yet, any more; may be NULL. */
  void (*started) (GstMccReceiver *self);
  void (*stopped) (GstMccReceiver *self);
} GstMccReceiverClass;

GType gst_mcc_receiver_get_type (void);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GstMccReceiver, gst_object_unref)

/* From a class's class_init: the pad template and the properties, which are to be the class's own
 * for URIs. */
void gst_mcc_receiver_class_install (GstMccReceiverClass *klass);
/* From an instance's init. */
void gst_mcc_receiver_setup (GstMccReceiver *self);
void gst_mcc_receiver_set_property (
    GObject *object, guint id, const GValue *value, GParamSpec *pspec);
void gst_mcc_receiver_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec);

/* What is to be done once the lock is released. */
typedef struct {
  gboolean some; /* actions of this call: others' are others' business */
  MccTime next;
} GstMccReceiverTodo;

/* Of the networks that say nothing else: RFC 3376 8.8, RFC 3810 9.8. */
#define GST_MCC_LEAVE_LATENCY_MS 2000
/* As the machines have it: for them 0 is their default. */
#define GST_MCC_LEAVE_LATENCY(ms) MAX (1, (ms)*MCC_MSECOND)

#define GST_MCC_RECEIVER_NOTHING                                                                   \
  {                                                                                                \
    FALSE, MCC_TIME_NONE                                                                           \
  }

/* Takes the machine's actions out. Called with the lock; the core is there. */
void gst_mcc_receiver_drain_locked (GstMccReceiver *self, GstMccReceiverTodo *todo);
/* Acts on them, in the order in which the machine said them, one thread at a time; returns when
 * that is done, but from within an action. No lock is held, nor one that an application may hold
 * around g_object_set(): a setter tells the machine and wakes the pump, which acts. */
void gst_mcc_receiver_act (GstMccReceiver *self, const GstMccReceiverTodo *todo);

/* The caps to use: the user's, else the announced ones (@session may be NULL), without what is of
 * no use behind. NULL: not known. Transfer: full. */
GstCaps *gst_mcc_receiver_make_caps (GstMccReceiver *self, const MccAppSession *session);
/* Its RTCP is heard, of the sender that we follow or will: from a class's handler, with the lock.
 */
void gst_mcc_receiver_note_rtcp_locked (GstMccReceiver *self, MccTime now);
/* A new sender: it is to begin with a key unit. */
void gst_mcc_receiver_follow_key_unit (GstMccReceiver *self);
/* Another stream of the same sender is joined, and the old one was left: the machine asks for its
 * key unit, and losses of the old one ask for none. */
void gst_mcc_receiver_leave_key_unit (GstMccReceiver *self);
/* A key unit is needed: downstream has nothing to go on with. */
void gst_mcc_receiver_want_key_unit (GstMccReceiver *self);
/* If one still is: what kept it from us is left. */
void gst_mcc_receiver_renew_key_unit (GstMccReceiver *self);
/* Another sender is here than the one that we follow: said once. */
void gst_mcc_receiver_tell_other (GstMccReceiver *self, guint32 other, guint32 ours);
/* From _act: joins @stream by the class's _join. A failure is said once, and is tried again every
 * second until it is a success, or not wanted any more. */
void gst_mcc_receiver_join (GstMccReceiver *self, guint stream, const MccAsspStream *group);
/* From _act: that is left. */
void gst_mcc_receiver_forget_join (GstMccReceiver *self, guint stream);
/* The property leave-latency, of those that have one. */
GParamSpec *gst_mcc_receiver_leave_latency_spec (void);
/* Transfer: full. */
GstStructure *gst_mcc_receiver_make_stats (GstMccReceiver *self);

G_END_DECLS
