/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "multicast.h"

#include <algorithm>

namespace sim
{

extern const MulticastProtocol asmp_enhanced_protocol;
extern const MulticastProtocol asmp_published_protocol;
extern const MulticastProtocol assp_enhanced_protocol;
extern const MulticastProtocol assp_published_protocol;
extern const MulticastProtocol cbr_protocol;
extern const MulticastProtocol elm_enhanced_protocol;
extern const MulticastProtocol elm_published_protocol;
extern const MulticastProtocol openloop_protocol;
extern const MulticastProtocol pgmcc_protocol;
extern const MulticastProtocol rlc_protocol;
extern const MulticastProtocol smcc_protocol;
extern const MulticastProtocol tfmcc_protocol;
extern const MulticastProtocol tfrc_protocol;

static const MulticastProtocol *const protocols[] = {
  &asmp_enhanced_protocol,
  &asmp_published_protocol,
  &cbr_protocol,
  &openloop_protocol,
  &pgmcc_protocol,
  &smcc_protocol,
  &tfmcc_protocol,
  &tfrc_protocol,
};

/* These come first where they are of use. */
static const MulticastProtocol *const simulcast_protocols[] = {
  &assp_enhanced_protocol,
  &assp_published_protocol,
};

/* Nothing else can send layers. */
static const MulticastProtocol *const layered_protocols[] = {
  &elm_enhanced_protocol,
  &elm_published_protocol,
  &rlc_protocol,
};

MccTime
ToldLeaveLatency (const MulticastConfig &config)
{
  if (!config.options.contains ("leave_latency"))
    return 0;
  MccTime time = mcc_time_from_seconds (config.options["leave_latency"].get<double> ());
  return std::max<MccTime> (time, 1); /* told that there is none */
}

Media
MediaOf (const MulticastConfig &config)
{
  if (!config.layers.empty ())
    return Media::LAYERS;
  return config.streams.empty () ? Media::SINGLE : Media::STREAMS;
}

const MulticastProtocol *
FindMulticastProtocol (const std::string &name, Media media)
{
  for (const MulticastProtocol *protocol : layered_protocols)
    if (media == Media::LAYERS && name == protocol->name)
      return protocol;
  for (const MulticastProtocol *protocol : simulcast_protocols)
    if (media == Media::STREAMS && name == protocol->name)
      return protocol;
  for (const MulticastProtocol *protocol : protocols)
    if (media != Media::LAYERS && name == protocol->name)
      return protocol;
  return nullptr;
}

} // namespace sim
