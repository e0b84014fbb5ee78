/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * asmp: the hosts of ASMP around the core's machines, as gst/asmp hosts them in the elements.
 *
 * Options (MulticastConfig::options). Of the published variant: report_interval: s (1), or
 * "rfc3550" (RFC 3550 6.2, 5 s); smoothing: false for gamma = 1 in eq. 14. Of both: loss: interval,
 * lip, lap or window; history: intervals; no_feedback: minimum, hold or stop; session_bandwidth:
 * bit/s.
 */
#pragma once

#include "asmpwire.h"
#include "coretimer.h"
#include "mediasource.h"
#include "multicast.h"

extern "C" {
#include "mccasmpreceiver.h"
#include "mccasmpsender.h"
#include "mccrtcp.h"
}

namespace sim
{

/* rtpsession's own regular compounds, without APP: their part of the RTCP budget, at 5 s or more
 * (RFC 3550 6.2, 6.3), with timer reconsideration. */
class AsmpRegular
{
public:
  AsmpRegular (Port &port, bool sender, std::uint64_t seed, std::function<void ()> send);
  void Start ();
  void Stop ();
  /* What is announced. */
  void Update (std::uint64_t target_bps, std::uint64_t session_bps, unsigned receivers);

private:
  MccTime Interval ();
  void Due ();

  Port &m_port;
  bool m_sender;
  MccRng m_rng;
  std::function<void ()> m_send;
  CoreTimer m_timer;
  MccTime m_last = 0;
  std::uint64_t m_target_bps = 0, m_session_bps = 0;
  unsigned m_receivers = 1;
};

std::unique_ptr<MulticastSender> NewAsmpSender (
    MccVariant variant, Port &port, const MulticastConfig &config, SenderRecord &record);
std::unique_ptr<MulticastReceiver> NewAsmpReceiver (
    MccVariant variant, Port &port, const MulticastConfig &config, ReceiverRecord &record);

} // namespace sim
