/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * PGMCC's sender and receivers together, across delays and random losses in virtual time.
 */
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include <glib.h>

extern "C" {
#include "mcctcp.h"
}
#include "receiver.h"
#include "sender.h"

using namespace sim::pgmcc;

namespace
{

constexpr MccTime T0 = 77 * MCC_SECOND;

struct Path {
  double delay; /* s, one way */
  double loss;
  double ack_loss = 0.0;
};

class Loop
{
public:
  Loop (const std::vector<Path> &paths, std::uint64_t seed, SenderConfig config = {})
      : m_paths (paths), m_sender (config, T0)
  {
    mcc_rng_init (&m_rng, seed);
    for (std::uint32_t i = 0; i < paths.size (); i++)
      m_receivers.emplace_back (ReceiverConfig{ i, seed + i });
    m_tick.resize (paths.size () + 1);
  }

  void Run (MccTime duration)
  {
    MccTime end = T0 + duration;

    PumpSender ();
    while (!m_events.empty () && m_events.begin ()->first <= end) {
      auto event = m_events.begin ();
      std::function<void ()> action = event->second;

      m_now = event->first;
      m_events.erase (event);
      action ();
    }
  }

  /* Of the acker at each packet. */
  std::map<std::uint32_t, unsigned> named;
  unsigned sent = 0, feedback = 0;
  Sender &GetSender ()
  {
    return m_sender;
  }
  void Kill (std::uint32_t id, MccTime at)
  {
    m_events.emplace (T0 + at, [this, id] { m_paths[id].loss = 1.0; });
  }
  double LossRatio (std::uint32_t id) const
  {
    return m_receivers[id].LossRatio ();
  }

private:
  void After (double delay, std::function<void ()> action)
  {
    m_events.emplace (m_now + mcc_time_from_seconds (delay), std::move (action));
  }

  void PumpSender ()
  {
    Data data;

    while (m_sender.Poll (&data, m_now)) {
      sent++;
      named[data.acker]++;
      for (std::uint32_t i = 0; i < m_paths.size (); i++)
        if (mcc_rng_uniform (&m_rng) >= m_paths[i].loss)
          After (m_paths[i].delay, [this, i, data] {
            m_receivers[i].HandleData (data, false, m_now);
            PumpReceiver (i);
          });
    }
    /* The window's law: see window.h. An election adds one at most, until the next time-out. */
    const Window &window = m_sender.GetWindow ();
    double sum = window.Tokens () + m_sender.OnTheirWay ();
    g_assert_cmpfloat (window.Size (), >=, 1.0);
    g_assert_cmpfloat (std::fabs (sum - window.Size ()), <, 1.0 + 1e-6);
    Tick (m_paths.size (), m_sender.NextTimeout (), [this] {
      m_sender.HandleTimeout (m_now);
      PumpSender ();
    });
  }

  void PumpReceiver (std::uint32_t id)
  {
    Feedback out;

    while (m_receivers[id].Poll (&out)) {
      feedback++;
      for (std::uint32_t i = 0; out.kind == Kind::NAK && i < m_paths.size (); i++)
        if (i != id)
          After (m_paths[id].delay + m_paths[i].delay, [this, i, out] {
            m_receivers[i].HandleNak (out);
            PumpReceiver (i);
          });
      if (mcc_rng_uniform (&m_rng) >= m_paths[id].ack_loss)
        After (m_paths[id].delay, [this, out] {
          m_sender.HandleFeedback (out, m_now);
          PumpSender ();
        });
    }
    Tick (id, m_receivers[id].NextTimeout (), [this, id] {
      m_receivers[id].HandleTimeout (m_now);
      PumpReceiver (id);
    });
  }

  void Tick (std::size_t who, MccTime at, std::function<void ()> action)
  {
    unsigned number = ++m_tick[who];

    if (at != MCC_TIME_NONE)
      m_events.emplace (mcc_time_max (at, m_now), [this, who, number, action] {
        if (m_tick[who] == number)
          action ();
      });
  }

