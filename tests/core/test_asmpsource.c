/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>

#include "mccasmpsource.h"

#define T0 (500 * MCC_SECOND)
#define TIMEOUT (2 * MCC_SECOND)

static const MccAddress here = { .family = 4, .port = 5004, .bytes = { 10, 0, 0, 1 } };
static const MccAddress there = { .family = 4, .port = 5004, .bytes = { 10, 0, 0, 2 } };

static MccSourceVerdict
packet (MccAsmpSource *source, guint32 ssrc, guint16 seq, const MccAddress *from, MccTime now)
{
  MccRtpPacket p = { .ssrc = ssrc, .seq = seq, .bytes = 1000 };
  return mcc_asmp_source_handle_packet (source, &p, from, now);
}

static void
follow (MccAsmpSource *source, guint32 wanted)
{
  mcc_asmp_source_init (source, wanted, TIMEOUT);
  g_assert_cmpint (packet (source, 1, 65535, &here, T0), ==, MCC_SOURCE_WAIT);
  g_assert_cmpint (packet (source, 1, 0, &here, T0), ==, MCC_SOURCE_NEW);
  for (guint16 i = 1; i <= 100; i++)
    g_assert_cmpint (packet (source, 1, i, &here, T0 + i * 10 * MCC_MSECOND), ==, MCC_SOURCE_OURS);
}

static void
probation (void)
{
  MccAsmpSource source;
  mcc_asmp_source_init (&source, 0, TIMEOUT);
  g_assert_cmpint (packet (&source, 1, 10, &here, T0), ==, MCC_SOURCE_WAIT);
  g_assert_cmpint (packet (&source, 1, 12, &here, T0), ==, MCC_SOURCE_WAIT);
  for (guint32 stray = 100; stray < 120;
       stray++) /* a flood of SSRCs takes nobody's place for long */
    g_assert_cmpint (packet (&source, stray, 1, &there, T0), ==, MCC_SOURCE_WAIT);
  g_assert_cmpint (packet (&source, 1, 13, &here, T0 + 1), ==, MCC_SOURCE_WAIT);
  g_assert_cmpint (packet (&source, 1, 14, &here, T0 + 1), ==, MCC_SOURCE_NEW);

  mcc_asmp_source_init (&source, 0, TIMEOUT);
  mcc_asmp_source_handle_announced (&source, 7, T0);
  g_assert_cmpint (packet (&source, 6, 10, &here, T0), ==, MCC_SOURCE_WAIT);
  g_assert_cmpint (packet (&source, 7, 10, &here, T0), ==, MCC_SOURCE_NEW);
}

/* Another host with our sender's SSRC: not ours while that is heard. */
static void
impostor (void)
{
  MccAsmpSource source;
  MccTime now = T0 + 1010 * MCC_MSECOND;
  follow (&source, 0);
  for (guint16 i = 1; i <= 100; i++, now += 10 * MCC_MSECOND) {
    g_assert_cmpint (packet (&source, 1, (guint16)(200 + i), &there, now), ==, MCC_SOURCE_OTHER);
    g_assert_cmpint (packet (&source, 1, (guint16)(100 + i), &here, now), ==, MCC_SOURCE_OURS);
  }
  /* It has moved to another address: silent where it was. */
  now += TIMEOUT;
  g_assert_cmpint (packet (&source, 1, 201, &there, now), ==, MCC_SOURCE_OURS);
  g_assert_cmpint (packet (&source, 1, 202, &there, now + 1), ==, MCC_SOURCE_OURS);
  g_assert_cmpint (packet (&source, 1, 203, &here, now + 2), ==, MCC_SOURCE_OTHER);
}

/* Of a sender that describes its streams even the first packet of one is from its host, as long as
 * it is heard of there. */
