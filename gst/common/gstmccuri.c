/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstmccuri.h"

#include "gstmcccaps.h"
#include "gstmccsockets.h"

/* What _get() writes: the way to the group, not how the element behaves. */
static const gchar *const network_properties[] = { "multicast-iface", "ttl", "ttl-mc", "loop",
  "qos-dscp", "feedback-address", "feedback-port" };

/* Plain values that a stranger's URI must not set all the same. */
static const gchar *const refused_properties[] = { "uri", "sdp-location", "encoder-description" };

typedef struct {
  GParamSpec *pspec;
  GValue value;
} Setting;

/* Data of an element: what the last URI set (GArray of Setting); set while that is taken back. */
#define LAST "gst-mcc-uri-last"
#define TAKES_BACK "gst-mcc-uri-takes-back"

static void
setting_clear (gpointer data)
{
  g_value_unset (&((Setting *)data)->value);
}

static gboolean
is_settable (GstElement *element, GParamSpec *pspec)
{
  GType type = G_PARAM_SPEC_VALUE_TYPE (pspec);

  if (!(pspec->flags & G_PARAM_WRITABLE) || pspec->owner_type != G_OBJECT_TYPE (element))
    return FALSE;
  for (guint i = 0; i < G_N_ELEMENTS (refused_properties); i++)
    if (g_str_equal (pspec->name, refused_properties[i]))
      return FALSE;
  return type == G_TYPE_BOOLEAN || type == G_TYPE_INT || type == G_TYPE_UINT || type == G_TYPE_INT64
         || type == G_TYPE_UINT64 || type == G_TYPE_FLOAT || type == G_TYPE_DOUBLE
         || type == G_TYPE_STRING || G_TYPE_IS_ENUM (type) || type == GST_TYPE_CAPS;
}

static gboolean
is_unsigned (GType type)
{
  return type == G_TYPE_UINT || type == G_TYPE_UINT64; /* these take -1 for their greatest value */
}

/* Of others nothing is received, and GStreamer's parser asserts on some that are no caps (1.22: a
 * name with a digit first and features). */
static gboolean
is_rtp_caps (const gchar *text)
{
  const gsize length = strlen ("application/x-rtp");

  return g_str_has_prefix (text, "application/x-rtp") && strchr (",", text[length])
         && !strchr (text, ';');
}

/* What @pspec takes, for an error about what it does not; to be freed. */
static gchar *
describe_values (GParamSpec *pspec)
{
  GString *out;

  if (G_IS_PARAM_SPEC_BOOLEAN (pspec))
    return g_strdup ("it takes true or false");
  if (is_unsigned (G_PARAM_SPEC_VALUE_TYPE (pspec)))
    return g_strdup ("it takes a whole number, 0 or more");
  if (!G_IS_PARAM_SPEC_ENUM (pspec))
    return g_strdup ("gst-inspect-1.0 tells what it takes");
  out = g_string_new ("it takes ");
  for (guint i = 0; i < G_PARAM_SPEC_ENUM (pspec)->enum_class->n_values; i++)
    g_string_append_printf (
        out, "%s%s", i ? ", " : "", G_PARAM_SPEC_ENUM (pspec)->enum_class->values[i].value_nick);
  return g_string_free (out, FALSE);
}

/* The first field of caps that a stranger must not set; NULL: none. */
static const gchar *
find_harmful (const GValue *value)
{
  const GstCaps *caps = gst_value_get_caps (value);
  const GstStructure *s
      = caps && gst_caps_get_size (caps) > 0 ? gst_caps_get_structure (caps, 0) : NULL;

  for (gint i = 0; s && i < gst_structure_n_fields (s); i++)
    if (!gst_mcc_caps_is_harmless (gst_structure_nth_field_name (s, (guint)i)))
      return gst_structure_nth_field_name (s, (guint)i);
  return NULL;
}

