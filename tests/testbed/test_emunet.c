/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "emunet.h"

#include <glib.h>
#include <stdlib.h>
#include <string.h>

#define START (UINT64_C (7) * EMU_SECOND)

/* s and t at one end, r1 and r2 behind one router, r3 behind another. */
static const char tree[] = "host s\nhost t\nhost r1\nhost r2\nhost r3\n"
                           "router g1\nrouter g2\nrouter g3\n"
                           "link as s g1\nlink at t g1\n"
                           "link core g1 g2 rate=800k delay=20ms queue=5p\n"
                           "link side g1 g3 delay=5ms # another branch\n"
                           "link a1 g2 r1\nlink a2 g2 r2\nlink a3 g3 r3\n";

typedef struct {
  EmuTopology *topology;
  EmuNet *net;
  uint32_t n_got[EMU_MAX_NODES]; /* packets that are no queries */
  EmuTime last[EMU_MAX_NODES];
  uint8_t last_ttl[EMU_MAX_NODES];
} World;

static void
drain (World *world)
{
  EmuPacket *packet;
  EmuHeader header;
  uint32_t host;

  while ((packet = emu_net_poll (world->net, &host))) {
    g_assert_true (emu_ip_parse (packet->data, packet->bytes, &header));
    if (header.protocol == EMU_PROTOCOL_UDP) {
      world->n_got[host]++;
      world->last[host] = packet->time;
      world->last_ttl[host] = header.ttl;
    }
    free (packet);
  }
}

static World *
world_new (const char *text)
{
  World *world = g_new0 (World, 1);
  char error[EMU_ERROR_BYTES] = "";

  world->topology = emu_topology_parse (text, error);
  g_assert_cmpstr (error, ==, "");
  world->net = emu_net_new (world->topology, START);
  return world;
}

static void
world_free (World *world)
{
  emu_net_free (world->net);
  emu_topology_free (world->topology);
  g_free (world);
}

static uint32_t
node (const World *world, const char *name)
{
  uint32_t i = emu_topology_find_node (world->topology, name);

  g_assert_cmpuint (i, !=, UINT32_MAX);
  return i;
}

/* A UDP packet of `bytes` bytes, IP header included, from a host. */
static void
send_ttl (World *world, const char *from, const char *to, size_t bytes, uint8_t ttl, EmuTime now)
{
  uint8_t data[2000] = { 0 };
  EmuAddress address;
  const EmuNode *source = &world->topology->nodes[node (world, from)];
  uint32_t host = emu_topology_find_node (world->topology, to);

  if (host != UINT32_MAX)
    address = world->topology->nodes[host].address;
  else
    g_assert_true (emu_address_parse (&address, to));
  if (strchr (to, ':')) {
    data[0] = 0x60;
    data[4] = (uint8_t)((bytes - 40) >> 8);
    data[5] = (uint8_t)(bytes - 40);
    data[6] = EMU_PROTOCOL_UDP;
    data[7] = ttl;
    memcpy (data + 8, source->address6.bytes, 16);
    memcpy (data + 24, address.bytes, 16);
  } else {
    emu_udp_wrap (data, &source->address, &address, 1, 2, data + 1000, bytes - 28);
    data[8] = ttl;
  }
  emu_net_input (world->net, node (world, from), data, bytes, now);
  drain (world);
}

static void
send (World *world, const char *from, const char *to, size_t bytes, EmuTime now)
{
  send_ttl (world, from, to, bytes, 64, now);
}

static void
run (World *world, EmuTime until)
{
  emu_net_handle_timeout (world->net, until);
  drain (world);
}

/* IGMPv2: enough here; emugroups has the rest. */
static void
join (World *world, const char *host, const char *group, bool joins, EmuTime now)
{
  uint8_t data[72] = { 0x45, [3] = 28, [8] = 1, [9] = EMU_PROTOCOL_IGMP };
  EmuAddress address;
  size_t bytes = 28;

  g_assert_true (emu_address_parse (&address, group));
  if (strchr (group, ':')) {
    memset (data, 0, sizeof data);
    data[0] = 0x60;
    data[5] = 24;
    data[6] = EMU_PROTOCOL_ICMPV6;
    data[7] = 1;
    data[40] = joins ? 131 : 132;
    memcpy (data + 48, address.bytes, 16);
    bytes = 64;
  } else {
    data[20] = joins ? 0x16 : 0x17;
    memcpy (data + 24, address.bytes + 12, 4);
  }
  emu_net_input (world->net, node (world, host), data, bytes, now);
}

