/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mcctypes.h"

static const char *const drop_names[MCC_DROP_COUNT] = {
  [MCC_DROP_NONE] = "none",
  [MCC_DROP_MALFORMED] = "malformed",
  [MCC_DROP_UNKNOWN_NAME] = "unknown-name",
  [MCC_DROP_UNKNOWN_SUBTYPE] = "unknown-subtype",
  [MCC_DROP_UNKNOWN_VERSION] = "unknown-version",
  [MCC_DROP_SSRC_MISMATCH] = "ssrc-mismatch",
  [MCC_DROP_BAD_VALUE] = "bad-value",
  [MCC_DROP_STALE] = "stale",
  [MCC_DROP_RATE_LIMITED] = "rate-limited",
  [MCC_DROP_TABLE_FULL] = "table-full",
  [MCC_DROP_ADDRESS] = "address",
  [MCC_DROP_PROBATION] = "probation",
  [MCC_DROP_OTHER_SENDER] = "other-sender",
  [MCC_DROP_OWN] = "own",
  [MCC_DROP_UNAUTHENTIC] = "unauthentic",
  [MCC_DROP_REPLAYED] = "replayed",
};

const char *
mcc_drop_name (MccDrop drop)
{
  return (unsigned)drop < MCC_DROP_COUNT ? drop_names[drop] : "unknown";
}
