/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * emutypes: what all parts of the emulator share.
 *
 * Everything but emulator.c, emucontrol.c, emutrace.c, emutun.c and emuudp.c is pure: time is an
 * argument, randomness a seeded value, no sockets. So queues, losses and multicast are tested over
 * virtual time.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint64_t EmuTime; /* ns of a monotonic clock */

#define EMU_TIME_NONE UINT64_MAX
#define EMU_MSECOND UINT64_C (1000000)
#define EMU_SECOND UINT64_C (1000000000)

/* An IPv6 address, or an IPv4 one in its mapped form, so that one code serves both. */
typedef struct {
  uint8_t bytes[16];
} EmuAddress;

/* An IP packet. `time` is set by the part that holds it: queued, then arrival. */
typedef struct EmuPacket EmuPacket;
struct EmuPacket {
  EmuPacket *next;
  EmuTime time;
  EmuTime entered; /* when its host sent it */
  uint32_t bytes;
  bool multicast;
  uint8_t data[];
};

EmuPacket *emu_packet_new (const uint8_t *data, size_t bytes);
EmuPacket *emu_packet_copy (const EmuPacket *packet);

/* splitmix64. The testbed does not borrow the generator of what it tests. */
typedef struct {
  uint64_t state;
} EmuRng;

static inline uint64_t
emu_rng_next (EmuRng *self)
{
  uint64_t z = (self->state += UINT64_C (0x9e3779b97f4a7c15));
  z = (z ^ (z >> 30)) * UINT64_C (0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C (0x94d049bb133111eb);
  return z ^ (z >> 31);
}

/* Uniform in [0, 1). */
static inline double
emu_rng_uniform (EmuRng *self)
{
  return (double)(emu_rng_next (self) >> 11) * 0x1p-53;
}
