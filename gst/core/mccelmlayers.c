/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mccelmlayers.h"

#include "mccapp.h"
#include "mccjitter.h"
#include "mccrtcp.h"

static bool
layer_valid (const MccElmLayers *layers, unsigned k)
{
  const MccElmLayer *layer = &layers->layer[k];
  uint64_t below_bps = k > 0 ? layers->layer[k - 1].cumulative_bps : 0;
  bool base = layer->address_offset == 0 && layer->port_offset == 0;
  if (layer->cumulative_bps <= below_bps || layer->cumulative_bps > MCC_APP_RATE_MAX
      || layer->port_offset % 2 != 0 || (k == 0) != base || layer->depends_on >> k != 0)
    return false;
  for (unsigned j = 0; j < k; j++)
    if (layers->layer[j].address_offset == layer->address_offset
        || layers->layer[j].ssrc == layer->ssrc)
      return false;
  return true;
}

static bool
within (MccTime time, MccTime low, MccTime high)
{
  return time >= low && time <= high;
}

bool
mcc_elm_layers_valid (const MccElmLayers *layers)
{
  if (layers->count == 0 || layers->count > MCC_ELM_LAYERS_MAX
      || !within (layers->feedback_interval, MCC_ELM_FEEDBACK_MIN, MCC_ELM_FEEDBACK_MAX)
      || !within (layers->round_interval, MCC_ELM_ROUND_MIN, MCC_ELM_ROUND_MAX))
    return false;
  for (unsigned k = 0; k < layers->count; k++)
    if (!layer_valid (layers, k))
      return false;
  return true;
}

bool
mcc_elm_layer_same (const MccElmLayer *a, const MccElmLayer *b)
{
  return a->ssrc == b->ssrc && a->address_offset == b->address_offset
         && a->port_offset == b->port_offset && a->depends_on == b->depends_on;
}

bool
mcc_elm_layers_agree (const MccElmLayers *a, const MccElmLayers *b)
{
  for (unsigned k = 0; k < a->count && k < b->count; k++)
    if (!mcc_elm_layer_same (&a->layer[k], &b->layer[k]))
      return false;
  return true;
}

bool
mcc_elm_layers_same (const MccElmLayers *a, const MccElmLayers *b)
{
  return a->count == b->count && a->set == b->set && mcc_elm_layers_agree (a, b);
}

uint64_t
mcc_elm_layers_added_bps (const MccElmLayers *layers, unsigned k)
{
  return layers->layer[k].cumulative_bps - (k > 0 ? layers->layer[k - 1].cumulative_bps : 0);
}

bool
mcc_elm_layers_have (const MccElmLayers *layers, uint32_t ssrc)
{
  for (unsigned k = 0; k < layers->count; k++)
    if (layers->layer[k].ssrc == ssrc)
      return true;
  return false;
}

unsigned
mcc_elm_layers_place (const MccElmLayers *layers, double bps)
{
  unsigned level = 0;
  while (level + 1 < layers->count && bps >= (double)layers->layer[level + 1].cumulative_bps)
    level++;
  return level;
}

uint64_t
mcc_elm_layers_session_bps (const MccElmLayers *layers)
{
  uint64_t base_bps = layers->layer[0].cumulative_bps;
  return base_bps > MCC_RTCP_FLOOR_SESSION_BPS ? base_bps : MCC_RTCP_FLOOR_SESSION_BPS;
}

uint32_t
mcc_elm_layers_round (const MccElmLayers *layers, uint32_t send_time)
{
  MccTimeDelta since = mcc_abs_send_time_diff (
      send_time & MCC_ABS_SEND_TIME_MASK, layers->round_time & MCC_ABS_SEND_TIME_MASK);
  MccTimeDelta length = (MccTimeDelta)layers->round_interval;
  MccTimeDelta rounds = since >= 0 ? since / length : -((length - 1 - since) / length);
  return layers->round + (uint32_t)rounds;
}
