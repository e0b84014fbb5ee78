/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstmccproperties.h"

#include "gstmccuri.h"

#define DEFAULT_ADDRESS "239.255.12.42"
#define DEFAULT_PORT 5004
#define DEFAULT_TTL 64
#define DEFAULT_LATENCY_MS 300
#define STATS_INTERVAL_MIN_MS 100 /* no more messages than that come through (gstmccstats.h) */

/* The sockets are made from NULL to READY: no mutability flag, a later value waits for NULL. */
#define NETWORK (G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS)

GType
gst_mcc_variant_get_type (void)
{
  static gsize type = 0;
  static const GEnumValue values[] = {
    { MCC_VARIANT_PUBLISHED, "Exactly the papers' equations", "published" },
    { MCC_VARIANT_ENHANCED, "What measurements show to be better", "enhanced" },
    { 0, NULL, NULL },
  };

  if (g_once_init_enter (&type))
    g_once_init_leave (&type, g_enum_register_static ("GstMccVariant", values));
  return type;
}

GType
gst_mcc_srtp_cipher_get_type (void)
{
  static gsize type = 0;
  static const GEnumValue values[] = {
    { GST_MCC_SRTP_AES_128_ICM, "AES-128, counter mode", "aes-128-icm" },
    { GST_MCC_SRTP_AES_256_ICM, "AES-256, counter mode", "aes-256-icm" },
    { 0, NULL, NULL },
  };

  if (g_once_init_enter (&type))
    g_once_init_leave (&type, g_enum_register_static ("GstMccSrtpCipher", values));
  return type;
}

GType
gst_mcc_srtp_auth_get_type (void)
{
  static gsize type = 0;
  static const GEnumValue values[] = {
    { GST_MCC_SRTP_HMAC_SHA1_80, "HMAC-SHA1, 80 bits", "hmac-sha1-80" },
    { GST_MCC_SRTP_HMAC_SHA1_32, "HMAC-SHA1, 32 bits in RTP, 80 in RTCP", "hmac-sha1-32" },
    { 0, NULL, NULL },
  };

  if (g_once_init_enter (&type))
    g_once_init_leave (&type, g_enum_register_static ("GstMccSrtpAuth", values));
  return type;
}

static void
install_string (
    GObjectClass *klass, guint id, const gchar *name, const gchar *blurb, const gchar *preset)
{
  g_object_class_install_property (
      klass, id, g_param_spec_string (name, name, blurb, preset, NETWORK));
}

static void
install_int (GObjectClass *klass, guint id, const gchar *name, const gchar *blurb, gint preset)
{
  /* the whole range: a value that is out of bounds shall fail the state change, with a reason */
  g_object_class_install_property (
      klass, id, g_param_spec_int (name, name, blurb, G_MININT, G_MAXINT, preset, NETWORK));
}

static void
install_addresses (GObjectClass *klass, const gchar *scheme)
{
  gchar *blurb = g_strdup_printf (
      "%s://[source@]host:port?property=value&..., sets the other properties", scheme);

  install_string (klass, GST_MCC_PROPERTY_ADDRESS, "address",
      "Multicast group (IPv4 or IPv6); of one stream or layer a unicast address works too",
      DEFAULT_ADDRESS);
  install_int (klass, GST_MCC_PROPERTY_PORT, "port",
      "UDP port of RTP, even, 2-65534; RTCP is port + 1", DEFAULT_PORT);
  install_string (klass, GST_MCC_PROPERTY_URI, "uri", g_intern_string (blurb), NULL);
  g_free (blurb);
  install_string (klass, GST_MCC_PROPERTY_MULTICAST_IFACE, "multicast-iface",
      "Network interface for multicast, by name, e.g. eth0 (unset: by the routes)", NULL);
  install_string (klass, GST_MCC_PROPERTY_SOURCE_ADDRESS, "source-address",
      "Sender of a source-specific group (unset: any source); on a sender its own address", NULL);
  install_string (klass, GST_MCC_PROPERTY_FEEDBACK_ADDRESS, "feedback-address",
      "Unicast address that reports go to instead of to the group; on a sender where it listens "
      "(announced to receivers). With source-address it defaults to that",
      NULL);
  install_int (klass, GST_MCC_PROPERTY_FEEDBACK_PORT, "feedback-port",
      "UDP port of feedback-address (0: port + 1)", 0);
}