static uint64_t
crossed (const World *world, const char *link, int direction)
{
  EmuLinkReport report;

  emu_net_report (world->net, emu_topology_find_link (world->topology, link), direction, &report);
  return report.stats.rx_packets;
}

static void
test_unicast (void)
{
  static const struct {
    const char *to, *host;
    EmuTime delay;
  } rows[] = {
    { "r1", "r1", 30 * EMU_MSECOND }, /* 1000 bytes at 800 kb/s, 20 ms */
    { "r3", "r3", 5 * EMU_MSECOND },
    { "fd00:90::5", "r3", 5 * EMU_MSECOND },
    { "t", "t", 0 },
  };

  for (size_t r = 0; r < G_N_ELEMENTS (rows); r++) {
    World *world = world_new (tree);
    send (world, "s", rows[r].to, 1000, START + EMU_SECOND);
    run (world, START + 2 * EMU_SECOND);
    for (uint32_t i = 0; i < world->topology->n_nodes; i++)
      g_assert_cmpuint (world->n_got[i], ==, i == node (world, rows[r].host));
    g_assert_cmpuint (
        world->last[node (world, rows[r].host)], ==, START + EMU_SECOND + rows[r].delay);
    world_free (world);
  }
}

static void
test_no_route (void)
{
  World *world = world_new (tree);

  send (world, "s", "10.90.9.9", 100, START);
  send (world, "s", "192.0.2.1", 100, START);
  g_assert_cmpuint (emu_net_drops (world->net)->no_route, ==, 2);
  world_free (world);
}

/* Two routers between s and r1. */
static void
test_ttl (void)
{
  World *world = world_new (tree);

  join (world, "r1", "239.1.1.1", true, START);
  for (uint8_t ttl = 1; ttl <= 4; ttl++) {
    send_ttl (world, "s", "r1", 100, ttl, START);
    send_ttl (world, "s", "239.1.1.1", 100, ttl, START);
    run (world, START + ttl * EMU_SECOND);
  }
  g_assert_cmpuint (world->n_got[node (world, "r1")], ==, 4);
  g_assert_cmpuint (world->last_ttl[node (world, "r1")], ==, 2);
  g_assert_cmpuint (emu_net_drops (world->net)->ttl, ==, 4);
  world_free (world);
}

static void
test_checksum_after_ttl (void)
{
  EmuAddress source, destination;
  uint8_t data[28];

  g_assert_true (emu_address_parse (&source, "10.90.0.1"));
  for (int i = 0; i < 256; i++) {
    char text[20];
    uint32_t sum = 0;
    g_snprintf (text, sizeof text, "10.%d.7.%d", i, 255 - i);
    g_assert_true (emu_address_parse (&destination, text));
    emu_udp_wrap (data, &source, &destination, 1, 2, data, 0);
    for (int ttl = 64; ttl > 1; ttl--)
      emu_ip_decrement_ttl (data);
    g_assert_cmpuint (data[8], ==, 1);
    for (int k = 0; k < 20; k += 2)
      sum += (uint32_t)data[k] << 8 | data[k + 1];
    sum = (sum & 0xffff) + (sum >> 16);
    g_assert_cmphex (sum, ==, 0xffff);
  }
}

