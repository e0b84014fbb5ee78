/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "emugroups.h"

#include <glib.h>
#include <string.h>

#define START (UINT64_C (7) * EMU_SECOND)
#define LEAVE (2 * EMU_SECOND)
#define EXPIRY (42 * EMU_SECOND)

enum { IS_IN = 1, IS_EX, TO_IN, TO_EX, ALLOW, BLOCK };

/* Wraps an IGMP or ICMPv6 message into IP. */
static size_t
wrap (uint8_t *out, bool ipv6, const uint8_t *message, size_t bytes)
{
  memset (out, 0, 64);
  if (ipv6) {
    out[0] = 0x60;
    out[5] = (uint8_t)(bytes + 8);
    out[7] = 1;
    out[40] = EMU_PROTOCOL_ICMPV6; /* behind a hop-by-hop header */
    memcpy (out + 48, message, bytes);
    return 48 + bytes;
  }
  out[0] = 0x45;
  out[3] = (uint8_t)(bytes + 20);
  out[8] = 1;
  out[9] = EMU_PROTOCOL_IGMP;
  memcpy (out + 20, message, bytes);
  return 20 + bytes;
}

static size_t
put_address (uint8_t *out, const char *text)
{
  EmuAddress address;
  bool ipv6 = strchr (text, ':') != NULL;

  g_assert_true (emu_address_parse (&address, text));
  memcpy (out, address.bytes + (ipv6 ? 0 : 12), ipv6 ? 16 : 4);
  return ipv6 ? 16 : 4;
}

/* A report of IGMPv3 or MLDv2 with one record; sources end with NULL. */
static size_t
record (uint8_t *out, int type, const char *group, const char *const *sources)
{
  uint8_t message[512] = { 0 };
  bool ipv6 = strchr (group, ':') != NULL;
  size_t at = 12, n = 0;

  message[0] = ipv6 ? 143 : 0x22;
  message[7] = 1;
  message[8] = (uint8_t)type;
  at += put_address (message + at, group);
  for (; sources && sources[n]; n++)
    at += put_address (message + at, sources[n]);
  message[11] = (uint8_t)n;
  return wrap (out, ipv6, message, at);
}

static void
handle (EmuGroups *groups, const uint8_t *data, size_t bytes, EmuTime now)
{
  EmuHeader header;

  g_assert_true (emu_ip_parse (data, bytes, &header));
  g_assert_true (emu_groups_handle_packet (groups, data, &header, now));
}

static void
report (EmuGroups *groups, int type, const char *group, const char *const *sources, EmuTime now)
{
  uint8_t packet[600];

  handle (groups, packet, record (packet, type, group, sources), now);
}

static void
report_old (EmuGroups *groups, uint8_t type, const char *group, EmuTime now)
{
  uint8_t message[24] = { type }, packet[128];
  bool ipv6 = strchr (group, ':') != NULL;

  put_address (message + (ipv6 ? 8 : 4), group);
  handle (groups, packet, wrap (packet, ipv6, message, ipv6 ? 24 : 8), now);
}

static bool
wants (const EmuGroups *groups, const char *group, const char *source, EmuTime now)
{
  EmuAddress group_address, source_address;

  g_assert_true (emu_address_parse (&group_address, group));
  g_assert_true (emu_address_parse (&source_address, source));
  return emu_groups_wants (groups, &group_address, &source_address, now);
}

typedef struct {
  const char *group, *other, *a, *b;
  uint8_t join, leave;
} Family;

static const Family families[] = {
  { "239.1.2.3", "239.1.2.4", "10.90.0.1", "10.90.0.2", 0x16, 0x17 },
  { "ff05::1234", "ff05::1235", "fd00:90::1", "fd00:90::2", 131, 132 },
};

#define EACH_FAMILY for (const Family *f = families; f < families + G_N_ELEMENTS (families); f++)

static void
test_old_join_leave (void)
{
  EACH_FAMILY
  {
    EmuGroups groups;

    emu_groups_init (&groups, 0, LEAVE, EXPIRY);
    g_assert_false (wants (&groups, f->group, f->a, START));
    report_old (&groups, f->join, f->group, START);
    g_assert_true (wants (&groups, f->group, f->a, START));
    g_assert_false (wants (&groups, f->other, f->a, START));
    report_old (&groups, f->leave, f->group, START + EMU_SECOND);
    g_assert_false (emu_group_is_joined (&groups.groups[0]));
    g_assert_true (wants (&groups, f->group, f->a, START + EMU_SECOND + LEAVE - 1));
    g_assert_false (wants (&groups, f->group, f->a, START + EMU_SECOND + LEAVE));
    emu_groups_clear (&groups);
  }
}

