/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * NORM (RFC 5740) by the NRL library, with its congestion control (NORM-CC, RFC 5740 5.5.2): a
 * stream that always has data, and a receiver that throws it away.
 *
 *   norm-peer send GROUP PORT SEGMENT_BYTES START_BPS MIN_BPS MAX_BPS
 *   norm-peer receive GROUP PORT
 *
 * Its sockets get the receive buffer that ours ask for (gstmccsockets.c).
 *
 * Says "ready", waits for a line, runs until standard input ends. The rates are NORM's own (without
 * IP and UDP headers). C++, as normApi.h is no C in all releases.
 */
#include <normApi.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define DEVICE "amc0"
#define BUFFER_BYTES (4 << 20)
#define RECEIVE_BUFFER_BYTES (2 << 20)
#define BLOCK_SEGMENTS 64
#define PARITY_SEGMENTS 0 /* repairs by NACK; parity would be traffic of its own */

static NormObjectHandle stream = NORM_OBJECT_INVALID;

static void
fill (void)
{
  static char data[8192];

  while (NormStreamWrite (stream, data, sizeof data) > 0)
    ;
}

static void
empty (NormObjectHandle object)
{
  static char data[65536];
  unsigned int bytes;

  do {
    bytes = sizeof data;
  } while (NormStreamRead (object, data, &bytes) && bytes > 0);
}

/* NORM asks for no more than the machine's rmem_max; what may, as root, has more, as ours. */
static bool
raise_receive_buffers (NormSessionHandle session)
{
  if (!NormSetRxSocketBuffer (session, RECEIVE_BUFFER_BYTES))
    return false;
  for (int fd = STDERR_FILENO + 1; fd < 64; fd++) {
    int type = 0, bytes = RECEIVE_BUFFER_BYTES;
    socklen_t length = sizeof type;

    if (getsockopt (fd, SOL_SOCKET, SO_TYPE, &type, &length) == 0 && type == SOCK_DGRAM)
      (void)setsockopt (fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof bytes);
  }
  return true;
}

static bool
start (NormSessionHandle session, int argc, char **argv)
{
  bool sender = strcmp (argv[1], "send") == 0;

  if (!NormSetMulticastInterface (session, DEVICE) || !NormSetTTL (session, 32))
    return false;
  if (!sender) {
    NormSetRxPortReuse (session, true, NULL, NULL, 0);
    return NormStartReceiver (session, BUFFER_BYTES) && raise_receive_buffers (session);
  }
  if (argc < 8)
    return false;
  NormSetCongestionControl (session, true, true);
  NormSetTxRate (session, atof (argv[5]));
  if (!NormStartSender (session, (NormSessionId)getpid (), BUFFER_BYTES,
          (unsigned short)atoi (argv[4]), BLOCK_SEGMENTS, PARITY_SEGMENTS, 0))
    return false;
  if (!raise_receive_buffers (session))
    return false;
  NormSetTxRateBounds (session, atof (argv[6]), atof (argv[7]));
  stream = NormStreamOpen (session, BUFFER_BYTES / 2, NULL, 0);
  if (stream == NORM_OBJECT_INVALID)
    return false;
  fill ();
  return true;
}

static void
handle (const NormEvent *event)
{
  if (event->type == NORM_TX_QUEUE_VACANCY || event->type == NORM_TX_QUEUE_EMPTY)
    fill ();
  else if (event->type == NORM_RX_OBJECT_UPDATED)
    empty (event->object);
}

int
main (int argc, char **argv)
{
  NormInstanceHandle instance;
  NormSessionHandle session;
  char line[64];

  if (argc < 4) {
    fprintf (stderr, "usage: norm-peer send|receive GROUP PORT ...\n");
    return 2;
  }
  puts ("ready");
  fflush (stdout);
  if (!fgets (line, sizeof line, stdin))
    return 0;
  instance = NormCreateInstance (false);
  session = NormCreateSession (
      instance, argv[2], (unsigned short)atoi (argv[3]), (NormNodeId)(getpid () & 0xffffff));
  if (session == NORM_SESSION_INVALID || !start (session, argc, argv)) {
    fprintf (stderr, "norm-peer: cannot start\n");
    return 1;
  }
  for (;;) {
    struct pollfd fds[] = {
      { NormGetDescriptor (instance), POLLIN, 0 },
      { STDIN_FILENO, POLLIN, 0 },
    };
    NormEvent event;

    if (poll (fds, 2, -1) < 0)
      continue;
    if (fds[1].revents)
      break;
    if (fds[0].revents && NormGetNextEvent (instance, &event, false))
      handle (&event);
  }
  NormDestroyInstance (instance);
  return 0;
}
