/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * gstmccsender: what the sending elements share: an abstract bin with the session, the pump, the
 * properties, signals, states and stats. A class brings the protocol machine and what it is fed by:
 * pads, encoders, pacers.
 */
#pragma once

#include "gstmcchold.h"
#include "gstmccproperties.h"
#include "gstmccpump.h"
#include "gstmccsenderproperties.h"
#include "gstmccsendstream.h"
#include "gstmccsession.h"
#include "gstmccstats.h"
#include "mccasspsender.h"
#include "mccelmsender.h"
#include "mccrejoin.h"

G_BEGIN_DECLS

#define GST_TYPE_MCC_SENDER (gst_mcc_sender_get_type ())
#define GST_MCC_SENDER(object)                                                                     \
  (G_TYPE_CHECK_INSTANCE_CAST ((object), GST_TYPE_MCC_SENDER, GstMccSender))
#define GST_MCC_SENDER_CLASS(klass)                                                                \
  (G_TYPE_CHECK_CLASS_CAST ((klass), GST_TYPE_MCC_SENDER, GstMccSenderClass))
#define GST_MCC_SENDER_GET_CLASS(object)                                                           \
  (G_TYPE_INSTANCE_GET_CLASS ((object), GST_TYPE_MCC_SENDER, GstMccSenderClass))

/* Warnings that are posted once each; a class's own start behind. */
#define GST_MCC_SENDER_WARNED_FEEDBACK (1u << 0)
#define GST_MCC_SENDER_WARNED_CAPS (1u << 1)
#define GST_MCC_SENDER_WARNED_LAST 1

typedef struct {
  GstBin parent;
  GstMccProperties network;
  GstMccSenderSettings settings; /* guarded by the object lock */
  GstMccSession *session;
  GstMccPump *pump;
  GstMccMessages *messages;
  GstMccHold *hold;    /* of its clocksyncs */
  gboolean told_plain; /* once; of who changes the state */

  /* Guards what follows: the machine, what it told last, and what a class keeps with it. A leaf:
   * nothing is called with it held but the machine, the pump's clock and leaves. */
  GMutex lock;
  gboolean running; /* PAUSED or PLAYING */
  gpointer core;    /* NULL when not running, and until it can be made */
  GThread *actor;   /* who does what it wants done; NULL: nobody */
  GCond acted;
  gboolean ect; /* as the socket has it */
  guint warned;
  MccNoFeedback no_feedback; /* the property */
  gboolean lost;             /* nobody reports */
  MccRejoin rejoin;          /* while no RTCP comes */
  MccTime next_stats;
  struct {
    MccAppSession caps; /* as announced */
    gboolean has_caps;
    gboolean mute;  /* they cannot be announced */
    gboolean ended; /* BYE was said: announce no more */
  } stream[GST_MCC_STREAMS_MAX];
} GstMccSender;

/* What the machine wants done; copied, for its pointers are good until its next call. */
typedef struct {
  union {
    MccSenderAction asmp;
    MccAsspSenderAction assp;
    MccElmSenderAction elm;
  } action;
  gboolean gate; /* none of the machine's: `gate_stream` (ELM: all) is to open or to close */
  guint gate_stream;
  gboolean gate_open;
  /* an announcement's */
  MccAppSession session;
  MccAppRttList rtt;
  union {
    struct {
      MccAsspStreams streams;
      MccAppSession also[MCC_ASSP_STREAMS_MAX]; /* of other streams: those of the action */
    };
    MccElmLayers layers;
  };
} GstMccSenderTodo;

