/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "emulator.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static int
open_here (const char *name)
{
  struct ifreq request;
  int fd = open ("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);

  if (fd < 0)
    return -1;
  memset (&request, 0, sizeof request);
  request.ifr_flags = IFF_TUN | IFF_NO_PI;
  snprintf (request.ifr_name, sizeof request.ifr_name, "%s", name);
  if (ioctl (fd, TUNSETIFF, &request) < 0) {
    int error = errno;
    close (fd);
    errno = error;
    return -1;
  }
  return fd;
}

int
emu_tun_open (const char *path, const char *name)
{
  int home = open ("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
  int away = open (path, O_RDONLY | O_CLOEXEC);
  int fd = -1, error;

  if (home >= 0 && away >= 0 && setns (away, CLONE_NEWNET) == 0) {
    fd = open_here (name);
    error = errno;
    /* Going on in a stranger's namespace would put every later socket in the wrong place. */
    if (setns (home, CLONE_NEWNET) != 0) {
      perror ("mcc-emulator: cannot return to its network namespace");
      exit (1);
    }
  } else {
    error = errno;
  }
  if (home >= 0)
    close (home);
  if (away >= 0)
    close (away);
  errno = error;
  return fd;
}
