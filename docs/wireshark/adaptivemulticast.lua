-- SPDX-License-Identifier: LGPL-2.1-or-later
--
-- Shows the RTCP APP packets named "ASMP", "ASSP", "ELM " and "SIDX" (docs/wire-format.md) in
-- Wireshark and tshark:
--   tshark -X lua_script:docs/wireshark/adaptivemulticast.lua -d udp.port==5005,rtcp -O amcast
-- or copy it to the personal Lua plugin folder (Help, About, Folders). Filters begin with "amcast.":
-- amcast.report.rate < 500000, amcast.session.leave, amcast.streams.low. With a key (SRTP) it sees nothing.

local amcast = Proto ("amcast", "Adaptive multicast")

local f = {}

-- In the order in which fields are made Wireshark shows them in its list of filters.
local function field (kind, name, label, ...)
  f[name] = ProtoField[kind] ("amcast." .. name, label, ...)
end

local function flag (name, label, mask)
  field ("bool", name, label, 8, nil, mask)
end

local ecn = { [0] = "not heeded", [1] = "heeded", [2] = "bleached", [3] = "broken" }
local family = { [0] = "to the group", [4] = "IPv4", [6] = "IPv6" }

field ("string", "name", "Name")
field ("uint8", "subtype", "Subtype")
field ("uint8", "version", "Version")
field ("uint8", "flags", "Flags", base.HEX)
field ("uint32", "number", "Number")
field ("uint8", "stream", "Stream")
field ("uint16", "count", "Entries")

flag ("report.rtt_measured", "RTT measured", 0x01)
flag ("report.no_limit", "No limit", 0x02)
flag ("report.congested", "Congested", 0x04)
flag ("report.has_echo", "Echo is valid", 0x08)
flag ("report.has_loss", "Loss since the last report", 0x10)
flag ("report.leaving", "Leaving", 0x20)
flag ("report.key_unit", "Needs a key unit", 0x40)
flag ("report.no_caps", "Has no caps yet", 0x80)
field ("uint8", "report.more_flags", "More flags", base.HEX)
flag ("report.pairs", "Asks for packets that leave together", 0x01)
field ("uint64", "report.rate", "Rate (bit/s)")
field ("uint8", "report.level", "Level: highest layer received")
field ("uint8", "report.wanted", "Layer that the layer flags are about")
field ("uint8", "report.layer_flags", "Layer flags", base.HEX)
flag ("report.joining", "Joining", 0x01)
flag ("report.dropped", "Dropped", 0x02)
flag ("report.failed", "Failed: was joined lately", 0x04)
field ("uint64", "report.received", "Received rate (bit/s)")
field ("double", "report.loss", "Loss ratio")
field ("uint32", "report.rtt", "RTT (us)")
field ("uint32", "report.jitter", "Jitter (us)")
field ("uint32", "report.queue_delay", "Queue delay (us)")
field ("uint32", "report.packets_lost", "Packets lost")
field ("uint32", "report.highest_seq", "Highest sequence number")
field ("uint8", "report.ecn", "ECN", base.DEC, ecn)
field ("double", "report.marked", "Part of the loss that is ECN marks")
field ("uint24", "report.echo", "Echo (abs-send-time)", base.HEX)
field ("uint32", "report.hold", "Hold (us)")
field ("uint64", "report.potential", "Potential (bit/s, 0: not known, all ones: no limit)")

field ("uint32", "rtt.ssrc", "Receiver", base.HEX)
field ("uint32", "rtt.number", "Number of its report")
field ("uint32", "rtt.rtt", "RTT (us)")

