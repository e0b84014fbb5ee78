/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "experiment.h"

#include <map>

#include <ns3/object-factory.h>
#include <ns3/rng-seed-manager.h>
#include <ns3/simulator.h>

#include "multicast.h"
#include "network.h"
#include "packettrace.h"
#include "random.h"
#include "result.h"
#include "tcp.h"
#include "udp.h"

namespace sim
{

using nlohmann::json;
using ns3::Simulator;

namespace
{

struct Receiver {
  std::string group;
  std::unique_ptr<Port> port;
  ReceiverRecord record;
  std::unique_ptr<MulticastReceiver> machine;
  bool recorded = true; /* by itself, not among the others */
};

/* Of a larger group these have records of their own; ten thousand would be no result to read. */
constexpr unsigned RECORDED = 100;

/* Of any kind. */
struct Flow {
  std::string group, kind;
  unsigned number;   /* in its group addresses */
  FlowRecord record; /* TCP, UDP */
  std::unique_ptr<TcpFlow> tcp;
  std::unique_ptr<UdpFlow> udp;

  std::unique_ptr<Port> port; /* multicast: the sender's */
  MulticastConfig config;
  SenderRecord sender_record;
  std::unique_ptr<MulticastSender> sender;
  std::map<std::string, unsigned> group_sizes;
  ReceiverRecord others;
  unsigned others_count = 0;
  std::map<std::string, std::unique_ptr<Receiver>> receivers;
};

struct ReceiverHost {
  HostId id;
  const json *description;
};

/* Two steps, as all hosts come before the first port. */
class Experiment
{
public:
  explicit Experiment (const json &scenario);
  json Run (const std::function<void (double)> &progress);

private:
  struct Ends {
    HostId from, to;
    std::vector<ReceiverHost> receivers;
  };

  HostId AddHost (const std::string &name, const std::string &router, json access);
  Ends AddHosts (const json &flow);
  std::string ProtocolOf (const json &flow) const;
  void AddMulticast (const json &description, const Ends &ends, unsigned number, Flow &flow);
  void AddReceiver (const json &description, const ReceiverHost &host, unsigned number,
      const MulticastConfig &config, Flow &flow);
  void AddFlow (const json &description, const Ends &ends, unsigned number);
  void Schedule (double at, std::function<void ()> action);
  Network &Ns3 (const json &flow);
  json Result () const;
  json Packets () const;

