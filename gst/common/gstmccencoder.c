/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstmccencoder.h"

#include <string.h>

GST_DEBUG_CATEGORY_STATIC (gst_mcc_encoder_debug);
#define GST_CAT_DEFAULT gst_mcc_encoder_debug

/* Loops cannot be linked, but a graph this deep is one by accident. */
#define SEARCH_DEPTH 128

/* Warnings that were posted. */
#define WARNED_NONE (1u << 0)
#define WARNED_REFUSED (1u << 1)
#define WARNED_LATE (1u << 2)
#define WARNED_OBSTACLE (1u << 3)

struct _GstMccEncoder {
  gint refs;
  GstElement *owner; /* outlives us; the worker holds its own reference */
  GWeakRef alive;    /* the owner, for the timer, which may come as the owner goes */
  GstMccEncoderChanged changed;
  GstClock *clock;

  GMutex lock; /* guards what follows; never held while an encoder or the owner is called */
  GstMccEncoderControl control;
  gboolean configure;
  guint64 max_bps;
  GWeakRef chosen; /* the application's `encoder` */
  gchar *name, *property;
  GstMccEncoderUnit unit;

  GWeakRef driven; /* guarded by `drivers` */
  GWeakRef encoder;
  GstMccEncoderStatus status;
  gchar *bitrate_property;
  GstMccEncoderUnit bitrate_unit;
  GstClockTime min_interval;
  guint warned;

  guint64 pending, wanted; /* bit/s; pending 0 = nothing to do */
  guint64 applied;
  gboolean scheduled, working;
  GstClockTime not_before; /* of the next change */
  GstClockID timer;
};

GType
gst_mcc_encoder_control_get_type (void)
{
  static gsize type = 0;
  static const GEnumValue values[] = { { GST_MCC_ENCODER_CONTROL_AUTO,
                                           "Find the encoder and set its bitrate", "auto" },
    { GST_MCC_ENCODER_CONTROL_NONE, "The application follows notify::target-bitrate", "none" },
    { 0, NULL, NULL } };

  if (g_once_init_enter (&type))
    g_once_init_leave (&type, g_enum_register_static ("GstMccEncoderControl", values));
  return type;
}

GType
gst_mcc_encoder_unit_get_type (void)
{
  static gsize type = 0;
  static const GEnumValue values[]
      = { { GST_MCC_UNIT_UNKNOWN, "Not said", "unknown" }, { GST_MCC_UNIT_BIT, "bit/s", "bit" },
          { GST_MCC_UNIT_KBIT, "kbit/s (1000 bit/s)", "kbit" }, { 0, NULL, NULL } };

  if (g_once_init_enter (&type))
    g_once_init_leave (&type, g_enum_register_static ("GstMccEncoderUnit", values));
  return type;
}

/* ---- search ---- */

typedef gboolean (*Matcher) (GstElement *element, const gchar *klass, gboolean *second_best);

typedef struct {
  Matcher match;
  GstElement *second_best;
  GHashTable *seen;
} Search;

/* The pad of a real element that feeds @pad: through ghost pads in and out of bins. */
static GstPad *
real_peer (GstPad *pad)
{
  GstPad *peer = gst_pad_get_peer (pad);

  while (peer) {
    GstPad *next;

    if (GST_IS_GHOST_PAD (peer)) {
      next = gst_ghost_pad_get_target (GST_GHOST_PAD (peer));
    } else if (GST_IS_PROXY_PAD (peer)) {
      GstProxyPad *ghost = gst_proxy_pad_get_internal (GST_PROXY_PAD (peer));

      next = ghost ? gst_pad_get_peer (GST_PAD (ghost)) : NULL;
      gst_clear_object (&ghost);
    } else {
      break;
    }
    gst_object_unref (peer);
    peer = next;
  }
  return peer;
}

static GstElement *search_upstream (Search *search, GstPad *pad, guint depth);

/* Goes on through the sink pads that feed @pad, a src pad of @element. */
static GstElement *
search_links (Search *search, GstPad *pad, guint depth)
{
  GstIterator *it = gst_pad_iterate_internal_links (pad);
  GstElement *found = NULL;
  GValue item = G_VALUE_INIT;

  if (!it)
    return NULL;
  while (!found && gst_iterator_next (it, &item) == GST_ITERATOR_OK) {
    GstPad *sink = g_value_get_object (&item);

    if (sink)
      found = search_upstream (search, sink, depth + 1);
    g_value_reset (&item);
  }
  if (G_IS_VALUE (&item))
    g_value_unset (&item);
  gst_iterator_free (it);
  return found;
}

