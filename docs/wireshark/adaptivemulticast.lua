-- SPDX-License-Identifier: LGPL-2.1-or-later
--
-- Shows the RTCP APP packets named "ASMP" (docs/wire-format.md) in Wireshark and tshark:
--   tshark -X lua_script:docs/wireshark/adaptivemulticast.lua -d udp.port==5005,rtcp -O asmp
-- or copy it to the personal Lua plugin folder (Help, About, Folders).

local asmp = Proto ("asmp", "Adaptive multicast (ASMP)")

local subtypes = { [1] = "report", [2] = "RTT list", [3] = "session announcement" }

local f = {
  version = ProtoField.uint8 ("asmp.version", "Version"),
  subtype = ProtoField.uint8 ("asmp.subtype", "Subtype", base.DEC, subtypes),
  report_flags = ProtoField.uint8 ("asmp.report.flags", "Flags", base.HEX),
  rtt_measured = ProtoField.bool ("asmp.report.rtt_measured", "RTT measured", 8, nil, 0x01),
  no_limit = ProtoField.bool ("asmp.report.no_limit", "No limit", 8, nil, 0x02),
  congested = ProtoField.bool ("asmp.report.congested", "Congested", 8, nil, 0x04),
  has_echo = ProtoField.bool ("asmp.report.has_echo", "Echo is valid", 8, nil, 0x08),
  has_loss = ProtoField.bool ("asmp.report.has_loss", "Loss since the last report", 8, nil, 0x10),
  leaving = ProtoField.bool ("asmp.report.leaving", "Leaving", 8, nil, 0x20),
  key_unit = ProtoField.bool ("asmp.report.key_unit", "Needs a key unit", 8, nil, 0x40),
  no_caps = ProtoField.bool ("asmp.report.no_caps", "Has no caps yet", 8, nil, 0x80),
  rate = ProtoField.uint64 ("asmp.report.rate", "Rate (bit/s)"),
  number = ProtoField.uint32 ("asmp.number", "Number"),
  received = ProtoField.uint64 ("asmp.report.received", "Received rate (bit/s)"),
  ecn = ProtoField.uint8 ("asmp.report.ecn", "ECN", base.DEC,
    { [0] = "not heeded", [1] = "heeded", [2] = "bleached", [3] = "broken" }),
  loss = ProtoField.double ("asmp.report.loss", "Loss ratio"),
  marked = ProtoField.double ("asmp.report.marked", "Part of it that is ECN marks"),
  rtt = ProtoField.uint32 ("asmp.rtt", "RTT (us)"),
  jitter = ProtoField.uint32 ("asmp.report.jitter", "Jitter (us)"),
  queue_delay = ProtoField.uint32 ("asmp.report.queue_delay", "Queue delay (us)"),
  packets_lost = ProtoField.uint32 ("asmp.report.packets_lost", "Packets lost"),
  highest_seq = ProtoField.uint32 ("asmp.report.highest_seq", "Highest sequence number"),
  echo = ProtoField.uint24 ("asmp.report.echo", "Echo (abs-send-time)", base.HEX),
  hold = ProtoField.uint32 ("asmp.report.hold", "Hold (us)"),
  count = ProtoField.uint16 ("asmp.rtt.count", "Entries"),
  ssrc = ProtoField.uint32 ("asmp.rtt.ssrc", "Receiver", base.HEX),
  session_flags = ProtoField.uint8 ("asmp.session.flags", "Flags", base.HEX),
  stopped = ProtoField.bool ("asmp.session.stopped", "Media stopped", 8, nil, 0x01),
  enhanced = ProtoField.bool ("asmp.session.enhanced", "Enhanced variant", 8, nil, 0x02),
  ect = ProtoField.bool ("asmp.session.ect", "Media is ECT(0)", 8, nil, 0x04),
  ttl = ProtoField.uint8 ("asmp.session.ttl", "TTL"),
  payload_type = ProtoField.uint8 ("asmp.session.payload_type", "Payload type (255: no caps yet)"),
  send_time_id = ProtoField.uint8 ("asmp.session.send_time_id", "Extension id of abs-send-time"),
  send_time = ProtoField.uint24 ("asmp.session.send_time", "Send time", base.HEX),
  target = ProtoField.uint64 ("asmp.session.target", "Target (bit/s)"),
  min = ProtoField.uint64 ("asmp.session.min", "Min (bit/s)"),
  max = ProtoField.uint64 ("asmp.session.max", "Max (bit/s)"),
  start = ProtoField.uint64 ("asmp.session.start", "Start (bit/s)"),
  bandwidth = ProtoField.uint64 ("asmp.session.bandwidth", "Session bandwidth (bit/s)"),
  suppress = ProtoField.uint64 ("asmp.session.suppress", "Suppressing rate (bit/s, all ones: none)"),
  receivers = ProtoField.uint32 ("asmp.session.receivers", "Receivers"),
  limiting = ProtoField.uint32 ("asmp.session.limiting", "Limiting SSRC", base.HEX),
  rtt_max = ProtoField.uint32 ("asmp.session.rtt_max", "Largest RTT (us)"),
  round = ProtoField.uint32 ("asmp.session.round", "Feedback round"),
  media_ssrc = ProtoField.uint32 ("asmp.session.media_ssrc", "Media SSRC", base.HEX),
  clock_rate = ProtoField.uint32 ("asmp.session.clock_rate", "Clock rate (Hz)"),
  family = ProtoField.uint8 ("asmp.session.family", "Feedback family", base.DEC,
    { [0] = "to the group", [4] = "IPv4", [6] = "IPv6" }),
  port = ProtoField.uint16 ("asmp.session.port", "Feedback port"),
  address4 = ProtoField.ipv4 ("asmp.session.address", "Feedback address"),
  address6 = ProtoField.ipv6 ("asmp.session.address6", "Feedback address"),
  media = ProtoField.string ("asmp.session.media", "Media"),
  encoding = ProtoField.string ("asmp.session.encoding", "Encoding name"),
  parameters = ProtoField.string ("asmp.session.parameters", "Parameters"),
}