static gboolean
add_setting (
    GstElement *element, GArray *settings, const gchar *name, const gchar *text, GError **error)
{
  GParamSpec *pspec = g_object_class_find_property (G_OBJECT_GET_CLASS (element), name);
  Setting setting = { pspec, G_VALUE_INIT };
  const gchar *harmful;
  gchar *shown, *allowed;

  if (!pspec || !is_settable (element, pspec)) {
    g_set_error (error, GST_URI_ERROR, GST_URI_ERROR_BAD_URI,
        "%s cannot be set by a URI; gst-inspect-1.0 lists the properties", name);
    return FALSE;
  }
  g_value_init (&setting.value, G_PARAM_SPEC_VALUE_TYPE (pspec));
  if (G_PARAM_SPEC_VALUE_TYPE (pspec) == G_TYPE_STRING) {
    /* as it is: gst_value_deserialize() would unescape it */
    if (!g_utf8_validate (text, -1, NULL))
      goto bad_value;
    g_value_set_string (&setting.value, *text ? text : NULL);
  } else if ((is_unsigned (G_PARAM_SPEC_VALUE_TYPE (pspec)) && strchr (text, '-'))
             || (G_PARAM_SPEC_VALUE_TYPE (pspec) == GST_TYPE_CAPS && !is_rtp_caps (text))
             || !gst_value_deserialize (&setting.value, text)) {
    goto bad_value;
  }
  if (g_param_value_validate (pspec, &setting.value)) /* TRUE: it had to be changed */
    goto bad_value;
  harmful = GST_VALUE_HOLDS_CAPS (&setting.value) ? find_harmful (&setting.value) : NULL;
  if (harmful) {
    g_set_error (error, GST_URI_ERROR, GST_URI_ERROR_BAD_URI,
        "%s: %s cannot be set by a URI; leave it out, or set the property", name, harmful);
    g_value_unset (&setting.value);
    return FALSE;
  }
  g_array_append_val (settings, setting);
  return TRUE;

bad_value:
  shown = g_utf8_make_valid (text, -1); /* what an error says is UTF-8 */
  allowed = describe_values (pspec);
  g_set_error (error, GST_URI_ERROR, GST_URI_ERROR_BAD_URI, "%s: '%s' is not a valid value; %s",
      name, shown, allowed);
  g_free (allowed);
  g_free (shown);
  g_value_unset (&setting.value);
  return FALSE;
}

/* What stands before the '?' has its checks there, and is said once. */
static gboolean
is_authority (const gchar *name)
{
  static const gchar *const names[] = { "address", "port", "source-address", NULL };

  return g_strv_contains (names, name);
}

/* "a=b&c=d": ours to parse, because GstUri would let the last of two equal keys win silently. */
static gboolean
add_query (GstElement *element, GArray *settings, const gchar *query, GError **error)
{
  gchar **pairs = g_strsplit_set (query, "&;", -1);
  gboolean good = TRUE;

  for (gchar **pair = pairs; good && *pair; pair++) {
    gchar *equal = strchr (*pair, '=');
    gchar *value;

    if (!**pair)
      continue;
    if (!equal) {
      g_set_error (error, GST_URI_ERROR, GST_URI_ERROR_BAD_URI, "'%s' has no value; write %s=VALUE",
          *pair, *pair);
      good = FALSE;
      break;
    }
    *equal = '\0';
    if (is_authority (*pair)) {
      g_set_error (error, GST_URI_ERROR, GST_URI_ERROR_BAD_URI,
          "%s has its place before the '?': scheme://[source@]group:port", *pair);
      good = FALSE;
      break;
    }
    value = g_uri_unescape_string (equal + 1, NULL);
    if (value) {
      good = add_setting (element, settings, *pair, value, error);
    } else {
      g_set_error (
          error, GST_URI_ERROR, GST_URI_ERROR_BAD_URI, "%s: bad %% sequence in the value", *pair);
      good = FALSE;
    }
    g_free (value);
  }
  g_strfreev (pairs);
  return good;
}

static gboolean
is_address (const gchar *text)
{
  MccAddress address;

  return gst_mcc_address_parse (text, 0, &address);
}

/* @text may be in brackets, as an IPv6 host is. */
static gboolean
add_source (GstElement *element, GArray *settings, const gchar *text, GError **error)
{
  gsize length = text ? strlen (text) : 0;
  gboolean bracketed = length > 2 && text[0] == '[' && text[length - 1] == ']', good;
  gchar *source;

  if (length == 0)
    return TRUE;
  source = bracketed ? g_strndup (text + 1, length - 2) : g_strdup (text);
  good = is_address (source);
  if (good)
    good = add_setting (element, settings, "source-address", source, error);
  else
    g_set_error (error, GST_URI_ERROR, GST_URI_ERROR_BAD_URI,
        "'%s@': the source of a source-specific group is an IP address", text);
  g_free (source);
  return good;
}

static gboolean
add_host (GstElement *element, GArray *settings, GUri *parsed, GError **error)
{
  const gchar *host = g_uri_get_host (parsed);
  gint port = g_uri_get_port (parsed);

  if (!host || !*host) {
    g_set_error (error, GST_URI_ERROR, GST_URI_ERROR_BAD_URI,
        "a group address is missing: scheme://[source@]group:port");
    return FALSE;
  }
  if (!is_address (host)) { /* it could not be read back, and would fail later */
    g_set_error (error, GST_URI_ERROR, GST_URI_ERROR_BAD_URI,
        "'%s' is no IP address; a group has one, such as 239.255.12.42", host);
    return FALSE;
  }
  if (!add_setting (element, settings, "address", host, error))
    return FALSE;
  if (port == 0 || (port > 0 && port % 2 != 0)) {
    g_set_error (error, GST_URI_ERROR, GST_URI_ERROR_BAD_URI,
        "port %d: RTP needs an even port (RTCP takes the next one)", port);
    return FALSE;
  }
  if (port > 0) {
    gchar *text = g_strdup_printf ("%d", port);
    gboolean good = add_setting (element, settings, "port", text, error);

    g_free (text);
    if (!good)
      return FALSE;
  }
  return add_source (element, settings, g_uri_get_userinfo (parsed), error);
}

