/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * adaptivemulticast: registers every element.
 */
#include <gst/gst.h>

#include "gstasmpsink.h"
#include "gstasmpsrc.h"
#include "gstasspsimulcastbin.h"
#include "gstasspsimulcastsrc.h"
#include "gstelmlayersink.h"
#include "gstelmlayersrc.h"

static gboolean
plugin_init (GstPlugin *plugin)
{
  gboolean good = TRUE;

  good &= GST_ELEMENT_REGISTER (asmpsink, plugin);
  good &= GST_ELEMENT_REGISTER (asmpsrc, plugin);
  good &= GST_ELEMENT_REGISTER (asspsimulcastbin, plugin);
  good &= GST_ELEMENT_REGISTER (asspsimulcastsrc, plugin);
  good &= GST_ELEMENT_REGISTER (elmlayersink, plugin);
  good &= GST_ELEMENT_REGISTER (elmlayersrc, plugin);
  return good;
}

GST_PLUGIN_DEFINE (GST_VERSION_MAJOR, GST_VERSION_MINOR, adaptivemulticast,
    "TCP-friendly adaptive RTP streaming to multicast groups", plugin_init, PACKAGE_VERSION, "LGPL",
    PACKAGE_NAME, "Unknown package origin")