/* Both families: one copy a link, none where nobody wants it, none back to its sender. */
static void
test_multicast_once (void)
{
  static const char *const groups[] = { "239.1.1.1", "ff05::1:1" };

  for (size_t g = 0; g < G_N_ELEMENTS (groups); g++) {
    World *world = world_new (tree);
    join (world, "s", groups[g], true, START);
    join (world, "r1", groups[g], true, START);
    join (world, "r2", groups[g], true, START);
    for (int i = 0; i < 5; i++)
      send (world, "s", groups[g], 1000, START + EMU_SECOND);
    run (world, START + 2 * EMU_SECOND);
    g_assert_cmpuint (world->n_got[node (world, "r1")], ==, 5);
    g_assert_cmpuint (world->n_got[node (world, "r2")], ==, 5);
    g_assert_cmpuint (world->n_got[node (world, "r3")], ==, 0);
    g_assert_cmpuint (world->n_got[node (world, "t")], ==, 0);
    g_assert_cmpuint (world->n_got[node (world, "s")], ==, 0);
    g_assert_cmpuint (crossed (world, "core", 0), ==, 5);
    g_assert_cmpuint (crossed (world, "core", 1), ==, 0);
    g_assert_cmpuint (crossed (world, "side", 0), ==, 0);
    g_assert_cmpuint (crossed (world, "as", 1), ==, 0);
    /* From the other side: s is a member, too. */
    send (world, "r1", groups[g], 1000, START + 2 * EMU_SECOND);
    run (world, START + 3 * EMU_SECOND);
    g_assert_cmpuint (world->n_got[node (world, "s")], ==, 1);
    g_assert_cmpuint (world->n_got[node (world, "r2")], ==, 6);
    g_assert_cmpuint (world->n_got[node (world, "r1")], ==, 5);
    world_free (world);
  }
}

static void
test_leave_relieves_link (void)
{
  World *world = world_new ("option leave-latency=500ms\nhost s\nhost r1 leave-latency=1s\n"
                            "router g\nlink a s g\nlink b g r1 delay=10ms\n");

  join (world, "r1", "239.1.1.1", true, START);
  join (world, "r1", "239.1.1.1", false, START + EMU_SECOND);
  for (EmuTime t = 0; t < 3 * EMU_SECOND; t += 10 * EMU_MSECOND)
    send (world, "s", "239.1.1.1", 100, START + EMU_SECOND + t);
  run (world, START + 9 * EMU_SECOND);
  g_assert_cmpuint (crossed (world, "b", 0), ==, 100); /* the host's own latency, 1 s */
  world_free (world);
}

static void
test_link_scope (void)
{
  static const char *const groups[] = { "224.0.0.251", "ff02::fb" };

  for (size_t g = 0; g < G_N_ELEMENTS (groups); g++) {
    World *world = world_new (tree);
    join (world, "t", groups[g], true, START);
    send (world, "s", groups[g], 100, START);
    run (world, START + EMU_SECOND);
    g_assert_cmpuint (world->n_got[node (world, "t")], ==, 0);
    g_assert_cmpuint (emu_net_drops (world->net)->link_scope, ==, 1);
    world_free (world);
  }
}

/* Every host hears a query of each family at once and then each interval. */
static void
test_queries (void)
{
  World *world = world_new ("option query-interval=5s\nhost a\nhost b\nlink l a b\n");
  uint32_t n[2][2] = { { 0 } };
  EmuPacket *packet;
  EmuHeader header;
  uint32_t host, sum;

  emu_net_handle_timeout (world->net, START + 12 * EMU_SECOND);
  while ((packet = emu_net_poll (world->net, &host))) {
    g_assert_true (emu_ip_parse (packet->data, packet->bytes, &header));
    g_assert_cmpuint (header.ttl, ==, 1);
    g_assert_true (emu_address_is_link_scope (&header.destination));
    g_assert_cmpuint (header.end, ==, packet->bytes);
    n[host][header.version == 6]++;
    sum = 0;
    if (header.version == 6) { /* the pseudo header */
      for (uint32_t i = 8; i < 40; i += 2)
        sum += (uint32_t)packet->data[i] << 8 | packet->data[i + 1];
      sum += header.end - header.payload + EMU_PROTOCOL_ICMPV6;
    }
    for (uint32_t i = header.payload; i < header.end; i += 2)
      sum += (uint32_t)packet->data[i] << 8 | packet->data[i + 1];
    sum = (sum & 0xffff) + (sum >> 16);
    g_assert_cmphex ((sum & 0xffff) + (sum >> 16), ==, 0xffff);
    free (packet);
  }
  for (int i = 0; i < 4; i++)
    g_assert_cmpuint (n[i / 2][i % 2], ==, 3);
  world_free (world);
}

static EmuTime
last_arrival (EmuTime step)
{
  World *world = world_new (tree);
  EmuTime last;

  for (int i = 0; i < 5; i++)
    send (world, "s", "r1", 1000, START + EMU_SECOND);
  for (EmuTime t = EMU_SECOND; t <= 3 * EMU_SECOND; t += step)
    run (world, START + t);
  g_assert_cmpuint (world->n_got[node (world, "r1")], ==, 5);
  last = world->last[node (world, "r1")];
  world_free (world);
  return last;
}

