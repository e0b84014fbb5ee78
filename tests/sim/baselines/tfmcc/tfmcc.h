/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * tfmcc: TCP-Friendly Multicast Congestion Control (RFC 4654), sender and receiver as machines
 * without a network: time and packets in, packets out.
 *
 * Section numbers are RFC 4654's. Where it leaves a choice, or its text was not at hand, the
 * comment says [ours]. Timestamps are the hosts' own clocks; only differences of one clock are ever
 * taken.
 */
#pragma once

#include <cstdint>
#include <list>
#include <optional>

extern "C" {
#include "mccrng.h"
#include "mcctime.h"
}

#include "tfrc/losshistory.h"
#include "tfrc/ratemeter.h"

namespace sim
{

constexpr std::uint32_t TFMCC_NOBODY = UINT32_MAX;
constexpr std::uint32_t TFMCC_RATE_MAX = UINT32_MAX; /* bit/s: the highest X_supp there is */

/* The header of a data packet (2.2.1); these bytes are what goes over the wire. */
struct TfmccData {
  std::uint32_t seq;           /* i */
  std::uint32_t timestamp_us;  /* ts_i, sender's clock */
  std::uint32_t suppress_bps;  /* X_supp */
  std::uint32_t max_rtt_us;    /* R_max */
  std::uint32_t echo_receiver; /* r; TFMCC_NOBODY when nobody is echoed */
  std::uint32_t echo_us;       /* tr_r' = tr_r + the time the sender held it, r's clock */
  std::uint16_t round;         /* fb_nr */
  std::uint8_t is_clr;         /* r is the CLR */
  std::uint8_t reserved;
};
static_assert (sizeof (TfmccData) == 28);

/* A feedback packet (2.2.2), likewise. */
struct TfmccReport {
  std::uint32_t receiver;     /* r */
  std::uint32_t timestamp_us; /* tr_r, receiver's clock */
  std::uint32_t echo_us;      /* ts_i' = ts_i + the time since its arrival, sender's clock */
  std::uint32_t rate_bps;     /* X_r */
  std::uint16_t round;        /* fb_nr */
  std::uint8_t flags;
  std::uint8_t reserved;
};
static_assert (sizeof (TfmccReport) == 20);

enum TfmccFlags : std::uint8_t {
  TFMCC_HAVE_RTT = 1,
  TFMCC_HAVE_LOSS = 2,
  TFMCC_LEAVE = 4,
};

class TfmccSender
{
public:
  struct Config {
    std::uint32_t packet_bytes;      /* s, IP bytes */
    double min_bps = 0, max_bps = 0; /* the application's limits of X; max 0 = none */
    double start_bps = 0;            /* 0 = one packet per R_max (3.1) */
    double round_rtts = 6;           /* T / R_max (3.4); 4 may do with overheard reports */
    MccTime max_rtt = 0;             /* R_max at first; 0 = 500 ms (3.2) */
    bool rise_per_report = false;    /* 3.3 (4) to the letter: baselines/README.md */
  };

  TfmccSender (const Config &config, MccTime now);
  /* After a pause: as at first, but numbers of packets and rounds go on, for receivers take what
   * falls back for old. 3.6 would begin at half of X for each 10 RTT of the pause [ours]. */
  void Restart (MccTime now);

  void HandleReport (const TfmccReport &report, MccTime now)
  {
    HandleReport (report, report.rate_bps, now);
  }
  /* @stated_bps: X_r as its receiver said it and compares it with X_supp (SMCC, where @report has a
   * part of that). */
  void HandleReport (const TfmccReport &report, std::uint32_t stated_bps, MccTime now);
  void HandleTimeout (MccTime now);
  /* The earliest time of a packet or a timer. */
  MccTime NextTimeout () const;
  /* True when a data packet is due. */
  bool Poll (MccTime now, TfmccData *out);

  double RateBps () const /* X */
  {
    return m_rate;
  }
  std::uint32_t Clr () const
  {
    return m_clr;
  }
  bool SlowStart () const
  {
    return m_slow_start;
  }
  /* R_max, ns. */
  MccTime MaxRtt () const;
  std::uint16_t Round () const
  {
    return m_round;
  }

private:
  struct Echo {
    std::uint32_t receiver, timestamp_us;
    MccTime arrival;
    double rate;
    std::uint64_t round; /* in which it reported */
    int priority;
  };

  double FloorBps () const;
  double PacketBits () const;
  MccTime Interval (double rate) const;
  void SetRate (double rate, MccTime now);
  void MoveRate (MccTime now);
  void StartRound (MccTime now);
  void CheckRound (MccTime now);
  void CheckSilence (MccTime now);
  void UpdateMaxRtt (MccTime sample);
  void MakeClr (std::uint32_t receiver, MccTime now);
  void LoseClr (MccTime now);
  void LimitTo (const TfmccReport &report, double rate, MccTime rtt, MccTime now);
  void SlowStartTo (double rate, MccTime rtt, MccTime now);
  void RiseTo (double rate, MccTime now);
  void Queue (const TfmccReport &report, double rate, bool new_clr, MccTime now);
  void FillEcho (TfmccData *out, MccTime now);

