/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mccindexapp.h"

#include <string.h>

#include "mccappprivate.h"

#define PT_APP 204
#define INDEX_MAX ((UINT64_C (1) << 48) - 1)
#define HALF 0x8000u

MccDrop
mcc_index_app_decode (const uint8_t *data, size_t size, MccIndexApp *out)
{
  unsigned count;

  if (size < MCC_INDEX_BYTES (0) || data[0] >> 6 != 2 || data[1] != PT_APP
      || mcc_app_get (data + 2, 2) * 4 + 4 != size)
    return MCC_DROP_MALFORMED;
  if (memcmp (data + 8, MCC_INDEX_NAME, 4) != 0)
    return MCC_DROP_UNKNOWN_NAME;
  count = data[0] & 0x1f;
  if (size < MCC_INDEX_BYTES (count))
    return MCC_DROP_MALFORMED;
  out->ssrc = mcc_app_get32 (data + 4);
  out->count = count;
  for (unsigned i = 0; i < count; i++) {
    const uint8_t *at = data + MCC_INDEX_BYTES (i);

    out->entry[i].ssrc = mcc_app_get32 (at);
    out->entry[i].index = mcc_app_get (at + 4, 6);
  }
  return MCC_DROP_NONE;
}

size_t
mcc_index_app_encode (const MccIndexApp *app, uint8_t *data, size_t size)
{
  size_t bytes = MCC_INDEX_BYTES (app->count);

  if (app->count > MCC_INDEX_MAX || size < bytes)
    return 0;
  for (unsigned i = 0; i < app->count; i++)
    if (app->entry[i].index > INDEX_MAX)
      return 0;
  data[0] = (uint8_t)(0x80 | app->count);
  data[1] = PT_APP;
  mcc_app_put (data + 2, 2, bytes / 4 - 1);
  mcc_app_put (data + 4, 4, app->ssrc);
  for (unsigned i = 0; i < 4; i++)
    data[8 + i] = (uint8_t)MCC_INDEX_NAME[i];
  for (unsigned i = 0; i < app->count; i++) {
    uint8_t *at = data + MCC_INDEX_BYTES (i);

    mcc_app_put (at, 4, app->entry[i].ssrc);
    mcc_app_put (at + 4, 6, app->entry[i].index);
    mcc_app_put (at + 10, 2, 0);
  }
  return bytes;
}

uint32_t
mcc_index_roc (uint64_t index, uint16_t seq)
{
  uint32_t roc = (uint32_t)(index >> 16);
  uint16_t known = (uint16_t)index;

  if (seq < known && known - seq > (int)HALF)
    return roc + 1;
  if (seq > known && seq - known > (int)HALF && roc > 0)
    return roc - 1;
  return roc;
}