static void
install_srtp (GObjectClass *klass)
{
  g_object_class_install_property (klass, GST_MCC_PROPERTY_SRTP_KEY,
      g_param_spec_string ("srtp-key", "srtp-key",
          "SRTP keys of the group, one a line: [MKI] BASE64 of master key and salt; the sender "
          "uses "
          "the last (unset: from srtp-key-file, else plain RTP)",
          NULL, G_PARAM_WRITABLE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING));
  g_object_class_install_property (klass, GST_MCC_PROPERTY_SRTP_KEY_FILE,
      g_param_spec_string ("srtp-key-file", "srtp-key-file",
          "File with the SRTP keys of the group, as srtp-key has them; set it again when they have "
          "changed",
          NULL, NETWORK | GST_PARAM_MUTABLE_PLAYING));
  g_object_class_install_property (klass, GST_MCC_PROPERTY_SRTP_CIPHER,
      g_param_spec_enum ("srtp-cipher", "srtp-cipher", "Cipher of SRTP and SRTCP",
          GST_TYPE_MCC_SRTP_CIPHER, GST_MCC_SRTP_AES_128_ICM, NETWORK));
  g_object_class_install_property (klass, GST_MCC_PROPERTY_SRTP_AUTH,
      g_param_spec_enum ("srtp-auth", "srtp-auth", "Authentication of SRTP", GST_TYPE_MCC_SRTP_AUTH,
          GST_MCC_SRTP_HMAC_SHA1_80, NETWORK));
  gst_type_mark_as_plugin_api (GST_TYPE_MCC_SRTP_CIPHER, 0);
  gst_type_mark_as_plugin_api (GST_TYPE_MCC_SRTP_AUTH, 0);
}

void
gst_mcc_properties_install (
    GObjectClass *klass, const gchar *scheme, const gchar *session_bandwidth)
{
  install_addresses (klass, scheme);
  install_srtp (klass);
  install_int (klass, GST_MCC_PROPERTY_TTL, "ttl", "TTL of unicast packets, 0-255 (0 is sent as 1)",
      DEFAULT_TTL);
  install_int (klass, GST_MCC_PROPERTY_TTL_MC, "ttl-mc",
      "TTL of multicast packets, 0-255; receivers adopt the sender's for their reports",
      DEFAULT_TTL);
  g_object_class_install_property (klass, GST_MCC_PROPERTY_LOOP,
      g_param_spec_boolean (
          "loop", "loop", "Let other programs on this host hear our multicast", TRUE, NETWORK));
  install_int (klass, GST_MCC_PROPERTY_QOS_DSCP, "qos-dscp",
      "DSCP of all packets sent, 0-63 (-1: leave it to the system)", -1);
  g_object_class_install_property (klass, GST_MCC_PROPERTY_VARIANT,
      g_param_spec_enum ("variant", "variant", "Which form of the protocol runs",
          GST_TYPE_MCC_VARIANT, MCC_VARIANT_ENHANCED, NETWORK | GST_PARAM_MUTABLE_READY));
  g_object_class_install_property (klass, GST_MCC_PROPERTY_SESSION_BANDWIDTH,
      g_param_spec_uint64 (
          "session-bandwidth", "session-bandwidth", session_bandwidth, 0, G_MAXUINT64, 0, NETWORK));
  install_string (klass, GST_MCC_PROPERTY_CNAME, "cname",
      "Canonical name in RTCP (unset: a random one, RFC 7022)", NULL);
  g_object_class_install_property (klass, GST_MCC_PROPERTY_SEED,
      g_param_spec_uint64 ("seed", "seed",
          "Seed of all randomness of the protocol (0: from the operating system)", 0, G_MAXUINT64,
          0, NETWORK | GST_PARAM_MUTABLE_READY));
  g_object_class_install_property (klass, GST_MCC_PROPERTY_STATS_INTERVAL,
      g_param_spec_uint ("stats-interval", "stats-interval",
          "Milliseconds between two adaptive-multicast-stats messages; less than 100 counts as 100 "
          "(0: none)",
          0, G_MAXUINT, 0, NETWORK | GST_PARAM_MUTABLE_PLAYING));
}

