/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mccasmpsenderprivate.h"

void
mcc_asmp_sender_handle_unheard (MccAsmpSender *self, MccTime now)
{
  mcc_asmp_sender_advance (self, now);
  self->full_until = now + MCC_SENDER_FULL_HOLD;
}
