/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mccelmapp.h"

#include "mccappprivate.h"

/* Offsets from the start of the packet; docs/wire-format.md draws them. */
#define REPORT_LEVELS 24 /* level and wanted layer, 4 bits each: reserved in ASMP's reports */
#define REPORT_FLAGS 25  /* the same */

#define LAYERS_COUNT 14
#define LAYERS_NUMBER 16
#define LAYERS_ROUND 20
#define LAYERS_ROUND_INTERVAL 24 /* 16 bits, ms */
#define LAYERS_SET 26            /* 16 bits */
#define LAYERS_FEEDBACK 28       /* 16 bits, ms; 16 reserved ones behind */
#define LAYERS_ROUND_TIME 33     /* 24 bits, behind 8 reserved ones */
#define LAYERS_ENTRIES 36
#define ENTRY_CUMULATIVE 0 /* 48 bits */
#define ENTRY_ADDRESS 6    /* 16 bits */
#define ENTRY_PORT 8       /* 16 bits */
#define ENTRY_DEPENDS 10   /* 8 bits, and 8 reserved ones behind */
#define ENTRY_SSRC 12
#define ENTRY_FRAME_RATE 16
#define ENTRY_BYTES 20

static MccDrop
decode_layers (const uint8_t *data, size_t size, MccElmLayers *out)
{
  const uint8_t *entry = data + LAYERS_ENTRIES;

  if (size < LAYERS_ENTRIES)
    return MCC_DROP_MALFORMED;
  *out = (MccElmLayers){
    .number = mcc_app_get32 (data + LAYERS_NUMBER),
    .flags = data[MCC_APP_OFFSET_FLAGS],
    .round = mcc_app_get32 (data + LAYERS_ROUND),
    .round_time = (uint32_t)mcc_app_get (data + LAYERS_ROUND_TIME, 3),
    .round_interval = mcc_app_get (data + LAYERS_ROUND_INTERVAL, 2) * MCC_MSECOND,
    .feedback_interval = mcc_app_get (data + LAYERS_FEEDBACK, 2) * MCC_MSECOND,
    .set = (uint16_t)mcc_app_get (data + LAYERS_SET, 2),
    .count = data[LAYERS_COUNT],
  };
  if (out->count > (size - LAYERS_ENTRIES) / ENTRY_BYTES)
    return MCC_DROP_MALFORMED;
  if (out->count > MCC_ELM_LAYERS_MAX)
    return MCC_DROP_BAD_VALUE;
  for (unsigned k = 0; k < out->count; k++, entry += ENTRY_BYTES) {
    out->layer[k] = (MccElmLayer){
      .cumulative_bps = mcc_app_get (entry + ENTRY_CUMULATIVE, 6),
      .address_offset = (uint16_t)mcc_app_get (entry + ENTRY_ADDRESS, 2),
      .port_offset = (uint16_t)mcc_app_get (entry + ENTRY_PORT, 2),
      .depends_on = entry[ENTRY_DEPENDS],
      .ssrc = mcc_app_get32 (entry + ENTRY_SSRC),
      .frame_rate = mcc_app_get32 (entry + ENTRY_FRAME_RATE),
    };
  }
  return mcc_elm_layers_valid (out) ? MCC_DROP_NONE : MCC_DROP_BAD_VALUE;
}