  std::vector<Path> m_paths;
  Sender m_sender;
  std::vector<Receiver> m_receivers;
  std::vector<unsigned> m_tick;
  std::multimap<MccTime, std::function<void ()>> m_events;
  MccTime m_now = T0;
  MccRng m_rng;
};

/* Packets per second over some seeds. */
double
Throughput (const Path &path, unsigned seeds = 3)
{
  double sum = 0.0;

  for (unsigned seed = 1; seed <= seeds; seed++) {
    Loop loop ({ path }, seed);

    loop.Run (400 * MCC_SECOND);
    sum += loop.sent / 400.0;
  }
  return sum / seeds;
}

/* One receiver: the rate of a TCP with an ACK per packet. */
void
TestThroughput ()
{
  for (double p : { 0.002, 0.005, 0.01, 0.02 })
    for (double delay : { 0.02, 0.08 }) {
      double rate = Throughput ({ delay, p });
      double tcp = mcc_tcp_rate_bps (&mcc_tcp_model_default, 1.0, 2.0 * delay, p) / 8.0;

      g_test_message (
          "p %g, RTT %g ms: %.1f packets/s, %.2f of TCP", p, 2e3 * delay, rate, rate / tcp);
      g_assert_cmpfloat (rate / tcp, >, 0.85);
      g_assert_cmpfloat (rate / tcp, <, 1.25);
    }
}

/* The map repairs what is lost of the ACKs. */
void
TestAckLoss ()
{
  double whole = Throughput ({ 0.05, 0.01 }), holes = Throughput ({ 0.05, 0.01, 0.2 });

  g_test_message ("%.1f and %.1f packets/s", whole, holes);
  g_assert_cmpfloat (holes / whole, >, 0.9);
  g_assert_cmpfloat (holes / whole, <, 1.1);
}

/* The acker is who would get the least: by loss, by RTT. */
void
TestAckerIsSlowest ()
{
  static const std::vector<Path> cases[] = {
    { { 0.05, 0.005 }, { 0.05, 0.05 }, { 0.05, 0.01 } },
    { { 0.02, 0.01 }, { 0.15, 0.01 }, { 0.02, 0.01 } },
  };
  for (const std::vector<Path> &paths : cases)
    for (bool packets : { false, true }) {
      SenderConfig config;

      config.packet_numbers = packets;
      Loop loop (paths, 3, config);
      loop.Run (600 * MCC_SECOND);
      double share = loop.named[1] / static_cast<double> (loop.sent);
      g_test_message ("%.2f of the packets name it", share);
      /* in packets the bursts of a window blur an RTT (2.5.4) */
      g_assert_cmpfloat (share, >, packets ? 0.7 : 0.9);
    }
}

/* An acker that falls silent is replaced after two time-outs, and all goes on. */
void
TestAckerDies ()
{
  Loop loop ({ { 0.05, 0.05 }, { 0.05, 0.001 } }, 5);

  loop.Kill (0, 100 * MCC_SECOND);
  loop.Run (100 * MCC_SECOND);
  g_assert_cmpuint (loop.GetSender ().Acker (), ==, 0);
  loop.Run (110 * MCC_SECOND);
  g_assert_cmpuint (loop.GetSender ().Acker (), ==, 1);
  unsigned sent = loop.sent;
  loop.Run (140 * MCC_SECOND);
  g_assert_cmpuint (loop.sent - sent, >, 30 * 50);
}

/* p of the filter is the loss ratio; and what one in 40 would report of a common loss is said once
 * or a few times. */
void
TestSuppression ()
{
  std::vector<Path> paths (41, { 0.01, 0.0 });
  paths[0] = { 0.05, 0.02 };
  Loop loop (paths, 5);

  loop.Run (300 * MCC_SECOND);
  g_assert_cmpfloat (loop.LossRatio (0), >, 0.003);
  g_assert_cmpfloat (loop.LossRatio (0), <, 0.06);
  /* one ACK per packet, dummies at the start, nothing from 40 without loss */
  g_assert_cmpuint (loop.feedback, <, loop.sent + 60);
}

} // namespace

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, nullptr);
  g_test_add_func ("/pgmcc/loop/throughput", TestThroughput);
  g_test_add_func ("/pgmcc/loop/ack-loss", TestAckLoss);
  g_test_add_func ("/pgmcc/loop/acker-is-slowest", TestAckerIsSlowest);
  g_test_add_func ("/pgmcc/loop/acker-dies", TestAckerDies);
  g_test_add_func ("/pgmcc/loop/suppression", TestSuppression);
  return g_test_run ();
}
