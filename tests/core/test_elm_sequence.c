/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>

#include "mccelmsequence.h"
#include "mcclayerorder.h"
#include "mccnumbering.h"
#include "mccseq.h"

#define LAYERS 3

typedef struct {
  MccElmSequence sequence;
  MccLayerOrder order;
  MccSeq seq;
  MccTime now; /* sent and received; one packet a millisecond */
  gboolean unstamped;
} World;

static void
world_init (World *world)
{
  *world = (World){ .order = { .count = LAYERS, .c = { 65530, 7, 65500 } } };
  mcc_elm_sequence_init (&world->sequence);
}

/* The counts of the next packet, as the sender writes them. */
static MccLayerOrder
send (World *world, unsigned layer)
{
  world->order.layer = (guint8)layer;
  mcc_layer_order_next (&world->order);
  world->now += MCC_MSECOND;
  return world->order;
}

static bool
receive_sent_at (World *world, const MccLayerOrder *packet, MccTime sent, uint16_t *number)
{
  MccRtpPacket rtp = { .has_send_time = !world->unstamped,
    .send_time = (uint32_t)(sent * (1 << 18) / MCC_SECOND) & 0xffffff };
  return mcc_elm_sequence_number (
      &world->sequence, packet->layer, packet->c, &rtp, world->now, number);
}

static bool
receive (World *world, const MccLayerOrder *packet, uint16_t *number)
{
  return receive_sent_at (world, packet, world->now, number);
}

/* The number of a packet that must have one. */
static uint16_t
number_of (World *world, const MccLayerOrder *packet)
{
  uint16_t number;
  g_assert_true (receive (world, packet, &number));
  return number;
}

/* Nothing is missing: the numbers go on by one, in whatever order the layers come. */
static void
test_whole (void)
{
  GRand *random = g_rand_new_with_seed (1);
  World world;
  world_init (&world);
  uint16_t last = 0;
  for (unsigned n = 0; n < 200000; n++) {
    MccLayerOrder packet = send (&world, (unsigned)g_rand_int_range (random, 0, LAYERS));
    uint16_t number = number_of (&world, &packet);
    if (n > 0)
      g_assert_cmpuint (number, ==, (uint16_t)(last + 1));
    last = number;
  }
  g_rand_free (random);
}

/* Layers that overtake each other, as pacers of their own send them, miss nothing. */
static void
test_overtaken (void)
{
  World world;
  world_init (&world);
  MccLayerOrder base[8], high[8];
  for (unsigned i = 0; i < 8; i++)
    base[i] = send (&world, 0);
  for (unsigned i = 0; i < 8; i++)
    high[i] = send (&world, 2);
  uint16_t next = number_of (&world, &base[0]);
  for (unsigned i = 0; i < 8; i++) {
    g_assert_cmpuint (number_of (&world, &high[i]), ==, ++next);
    if (i > 0)
      g_assert_cmpuint (number_of (&world, &base[i]), ==, ++next);
  }
}

/* As many numbers are left out as packets are missing, once the layer goes on; a packet that comes
 * late gets one of them, a copy the number that it had. */
static void
test_missing (void)
{
  World world;
  world_init (&world);
  MccLayerOrder packet = send (&world, 1), late[4];
  uint16_t first = number_of (&world, &packet);
  for (unsigned i = 0; i < 4; i++)
    late[i] = send (&world, 1);
  packet = send (&world, 0);
  g_assert_cmpuint (number_of (&world, &packet), ==, (uint16_t)(first + 1));
  packet = send (&world, 1);
  g_assert_cmpuint (number_of (&world, &packet), ==, (uint16_t)(first + 6));
  for (unsigned i = 0; i < 4; i++)
    g_assert_cmpuint (number_of (&world, &late[3 - i]), ==, (uint16_t)(first + 5 - i));
  g_assert_cmpuint (number_of (&world, &packet), ==, (uint16_t)(first + 6));
  packet = send (&world, 2);
  g_assert_cmpuint (number_of (&world, &packet), ==, (uint16_t)(first + 7));
}

/* So late that its number is not known: none, and nothing of the others changes. */
static void
test_too_late (void)
{
  World world;
  world_init (&world);
  MccLayerOrder packet = send (&world, 0), late = send (&world, 0);
  number_of (&world, &packet);
  for (unsigned i = 0; i < MCC_ELM_SEQUENCE_LATE; i++)
    packet = send (&world, 0);
  uint16_t number = number_of (&world, &packet), other;
  g_assert_false (receive (&world, &late, &other));
  packet = send (&world, 0);
  g_assert_cmpuint (number_of (&world, &packet), ==, (uint16_t)(number + 1));
}