static void
test_rejoin_cancels_leave (void)
{
  EACH_FAMILY
  {
    EmuGroups groups;

    emu_groups_init (&groups, EMU_SECOND, LEAVE, EXPIRY);
    report (&groups, TO_EX, f->group, NULL, START);
    report (&groups, TO_IN, f->group, NULL, START + 3 * EMU_SECOND);
    report (&groups, TO_EX, f->group, NULL, START + 4 * EMU_SECOND);
    /* No second join latency either: the tree was still there. */
    for (EmuTime t = 4 * EMU_SECOND; t < 10 * EMU_SECOND; t += EMU_SECOND / 2)
      g_assert_true (wants (&groups, f->group, f->a, START + t));
    emu_groups_clear (&groups);
  }
}

static void
test_join_latency (void)
{
  EACH_FAMILY
  {
    EmuGroups groups;

    emu_groups_init (&groups, EMU_SECOND, LEAVE, EXPIRY);
    report (&groups, TO_EX, f->group, NULL, START);
    g_assert_false (wants (&groups, f->group, f->a, START + EMU_SECOND - 1));
    g_assert_true (wants (&groups, f->group, f->a, START + EMU_SECOND));
    /* After a whole leave the latency counts again. */
    report (&groups, TO_IN, f->group, NULL, START + 2 * EMU_SECOND);
    report (&groups, TO_EX, f->group, NULL, START + 5 * EMU_SECOND);
    g_assert_false (wants (&groups, f->group, f->a, START + 6 * EMU_SECOND - 1));
    g_assert_true (wants (&groups, f->group, f->a, START + 6 * EMU_SECOND));
    emu_groups_clear (&groups);
  }
}

static void
test_ssm (void)
{
  EACH_FAMILY
  {
    const char *a[] = { f->a, NULL }, *b[] = { f->b, NULL };
    EmuGroups groups;

    emu_groups_init (&groups, 0, LEAVE, EXPIRY);
    report (&groups, ALLOW, f->group, a, START);
    g_assert_true (wants (&groups, f->group, f->a, START));
    g_assert_false (wants (&groups, f->group, f->b, START));
    report (&groups, ALLOW, f->group, b, START + EMU_SECOND);
    g_assert_true (wants (&groups, f->group, f->b, START + EMU_SECOND));
    report (&groups, BLOCK, f->group, a, START + 2 * EMU_SECOND);
    g_assert_true (wants (&groups, f->group, f->a, START + 2 * EMU_SECOND + LEAVE - 1));
    g_assert_false (wants (&groups, f->group, f->a, START + 2 * EMU_SECOND + LEAVE));
    g_assert_true (wants (&groups, f->group, f->b, START + 2 * EMU_SECOND + LEAVE));
    /* A current-state record says it all: only a is left, b lingers. */
    report (&groups, IS_IN, f->group, a, START + 9 * EMU_SECOND);
    g_assert_true (wants (&groups, f->group, f->a, START + 9 * EMU_SECOND));
    g_assert_true (wants (&groups, f->group, f->b, START + 9 * EMU_SECOND + LEAVE - 1));
    g_assert_false (wants (&groups, f->group, f->b, START + 9 * EMU_SECOND + LEAVE));
    emu_groups_clear (&groups);
  }
}

static void
test_exclude (void)
{
  EACH_FAMILY
  {
    const char *a[] = { f->a, NULL };
    EmuGroups groups;

    emu_groups_init (&groups, 0, LEAVE, EXPIRY);
    report (&groups, TO_EX, f->group, NULL, START);
    report (&groups, BLOCK, f->group, a, START);
    g_assert_true (wants (&groups, f->group, f->a, START + LEAVE - 1));
    g_assert_false (wants (&groups, f->group, f->a, START + LEAVE));
    g_assert_true (wants (&groups, f->group, f->b, START + LEAVE));
    report (&groups, ALLOW, f->group, a, START + 2 * LEAVE);
    g_assert_true (wants (&groups, f->group, f->a, START + 2 * LEAVE));
    report (&groups, TO_EX, f->group, a, START + 3 * LEAVE);
    g_assert_true (wants (&groups, f->group, f->a, START + 4 * LEAVE - 1));
    g_assert_false (wants (&groups, f->group, f->a, START + 4 * LEAVE));
    /* To include: others linger, a listed one stays. */
    report (&groups, TO_IN, f->group, a, START + 5 * LEAVE);
    g_assert_true (wants (&groups, f->group, f->b, START + 6 * LEAVE - 1));
    g_assert_false (wants (&groups, f->group, f->b, START + 6 * LEAVE));
    g_assert_true (wants (&groups, f->group, f->a, START + 6 * LEAVE));
    emu_groups_clear (&groups);
  }
}