/* ---- what an earlier URI set ---- */

static gboolean
is_named (const GArray *settings, const GParamSpec *pspec)
{
  for (guint i = 0; i < settings->len; i++)
    if (g_array_index (settings, Setting, i).pspec == pspec)
      return TRUE;
  return FALSE;
}

/* FALSE: the application has set something else meanwhile. */
static gboolean
still_holds (GstElement *element, const Setting *setting)
{
  GValue value = G_VALUE_INIT;
  gboolean same;

  if (!(setting->pspec->flags & G_PARAM_READABLE))
    return TRUE;
  g_value_init (&value, G_PARAM_SPEC_VALUE_TYPE (setting->pspec));
  g_object_get_property (G_OBJECT (element), setting->pspec->name, &value);
  same = gst_value_compare (&value, &setting->value) == GST_VALUE_EQUAL;
  g_value_unset (&value);
  return same;
}

static void
set_default (GstElement *element, GParamSpec *pspec)
{
  GValue value = G_VALUE_INIT;

  g_value_init (&value, G_PARAM_SPEC_VALUE_TYPE (pspec));
  g_param_value_set_default (pspec, &value);
  g_object_set_data (G_OBJECT (element), TAKES_BACK, element);
  g_object_set_property (G_OBJECT (element), pspec->name, &value);
  g_object_set_data (G_OBJECT (element), TAKES_BACK, NULL);
  g_value_unset (&value);
}

gboolean
gst_mcc_uri_takes_back (GstElement *element)
{
  return g_object_get_data (G_OBJECT (element), TAKES_BACK) != NULL;
}

/* A URI is a place: what it leaves out of that is the default, whoever set it. Of the rest only
 * what an earlier one set. */
static void
take_back (GstElement *element, const GArray *settings)
{
  static const gchar *const place[] = { "port", "source-address" };
  const GArray *last = g_object_get_data (G_OBJECT (element), LAST);

  for (guint i = 0; last && i < last->len; i++) {
    const Setting *setting = &g_array_index (last, Setting, i);

    if (!is_named (settings, setting->pspec) && still_holds (element, setting))
      set_default (element, setting->pspec);
  }
  for (guint i = 0; i < G_N_ELEMENTS (place); i++) {
    GParamSpec *pspec = g_object_class_find_property (G_OBJECT_GET_CLASS (element), place[i]);

    if (!is_named (settings, pspec))
      set_default (element, pspec);
  }
}

static void
apply (GstElement *element, GArray *settings)
{
  take_back (element, settings);
  for (guint i = 0; i < settings->len; i++) {
    Setting *setting = &g_array_index (settings, Setting, i);

    g_object_set_property (G_OBJECT (element), setting->pspec->name, &setting->value);
  }
  g_object_set_data_full (
      G_OBJECT (element), LAST, g_array_ref (settings), (GDestroyNotify)g_array_unref);
}

gboolean
gst_mcc_uri_set (GstElement *element, const gchar *scheme, const gchar *uri, GError **error)
{
  GArray *settings;
  GUri *parsed;
  GError *why = NULL;
  const gchar *query, *path;
  gboolean good;

  if (uri && strstr (uri, "srtp-key=")) { /* before any message quotes it */
    g_set_error (error, GST_URI_ERROR, GST_URI_ERROR_BAD_URI,
        "srtp-key: a URI is shown to many; put the keys into a file and name it by srtp-key-file");
    return FALSE;
  }
  if (uri && !g_utf8_validate (uri, -1, NULL)) { /* so are errors, which quote it */
    g_set_error (error, GST_URI_ERROR, GST_URI_ERROR_BAD_URI,
        "the URI is not UTF-8; write such bytes as %%XX");
    return FALSE;
  }
  if (GST_STATE (element) > GST_STATE_NULL) {
    g_set_error (error, GST_URI_ERROR, GST_URI_ERROR_BAD_STATE,
        "the URI can be set only while the element is in NULL");
    return FALSE;
  }
  parsed = uri ? g_uri_parse (uri, G_URI_FLAGS_ENCODED_QUERY, &why) : NULL;
  if (!parsed || g_ascii_strcasecmp (g_uri_get_scheme (parsed), scheme) != 0) {
    g_set_error (error, GST_URI_ERROR, GST_URI_ERROR_BAD_URI, "'%s' is no %s:// URI%s%s",
        uri ? uri : "", scheme, why ? ": " : "", why ? why->message : "");
    g_clear_error (&why);
    g_clear_pointer (&parsed, g_uri_unref);
    return FALSE;
  }
  settings = g_array_new (FALSE, FALSE, sizeof (Setting));
  g_array_set_clear_func (settings, setting_clear);
  path = g_uri_get_path (parsed);
  query = g_uri_get_query (parsed);
  good = add_host (element, settings, parsed, error);
  if (good && path && *path && !g_str_equal (path, "/")) {
    g_set_error (error, GST_URI_ERROR, GST_URI_ERROR_BAD_URI,
        "'%s': a path has no meaning; leave it out", path);
    good = FALSE;
  }
  if (good && query)
    good = add_query (element, settings, query, error);
  if (good)
    apply (element, settings);
  g_array_unref (settings);
  g_uri_unref (parsed);
  return good;
}