for _, field in pairs (f) do
  table.insert (asmp.fields, field)
end

local short = ProtoExpert.new ("asmp.short", "Too short for its fields", expert.group.MALFORMED,
  expert.severity.ERROR)
asmp.experts = { short }

-- Offsets count from the start of the APP packet, as in docs/wire-format.md.
local function add (tree, buffer, fields)
  for _, item in ipairs (fields) do
    tree:add (item[1], buffer (item[2], item[3]))
  end
end

local function report (buffer, tree)
  if buffer:len () < 64 then
    return false
  end
  local flags = tree:add (f.report_flags, buffer (13, 1))
  for _, name in ipairs { "rtt_measured", "no_limit", "congested", "has_echo", "has_loss",
    "leaving", "key_unit", "no_caps" } do
    flags:add (f[name], buffer (13, 1))
  end
  add (tree, buffer, { { f.rate, 14, 6 }, { f.number, 20, 4 }, { f.received, 26, 6 } })
  tree:add (f.ecn, buffer (56, 1), bit.rshift (buffer (56, 1):uint (), 6))
  tree:add (f.loss, buffer (32, 4), buffer (32, 4):uint () / 4294967295)
  tree:add (f.marked, buffer (56, 1), bit.band (buffer (56, 1):uint (), 63) / 63)
  add (tree, buffer, { { f.rtt, 36, 4 }, { f.jitter, 40, 4 }, { f.queue_delay, 44, 4 },
    { f.packets_lost, 48, 4 }, { f.highest_seq, 52, 4 }, { f.echo, 57, 3 }, { f.hold, 60, 4 } })
  return true
end

local function rtt_list (buffer, tree)
  local count = buffer (14, 2):uint ()
  tree:add (f.count, buffer (14, 2))
  for i = 0, count - 1 do
    if buffer:len () < 28 + 12 * i then
      return false
    end
    local entry = tree:add (asmp, buffer (16 + 12 * i, 12), "Entry " .. i)
    add (entry, buffer, { { f.ssrc, 16 + 12 * i, 4 }, { f.number, 20 + 12 * i, 4 },
      { f.rtt, 24 + 12 * i, 4 } })
  end
  return true
end

-- A string behind its length of @prefix bytes; returns where the next one begins.
local function text (buffer, tree, field, at, prefix)
  if at == nil or buffer:len () < at + prefix then
    return nil
  end
  local length = buffer (at, prefix):uint ()
  if buffer:len () < at + prefix + length then
    return nil
  end
  if length > 0 then
    tree:add (field, buffer (at + prefix, length))
  end
  return at + prefix + length
end

local function session (buffer, tree)
  if buffer:len () < 100 then
    return false
  end
  local flags = tree:add (f.session_flags, buffer (13, 1))
  flags:add (f.stopped, buffer (13, 1))
  flags:add (f.enhanced, buffer (13, 1))
  flags:add (f.ect, buffer (13, 1))
  add (tree, buffer, { { f.ttl, 14, 1 }, { f.payload_type, 15, 1 }, { f.number, 16, 4 },
    { f.send_time_id, 20, 1 }, { f.send_time, 21, 3 }, { f.target, 24, 8 }, { f.min, 32, 8 },
    { f.max, 40, 8 }, { f.start, 48, 8 }, { f.bandwidth, 56, 8 }, { f.suppress, 64, 8 },
    { f.receivers, 72, 4 }, { f.limiting, 76, 4 }, { f.rtt_max, 80, 4 }, { f.round, 84, 4 },
    { f.media_ssrc, 88, 4 }, { f.clock_rate, 92, 4 }, { f.family, 96, 1 }, { f.port, 98, 2 } })
  local family, at = buffer (96, 1):uint (), 100
  local bytes = family == 4 and 4 or family == 6 and 16 or 0
  if buffer:len () < at + bytes then
    return false
  end
  if bytes > 0 then
    tree:add (family == 4 and f.address4 or f.address6, buffer (at, bytes))
  end
  at = text (buffer, tree, f.media, at + bytes, 1)
  at = text (buffer, tree, f.encoding, at, 1)
  return text (buffer, tree, f.parameters, at, 2) ~= nil
end

local readers = { report, rtt_list, session }

-- Wireshark hands over the whole APP packet, its header included.
function asmp.dissector (buffer, pinfo, tree)
  local subtype = buffer (0, 1):bitfield (3, 5)
  local item = tree:add (asmp, buffer (), "Adaptive multicast: " .. (subtypes[subtype] or "?"))
  item:add (f.subtype, buffer (0, 1), subtype)
  if buffer:len () < 16 then
    item:add_proto_expert_info (short)
    return buffer:len ()
  end
  item:add (f.version, buffer (12, 1))
  local reader = readers[subtype]
  if buffer (12, 1):uint () == 1 and reader and not reader (buffer, item) then
    item:add_proto_expert_info (short)
  end
  return buffer:len ()
end

DissectorTable.get ("rtcp.app.name"):add ("ASMP", asmp)