/* A block of packets that took another path, later by more than is remembered: none of them has a
 * number, and those after it go on as if it had not come. */
static void
test_late_block (void)
{
  enum { BLOCK = 2 * MCC_ELM_SEQUENCE_LATE };
  World world;
  world_init (&world);
  MccLayerOrder packet = send (&world, 0), late[BLOCK];
  uint16_t first = number_of (&world, &packet), number;
  MccTime begun = world.now;
  for (unsigned i = 0; i < BLOCK; i++)
    late[i] = send (&world, 0);
  for (unsigned i = 0; i < BLOCK; i++) {
    packet = send (&world, 0);
    g_assert_cmpuint (number_of (&world, &packet), ==, (uint16_t)(first + BLOCK + 1 + i));
  }
  for (unsigned i = 0; i < BLOCK - MCC_ELM_SEQUENCE_LATE; i++)
    g_assert_false (receive_sent_at (&world, &late[i], begun + (i + 1) * MCC_MSECOND, &number));
  packet = send (&world, 0);
  g_assert_cmpuint (number_of (&world, &packet), ==, (uint16_t)(first + 2 * BLOCK + 1));
}

/* A sender that begins anew behind its old numbers is followed: its send times go on, and where
 * they do not, or there are none, its packets are the only ones. */
static void
test_restart_behind (void)
{
  for (unsigned row = 0; row < 3; row++) {
    World world;
    world_init (&world);
    world.unstamped = row == 2;
    world.now = 10 * MCC_SECOND;
    MccLayerOrder packet = send (&world, 0);
    uint16_t first = number_of (&world, &packet), number;
    MccTime last = world.now, off = row == 1 ? 5 * MCC_SECOND : 0;
    world.order.c[0] -= 1000;
    world.order.c[1] -= 1000;
    world.order.c[2] -= 1000;
    for (number = first; number == first && world.now < last + MCC_SECOND;) {
      packet = send (&world, 0);
      receive_sent_at (&world, &packet, world.now - off, &number);
    }
    g_assert_cmpuint (number, ==, (uint16_t)(first + 1));
    g_assert_cmpuint (world.now - last, ==, row > 0 ? MCC_NUMBERING_RESTART : 2 * MCC_MSECOND);
  }
}

/* As many as that may be missing; what is farther off, ahead or behind, counts once the next packet
 * agrees, and is a new beginning. */
static void
test_far_off (void)
{
  static const struct {
    guint off; /* modulo 2^16 */
    gboolean far;
  } table[] = { { MCC_ELM_SEQUENCE_JUMP, FALSE }, { MCC_ELM_SEQUENCE_JUMP + 1, TRUE },
    { 30000, TRUE }, { 40000, TRUE }, { 65536 - MCC_ELM_SEQUENCE_LATE, TRUE } };
  for (guint row = 0; row < G_N_ELEMENTS (table); row++) {
    World world;
    world_init (&world);
    MccLayerOrder packet = send (&world, 0);
    uint16_t number = number_of (&world, &packet), other;
    for (guint i = 0; i < table[row].off; i++)
      packet = send (&world, 0);
    g_assert_true (receive (&world, &packet, &other) == !table[row].far);
    if (!table[row].far)
      g_assert_cmpuint (other, ==, (uint16_t)(number + table[row].off));
    packet = send (&world, 0);
    other = number_of (&world, &packet);
    g_assert_cmpuint (other, ==, (uint16_t)(number + (table[row].far ? 1 : table[row].off + 1)));
  }
}

/* One packet that nobody sent, far ahead or within reach, costs two packets at most. */
static void
test_forged (void)
{
  for (guint off = 100; off < 65400; off += 1999) {
    World world;
    world_init (&world);
    MccLayerOrder packet = send (&world, 1), forged;
    number_of (&world, &packet);
    forged = packet;
    forged.c[1] = (uint16_t)(forged.c[1] + off);
    uint16_t number;
    guint unseen = 0, last = 0;
    receive (&world, &forged, &number);
    for (guint i = 0; i < 10; i++) {
      packet = send (&world, 1);
      bool seen = receive (&world, &packet, &number);
      unseen += !seen;
      if (i > 2)
        g_assert_cmpuint (number, ==, (uint16_t)(last + 1));
      last = number;
    }
    g_assert_cmpuint (unseen, <=, 1);
  }
}