static void
test_expiry (void)
{
  EACH_FAMILY
  {
    EmuGroups groups;

    emu_groups_init (&groups, 0, LEAVE, EXPIRY);
    report (&groups, IS_EX, f->group, NULL, START);
    g_assert_true (wants (&groups, f->group, f->a, START + EXPIRY - 1));
    g_assert_false (wants (&groups, f->group, f->a, START + EXPIRY));
    report (&groups, IS_EX, f->group, NULL, START + EXPIRY - 1);
    g_assert_true (wants (&groups, f->group, f->a, START + EXPIRY));
    emu_groups_clear (&groups);
  }
}

/* Cut anywhere, with any byte changed, with counts that promise more than there is. */
static void
test_malformed (void)
{
  EACH_FAMILY
  {
    const char *sources[] = { f->a, f->b, NULL };
    uint8_t packet[600], *cut;
    size_t bytes = record (packet, TO_IN, f->group, sources), length;
    EmuHeader header;
    EmuGroups groups;

    emu_groups_init (&groups, 0, LEAVE, EXPIRY);
    for (length = 0; length < bytes; length++) {
      cut = g_memdup2 (packet, length ? length : 1);
      g_assert_false (emu_ip_parse (cut, length, &header));
      g_free (cut);
    }
    /* Cut, with the IP length made to fit. */
    for (length = f->group[0] == 'f' ? 48 : 20; length < bytes; length++) {
      cut = g_memdup2 (packet, length);
      cut[f->group[0] == 'f' ? 5 : 3] = (uint8_t)(length - (f->group[0] == 'f' ? 40 : 0));
      g_assert_true (emu_ip_parse (cut, length, &header));
      emu_groups_handle_packet (&groups, cut, &header, START);
      g_assert_cmpuint (groups.n_groups, ==, 0);
      g_free (cut);
    }
    for (length = 0; length < bytes; length++) {
      for (int value = 0; value < 256; value++) {
        cut = g_memdup2 (packet, bytes);
        cut[length] = (uint8_t)value;
        if (emu_ip_parse (cut, bytes, &header))
          emu_groups_handle_packet (&groups, cut, &header, START);
        g_free (cut);
      }
    }
    emu_groups_clear (&groups);
  }
}

static void
test_bounded (void)
{
  EmuGroups groups;
  char group[32];

  emu_groups_init (&groups, 0, LEAVE, EXPIRY);
  for (int i = 0; i < 1000; i++) {
    g_snprintf (group, sizeof group, "239.2.%d.%d", i / 250, i % 250);
    report (&groups, TO_EX, group, NULL, START);
  }
  g_assert_cmpuint (groups.n_groups, ==, EMU_MAX_GROUPS);
  /* Dead ones make room. */
  report (&groups, TO_EX, "239.3.0.1", NULL, START + EXPIRY);
  g_assert_true (wants (&groups, "239.3.0.1", "10.90.0.1", START + EXPIRY));
  g_assert_cmpuint (groups.n_groups, ==, 1);
  emu_groups_clear (&groups);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/groups/igmpv2-mldv1/join-and-leave-with-latency", test_old_join_leave);
  g_test_add_func ("/groups/leave/rejoin-cancels-it", test_rejoin_cancels_leave);
  g_test_add_func ("/groups/join/latency", test_join_latency);
  g_test_add_func ("/groups/ssm/only-the-sources-asked-for", test_ssm);
  g_test_add_func ("/groups/exclude/all-but-the-sources-named", test_exclude);
  g_test_add_func ("/groups/expiry/unreported-is-forgotten", test_expiry);
  g_test_add_func ("/groups/malformed/is-harmless", test_malformed);
  g_test_add_func ("/groups/bounded", test_bounded);
  return g_test_run ();
}