/* A protocol machine. Called with the lock. */
typedef struct {
  void (*destroy) (gpointer core);
  /* @app: as the class's handler has it. */
  void (*handle_app) (gpointer core, gconstpointer app, const MccAddress *from, MccTime now);
  /* may be NULL */
  void (*handle_block) (
      gpointer core, guint stream, guint32 ssrc, const MccAddress *from, MccTime now);
  void (*handle_plain_report) (gpointer core, guint stream, guint32 ssrc,
      const MccPlainReport *report, const MccAddress *from, MccTime now);
  void (*handle_bye) (gpointer core, guint32 ssrc, const MccAddress *from, MccTime now);
  void (*handle_dropped) (gpointer core, MccDrop drop, guint32 ssrc, MccTime now);
  void (*handle_key_unit_request) (gpointer core, guint stream, MccTime now);
  void (*handle_sent) (
      gpointer core, guint stream, guint packets, guint64 bytes, guint32 highest_seq, MccTime now);
  bool (*set_caps) (gpointer core, guint stream, const MccAppSession *caps, MccTime now);
  void (*set_ssrc) (gpointer core, guint stream, guint32 ssrc, MccTime now); /* may be NULL */
  /* its input has ended, or goes on after all; may be NULL */
  void (*set_ended) (gpointer core, guint stream, bool ended, MccTime now);
  bool (*ect) (gpointer core); /* may be NULL */
  void (*handle_timeout) (gpointer core, MccTime now);
  MccTime (*next_timeout) (gpointer core);
} GstMccSenderMachine;

/* What all machines have alike, for a class's GstMccSenderMachine: its members' functions of these
 * names, from mcc_..._sender_*(). */
#define GST_MCC_SENDER_DEFINE_MACHINE(prefix)                                                      \
  static void destroy (gpointer core)                                                              \
  {                                                                                                \
    prefix##_free (core);                                                                          \
  }                                                                                                \
  static void handle_bye (gpointer core, guint32 ssrc, const MccAddress *from, MccTime now)        \
  {                                                                                                \
    prefix##_handle_bye (core, ssrc, from, now);                                                   \
  }                                                                                                \
  static void handle_dropped (gpointer core, MccDrop drop, guint32 ssrc, MccTime now)              \
  {                                                                                                \
    prefix##_handle_dropped (core, drop, ssrc, now);                                               \
  }                                                                                                \
  static void handle_timeout (gpointer core, MccTime now)                                          \
  {                                                                                                \
    prefix##_handle_timeout (core, now);                                                           \
  }                                                                                                \
  static MccTime next_timeout (gpointer core)                                                      \
  {                                                                                                \
    return prefix##_next_timeout (core);                                                           \
  }

typedef struct {
  GstBinClass parent;
  const gchar *scheme;       /* of URIs, static */
  const gchar *element_name; /* static */
  const GstMccSenderMachine *machine;
  /* .app, .assp_app or .elm_app; the rest is ours. */
  const GstMccSessionHandler *handler;

  /* NULL->READY: opens the session and makes what belongs to it. FALSE: an error was posted, and
   * _release follows. */
  gboolean (*prepare) (GstMccSender *self);
  /* READY->NULL; the session is closed in it. Also after a _prepare that failed. */
  void (*release) (GstMccSender *self);
  /* READY->PAUSED, before the data flows: sets the core, or what it will be made of. FALSE: an
   * error was posted. */
  gboolean (*start) (GstMccSender *self);
  /* ... once it does; may be NULL. */
  void (*started) (GstMccSender *self);

  /* With the lock, the core is there: the next thing to do, if any. What else is to be noted under
   * the lock is noted here. */
  gboolean (*poll_locked) (GstMccSender *self, GstMccSenderTodo *out);
  /* Without a lock; one thread at a time. */
  void (*act) (GstMccSender *self, GstMccSenderTodo *todo);
  /* What else there is to look at when the pump runs; returns when next. May be NULL. */
  MccTime (*tick) (GstMccSender *self, MccTime now);

  /* What the new value of a sender's property changes at once. */
  void (*apply) (GstMccSender *self, guint id);
  /* Of all streams; NULL: stream 0. */
  void (*request_key_units) (GstMccSender *self);
  guint64 (*get_target) (GstMccSender *self);
  GstStructure *(*get_stats) (GstMccSender *self, guint max_receivers);
} GstMccSenderClass;

GType gst_mcc_sender_get_type (void);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GstMccSender, gst_object_unref)

