/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * port: what a protocol sees of the network and of time; one per host and flow.
 *
 * Applications run unchanged over ns-3's sockets (topologies/network) and over the light star for
 * large groups (topologies/light). All times are of the host's own clock, whose epoch is not zero
 * and which may drift (ppm); sizes are IP bytes, headers included.
 */
#pragma once

#include <cstdint>
#include <functional>

#include <ns3/event-id.h>

extern "C" {
#include "mcctypes.h"
}

namespace sim
{

/* A host's index, unique in a run. */
using HostId = std::uint32_t;

constexpr std::uint32_t UDP_HEADERS = 28; /* IPv4 and UDP */

struct Datagram {
  HostId from;
  bool to_group;
  unsigned group; /* 0 for ASMP; a stream's or layer's number */
  std::uint32_t ip_bytes;
  MccEcn ecn;               /* as it arrived; CE: marked by a queue (RFC 3168) */
  const std::uint8_t *data; /* the bytes given to Send, valid during the call */
  std::size_t size;
  double delay; /* s, one way, true time: for the record, not for a protocol */
};

class Port
{
public:
  using Handler = std::function<void (const Datagram &)>;

  virtual ~Port () = default;

  virtual HostId Host () const = 0;
  /* The host's clock. */
  virtual MccTime Now () const = 0;
  /* Calls @callback at @when of the host's clock, at once when that is past. */
  virtual ns3::EventId At (MccTime when, std::function<void ()> callback) = 0;

  /* @size bytes at @data in a UDP datagram of @ip_bytes (>= @size + UDP_HEADERS). */
  virtual void SendGroup (
      unsigned group, const void *data, std::size_t size, std::uint32_t ip_bytes, bool ect = false)
      = 0;
  virtual void SendTo (
      HostId to, const void *data, std::size_t size, std::uint32_t ip_bytes, bool ect = false)
      = 0;
  /* Membership; a leave takes effect after the scenario's leave latency. What a host sends to the
   * group does not come back to it. */
  virtual void Join (unsigned group) = 0;
  virtual void Leave (unsigned group) = 0;

  void SetHandler (Handler handler)
  {
    m_handler = std::move (handler);
  }

protected:
  Handler m_handler;
};

} // namespace sim
