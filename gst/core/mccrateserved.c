/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * mccrateserved: whether a queue serves us alone.
 *
 * Law: a queue that is ours alone lets out packets at the link's rate, whatever we send into it.
 * Of others' packets there are the fewer between ours the more we send: what comes varies by their
 * part of what we send, or more. Where it stays the same, whatever is lost by chance, others have
 * no more than a third, or send as we do.
 */
#include "mccrateenhanced.h"

/* All ours (docs/design/receiver.md, what a queue lets out). */
#define MEMORY 40.0                 /* decisions */
#define STOOD 5.5                   /* with a queue that stands ... */
#define SPAN_MIN (20 * MCC_MSECOND) /* ... and data over so long: no end of a burst ... */
#define VARIED 0.08                 /* ... with a sent rate that varies so (s.d. / mean) ... */
#define VARIED_MOST 0.25            /* ... of which more than this excuses no more ... */
#define SAME 0.33                   /* ... and what comes by this of it: RTCP comes between */

static void
note (MccRateServedSums *self, const MccRateInput *input, bool stands)
{
  double *sums[] = { &self->stood, &self->sent, &self->sent2, &self->came, &self->came2 };
  for (unsigned i = 0; i < sizeof sums / sizeof *sums; i++)
    *sums[i] *= 1.0 - 1.0 / MEMORY;
  if (!stands)
    return;
  double sent = (double)input->sent_bytes / mcc_time_to_seconds (input->sent_span);
  double came = (double)input->sent_bytes / mcc_time_to_seconds (input->came_span);
  self->stood += 1.0;
  self->sent += sent;
  self->sent2 += sent * sent;
  self->came += came;
  self->came2 += came * came;
}

void
mcc_rate_enhanced_watch_served (MccRateEnhanced *rate, const MccRateInput *input)
{
  MccTime empty = mcc_rate_enhanced_empty_queue (rate, input)
                  + mcc_time_from_seconds (mcc_rate_packet_delay_s (input));
  /* Whether the queue let out what is missing is not known. */
  bool stands = !input->loss_in_interval && input->queue_delay > empty
                && input->sent_span >= SPAN_MIN && input->came_span >= SPAN_MIN;
  note (&rate->served.all, input, stands);
  note (&rate->served.competing, input, stands);
}

/* Variance by the square of the mean. */
static double
variation2 (double sum, double sum2, double count)
{
  double mean = sum / count;
  return sum2 / count / (mean * mean) - 1.0;
}

static bool
same (const MccRateServedSums *self)
{
  if (self->stood < STOOD)
    return false;
  double sent = variation2 (self->sent, self->sent2, self->stood);
  double came = variation2 (self->came, self->came2, self->stood);
  return sent >= VARIED * VARIED && came <= SAME * SAME * fmin (sent, VARIED_MOST * VARIED_MOST);
}

bool
mcc_rate_enhanced_serves_us_alone (const MccRateEnhanced *rate)
{
  return same (&rate->served.all) || same (&rate->served.competing);
}
