/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * sender: PGMCC's sender as a machine without a network (section 3): it sends a packet whenever it
 * has a token, and elects the acker.
 *
 * Ours, where the draft is open or at odds with itself:
 * - ACKs of former ackers count for the window (2.2), not for the present acker's statistics. Read
 *   to the letter, section 3 drops them; then each switch takes all packets on their way out of the
 *   window, and only a time-out goes on. ("The acker may change on every packet", 2.2.)
 * - RTT samples are compared as they are; only the time-out smooths them (RFC 6298). A new acker's
 *   NAK is its first sample.
 * - The time-out doubles until an ACK comes (RFC 6298 5.5). Without an acker, a packet in
 *   RTO_INITIAL asks for one.
 */
#pragma once

#include "pgmcc.h"
#include "window.h"

namespace sim::pgmcc
{

struct SenderConfig {
  MccTime interval = 0; /* the source's: no packet sooner after another */
  bool packet_numbers
      = false; /* acker elected by the RTT in packets (2.5.3), else by time stamps */
  Model model = Model::FULL;
};

class Sender
{
public:
  Sender (const SenderConfig &config, MccTime now) : m_config (config), m_gate (now)
  {
  }

  void HandleFeedback (const Feedback &feedback, MccTime now);
  void HandleTimeout (MccTime now);
  MccTime NextTimeout () const;
  /* The packet to send now, if there is one. */
  bool Poll (Data *out, MccTime now);

  std::uint32_t Acker () const
  {
    return m_acker;
  }
  const Window &GetWindow () const
  {
    return m_window;
  }
  unsigned OnTheirWay () const
  {
    return m_flight.Unknown ();
  }
  MccTime Rto () const
  {
    return m_rto;
  }
  /* SRTT of the acker, s; 0 without. */
  double Rtt () const
  {
    return m_srtt;
  }
  /* Of the acker (M, 2.4). */
  double AckerInverse () const
  {
    return m_inverse;
  }

private:
  void Elect (std::uint32_t id, double inverse, double rtt, MccTime now);
  void Depose ();
  void Sample (double rtt);

  SenderConfig m_config;
  Window m_window;
  Flight m_flight;
  std::uint32_t m_acker = NOBODY;
  double m_inverse = 0.0;
  double m_srtt = 0.0, m_rttvar = 0.0; /* s */
  MccTime m_rto = RTO_INITIAL;
  MccTime m_deadline = MCC_TIME_NONE;
  MccTime m_gate; /* the source's next packet */
  unsigned m_retry = 0;
};

} // namespace sim::pgmcc
