/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mccasspsenderprivate.h"

/* Nobody knows in which stream. */
void
mcc_assp_sender_handle_unheard (MccAsspSender *self, MccTime now)
{
  for (unsigned j = 0; j < self->streams.count; j++)
    mcc_asmp_sender_handle_unheard (self->stream[j].asmp, now);
}
