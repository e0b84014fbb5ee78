/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mccbreaker.h"

#include <string.h>

#define GONE (2 * MCC_BREAKER_WINDOW) /* nobody looked: what was between is not known */

const char *
mcc_breaker_verdict_name (MccBreakerVerdict verdict)
{
  static const char *const names[] = { "closed", "congestion", "unusable", "asked" };
  return (unsigned)verdict < sizeof names / sizeof names[0] ? names[verdict] : "unknown";
}

void
mcc_breaker_init (MccBreaker *self)
{
  memset (self, 0, sizeof *self);
}

static void
begin (MccBreaker *self, const MccBreakerInput *input)
{
  self->begun = true;
  self->since = input->now;
  self->received = input->received;
  self->lost = input->lost;
}

MccBreakerVerdict
mcc_breaker_look (MccBreaker *self, const MccBreakerInput *input)
{
  bool anew = !self->begun || input->least_bps == 0 || input->received < self->received
              || input->lost < self->lost || input->now - self->since >= GONE;
  if (anew) {
    begin (self, input);
    self->congested = self->unusable = 0;
    return MCC_BREAKER_CLOSED;
  }
  if (input->now - self->since < MCC_BREAKER_WINDOW)
    return MCC_BREAKER_CLOSED;
  uint64_t received = input->received - self->received, lost = input->lost - self->lost;
  bool unusable = lost > 0 && (double)lost >= MCC_BREAKER_LOST * (double)(received + lost);
  bool congested = (double)input->received_bps > MCC_BREAKER_FACTOR * input->allowed_bps;
  bool lowest = (double)input->asked_bps <= MCC_BREAKER_LEAST * (double)input->least_bps;
  self->unusable = unusable && lowest ? self->unusable + 1 : 0;
  self->congested = congested && lowest ? self->congested + 1 : 0;
  begin (self, input);
  if (self->congested >= MCC_BREAKER_CONGESTED)
    return MCC_BREAKER_CONGESTION;
  return self->unusable >= MCC_BREAKER_UNUSED ? MCC_BREAKER_UNUSABLE : MCC_BREAKER_CLOSED;
}
