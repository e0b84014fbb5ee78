/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * cbr: a multicast that does not adapt: max_bps, whatever happens.
 */
#include <algorithm>

#include "multicast.h"

namespace sim
{
namespace
{

class CbrSender : public MulticastSender
{
public:
  CbrSender (Port &port, const MulticastConfig &config, SenderRecord &record)
      : m_port (port), m_config (config), m_record (record)
  {
  }
  ~CbrSender () override
  {
    Stop ();
  }

  void Start () override
  {
    m_record.target_bps.Set (static_cast<double> (m_config.max_bps));
    m_next = m_port.Now ();
    Send ();
  }

  void Stop () override
  {
    m_timer.Cancel ();
  }

private:
  void Send ()
  {
    m_port.SendGroup (0, &m_seq, sizeof m_seq, m_config.packet_bytes, m_config.ect);
    m_seq++;
    m_record.bytes.Add (m_config.packet_bytes);
    m_record.packets.Add (1);
    m_next += MCC_SECOND * 8 * m_config.packet_bytes / m_config.max_bps;
    m_timer = m_port.At (m_next, [this] { Send (); });
  }

  Port &m_port;
  MulticastConfig m_config;
  SenderRecord &m_record;
  std::uint64_t m_seq = 0;
  MccTime m_next = 0;
  ns3::EventId m_timer;
};

class CbrReceiver : public MulticastReceiver
{
public:
  CbrReceiver (Port &port, const MulticastConfig &, ReceiverRecord &record)
      : m_port (port), m_record (record)
  {
    port.SetHandler ([this] (const Datagram &datagram) { Handle (datagram); });
  }

  void Start () override
  {
    m_first = true;
    m_record.member.Set (1);
    m_port.Join (0);
  }

  void Leave () override
  {
    m_record.member.Set (0);
    m_port.Leave (0);
  }

  void Crash () override
  {
    Leave ();
  }

private:
  void Handle (const Datagram &datagram)
  {
    std::uint64_t seq;
    std::copy_n (datagram.data, sizeof seq, reinterpret_cast<std::uint8_t *> (&seq));
    if (!m_first && seq > m_expected)
      m_record.lost.Add (static_cast<double> (seq - m_expected));
    m_first = false;
    m_expected = seq + 1;
    m_record.packets.Add (1);
    m_record.bytes.Add (datagram.ip_bytes);
    m_record.delay.Add (datagram.delay);
  }

  Port &m_port;
  ReceiverRecord &m_record;
  bool m_first = true;
  std::uint64_t m_expected = 0;
};

} // namespace

extern const MulticastProtocol cbr_protocol;
const MulticastProtocol cbr_protocol = {
  "cbr",
  [] (Port &port, const MulticastConfig &config,
      SenderRecord &record) -> std::unique_ptr<MulticastSender> {
    return std::make_unique<CbrSender> (port, config, record);
  },
  [] (Port &port, const MulticastConfig &config,
      ReceiverRecord &record) -> std::unique_ptr<MulticastReceiver> {
    return std::make_unique<CbrReceiver> (port, config, record);
  },
};

} // namespace sim
