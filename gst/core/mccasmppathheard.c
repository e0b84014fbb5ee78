/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * mccasmppath: what RTCP tells of the path: echoes, the RTTs of others, announcements.
 */
#include "mccasmppath.h"

#define HOLD_MAX (2 * MCC_SECOND) /* the packet that a report echoes is still known */

/* The transit of what was stamped @send_time, had it come at @arrival. */
static MccTimeDelta
transit_of (const MccAsmpPath *self, uint32_t send_time, MccTime arrival)
{
  MccTimeDelta sent = mcc_abs_send_time_diff (send_time, self->jitter.last_send);
  MccTimeDelta came = (MccTimeDelta)(arrival - self->jitter.last_arrival);
  return self->jitter.cumulative + (came - sent);
}

void
mcc_asmp_path_hear_report (
    MccAsmpPath *self, uint32_t ssrc, const MccAppReport *report, MccTime now)
{
  if (self->jitter.started && (report->flags & MCC_REPORT_ECHO) && report->hold < HOLD_MAX)
    mcc_neighbours_handle_report (&self->neighbours, ssrc, report->number, report->echo,
        transit_of (self, report->echo, now - report->hold), report->queue_delay, self->standing);
}

void
mcc_asmp_path_hear_rtt (MccAsmpPath *self, const MccAppRtt *entry, MccTime now)
{
  MccTime rtt;
  MccTimeDelta transit;
  if (mcc_neighbours_handle_rtt (
          &self->neighbours, entry->ssrc, entry->number, entry->rtt, &rtt, &transit))
    mcc_rtt_borrow (&self->rtt, rtt, transit, now);
}

void
mcc_asmp_path_handle_announcement (MccAsmpPath *self, uint32_t send_time, MccTime now)
{
  if (now < self->absent_until)
    return;
  if (!self->jitter.started) { /* an announcement may come long before the stream */
    self->arrival = now;
    mcc_asmp_path_begin_interval (self, send_time, now);
    mcc_jitter_handle_packet (&self->jitter, send_time, now);
  }
  self->has_echo = true;
  self->echo = send_time;
  self->echo_time = now;
  self->echo_transit = transit_of (self, send_time, now);
}

void
mcc_asmp_path_handle_report (MccAsmpPath *self, uint32_t number)
{
  if (self->has_echo)
    mcc_rtt_add_reference (&self->rtt, number, self->echo_transit);
}