static bool
encode_layers (const MccElmLayers *layers, uint8_t *data)
{
  uint8_t *entry = data + LAYERS_ENTRIES;

  if (layers->flags > UINT8_MAX || layers->round_time > 0xffffffu || !mcc_elm_layers_valid (layers))
    return false;
  data[MCC_APP_OFFSET_FLAGS] = (uint8_t)layers->flags;
  data[LAYERS_COUNT] = (uint8_t)layers->count;
  mcc_app_put (data + LAYERS_NUMBER, 4, layers->number);
  mcc_app_put (data + LAYERS_ROUND, 4, layers->round);
  mcc_app_put (data + LAYERS_ROUND_INTERVAL, 2, layers->round_interval / MCC_MSECOND);
  mcc_app_put (data + LAYERS_SET, 2, layers->set);
  mcc_app_put (data + LAYERS_FEEDBACK, 2, layers->feedback_interval / MCC_MSECOND);
  mcc_app_put (data + LAYERS_ROUND_TIME, 3, layers->round_time);
  for (unsigned k = 0; k < layers->count; k++, entry += ENTRY_BYTES) {
    const MccElmLayer *layer = &layers->layer[k];
    mcc_app_put (entry + ENTRY_CUMULATIVE, 6, layer->cumulative_bps);
    mcc_app_put (entry + ENTRY_ADDRESS, 2, layer->address_offset);
    mcc_app_put (entry + ENTRY_PORT, 2, layer->port_offset);
    entry[ENTRY_DEPENDS] = layer->depends_on;
    mcc_app_put (entry + ENTRY_SSRC, 4, layer->ssrc);
    mcc_app_put (entry + ENTRY_FRAME_RATE, 4, layer->frame_rate);
  }
  return true;
}

MccDrop
mcc_elm_app_decode (const uint8_t *data, size_t size, MccElmApp *out)
{
  MccElmApp app;
  MccDrop drop = mcc_app_check_header (data, size, MCC_ELM_NAME);

  if (drop != MCC_DROP_NONE)
    return drop;
  memset (&app, 0, sizeof app);
  app.ssrc = mcc_app_get32 (data + 4);
  app.subtype = data[0] & 0x1fu;
  if (app.subtype == MCC_ELM_LAYERS)
    drop = decode_layers (data, size, &app.layers);
  else
    drop = mcc_app_decode_body (data, size, &app.asmp);
  if (drop == MCC_DROP_NONE && app.subtype == MCC_APP_REPORT) {
    app.level = data[REPORT_LEVELS] >> 4;
    app.wanted = data[REPORT_LEVELS] & 0x0fu;
    app.flags = data[REPORT_FLAGS];
    app.asmp.report.more_flags = 0; /* where ELM's are */
    app.asmp.report.level = (uint8_t)app.level;
    if (app.level >= MCC_ELM_LAYERS_MAX || app.wanted >= MCC_ELM_LAYERS_MAX)
      drop = MCC_DROP_BAD_VALUE;
  }
  if (drop == MCC_DROP_NONE)
    *out = app;
  return drop;
}

size_t
mcc_elm_app_size (const MccElmApp *app)
{
  if (app->subtype == MCC_ELM_LAYERS)
    return app->layers.count <= MCC_ELM_LAYERS_MAX
               ? LAYERS_ENTRIES + app->layers.count * ENTRY_BYTES
               : 0;
  return app->asmp.subtype == app->subtype ? mcc_app_size (&app->asmp) : 0;
}

size_t
mcc_elm_app_encode (const MccElmApp *app, uint8_t *data, size_t size)
{
  size_t bytes = mcc_elm_app_size (app);

  if (bytes == 0 || bytes > size)
    return 0;
  memset (data, 0, bytes);
  mcc_app_put_header (data, bytes, app->subtype, app->ssrc, MCC_ELM_NAME);
  if (app->subtype == MCC_ELM_LAYERS)
    return encode_layers (&app->layers, data) ? bytes : 0;
  if (!mcc_app_encode_body (&app->asmp, data))
    return 0;
  if (app->subtype == MCC_APP_REPORT) {
    if (app->level >= MCC_ELM_LAYERS_MAX || app->wanted >= MCC_ELM_LAYERS_MAX
        || app->flags > UINT8_MAX)
      return 0;
    data[REPORT_LEVELS] = (uint8_t)(app->level << 4 | app->wanted);
    data[REPORT_FLAGS] = (uint8_t)app->flags;
  }
  return bytes;
}