void
gst_mcc_properties_init (GstMccProperties *self, const gchar *scheme)
{
  memset (self, 0, sizeof *self);
  g_mutex_init (&self->lock);
  self->scheme = scheme;
  self->variant = MCC_VARIANT_ENHANCED;
  self->settings.address = g_strdup (DEFAULT_ADDRESS);
  self->settings.port = DEFAULT_PORT;
  self->settings.ttl = self->settings.ttl_mc = DEFAULT_TTL;
  self->settings.loop = TRUE;
  self->settings.qos_dscp = -1;
  self->settings.latency_ms = DEFAULT_LATENCY_MS;
}

void
gst_mcc_properties_settings_clear (GstMccSessionSettings *settings)
{
  g_free (settings->bad_uri);
  g_free (settings->address);
  g_free (settings->multicast_iface);
  g_free (settings->source_address);
  g_free (settings->feedback_address);
  g_free (settings->cname);
  if (settings->srtp_key)
    memset (settings->srtp_key, 0, strlen (settings->srtp_key));
  g_free (settings->srtp_key);
  g_free (settings->srtp_key_file);
  memset (settings, 0, sizeof *settings);
}

void
gst_mcc_properties_clear (GstMccProperties *self)
{
  gst_mcc_properties_settings_clear (&self->settings);
  gst_mcc_properties_settings_clear (&self->opened);
  g_mutex_clear (&self->lock);
}

/* Where a string property is kept; NULL: not a string. */
static gchar **
string_of (GstMccSessionSettings *settings, guint id)
{
  switch (id) {
    case GST_MCC_PROPERTY_ADDRESS:
      return &settings->address;
    case GST_MCC_PROPERTY_MULTICAST_IFACE:
      return &settings->multicast_iface;
    case GST_MCC_PROPERTY_SOURCE_ADDRESS:
      return &settings->source_address;
    case GST_MCC_PROPERTY_FEEDBACK_ADDRESS:
      return &settings->feedback_address;
    case GST_MCC_PROPERTY_CNAME:
      return &settings->cname;
    case GST_MCC_PROPERTY_SRTP_KEY:
      return &settings->srtp_key;
    case GST_MCC_PROPERTY_SRTP_KEY_FILE:
      return &settings->srtp_key_file;
    default:
      return NULL;
  }
}

static gboolean
set_locked (GstMccProperties *self, guint id, const GValue *value)
{
  GstMccSessionSettings *settings = &self->settings;

  switch (id) {
    case GST_MCC_PROPERTY_PORT:
      /* a negative one is kept as one that the check refuses */
      settings->port = (guint)g_value_get_int (value);
      return TRUE;
    case GST_MCC_PROPERTY_TTL:
      settings->ttl = g_value_get_int (value);
      return TRUE;
    case GST_MCC_PROPERTY_TTL_MC:
      settings->ttl_mc = g_value_get_int (value);
      return TRUE;
    case GST_MCC_PROPERTY_LOOP:
      settings->loop = g_value_get_boolean (value);
      return TRUE;
    case GST_MCC_PROPERTY_QOS_DSCP:
      settings->qos_dscp = g_value_get_int (value);
      return TRUE;
    case GST_MCC_PROPERTY_FEEDBACK_PORT:
      settings->feedback_port = (guint)g_value_get_int (value);
      return TRUE;
    case GST_MCC_PROPERTY_VARIANT:
      self->variant = (MccVariant)g_value_get_enum (value);
      return TRUE;
    case GST_MCC_PROPERTY_SESSION_BANDWIDTH:
      settings->session_bandwidth = g_value_get_uint64 (value);
      return TRUE;
    case GST_MCC_PROPERTY_SEED:
      self->seed = g_value_get_uint64 (value);
      return TRUE;
    case GST_MCC_PROPERTY_STATS_INTERVAL:
      self->stats_interval_ms = g_value_get_uint (value);
      return TRUE;
    case GST_MCC_PROPERTY_SRTP_CIPHER:
      settings->srtp_cipher = (GstMccSrtpCipher)g_value_get_enum (value);
      return TRUE;
    case GST_MCC_PROPERTY_SRTP_AUTH:
      settings->srtp_auth = (GstMccSrtpAuth)g_value_get_enum (value);
      return TRUE;
    default:
      return FALSE;
  }
}

