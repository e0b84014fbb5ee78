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
  struct {
    guint64 before_bps, after_bps; /* of its link; 0: it is not there */
  } member[VNET_POPULATION_MAX];
} VnetPopulation;

typedef struct {
  double mean_bps;   /* shown, over receivers and time */
  double drop_ratio; /* of RTP, at the links */
  double switches;   /* a receiver and minute */
  guint most;        /* of one receiver within a minute, after the first and not around the half */
  unsigned streams;  /* running at the same time, at most */
  guint ladders;     /* changes of the ladder */
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