static GstElement *
search_upstream (Search *search, GstPad *pad, guint depth)
{
  GstPad *peer = depth < SEARCH_DEPTH ? real_peer (pad) : NULL;
  GstElement *element = peer ? gst_pad_get_parent_element (peer) : NULL;
  GstElement *found = NULL;
  gboolean second_best = FALSE;
  const gchar *klass;

  if (!element || !g_hash_table_add (search->seen, peer))
    goto out;
  klass = gst_element_get_metadata (element, GST_ELEMENT_METADATA_KLASS);
  if (!klass)
    klass = "";
  if (search->match (element, klass, &second_best)) {
    if (!second_best)
      found = gst_object_ref (element);
    else if (!search->second_best)
      search->second_best = gst_object_ref (element);
  } else if (!strstr (klass, "Decoder")) {
    /* What was decoded was encoded by somebody else. */
    found = search_links (search, peer, depth);
  }
out:
  gst_clear_object (&element);
  gst_clear_object (&peer);
  return found;
}

static GstElement *
search (GstPad *pad, Matcher match)
{
  Search state = { match, NULL, g_hash_table_new (NULL, NULL) };
  GstElement *found = search_upstream (&state, pad, 0);

  g_hash_table_unref (state.seen);
  if (!found)
    return state.second_best;
  gst_clear_object (&state.second_best);
  return found;
}

static gboolean
match_encoder (GstElement *element, const gchar *klass, gboolean *second_best)
{
  if (!strstr (klass, "Encoder"))
    return FALSE;
  *second_best = !strstr (klass, "Video") && !strstr (klass, "Image");
  return TRUE;
}

static gboolean
match_payloader (GstElement *element, const gchar *klass, gboolean *second_best)
{
  return strstr (klass, "Payloader") && strstr (klass, "RTP");
}

GstElement *
gst_mcc_encoder_search (GstPad *pad)
{
  return search (pad, match_encoder);
}

GstElement *
gst_mcc_payloader_search (GstPad *pad)
{
  return search (pad, match_payloader);
}

/* The element @name of the pipeline that @owner is in. */
static GstElement *
find_by_name (GstElement *owner, const gchar *name)
{
  GstObject *top = gst_object_ref (GST_OBJECT (owner));
  GstObject *parent;
  GstElement *found;

  while ((parent = gst_object_get_parent (top))) {
    gst_object_unref (top);
    top = parent;
  }
  found = GST_IS_BIN (top) ? gst_bin_get_by_name (GST_BIN (top), name) : NULL;
  gst_object_unref (top);
  return found;
}

/* ---- life ---- */

GstMccEncoder *
gst_mcc_encoder_new (GstElement *owner, GstMccEncoderChanged changed)
{
  GstMccEncoder *self = g_new0 (GstMccEncoder, 1);
  static gsize once = 0;

  if (g_once_init_enter (&once)) {
    GST_DEBUG_CATEGORY_INIT (gst_mcc_encoder_debug, "mccencoder", 0, "encoder control");
    g_once_init_leave (&once, 1);
  }
  self->refs = 1;
  self->owner = owner;
  self->changed = changed;
  self->clock = gst_system_clock_obtain ();
  self->configure = TRUE;
  g_mutex_init (&self->lock);
  g_weak_ref_init (&self->alive, owner);
  g_weak_ref_init (&self->chosen, NULL);
  g_weak_ref_init (&self->driven, NULL);
  g_weak_ref_init (&self->encoder, NULL);
  return self;
}

static GstMccEncoder *
encoder_ref (GstMccEncoder *self)
{
  g_atomic_int_inc (&self->refs);
  return self;
}

static void
encoder_unref (gpointer data)
{
  GstMccEncoder *self = data;

  if (!g_atomic_int_dec_and_test (&self->refs))
    return;
  g_weak_ref_clear (&self->alive);
  g_weak_ref_clear (&self->chosen);
  g_weak_ref_clear (&self->driven);
  g_weak_ref_clear (&self->encoder);
  g_free (self->name);
  g_free (self->property);
  g_free (self->bitrate_property);
  gst_object_unref (self->clock);
  g_mutex_clear (&self->lock);
  g_free (self);
}

