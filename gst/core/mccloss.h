/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * mccloss: four loss measures behind one interface.
 *
 *   interval  ASMP eq. 2-3: loss fraction per report interval, weighted mean of the last 8
 *   lip       TFRC / ELM eq. 10-11: loss events, p = 1 / weighted mean of the loss intervals
 *   lap       ELM eq. 13-17: as LIP, each event with its impact (packets lost in one RTT)
 *   window    ELM 6.2.2: LAP whose later losses of an event count only W = 3 packets apart
 *
 * A packet is lost when 3 later ones have arrived (RFC 5348 NDUPACK); a late arrival repairs it as
 * long as its event is in the history. Duplicates change nothing. Shifting the sequence base or the
 * time base changes nothing. No allocation after _new().
 *
 * A packet that a queue marked (ECN, RFC 3168) has arrived, but begins or joins a loss event where
 * it would if it were lost (RFC 5348 5.2, RFC 6679 7.3.2): the ratio is that of the same stream
 * with the marked packets lost. What was marked and late repairs the data, not the event.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mcctime.h"

#define MCC_LOSS_NDUPACK 3
#define MCC_LOSS_HISTORY_MAX 64

typedef struct MccLoss MccLoss;

typedef struct {
  unsigned history;       /* intervals; 8 in TFRC and the papers; 1..MCC_LOSS_HISTORY_MAX */
  bool weighted_impact;   /* LAP: eq. 16 (true) or the unweighted eq. 15 */
  unsigned window;        /* W of the LIP/LAP window; 3 */
  uint32_t virtual_bytes; /* count in units of this many bytes (thesis 4.3.4); 0 = packets */
  bool discounting;       /* RFC 5348 5.5 history discounting (LIP only) */
  bool forgetting; /* ... without end where the open interval is as good as impossible (ours):
                      above max (5 means, the longest), by exp (-excess / mean) */
} MccLossConfig;

extern const MccLossConfig mcc_loss_config_default;

/* One measure = one const table; a new one is a new file and one line. */
typedef struct MccLossMeasure MccLossMeasure;
struct MccLossMeasure {
  const char *name;
  size_t size;
  void (*init) (MccLoss *self);
  void (*handle_received) (MccLoss *self, uint64_t seq, uint32_t bytes, MccTime arrival);
  /* ... and was marked. */
  void (*handle_marked) (MccLoss *self, uint64_t seq, uint32_t bytes, MccTime arrival);
  /* @seq is lost; @time is interpolated between its neighbours' arrivals. In order of seq. */
  void (*handle_lost) (MccLoss *self, uint64_t seq, MccTime time);
  /* @seq was reported lost before and has come after all. */
  void (*handle_repaired) (MccLoss *self, uint64_t seq);
  /* A report interval ends (interval loss only; may be NULL). */
  void (*handle_interval) (MccLoss *self);
  double (*ratio) (const MccLoss *self);
  /* ... with nothing forgotten for the open interval's sake; NULL: the same. */
  double (*remembered_ratio) (const MccLoss *self);
  /* Which part of the ratio marks alone made, 0..1. */
  double (*marked_share) (const MccLoss *self);
  /* Replace the history by one interval that gives @loss_ratio; may be NULL. */
  void (*seed) (MccLoss *self, double loss_ratio);
  /* mcc_loss_expect; may be NULL. */
  bool (*expect) (MccLoss *self, double loss_ratio, unsigned intervals);
  /* mcc_loss_changed and mcc_loss_reseed; may be NULL. */
  unsigned (*changed) (const MccLoss *self, double chance);
  void (*reseed) (MccLoss *self, unsigned keep, double loss_ratio);
};

extern const MccLossMeasure mcc_loss_interval;
extern const MccLossMeasure mcc_loss_lip;
extern const MccLossMeasure mcc_loss_lap;
extern const MccLossMeasure mcc_loss_window;

/* NULL when the name is none of "interval", "lip", "lap", "window". */
const MccLossMeasure *mcc_loss_find (const char *name);

/* NULL when memory is short. */
MccLoss *mcc_loss_new (const MccLossMeasure *measure, const MccLossConfig *config);
void mcc_loss_free (MccLoss *self);
/* As new, counts included: another stream. */
void mcc_loss_reset (MccLoss *self);
/* As new, but for the counts of packets: what was measured of the same stream holds no more. */
void mcc_loss_forget (MccLoss *self);