flag ("session.stopped", "Media stopped", 0x01)
flag ("session.enhanced", "Enhanced variant", 0x02)
flag ("session.ect", "Media is ECT(0)", 0x04)
flag ("session.leave", "The limiting SSRC is asked to leave", 0x08)
field ("uint8", "session.ttl", "TTL")
field ("uint8", "session.payload_type", "Payload type (255: no caps yet)")
field ("uint8", "session.send_time_id", "Extension id of abs-send-time")
field ("uint24", "session.send_time", "Send time", base.HEX)
field ("uint64", "session.target", "Target (bit/s)")
field ("uint64", "session.min", "Min (bit/s)")
field ("uint64", "session.max", "Max (bit/s)")
field ("uint64", "session.start", "Start (bit/s)")
field ("uint64", "session.bandwidth", "Session bandwidth (bit/s)")
field ("uint64", "session.suppress", "Suppressing rate (bit/s, all ones: none)")
field ("uint32", "session.receivers", "Receivers")
field ("uint32", "session.limiting", "Limiting SSRC", base.HEX)
field ("uint32", "session.rtt_max", "Largest RTT (us)")
field ("uint32", "session.round", "Feedback round")
field ("uint32", "session.media_ssrc", "Media SSRC", base.HEX)
field ("uint32", "session.clock_rate", "Clock rate (Hz)")
field ("uint8", "session.family", "Feedback family", base.DEC, family)
field ("uint16", "session.port", "Feedback port")
field ("ipv4", "session.address", "Feedback address")
field ("ipv6", "session.address6", "Feedback address")
field ("string", "session.media", "Media")
field ("string", "session.encoding", "Encoding name")
field ("string", "session.parameters", "Parameters")

flag ("streams.decide", "Receivers decide now", 0x01)
field ("uint32", "streams.round", "Round")
field ("uint16", "streams.ladder", "Ladder")
field ("uint64", "streams.low", "Low (bit/s)")
field ("uint64", "streams.high", "High (bit/s)")
field ("uint64", "streams.average", "Average (bit/s)")
field ("uint16", "streams.address_offset", "Address offset")
field ("uint16", "streams.port_offset", "Port offset")
field ("uint8", "streams.flags", "Stream flags", base.HEX)
flag ("streams.running", "Running", 0x01)
flag ("streams.closed", "Closed", 0x02)
field ("uint32", "streams.ssrc", "SSRC (0: has not begun)", base.HEX)

field ("uint32", "layers.round", "Round")
field ("uint16", "layers.round_interval", "Round interval (ms)")
field ("uint16", "layers.set", "Set of layers")
field ("uint16", "layers.feedback_interval", "Feedback interval (ms)")
field ("uint24", "layers.round_time", "Round time (abs-send-time)", base.HEX)
field ("uint64", "layers.cumulative", "Cumulative rate (bit/s)")
field ("uint16", "layers.address_offset", "Address offset")
field ("uint16", "layers.port_offset", "Port offset")
field ("uint8", "layers.depends", "Depends on layers (bits)", base.HEX)
field ("uint32", "layers.ssrc", "SSRC", base.HEX)
field ("uint32", "layers.frame_rate", "Frame rate (1/1000 Hz, 0: not known)")

field ("uint32", "index.ssrc", "Media SSRC", base.HEX)
field ("uint32", "index.roc", "Roll-over counter")
field ("uint16", "index.seq", "Sequence number")

for _, each in pairs (f) do
  table.insert (amcast.fields, each)
end

local short = ProtoExpert.new ("amcast.short", "Too short for its fields", expert.group.MALFORMED,
  expert.severity.ERROR)
amcast.experts = { short }

-- Offsets count from the start of the APP packet, as in docs/wire-format.md.
local function add (tree, buffer, fields)
  for _, item in ipairs (fields) do
    tree:add (f[item[1]], buffer (item[2], item[3]))
  end
end

local function flags (tree, buffer, name, at, bits)
  local item = tree:add (f[name], buffer (at, 1))
  for _, bit in ipairs (bits) do
    item:add (f[bit], buffer (at, 1))
  end
end

local report_flags = { "report.rtt_measured", "report.no_limit", "report.congested",
  "report.has_echo", "report.has_loss", "report.leaving", "report.key_unit", "report.no_caps" }

