/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * tfrc: TCP Friendly Rate Control (RFC 5348), sender and receiver as machines without a network.
 *
 * Section numbers are RFC 5348's. Timestamps are the sender's clock; the receiver only sends them
 * back.
 */
#pragma once

#include <cstdint>
#include <deque>
#include <optional>

extern "C" {
#include "mcctime.h"
}

#include "losshistory.h"
#include "ratemeter.h"

namespace sim
{

/* 3.2.1; these bytes go over the wire. */
struct TfrcData {
  std::uint32_t seq;
  std::uint32_t timestamp_us;
  std::uint32_t rtt_us; /* R; 0 = none yet */
};
static_assert (sizeof (TfrcData) == 12);

/* 3.2.2, likewise. */
struct TfrcFeedback {
  std::uint32_t timestamp_us;    /* t_recvdata: of the last data packet */
  std::uint32_t delay_us;        /* t_delay: since it came */
  std::uint32_t receive_bps;     /* X_recv */
  std::uint32_t loss_event_rate; /* p, in 2^-32 */
};
static_assert (sizeof (TfrcFeedback) == 16);

class TfrcSender
{
public:
  struct Config {
    std::uint32_t packet_bytes;       /* s, IP bytes */
    double min_bps = 0, max_bps = 0;  /* the application's limits; max 0 = none */
    bool reduce_oscillations = false; /* 4.5, RECOMMENDED beside few others */
  };

  TfrcSender (const Config &config, MccTime now);

  void HandleFeedback (const TfrcFeedback &feedback, MccTime now);
  void HandleTimeout (MccTime now);
  MccTime NextTimeout () const;
  /* True when a data packet is due. */
  bool Poll (MccTime now, TfrcData *out);

  /* What is sent: X, or X_inst (4.5), within the application's limits. */
  double RateBps () const;
  double AllowedBps () const /* X */
  {
    return m_rate;
  }
  double Rtt () const /* R, s; 0 = none yet */
  {
    return m_rtt;
  }
  double LossEventRate () const
  {
    return m_loss;
  }

private:
  struct Received {
    MccTime time;
    double rate;
  };

  double FloorBps () const;
  double MaxReceived () const;
  void MaximizeReceived (double rate, MccTime now);
  void AddReceived (double rate, MccTime now);
  double ReceiveLimit (double rate, double loss, MccTime now);
  void UpdateRate (double limit, MccTime now);
  void UpdateLimits (double limit, MccTime now);
  void UpdateRtt (double sample, MccTime now);
  void NoFeedback (MccTime now);
  void RestartTimer (MccTime now);

  Config m_config;
  double m_rate;         /* X */
  double m_equation = 0; /* X_Bps, in bit/s */
  double m_loss = 0;     /* p */
  double m_rtt = 0;      /* R */
  double m_rtt_sqmean = 0, m_rtt_sample = 0;
  bool m_heard = false;            /* feedback */
  std::deque<Received> m_received; /* X_recv_set, never empty */
  MccTime m_last_doubled = 0;      /* tld */
  MccTime m_timer;                 /* nofeedback */
  bool m_limited = false;          /* by the application, since the last feedback */
  std::optional<MccTime> m_last_send;
  MccTime m_now;
  std::uint32_t m_seq = 0;
};

class TfrcReceiver
{
public:
  struct Config {
    std::uint32_t packet_bytes; /* s, IP bytes */
    bool discounting = true;    /* 5.5 */
  };

  explicit TfrcReceiver (const Config &config);

  void HandleData (const TfrcData &data, std::uint32_t ip_bytes, bool ce, MccTime now);
  void HandleTimeout (MccTime now);
  MccTime NextTimeout () const
  {
    return m_timer;
  }
  bool Poll (TfrcFeedback *out);

  double LossEventRate () const
  {
    return m_history.LossEventRate ();
  }
  double Rtt () const /* s; as the sender told; 0 = none yet */
  {
    return m_rtt;
  }
  double ReceiveBps () const /* X_recv of the last feedback */
  {
    return m_receive;
  }
  const LossHistory &History () const
  {
    return m_history;
  }

private:
  double Measure (MccTime now) const;
  void Seed (MccTime now);
  void Feedback (MccTime now);

  Config m_config;
  LossHistory m_history;
  RateMeter m_meter;
  double m_rtt = 0;
  double m_receive = 0, m_max_receive = 0;
  bool m_any = false, m_fresh = false;
  MccTime m_timer = MCC_TIME_NONE;
  std::uint32_t m_last_timestamp = 0;
  MccTime m_last_arrival = 0;
  std::optional<TfrcFeedback> m_out;
};

} // namespace sim
