/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "wire.h"

#include <algorithm>
#include <cmath>

namespace sim::pgmcc
{
namespace
{

enum : std::uint8_t { TYPE_DATA = 1, TYPE_ACK = 2, TYPE_NAK = 3 };
constexpr std::uint8_t FLAG_LEAVING = 1;

void
Put16 (std::uint8_t *out, std::uint16_t value)
{
  out[0] = static_cast<std::uint8_t> (value >> 8);
  out[1] = static_cast<std::uint8_t> (value);
}

void
Put32 (std::uint8_t *out, std::uint64_t value)
{
  Put16 (out, static_cast<std::uint16_t> (value >> 16));
  Put16 (out + 2, static_cast<std::uint16_t> (value));
}

std::uint16_t
Get16 (const std::uint8_t *in)
{
  return static_cast<std::uint16_t> (in[0] << 8 | in[1]);
}

std::uint32_t
Get32 (const std::uint8_t *in)
{
  return static_cast<std::uint32_t> (Get16 (in)) << 16 | Get16 (in + 2);
}

/* The value nearest to @near; 0 when that would be before the first. */
std::uint64_t
Extend (std::uint32_t seq, std::uint64_t near)
{
  auto step = static_cast<std::int32_t> (seq - static_cast<std::uint32_t> (near));
  std::int64_t value = static_cast<std::int64_t> (near) + step;

  return value > 0 ? static_cast<std::uint64_t> (value) : 0;
}

} // namespace

std::size_t
Write (const Data &data, std::uint8_t *out)
{
  out[0] = TYPE_DATA;
  out[1] = 0;
  Put16 (out + 2, 0);
  Put32 (out + 4, data.seq);
  Put32 (out + 8, data.stamp / MCC_USECOND);
  Put32 (out + 12, data.acker);
  return DATA_HEADER;
}

std::size_t
Write (const Feedback &feedback, std::uint8_t *out)
{
  double p = std::clamp (feedback.loss_ratio, 0.0, 1.0);

  out[0] = feedback.kind == Kind::ACK ? TYPE_ACK : TYPE_NAK;
  out[1] = feedback.leaving ? FLAG_LEAVING : 0;
  Put16 (out + 2, static_cast<std::uint16_t> (std::lround (p * UINT16_MAX)));
  Put32 (out + 4, feedback.from);
  Put32 (out + 8, feedback.echo / MCC_USECOND);
  Put32 (out + 12, feedback.echo_seq);
  Put32 (out + 16, feedback.map);
  if (feedback.kind == Kind::ACK)
    return ACK_SIZE;
  Put32 (out + 20, feedback.nak_base);
  return NAK_SIZE;
}

bool
Read (const std::uint8_t *bytes, std::size_t size, std::uint64_t seq, Data *out)
{
  if (size < DATA_HEADER || bytes[0] != TYPE_DATA)
    return false;
  std::uint64_t extended = Extend (Get32 (bytes + 4), seq);
  if (extended == 0)
    return false;
  *out = { extended, Get32 (bytes + 8) * MCC_USECOND, Get32 (bytes + 12) };
  return true;
}

bool
Read (const std::uint8_t *bytes, std::size_t size, std::uint64_t seq, MccTime now, Feedback *out)
{
  Feedback feedback = {};

  if (size < ACK_SIZE || (bytes[0] != TYPE_ACK && bytes[0] != TYPE_NAK))
    return false;
  feedback.kind = bytes[0] == TYPE_ACK ? Kind::ACK : Kind::NAK;
  if (feedback.kind == Kind::NAK && size < NAK_SIZE)
    return false;
  feedback.leaving = (bytes[1] & FLAG_LEAVING) != 0;
  feedback.loss_ratio = Get16 (bytes + 2) / static_cast<double> (UINT16_MAX);
  feedback.from = Get32 (bytes + 4);
  feedback.echo = Get32 (bytes + 8) * MCC_USECOND;
  if (now != MCC_TIME_NONE) {
    MccTime now_us = now / MCC_USECOND;
    std::uint32_t age_us = static_cast<std::uint32_t> (now_us) - Get32 (bytes + 8);
    if (age_us > UINT32_MAX / 2 || age_us > now_us)
      return false;
    feedback.echo = (now_us - age_us) * MCC_USECOND;
  }
  feedback.echo_seq = Extend (Get32 (bytes + 12), seq);
  feedback.map = Get32 (bytes + 16);
  if (feedback.kind == Kind::NAK && Get32 (bytes + 20) != 0)
    feedback.nak_base = Extend (Get32 (bytes + 20), seq);
  if (feedback.echo_seq == 0)
    return false;
  *out = feedback;
  return true;
}

} // namespace sim::pgmcc
