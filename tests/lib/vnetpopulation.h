/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * vnetpopulation: receivers, each behind a link of its own, and what an ASSP ladder gives them.
 * Half of the time is one population, the other half another: links change, members come and go.
 */
#pragma once

#include "vnetassp.h"

#define VNET_POPULATION_MAX 32

typedef struct {
  const char *name;
  guint count;
  guint rivals; /* each such link has a TCP-like flow besides, all the time; 0: none */
  struct {
    guint64 before_bps, after_bps; /* of its link; 0: it is not there */
  } member[VNET_POPULATION_MAX];
} VnetPopulation;

/* Where the rate goes, means over receivers and time: ideal = all of these and what is shown. */
typedef struct {
  double ideal_bps;     /* the best partition of the links' rates into as many streams */
  double partition_bps; /* lost where receivers are in other streams than there */
  double rate_bps;      /* ... where a stream is slower than the slowest link that it passes */
  double shown_bps;     /* ... where what is sent is not shown: gaps, losses, encoders */
} VnetPopulationLoss;

typedef struct {
  double mean_bps;                /* shown, over receivers and time */
  double late_bps;                /* ... over the second half of the time */
  VnetPopulationLoss begin, rest; /* within 60 s of the begin or the half; else */
  double drop_ratio;              /* of RTP, at the links */
  double switches;                /* a receiver and minute */
  guint most;       /* of one receiver within a minute, after the first and not around the half */
  unsigned streams; /* running at the same time, at most */
  guint ladders;    /* changes of the ladder */
} VnetPopulationResult;

/* Clustered, uniform, one far outlier: each for ever and with a change. */
#define VNET_POPULATIONS 6
void vnet_population_make (VnetPopulation *out, guint which);

typedef struct {
  unsigned count;
  guint64 bound_bps[MCC_ASSP_STREAMS_MAX + 1]; /* count + 1 of them, rising */
  bool live;
} VnetLadder;

void vnet_population_run (const VnetPopulation *population, const VnetLadder *ladder, guint seconds,
    guint64 seed, VnetPopulationResult *out);
