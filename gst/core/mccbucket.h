/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * mccbucket: a token bucket for what one source may send us.
 */
#pragma once

#include <stdbool.h>

#include "mcctime.h"

typedef struct {
  float tokens;
  float burst;  /* tokens at most */
  float per_s;  /* tokens a second */
  MccTime time; /* of the last refill */
} MccBucket;

void mcc_bucket_init (MccBucket *self, double per_s, double burst, MccTime now);
/* Takes one token if there is one. */
bool mcc_bucket_take (MccBucket *self, MccTime now);