/* What was sent of a layer before it was joined again is not missing, however much it was. */
static void
test_joined_again (void)
{
  for (guint gap = 10; gap < 65536; gap += 1111) {
    World world;
    world_init (&world);
    MccLayerOrder packet = send (&world, 2);
    uint16_t number = number_of (&world, &packet);
    for (guint i = 0; i < gap; i++)
      packet = send (&world, 2);
    mcc_elm_sequence_join (&world.sequence, 2);
    g_assert_cmpuint (number_of (&world, &packet), ==, (uint16_t)(number + 1));
  }
}

/* What was sent of a layer that does not come, lower layers' packets tell: from its newest packet
 * on, or from the first word of it. */
static void
test_what_was_sent (void)
{
  World world;
  world_init (&world);
  MccLayerOrder packet;
  MccTime since, first = 0;
  for (unsigned i = 0; i < 30000; i++) {
    packet = send (&world, 0);
    g_assert_cmpuint (
        mcc_elm_sequence_missing (&world.sequence, 1, packet.c, world.now, &since), ==, i);
    first = i == 1 ? world.now : first;
    g_assert_cmpuint (since, ==, i == 0 ? MCC_TIME_NONE : first);
    send (&world, 1);
  }
  packet = send (&world, 1);
  number_of (&world, &packet);
  packet = send (&world, 0);
  g_assert_cmpuint (
      mcc_elm_sequence_missing (&world.sequence, 1, packet.c, world.now, &since), ==, 0);
  g_assert_cmpuint (since, ==, MCC_TIME_NONE);
  world.now += 10 * MCC_SECOND; /* nothing was sent of it meanwhile: that is no absence */
  send (&world, 1);
  send (&world, 2);
  packet = send (&world, 0);
  g_assert_cmpuint (
      mcc_elm_sequence_missing (&world.sequence, 1, packet.c, world.now, &since), ==, 1);
  g_assert_cmpuint (since, ==, world.now);
  mcc_elm_sequence_restart (&world.sequence, 0);
  g_assert_cmpuint (
      mcc_elm_sequence_missing (&world.sequence, 1, packet.c, world.now, &since), ==, 0);
  g_assert_cmpuint (since, ==, MCC_TIME_NONE);
}

/* Any loss, any order among layers: the numbers left out are those missing, layer by layer. */
static void
test_random (void)
{
  for (guint32 seed = 1; seed <= 50; seed++) {
    GRand *random = g_rand_new_with_seed (seed);
    World world;
    world_init (&world);
    guint64 received = 0, missing = 0, waits[LAYERS] = { 0 };
    gboolean begun[LAYERS] = { FALSE };
    uint64_t first = 0;
    for (unsigned n = 0; n < 5000; n++) {
      MccLayerOrder packet = send (&world, (unsigned)g_rand_int_range (random, 0, LAYERS));
      if (g_rand_int_range (random, 0, 20) == 0) {
        waits[packet.layer] += begun[packet.layer];
        continue;
      }
      uint64_t number = mcc_seq_extend16 (&world.seq, number_of (&world, &packet));
      first = received == 0 ? number : first;
      received++;
      missing += waits[packet.layer];
      waits[packet.layer] = 0;
      begun[packet.layer] = TRUE;
      g_assert_cmpuint (number - first + 1, ==, received + missing);
    }
    g_rand_free (random);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/elm/sequence/whole", test_whole);
  g_test_add_func ("/elm/sequence/overtaken", test_overtaken);
  g_test_add_func ("/elm/sequence/missing", test_missing);
  g_test_add_func ("/elm/sequence/too-late", test_too_late);
  g_test_add_func ("/elm/sequence/late-block", test_late_block);
  g_test_add_func ("/elm/sequence/restart-behind", test_restart_behind);
  g_test_add_func ("/elm/sequence/far-off", test_far_off);
  g_test_add_func ("/elm/sequence/forged", test_forged);
  g_test_add_func ("/elm/sequence/joined-again", test_joined_again);
  g_test_add_func ("/elm/sequence/what-was-sent", test_what_was_sent);
  g_test_add_func ("/elm/sequence/random", test_random);
  return g_test_run ();
}