/* ---- whose an encoder is: two that set its bitrate would undo each other's work ---- */

static GMutex drivers;

static GQuark
driver_quark (void)
{
  return g_quark_from_static_string ("mcc-encoder-driver");
}

static void
let_go_locked (GstMccEncoder *self)
{
  GObject *encoder = g_weak_ref_get (&self->driven);

  if (!encoder)
    return;
  if (g_object_get_qdata (encoder, driver_quark ()) == self)
    g_object_set_qdata (encoder, driver_quark (), NULL);
  g_weak_ref_set (&self->driven, NULL);
  g_object_unref (encoder);
}

static void
let_go (GstMccEncoder *self)
{
  g_mutex_lock (&drivers);
  let_go_locked (self);
  g_mutex_unlock (&drivers);
}

/* An element that nothing is linked to has given its encoder away. */
static gboolean
has_input (GstMccEncoder *self)
{
  gboolean linked;

  GST_OBJECT_LOCK (self->owner);
  linked = self->owner->numsinkpads == 0;
  for (GList *l = self->owner->sinkpads; l; l = l->next)
    linked |= GST_PAD_IS_LINKED (l->data);
  GST_OBJECT_UNLOCK (self->owner);
  return linked;
}

/* NULL: @encoder is ours now, and no other one; else the name of whose it is. */
static gchar *
claim (GstMccEncoder *self, GstElement *encoder)
{
  GstMccEncoder *driver;
  gchar *name = NULL;

  g_mutex_lock (&drivers);
  let_go_locked (self);
  driver = g_object_get_qdata (G_OBJECT (encoder), driver_quark ());
  if (driver && has_input (driver)) {
    name = gst_object_get_name (GST_OBJECT (driver->owner));
  } else {
    g_object_set_qdata (G_OBJECT (encoder), driver_quark (), self);
    g_weak_ref_set (&self->driven, encoder);
  }
  g_mutex_unlock (&drivers);
  return name;
}

void
gst_mcc_encoder_reset (GstMccEncoder *self)
{
  GstClockID timer;

  let_go (self);
  g_mutex_lock (&self->lock);
  g_weak_ref_set (&self->encoder, NULL);
  self->status = GST_MCC_ENCODER_NONE;
  self->pending = self->wanted = self->applied = 0;
  self->not_before = 0;
  self->warned = 0;
  timer = self->timer;
  self->timer = NULL;
  g_mutex_unlock (&self->lock);
  if (timer) {
    gst_clock_id_unschedule (timer);
    gst_clock_id_unref (timer);
  }
}

void
gst_mcc_encoder_free (GstMccEncoder *self)
{
  if (!self)
    return;
  gst_mcc_encoder_reset (self);
  encoder_unref (self);
}

gboolean
gst_mcc_encoder_set_settings (GstMccEncoder *self, const GstMccEncoderSettings *settings)
{
  if (settings->property && settings->unit == GST_MCC_UNIT_UNKNOWN) {
    GST_ELEMENT_ERROR (self->owner, LIBRARY, SETTINGS,
        ("encoder-bitrate-property is set, but not the unit; set encoder-bitrate-unit=bit or "
         "encoder-bitrate-unit=kbit."),
        (NULL));
    return FALSE;
  }
  let_go (self);
  g_mutex_lock (&self->lock);
  self->control = settings->control;
  self->configure = settings->configure;
  self->max_bps = settings->max_bps;
  g_weak_ref_set (&self->chosen, settings->encoder);
  if (g_strcmp0 (self->name, settings->encoder_name) != 0)
    self->warned &= ~WARNED_NONE; /* another one may be wrong, too */
  g_free (self->name);
  self->name = g_strdup (settings->encoder_name);
  g_free (self->property);
  self->property = g_strdup (settings->property);
  self->unit = settings->unit;
  g_weak_ref_set (&self->encoder, NULL); /* look again */
  g_mutex_unlock (&self->lock);
  return TRUE;
}

/* ---- the bitrate ---- */

