/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Decodes the golden packets of this folder. A .hex file has, besides bytes and # comments:
 *   expect: <drop reason, "none" = accepted>
 *   protocol: assp (or elm)     by ASSP's codec (ELM's); else ASMP's
 *   canonical: no               encoding what was decoded gives other bytes
 *   = <field> <value>           all fields, in the order of dump ()
 */
#include <glib.h>
#include <string.h>

#include "mccasspapp.h"
#include "mccelmapp.h"

typedef struct {
  GByteArray *bytes;
  GString *fields;
  gchar *expect;
  gboolean canonical, assp, elm;
} Vector;

static Vector
read_vector (const gchar *path)
{
  Vector vector
      = { g_byte_array_new (), g_string_new (NULL), g_strdup ("none"), .canonical = TRUE };
  gchar *text, **lines;
  GError *error = NULL;

  g_file_get_contents (path, &text, NULL, &error);
  g_assert_no_error (error);
  lines = g_strsplit (text, "\n", -1);
  for (gchar **line = lines; *line != NULL; line++) {
    if (g_str_has_prefix (*line, "= ")) {
      g_string_append_printf (vector.fields, "%s\n", g_strchomp (*line + 2));
    } else if (g_str_has_prefix (*line, "expect: ")) {
      g_free (vector.expect);
      vector.expect = g_strdup (*line + strlen ("expect: "));
    } else if (g_str_has_prefix (*line, "protocol: ")) {
      vector.assp = g_strcmp0 (*line, "protocol: assp") == 0;
      vector.elm = g_strcmp0 (*line, "protocol: elm") == 0;
      g_assert_true (vector.assp || vector.elm);
    } else if (g_str_has_prefix (*line, "canonical: ")) {
      vector.canonical = g_strcmp0 (*line, "canonical: no") != 0;
    } else {
      gchar *comment = strchr (*line, '#');

      if (comment != NULL)
        *comment = '\0';
      for (gchar *p = g_strstrip (*line); *p != '\0'; p += g_ascii_isspace (*p) ? 1 : 2) {
        if (!g_ascii_isspace (*p)) {
          g_assert_true (g_ascii_isxdigit (p[0]) && g_ascii_isxdigit (p[1]));
          guint8 byte = (guint8)(g_ascii_xdigit_value (p[0]) << 4 | g_ascii_xdigit_value (p[1]));
          g_byte_array_append (vector.bytes, &byte, 1);
        }
      }
    }
  }
  g_strfreev (lines);
  g_free (text);
  return vector;
}

static void
clear_vector (Vector *vector)
{
  g_byte_array_unref (vector->bytes);
  g_string_free (vector->fields, TRUE);
  g_free (vector->expect);
}

static void
dump_report (GString *out, const MccAppReport *report)
{
  gchar loss[G_ASCII_DTOSTR_BUF_SIZE];

  g_string_append_printf (out,
      "number %u\nflags 0x%02x\nrate_bps %" G_GUINT64_FORMAT "\nreceived_bps %" G_GUINT64_FORMAT
      "\nloss_ratio %s\nrtt %" G_GUINT64_FORMAT "\njitter %" G_GUINT64_FORMAT
      "\nqueue_delay %" G_GUINT64_FORMAT
      "\npackets_lost %u\nhighest_seq 0x%08x\necho 0x%06x\nhold %" G_GUINT64_FORMAT "\n",
      report->number, report->flags, report->rate_bps, report->received_bps,
      g_ascii_formatd (loss, sizeof loss, "%.12f", report->loss_ratio), report->rtt, report->jitter,
      report->queue_delay, report->packets_lost, report->highest_seq, report->echo, report->hold);
  if (report->ecn != MCC_REPORT_ECN_NONE || report->marked_share > 0.0)
    g_string_append_printf (out, "ecn %u\nmarked %s\n", report->ecn,
        g_ascii_formatd (loss, sizeof loss, "%.6f", report->marked_share));
  if (report->more_flags != 0)
    g_string_append_printf (out, "more_flags 0x%02x\n", report->more_flags);
}

