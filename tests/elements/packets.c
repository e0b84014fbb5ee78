/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "packets.h"

void
packets_change (GstPadProbeInfo *info, GstBufferListFunc func)
{
  if (GST_PAD_PROBE_INFO_TYPE (info) & GST_PAD_PROBE_TYPE_BUFFER) {
    GstBuffer *buffer = gst_buffer_make_writable (GST_PAD_PROBE_INFO_BUFFER (info));

    func (&buffer, 0, NULL);
    info->data = buffer;
  } else {
    GstBufferList *list = gst_buffer_list_make_writable (GST_PAD_PROBE_INFO_BUFFER_LIST (info));

    for (guint i = 0; i < gst_buffer_list_length (list); i++) {
      GstBuffer *buffer = gst_buffer_list_get_writable (list, i);

      func (&buffer, i, NULL);
    }
    info->data = list;
  }
}