/* From a class's class_init, behind scheme: the properties, which are to be the class's own for
 * URIs. */
void gst_mcc_sender_class_install (GstMccSenderClass *klass, GstMccSends what);
/* From an instance's init. */
void gst_mcc_sender_setup (GstMccSender *self);
void gst_mcc_sender_set_property (
    GObject *object, guint id, const GValue *value, GParamSpec *pspec);
void gst_mcc_sender_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec);

/* ---- for classes; without the lock unless said ---- */

/* For _prepare. @bandwidth_bps: where `session-bandwidth` is unset. FALSE: an error was posted. */
gboolean gst_mcc_sender_open_session (
    GstMccSender *self, const MccPlace *places, guint n, guint64 bandwidth_bps);
/* A child of the bin, of GStreamer's core plugins; NULL: an error was posted. */
GstElement *gst_mcc_sender_make (GstMccSender *self, const gchar *factory);
/* Takes @child, guarded by the object lock, out of the bin and sets it to NULL; it may be so. */
void gst_mcc_sender_unmake (GstMccSender *self, GstElement **child);
void gst_mcc_sender_tell_missing (GstMccSender *self, const gchar *factory);
void gst_mcc_sender_tell_no_memory (GstMccSender *self);

/* Polls what the machine wants done and does it, in the order in which the machine said it, one
 * thread at a time. Nobody waits for another: who comes while one acts leaves it to that one. */
void gst_mcc_sender_drain (GstMccSender *self);
/* TRUE the first time since READY->PAUSED. */
gboolean gst_mcc_sender_warn_once (GstMccSender *self, guint bit);
/* Emits encoder-bitrate-changed; a GstMccEncoderChanged. */
void gst_mcc_sender_encoder_changed (gpointer self, GstElement *encoder, guint64 bitrate);

/* For _poll: copies an announcement (@rtt may be NULL). */
void gst_mcc_sender_copy_session (
    GstMccSenderTodo *todo, const MccAppSession *session, const MccAppRttList *rtt);
/* For _act. @stream: of several, -1: there is one. */
void gst_mcc_sender_tell_receiver (GstMccSender *self, gint stream, MccReceiverState state,
    MccQuarantine quarantine, guint32 ssrc, const MccAddress *address);
/* @reason: static. */
void gst_mcc_sender_tell_target (GstMccSender *self, gint stream, guint64 bps, guint64 previous_bps,
    const gchar *reason, guint32 ssrc);
void gst_mcc_sender_tell_feedback (GstMccSender *self, gboolean found);
/* Nobody reports, and `no-feedback` is stop. With the lock; what _act() was told may have changed.
 */
gboolean gst_mcc_sender_is_stopped_locked (GstMccSender *self);
gboolean gst_mcc_sender_has_ended (GstMccSender *self, guint stream);

/* What the class's handler gets from the network. */
void gst_mcc_sender_handle_app (GstMccSender *self, gconstpointer app, const MccAddress *from);

/* For _get_stats, with the lock: what @core says, and of how many receivers. Transfer: full. */
MccReceiverInfo *gst_mcc_sender_get_figures_locked (GstMccSender *self, const MccAsmpSender *core,
    guint max_receivers, MccAsmpSenderStats *stats, guint *n);

/* What the pacer says; gpointer, for it is the owner of callbacks. */
void gst_mcc_sender_handle_sent (
    gpointer self, guint stream, guint packets, guint64 bytes, guint32 highest_seq);
void gst_mcc_sender_handle_caps (GstMccSender *self, guint stream, GstCaps *caps);
/* Says BYE. */
void gst_mcc_sender_handle_eos (gpointer self, guint stream);
void gst_mcc_sender_handle_again (gpointer self, guint stream);
void gst_mcc_sender_request_key_unit (gpointer self, guint stream);
/* Where `sdp-location` names one file and the session is one stream for plain players. */
void gst_mcc_sender_write_sdp (GstMccSender *self, GstMccSendStream *stream, GstCaps *caps);

G_END_DECLS