/* Others among the driver's controls stay as they are. */
static void
set_control (GstElement *encoder, const gchar *property, gint number)
{
  GstStructure *controls = NULL;

  g_object_get (encoder, property, &controls, NULL);
  if (!controls)
    controls = gst_structure_new_empty ("controls");
  gst_structure_set (controls, "video_bitrate", G_TYPE_INT, number, NULL);
  g_object_set (encoder, property, controls, NULL);
  gst_structure_free (controls);
}

/* Sets @property (a number, or a structure of driver controls) to @number; FALSE: it cannot. */
static gboolean
set_number (GstElement *encoder, const gchar *property, guint64 number)
{
  GParamSpec *pspec = g_object_class_find_property (G_OBJECT_GET_CLASS (encoder), property);
  GValue from = G_VALUE_INIT, to = G_VALUE_INIT;
  gboolean ok;

  if (!pspec || !(pspec->flags & G_PARAM_WRITABLE))
    return FALSE;
  if (pspec->value_type == GST_TYPE_STRUCTURE) {
    set_control (encoder, property, (gint)MIN (number, G_MAXINT));
    return TRUE;
  }
  if (pspec->value_type == G_TYPE_INT || pspec->value_type == G_TYPE_LONG)
    number = MIN (number, G_MAXINT);
  else if (pspec->value_type == G_TYPE_UINT || pspec->value_type == G_TYPE_ULONG)
    number = MIN (number, G_MAXUINT);
  g_value_init (&from, G_TYPE_UINT64);
  g_value_init (&to, pspec->value_type);
  g_value_set_uint64 (&from, MAX (number, 1));
  ok = g_value_transform (&from, &to);
  if (ok) {
    g_param_value_validate (pspec, &to); /* clamps to its range */
    g_object_set_property (G_OBJECT (encoder), property, &to);
  }
  g_value_unset (&from);
  g_value_unset (&to);
  return ok;
}

static void schedule (GstMccEncoder *self);

static gboolean
on_timer (GstClock *clock, GstClockTime time, GstClockID id, gpointer data)
{
  GstMccEncoder *self = data;
  GstElement *owner = g_weak_ref_get (&self->alive);

  if (!owner)
    return TRUE;
  g_mutex_lock (&self->lock);
  if (self->timer == id) {
    self->timer = NULL;
    gst_clock_id_unref (id);
  }
  g_mutex_unlock (&self->lock);
  schedule (self);
  gst_object_unref (owner);
  return TRUE;
}

/* Called with the lock held: the change has to wait. */
static void
wait_for_turn (GstMccEncoder *self)
{
  if (self->timer)
    return;
  self->timer = gst_clock_new_single_shot_id (self->clock, self->not_before);
  gst_clock_id_wait_async (self->timer, on_timer, encoder_ref (self), encoder_unref);
}

/* Called with the lock held: the encoder that may get what is pending now, else NULL. */
static GstElement *
take_turn (GstMccEncoder *self)
{
  GstClockTime now = gst_clock_get_time (self->clock);

  if (self->working || !self->pending || self->status != GST_MCC_ENCODER_FOUND)
    return NULL; /* what is pending stays so until an encoder is found */
  if (self->min_interval && now < self->not_before) {
    wait_for_turn (self);
    return NULL;
  }
  self->not_before = now + self->min_interval;
  return g_weak_ref_get (&self->encoder);
}

/* Notes what @encoder has got, unless another one has been adopted meanwhile, which has not. */
static void
note_applied (GstMccEncoder *self, GstElement *encoder, guint64 bps)
{
  GstElement *current;

  g_mutex_lock (&self->lock);
  current = g_weak_ref_get (&self->encoder);
  if (current == encoder)
    self->applied = bps;
  self->working = FALSE;
  g_mutex_unlock (&self->lock);
  gst_clear_object (&current); /* its last reference may go: not under a lock */
}

typedef struct {
  GstMccEncoderChanged changed;
  GstElement *encoder;
  guint64 bps;
} Change;

static void
change_free (gpointer data)
{
  Change *change = data;

  gst_object_unref (change->encoder);
  g_free (change);
}

static void
tell_change (GstElement *owner, gpointer data)
{
  Change *change = data;

  change->changed (owner, change->encoder, change->bps);
}

