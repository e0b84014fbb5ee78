/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * claim: a stranger who has somebody's SSRC, by chance or not.
 */
#pragma once

#include <gio/gio.h>

/* One RTCP compound of @ssrc to @group, over lo. */
void claim_ssrc (const gchar *group, guint16 rtcp_port, guint32 ssrc);
