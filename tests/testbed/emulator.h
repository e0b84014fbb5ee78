/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * emulator: what touches the machine: devices, sockets, the clock.
 */
#pragma once

#include "emunet.h"

/* How late packets left for their host, against the time the network computed. */
typedef struct {
  uint64_t count;
  uint64_t over_1ms;
  uint64_t over_5ms;
  double sum_us;
  double max_us;
} EmuLag;

typedef struct {
  const EmuTopology *topology;
  EmuNet *net;
  EmuLag lag;
  uint64_t host_drops; /* packets that a host's device or socket refused */
  bool realtime;
  bool quit;
} Emulator;

EmuTime emu_clock (void);

/* One line in, one line out (JSON, "ok" or "error: ..."). `out` is malloced. */
char *emu_control_run (Emulator *self, char *line);
/* Hosts, their addresses, links: what a caller must know to set up namespaces. Malloced. */
char *emu_control_describe (const EmuTopology *topology);

/* Opens a TUN device called `name` in the network namespace at `path`; < 0 and errno on failure.
 * Leaves the thread in the namespace it was in. */
int emu_tun_open (const char *path, const char *name);

/* The mode without devices: topology `udp` lines. */
typedef struct EmuUdp EmuUdp;
/* Binds all listening ports of 127.0.0.1; NULL and a message on failure. */
EmuUdp *emu_udp_new (const EmuTopology *topology, int epoll_fd, char error[EMU_ERROR_BYTES]);
void emu_udp_free (EmuUdp *self);
/* Reads what came on a descriptor that epoll gave back; `token` is the event's data. */
void emu_udp_handle_readable (EmuUdp *self, EmuNet *net, uint32_t token);
/* False when the packet could not be sent. */
bool emu_udp_deliver (EmuUdp *self, uint32_t host, const EmuPacket *packet);

/* Writes what the network's observer is told into a file: emutrace.c has the format. Dies where it
 * cannot. */
typedef struct EmuTrace EmuTrace;
EmuTrace *emu_trace_open (const char *path, EmuNet *net);
/* False when something could not be written. */
bool emu_trace_close (EmuTrace *self);

/* epoll data: kind in the upper half, index in the lower. */
enum {
  EMU_EVENT_TIMER = 1,
  EMU_EVENT_TUN,
  EMU_EVENT_UDP,
  EMU_EVENT_LISTEN,
  EMU_EVENT_CLIENT,
  EMU_EVENT_SIGNAL,
};
#define EMU_EVENT(kind, index) ((uint64_t)(kind) << 32 | (uint32_t)(index))
