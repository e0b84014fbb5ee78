/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "asmp.h"

namespace sim
{
namespace
{

constexpr MccTime REGULAR_MIN = 5 * MCC_SECOND;    /* RFC 3550 6.2 */
constexpr double REGULAR_BYTES = 28 + 8 + 24 + 28; /* IP and UDP, RR with a block, SDES */

} // namespace

AsmpRegular::AsmpRegular (Port &port, bool sender, std::uint64_t seed, std::function<void ()> send)
    : m_port (port), m_sender (sender), m_send (std::move (send)),
      m_timer (port, [this] { Due (); })
{
  mcc_rng_init (&m_rng, seed);
}

MccTime
AsmpRegular::Interval ()
{
  double share = m_sender ? 1.0 - MCC_RTCP_RECEIVER_SHARE : MCC_RTCP_RECEIVER_SHARE;
  MccTime interval = mcc_rtcp_interval (m_target_bps, m_session_bps, share * MCC_RTCP_REGULAR_SHARE,
      m_sender ? 1 : m_receivers, REGULAR_BYTES);
  return mcc_rtcp_randomize (&m_rng, mcc_time_max (interval, REGULAR_MIN));
}

void
AsmpRegular::Start ()
{
  m_last = m_port.Now ();
  /* Half the interval before the first. */
  m_timer.Set (m_last + Interval () / 2);
}

void
AsmpRegular::Stop ()
{
  m_timer.Cancel ();
}

void
AsmpRegular::Update (std::uint64_t target_bps, std::uint64_t session_bps, unsigned receivers)
{
  m_target_bps = target_bps;
  m_session_bps = session_bps;
  m_receivers = receivers > 0 ? receivers : 1;
}

void
AsmpRegular::Due ()
{
  MccTime now = m_port.Now ();
  MccTime at = m_last + Interval ();
  if (at > now) { /* RFC 3550 6.3.6 */
    m_timer.Set (at);
    return;
  }
  m_last = now;
  m_send ();
  m_timer.Set (now + Interval ());
}

namespace
{

template <MccVariant variant>
std::unique_ptr<MulticastSender>
NewSender (Port &port, const MulticastConfig &config, SenderRecord &record)
{
  return NewAsmpSender (variant, port, config, record);
}

template <MccVariant variant>
std::unique_ptr<MulticastReceiver>
NewReceiver (Port &port, const MulticastConfig &config, ReceiverRecord &record)
{
  return NewAsmpReceiver (variant, port, config, record);
}

} // namespace

extern const MulticastProtocol asmp_published_protocol, asmp_enhanced_protocol;
const MulticastProtocol asmp_published_protocol
    = { "published", NewSender<MCC_VARIANT_PUBLISHED>, NewReceiver<MCC_VARIANT_PUBLISHED> };
const MulticastProtocol asmp_enhanced_protocol
    = { "enhanced", NewSender<MCC_VARIANT_ENHANCED>, NewReceiver<MCC_VARIANT_ENHANCED> };

} // namespace sim