/* @here: we are a worker, whose thread is nobody's. */
static void
tell_changed (GstMccEncoder *self, GstElement *encoder, guint64 bps, gboolean here)
{
  Change change = { self->changed, encoder, bps };

  if (!self->changed)
    return;
  if (here) {
    tell_change (self->owner, &change);
    return;
  }
  gst_object_ref (encoder);
  gst_element_call_async (
      self->owner, tell_change, g_memdup2 (&change, sizeof change), change_free);
}

/* Sets what is pending until nothing is; one thread at a time. */
static void
work (GstMccEncoder *self, gboolean worker)
{
  GstElement *encoder;

  g_mutex_lock (&self->lock);
  self->scheduled = FALSE;
  while ((encoder = take_turn (self))) {
    guint64 bps = self->pending;
    guint64 unit = self->bitrate_unit == GST_MCC_UNIT_KBIT ? 1000 : 1;
    gboolean changes = self->applied / unit != bps / unit;
    gchar *property = g_strdup (self->bitrate_property);

    self->pending = 0;
    self->working = TRUE;
    g_mutex_unlock (&self->lock);

    GST_DEBUG_OBJECT (
        self->owner, "%" GST_PTR_FORMAT " gets %" G_GUINT64_FORMAT " bit/s", encoder, bps);
    if (changes && !set_number (encoder, property, bps / unit))
      GST_WARNING_OBJECT (self->owner, "%s of %" GST_PTR_FORMAT " is no number", property, encoder);
    if (changes)
      gst_mcc_encoder_share_rate (encoder, bps);
    note_applied (self, encoder, bps);
    if (changes)
      tell_changed (self, encoder, bps, worker);
    g_free (property);
    gst_object_unref (encoder);
    g_mutex_lock (&self->lock);
  }
  g_mutex_unlock (&self->lock);
}

static void
work_async (GstElement *owner, gpointer data)
{
  work (data, TRUE);
}

static void
schedule (GstMccEncoder *self)
{
  gboolean start;

  g_mutex_lock (&self->lock);
  start = !self->scheduled && self->pending && self->status == GST_MCC_ENCODER_FOUND;
  if (start)
    self->scheduled = TRUE;
  g_mutex_unlock (&self->lock);
  if (start)
    gst_element_call_async (self->owner, work_async, encoder_ref (self), encoder_unref);
}

void
gst_mcc_encoder_set_bitrate (GstMccEncoder *self, guint64 bitrate_bps)
{
  g_mutex_lock (&self->lock);
  self->pending = self->wanted = bitrate_bps;
  g_mutex_unlock (&self->lock);
  schedule (self);
}

guint64
gst_mcc_encoder_get_applied (GstMccEncoder *self)
{
  guint64 applied;

  g_mutex_lock (&self->lock);
  applied = self->applied;
  g_mutex_unlock (&self->lock);
  return applied;
}

guint64
gst_mcc_encoder_get_present (GstMccEncoder *self)
{
  GstElement *encoder = gst_mcc_encoder_get_element (self);
  GValue from = G_VALUE_INIT, to = G_VALUE_INIT;
  guint64 unit, number = 0;
  gchar *property;

  if (!encoder)
    return 0;
  g_mutex_lock (&self->lock);
  property = g_strdup (self->bitrate_property);
  unit = self->bitrate_unit == GST_MCC_UNIT_KBIT ? 1000 : 1;
  g_mutex_unlock (&self->lock);
  g_value_init (&to, G_TYPE_INT64);
  g_object_get_property (G_OBJECT (encoder), property, &from);
  if (g_value_transform (&from, &to))
    number = (guint64)MAX (g_value_get_int64 (&to), 0);
  g_value_unset (&from);
  g_value_unset (&to);
  g_free (property);
  gst_object_unref (encoder);
  return number * unit;
}

GstElement *
gst_mcc_encoder_get_element (GstMccEncoder *self)
{
  GstElement *encoder;

  g_mutex_lock (&self->lock);
  encoder = self->status == GST_MCC_ENCODER_FOUND ? g_weak_ref_get (&self->encoder) : NULL;
  g_mutex_unlock (&self->lock);
  return encoder;
}

GstMccEncoderStatus
gst_mcc_encoder_get_status (GstMccEncoder *self)
{
  GstMccEncoderStatus status;

  g_mutex_lock (&self->lock);
  status = self->status;
  g_mutex_unlock (&self->lock);
  return status;
}

