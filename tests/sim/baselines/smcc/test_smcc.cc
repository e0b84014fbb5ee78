/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * SMCC's laws: one receiver fed by hand; sender and receivers over paths with delay and random
 * loss.
 */
#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include <glib.h>

#include "smcc/smcc.h"
#include "tfrc/equation.h"

using namespace sim;

namespace
{

constexpr std::uint32_t S = 1000;
constexpr MccTime EPOCH = 1000 * MCC_SECOND;
constexpr double RTT = 0.1;
constexpr double BCL_TIME = 0.25; /* t: others' RTT is longer */

void
LayersCoverTheMaximum ()
{
  struct {
    double base, max;
    unsigned layers;
  } table[] = { { 1e6, 10e6, 5 }, { 0.5e6, 10e6, 6 }, { 2e6, 10e6, 4 }, { 1e6, 1e6, 1 },
    { 1e6, 1.1e6, 2 }, { 0.25e6, 2e6, 4 } };
  for (const auto &row : table)
    g_assert_cmpuint (SmccLayers (row.base, row.max), ==, row.layers);
  g_assert_cmpfloat (SmccCumulative (1e6, 3), ==, 8e6);
}

/* A receiver that is sent packets of layer 0 at a rate. */
class Fed
{
public:
  Fed () : m_receiver ({ 1, S, 7, 1e6, 10e6 }, EPOCH)
  {
    Drain ();
  }
  /* Layer 0 at @bps until @until s, a packet lost where @lose says so. */
  void Run (double until, double bps, const std::function<bool (double)> &lose = {})
  {
    for (; m_at < until; m_at += 8 * S / bps) {
      SmccData data = {};
      data.tfmcc.seq = m_seq++;
      data.tfmcc.timestamp_us = static_cast<std::uint32_t> (m_at * 1e6);
      data.tfmcc.max_rtt_us = static_cast<std::uint32_t> (RTT * 1e6);
      data.tfmcc.echo_receiver = TFMCC_NOBODY;
      data.tfmcc.suppress_bps = TFMCC_RATE_MAX;
      data.next_bps = 300000;
      data.t_us = static_cast<std::uint32_t> (BCL_TIME * 1e6);
      MccTime now = EPOCH + mcc_time_from_seconds (m_at);
      if (!lose || !lose (m_at))
        m_receiver.HandleData (data, S, false, now);
      m_receiver.HandleTimeout (now);
      Drain ();
    }
  }
  struct Done {
    double at;
    SmccReceiver::Action action;
    unsigned number;
  };
  std::vector<Done> done;
  SmccReceiver &Receiver ()
  {
    return m_receiver;
  }
  double First (SmccReceiver::Action action, unsigned number, double from = 0) const
  {
    for (const Done &each : done)
      if (each.action == action && each.number == number && each.at >= from)
        return each.at;
    return -1;
  }

private:
  void Drain ()
  {
    unsigned number;
    for (auto action = m_receiver.PollAction (&number); action != SmccReceiver::Action::NONE;
         action = m_receiver.PollAction (&number))
      done.push_back ({ m_at, action, number });
  }