/* A property cannot refuse a value: what is wrong is kept and fails the change to READY. */
static void
set_uri (GstMccProperties *self, GObject *object, const gchar *uri)
{
  GError *error = NULL;
  gchar *bad = NULL;

  if (uri && !gst_mcc_uri_set (GST_ELEMENT (object), self->scheme, uri, &error)) {
    if (g_error_matches (error, GST_URI_ERROR, GST_URI_ERROR_BAD_STATE))
      g_warning ("uri: %s", error->message);
    else
      bad = g_strdup (error->message);
    g_clear_error (&error);
  }
  g_mutex_lock (&self->lock);
  g_free (self->settings.bad_uri);
  self->settings.bad_uri = bad;
  g_mutex_unlock (&self->lock);
}

gboolean
gst_mcc_properties_set (GstMccProperties *self, GObject *object, guint id, const GValue *value)
{
  gchar **string;
  gboolean known = TRUE;

  if (id == GST_MCC_PROPERTY_URI) {
    set_uri (self, object, g_value_get_string (value));
    return TRUE;
  }
  g_mutex_lock (&self->lock);
  string = string_of (&self->settings, id);
  if (string) {
    const gchar *text = g_value_get_string (value);

    g_free (*string);
    *string = text && *text ? g_strdup (text) : NULL;
    if (id == GST_MCC_PROPERTY_ADDRESS)
      g_clear_pointer (&self->settings.bad_uri, g_free);
  } else {
    known = set_locked (self, id, value);
  }
  g_mutex_unlock (&self->lock);
  return known;
}

static gboolean
get_locked (GstMccProperties *self, guint id, GValue *value)
{
  const GstMccSessionSettings *settings = &self->settings;

  switch (id) {
    case GST_MCC_PROPERTY_PORT:
      g_value_set_int (value, (gint)settings->port);
      return TRUE;
    case GST_MCC_PROPERTY_TTL:
      g_value_set_int (value, settings->ttl);
      return TRUE;
    case GST_MCC_PROPERTY_TTL_MC:
      g_value_set_int (value, settings->ttl_mc);
      return TRUE;
    case GST_MCC_PROPERTY_LOOP:
      g_value_set_boolean (value, settings->loop);
      return TRUE;
    case GST_MCC_PROPERTY_QOS_DSCP:
      g_value_set_int (value, settings->qos_dscp);
      return TRUE;
    case GST_MCC_PROPERTY_FEEDBACK_PORT:
      g_value_set_int (value, (gint)settings->feedback_port);
      return TRUE;
    case GST_MCC_PROPERTY_VARIANT:
      g_value_set_enum (value, (gint)self->variant);
      return TRUE;
    case GST_MCC_PROPERTY_SESSION_BANDWIDTH:
      g_value_set_uint64 (value, settings->session_bandwidth);
      return TRUE;
    case GST_MCC_PROPERTY_SEED:
      g_value_set_uint64 (value, self->seed);
      return TRUE;
    case GST_MCC_PROPERTY_STATS_INTERVAL:
      g_value_set_uint (value, self->stats_interval_ms);
      return TRUE;
    case GST_MCC_PROPERTY_SRTP_CIPHER:
      g_value_set_enum (value, (gint)settings->srtp_cipher);
      return TRUE;
    case GST_MCC_PROPERTY_SRTP_AUTH:
      g_value_set_enum (value, (gint)settings->srtp_auth);
      return TRUE;
    default:
      return FALSE;
  }
}

gboolean
gst_mcc_properties_get (GstMccProperties *self, GObject *object, guint id, GValue *value)
{
  gchar **string;
  gboolean known = TRUE;

  if (id == GST_MCC_PROPERTY_URI) {
    g_value_take_string (value, gst_mcc_uri_get (GST_ELEMENT (object), self->scheme));
    return TRUE;
  }
  g_mutex_lock (&self->lock);
  string = string_of (&self->settings, id);
  if (string)
    g_value_set_string (value, *string);
  else
    known = get_locked (self, id, value);
  g_mutex_unlock (&self->lock);
  return known;
}