/* ---- finding and configuring ---- */

/* Whether this warning is posted for the first time. */
static gboolean
warn_once (GstMccEncoder *self, guint bit)
{
  gboolean first;

  g_mutex_lock (&self->lock);
  first = !(self->warned & bit);
  self->warned |= bit;
  g_mutex_unlock (&self->lock);
  return first;
}

static gboolean
is_default (GstElement *encoder, const gchar *property)
{
  GParamSpec *pspec = g_object_class_find_property (G_OBJECT_GET_CLASS (encoder), property);
  GValue value = G_VALUE_INIT;
  gboolean result;

  if (!pspec || !(pspec->flags & G_PARAM_READABLE))
    return TRUE;
  g_object_get_property (G_OBJECT (encoder), property, &value);
  result = g_param_value_defaults (pspec, &value);
  g_value_unset (&value);
  return result;
}

static gboolean
is_running (GstElement *encoder)
{
  return GST_STATE (encoder) > GST_STATE_READY || GST_STATE_NEXT (encoder) > GST_STATE_READY;
}

static void
configure (GstMccEncoder *self, GstElement *encoder, const GstMccEncoderSetting *settings)
{
  GString *missed = g_string_new (NULL);
  gboolean running = is_running (encoder);

  for (; settings && settings->property; settings++) {
    GParamSpec *pspec
        = g_object_class_find_property (G_OBJECT_GET_CLASS (encoder), settings->property);

    if (!pspec || !is_default (encoder, settings->property)
        || (settings->unless && !is_default (encoder, settings->unless)))
      continue;
    if (running && !(pspec->flags & GST_PARAM_MUTABLE_PLAYING)) {
      g_string_append_printf (missed, " %s=%s", settings->property, settings->value);
      continue;
    }
    GST_INFO_OBJECT (
        self->owner, "%" GST_PTR_FORMAT ": %s=%s", encoder, settings->property, settings->value);
    gst_util_set_object_arg (G_OBJECT (encoder), settings->property, settings->value);
  }
  if (missed->len && warn_once (self, WARNED_LATE))
    GST_ELEMENT_WARNING (self->owner, STREAM, ENCODE,
        ("%s was linked while it was running, and follows the network slowly. Link it before, or "
         "set it to:%s",
            GST_OBJECT_NAME (encoder), missed->str),
        (NULL));
  g_string_free (missed, TRUE);
}

/* How to drive @encoder; FALSE: refused, and it was said why. */
static gboolean
adopt (GstMccEncoder *self, GstElement *encoder, const gchar *property, GstMccEncoderUnit unit,
    gboolean configure_it, guint64 max_bps)
{
  const GstMccEncoderRow *row = gst_mcc_encoder_table_lookup (encoder);
  const gchar *obstacle, *name = GST_OBJECT_NAME (encoder);
  gboolean dangerous = FALSE;
  gchar *driver;

  if (property && !g_object_class_find_property (G_OBJECT_GET_CLASS (encoder), property)) {
    if (warn_once (self, WARNED_REFUSED))
      GST_ELEMENT_WARNING (self->owner, LIBRARY, SETTINGS,
          ("encoder-bitrate-property: %s has no property \"%s\"; name the one that gst-inspect-1.0 "
           "shows.",
              name, property),
          (NULL));
    return FALSE;
  }
  if (!property && (!row || row->live == GST_MCC_LIVE_NO)) {
    if (warn_once (self, WARNED_REFUSED))
      GST_ELEMENT_WARNING (self->owner, STREAM, ENCODE,
          (row ? "%s cannot change its bitrate while it runs: the stream does not adapt. Use one "
                 "that can: " GST_MCC_ENCODERS_THAT_CAN "."
               : "%s is an encoder that is not known: the stream does not adapt. Set "
                 "encoder-bitrate-property and encoder-bitrate-unit, or use one "
                 "of: " GST_MCC_ENCODERS_THAT_CAN ".",
              name),
          (NULL));
    return FALSE;
  }
  driver = claim (self, encoder);
  if (driver) {
    if (warn_once (self, WARNED_REFUSED))
      GST_ELEMENT_WARNING (self->owner, STREAM, ENCODE,
          ("%s follows %s: its stream does not adapt to the receivers here. Use an encoder for "
           "each "
           "sender.",
              name, driver),
          (NULL));
    g_free (driver);
    return FALSE;
  }
  if (row && configure_it)
    configure (self, encoder, row->settings);
  if (configure_it && max_bps > 0 && !is_running (encoder))
    gst_mcc_encoder_fit_rate (encoder, max_bps);
  obstacle = row && row->obstacle ? row->obstacle (encoder, &dangerous) : NULL;
  if (obstacle && warn_once (self, WARNED_OBSTACLE))
    GST_ELEMENT_WARNING (self->owner, STREAM, ENCODE, ("%s: %s.", name, obstacle), (NULL));
  if (dangerous)
    return FALSE;
  g_mutex_lock (&self->lock);
  g_weak_ref_set (&self->encoder, NULL); /* the worker leaves the old one alone from here on */
  self->status = GST_MCC_ENCODER_NONE;
  g_free (self->bitrate_property);
  self->bitrate_property = g_strdup (property ? property : row->property);
  self->bitrate_unit = property ? unit : row->unit;
  self->min_interval = row ? row->min_interval : 0;
  g_mutex_unlock (&self->lock);
  return TRUE;
}

