/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * asmpwire: ASMP's, ASSP's and ELM's packets as they are on the wire (docs/wire-format.md): RTP
 * headers with abs-send-time, and RTCP compounds around the core's APP packets. RTP and RTCP share
 * a port of the laboratory and are told apart as RFC 5761 4 has it.
 */
#pragma once

#include <array>

#include "port.h"

extern "C" {
#include "mccapp.h"
#include "mccasspapp.h"
#include "mccelmapp.h"
#include "mccplain.h"
}

namespace sim
{

/* Fixed header, extension header, abs-send-time (RFC 3550 5.1, RFC 8285 4.2). */
constexpr std::uint32_t ASMP_RTP_BYTES = 12 + 4 + 4;
constexpr std::uint32_t ASMP_MEDIA_HEADERS = UDP_HEADERS + ASMP_RTP_BYTES;
constexpr std::uint8_t ASMP_SEND_TIME_ID = 1;
constexpr std::uint8_t ASMP_PAYLOAD_TYPE = 96;
constexpr std::uint32_t ASMP_CLOCK_RATE = 90000;

using AsmpRtp = std::array<std::uint8_t, ASMP_RTP_BYTES>;

AsmpRtp MakeRtp (std::uint32_t ssrc, std::uint16_t seq, std::uint32_t send_time);
bool IsRtcp (const Datagram &datagram);
bool ParseRtp (const Datagram &datagram, MccRtpPacket *out);

/* What a report block tells the sender's core. */
struct AsmpBlock {
  bool present = false;
  double fraction_lost = 0.0;
  std::int32_t packets_lost = 0; /* ever */
  std::uint32_t highest_seq = 0;
  std::uint32_t source = 0; /* SSRC that it is about; 0 where there is one sender only */

  MccPlainReport Plain () const
  {
    return { fraction_lost, packets_lost, highest_seq, 0 };
  }
};

/* RR or SR, SDES with a CNAME of 16 characters, APP packets, PLI, BYE. */
class AsmpCompound
{
public:
  AsmpCompound (std::uint32_t ssrc, bool sender, const AsmpBlock &block = {});
  /* False: it does not fit any more, the next compound takes it. */
  bool AddApp (const MccApp &app);
  bool AddApp (const MccAsspApp &app);
  bool AddApp (const MccElmApp &app);
  void AddPli (std::uint32_t media_ssrc);
  void AddBye ();
  const std::uint8_t *Data () const
  {
    return m_data.data ();
  }
  std::size_t Size () const
  {
    return m_size;
  }
  std::uint32_t IpBytes () const
  {
    return static_cast<std::uint32_t> (m_size) + UDP_HEADERS;
  }

private:
  std::uint8_t *Grow (std::size_t bytes);
  template <typename App, std::size_t (*size) (const App *),
      std::size_t (*encode) (const App *, std::uint8_t *, std::size_t)>
  bool Add (const App &app);

  std::uint32_t m_ssrc;
  std::size_t m_size = 0;
  std::array<std::uint8_t, 1400> m_data; /* as GST_MCC_COMPOUND_BYTES */
};

/* A compound's parts, one after the other. */
class AsmpCompoundReader
{
public:
  enum class Part { REPORT, APP, ASSP, ELM, PLI, BYE, END };

  explicit AsmpCompoundReader (const Datagram &datagram)
      : m_data (datagram.data), m_left (datagram.size)
  {
  }
  /* The next part that means something to us; fills in Ssrc() and the part's value. */
  Part Next ();
  std::uint32_t Ssrc () const
  {
    return m_ssrc;
  }
  const AsmpBlock &Block () const
  {
    return m_block;
  }
  const MccApp &App () const
  {
    return m_app;
  }
  const MccAsspApp &AsspApp () const
  {
    return m_assp;
  }
  const MccElmApp &ElmApp () const
  {
    return m_elm;
  }
  /* PLI: the SSRC that is asked. */
  std::uint32_t MediaSsrc () const
  {
    return m_media_ssrc;
  }

private:
  const std::uint8_t *m_data;
  std::size_t m_left;
  std::uint32_t m_ssrc = 0;
  AsmpBlock m_block;
  MccApp m_app;
  MccAsspApp m_assp;
  MccElmApp m_elm;
  std::uint32_t m_media_ssrc = 0;
};

/* Hosts as the core knows them. */
MccAddress AsmpAddress (HostId host);
HostId AsmpHost (const MccAddress &address);

} // namespace sim