static void
dump_feedback (GString *out, const MccAddress *address)
{
  if (address->family == 0) {
    g_string_append (out, "feedback none\n");
    return;
  }
  g_string_append_printf (out, "feedback %u ", address->family);
  for (guint i = 0; i < (address->family == 4 ? 4 : 16); i++)
    g_string_append_printf (out, "%02x", address->bytes[i]);
  g_string_append_printf (out, " %u\n", address->port);
}

static void
dump_session (GString *out, const MccAppSession *session)
{
  g_string_append_printf (out,
      "number %u\nflags 0x%02x\nsend_time 0x%06x\ntarget_bps %" G_GUINT64_FORMAT
      "\nmin_bps %" G_GUINT64_FORMAT "\nmax_bps %" G_GUINT64_FORMAT "\nstart_bps %" G_GUINT64_FORMAT
      "\nsession_bandwidth_bps %" G_GUINT64_FORMAT "\n",
      session->number, session->flags, session->send_time, session->target_bps, session->min_bps,
      session->max_bps, session->start_bps, session->session_bandwidth_bps);
  g_string_append_printf (out,
      "receivers %u\nlimiting_ssrc 0x%08x\nrtt_max %" G_GUINT64_FORMAT
      "\nround %u\nsuppress_bps %" G_GUINT64_FORMAT "\nmedia_ssrc 0x%08x\n",
      session->receivers, session->limiting_ssrc, session->rtt_max, session->round,
      session->suppress_bps, session->media_ssrc);
  dump_feedback (out, &session->feedback);
  g_string_append_printf (out, "ttl %u\npayload_type %u\nsend_time_id %u\nclock_rate %u\n",
      session->ttl, session->payload_type, session->send_time_id, session->clock_rate);
  /* An empty string leaves a blank, which the file's line has not. */
  g_string_append_printf (out, "media%s%s\nencoding_name%s%s\nparameters%s%s\n",
      *session->media ? " " : "", session->media, *session->encoding_name ? " " : "",
      session->encoding_name, *session->parameters ? " " : "", session->parameters);
}

static GString *
dump (const MccApp *app)
{
  GString *out = g_string_new (NULL);

  g_string_append_printf (out, "ssrc 0x%08x\nsubtype %u\n", app->ssrc, app->subtype);
  if (app->subtype == MCC_APP_REPORT) {
    dump_report (out, &app->report);
  } else if (app->subtype == MCC_APP_RTT) {
    g_string_append_printf (out, "count %u\n", app->rtt.count);
    for (unsigned i = 0; i < app->rtt.count; i++)
      g_string_append_printf (out, "entry %u 0x%08x %u %" G_GUINT64_FORMAT "\n", i,
          app->rtt.entry[i].ssrc, app->rtt.entry[i].number, app->rtt.entry[i].rtt);
  } else {
    dump_session (out, &app->session);
  }
  return out;
}

static GString *
dump_assp (const MccAsspApp *app)
{
  const MccAsspStreams *streams = &app->streams;
  GString *out;

  if (app->subtype != MCC_ASSP_STREAMS) {
    out = dump (&app->asmp);
    g_string_append_printf (out, "stream %u\n", app->stream);
    if (app->subtype == MCC_APP_REPORT)
      g_string_append_printf (
          out, "potential_bps %" G_GUINT64_FORMAT "\n", app->asmp.report.potential_bps);
    return out;
  }
  out = g_string_new (NULL);
  g_string_append_printf (out,
      "ssrc 0x%08x\nsubtype %u\nnumber %u\nflags 0x%02x\nround %u\nladder %u\ncount %u\n",
      app->ssrc, app->subtype, streams->number, streams->flags, streams->round, streams->ladder,
      streams->count);
  for (unsigned i = 0; i < streams->count; i++) {
    const MccAsspStream *s = &streams->stream[i];
    g_string_append_printf (out,
        "stream %u %" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT
        " %u %u 0x%02x 0x%08x\n",
        i, s->low_bps, s->high_bps, s->average_bps, s->address_offset, s->port_offset, s->flags,
        s->ssrc);
  }
  return out;
}

