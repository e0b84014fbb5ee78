/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>

#include "mccelmsequence.h"
#include "mcclayerorder.h"
#include "mccseq.h"

#define LAYERS 3

typedef struct {
  MccElmSequence sequence;
  MccLayerOrder order;
  MccSeq seq;
} World;

static void
world_init (World *world)
{
  mcc_elm_sequence_init (&world->sequence);
  world->order = (MccLayerOrder){ .count = LAYERS, .c = { 65530, 7, 65500 } };
}

/* The counts of the next packet, as the sender writes them. */
static MccLayerOrder
send (World *world, unsigned layer)
{
  world->order.layer = (guint8)layer;
  mcc_layer_order_next (&world->order);
  return world->order;
}

static bool
receive (World *world, const MccLayerOrder *packet, uint16_t *number)
{
  return mcc_elm_sequence_number (&world->sequence, packet->layer, packet->c, number);
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

/* Of another sender, or after an outage: more than that is not missing. */
static void
test_begins_anew (void)
{
  World world;
  world_init (&world);
  MccLayerOrder packet = send (&world, 0);
  uint16_t number = number_of (&world, &packet);
  for (unsigned i = 0; i < MCC_ELM_SEQUENCE_JUMP; i++)
    packet = send (&world, 0);
  g_assert_cmpuint (number_of (&world, &packet), ==, (uint16_t)(number + MCC_ELM_SEQUENCE_JUMP));
  number = (uint16_t)(number + MCC_ELM_SEQUENCE_JUMP);
  for (unsigned i = 0; i <= MCC_ELM_SEQUENCE_JUMP; i++)
    packet = send (&world, 0);
  g_assert_cmpuint (number_of (&world, &packet), ==, (uint16_t)(number + 1));
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
  g_test_add_func ("/elm/sequence/begins-anew", test_begins_anew);
  g_test_add_func ("/elm/sequence/random", test_random);
  return g_test_run ();
}
