/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * PGMCC's parts against the draft's rules. test_pgmcc_loop.cc runs them together.
 */
#include <algorithm>
#include <cmath>

#include <glib.h>

extern "C" {
#include "mcctcp.h"
}
#include "receiver.h"
#include "sender.h"
#include "wire.h"

using namespace sim::pgmcc;

namespace
{

constexpr MccTime T0 = 77 * MCC_SECOND;

void
Near (double a, double b, double relative = 1e-9)
{
  g_assert_cmpfloat (std::fabs (a - b), <=, relative * std::max (std::fabs (a), std::fabs (b)));
}

/* An ACK of everything up to @seq but @missing. */
Feedback
Ack (std::uint32_t from, std::uint64_t seq, MccTime echo, double p = 0.0, std::uint64_t missing = 0)
{
  Feedback ack = {};

  ack.kind = Kind::ACK;
  ack.from = from;
  ack.loss_ratio = p;
  ack.echo = echo;
  ack.echo_seq = seq;
  ack.map = UINT32_MAX;
  if (missing > 0)
    ack.map &= ~(UINT32_C (1) << (seq - missing));
  return ack;
}

Feedback
Nak (std::uint32_t from, std::uint64_t seq, MccTime echo, double p)
{
  Feedback nak = {};

  nak.kind = Kind::NAK;
  nak.from = from;
  nak.loss_ratio = p;
  nak.echo = echo;
  nak.echo_seq = seq;
  return nak;
}

/* 2.4: PFTK with RTO = 4 RTT, up to a constant. */
void
TestModelPftk ()
{
  for (double p : { 0.0001, 0.001, 0.01, 0.05, 0.2, 0.29 })
    for (double rtt : { 0.01, 0.3 }) {
      double pftk = mcc_tcp_rate_bps (&mcc_tcp_model_default, 1.0, rtt, p) / 8.0;

      Near (InverseThroughput (Model::FULL, rtt, p), std::sqrt (1.5) / pftk);
      Near (InverseThroughput (Model::SIMPLE, rtt, p), rtt * std::sqrt (p));
    }
  g_assert_cmpfloat (InverseThroughput (Model::FULL, 0.1, 0.0), ==, 0.0);
}

/* 2.2: twice as many tokens as ACKs up to 4, then 1/W per ACK. */
void
TestWindowGrowth ()
{
  Window window;
  std::uint64_t seq = 1;
  double w = 1.0;

  for (double expected : { 2.0, 3.0, 4.0 }) {
    double t = window.Tokens ();

    window.HandleSend ();
    window.HandleSend ();
    window.HandleAck ({ 1, 0, 0 }, seq, seq + 1);
    seq++;
    Near (window.Size (), expected);
    Near (window.Tokens (), t); /* -2 + 2 */
  }
  w = 4.0;
  for (unsigned i = 0; i < 200; i++) {
    double t = window.Tokens ();

    window.HandleSend ();
    window.HandleAck ({ 1, 0, 0 }, seq, seq + 1);
    seq++;
    Near (window.Tokens () - t, 1.0 / w, 1e-6);
    w += 1.0 / w;
    Near (window.Size (), w);
  }
}

/* 2.2: the first D = min (N, SSTHRESH - W) of an ACK's packets open exponentially. */
void
TestWindowMixed ()
{
  Window window;

  for (unsigned i = 0; i < 8; i++)
    window.HandleSend (); /* T = -7: room below the bound */
  window.HandleAck ({ 2, 0, 0 }, 2, 9);
  Near (window.Size (), 3.0);
  Near (window.Tokens (), -3.0);
  window.HandleAck ({ 3, 0, 0 }, 5, 9);
  Near (window.Size (), 4.0 + 2.0 / 4.0);
  Near (window.Tokens (), -3.0 + 2.0 + 2.0 * (1.0 + 1.0 / 4.0));
}

void
TestWindowBound ()
{
  Window window;

  window.HandleAck ({ 5, 0, 0 }, 5, 6);
  g_assert_cmpfloat (window.Tokens (), ==, window.Size ());
}

/* W = 16 with packets up to @next - 1 sent. */
Window
Opened (std::uint64_t *next)
{
  Window window;
  std::uint64_t acked = 0;

  *next = 1;
  while (window.Size () < 16.0) {
    while (window.Tokens () >= 1.0) {
      window.HandleSend ();
      ++*next;
    }
    acked++;
    window.HandleAck ({ 1, 0, 0 }, acked, *next);
  }
  return window;
}

/* 2.2: T -= W/2 and W /= 2; then only tokens until a packet sent after that is acknowledged. */
void
TestWindowHalves ()
{
  std::uint64_t next;
  Window window = Opened (&next);
  double w = window.Size (), t = window.Tokens ();
  std::uint64_t lost = next - 10;

  window.HandleAck ({ 1, 1, lost }, lost + 3, next);
  Near (window.Size (), w / 2.0);
  Near (window.Tokens (), t + 1.0 + 1.0 - w / 2.0);
  for (std::uint64_t seq = lost + 4; seq < next; seq++) {
    t = window.Tokens ();
    /* a second loss in the same window */
    window.HandleAck ({ 1, seq == lost + 6 ? 1U : 0U, lost + 1 }, seq, next + 1);
    Near (window.Size (), w / 2.0);
    Near (window.Tokens (), t + (seq == lost + 6 ? 2.0 : 1.0));
  }
  window.HandleAck ({ 1, 0, 0 }, next, next + 1);
  Near (window.Size (), w / 2.0 + 2.0 / w);
  /* lost before the halving, found after it: still the same window */
  double grown = window.Size ();
  window.HandleAck ({ 0, 1, next - 1 }, next + 1, next + 2);
  Near (window.Size (), grown);
  window.HandleAck ({ 0, 1, next }, next + 3, next + 4);
  Near (window.Size (), grown / 2.0);
}

void
TestWindowFloor ()
{
  Window window;

  window.HandleAck ({ 0, 1, 1 }, 4, 5);
  Near (window.Size (), 1.0);
  Near (window.Tokens (), 1.0);
}

void
TestFlightThreeLater ()
{
  Flight flight;

  for (unsigned i = 0; i < 6; i++)
    flight.Send ();
  g_assert_cmpuint (flight.Next (), ==, 7);
  News news = flight.HandleAck (4, 0xfffffff3); /* 4 and 3 */
  g_assert_cmpuint (news.acked, ==, 2);
  g_assert_cmpuint (news.lost, ==, 0);
  news = flight.HandleAck (5, 0xfffffff7); /* 2 misses; 3, 4, 5 and 1 came */
  g_assert_cmpuint (news.acked, ==, 2);
  g_assert_cmpuint (news.lost, ==, 1);
  g_assert_cmpuint (news.newest_lost, ==, 2);
  news = flight.HandleAck (6, 0xffffffff); /* late after all: nothing new about it */
  g_assert_cmpuint (news.acked, ==, 1);
  g_assert_cmpuint (news.lost, ==, 0);
  g_assert_true (flight.Empty ());
}

/* The map makes up for lost ACKs; what no map reaches is no loss, and is given up in time. */
void
TestFlightLostAcks ()
{
  Flight flight;

  for (unsigned i = 0; i < 200; i++)
    flight.Send ();
  News news = flight.HandleAck (32, UINT32_MAX);
  g_assert_cmpuint (news.acked, ==, 32);
  news = flight.HandleAck (74, UINT32_MAX);
  g_assert_cmpuint (news.acked, ==, 32);
  g_assert_cmpuint (news.lost, ==, 0);
  g_assert_cmpuint (flight.Unknown (), ==, 200 - 64);
  news = flight.HandleAck (33 + GIVEN_UP, UINT32_MAX);
  g_assert_cmpuint (news.lost, ==, 1);
  g_assert_cmpuint (news.newest_lost, ==, 0);
  flight.Abandon ();
  g_assert_true (flight.Empty ());
  g_assert_cmpuint (flight.Next (), ==, 201);
  news = flight.HandleAck (200, UINT32_MAX);
  g_assert_cmpuint (news.acked + news.lost, ==, 0);
}

/* 2.3.1, section 3: the first to answer becomes the acker. */
void
TestSenderElection ()
{
  Sender sender ({}, T0);
  Data data;

  g_assert_true (sender.Poll (&data, T0));
  g_assert_cmpuint (data.acker, ==, NOBODY);
  g_assert_false (sender.Poll (&data, T0)); /* one token */
  sender.HandleFeedback (Nak (7, 1, T0, 0.0), T0 + 100 * MCC_MSECOND);
  sender.HandleFeedback (Nak (8, 1, T0, 0.0), T0 + 100 * MCC_MSECOND);
  g_assert_cmpuint (sender.Acker (), ==, 7);
  g_assert_true (sender.Poll (&data, T0 + 100 * MCC_MSECOND));
  g_assert_cmpuint (data.acker, ==, 7);
  g_assert_cmpuint (data.seq, ==, 2);
  g_assert_false (sender.Poll (&data, T0 + 100 * MCC_MSECOND));
}

/* An elected acker 1 with @p, and an RTT of 100 ms; the sender has sent four packets. */
Sender
Running (double p, SenderConfig config = {})
{
  MccTime now = T0 + 100 * MCC_MSECOND;
  Sender sender (config, T0);
  Data data;

  sender.Poll (&data, T0);
  sender.HandleFeedback (Nak (1, 1, T0, p), now);
  sender.Poll (&data, now);
  sender.HandleFeedback (Ack (1, 2, now, p), now + 100 * MCC_MSECOND);
  while (sender.Poll (&data, now + 100 * MCC_MSECOND))
    ;
  return sender;
}

/* 2.3: another receiver takes over at T_i < 0.75 T_acker only. */
void
TestSenderSwitch ()
{
  MccTime now = T0 + 300 * MCC_MSECOND;
  /* RTT 100 ms against 100/0.76 and 100/0.74 ms */
  for (double ratio : { 0.76, 0.74 }) {
    Sender sender = Running (0.01);
    MccTime rtt = mcc_time_from_seconds (0.1 / ratio);

    Near (sender.AckerInverse (), InverseThroughput (Model::FULL, 0.1, 0.01), 1e-6);
    sender.HandleFeedback (Nak (2, 2, now - rtt, 0.01), now);
    g_assert_cmpuint (sender.Acker (), ==, ratio < 0.75 ? 2 : 1);
    if (ratio < 0.75) {
      Near (sender.Rtt (), 0.1 / ratio, 1e-6); /* statistics start anew */
      sender.HandleFeedback (Ack (1, 3, now - 100 * MCC_MSECOND, 0.01), now);
      g_assert_cmpuint (sender.Acker (), ==, 2); /* the former one is now the better one */
    }
  }
  /* no loss at the acker: who has any is worse; no loss at the other: never */
  Sender sender = Running (0.0);
  sender.HandleFeedback (Nak (2, 2, now - MCC_MSECOND, 0.0001), now);
  g_assert_cmpuint (sender.Acker (), ==, 2);
  sender.HandleFeedback (Nak (3, 2, now - MCC_SECOND / 4, 0.0), now);
  g_assert_cmpuint (sender.Acker (), ==, 2);
}

/* 2.5.3: RTT in packets, whatever the clock says. */
void
TestSenderPacketNumbers ()
{
  SenderConfig config;

  config.packet_numbers = true;
  Sender sender = Running (0.01, config);
  MccTime now = T0 + 200 * MCC_MSECOND;

  g_assert_cmpuint (sender.OnTheirWay (), ==, 3); /* 3, 4, 5 */
  /* the ACK came when 2 was the newest: one packet */
  Near (sender.AckerInverse (), InverseThroughput (Model::FULL, 1.0, 0.01), 1e-6);
  sender.HandleFeedback (Nak (2, 5, now - 190 * MCC_MSECOND, 0.01), now);
  g_assert_cmpuint (sender.Acker (), ==, 1);
  sender.HandleFeedback (Nak (2, 4, now - MCC_MSECOND, 0.01), now);
  g_assert_cmpuint (sender.Acker (), ==, 2);
}

/* ACKs of a former acker keep the window going. */
void
TestSenderFormerAcker ()
{
  Sender sender = Running (0.01);
  MccTime now = T0 + 300 * MCC_MSECOND;
  double w = sender.GetWindow ().Size ();
  Data data;

  sender.HandleFeedback (Nak (2, 2, now - 290 * MCC_MSECOND, 0.05), now);
  g_assert_cmpuint (sender.Acker (), ==, 2);
  g_assert_false (sender.Poll (&data, now));
  sender.HandleFeedback (Ack (1, 3, now - 100 * MCC_MSECOND, 0.01), now);
  g_assert_cmpfloat (sender.GetWindow ().Size (), >, w);
  g_assert_true (sender.Poll (&data, now));
  g_assert_cmpuint (data.acker, ==, 2);
}

/* 2.7: T = W = 1; the second in a row deposes the acker; RTO = SRTT + 4 RTTVAR, doubled. */
void
TestSenderTimeout ()
{
  Sender sender = Running (0.01);
  MccTime now = T0 + 200 * MCC_MSECOND;
  Data data;

  /* samples 100 ms, 100 ms: RTTVAR 50, then 37.5 ms */
  g_assert_cmpuint (sender.Rto () / MCC_USECOND, ==, 250000);
  g_assert_cmpuint (sender.NextTimeout (), ==, now + sender.Rto ());
  now = sender.NextTimeout ();
  sender.HandleTimeout (now - 1);
  g_assert_cmpfloat (sender.GetWindow ().Size (), >, 1.0);
  sender.HandleTimeout (now);
  Near (sender.GetWindow ().Size (), 1.0);
  Near (sender.GetWindow ().Tokens (), 1.0);
  g_assert_cmpuint (sender.Acker (), ==, 1);
  g_assert_true (sender.Poll (&data, now));
  g_assert_false (sender.Poll (&data, now));
  g_assert_cmpuint (data.acker, ==, 1);
  g_assert_cmpuint ((sender.NextTimeout () - now) / MCC_USECOND, ==, 500000);
  /* what was on its way before gives nothing any more */
  sender.HandleFeedback (Ack (1, 4, now - 10 * MCC_MSECOND, 0.01), now);
  Near (sender.GetWindow ().Tokens (), 0.0);
  sender.HandleTimeout (sender.NextTimeout ());
  g_assert_cmpuint (sender.Acker (), ==, 1); /* feedback in between: not in a row */
  g_assert_true (sender.Poll (&data, sender.NextTimeout ()));
  now = sender.NextTimeout ();
  sender.HandleTimeout (now);
  g_assert_cmpuint (sender.Acker (), ==, NOBODY);
  g_assert_true (sender.Poll (&data, now));
  g_assert_cmpuint (data.acker, ==, NOBODY);
  g_assert_cmpuint (sender.NextTimeout (), ==, now + RTO_INITIAL);
}

/* 2.3.2 */
void
TestSenderAckerLeaves ()
{
  Sender sender = Running (0.01);
  MccTime now = T0 + 300 * MCC_MSECOND;
  Feedback goodbye = Ack (2, 5, now - 100 * MCC_MSECOND);
  Data data;

  goodbye.leaving = true;
  sender.HandleFeedback (goodbye, now); /* not the acker */
  g_assert_cmpuint (sender.Acker (), ==, 1);
  goodbye.from = 1;
  sender.HandleFeedback (goodbye, now);
  g_assert_cmpuint (sender.Acker (), ==, NOBODY);
  g_assert_true (sender.Poll (&data, now));
  g_assert_cmpuint (data.acker, ==, NOBODY);
}

/* What no receiver can say of us. */
void
TestSenderForged ()
{
  Sender sender = Running (0.01);
  MccTime now = T0 + 300 * MCC_MSECOND;
  double t = sender.GetWindow ().Tokens ();

  sender.HandleFeedback (Ack (1, 6, now - MCC_MSECOND), now);
  sender.HandleFeedback (Ack (1, 0, now - MCC_MSECOND), now);
  sender.HandleFeedback (Ack (1, 5, now + MCC_MSECOND), now);
  Near (sender.GetWindow ().Tokens (), t);
  g_assert_cmpuint (sender.OnTheirWay (), ==, 3);
}

void
TestSenderSourceRate ()
{
  SenderConfig config;

  config.interval = 10 * MCC_MSECOND;
  Sender sender (config, T0);
  MccTime now = T0 + 100 * MCC_MSECOND;
  Data data;

  sender.Poll (&data, T0);
  sender.HandleFeedback (Nak (1, 1, T0, 0.0), now);
  g_assert_true (sender.Poll (&data, now));
  sender.HandleFeedback (Ack (1, 2, now, 0.0), now + 5 * MCC_MSECOND);
  g_assert_cmpfloat (sender.GetWindow ().Tokens (), >=, 2.0);
  g_assert_false (sender.Poll (&data, now + 5 * MCC_MSECOND));
  g_assert_cmpuint (sender.NextTimeout (), ==, now + 10 * MCC_MSECOND);
  g_assert_true (sender.Poll (&data, now + 10 * MCC_MSECOND));
  g_assert_false (sender.Poll (&data, now + 10 * MCC_MSECOND));
}

constexpr std::uint32_t ME = 5, OTHER = 6;

void
Give (Receiver &receiver, std::uint64_t seq, std::uint32_t acker = OTHER, bool ce = false)
{
  receiver.HandleData ({ seq, seq * MCC_SECOND, acker }, ce, T0 + seq * MCC_MSECOND);
}

/* 2.6: p_n = 1 - (1-c)^n through n losses, (1-c)^n p_0 through n arrivals, c = 500/65536. */
void
TestReceiverStepResponse ()
{
  Receiver receiver ({ ME, 1 });
  double c = 500.0 / 65536.0;
  std::uint64_t seq = 1;

  for (unsigned n = 1; n <= 300; n++) {
    Give (receiver, seq++, OTHER, true);
    Near (receiver.LossRatio (), 1.0 - std::pow (1.0 - c, n));
  }
  double p0 = receiver.LossRatio ();
  for (unsigned n = 1; n <= 300; n++) {
    Give (receiver, seq++);
    Near (receiver.LossRatio (), std::pow (1.0 - c, n) * p0);
  }
  /* three lost packets count when the third later one comes */
  p0 = receiver.LossRatio ();
  seq += 3;
  Give (receiver, seq++);
  Give (receiver, seq++);
  Near (receiver.LossRatio (), std::pow (1.0 - c, 2) * p0);
  Give (receiver, seq++);
  double p = std::pow (1.0 - c, 2) * p0;
  for (unsigned n = 0; n < 3; n++)
    p += c * (1.0 - p);
  Near (receiver.LossRatio (), p * (1.0 - c));
  g_assert_cmpuint (receiver.Lost (), ==, 3); /* what was marked has come */
}

void
TestReceiverReorder ()
{
  Receiver receiver ({ ME, 1 });

  for (std::uint64_t seq : { 1, 2, 4, 5, 3, 6, 7, 8, 8, 6 })
    Give (receiver, seq);
  g_assert_cmpuint (receiver.Lost (), ==, 0);
  for (std::uint64_t seq : { 10, 11, 12, 9, 13 })
    Give (receiver, seq);
  g_assert_cmpuint (receiver.Lost (), ==, 1);
}

/* 2.1.2, section 4: the acker answers each packet at once. */
void
TestReceiverAck ()
{
  Receiver receiver ({ ME, 1 });
  Feedback ack;

  Give (receiver, 41);
  g_assert_false (receiver.Poll (&ack));
  Give (receiver, 42, ME);
  g_assert_true (receiver.Poll (&ack));
  g_assert_true (ack.kind == Kind::ACK);
  g_assert_cmpuint (ack.from, ==, ME);
  g_assert_cmpuint (ack.echo, ==, 42 * MCC_SECOND);
  g_assert_cmpuint (ack.echo_seq, ==, 42);
  g_assert_cmpuint (ack.map, ==, UINT32_MAX); /* it missed nothing before its first */
  Give (receiver, 45, ME);
  g_assert_true (receiver.Poll (&ack));
  g_assert_cmpuint (ack.map, ==, 0xfffffff9);
  Give (receiver, 46, ME, true);
  g_assert_true (receiver.Poll (&ack));
  g_assert_cmpuint (ack.map, ==, 0xfffffff2); /* 43, 44 lost, 46 marked */
  Near (ack.loss_ratio, receiver.LossRatio ());
  g_assert_false (receiver.Poll (&ack));
  for (std::uint64_t seq : { 47, 48, 49, 50 })
    Give (receiver, seq, ME);
  g_assert_cmpuint (receiver.NextTimeout (), ==, MCC_TIME_NONE); /* ACKs do for NAKs */
  while (receiver.Poll (&ack))
    ;
  for (std::uint64_t seq : { 52, 53, 54, 55 })
    Give (receiver, seq);
  g_assert_cmpuint (receiver.NextTimeout (), !=, MCC_TIME_NONE);
  Give (receiver, 90, ME);
  g_assert_true (receiver.Poll (&ack));
  g_assert_cmpuint (ack.map, ==, 1);
  g_assert_cmpuint (receiver.NextTimeout (), ==, MCC_TIME_NONE);
}

/* A receiver that lost 3 and 5 of 1..8. */
Receiver
Lossy (std::uint64_t seed)
{
  Receiver receiver ({ ME, seed });

  for (std::uint64_t seq : { 1, 2, 4, 6, 7, 8 })
    Give (receiver, seq);
  return receiver;
}

/* A NAK after a wait uniform in [0, 50 ms), with that wait in the echo (2.5.1). */
void
TestReceiverNak ()
{
  MccTime begin = T0 + 7 * MCC_MSECOND; /* the third later packet of 3 */
  double sum = 0.0;
  Feedback nak;

  for (std::uint64_t seed = 1; seed <= 1000; seed++) {
    Receiver receiver = Lossy (seed);
    MccTime at = receiver.NextTimeout ();

    g_assert_cmpuint (at, >=, begin);
    g_assert_cmpuint (at, <, begin + NAK_BACKOFF);
    sum += mcc_time_to_seconds (at - begin);
    receiver.HandleTimeout (at - 1);
    g_assert_false (receiver.Poll (&nak));
    at = mcc_time_max (at, T0 + 8 * MCC_MSECOND);
    receiver.HandleTimeout (at);
    g_assert_true (receiver.Poll (&nak));
    g_assert_true (nak.kind == Kind::NAK);
    g_assert_cmpuint (nak.nak_base, ==, 3);
    g_assert_cmpuint (nak.map, ==, 5);
    g_assert_cmpuint (nak.echo_seq, ==, 8);
    g_assert_cmpuint (nak.echo, ==, 8 * MCC_SECOND + (at - (T0 + 8 * MCC_MSECOND)));
    g_assert_cmpuint (receiver.NextTimeout (), ==, MCC_TIME_NONE); /* once */
  }
  Near (sum / 1000, 0.025, 0.06); /* 3.3 sigma */
}

/* 2.8: what another reports need not be said again; the rest is. */
void
TestReceiverSuppression ()
{
  Receiver receiver = Lossy (9);
  Feedback heard = Nak (OTHER, 8, 0, 0.5), nak;

  heard.nak_base = 2;
  heard.map = 2; /* 3 */
  receiver.HandleNak (heard);
  g_assert_cmpuint (receiver.NextTimeout (), !=, MCC_TIME_NONE);
  receiver.HandleTimeout (T0 + MCC_SECOND);
  g_assert_true (receiver.Poll (&nak));
  g_assert_cmpuint (nak.nak_base, ==, 5);
  g_assert_cmpuint (nak.map, ==, 1);

  receiver = Lossy (9);
  heard.map = 10;
  receiver.HandleNak (heard);
  g_assert_cmpuint (receiver.NextTimeout (), ==, MCC_TIME_NONE);
}

/* 2.3.1: a dummy NAK for a packet without acker, unless another's is heard or an acker is named. */
void
TestReceiverDummy ()
{
  for (unsigned what = 0; what < 3; what++) {
    Receiver receiver ({ ME, 4 });
    Feedback nak;

    Give (receiver, 1, NOBODY);
    g_assert_cmpuint (receiver.NextTimeout (), <, T0 + MCC_MSECOND + NAK_BACKOFF);
    if (what == 1)
      receiver.HandleNak (Nak (OTHER, 1, 0, 0.0));
    if (what == 2)
      Give (receiver, 2, OTHER);
    g_assert_true ((receiver.NextTimeout () == MCC_TIME_NONE) == (what > 0));
    receiver.HandleTimeout (T0 + MCC_SECOND);
    g_assert_true (receiver.Poll (&nak) == (what == 0));
    if (what == 0)
      g_assert_cmpuint (nak.nak_base, ==, 0);
    Give (receiver, 3, NOBODY);
    g_assert_cmpuint (receiver.NextTimeout (), !=, MCC_TIME_NONE);
  }
}

void
TestReceiverLeave ()
{
  Receiver receiver ({ ME, 4 });
  Feedback out;

  Give (receiver, 1);
  receiver.HandleLeave (T0 + MCC_SECOND);
  g_assert_false (receiver.Poll (&out));
  Give (receiver, 2, ME);
  g_assert_true (receiver.Poll (&out));
  g_assert_false (out.leaving);
  receiver.HandleLeave (T0 + MCC_SECOND);
  g_assert_true (receiver.Poll (&out));
  g_assert_true (out.leaving && out.kind == Kind::ACK);
}

void
TestWire ()
{
  std::uint8_t bytes[64];
  std::uint64_t seq = (UINT64_C (3) << 32) + 2;
  Data data = { seq, 5 * MCC_MSECOND, ME }, data_out;
  Feedback out, ack = Ack (ME, seq - 3, T0 * 1000, 0.25, seq - 4);

  g_assert_cmpuint (Write (data, bytes), ==, 16);
  g_assert_true (Read (bytes, 1000, seq - 5, &data_out));
  g_assert_cmpuint (data_out.seq, ==, seq);
  g_assert_cmpuint (data_out.stamp, ==, data.stamp);
  g_assert_cmpuint (data_out.acker, ==, ME);
  g_assert_false (Read (bytes, 15, seq, &data_out));
  g_assert_false (Read (bytes, 64, seq, T0, &out));

  g_assert_cmpuint (Write (ack, bytes), ==, 20);
  g_assert_true (Read (bytes, 20, seq, T0 * 1000 + 7 * MCC_SECOND, &out));
  g_assert_true (out.kind == Kind::ACK && !out.leaving);
  g_assert_cmpuint (out.echo, ==, T0 * 1000);
  g_assert_cmpuint (out.echo_seq, ==, seq - 3);
  g_assert_cmpuint (out.map, ==, ack.map);
  g_assert_cmpuint (out.from, ==, ME);
  Near (out.loss_ratio, 0.25, 1e-4);
  g_assert_false (Read (bytes, 19, seq, T0 * 1000, &out));
  g_assert_false (Read (bytes, 20, seq, T0 * 1000 - MCC_SECOND, &out)); /* echo of the future */
  g_assert_false (Read (bytes, 20, seq, &data_out));

  Feedback nak = Nak (ME, seq, T0, 1.0);
  nak.nak_base = seq - 9;
  nak.map = 0x80000001;
  nak.leaving = true;
  g_assert_cmpuint (Write (nak, bytes), ==, 24);
  g_assert_true (Read (bytes, 24, seq, T0, &out));
  g_assert_cmpuint (out.nak_base, ==, seq - 9);
  g_assert_cmpuint (out.map, ==, 0x80000001);
  g_assert_cmpfloat (out.loss_ratio, ==, 1.0);
  g_assert_true (out.leaving && out.kind == Kind::NAK);
  g_assert_false (Read (bytes, 23, seq, T0, &out));
  g_assert_true (Read (bytes, 24, seq, MCC_TIME_NONE, &out)); /* another's, heard by a receiver */
  g_assert_cmpuint (out.echo, ==, T0);
}

} // namespace

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, nullptr);
  g_test_add_func ("/pgmcc/model/pftk", TestModelPftk);
  g_test_add_func ("/pgmcc/window/growth", TestWindowGrowth);
  g_test_add_func ("/pgmcc/window/growth-across-ssthresh", TestWindowMixed);
  g_test_add_func ("/pgmcc/window/tokens-bounded", TestWindowBound);
  g_test_add_func ("/pgmcc/window/halves-once", TestWindowHalves);
  g_test_add_func ("/pgmcc/window/at-least-one", TestWindowFloor);
  g_test_add_func ("/pgmcc/flight/three-later", TestFlightThreeLater);
  g_test_add_func ("/pgmcc/flight/lost-acks", TestFlightLostAcks);
  g_test_add_func ("/pgmcc/sender/election", TestSenderElection);
  g_test_add_func ("/pgmcc/sender/switch-below-0.75", TestSenderSwitch);
  g_test_add_func ("/pgmcc/sender/packet-numbers", TestSenderPacketNumbers);
  g_test_add_func ("/pgmcc/sender/former-acker", TestSenderFormerAcker);
  g_test_add_func ("/pgmcc/sender/time-out", TestSenderTimeout);
  g_test_add_func ("/pgmcc/sender/acker-leaves", TestSenderAckerLeaves);
  g_test_add_func ("/pgmcc/sender/forged", TestSenderForged);
  g_test_add_func ("/pgmcc/sender/source-rate", TestSenderSourceRate);
  g_test_add_func ("/pgmcc/receiver/step-response", TestReceiverStepResponse);
  g_test_add_func ("/pgmcc/receiver/reorder", TestReceiverReorder);
  g_test_add_func ("/pgmcc/receiver/ack", TestReceiverAck);
  g_test_add_func ("/pgmcc/receiver/nak", TestReceiverNak);
  g_test_add_func ("/pgmcc/receiver/suppression", TestReceiverSuppression);
  g_test_add_func ("/pgmcc/receiver/dummy-nak", TestReceiverDummy);
  g_test_add_func ("/pgmcc/receiver/leave", TestReceiverLeave);
  g_test_add_func ("/pgmcc/wire", TestWire);
  return g_test_run ();
}