static void
copy_settings (GstMccSessionSettings *out, const GstMccSessionSettings *settings)
{
  *out = *settings;
  out->bad_uri = g_strdup (out->bad_uri);
  out->address = g_strdup (out->address);
  out->multicast_iface = g_strdup (out->multicast_iface);
  out->source_address = g_strdup (out->source_address);
  out->feedback_address = g_strdup (out->feedback_address);
  out->cname = g_strdup (out->cname);
  out->srtp_key = g_strdup (out->srtp_key);
  out->srtp_key_file = g_strdup (out->srtp_key_file);
}

void
gst_mcc_properties_get_opened (GstMccProperties *self, GstMccSessionSettings *out)
{
  g_mutex_lock (&self->lock);
  copy_settings (out, &self->opened);
  g_mutex_unlock (&self->lock);
}

MccTime
gst_mcc_properties_get_stats_interval (GstMccProperties *self)
{
  guint ms;

  g_mutex_lock (&self->lock);
  ms = self->stats_interval_ms;
  g_mutex_unlock (&self->lock);
  return ms > 0 ? MAX (ms, STATS_INTERVAL_MIN_MS) * MCC_MSECOND : MCC_TIME_NONE;
}

static guint64
or_any (guint64 seed)
{
  while (seed == 0)
    seed = ((guint64)g_random_int () << 32) | g_random_int ();
  return seed;
}

guint64
gst_mcc_properties_get_seed (GstMccProperties *self)
{
  guint64 seed;

  g_mutex_lock (&self->lock);
  seed = self->seed;
  g_mutex_unlock (&self->lock);
  return or_any (seed);
}

guint64
gst_mcc_properties_get_ssrc_seed (GstMccProperties *self)
{
  guint64 seed;

  g_mutex_lock (&self->lock);
  /* the same SSRC and numbers under the same key were the same key stream */
  seed = self->opened.encrypted ? 0 : self->seed;
  g_mutex_unlock (&self->lock);
  return or_any (seed);
}

/* ---- keys ---- */

static gboolean
take_first (GSignalInvocationHint *hint, GValue *sum, const GValue *value, gpointer data)
{
  g_value_copy (value, sum);
  return g_value_get_string (value) == NULL; /* until one has a key */
}

void
gst_mcc_properties_install_signals (GType type)
{
  /* The thread that changes the state, no lock: the keys, as srtp-key has them; NULL: plain RTP */
  g_signal_new (
      "request-srtp-key", type, G_SIGNAL_RUN_LAST, 0, take_first, NULL, NULL, G_TYPE_STRING, 0);
}

static void
get_settings (GstMccProperties *self, GstMccSessionSettings *out)
{
  g_mutex_lock (&self->lock);
  copy_settings (out, &self->settings);
  g_mutex_unlock (&self->lock);
}

void
gst_mcc_properties_open (GstMccProperties *self, GObject *object, GstMccSessionSettings *out)
{
  GstMccSessionSettings kept;

  get_settings (self, out);
  if (!out->srtp_key && !out->srtp_key_file)
    g_signal_emit_by_name (object, "request-srtp-key", &out->srtp_key);
  out->encrypted = out->srtp_key || out->srtp_key_file;
  kept = *out;
  kept.srtp_key = NULL;
  g_mutex_lock (&self->lock);
  gst_mcc_properties_settings_clear (&self->opened);
  copy_settings (&self->opened, &kept);
  g_mutex_unlock (&self->lock);
}

void
gst_mcc_properties_apply_key (
    GstMccProperties *self, GstElement *element, guint id, GstMccSession *session)
{
  GstMccSessionSettings settings;
  GError *error = NULL;

  if (id != GST_MCC_PROPERTY_SRTP_KEY && id != GST_MCC_PROPERTY_SRTP_KEY_FILE)
    return;
  get_settings (self, &settings);
  if (!gst_mcc_session_set_keys (session, &settings, &error)
      && GST_STATE (element) > GST_STATE_NULL)
    GST_ELEMENT_WARNING (element, LIBRARY, SETTINGS,
        ("%s. The old keys stay.", error ? error->message : "srtp-key is not used"), (NULL));
  g_clear_error (&error);
  gst_mcc_properties_settings_clear (&settings);
}
