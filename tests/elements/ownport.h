/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * ownport: ports, and a group, of this process, for tests that run beside each other.
 */
#pragma once

#include <glib.h>
#include <unistd.h>

/* First of @count ports, @count even. Below 32768: above, the kernel gives ports to any socket that
 * asks for none, and who has one there without SO_REUSEADDR keeps a group's port from being bound.
 */
static inline guint16
own_port (guint count)
{
  return (guint16)(16000 + count * ((guint)getpid () % (16000 / count)));
}

static inline void
own_group (gchar *out, gsize size)
{
  g_snprintf (out, size, "239.255.%d.%d", 64 + getpid () % 128, 1 + getpid () / 128 % 250);
}
