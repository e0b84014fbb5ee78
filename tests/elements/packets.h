/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * packets: what a probe may change.
 */
#pragma once

#include <gst/gst.h>

/* @func for the buffer of @info, or for each of its list; they are writable then. */
void packets_change (GstPadProbeInfo *info, GstBufferListFunc func);
