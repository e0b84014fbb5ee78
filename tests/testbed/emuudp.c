/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "emulator.h"

#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

/* Different sources behind one listening port; each has a socket of its own towards the target,
 * so that answers find their way back. */
#define MAX_PEERS 16
#define MAX_READS 64

typedef struct {
  struct sockaddr_in source;
  int fd;
  uint64_t used;
} Peer;

typedef struct {
  int fd;
  Peer peers[MAX_PEERS];
  uint32_t n_peers;
} Flow;

struct EmuUdp {
  const EmuTopology *topology;
  int epoll_fd;
  uint64_t clock;
  Flow flows[EMU_MAX_FLOWS];
};

/* token: flow * (MAX_PEERS + 1), + 0 for the listening socket, + 1 + peer for the others */
static int
open_socket (EmuUdp *self, uint16_t port, uint32_t token)
{
  struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons (port) };
  struct epoll_event event = { .events = EPOLLIN, .data.u64 = EMU_EVENT (EMU_EVENT_UDP, token) };
  int fd = socket (AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  int buffer_bytes = 2 << 20;

  if (fd < 0)
    return -1;
  address.sin_addr.s_addr = htonl (INADDR_LOOPBACK);
  setsockopt (fd, SOL_SOCKET, SO_RCVBUF, &buffer_bytes, sizeof buffer_bytes);
  if (bind (fd, (struct sockaddr *)&address, sizeof address) < 0
      || epoll_ctl (self->epoll_fd, EPOLL_CTL_ADD, fd, &event) < 0) {
    close (fd);
    return -1;
  }
  return fd;
}

EmuUdp *
emu_udp_new (const EmuTopology *topology, int epoll_fd, char error[EMU_ERROR_BYTES])
{
  EmuUdp *self = calloc (1, sizeof *self);

  self->topology = topology;
  self->epoll_fd = epoll_fd;
  for (uint32_t i = 0; i < EMU_MAX_FLOWS; i++)
    self->flows[i].fd = -1;
  for (uint32_t i = 0; i < topology->n_flows; i++) {
    uint16_t port = topology->flows[i].listen_port;
    self->flows[i].fd = open_socket (self, port, i * (MAX_PEERS + 1));
    if (self->flows[i].fd < 0) {
      snprintf (error, EMU_ERROR_BYTES, "cannot bind UDP port %d of 127.0.0.1: %m", port);
      emu_udp_free (self);
      return NULL;
    }
  }
  return self;
}

void
emu_udp_free (EmuUdp *self)
{
  for (uint32_t i = 0; i < EMU_MAX_FLOWS; i++) {
    for (uint32_t p = 0; p < self->flows[i].n_peers; p++)
      close (self->flows[i].peers[p].fd);
    if (self->flows[i].fd >= 0)
      close (self->flows[i].fd);
  }
  free (self);
}

static bool
same_source (const struct sockaddr_in *a, const struct sockaddr_in *b)
{
  return a->sin_port == b->sin_port && a->sin_addr.s_addr == b->sin_addr.s_addr;
}

/* The peer of a source; a new one may take the place of the one that was silent the longest. */
static uint32_t
find_peer (EmuUdp *self, uint32_t flow_index, const struct sockaddr_in *source)
{
  Flow *flow = &self->flows[flow_index];
  uint32_t oldest = 0;

  for (uint32_t i = 0; i < flow->n_peers; i++) {
    if (same_source (&flow->peers[i].source, source))
      return i;
    if (flow->peers[i].used < flow->peers[oldest].used)
      oldest = i;
  }
  if (flow->n_peers < MAX_PEERS) {
    int fd = open_socket (self, 0, flow_index * (MAX_PEERS + 1) + 1 + flow->n_peers);
    if (fd < 0)
      return UINT32_MAX;
    oldest = flow->n_peers++;
    flow->peers[oldest].fd = fd;
  }
  flow->peers[oldest].source = *source;
  return oldest;
}

static void
input (EmuUdp *self, EmuNet *net, uint32_t flow_index, uint32_t peer, bool back,
    const uint8_t *payload, size_t bytes)
{
  const EmuFlowConfig *config = &self->topology->flows[flow_index];
  uint32_t from = back ? config->to : config->from, to = back ? config->from : config->to;
  uint8_t packet[28 + 65536];

  emu_udp_wrap (packet, &self->topology->nodes[from].address, &self->topology->nodes[to].address,
      (uint16_t)(flow_index * MAX_PEERS + peer), back, payload, bytes);
  emu_net_input (net, from, packet, bytes + 28, emu_clock ());
}

void
emu_udp_handle_readable (EmuUdp *self, EmuNet *net, uint32_t token)
{
  uint32_t flow_index = token / (MAX_PEERS + 1), slot = token % (MAX_PEERS + 1);
  Flow *flow = &self->flows[flow_index];
  uint16_t target_port = self->topology->flows[flow_index].target_port;
  uint8_t payload[65507];

  for (int i = 0; i < MAX_READS; i++) {
    struct sockaddr_in source;
    socklen_t length = sizeof source;
    int fd = slot == 0 ? flow->fd : flow->peers[slot - 1].fd;
    ssize_t n = recvfrom (fd, payload, sizeof payload, 0, (struct sockaddr *)&source, &length);
    uint32_t peer = slot - 1;

    if (n < 0)
      return;
    if (slot == 0)
      peer = find_peer (self, flow_index, &source);
    else if (source.sin_port != htons (target_port))
      continue; /* a stranger */
    if (peer == UINT32_MAX)
      continue;
    flow->peers[peer].used = ++self->clock;
    input (self, net, flow_index, peer, slot != 0, payload, (size_t)n);
  }
}

bool
emu_udp_deliver (EmuUdp *self, uint32_t host, const EmuPacket *packet)
{
  const uint8_t *data = packet->data;
  uint32_t key, flow_index, peer;
  struct sockaddr_in target = { .sin_family = AF_INET };
  const Flow *flow;
  int fd;

  (void)host;
  if (packet->bytes < 28 || data[9] != EMU_PROTOCOL_UDP || data[0] != 0x45)
    return true; /* a query: nobody listens here */
  key = (uint32_t)data[20] << 8 | data[21];
  flow_index = key / MAX_PEERS;
  peer = key % MAX_PEERS;
  if (flow_index >= self->topology->n_flows || peer >= self->flows[flow_index].n_peers)
    return false;
  flow = &self->flows[flow_index];
  if (data[23]) { /* back */
    fd = flow->fd;
    target = flow->peers[peer].source;
  } else {
    fd = flow->peers[peer].fd;
    target.sin_port = htons (self->topology->flows[flow_index].target_port);
    target.sin_addr.s_addr = htonl (INADDR_LOOPBACK);
  }
  return sendto (fd, data + 28, packet->bytes - 28, 0, (struct sockaddr *)&target, sizeof target)
         >= 0;
}