static GString *
dump_elm (const MccElmApp *app)
{
  const MccElmLayers *layers = &app->layers;
  GString *out;

  if (app->subtype != MCC_ELM_LAYERS) {
    out = dump (&app->asmp);
    if (app->subtype == MCC_APP_REPORT)
      g_string_append_printf (
          out, "level %u\nwanted %u\nlayer_flags 0x%02x\n", app->level, app->wanted, app->flags);
    return out;
  }
  out = g_string_new (NULL);
  g_string_append_printf (out,
      "ssrc 0x%08x\nsubtype %u\nnumber %u\nflags 0x%02x\nround %u\nround_time 0x%06x\n"
      "round_interval %" G_GUINT64_FORMAT "\nfeedback_interval %" G_GUINT64_FORMAT
      "\nset %u\ncount %u\n",
      app->ssrc, app->subtype, layers->number, layers->flags, layers->round, layers->round_time,
      layers->round_interval, layers->feedback_interval, layers->set, layers->count);
  for (unsigned k = 0; k < layers->count; k++) {
    const MccElmLayer *layer = &layers->layer[k];
    g_string_append_printf (out, "layer %u %" G_GUINT64_FORMAT " %u %u 0x%02x 0x%08x %u\n", k,
        layer->cumulative_bps, layer->address_offset, layer->port_offset, layer->depends_on,
        layer->ssrc, layer->frame_rate);
  }
  return out;
}

/* Decodes; then *fields and what encoding gives again. */
static MccDrop
decode (const Vector *vector, const guint8 *data, GString **fields, guint8 *again, gsize *bytes)
{
  MccApp app;
  MccAsspApp assp;
  MccElmApp elm;
  gsize size = vector->bytes->len, most = *bytes;
  MccDrop drop = vector->elm    ? mcc_elm_app_decode (data, size, &elm)
                 : vector->assp ? mcc_assp_app_decode (data, size, &assp)
                                : mcc_app_decode (data, size, &app);
  if (drop != MCC_DROP_NONE)
    return drop;
  if (vector->elm) {
    *fields = dump_elm (&elm);
    *bytes = mcc_elm_app_encode (&elm, again, most);
  } else if (vector->assp) {
    *fields = dump_assp (&assp);
    *bytes = mcc_assp_app_encode (&assp, again, most);
  } else {
    *fields = dump (&app);
    *bytes = mcc_app_encode (&app, again, most);
  }
  return drop;
}

static void
test_vector (gconstpointer data)
{
  Vector vector = read_vector (data);
  guint8 *exact = g_memdup2 (vector.bytes->data, vector.bytes->len);
  guint8 again[2048];
  gsize bytes = sizeof again;
  GString *fields = NULL;
  MccDrop drop = decode (&vector, exact, &fields, again, &bytes);

  g_assert_cmpstr (mcc_drop_name (drop), ==, vector.expect);
  if (drop == MCC_DROP_NONE) {
    g_assert_cmpstr (fields->str, ==, vector.fields->str);
    g_assert_cmpuint (bytes, >, 0);
    if (vector.canonical)
      g_assert_cmpmem (again, bytes, exact, vector.bytes->len);
    else
      g_assert_true (bytes != vector.bytes->len || memcmp (again, exact, bytes) != 0);
    g_string_free (fields, TRUE);
  }
  g_free (exact);
  clear_vector (&vector);
}

int
main (int argc, char **argv)
{
  GDir *dir;
  const gchar *folder, *name;
  GSList *names = NULL, *paths = NULL;
  int result;

  g_test_init (&argc, &argv, NULL);
  folder = g_test_get_dir (G_TEST_DIST);
  dir = g_dir_open (folder, 0, NULL);
  g_assert_nonnull (dir);
  while ((name = g_dir_read_name (dir)) != NULL)
    if (g_str_has_suffix (name, ".hex"))
      names = g_slist_insert_sorted (names, g_strdup (name), (GCompareFunc)strcmp);
  g_dir_close (dir);
  /* A folder that has lost its vectors is not a success. */
  g_assert_cmpuint (g_slist_length (names), >=, 40);
  for (GSList *item = names; item != NULL; item = item->next) {
    gchar *path = g_strdup_printf (
        "/vectors/%.*s", (int)(strlen (item->data) - strlen (".hex")), (const gchar *)item->data);
    gchar *file = g_build_filename (folder, item->data, NULL);

    paths = g_slist_prepend (paths, file);
    g_test_add_data_func (path, file, test_vector);
    g_free (path);
  }
  result = g_test_run ();
  g_slist_free_full (names, g_free);
  g_slist_free_full (paths, g_free);
  return result;
}