  SmccReceiver m_receiver;
  std::uint32_t m_seq = 0;
  double m_at = 0;
};

using Action = SmccReceiver::Action;

void
NoAttemptBelowTheNextLayer ()
{
  Fed fed;
  fed.Run (5, 0.4e6); /* X = 2 X_recv, below B_0 */
  g_assert_cmpfloat (fed.First (Action::JOIN_LAYER, 0), ==, 0);
  g_assert_cmpuint (fed.done.size (), ==, 1);
}

/* BCL_0 after t; layer 1 in its place after twice that, as layer 0 has one BCL. */
void
AttemptCountsUp ()
{
  Fed fed;
  fed.Run (2, 0.8e6);
  double bcl = fed.First (Action::JOIN_BCL, 0), joined = fed.First (Action::JOIN_LAYER, 1);
  g_assert_cmpfloat (bcl, >=, BCL_TIME);
  g_assert_cmpfloat_with_epsilon (joined - bcl, BCL_TIME, 0.02);
  g_assert_cmpfloat (fed.First (Action::LEAVE_BCL, 0), ==, joined);
  g_assert_cmpuint (fed.Receiver ().Layer (), ==, 1);
  g_assert_cmpuint (fed.Receiver ().Failures (), ==, 0);
}

/* A loss ends an attempt; the next waits 2 s, then 4 s. */
void
FailuresWait ()
{
  Fed fed;
  double begun = -1;
  auto lose = [&] (double at) {
    bool first = fed.Receiver ().Attempting () && at > begun + 0.5;
    if (first)
      begun = at;
    return first;
  };
  fed.Run (20, 0.8e6, lose);
  std::vector<double> failed;
  for (const Fed::Done &each : fed.done)
    if (each.action == Action::ATTEMPT_FAILED)
      failed.push_back (each.at);
  g_assert_cmpuint (failed.size (), >=, 3);
  g_assert_cmpfloat (failed[1] - failed[0], >=, 2.0);
  g_assert_cmpfloat (failed[2] - failed[1], >=, 4.0);
  g_assert_cmpuint (fed.Receiver ().Layer (), ==, 0);
  g_assert_cmpfloat (fed.First (Action::JOIN_LAYER, 1), ==, -1);
}

/* Sender and receivers, each behind its own delay and loss. */
class Session
{
public:
  explicit Session (std::vector<double> losses, double max_bps = 10e6)
      : m_losses (std::move (losses)), m_sender ({ S, 1e6, max_bps }, EPOCH)
  {
    mcc_rng_init (&m_rng, 5);
    for (unsigned i = 0; i < m_losses.size (); i++) {
      receivers.push_back (std::make_unique<SmccReceiver> (
          SmccReceiver::Config{ i, S, 100 + i, 1e6, max_bps }, EPOCH));
      m_groups.emplace_back ();
      m_wakes.push_back (MCC_TIME_NONE);
      received.push_back (0);
      Serve (i);
    }
  }
  void Run (double until)
  {
    MccTime end = EPOCH + mcc_time_from_seconds (until);
    while (m_now < end) {
      MccTime next = std::max (m_sender.NextTimeout (), m_now + MCC_USECOND);
      if (!m_events.empty ())
        next = std::min (next, m_events.begin ()->first);
      m_now = next;
      while (!m_events.empty () && m_events.begin ()->first <= m_now) {
        auto event = std::move (m_events.begin ()->second);
        m_events.erase (m_events.begin ());
        event ();
      }
      m_sender.HandleTimeout (m_now);
      SmccData data;
      while (m_sender.Poll (m_now, &data))
        Send (data);
    }
  }
  void SetLoss (unsigned receiver, double loss)
  {
    m_losses[receiver] = loss;
  }
  const SmccSender &Sender () const
  {
    return m_sender;
  }
  std::vector<std::unique_ptr<SmccReceiver>> receivers;
  std::vector<double> received; /* bits of layers */

private:
  void At (MccTime when, std::function<void ()> event)
  {
    m_events.emplace (when, std::move (event));
  }
  void Send (const SmccData &data)
  {
    for (unsigned i = 0; i < receivers.size (); i++) {
      if (m_groups[i].count (data.tfmcc.reserved) == 0 || mcc_rng_uniform (&m_rng) < m_losses[i])
        continue;
      At (m_now + mcc_time_from_seconds (RTT / 2), [this, i, data] {
        if (data.tfmcc.reserved < SMCC_BCL)
          received[i] += 8 * S;
        receivers[i]->HandleData (data, S, false, m_now);
        Serve (i);
      });
    }
  }
  void Serve (unsigned i)
  {
    SmccReport report;
    unsigned number;
    receivers[i]->HandleTimeout (m_now);
    for (auto action = receivers[i]->PollAction (&number); action != Action::NONE;
         action = receivers[i]->PollAction (&number)) {
      unsigned group
          = action == Action::JOIN_BCL || action == Action::LEAVE_BCL ? SMCC_BCL + number : number;
      if (action == Action::JOIN_BCL || action == Action::JOIN_LAYER)
        m_groups[i].insert (group);
      else if (action != Action::ATTEMPT_FAILED)
        m_groups[i].erase (group);
    }
    while (receivers[i]->PollReport (&report))
      At (m_now + mcc_time_from_seconds (RTT / 2),
          [this, report] { m_sender.HandleReport (report, m_now); });
    MccTime next = receivers[i]->NextTimeout ();
    if (next == MCC_TIME_NONE || next == m_wakes[i])
      return;
    m_wakes[i] = next;
    At (std::max (next, m_now + MCC_USECOND), [this, i, next] {
      if (m_wakes[i] == next)
        m_wakes[i] = MCC_TIME_NONE;
      Serve (i);
    });
  }

