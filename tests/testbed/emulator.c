/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * mcc-emulator: a network of hosts, routers and links in one process. README.md says how to use it.
 */
#include "emulator.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define TUN_NAME "amc0"
#define MAX_READS 64 /* of one device before the others get their turn */
#define MAX_CLIENTS 16
#define LINE_BYTES 1024
#define PACKET_BYTES 65536

typedef struct {
  int in; /* -1: free */
  int out;
  size_t filled;
  char line[LINE_BYTES];
} Client;

typedef struct {
  Emulator emulator;
  EmuTopology *topology;
  int epoll_fd;
  int timer_fd;
  int listen_fd;
  EmuTime armed;
  int tuns[EMU_MAX_NODES]; /* -1: none */
  EmuUdp *udp;
  EmuTrace *trace;
  Client clients[MAX_CLIENTS]; /* [0]: standard input and output */
  const char *socket_path;
  bool quit_with_stdin;
} Host;

EmuTime
emu_clock (void)
{
  struct timespec now;

  clock_gettime (CLOCK_MONOTONIC, &now);
  return (EmuTime)now.tv_sec * EMU_SECOND + (EmuTime)now.tv_nsec;
}

static void
die (const char *what, const char *which)
{
  fprintf (stderr, "mcc-emulator: %s: %s\n", what, which);
  exit (1);
}

static void
watch (Host *self, int fd, int kind, uint32_t index)
{
  struct epoll_event event = { .events = EPOLLIN, .data.u64 = EMU_EVENT (kind, index) };

  /* A plain file on standard input cannot be watched, and /dev/null need not be. */
  if (epoll_ctl (self->epoll_fd, EPOLL_CTL_ADD, fd, &event) < 0 && errno != EPERM)
    die ("epoll", strerror (errno));
}

static void
note_lag (EmuLag *lag, EmuTime due)
{
  EmuTime now = emu_clock ();
  double late_us = now > due ? (double)(now - due) * 1e-3 : 0.0;

  lag->count++;
  lag->sum_us += late_us;
  lag->over_1ms += late_us > 1000.0;
  lag->over_5ms += late_us > 5000.0;
  if (late_us > lag->max_us)
    lag->max_us = late_us;
}

static void
flush (Host *self)
{
  Emulator *emulator = &self->emulator;
  EmuPacket *packet;
  uint32_t host;

  while ((packet = emu_net_poll (emulator->net, &host))) {
    bool sent = true;
    if (self->tuns[host] >= 0)
      sent = write (self->tuns[host], packet->data, packet->bytes) == (ssize_t)packet->bytes;
    else if (self->udp)
      sent = emu_udp_deliver (self->udp, host, packet);
    note_lag (&emulator->lag, packet->time);
    emulator->host_drops += !sent;
    free (packet);
  }
}

static void
arm (Host *self)
{
  EmuTime next = emu_net_next_timeout (self->emulator.net);
  struct itimerspec timer = { 0 };

  if (next == self->armed)
    return;
  timer.it_value.tv_sec = (time_t)(next / EMU_SECOND);
  timer.it_value.tv_nsec = (long)(next % EMU_SECOND);
  if (timerfd_settime (self->timer_fd, TFD_TIMER_ABSTIME, &timer, NULL) < 0)
    die ("timerfd", strerror (errno));
  self->armed = next;
}

static void
read_tun (Host *self, uint32_t host)
{
  uint8_t data[PACKET_BYTES];

  for (int i = 0; i < MAX_READS; i++) {
    ssize_t n = read (self->tuns[host], data, sizeof data);
    if (n <= 0)
      return;
    emu_net_input (self->emulator.net, host, data, (size_t)n, emu_clock ());
    flush (self);
  }
}

static void
write_all (int fd, const char *text, size_t bytes)
{
  while (bytes > 0) {
    ssize_t n = write (fd, text, bytes);
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      return;
    text += n;
    bytes -= (size_t)n;
  }
}

static void
close_client (Host *self, uint32_t index)
{
  Client *client = &self->clients[index];

  epoll_ctl (self->epoll_fd, EPOLL_CTL_DEL, client->in, NULL);
  if (index == 0 && self->quit_with_stdin)
    self->emulator.quit = true;
  if (index > 0)
    close (client->in);
  client->in = -1;
}

static void
read_client (Host *self, uint32_t index)
{
  Client *client = &self->clients[index];
  ssize_t n = read (client->in, client->line + client->filled, LINE_BYTES - client->filled);
  char *end;

  if (n <= 0) {
    if (n == 0 || (errno != EAGAIN && errno != EINTR))
      close_client (self, index);
    return;
  }
  client->filled += (size_t)n;
  while ((end = memchr (client->line, '\n', client->filled))) {
    size_t used = (size_t)(end + 1 - client->line);
    char *reply;

    *end = '\0';
    emu_net_handle_timeout (self->emulator.net, emu_clock ());
    reply = emu_control_run (&self->emulator, client->line);
    write_all (client->out, reply, strlen (reply));
    write_all (client->out, "\n", 1);
    free (reply);
    client->filled -= used;
    memmove (client->line, end + 1, client->filled);
  }
  if (client->filled == LINE_BYTES)
    close_client (self, index);
}