static void
test_late_caller (void)
{
  g_assert_cmpuint (last_arrival (EMU_MSECOND), ==, START + EMU_SECOND + 70 * EMU_MSECOND);
  g_assert_cmpuint (last_arrival (EMU_SECOND), ==, START + EMU_SECOND + 70 * EMU_MSECOND);
}

static void
test_set (void)
{
  World *world = world_new (tree);
  char error[EMU_ERROR_BYTES];
  EmuLinkReport report;

  g_assert_true (emu_net_set (world->net, "core>g2 rate=600k loss=1%", START, error));
  emu_net_report (world->net, 2, 0, &report);
  g_assert_cmpfloat (report.config.rate_bps, ==, 600e3);
  g_assert_cmpfloat (report.config.loss_ratio, ==, 0.01);
  emu_net_report (world->net, 2, 1, &report);
  g_assert_cmpfloat (report.config.rate_bps, ==, 800e3);
  /* All or nothing. */
  g_assert_false (emu_net_set (world->net, "core rate=1M loss=2", START, error));
  g_assert_nonnull (strstr (error, "loss=2"));
  emu_net_report (world->net, 2, 1, &report);
  g_assert_cmpfloat (report.config.rate_bps, ==, 800e3);
  g_assert_false (emu_net_set (world->net, "core>r1 rate=1M", START, error));
  g_assert_false (emu_net_set (world->net, "nowhere rate=1M", START, error));
  world_free (world);
}

/* Two `at' lines out of order; the first frame after 2 s takes twice as long. */
static void
test_set_at (void)
{
  World *world = world_new ("host a\nhost b\nlink l a b rate=800k\n"
                            "at 4s set l rate=1600k\nat 2s set l rate=400k\n");
  static const EmuTime delays[] = { 10, 10, 20, 20, 5, 5 };

  for (EmuTime i = 0; i < G_N_ELEMENTS (delays); i++) {
    EmuTime sent = START + i * EMU_SECOND + EMU_MSECOND;
    send (world, "a", "b", 1000, sent);
    run (world, sent + EMU_SECOND / 2);
    g_assert_cmpuint (world->last[node (world, "b")], ==, sent + delays[i] * EMU_MSECOND);
  }
  world_free (world);
}

static void
test_interval (void)
{
  World *world = world_new (tree);
  EmuLinkReport report;

  for (EmuTime t = 0; t < 3 * EMU_SECOND; t += 5 * EMU_MSECOND) /* 1600 kb/s into 800 kb/s */
    send (world, "s", "r1", 1000, START + t);
  run (world, START + 3 * EMU_SECOND);
  emu_net_report (world->net, 2, 0, &report);
  g_assert_cmpfloat (report.throughput_bps, ==, 800e3);
  g_assert_cmpuint (report.interval_drops, ==, 100);
  g_assert_cmpuint (report.queue_peak_packets, ==, 5);
  run (world, START + 6 * EMU_SECOND);
  emu_net_report (world->net, 2, 0, &report);
  g_assert_cmpfloat (report.throughput_bps, ==, 0.0);
  g_assert_cmpuint (report.interval_drops, ==, 0);
  g_assert_cmpuint (report.queue_peak_packets, ==, 0);
  world_free (world);
}

static void
test_garbage (void)
{
  World *world = world_new (tree);
  EmuRng rng = { 99 };
  uint8_t data[96];

  for (int i = 0; i < 100000; i++) {
    size_t bytes = emu_rng_next (&rng) % sizeof data;
    for (size_t k = 0; k < bytes; k++)
      data[k] = (uint8_t)emu_rng_next (&rng);
    data[0] = i % 2 ? 0x45 : 0x60;
    data[i % 2 ? 2 : 4] = 0;
    emu_net_input (world->net, 0, data, bytes, START + (EmuTime)i);
  }
  drain (world);
  g_assert_cmpuint (emu_net_drops (world->net)->malformed, >, 0);
  world_free (world);
}