local function report (buffer, tree, name)
  if buffer:len () < 64 then
    return false
  end
  flags (tree, buffer, "flags", 13, report_flags)
  add (tree, buffer, { { "report.rate", 14, 6 }, { "number", 20, 4 } })
  if name ~= "ELM " then
    flags (tree, buffer, "report.more_flags", 25, { "report.pairs" })
  end
  if name == "ASSP" then
    tree:add (f["stream"], buffer (24, 1))
  elseif name == "ELM " then
    tree:add (f["report.level"], buffer (24, 1), buffer (24, 1):bitfield (0, 4))
    tree:add (f["report.wanted"], buffer (24, 1), buffer (24, 1):bitfield (4, 4))
    flags (tree, buffer, "report.layer_flags", 25,
      { "report.joining", "report.dropped", "report.failed" })
  end
  tree:add (f["report.received"], buffer (26, 6))
  tree:add (f["report.loss"], buffer (32, 4), buffer (32, 4):uint () / 4294967295)
  add (tree, buffer, { { "report.rtt", 36, 4 }, { "report.jitter", 40, 4 },
    { "report.queue_delay", 44, 4 }, { "report.packets_lost", 48, 4 },
    { "report.highest_seq", 52, 4 } })
  tree:add (f["report.ecn"], buffer (56, 1), buffer (56, 1):bitfield (0, 2))
  tree:add (f["report.marked"], buffer (56, 1), buffer (56, 1):bitfield (2, 6) / 63)
  add (tree, buffer, { { "report.echo", 57, 3 }, { "report.hold", 60, 4 } })
  if name == "ASSP" and buffer:len () >= 72 then
    tree:add (f["report.potential"], buffer (64, 6))
  end
  return true
end

-- @count entries of @bytes each from @first on; @fields: as add () takes them, from an entry's start.
local function entries (buffer, tree, count, first, bytes, fields, more)
  for i = 0, count - 1 do
    local at = first + bytes * i
    if buffer:len () < at + bytes then
      return false
    end
    local part = buffer (at, bytes):tvb ()
    local entry = tree:add (amcast, buffer (at, bytes), "Entry " .. i)
    add (entry, part, fields)
    if more then
      more (entry, part)
    end
  end
  return true
end

local function rtt_list (buffer, tree, name)
  if name == "ASSP" then
    tree:add (f["stream"], buffer (13, 1))
  end
  tree:add (f["count"], buffer (14, 2))
  return entries (buffer, tree, buffer (14, 2):uint (), 16, 12,
    { { "rtt.ssrc", 0, 4 }, { "rtt.number", 4, 4 }, { "rtt.rtt", 8, 4 } })
end

-- A string behind its length of @prefix bytes; returns where the next one begins.
local function text (buffer, tree, name, at, prefix)
  if at == nil or buffer:len () < at + prefix then
    return nil
  end
  local length = buffer (at, prefix):uint ()
  if buffer:len () < at + prefix + length then
    return nil
  end
  if length > 0 then
    tree:add (f[name], buffer (at + prefix, length))
  end
  return at + prefix + length
end

local function session (buffer, tree, name)
  if buffer:len () < 100 then
    return false
  end
  flags (tree, buffer, "flags", 13,
    { "session.stopped", "session.enhanced", "session.ect", "session.leave" })
  add (tree, buffer, { { "session.ttl", 14, 1 }, { "session.payload_type", 15, 1 },
    { "number", 16, 4 }, { "session.send_time_id", 20, 1 }, { "session.send_time", 21, 3 },
    { "session.target", 24, 8 }, { "session.min", 32, 8 }, { "session.max", 40, 8 },
    { "session.start", 48, 8 }, { "session.bandwidth", 56, 8 }, { "session.suppress", 64, 8 },
    { "session.receivers", 72, 4 }, { "session.limiting", 76, 4 }, { "session.rtt_max", 80, 4 },
    { "session.round", 84, 4 }, { "session.media_ssrc", 88, 4 }, { "session.clock_rate", 92, 4 },
    { "session.family", 96, 1 } })
  if name == "ASSP" then
    tree:add (f["stream"], buffer (97, 1))
  end
  tree:add (f["session.port"], buffer (98, 2))
  local kind, at = buffer (96, 1):uint (), 100
  local bytes = kind == 4 and 4 or kind == 6 and 16 or 0
  if buffer:len () < at + bytes then
    return false
  end
  if bytes > 0 then
    tree:add (f[kind == 4 and "session.address" or "session.address6"], buffer (at, bytes))
  end
  at = text (buffer, tree, "session.media", at + bytes, 1)
  at = text (buffer, tree, "session.encoding", at, 1)
  return text (buffer, tree, "session.parameters", at, 2) ~= nil
