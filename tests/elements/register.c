/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "register.h"

#include "gstasmpsink.h"
#include "gstasmpsrc.h"
#include "gstasspsimulcastbin.h"
#include "gstasspsimulcastsrc.h"
#include "gstelmlayersink.h"
#include "gstelmlayersrc.h"

void
register_elements (void)
{
  GST_ELEMENT_REGISTER (asmpsink, NULL);
  GST_ELEMENT_REGISTER (asmpsrc, NULL);
  GST_ELEMENT_REGISTER (asspsimulcastbin, NULL);
  GST_ELEMENT_REGISTER (asspsimulcastsrc, NULL);
  GST_ELEMENT_REGISTER (elmlayersink, NULL);
  GST_ELEMENT_REGISTER (elmlayersrc, NULL);
}
