/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * record: what a run leaves behind, in bins of virtual time; becomes the JSON result (README.md).
 */
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace sim
{

constexpr double BIN = 0.1; /* s */
constexpr double FRAME_RATE = 25;

/* Sums per bin; the time is that of the simulator when it is called. */
class Bins
{
public:
  void Add (double amount);
  const std::vector<double> &Values () const
  {
    return m_values;
  }

private:
  std::vector<double> m_values;
};

/* What a stream lost, by its packets' numbers modulo 2^16, not by what a protocol counts or
 * forgives. */
class Losses
{
public:
  explicit Losses (Bins &lost) : m_lost (lost)
  {
  }
  /* Nothing has come yet: who joins has lost nothing before. */
  void Begin ()
  {
    m_any = false;
  }
  void Came (std::uint64_t number);

private:
  Bins &m_lost;
  bool m_any = false;
  std::uint16_t m_next = 0;
};

/* A value that changes now and then: (s, value) at each change. */
class Steps
{
public:
  void Set (double value);
  /* Keeps nothing from now on. */
  void Disable ()
  {
    m_enabled = false;
  }
  const std::vector<std::pair<double, double>> &Values () const
  {
    return m_values;
  }

private:
  bool m_enabled = true;
  std::vector<std::pair<double, double>> m_values;
};

/* Means per bin: sum and count. */
class Means
{
public:
  void Add (double value);
  const Bins &Sum () const
  {
    return m_sum;
  }
  const Bins &Count () const
  {
    return m_count;
  }

private:
  Bins m_sum, m_count;
};

/* One stream of several, as it leaves. */
struct StreamRecord {
  Bins bytes;
  Steps target_bps, limiting; /* as the sender's */
  Steps low_bps, high_bps;    /* bounds, where they change */
};

struct SenderRecord {
  Bins bytes;         /* media, IP bytes as they leave */
  Bins packets;       /* media */
  Bins control_bytes; /* RTCP or the protocol's own control */
  Bins reports;       /* feedback packets that arrived */
  Steps target_bps;
  Steps limiting;                    /* HostId of the limiting receiver, CLR or acker; -1 = none */
  std::vector<StreamRecord> streams; /* ASSP's streams, SMCC's layers: what is above is their sum */
  /* For packet traces only: s, when each media packet left, by stream or layer. */
  bool keep_packets = false;
  std::vector<std::vector<double>> sent;
  void Sent (unsigned stream = 0);
};

/* From one stream to another; NO_STREAM: none. */
constexpr int NO_STREAM = -1;
struct SwitchRecord {
  double time; /* s, when it was done */
  int from, to;
  std::string reason;
  double duration; /* s, since the decision */
};

/* What came of each media packet of each stream or layer, by when it was sent. */
class PacketTrace
{
public:
  /* Now, after @delay s. */
  void Came (double delay, unsigned stream);
  /* ... of the only stream there is, which is shown from its first packet on. */
  void CameAlone (double delay);
  /* From what was sent @ago s before on: this stream, or this layer and those below. */
  void Show (int stream, double ago = 0);
  /* One that was sent then: its delay, or < 0. Each is told once. */
  float Take (double sent, unsigned stream);
  const std::vector<std::pair<double, int>> &Shown () const
  {
    return m_shown;
  }

private:
  std::vector<std::multimap<std::int64_t, float>> m_delay; /* by the ns of sending */
  std::vector<std::pair<double, int>> m_shown;
};

/* What a loss measure says and the rate by it, summed over samples; of open-loop flows. */
struct LossMeans {
  std::uint64_t samples = 0, without = 0; /* all; those before the first loss, in no sum */
  double ratio_sum = 0, rate_sum = 0, rtt_sum = 0;
  std::uint64_t events = 0; /* at the end */
};

struct ReceiverRecord {
  Bins bytes, packets, lost; /* media; lost by the sender's numbers (Losses), as it is noticed */
  Bins control_bytes;        /* sent */
  Bins reports;              /* sent */
  Means delay;               /* one way, s, of media packets; true time, not the host's clock */
  Steps rate_bps;            /* its own estimate */
  Steps loss_ratio;          /* its own estimate: loss (event) rate */
  Steps rtt;                 /* its own estimate, s */
  Steps member;              /* 1 from its join, 0 from its leave */

  /* With several streams the above are of the one shown (where there is none, of the one joined);
   * with layers of all together. */
  Bins other_bytes;            /* that reach the host, of streams that are not shown */
  Bins frames, frames_damaged; /* at FRAME_RATE by their time of sending; with a packet lost */
  Steps stream;                /* shown, or the highest layer; NO_STREAM: none */
  std::vector<SwitchRecord> switches;
  std::unique_ptr<PacketTrace> trace; /* when it is asked for */

  std::map<std::string, LossMeans> loss_means;

  /* Several receivers share it: sums make sense, their estimates do not. */
  void OnlySums ()
  {
    for (Steps *steps : { &rate_bps, &loss_ratio, &rtt, &member, &stream })
      steps->Disable ();
  }
};

/* A TCP or UDP flow, at its receiver's IP layer. */
struct FlowRecord {
  Bins bytes, packets;
  Bins lost;                 /* packets to the receiver that were dropped on the way */
  Means delay;               /* s, one way */
  Bins recoveries, timeouts; /* TCP: losses found by SACK, and by a (first) time-out */
};

} // namespace sim