static void
warn_none (GstMccEncoder *self, const gchar *name)
{
  if (!warn_once (self, WARNED_NONE))
    return;
  if (name)
    GST_ELEMENT_WARNING (self->owner, LIBRARY, SETTINGS,
        ("encoder-name: the pipeline has no element \"%s\"; name an encoder in it.", name), (NULL));
  else
    GST_ELEMENT_WARNING (self->owner, STREAM, ENCODE,
        ("No encoder was found upstream: the stream is sent as it comes and does not adapt. Set "
         "encoder or encoder-name if there is one elsewhere."),
        (NULL));
}

void
gst_mcc_encoder_check_name (GstMccEncoder *self)
{
  gchar *name;

  g_mutex_lock (&self->lock);
  name = self->status == GST_MCC_ENCODER_NONE ? g_strdup (self->name) : NULL;
  g_mutex_unlock (&self->lock);
  if (name)
    warn_none (self, name);
  g_free (name);
}

GstMccEncoderStatus
gst_mcc_encoder_find (GstMccEncoder *self, GstPad *pad, gboolean expected)
{
  GstElement *encoder, *current;
  gchar *name, *property;
  GstMccEncoderUnit unit;
  GstMccEncoderStatus status = GST_MCC_ENCODER_NONE;
  gboolean configure_it, none;
  guint64 max_bps;

  g_mutex_lock (&self->lock);
  none = self->control == GST_MCC_ENCODER_CONTROL_NONE;
  encoder = g_weak_ref_get (&self->chosen);
  current = g_weak_ref_get (&self->encoder);
  name = g_strdup (self->name);
  property = g_strdup (self->property);
  unit = self->unit;
  configure_it = self->configure;
  max_bps = self->max_bps;
  if (none)
    status = self->status = GST_MCC_ENCODER_UNCONTROLLED;
  g_mutex_unlock (&self->lock);
  if (none)
    goto out;

  if (!encoder)
    encoder = name ? find_by_name (self->owner, name) : gst_mcc_encoder_search (pad);
  if (encoder && encoder == current) {
    status = gst_mcc_encoder_get_status (self);
    goto out;
  }
  if (encoder)
    status = adopt (self, encoder, property, unit, configure_it, max_bps) ? GST_MCC_ENCODER_FOUND
                                                                          : GST_MCC_ENCODER_REFUSED;
  else if (expected)
    warn_none (self, name);

  g_mutex_lock (&self->lock);
  g_weak_ref_set (&self->encoder, encoder);
  self->status = status;
  self->applied = 0;
  self->pending = self->wanted;
  self->not_before = 0;
  g_mutex_unlock (&self->lock);
  if (status == GST_MCC_ENCODER_FOUND) {
    GST_INFO_OBJECT (self->owner, "driving %" GST_PTR_FORMAT, encoder);
    if (is_running (encoder))
      schedule (self);
    else
      work (self, FALSE); /* its first frame has the right rate; nothing blocks before it runs */
  }
out:
  gst_clear_object (&encoder);
  gst_clear_object (&current);
  g_free (name);
  g_free (property);
  return status;
}