static void
append_property (GString *out, GstElement *element, const gchar *name)
{
  GParamSpec *pspec = g_object_class_find_property (G_OBJECT_GET_CLASS (element), name);
  GValue value = G_VALUE_INIT;
  gchar *text, *escaped;

  if (!pspec || !(pspec->flags & G_PARAM_READABLE))
    return;
  g_value_init (&value, G_PARAM_SPEC_VALUE_TYPE (pspec));
  g_object_get_property (G_OBJECT (element), name, &value);
  if (!g_param_value_defaults (pspec, &value)) {
    text = G_VALUE_HOLDS_STRING (&value) ? g_value_dup_string (&value)
                                         : gst_value_serialize (&value);
    if (text) {
      escaped = g_uri_escape_string (text, ":", FALSE);
      g_string_append_printf (out, "%c%s=%s", strchr (out->str, '?') ? '&' : '?', name, escaped);
      g_free (escaped);
    }
    g_free (text);
  }
  g_value_unset (&value);
}

gchar *
gst_mcc_uri_get (GstElement *element, const gchar *scheme)
{
  gchar *address = NULL, *source = NULL;
  GString *out;
  gint port = 0;

  g_object_get (element, "address", &address, "port", &port, "source-address", &source, NULL);
  if (!address) {
    g_free (source);
    return NULL;
  }
  out = g_string_new (scheme);
  g_string_append (out, "://");
  if (source && *source)
    g_string_append_printf (out, "%s@", source);
  g_string_append_printf (out, strchr (address, ':') ? "[%s]:%d" : "%s:%d", address, port);
  for (guint i = 0; i < G_N_ELEMENTS (network_properties); i++)
    append_property (out, element, network_properties[i]);
  g_free (address);
  g_free (source);
  return g_string_free (out, FALSE);
}

/* ---- GstURIHandler ---- */

/* For the life of the process, as the type. */
typedef struct {
  GstURIType kind;
  const gchar *schemes[2];
} Handled;

static const Handled *
handled (GType type)
{
  GQuark quark = g_quark_from_static_string ("gst-mcc-uri");

  while (!g_type_get_qdata (type, quark)) /* an application's subclass */
    type = g_type_parent (type);
  return g_type_get_qdata (type, quark);
}

static GstURIType
handler_get_type (GType type)
{
  return handled (type)->kind;
}

static const gchar *const *
handler_get_protocols (GType type)
{
  return handled (type)->schemes;
}

static gchar *
handler_get_uri (GstURIHandler *handler)
{
  return gst_mcc_uri_get (GST_ELEMENT (handler), handled (G_OBJECT_TYPE (handler))->schemes[0]);
}

static gboolean
handler_set_uri (GstURIHandler *handler, const gchar *uri, GError **error)
{
  return gst_mcc_uri_set (
      GST_ELEMENT (handler), handled (G_OBJECT_TYPE (handler))->schemes[0], uri, error);
}

static void
handler_init (gpointer iface, gpointer data)
{
  GstURIHandlerInterface *handler = iface;

  handler->get_type = handler_get_type;
  handler->get_protocols = handler_get_protocols;
  handler->get_uri = handler_get_uri;
  handler->set_uri = handler_set_uri;
}

void
gst_mcc_uri_implement (GType type, GstURIType kind, const gchar *scheme)
{
  static const GInterfaceInfo info = { .interface_init = handler_init };
  Handled *data = g_new0 (Handled, 1);

  data->kind = kind;
  data->schemes[0] = scheme;
  g_type_set_qdata (type, g_quark_from_static_string ("gst-mcc-uri"), data);
  g_type_add_interface_static (type, GST_TYPE_URI_HANDLER, &info);
}
