/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * asspsource: an ASSP sender on the loopback interface in the hands of a test. A thread sends the
 * streams that are alive, 50 frames a second of three packets (H.264 that no decoder would like;
 * every tenth a key unit), and each 100 ms the descriptions.
 */
#pragma once

#include <gio/gio.h>

#include "mccasspapp.h"

#define ASSP_SOURCE_STREAMS 3

typedef struct {
  /* Set before _start(). */
  const gchar *group; /* RTCP's */
  guint16 port;       /* RTCP's is + 1 */
  const gchar *host;  /* our address; NULL: 127.0.0.1 */
  guint32 ssrc;       /* of stream 0; + 1 each */
  guint32 time_base;
  guint count;
  guint16 address_offset; /* of stream 0; + 1 each */
  guint8 payload_type;    /* of stream 0; + 1 each */
  guint16 feedback_port;  /* announced, at our address; 0: the group */
  gboolean carries; /* after 3 s stream 0 alone announces, also for the others, who ask for more */
  /* Atomic, at any time. */
  gint alive[ASSP_SOURCE_STREAMS];
  gint describes;
  const gchar *encoding_name; /* as announced */
  gint renamed;               /* so much more is stream 0's SSRC */
  gint plis, reports, byes;   /* heard */
  gint report_stream;         /* of the newest report */

  guint16 seq[ASSP_SOURCE_STREAMS];
  guint32 frame, number;
  GSocket *out, *in;
  GThread *thread;
  gint quit;
} AsspSource;

void assp_source_init (AsspSource *self, const gchar *group, guint16 port, guint32 ssrc);
void assp_source_start (AsspSource *self);
/* Without a word, or with BYE. */
void assp_source_stop (AsspSource *self, gboolean bye);