static void
described (void)
{
  MccAsmpSource source;
  MccTime now = T0;
  mcc_asmp_source_init (&source, 0, TIMEOUT);
  mcc_asmp_source_set_host (&source, &here, now);
  for (guint32 ssrc = 1; ssrc < 10; ssrc++) {
    mcc_asmp_source_next (&source, ssrc, TIMEOUT);
    mcc_asmp_source_handle_announced (&source, ssrc, now);
    for (guint16 i = 0; i < 10; i++)
      g_assert_cmpint (packet (&source, ssrc, i, &there, now), ==, MCC_SOURCE_OTHER);
    g_assert_true (mcc_asmp_source_is_elsewhere (&source, &there, now));
    g_assert_cmpint (packet (&source, ssrc, 10, &here, now), ==, MCC_SOURCE_NEW);
    now += MCC_ASMP_SOURCE_MOVED - 1;
  }
  now += MCC_SECOND;
  mcc_asmp_source_excuse (&source, now); /* we could not hear of it */
  mcc_asmp_source_next (&source, 20, TIMEOUT);
  mcc_asmp_source_handle_announced (&source, 20, now);
  now += MCC_ASMP_SOURCE_MOVED - 1;
  g_assert_cmpint (packet (&source, 20, 1, &there, now), ==, MCC_SOURCE_OTHER);
  /* it has moved */
  now += 1;
  g_assert_cmpint (packet (&source, 20, 2, &there, now), ==, MCC_SOURCE_NEW);
  g_assert_true (mcc_asmp_source_is_elsewhere (&source, &here, now));
  mcc_asmp_source_next (&source, 21, TIMEOUT);
  mcc_asmp_source_handle_announced (&source, 21, now);
  g_assert_cmpint (packet (&source, 21, 2, &there, now), ==, MCC_SOURCE_NEW);
}

static void
wanted (void)
{
  MccAsmpSource source;
  mcc_asmp_source_init (&source, 9, TIMEOUT);
  g_assert_cmpint (packet (&source, 1, 1, &here, T0), ==, MCC_SOURCE_OTHER_NEW);
  for (guint16 i = 2; i < 50; i++)
    g_assert_cmpint (packet (&source, 1, i, &here, T0), ==, MCC_SOURCE_OTHER);
  packet (&source, 9, 1, &here, T0);
  g_assert_cmpint (packet (&source, 9, 2, &here, T0), ==, MCC_SOURCE_NEW);
}

static void
second_sender (void)
{
  MccAsmpSource source;
  follow (&source, 0);
  MccTime now = T0 + MCC_SECOND;
  guint told = 0;
  for (guint16 i = 0; i < 200; i++) {
    now += 10 * MCC_MSECOND;
    g_assert_cmpint (packet (&source, 1, (guint16)(101 + i), &here, now), ==, MCC_SOURCE_OURS);
    MccSourceVerdict verdict = packet (&source, 2, i, &there, now);
    g_assert_cmpint (verdict, !=, MCC_SOURCE_NEW);
    told += verdict == MCC_SOURCE_OTHER_NEW;
  }
  g_assert_cmpuint (told, ==, 1);
  /* Ours falls silent: only after the time-out is the other one taken. */
  for (guint16 i = 200;; i++) {
    now += 10 * MCC_MSECOND;
    if (packet (&source, 2, i, &there, now) == MCC_SOURCE_NEW)
      break;
    g_assert_cmpuint (i, <, 450);
  }
  g_assert_cmpuint (now - (T0 + 3 * MCC_SECOND), ==, TIMEOUT);
}

static void
restart (void)
{
  MccAsmpSource source;
  MccAddress again = here;
  again.port = 40000; /* a new process, a new port */
  follow (&source, 0);
  MccTime last = T0 + MCC_SECOND;
  packet (&source, 2, 1, &again, last + 20 * MCC_MSECOND);
  /* Nobody is told of a second sender while it may be a restart. */
  g_assert_cmpint (packet (&source, 2, 2, &again, last + 150 * MCC_MSECOND), ==, MCC_SOURCE_WAIT);
  g_assert_cmpint (packet (&source, 3, 1, &there, last + 200 * MCC_MSECOND), !=, MCC_SOURCE_NEW);
  g_assert_cmpint (packet (&source, 3, 2, &there, last + 201 * MCC_MSECOND), !=, MCC_SOURCE_NEW);
  g_assert_cmpint (packet (&source, 2, 3, &again, last + 249 * MCC_MSECOND), ==, MCC_SOURCE_WAIT);
  g_assert_cmpint (packet (&source, 2, 4, &again, last + 251 * MCC_MSECOND), ==, MCC_SOURCE_NEW);
}

/* Two senders on one host at a time: a pause of the first is no restart. */
static void
no_restart (void)
{
  MccAsmpSource source;
  MccAddress beside = here;
  beside.port = 40000;
  follow (&source, 0);
  MccTime now = T0 + MCC_SECOND;
  packet (&source, 2, 1, &beside, now + MCC_MSECOND);
  packet (&source, 1, 101, &here, now + 2 * MCC_MSECOND);
  g_assert_cmpint (
      packet (&source, 2, 2, &beside, now + 3 * MCC_MSECOND), ==, MCC_SOURCE_OTHER_NEW);
  for (guint16 i = 3; i < 19; i++)
    g_assert_cmpint (
        packet (&source, 2, i, &beside, now + i * 100 * MCC_MSECOND), ==, MCC_SOURCE_OTHER);
}