static void
accept_client (Host *self)
{
  struct timeval patience = { .tv_usec = 200000 };
  int fd = accept4 (self->listen_fd, NULL, NULL, SOCK_CLOEXEC);

  if (fd < 0)
    return;
  for (uint32_t i = 1; i < MAX_CLIENTS; i++) {
    if (self->clients[i].in >= 0)
      continue;
    /* A client that does not read must not stop the network for long. */
    setsockopt (fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    self->clients[i] = (Client){ .in = fd, .out = fd };
    watch (self, fd, EMU_EVENT_CLIENT, i);
    return;
  }
  close (fd);
}

static void
handle_event (Host *self, uint64_t data)
{
  uint32_t index = (uint32_t)data;
  uint64_t expirations;

  switch (data >> 32) {
    case EMU_EVENT_TIMER:
      if (read (self->timer_fd, &expirations, sizeof expirations) > 0)
        self->armed = EMU_TIME_NONE;
      break;
    case EMU_EVENT_TUN:
      read_tun (self, index);
      break;
    case EMU_EVENT_UDP:
      emu_udp_handle_readable (self->udp, self->emulator.net, index);
      break;
    case EMU_EVENT_LISTEN:
      accept_client (self);
      break;
    case EMU_EVENT_CLIENT:
      read_client (self, index);
      break;
    default:
      self->emulator.quit = true;
      break;
  }
}

static void
run (Host *self)
{
  struct epoll_event events[32];

  while (!self->emulator.quit) {
    int n;

    emu_net_handle_timeout (self->emulator.net, emu_clock ());
    flush (self);
    arm (self);
    n = epoll_wait (self->epoll_fd, events, sizeof events / sizeof events[0], -1);
    if (n < 0 && errno != EINTR)
      die ("epoll_wait", strerror (errno));
    /* What is due goes first, so that packets find the queues as they are now. */
    if (n > 0)
      emu_net_handle_timeout (self->emulator.net, emu_clock ());
    for (int i = 0; i < n; i++)
      handle_event (self, events[i].data.u64);
  }
}

static bool
go_realtime (void)
{
  struct sched_param parameters = { .sched_priority = 10 };

  prctl (PR_SET_TIMERSLACK, 1000);
  /* Refused, or not known to the kernel: costs a page fault now and then. */
  (void)mlockall (MCL_CURRENT | MCL_ONFAULT);
  if (sched_setscheduler (0, SCHED_RR, &parameters) == 0)
    return true;
  fprintf (stderr,
      "mcc-emulator: warning: no real-time priority (%s): under load packets may be"
      " late; see `lag' in the stats\n",
      strerror (errno));
  return false;
}

static void
listen_on (Host *self, const char *path)
{
  struct sockaddr_un address = { .sun_family = AF_UNIX };

  if (strlen (path) >= sizeof address.sun_path)
    die ("path too long", path);
  strcpy (address.sun_path, path);
  self->listen_fd = socket (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (self->listen_fd < 0 || bind (self->listen_fd, (struct sockaddr *)&address, sizeof address) < 0
      || listen (self->listen_fd, 4) < 0)
    die (path, strerror (errno));
  self->socket_path = path;
  watch (self, self->listen_fd, EMU_EVENT_LISTEN, 0);
}

static EmuTopology *
read_topology (const char *path)
{
  FILE *file = strcmp (path, "-") == 0 ? stdin : fopen (path, "r");
  char error[EMU_ERROR_BYTES], *text;
  size_t bytes;
  FILE *out = open_memstream (&text, &bytes);
  EmuTopology *topology;
  int c;

  if (!file)
    die (path, strerror (errno));
  while ((c = fgetc (file)) != EOF)
    fputc (c, out);
  fclose (out);
  if (file != stdin)
    fclose (file);
  topology = emu_topology_parse (text, error);
  if (!topology)
    die (path, error);
  free (text);
  return topology;
}

static void
open_tun (Host *self, const char *argument)
{
  char name[EMU_NAME_BYTES];
  const char *equals = strchr (argument, '=');
  uint32_t node = UINT32_MAX;

  if (equals && (size_t)(equals - argument) < sizeof name) {
    snprintf (name, sizeof name, "%.*s", (int)(equals - argument), argument);
    node = emu_topology_find_node (self->emulator.topology, name);
  }
  if (node == UINT32_MAX || !self->emulator.topology->nodes[node].is_host)
    die ("not HOST=PATH-OF-NAMESPACE", argument);
  self->tuns[node] = emu_tun_open (equals + 1, TUN_NAME);
  if (self->tuns[node] < 0)
    die (argument, errno == EPERM ? "not permitted to make a TUN device" : strerror (errno));
  watch (self, self->tuns[node], EMU_EVENT_TUN, node);
}

static void
usage (void)
{
  puts ("usage: mcc-emulator [options] TOPOLOGY\n"
        "  --describe          print hosts, addresses and links as JSON, and end\n"
        "  --tun HOST=PATH     the host's device (" TUN_NAME ") goes into this network namespace\n"
        "  --control PATH      take commands on this Unix stream socket, too\n"
        "  --until-eof         end when standard input ends\n"
        "  --trace FILE        write down every packet (emutrace.c has the format)\n"
        "  --no-realtime       do not ask for SCHED_RR\n"
        "TOPOLOGY is a file (`-': standard input). Commands come on standard input, a line each:\n"
        "set LINK[>NODE] key=value..., at TIME set ..., stats, members, leave-latency, quit");
}

static void
start (Host *self, bool realtime)
{
  char error[EMU_ERROR_BYTES];
  sigset_t signals;
  int fd;

  sigemptyset (&signals);
  sigaddset (&signals, SIGINT);
  sigaddset (&signals, SIGTERM);
  sigprocmask (SIG_BLOCK, &signals, NULL);
  signal (SIGPIPE, SIG_IGN);
  fd = signalfd (-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
  watch (self, fd, EMU_EVENT_SIGNAL, 0);
  self->timer_fd = timerfd_create (CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
  watch (self, self->timer_fd, EMU_EVENT_TIMER, 0);
  self->armed = EMU_TIME_NONE;
  if (self->emulator.topology->n_flows > 0) {
    self->udp = emu_udp_new (self->emulator.topology, self->epoll_fd, error);
    if (!self->udp)
      die ("udp", error);
  }
  if (realtime)
    self->emulator.realtime = go_realtime ();
  self->emulator.net = emu_net_new (self->emulator.topology, emu_clock ());
}

static void
init_host (Host *self)
{
  self->epoll_fd = epoll_create1 (EPOLL_CLOEXEC);
  self->listen_fd = -1;
  for (int i = 0; i < EMU_MAX_NODES; i++)
    self->tuns[i] = -1;
  for (int i = 1; i < MAX_CLIENTS; i++)
    self->clients[i].in = -1;
}

int
main (int argc, char **argv)
{
  static Host self;
  const char *path = NULL, *control = NULL, *trace = NULL;
  bool realtime = true, describe = false;
  int status = 0;

  init_host (&self);
  for (int i = 1; i < argc; i++) {
    if (strcmp (argv[i], "--describe") == 0)
      describe = true;
    else if (strcmp (argv[i], "--until-eof") == 0)
      self.quit_with_stdin = true;
    else if (strcmp (argv[i], "--no-realtime") == 0)
      realtime = false;
    else if (strcmp (argv[i], "--control") == 0 && i + 1 < argc)
      control = argv[++i];
    else if (strcmp (argv[i], "--trace") == 0 && i + 1 < argc)
      trace = argv[++i];
    else if (strcmp (argv[i], "--tun") == 0 && i + 1 < argc)
      i++; /* needs the topology: second pass */
    else if (argv[i][0] == '-' && argv[i][1])
      return usage (), strcmp (argv[i], "--help") == 0 ? 0 : 2;
    else
      path = argv[i];
  }
  if (!path)
    return usage (), 2;
  self.topology = read_topology (path);
  self.emulator.topology = self.topology;
  if (describe) {
    char *text = emu_control_describe (self.emulator.topology);
    puts (text);
    free (text);
    emu_topology_free (self.topology);
    return 0;
  }
  for (int i = 1; i < argc; i++) {
    if (strcmp (argv[i], "--control") == 0 || strcmp (argv[i], "--trace") == 0)
      i++;
    else if (strcmp (argv[i], "--tun") == 0)
      open_tun (&self, argv[++i]);
  }
  start (&self, realtime);
  if (trace)
    self.trace = emu_trace_open (trace, self.emulator.net);
  self.clients[0].in = STDIN_FILENO;
  self.clients[0].out = STDOUT_FILENO;
  watch (&self, STDIN_FILENO, EMU_EVENT_CLIENT, 0);
  if (control)
    listen_on (&self, control);
  write_all (STDOUT_FILENO, "ready\n", 6);
  run (&self);
  if (self.socket_path)
    unlink (self.socket_path);
  if (self.trace && !emu_trace_close (self.trace)) {
    fprintf (stderr, "mcc-emulator: %s: not all of the trace could be written\n", trace);
    status = 1;
  }
  emu_net_free (self.emulator.net);
  if (self.udp)
    emu_udp_free (self.udp);
  emu_topology_free (self.topology);
  return status;
}
