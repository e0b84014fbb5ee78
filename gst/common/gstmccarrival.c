/* SPDX-License-Identifier: LGPL-2.1-or-later */
#define _GNU_SOURCE
#include "gstmccarrival.h"

#include <netinet/in.h>
#include <string.h>

#include "mccstall.h"

void
gst_mcc_arrival_enable (int fd)
{
  int on = 1;

  /* One of the two is of the other family. */
  (void)setsockopt (fd, IPPROTO_IP, IP_RECVTOS, &on, sizeof on);
  (void)setsockopt (fd, IPPROTO_IPV6, IPV6_RECVTCLASS, &on, sizeof on);
  (void)setsockopt (fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on);
}

static MccTime
get_waited (const struct cmsghdr *c, const struct timespec *now)
{
  struct timespec came;
  gint64 waited;

  memcpy (&came, CMSG_DATA (c), sizeof came);
  waited = (gint64)(now->tv_sec - came.tv_sec) * GST_SECOND + (now->tv_nsec - came.tv_nsec);
  return waited >= 0 && waited <= (gint64)MCC_STALL_WAIT_MAX ? (MccTime)waited : 0;
}

GstMccArrival
gst_mcc_arrival_read (struct msghdr *message, const struct timespec *now)
{
  GstMccArrival out = { .ecn = MCC_ECN_NOT_ECT };

  for (struct cmsghdr *c = CMSG_FIRSTHDR (message); c; c = CMSG_NXTHDR (message, c)) {
    gsize bytes = c->cmsg_len - CMSG_LEN (0);

    if (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_TOS && bytes >= sizeof (guint8))
      out.ecn = (MccEcn)(*CMSG_DATA (c) & 3);
    else if (c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_TCLASS
             && bytes >= sizeof (int)) {
      int tclass;

      memcpy (&tclass, CMSG_DATA (c), sizeof tclass);
      out.ecn = (MccEcn)(tclass & 3);
    } else if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_TIMESTAMPNS
               && bytes >= sizeof (struct timespec))
      out.waited = get_waited (c, now);
  }
  return out;
}