/* The last packets may be read after the BYE that was sent behind them. */
static void
bye_overtakes (void)
{
  MccAsmpSource source;
  follow (&source, 0);
  MccTime now = T0 + MCC_SECOND;
  g_assert_true (mcc_asmp_source_handle_bye (&source, 1, now));
  g_assert_cmpint (packet (&source, 1, 101, &here, now + MCC_MSECOND), ==, MCC_SOURCE_OURS);
  packet (&source, 2, 1, &there, now + 100 * MCC_MSECOND);
  g_assert_cmpint (packet (&source, 2, 2, &there, now + 101 * MCC_MSECOND), ==, MCC_SOURCE_NEW);
  /* A BYE that was not true: it goes on, and nobody takes over any more. */
  follow (&source, 0);
  g_assert_true (mcc_asmp_source_handle_bye (&source, 1, now));
  for (guint16 i = 1; i <= 110; i++)
    packet (&source, 1, (guint16)(100 + i), &here, now + i * 10 * MCC_MSECOND);
  now += 1100 * MCC_MSECOND;
  packet (&source, 2, 1, &there, now);
  g_assert_cmpint (packet (&source, 2, 2, &there, now), ==, MCC_SOURCE_OTHER_NEW);
}

static void
bye_and_silence (void)
{
  MccAsmpSource source;
  follow (&source, 0);
  g_assert_false (mcc_asmp_source_handle_bye (&source, 2, T0 + MCC_SECOND));
  g_assert_true (mcc_asmp_source_handle_bye (&source, 1, T0 + MCC_SECOND));
  g_assert_false (mcc_asmp_source_handle_bye (&source, 1, T0 + MCC_SECOND));
  MccTime now = T0 + MCC_SECOND + MCC_MSECOND;
  g_assert_cmpint (packet (&source, 2, 1, &there, now), ==, MCC_SOURCE_WAIT);
  g_assert_cmpint (packet (&source, 2, 2, &there, now), ==, MCC_SOURCE_NEW);
  g_assert_cmpuint (mcc_asmp_source_next_timeout (&source), ==, now + TIMEOUT);
  g_assert_false (mcc_asmp_source_handle_timeout (&source, now + TIMEOUT - 1));
  g_assert_true (mcc_asmp_source_handle_timeout (&source, now + TIMEOUT));
  g_assert_false (mcc_asmp_source_handle_timeout (&source, now + TIMEOUT + 1));
  g_assert_cmpuint (mcc_asmp_source_next_timeout (&source), ==, MCC_TIME_NONE);
  /* It comes back. */
  g_assert_cmpint (packet (&source, 2, 3, &there, now + 3 * TIMEOUT), ==, MCC_SOURCE_OURS);
  g_assert_false (source.lost);
}

static void
told_bounded (void)
{
  MccAsmpSource source;
  follow (&source, 0);
  guint told = 0;
  for (guint32 ssrc = 10; ssrc < 1000; ssrc++) {
    packet (&source, ssrc, 1, &there, T0 + MCC_SECOND);
    told += packet (&source, ssrc, 2, &there, T0 + MCC_SECOND) == MCC_SOURCE_OTHER_NEW;
  }
  g_assert_cmpuint (told, ==, MCC_ASMP_SOURCE_TOLD);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/asmpsource/two-packets-in-sequence-or-announced", probation);
  g_test_add_func ("/asmpsource/nobody-but-the-wanted", wanted);
  g_test_add_func ("/asmpsource/second-sender-waits-for-silence", second_sender);
  g_test_add_func ("/asmpsource/restart-on-the-same-host", restart);
  g_test_add_func ("/asmpsource/two-on-a-host-are-no-restart", no_restart);
  g_test_add_func ("/asmpsource/bye-that-overtakes", bye_overtakes);
  g_test_add_func ("/asmpsource/bye-silence-return", bye_and_silence);
  g_test_add_func ("/asmpsource/told-once-and-boundedly", told_bounded);
  g_test_add_func ("/asmpsource/impostor", impostor);
  g_test_add_func ("/asmpsource/described", described);
  return g_test_run ();
}
