/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * mcclossprivate: what the loss measures share; for mccloss*.c alone.
 *
 * The front (mccloss.c) turns arrivals into one stream of packets in order, each either received or
 * lost, numbered by an index that starts at 0 and never jumps, whatever the sequence numbers do. A
 * measure sees nothing else, except for late repairs of packets that it has already seen lost.
 */
#pragma once

#include "mccloss.h"

/* How far back a loss can be repaired, packets: all that 16-bit numbers can tell. */
#define MCC_LOSS_REPAIR_WINDOW 32768

typedef struct {
  uint64_t index;
  uint32_t bytes;
  MccTime arrival;
  bool marked;
} MccLossPacket;

typedef struct {
  uint64_t packets;
  uint64_t bytes;
} MccLossSize;

/* Of packets. */
typedef struct {
  uint64_t received, lost, marked, duplicates, reordered, resyncs;
} MccLossCounts;

struct MccLoss {
  const MccLossMeasure *measure;
  MccLossConfig config;
  double weights[MCC_LOSS_HISTORY_MAX]; /* newest first */
  MccTime rtt;                          /* of the newest packet */
  MccTime extend_until;

  /* Kept by the measure. */
  uint64_t events;
  MccTime last_event;

  /* The stream. */
  bool started;
  uint64_t seq_base;      /* sequence number of index 0, modulo 2^64 */
  uint64_t segment_first; /* first index since the last resync */
  uint64_t next;          /* the first index whose fate is open */
  uint64_t highest;
  MccTime now;
  MccTime stream_time;                     /* arrival of the packet before @next; never falls */
  MccLossPacket waiting[MCC_LOSS_NDUPACK]; /* arrived after a hole at @next, in order */
  unsigned num_waiting;
  uint64_t lost_bits[MCC_LOSS_REPAIR_WINDOW / 64];

  /* Numbers that do not fit the stream, until they make one of their own. */
  uint64_t stray_last;
  unsigned stray_run;

  /* Sizes of the received packets, one slot per interval of the history and the open one. */
  MccLossSize sizes[MCC_LOSS_HISTORY_MAX + 1];
  unsigned size_slot;
  MccLossSize size_total;

  MccLossCounts counts;
};

/* A packet of @bytes in the measure's unit: 1, or virtual packets. */
double mcc_loss_units (const MccLoss *self, uint32_t bytes);
/* The same for a lost one, which has the mean size. */
double mcc_loss_lost_units (const MccLoss *self);
/* A new interval opens: the oldest one's packets leave the mean size. */
void mcc_loss_shift_sizes (MccLoss *self);
/* Whether @index is a loss that nothing has repaired. */
bool mcc_loss_is_lost (const MccLoss *self, uint64_t index);

/* Loss events, for LIP, LAP and window (mcclossevents.c). Some more than the history, so that an
 * event that a repair removes makes room for the one it had pushed out. */
#define MCC_LOSS_EVENTS_MAX (MCC_LOSS_HISTORY_MAX + 8)

typedef struct {
  uint64_t first;   /* index of its first loss */
  uint64_t last;    /* index of its latest loss */
  MccTime time;     /* of its first loss */
  MccTime end;      /* losses before belong to it */
  double interval;  /* units, the closed loss interval that it ends */
  double impact;    /* units, its counted losses */
  double discount;  /* of all older intervals, when this event began (RFC 5348 5.5) */
  uint32_t losses;  /* not repaired, counted or not; marked packets are among them */
  uint32_t marks;   /* of them */
  uint32_t counted; /* those in @impact */
  bool seeded;      /* its interval and impact stand as they are */
} MccLossEvent;

typedef struct {
  MccLoss base;
  MccLossEvent ring[MCC_LOSS_EVENTS_MAX];
  unsigned newest;
  unsigned count;
  unsigned expected; /* so many of the oldest, the seeded ones, were only expected at first */
  double open;       /* units, the open interval */
} MccLossEvents;

/* The event @age events before the newest, which has age 0. */
MccLossEvent *mcc_loss_events_get (const MccLossEvents *self, unsigned age);
/* Those that count: at most the history. */
unsigned mcc_loss_events_in_use (const MccLossEvents *self);
/* Whether a packet at @time belongs to the newest event. */
bool mcc_loss_events_joins (const MccLossEvents *self, MccTime time);
MccLossEvent *mcc_loss_events_begin (
    MccLossEvents *self, uint64_t index, MccTime time, double interval);
/* The event that the loss of @index belongs to; NULL when it has left the history. */
MccLossEvent *mcc_loss_events_find (const MccLossEvents *self, uint64_t index);
/* One loss of @event is none; the last one takes the event with it. */
void mcc_loss_events_take_loss (MccLossEvents *self, MccLossEvent *event);
/* ELM eq. 10, with RFC 5348 5.5 when @discounting, of the open interval without end when
 * @forgetting. Needs an event. */
double mcc_loss_events_mean_interval (const MccLossEvents *self, bool discounting, bool forgetting);
void mcc_loss_events_seed (MccLoss *loss, double loss_ratio);
double mcc_loss_events_marked_share (const MccLoss *loss);

/* mcclosschange.c */
bool mcc_loss_events_expect (MccLoss *loss, double loss_ratio, unsigned intervals);
/* The expected intervals go where the measured ones refute them. */
void mcc_loss_events_judge_expected (MccLossEvents *self);
unsigned mcc_loss_events_changed (const MccLoss *loss, double chance);
void mcc_loss_events_reseed (MccLoss *loss, unsigned keep, double loss_ratio);

/* LAP with losses that count only @window packets after the one before (mcclosslap.c); LAP itself
 * has a window of 1. A repair does not see the marked packets about it. */
void mcc_loss_lap_handle_received (MccLoss *loss, uint64_t index, uint32_t bytes, MccTime arrival);
void mcc_loss_lap_count (MccLoss *loss, uint64_t index, MccTime time, unsigned window);
void mcc_loss_lap_count_marked (
    MccLoss *loss, uint64_t index, uint32_t bytes, MccTime arrival, unsigned window);
void mcc_loss_lap_uncount (MccLoss *loss, uint64_t index, unsigned window);
double mcc_loss_lap_ratio (const MccLoss *loss);