/* From now on the newest @history intervals count (1..MCC_LOSS_HISTORY_MAX; not interval loss).
 * More of them are remembered: a longer history has its older ones at once. */
void mcc_loss_set_history (MccLoss *self, unsigned history);

/* A packet with extended number @seq (mccseq.h) of @bytes IP bytes arrived. @rtt (> 0) is the
 * present round-trip time: losses within one RTT of an event's first belong to it. */
void mcc_loss_handle_packet (
    MccLoss *self, uint64_t seq, uint32_t bytes, MccTime arrival, MccTime rtt);
/* The same for one that a queue marked. */
void mcc_loss_handle_marked_packet (
    MccLoss *self, uint64_t seq, uint32_t bytes, MccTime arrival, MccTime rtt);
/* The same for one, marked or not, of which is known that a newer one has come: it is late or a
 * copy, however far behind and however many in a row are, and never a restart. */
void mcc_loss_handle_late_packet (
    MccLoss *self, uint64_t seq, uint32_t bytes, MccTime arrival, MccTime rtt, bool marked);
/* The report interval ends now (ASMP: at each report). Packets behind a gap whose fate is open
 * belong to the next one. */
void mcc_loss_handle_interval (MccLoss *self);

/* Losses that come before @until belong to the newest loss event whatever the RTT says: one
 * congestion episode, one event, until the sender's reaction can be seen (enhanced; LIP, LAP,
 * window). MCC_TIME_NONE ends it. */
void mcc_loss_extend_event (MccLoss *self, MccTime until);

/* Smoothed loss 0..1, as the equation takes it; 0 = no loss and no mark yet. */
double mcc_loss_ratio (const MccLoss *self);
/* How often losses came, however long there has been none: without @forgetting. */
double mcc_loss_remembered_ratio (const MccLoss *self);
/* The part of it for which no packet was lost, 0..1: by the weights of the events without a loss
 * (interval loss: marked / (marked + lost)). 0 without marks. */
double mcc_loss_marked_share (const MccLoss *self);
void mcc_loss_seed (MccLoss *self, double loss_ratio);

/* @intervals that give @loss_ratio stand behind what was measured so far, as if measured before it,
 * less of them the less likely that is beside them (Poisson; LIP). False: the measure cannot, or
 * nothing was lost yet. */
bool mcc_loss_expect (MccLoss *self, double loss_ratio, unsigned intervals);

/* How many of the newest loss intervals, up to 4, are too short for the network that the older ones
 * are of: they are by chance less often than @chance (two Poisson spans, exact test); 0: none are
 * (LIP). */
unsigned mcc_loss_changed (const MccLoss *self, double chance);
/* All but the newest @keep intervals give way to one that alone gives @loss_ratio (LIP). */
void mcc_loss_reseed (MccLoss *self, unsigned keep, double loss_ratio);

/* Counts since the start. Expected = highest - first + 1, over all restarts, since the newest
 * mcc_loss_forget (). A jump of the numbers
 * by more than 3000 ahead or beyond what the history remembers (RFC 3550 A.1) is a stray until a
 * second number in a row confirms it, then a restart: a resync, without losses. A restart within
 * the past takes 100 rising numbers without a new one. */
uint64_t mcc_loss_packets_received (const MccLoss *self);
uint64_t mcc_loss_packets_expected (const MccLoss *self);
uint64_t mcc_loss_packets_lost (const MccLoss *self);
/* Of those received. */
uint64_t mcc_loss_packets_marked (const MccLoss *self);
uint64_t mcc_loss_duplicates (const MccLoss *self);
uint64_t mcc_loss_reordered (const MccLoss *self);
uint64_t mcc_loss_resyncs (const MccLoss *self);
/* Number of loss events so far (interval loss: intervals with loss). */
uint64_t mcc_loss_events (const MccLoss *self);
/* Arrival (interpolated) of the newest event's first loss; MCC_TIME_NONE without one. */
MccTime mcc_loss_last_event (const MccLoss *self);
/* Mean size of the packets in the history, IP bytes; 0 before the first. */
double mcc_loss_mean_packet_bytes (const MccLoss *self);