  const json &m_scenario;
  std::uint64_t m_seed;
  double m_duration;
  std::unique_ptr<Topology> m_topology;
  Network *m_network = nullptr; /* the same, when it is ns-3's */
  std::map<HostId, std::string> m_names;
  std::map<std::string, std::unique_ptr<Flow>> m_flows;
};

/* A field that may be missing or null. */
json
Optional (const json &object, const char *name)
{
  const auto found = object.find (name);
  return found == object.end () ? json () : *found;
}

Experiment::Experiment (const json &scenario)
    : m_scenario (scenario), m_seed (scenario.at ("seed")), m_duration (scenario.at ("duration"))
{
  const std::string kind = scenario.at ("network");
  if (kind == "ns3") {
    auto network = std::make_unique<Network> (scenario);
    m_network = network.get ();
    m_topology = std::move (network);
  } else if (kind == "light") {
    m_topology = NewLightStar (scenario);
  } else {
    throw ScenarioError ("network: there is no \"" + kind + "\": ns3, light");
  }
  std::vector<Ends> ends;
  for (const json &flow : scenario.at ("flows"))
    WithPlace (
        "flow " + flow.at ("id").get<std::string> (), [&] { ends.push_back (AddHosts (flow)); });
  unsigned number = 0;
  for (const json &flow : scenario.at ("flows")) {
    WithPlace ("flow " + flow.at ("id").get<std::string> (),
        [&] { AddFlow (flow, ends[number], number); });
    number++;
  }
}

HostId
Experiment::AddHost (const std::string &name, const std::string &router, json access)
{
  const HostId id = m_topology->AddHost (name, router, access);
  m_names[id] = name;
  return id;
}

Experiment::Ends
Experiment::AddHosts (const json &flow)
{
  const std::string id = flow.at ("id");
  const json access = Optional (flow, "access");
  Ends ends = {};
  if (flow.at ("type") != "multicast") {
    json sender = access; /* of a flow's loss only what it sends is lost, as of a multicast one's */
    if (sender.is_object ())
      sender.erase ("loss");
    ends.from = AddHost (id + " from", flow.at ("from"), sender);
    ends.to = AddHost (id + " to", flow.at ("to"), access);
    return ends;
  }
  ends.from = AddHost (id, flow.at ("from"), access);
  for (const json &receiver : flow.at ("receivers")) {
    json own = Optional (receiver, "access");
    const json loss = Optional (receiver, "loss");
    if (!loss.is_null ())
      own["loss"] = loss;
    const std::string name = receiver.at ("id");
    const HostId host = AddHost (id + " " + name, receiver.at ("at"), own);
    m_names[host] = name;
    ends.receivers.push_back ({ host, &receiver });
  }
  return ends;
}

/* The variant under test, or what the flow always has. */
std::string
Experiment::ProtocolOf (const json &flow) const
{
  return flow.value ("protocol", m_scenario.at ("variant").get<std::string> ());
}

void
Experiment::Schedule (double at, std::function<void ()> action)
{
  Simulator::Schedule (ns3::Seconds (at), std::move (action));
}

void
Experiment::AddReceiver (const json &description, const ReceiverHost &host, unsigned number,
    const MulticastConfig &config, Flow &flow)
{
  const MulticastProtocol *protocol
      = FindMulticastProtocol (ProtocolOf (description), MediaOf (config));
  const std::string id = host.description->at ("id");
  auto receiver = std::make_unique<Receiver> ();
  receiver->group = host.description->value ("group", id);
  receiver->port = m_topology->NewPort (host.id, number);
  MulticastConfig own = config;
  const std::string flow_id = description.at ("id");
  Random random (m_seed, "receiver " + flow_id + " " + id);
  for (const json &wanted : m_scenario.value ("packets", json::array ()))
    if (wanted == flow_id + "/" + id) {
      receiver->record.trace = std::make_unique<PacketTrace> ();
      flow.sender_record.keep_packets = true;
    }
  own.seed = random.Next ();
  receiver->recorded = ++flow.group_sizes[receiver->group] <= RECORDED;
  if (!receiver->recorded && flow.others_count++ == 0)
    flow.others.OnlySums ();
  receiver->machine = protocol->new_receiver (
      *receiver->port, own, receiver->recorded ? receiver->record : flow.others);

  MulticastReceiver *machine = receiver->machine.get ();
  Schedule (random.Draw (host.description->at ("join")), [machine] { machine->Start (); });
  const json leave = Optional (*host.description, "leave");
  const json crash = Optional (*host.description, "crash");
  if (!leave.is_null ())
    Schedule (leave, [machine] { machine->Leave (); });
  if (!crash.is_null ())
    Schedule (crash, [machine] { machine->Crash (); });
  for (const json &times : host.description->value ("again", json::array ())) {
    Schedule (times.at (0), [machine] { machine->Start (); });
    if (times.size () > 1 && !times.at (1).is_null ())
      Schedule (times.at (1), [machine] { machine->Leave (); });
  }
  flow.receivers[id] = std::move (receiver);
}

void
Experiment::AddMulticast (const json &description, const Ends &ends, unsigned number, Flow &flow)
{
  auto bps = [&description] (const char *name) {
    return static_cast<std::uint64_t> (description.at (name).get<double> ());
  };
  MulticastConfig &config = flow.config;
  for (const json &bounds : description.value ("streams", json::array ()))
    config.streams.push_back ({ static_cast<std::uint64_t> (bounds.at (0).get<double> ()),
        static_cast<std::uint64_t> (bounds.at (1).get<double> ()) });
  for (const json &cumulative : description.value ("layers", json::array ()))
    config.layers.push_back (static_cast<std::uint64_t> (cumulative.get<double> ()));
  const MulticastProtocol *protocol
      = FindMulticastProtocol (ProtocolOf (description), MediaOf (config));
  if (protocol == nullptr)
    throw ScenarioError (
        "variant: there is no protocol \"" + ProtocolOf (description) + "\" for such a flow");
  config.start_bps = bps ("start_rate");
  config.min_bps = bps ("min_rate");
  config.max_bps = bps ("max_rate");
  config.packet_bytes = description.at ("packet_size");
  config.seed = Random (m_seed, "sender " + description.at ("id").get<std::string> ()).Next ();
  config.hears_group = description.value ("feedback", "group") == "group";
  config.ect = description.value ("ecn", false);
  config.sender = ends.from;
  config.expected_receivers = static_cast<unsigned> (ends.receivers.size ());
  config.source = description.value ("source", json{ { "type", "cbr" } });
  config.options = description.value ("options", json::object ());
  config.hears_group = config.hears_group && !config.options.value ("unicast", false);

  flow.port = m_topology->NewPort (ends.from, number);
  flow.sender = protocol->new_sender (*flow.port, config, flow.sender_record);
  for (const ReceiverHost &host : ends.receivers)
    AddReceiver (description, host, number, config, flow);
}

Network &
Experiment::Ns3 (const json &flow)
{
  if (m_network == nullptr)
    throw ScenarioError (
        flow.at ("type").get<std::string> () + ": this network has multicast flows only");
  return *m_network;
}

void
Experiment::AddFlow (const json &description, const Ends &ends, unsigned number)
{
  const std::string id = description.at ("id");
  auto flow = std::make_unique<Flow> ();
  flow->group = description.value ("group", id);
  flow->kind = description.at ("type");
  flow->number = number;
  Random random (m_seed, "flow " + id);
  const Random onoff (m_seed, "onoff " + id);
  std::function<void ()> start, stop;
  if (flow->kind == "multicast") {
    AddMulticast (description, ends, number, *flow);
    start = [sender = flow->sender.get ()] { sender->Start (); };
    stop = [sender = flow->sender.get ()] { sender->Stop (); };
  } else if (flow->kind == "tcp") {
    flow->tcp = std::make_unique<TcpFlow> (
        Ns3 (description), ends.from, ends.to, description, number, onoff, flow->record);
    start = [tcp = flow->tcp.get ()] { tcp->Start (); };
    stop = [tcp = flow->tcp.get ()] { tcp->Stop (); };
  } else if (flow->kind == "udp") {
    flow->udp = std::make_unique<UdpFlow> (
        Ns3 (description), ends.from, ends.to, description, number, onoff, flow->record);
    start = [udp = flow->udp.get ()] { udp->Start (); };
    stop = [udp = flow->udp.get ()] { udp->Stop (); };
  } else {
    throw ScenarioError ("type: there is no flow of type \"" + flow->kind + "\"");
  }
  Schedule (random.Draw (description.at ("start")), start);
  const json stop_at = Optional (description, "stop");
  if (!stop_at.is_null ())
    Schedule (random.Draw (stop_at), stop);
  for (const json &times : description.value ("again", json::array ())) {
    Schedule (times.at (0), start);
    if (times.size () > 1 && !times.at (1).is_null ())
      Schedule (times.at (1), stop);
  }
  m_flows[id] = std::move (flow);
}

void
Tick (const std::function<void (double)> &progress)
{
  progress (Simulator::Now ().GetSeconds ());
  Simulator::Schedule (ns3::Seconds (1), [&progress] { Tick (progress); });
}

json
Experiment::Run (const std::function<void (double)> &progress)
{
  if (progress)
    Tick (progress);
  Simulator::Stop (ns3::Seconds (m_duration));
  Simulator::Run ();
  return Result ();
}

json
Experiment::Result () const
{
  json flows = json::object ();
  for (const auto &[id, flow] : m_flows) {
    if (flow->kind != "multicast") {
      flows[id] = FlowResult (flow->record);
    } else {
      json receivers = json::object ();
      for (const auto &[name, receiver] : flow->receivers) {
        if (!receiver->recorded)
          continue;
        receivers[name] = ReceiverResult (receiver->record);
        receivers[name]["group"] = receiver->group;
      }
      flows[id] = {
        { "number", flow->number },
        { "sender", SenderResult (
                        flow->sender_record, [this] (HostId host) { return m_names.at (host); }) },
        { "receivers", receivers },
      };
      if (flow->others_count > 0) {
        flows[id]["others"] = ReceiverResult (flow->others);
        flows[id]["others"]["count"] = flow->others_count;
      }
    }
    flows[id]["kind"] = flow->kind;
    flows[id]["group"] = flow->group;
  }
  json result = { { "scenario", m_scenario.at ("id") }, { "variant", m_scenario.at ("variant") },
    { "seed", m_seed }, { "duration", m_duration }, { "bin", BIN }, { "flows", flows },
    { "links", m_topology->Links () } };
  if (m_scenario.contains ("packets"))
    result["packets"] = Packets ();
  return result;
}

/* The packet traces that were asked for. */
json
Experiment::Packets () const
{
  json packets = json::object ();
  for (const auto &[id, flow] : m_flows)
    for (const auto &[name, receiver] : flow->receivers) {
      if (!receiver->record.trace)
        continue;
      json trace = PacketTraceResult (flow->config, flow->sender_record, *receiver->record.trace);
      trace["duration_s"] = m_duration;
      trace["receiver"] = name;
      packets[id + "/" + name] = trace;
    }
  return packets;
}

/* ns-3's simulator is global: empty before and after. */
struct Simulation {
  explicit Simulation (std::uint64_t seed)
  {
    ns3::RngSeedManager::SetSeed (1);
    ns3::RngSeedManager::SetRun (seed);
    /* The quickest of ns-3's; all give the same order. */
    Simulator::SetScheduler (ns3::ObjectFactory ("ns3::PriorityQueueScheduler"));
  }
  ~Simulation ()
  {
    Simulator::Destroy ();
  }
};

} // namespace

json
RunScenario (const json &scenario, const std::function<void (double)> &progress)
{
  Simulation simulation (scenario.at ("seed"));
  Experiment experiment (scenario);
  return experiment.Run (progress);
}

} // namespace sim