  std::vector<double> m_losses;
  SmccSender m_sender;
  MccRng m_rng;
  MccTime m_now = EPOCH;
  std::vector<std::set<unsigned>> m_groups;
  std::vector<MccTime> m_wakes;
  std::multimap<MccTime, std::function<void ()>> m_events;
};

/* Nothing limits: up to the last layer, and all together the maximum. */
void
ClimbsToTheMaximum ()
{
  Session session ({ 0 }, 3.5e6);
  session.Run (120);
  g_assert_cmpuint (session.receivers[0]->Layer (), ==, 2);
  g_assert_cmpfloat_with_epsilon (session.Sender ().SumBps (2), 3.5e6, 0.1e6);
  double before = session.received[0];
  session.Run (130);
  g_assert_cmpfloat_with_epsilon ((session.received[0] - before) / 10, 3.5e6, 0.2e6);
}

/* Each gets about what the equation allows it, in the layer for that; the slow one does not hold
 * the fast one down. */
void
EachItsRate ()
{
  Session session ({ 0.03, 0.002 });
  session.Run (200);
  std::vector<double> before = session.received;
  session.Run (400);
  for (unsigned i = 0; i < 2; i++) {
    double bps = (session.received[i] - before[i]) / 200;
    double x = TfrcRate (S, RTT, i == 0 ? 0.03 : 0.002);
    g_test_message ("%.0f of %.0f bit/s, layer %u", bps, x, session.receivers[i]->Layer ());
    g_assert_cmpfloat (bps, >, 0.5 * x);
    g_assert_cmpfloat (bps, <, 1.5 * x);
  }
  g_assert_cmpuint (session.receivers[0]->Layer (), <=, 1);
  g_assert_cmpuint (session.receivers[1]->Layer (), >=, 1);
}

/* Whoever is worse than what was reported in a layer may say so: X_supp is of the whole X, of which
 * a layer above the base has only a part. */
void
SilencesNobodyWhoIsWorse ()
{
  SmccSender sender ({ S, 1e6, 10e6 }, EPOCH);
  MccTime now = EPOCH;
  SmccData data = {};
  auto layer1 = [&] {
    for (unsigned i = 0; i < 100000; i++) {
      while (sender.Poll (now, &data))
        if (data.tfmcc.reserved == 1)
          return;
      now += MCC_MSECOND;
      sender.HandleTimeout (now);
    }
    g_assert_not_reached ();
  };
  auto report = [&] (std::uint32_t receiver, std::uint32_t rate_bps) {
    layer1 ();
    SmccReport out = {};
    out.receiver = receiver;
    out.timestamp_us = 0;
    out.echo_us = static_cast<std::uint32_t> ((now - 100 * MCC_MSECOND) / MCC_USECOND);
    out.rate_bps = rate_bps;
    out.round = data.tfmcc.round;
    out.flags = TFMCC_HAVE_RTT | TFMCC_HAVE_LOSS;
    out.reserved = 1;
    sender.HandleReport (out, now);
  };
  report (1, 1200000); /* the CLR */
  g_assert_cmpuint (sender.Clr (1), ==, 1);
  report (2, 1500000);
  layer1 ();
  g_assert_cmpuint (sender.Clr (1), ==, 1);
  g_assert_cmpuint (data.tfmcc.suppress_bps, ==, 1080000); /* 0.9 of the lowest (3.4) */
}

/* What falls below its layer's minimum leaves it; the others stay. */
void
LeavesWhenBelow ()
{
  Session session ({ 0.002, 0.002 });
  session.Run (150);
  g_assert_cmpuint (session.receivers[0]->Layer (), >=, 1);
  session.SetLoss (0, 0.08);
  session.Run (200);
  g_assert_cmpuint (session.receivers[0]->Layer (), ==, 0);
  g_assert_cmpuint (session.receivers[1]->Layer (), >=, 1);
  g_assert_cmpuint (session.Sender ().Clr (0), ==, 0);
}

} // namespace

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, nullptr);
  g_test_add_func ("/smcc/layers-cover-the-maximum", LayersCoverTheMaximum);
  g_test_add_func ("/smcc/no-attempt-below-the-next-layer", NoAttemptBelowTheNextLayer);
  g_test_add_func ("/smcc/attempt-counts-up", AttemptCountsUp);
  g_test_add_func ("/smcc/failures-wait", FailuresWait);
  g_test_add_func ("/smcc/climbs-to-the-maximum", ClimbsToTheMaximum);
  g_test_add_func ("/smcc/each-its-rate", EachItsRate);
  g_test_add_func ("/smcc/silences-nobody-who-is-worse", SilencesNobodyWhoIsWorse);
  g_test_add_func ("/smcc/leaves-when-below", LeavesWhenBelow);
  return g_test_run ();
}