  Config m_config;
  double m_rate;                     /* X */
  bool m_slow_start = true;          /* until the first loss of anyone (3.6) */
  double m_ramp_from = 0, m_ramp_to; /* X moves over one RTT in slow start */
  MccTime m_ramp_start, m_ramp_length = 1;
  MccTime m_last_rise; /* up to here the rise is spent (3.3) */

  std::uint32_t m_clr = TFMCC_NOBODY;
  MccTime m_clr_since = 0, m_clr_report = 0;
  std::optional<std::uint64_t> m_no_rise_round; /* no rise until this round is over (3.3) */
  MccTime m_last_report;
  MccTime m_last_halving;

  MccTime m_max_rtt, m_peak_rtt = 0;
  MccTime m_round_start, m_round_length = 0;
  std::uint64_t m_rounds = 0;
  std::uint16_t m_round = 0;
  bool m_round_heard = false;         /* non-CLR feedback in this round */
  double m_suppress = TFMCC_RATE_MAX; /* X_supp */

  std::list<Echo> m_echoes;       /* each receiver once */
  std::optional<Echo> m_clr_echo; /* the CLR's newest, when nobody waits */
  std::uint32_t m_seq = 0;
  std::optional<MccTime> m_last_send;
  MccTime m_now;
};

class TfmccReceiver
{
public:
  struct Config {
    std::uint32_t id;
    std::uint32_t packet_bytes; /* s, IP bytes */
    std::uint64_t seed;
    bool discounting = false; /* 5.5, optional; off as in NORM and UFTP */
    double round_rtts = 6;    /* as the sender's */
    /* Of R' in R, each packet. 1: R' stands for R until the next sample, 4.3.3. */
    double one_way_gain = 1;
    /* Each packet that echoes a report is a sample of the RTT (4.3.2), not only the first one. */
    bool sample_each = false;
  };

  TfmccReceiver (const Config &config, MccTime now);

  void HandleData (const TfmccData &data, std::uint32_t ip_bytes, bool ce, MccTime now);
  /* Another receiver's report, where all hear all (ASM, 4.5). */
  void HandleOverheard (const TfmccReport &report, MccTime now);
  void HandleTimeout (MccTime now);
  MccTime NextTimeout () const;
  /* True until every report is out. */
  bool Poll (TfmccReport *out);
  /* Only the CLR says goodbye. */
  void Leave (MccTime now);
  /* From now on data and feedback of another session over the same path (SMCC's layers): RTT, rate
   * and losses stay; its first report waits for no timer. */
  void NewSession ();

  double RateBps (MccTime now) const; /* X_r; 0 = not known yet */
  double Rtt () const;                /* R or R', s */
  bool HaveRtt () const
  {
    return m_have_rtt;
  }
  bool IsClr () const
  {
    return m_is_clr;
  }
  const LossHistory &History () const
  {
    return m_history;
  }

private:
  void UpdateRtt (const TfmccData &data, MccTime now);
  void StartRound (const TfmccData &data, MccTime now);
  void Resume ();
  bool Suppressed (MccTime now) const;
  void Report (std::uint8_t flags, MccTime now);

  Config m_config;
  MccRng m_rng;
  LossHistory m_history;
  RateMeter m_meter;

  double m_rtt = 0;                     /* R, s */
  std::optional<double> m_adjusted_rtt; /* R', s, since the last sample */
  double m_max_rtt = 0;                 /* R_max, s, as announced last */
  double m_first_rtt = 0;               /* with which the first interval was calculated, s */
  bool m_have_rtt = false;
  bool m_have_loss = false;  /* not before a loss, nor after a pause until the next (4.3.1) */
  bool m_sample_due = false; /* no echo of the newest report yet */
  std::uint32_t m_delay_offset = 0; /* D_r, us modulo 2^32, between two clocks */

  bool m_any = false; /* a packet has come */
  std::uint32_t m_last_timestamp = 0;
  MccTime m_last_arrival = 0;

  std::uint32_t m_clr = TFMCC_NOBODY;
  bool m_is_clr = false, m_fresh = false; /* data since the last report */
  MccTime m_next_report = 0;              /* of the CLR */

  bool m_in_round = false, m_report_first = false;
  std::uint16_t m_round = 0;
  double m_suppress = TFMCC_RATE_MAX;
  double m_round_rate = 0;         /* X_r as the round began */
  MccTime m_timer = MCC_TIME_NONE; /* of a non-CLR receiver */
  std::list<TfmccReport> m_out;
};

} // namespace sim