typedef struct {
  uint32_t n[EMU_SEEN_DROP_DOWN + 1];
  uint32_t where[EMU_SEEN_DROP_DOWN + 1]; /* the last one's */
  EmuTime left[8];
  EmuTime delivered[16];
} Seen;

static void
note (void *data, EmuSeen what, uint32_t where, const EmuPacket *packet, EmuTime value, EmuTime now)
{
  Seen *seen = data;
  uint32_t i = seen->n[what]++;

  g_assert_cmpuint (packet->bytes, ==, 1000);
  g_assert_cmpuint (now, >=, START);
  seen->where[what] = where;
  if (what == EMU_SEEN_LEFT)
    seen->left[i] = value;
  if (what == EMU_SEEN_DELIVERED)
    seen->delivered[i] = value;
}

/* 8 packets at once into a queue of 5, 10 ms each; two members behind it. */
static void
test_observe (void)
{
  World *world = world_new (tree);
  char error[EMU_ERROR_BYTES];
  Seen seen = { 0 };

  join (world, "r1", "239.1.2.3", true, START);
  join (world, "r2", "239.1.2.3", true, START);
  g_assert_true (emu_net_set (world->net, "core>g2 trace=1", START, error));
  emu_net_observe (world->net, note, &seen);
  for (int i = 0; i < 8; i++)
    send (world, "s", "239.1.2.3", 1000, START + EMU_SECOND);
  run (world, START + 2 * EMU_SECOND);
  g_assert_cmpuint (seen.n[EMU_SEEN_ENTERED], ==, 8);
  g_assert_cmpuint (seen.where[EMU_SEEN_ENTERED], ==, node (world, "s"));
  g_assert_cmpuint (seen.n[EMU_SEEN_DROP_QUEUE], ==, 2);
  g_assert_cmpuint (seen.where[EMU_SEEN_DROP_QUEUE], ==, 2 * 2); /* core is the third link */
  g_assert_cmpuint (seen.n[EMU_SEEN_LEFT], ==, 6);
  g_assert_cmpuint (seen.n[EMU_SEEN_DELIVERED], ==, 12);
  for (uint32_t i = 0; i < 6; i++) {
    g_assert_cmpuint (seen.left[i], ==, i * 10 * EMU_MSECOND);
    g_assert_cmpuint (seen.delivered[2 * i], ==, (i + 1) * 10 * EMU_MSECOND + 20 * EMU_MSECOND);
  }
  g_assert_true (emu_net_set (world->net, "core>g2 loss=1", START + 2 * EMU_SECOND, error));
  send (world, "s", "239.1.2.3", 1000, START + 2 * EMU_SECOND);
  g_assert_true (emu_net_set (world->net, "a1 up=0", START + 2 * EMU_SECOND, error));
  run (world, START + 3 * EMU_SECOND);
  g_assert_cmpuint (seen.n[EMU_SEEN_DROP_LOSS], ==, 1);
  g_assert_cmpuint (seen.n[EMU_SEEN_LEFT], ==, 6); /* as the laboratory counts */
  g_assert_true (emu_net_set (world->net, "core>g2 loss=0", START + 3 * EMU_SECOND, error));
  send (world, "s", "239.1.2.3", 1000, START + 3 * EMU_SECOND);
  run (world, START + 4 * EMU_SECOND);
  g_assert_cmpuint (seen.n[EMU_SEEN_DROP_DOWN], ==, 1);
  g_assert_cmpuint (seen.n[EMU_SEEN_DELIVERED], ==, 13);
  world_free (world);
}

