/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What became of every packet, for tools that measure: records of 32 bytes in the machine's byte
 * order, times from the start of the network. tests/testbed/ground/trace.py reads them.
 */
#include "emulator.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUFFER_BYTES (1 << 20) /* few writes, as each may make the network wait */
#define PROTOCOL_TCP 6

typedef struct {
  uint64_t time_ns;
  uint32_t value_us;
  uint32_t source; /* the last four bytes of the address */
  uint32_t destination;
  uint16_t source_port; /* TCP and UDP; else 0 */
  uint16_t destination_port;
  uint16_t bytes;
  uint16_t where; /* link 2 l + direction, or node: by `what` */
  uint8_t what;   /* EmuSeen */
  uint8_t protocol;
  uint8_t tos;
  uint8_t version;
} Record;

_Static_assert(sizeof (Record) == 32, "the reader counts on it");

struct EmuTrace {
  FILE *file;
  char *buffer;
  EmuTime start;
  bool failed;
};

static uint32_t
tail_of (const EmuAddress *address)
{
  const uint8_t *b = address->bytes + 12;

  return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

static void
observe (
    void *data, EmuSeen what, uint32_t where, const EmuPacket *packet, EmuTime value, EmuTime now)
{
  EmuTrace *self = data;
  const uint8_t *bytes = packet->data;
  Record record = { 0 };
  EmuHeader header;

  if (!emu_ip_parse (bytes, packet->bytes, &header))
    return;
  record.time_ns = now - self->start;
  record.value_us = (uint32_t)(value / 1000);
  record.source = tail_of (&header.source);
  record.destination = tail_of (&header.destination);
  record.bytes = (uint16_t)packet->bytes;
  record.where = (uint16_t)where;
  record.what = (uint8_t)what;
  record.protocol = header.protocol;
  record.version = header.version;
  record.tos = (uint8_t)(header.version == 4 ? bytes[1] : bytes[0] << 4 | bytes[1] >> 4);
  if ((header.protocol == EMU_PROTOCOL_UDP || header.protocol == PROTOCOL_TCP)
      && header.payload + 4 <= header.end) {
    const uint8_t *ports = bytes + header.payload;
    record.source_port = (uint16_t)(ports[0] << 8 | ports[1]);
    record.destination_port = (uint16_t)(ports[2] << 8 | ports[3]);
  }
  self->failed |= fwrite (&record, sizeof record, 1, self->file) != 1;
}

EmuTrace *
emu_trace_open (const char *path, EmuNet *net)
{
  EmuTrace *self = calloc (1, sizeof *self);

  self->file = fopen (path, "wb");
  if (!self->file) {
    fprintf (stderr, "mcc-emulator: %s: %s\n", path, strerror (errno));
    exit (1);
  }
  self->buffer = malloc (BUFFER_BYTES);
  setvbuf (self->file, self->buffer, _IOFBF, BUFFER_BYTES);
  self->start = emu_net_started (net);
  emu_net_observe (net, observe, self);
  return self;
}

bool
emu_trace_close (EmuTrace *self)
{
  bool good = fclose (self->file) == 0 && !self->failed;

  free (self->buffer);
  free (self);
  return good;
}