end

local function streams (buffer, tree)
  if buffer:len () < 28 then
    return false
  end
  flags (tree, buffer, "flags", 13, { "streams.decide" })
  add (tree, buffer, { { "count", 14, 1 }, { "number", 16, 4 }, { "streams.round", 20, 4 },
    { "streams.ladder", 24, 2 } })
  return entries (buffer, tree, buffer (14, 1):uint (), 28, 28,
    { { "streams.low", 0, 6 }, { "streams.high", 6, 6 }, { "streams.average", 12, 6 },
      { "streams.address_offset", 18, 2 }, { "streams.port_offset", 20, 2 },
      { "streams.ssrc", 24, 4 } },
    function (entry, part)
      flags (entry, part, "streams.flags", 22, { "streams.running", "streams.closed" })
    end)
end

local function layers (buffer, tree)
  if buffer:len () < 36 then
    return false
  end
  add (tree, buffer, { { "flags", 13, 1 }, { "count", 14, 1 }, { "number", 16, 4 },
    { "layers.round", 20, 4 }, { "layers.round_interval", 24, 2 }, { "layers.set", 26, 2 },
    { "layers.feedback_interval", 28, 2 }, { "layers.round_time", 33, 3 } })
  return entries (buffer, tree, buffer (14, 1):uint (), 36, 20,
    { { "layers.cumulative", 0, 6 }, { "layers.address_offset", 6, 2 },
      { "layers.port_offset", 8, 2 }, { "layers.depends", 10, 1 }, { "layers.ssrc", 12, 4 },
      { "layers.frame_rate", 16, 4 } })
end

local function indices (buffer, tree)
  return entries (buffer, tree, buffer (0, 1):bitfield (3, 5), 12, 12,
    { { "index.ssrc", 0, 4 }, { "index.roc", 4, 4 }, { "index.seq", 8, 2 } })
end

local common = { { "report", report }, { "RTT list", rtt_list }, { "session announcement", session } }
local readers = {
  ["ASMP"] = common,
  ["ASSP"] = { common[1], common[2], common[3], { "streams", streams } },
  ["ELM "] = { common[1], common[2], common[3], { "layers", layers } },
}

-- Wireshark hands over the whole APP packet, its header included.
function amcast.dissector (buffer, _, tree)
  local name = buffer (8, 4):string ()
  if name == "SIDX" then
    local item = tree:add (amcast, buffer (), "Adaptive multicast: SRTP indices")
    item:add (f["name"], buffer (8, 4))
    if not indices (buffer, item) then
      item:add_proto_expert_info (short)
    end
    return buffer:len ()
  end
  local subtype = buffer (0, 1):bitfield (3, 5)
  local reader = readers[name][subtype]
  local item = tree:add (amcast, buffer (),
    "Adaptive multicast: " .. name .. " " .. (reader and reader[1] or "of an unknown subtype"))
  item:add (f["name"], buffer (8, 4))
  item:add (f["subtype"], buffer (0, 1), subtype)
  if buffer:len () < 16 then
    item:add_proto_expert_info (short)
    return buffer:len ()
  end
  item:add (f["version"], buffer (12, 1))
  if buffer (12, 1):uint () == 1 and reader and not reader[2] (buffer, item, name) then
    item:add_proto_expert_info (short)
  end
  return buffer:len ()
end

for _, name in ipairs { "ASMP", "ASSP", "ELM ", "SIDX" } do
  DissectorTable.get ("rtcp.app.name"):add (name, amcast)
end