static void
test_topology_mistakes (void)
{
  static const struct {
    const char *text, *error;
  } rows[] = {
    { "", "empty" },
    { "host a\nhost a\n", "line 2: twice" },
    { "host a/b\n", "line 1: not a name" },
    { "host a\nlink l a b\n", "line 2: no such node" },
    { "host a\nhost b\nlink l a b rate=fast\n", "line 3: bad value" },
    { "host a\nhost b\nlink l a b speed=1\n", "line 3: unknown setting" },
    { "host a\nhost b\nlink l a b\nlink m b a\n", "line 4: the link closes a loop" },
    { "host a\nhost b\nrouter c\nlink l a b\nlink m b c\nlink n c a\n", "line 6: the link closes" },
    { "host a\nlink l a a\n", "line 2: the link closes a loop" },
    { "host a\nhost b\nlink l a b\nset l>c rate=1M\n", "line 4: the link has no such end" },
    { "host a\nhost b\nlink l a b\nat 3s set l rate=-1\n", "line 4: bad value" },
    { "host a\nhost b\nlink l a b\nat never set l rate=1\n", "line 4: not `at" },
    { "option igmp=1\n", "line 1: bad option" },
    { "host a\nhost b\nlink l a b\nudp 5004 a c 6004\n", "line 4: not two hosts" },
    { "host a\nhost b\nlink l a b\nudp 0 a b 6004\n", "line 4: not a port" },
    { "hots a\n", "line 1: unknown word" },
  };

  for (size_t r = 0; r < G_N_ELEMENTS (rows); r++) {
    char error[EMU_ERROR_BYTES] = "";
    g_assert_null (emu_topology_parse (rows[r].text, error));
    if (!strstr (error, rows[r].error))
      g_error ("row %zu: `%s' lacks `%s'", r, error, rows[r].error);
  }
}

static void
test_settings (void)
{
  static const char *const good[] = { "rate=2.5M", "rate=unlimited", "delay=300us", "queue=50p",
    "queue=64kB,20p", "queue=unlimited", "loss=0.5%", "gilbert=0.01,0.25", "gilbert=1%,25%,0.5,0",
    "gilbert=0", "burst=2%:5", "jitter=2ms", "reorder=0.1", "reorder-delay=5ms", "duplicate=1",
    "drop-next=3", "up=0", "trace=1", "red=5p,15p", "red=5kB,15kB,0.05,1%", "red=0", "gentle=0",
    "ecn=1" };
  static const char *const bad[] = { "rate", "rate=", "rate=nan", "rate=2X", "rate=0.01",
    "delay=-1s", "delay=1h", "queue=50", "queue=0p", "queue=", "loss=1.1", "loss=-1", "loss=101%",
    "gilbert=0.1", "gilbert=0.1,0.2,0.3,0.4,0.5", "burst=2%", "burst=2%:0.5", "drop-next=1.5",
    "up=2", "trace=2", "red=5", "red=15p,5p", "red=5p,15kB", "red=5p,15p,0",
    "red=5p,15p,0.1,0.002,1", "ecn=2", "=5" };
  EmuLinkConfig config, before;
  char error[EMU_ERROR_BYTES];

  emu_link_config_init (&config);
  for (size_t i = 0; i < G_N_ELEMENTS (good); i++)
    g_assert_true (emu_link_config_set (&config, good[i], error));
  g_assert_cmpfloat (config.gilbert_r, ==, 0.2);
  for (size_t i = 0; i < G_N_ELEMENTS (bad); i++) {
    before = config;
    if (emu_link_config_set (&config, bad[i], error))
      g_error ("%s was taken", bad[i]);
    g_assert_cmpmem (&before, sizeof before, &config, sizeof config);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/net/unicast/goes-by-destination", test_unicast);
  g_test_add_func ("/net/unicast/unknown-is-dropped", test_no_route);
  g_test_add_func ("/net/ttl/each-router-takes-one", test_ttl);
  g_test_add_func ("/net/ttl/checksum-stays-right", test_checksum_after_ttl);
  g_test_add_func ("/net/multicast/one-copy-a-link-to-members-only", test_multicast_once);
  g_test_add_func (
      "/net/multicast/leave-relieves-the-link-after-latency", test_leave_relieves_link);
  g_test_add_func ("/net/multicast/link-scope-is-not-forwarded", test_link_scope);
  g_test_add_func ("/net/querier/asks-every-interval", test_queries);
  g_test_add_func ("/net/time/late-caller-changes-nothing", test_late_caller);
  g_test_add_func ("/net/set/all-or-nothing", test_set);
  g_test_add_func ("/net/set/at-its-time", test_set_at);
  g_test_add_func ("/net/stats/interval", test_interval);
  g_test_add_func ("/net/garbage/is-harmless", test_garbage);
  g_test_add_func ("/net/observe/every-packet-and-what-became-of-it", test_observe);
  g_test_add_func ("/topology/mistakes-name-their-line", test_topology_mistakes);
  g_test_add_func ("/topology/settings", test_settings);
  return g_test_run ();
}
