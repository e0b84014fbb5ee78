/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A receiver nearby that limits the sender of the cost benchmark (tests/bench/cost): prints the
 * port that it hears at, and says two times a second that it can take RATE bit/s.
 *
 *   cost-peer RATE SECONDS
 */
#include <stdlib.h>

#include "../elements/asmppeer.h"

#define LOOKS 25 /* a report, 20 ms apart: a peer that never sleeps would keep the CPUs awake */

int
main (int argc, char **argv)
{
  AsmpPeer peer;

  if (argc != 3) {
    g_printerr ("usage: cost-peer RATE SECONDS\n");
    return 2;
  }
  gst_init (NULL, NULL);
  asmp_peer_init (&peer, 0x1234);
  g_print ("port %u\n", peer.port);
  for (guint i = 0; i < 2 * (guint)atoi (argv[2]); i++) {
    for (guint k = 0; k < LOOKS; k++) {
      asmp_peer_run (&peer, 0);
      g_usleep (20000);
    }
    if (peer.sender && peer.packets > 0)
      asmp_peer_report (&peer, (guint64)atoll (argv[1]), 0);
  }
  asmp_peer_clear (&peer);
  return 0;
}
