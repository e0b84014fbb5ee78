/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * mccecn: whether a path's ECN marks can be believed (RFC 6679 7.4: a path that does not carry ECN
 * as it should is to be found out, and ECN not used there).
 *
 * Our senders send ECT(0) and announce that they do. Laws:
 *  - A mark counts unless the sender has announced that it sends no ECT: then nobody who keeps to
 *    RFC 3168 may mark.
 *  - Marks of a broken path do not count. It is broken when it makes ECT(1) of ECT(0), three times;
 *    or marks every packet, MCC_ECN_RUN and more in a row for as long as MCC_ECN_RUN_TIME and 10
 *    RTT: a queue marks fewer once we send less, which by then we do; or what is announced as ECT
 *    does not come, and none ever did: it drops ECT. Unless the first packet behind that silence is
 *    the next one of the last before it, or ECT: then nothing was dropped, and its source paused.
 *  - It is believed again MCC_ECN_RETRY after that was last so, when MCC_ECN_RUN unmarked ECT(0)
 *    have come since: where no ECT arrives nothing is proven.
 *  - Not-ECT where ECT was announced: the path bleaches. No mark comes that way; losses tell.
 * Constant cost a packet.
 */
#pragma once

#include "mcctypes.h"

#define MCC_ECN_RUN 50
#define MCC_ECN_RUN_TIME (3 * MCC_SECOND)
#define MCC_ECN_RETRY (30 * MCC_SECOND)

typedef enum {
  MCC_ECN_PATH_NONE,     /* no ECT was announced or came */
  MCC_ECN_PATH_GOOD,     /* ECT or marks come */
  MCC_ECN_PATH_BLEACHES, /* not-ECT arrives of what was sent as ECT */
  MCC_ECN_PATH_BROKEN    /* marks say nothing */
} MccEcnPath;

typedef struct {
  bool announced, announced_ect; /* whether the sender has said, what */
  MccEcn newest;
  MccTime run_since;      /* ... every packet was marked; while run > 0 */
  uint32_t run, bare_run; /* marked, not-ECT packets in a row; saturate */
  uint32_t ect1;
  bool seen; /* ECT or CE, ever */
  bool broken;
  bool silent;     /* ... for a silence that has not ended */
  MccTime wrong;   /* newest proof of that */
  uint32_t right;  /* unmarked ECT(0) since; saturates */
  uint64_t marked; /* CE, whether it counts or not */
} MccEcnJudge;

void mcc_ecn_init (MccEcnJudge *self);
void mcc_ecn_handle_announced (MccEcnJudge *self, bool ect);
/* The stream has fallen silent, its announcements have not. */
void mcc_ecn_handle_silence (MccEcnJudge *self, MccTime now);
/* A packet newer than all comes, before it is handled. @follows: no number before it is missing. */
void mcc_ecn_handle_return (MccEcnJudge *self, MccEcn ecn, bool follows);
/* A packet arrived. True: it is marked, and that counts. */
bool mcc_ecn_handle_packet (MccEcnJudge *self, MccEcn ecn, MccTime rtt, MccTime now);
MccEcnPath mcc_ecn_path (const MccEcnJudge *self);
/* "none", "good", "bleached", "broken". */
const char *mcc_ecn_path_name (MccEcnPath path);
