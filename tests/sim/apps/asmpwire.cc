/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "asmpwire.h"

#include <algorithm>

#include <ns3/abort.h>

namespace sim
{
namespace
{

constexpr std::uint8_t PT_SR = 200, PT_RR = 201, PT_SDES = 202, PT_BYE = 203, PT_APP = 204,
                       PT_PSFB = 206;
constexpr std::uint8_t FMT_PLI = 1; /* RFC 4585 6.3.1 */
constexpr std::size_t PLI_BYTES = 12;
constexpr std::size_t BLOCK_BYTES = 24; /* RFC 3550 6.4.1 */
constexpr std::size_t CNAME_BYTES = 16; /* RFC 7022: 96 bits, base64 */
constexpr std::size_t BYE_BYTES = 8;
constexpr std::size_t BYE_RESERVE = 16; /* kept free, as gstmcccompound does */
constexpr std::uint8_t VERSION = 2 << 6;
constexpr std::uint16_t RTCP_PORT = 5005;
constexpr std::uint32_t FIRST_ADDRESS = 0x0a000001; /* 10.0.0.1 */

void
Put32 (std::uint8_t *to, std::uint32_t value)
{
  for (int i = 0; i < 4; i++)
    to[i] = static_cast<std::uint8_t> (value >> (24 - 8 * i));
}

std::uint32_t
Get32 (const std::uint8_t *from)
{
  return static_cast<std::uint32_t> (from[0]) << 24 | static_cast<std::uint32_t> (from[1]) << 16
         | static_cast<std::uint32_t> (from[2]) << 8 | from[3];
}

/* A common RTCP header: @bytes is the packet's size. */
void
PutHeader (std::uint8_t *to, std::uint8_t count, std::uint8_t type, std::size_t bytes)
{
  Put32 (to, static_cast<std::uint32_t> (VERSION | count) << 24
                 | static_cast<std::uint32_t> (type) << 16
                 | static_cast<std::uint32_t> (bytes / 4 - 1));
}

} // namespace

AsmpRtp
MakeRtp (std::uint32_t ssrc, std::uint16_t seq, std::uint32_t send_time)
{
  AsmpRtp rtp{};
  Put32 (&rtp[0], static_cast<std::uint32_t> (VERSION | 0x10) << 24
                      | static_cast<std::uint32_t> (ASMP_PAYLOAD_TYPE) << 16 | seq);
  Put32 (&rtp[8], ssrc);
  Put32 (&rtp[12], 0xbede0001);
  Put32 (&rtp[16], static_cast<std::uint32_t> (ASMP_SEND_TIME_ID << 4 | 2) << 24 | send_time);
  return rtp;
}

bool
IsRtcp (const Datagram &datagram)
{
  return datagram.size >= 8 && datagram.data[1] >= 192 && datagram.data[1] <= 223;
}

bool
ParseRtp (const Datagram &datagram, MccRtpPacket *out)
{
  const std::uint8_t *data = datagram.data;
  if (datagram.size < ASMP_RTP_BYTES || data[1] != ASMP_PAYLOAD_TYPE)
    return false;
  *out = MccRtpPacket{};
  out->ssrc = Get32 (data + 8);
  out->seq = static_cast<std::uint16_t> (data[2] << 8 | data[3]);
  out->bytes = datagram.ip_bytes;
  out->has_send_time = true;
  out->send_time = Get32 (data + 16) & 0xffffff;
  out->ecn = datagram.ecn;
  return true;
}

AsmpCompound::AsmpCompound (std::uint32_t ssrc, bool sender, const AsmpBlock &block) : m_ssrc (ssrc)
{
  std::size_t report = (sender ? 28 : 8) + (block.present ? BLOCK_BYTES : 0);
  std::uint8_t *to = Grow (report);
  PutHeader (to, block.present ? 1 : 0, sender ? PT_SR : PT_RR, report);
  Put32 (to + 4, ssrc);
  if (block.present) {
    to += report - BLOCK_BYTES;
    Put32 (to, block.source);
    Put32 (to + 4, static_cast<std::uint32_t> (block.packets_lost) & 0xffffff);
    to[4] = static_cast<std::uint8_t> (std::min (255.0, block.fraction_lost * 256.0));
    Put32 (to + 8, block.highest_seq);
  }
  /* Header, SSRC, item, its end, to a multiple of 4. */
  std::size_t sdes = (8 + 2 + CNAME_BYTES + 1 + 3) / 4 * 4;
  to = Grow (sdes);
  PutHeader (to, 1, PT_SDES, sdes);
  Put32 (to + 4, ssrc);
  to[8] = 1;
  to[9] = CNAME_BYTES;
  std::fill_n (to + 10, CNAME_BYTES, static_cast<std::uint8_t> ('c'));
}

std::uint8_t *
AsmpCompound::Grow (std::size_t bytes)
{
  std::uint8_t *at = m_data.data () + m_size;
  std::fill_n (at, bytes, std::uint8_t{ 0 });
  m_size += bytes;
  return at;
}

template <typename App, std::size_t (*size) (const App *),
    std::size_t (*encode) (const App *, std::uint8_t *, std::size_t)>
bool
AsmpCompound::Add (const App &app)
{
  std::size_t bytes = size (&app);
  if (bytes == 0 || m_size + bytes + BYE_RESERVE > m_data.size ())
    return false;
  std::size_t written = encode (&app, m_data.data () + m_size, m_data.size () - m_size);
  NS_ABORT_MSG_IF (written != bytes, "an APP packet of the core cannot be encoded");
  m_size += bytes;
  return true;
}

bool
AsmpCompound::AddApp (const MccApp &app)
{
  return Add<MccApp, mcc_app_size, mcc_app_encode> (app);
}

bool
AsmpCompound::AddApp (const MccAsspApp &app)
{
  return Add<MccAsspApp, mcc_assp_app_size, mcc_assp_app_encode> (app);
}

bool
AsmpCompound::AddApp (const MccElmApp &app)
{
  return Add<MccElmApp, mcc_elm_app_size, mcc_elm_app_encode> (app);
}

void
AsmpCompound::AddPli (std::uint32_t media_ssrc)
{
  std::uint8_t *to = Grow (PLI_BYTES);
  PutHeader (to, FMT_PLI, PT_PSFB, PLI_BYTES);
  Put32 (to + 4, m_ssrc);
  Put32 (to + 8, media_ssrc);
}

void
AsmpCompound::AddBye ()
{
  std::uint8_t *to = Grow (BYE_BYTES);
  PutHeader (to, 1, PT_BYE, BYE_BYTES);
  Put32 (to + 4, m_ssrc);
}

AsmpCompoundReader::Part
AsmpCompoundReader::Next ()
{
  while (m_left >= 8) {
    const std::uint8_t *data = m_data;
    std::size_t bytes = 4 * (static_cast<std::size_t> (data[2] << 8 | data[3]) + 1);
    if (bytes > m_left)
      break;
    m_data += bytes;
    m_left -= bytes;
    m_ssrc = Get32 (data + 4);
    if (data[1] == PT_SR || data[1] == PT_RR) {
      m_block = {};
      m_block.present = (data[0] & 31) > 0;
      if (m_block.present) {
        const std::uint8_t *block = data + bytes - BLOCK_BYTES;
        m_block.fraction_lost = block[4] / 256.0;
        m_block.packets_lost = static_cast<std::int32_t> (Get32 (block + 4) << 8) / 256;
        m_block.source = Get32 (block);
        m_block.highest_seq = Get32 (block + 8);
      }
      return Part::REPORT;
    }
    if (data[1] == PT_APP && mcc_app_decode (data, bytes, &m_app) == MCC_DROP_NONE)
      return Part::APP;
    if (data[1] == PT_APP && mcc_assp_app_decode (data, bytes, &m_assp) == MCC_DROP_NONE)
      return Part::ASSP;
    if (data[1] == PT_APP && mcc_elm_app_decode (data, bytes, &m_elm) == MCC_DROP_NONE)
      return Part::ELM;
    if (data[1] == PT_PSFB && (data[0] & 31) == FMT_PLI && bytes >= PLI_BYTES) {
      m_media_ssrc = Get32 (data + 8);
      return Part::PLI;
    }
    if (data[1] == PT_BYE)
      return Part::BYE;
  }
  return Part::END;
}

MccAddress
AsmpAddress (HostId host)
{
  MccAddress address{};
  address.family = 4;
  address.port = RTCP_PORT;
  Put32 (address.bytes, FIRST_ADDRESS + host);
  return address;
}

HostId
AsmpHost (const MccAddress &address)
{
  return Get32 (address.bytes) - FIRST_ADDRESS;
}

} // namespace sim
