/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * tsanglib: tells ThreadSanitizer what orders threads in GLib and GStreamer.
 *
 * Distributions build them without the sanitizer, and GLib's locks are futexes of its own, so that
 * it would see none of them and take everything they guard for a race. These functions stand in
 * front of theirs (the program's symbols win), call them, and say: what was done before the release
 * of an object is seen behind its acquire. A lock that we forget is still found. Linked whole into
 * the tests of elements where b_sanitize=thread.
 */
#define _GNU_SOURCE /* RTLD_NEXT */
#include <dlfcn.h>
#include <gst/gst.h>
#include <sanitizer/tsan_interface.h>

#define PLAIN __attribute__ ((no_sanitize_thread))
#define EXPORT __attribute__ ((visibility ("default"), no_sanitize_thread))

/* @result @name @parameters, called as @name @arguments; before it releases @from, behind it
 * acquires @to; NULL: nothing. */
#define BETWEEN(result, name, parameters, arguments, from, to)                                     \
  EXPORT result name parameters                                                                    \
  {                                                                                                \
    static result (*real) parameters;                                                              \
    void *before = (void *)(from), *behind;                                                        \
    result value;                                                                                  \
                                                                                                   \
    if (!real)                                                                                     \
      *(void **)&real = dlsym (RTLD_NEXT, #name);                                                  \
    if (before)                                                                                    \
      __tsan_release (before);                                                                     \
    value = real arguments;                                                                        \
    behind = (void *)(to);                                                                         \
    if (behind)                                                                                    \
      __tsan_acquire (behind);                                                                     \
    return value;                                                                                  \
  }
#define BETWEEN_VOID(name, parameters, arguments, from, to)                                        \
  EXPORT void name parameters                                                                      \
  {                                                                                                \
    static void (*real) parameters;                                                                \
    void *before = (void *)(from), *behind = (void *)(to);                                         \
                                                                                                   \
    if (!real)                                                                                     \
      *(void **)&real = dlsym (RTLD_NEXT, #name);                                                  \
    if (before)                                                                                    \
      __tsan_release (before);                                                                     \
    real arguments;                                                                                \
    if (behind)                                                                                    \
      __tsan_acquire (behind);                                                                     \
  }

/* ---- locks ---- */

BETWEEN_VOID (g_mutex_lock, (GMutex * lock), (lock), NULL, lock)
BETWEEN_VOID (g_mutex_unlock, (GMutex * lock), (lock), lock, NULL)
BETWEEN (gboolean, g_mutex_trylock, (GMutex * lock), (lock), NULL, lock)
BETWEEN_VOID (g_rec_mutex_lock, (GRecMutex * lock), (lock), NULL, lock)
BETWEEN_VOID (g_rec_mutex_unlock, (GRecMutex * lock), (lock), lock, NULL)
BETWEEN (gboolean, g_rec_mutex_trylock, (GRecMutex * lock), (lock), NULL, lock)
BETWEEN_VOID (g_rw_lock_writer_lock, (GRWLock * lock), (lock), NULL, lock)
BETWEEN_VOID (g_rw_lock_writer_unlock, (GRWLock * lock), (lock), lock, NULL)
BETWEEN_VOID (g_rw_lock_reader_lock, (GRWLock * lock), (lock), NULL, lock)
BETWEEN_VOID (g_rw_lock_reader_unlock, (GRWLock * lock), (lock), lock, NULL)
BETWEEN_VOID (g_cond_wait, (GCond * cond, GMutex *lock), (cond, lock), lock, lock)
BETWEEN (gboolean, g_cond_wait_until, (GCond * cond, GMutex *lock, gint64 end), (cond, lock, end),
    lock, lock)

/* ---- the last reference: what others did before they gave theirs back is over ---- */

#define UNREF(name, type)                                                                          \
  EXPORT void name (type object)                                                                   \
  {                                                                                                \
    static void (*real) (type);                                                                    \
                                                                                                   \
    if (!real)                                                                                     \
      *(void **)&real = dlsym (RTLD_NEXT, #name);                                                  \
    __tsan_release ((void *)object);                                                               \
    __tsan_acquire ((void *)object);                                                               \
    real (object);                                                                                 \
  }
UNREF (g_object_unref, gpointer)
UNREF (gst_object_unref, gpointer)
UNREF (gst_mini_object_unref, GstMiniObject *)
UNREF (g_main_context_unref, GMainContext *)
UNREF (g_source_unref, GSource *)
#undef g_atomic_ref_count_dec
BETWEEN (gboolean, g_atomic_ref_count_dec, (gatomicrefcount * count), (count), (void *)count,
    (void *)count)
/* Nobody else has it any more. */
BETWEEN (gboolean, gst_mini_object_is_writable, (const GstMiniObject *object), (object), NULL,
    (void *)object)
BETWEEN (GstMiniObject *, gst_mini_object_make_writable, (GstMiniObject * object), (object), object,
    value)

/* ---- what one thread hands to another ---- */

typedef struct {
  GstElementCallAsyncFunc func;
  gpointer data;
  GDestroyNotify notify;
} Call;

PLAIN static void
run_call (GstElement *element, gpointer data)
{
  Call *call = data;

  __tsan_acquire (element);
  call->func (element, call->data);
}

PLAIN static void
free_call (gpointer data)
{
  Call *call = data;

  if (call->notify)
    call->notify (call->data);
  g_free (call);
}

EXPORT void
gst_element_call_async (
    GstElement *element, GstElementCallAsyncFunc func, gpointer data, GDestroyNotify notify)
{
  static void (*real) (GstElement *, GstElementCallAsyncFunc, gpointer, GDestroyNotify);
  Call *call = g_new (Call, 1);

  *call = (Call){ func, data, notify };
  if (!real)
    *(void **)&real = dlsym (RTLD_NEXT, "gst_element_call_async");
  __tsan_release (element);
  real (element, run_call, call, free_call);
}

BETWEEN_VOID (g_async_queue_push, (GAsyncQueue * queue, gpointer data), (queue, data), queue, NULL)
BETWEEN (gpointer, g_async_queue_pop, (GAsyncQueue * queue), (queue), NULL, queue)
BETWEEN (gpointer, g_async_queue_try_pop, (GAsyncQueue * queue), (queue), NULL, queue)
BETWEEN (gpointer, g_async_queue_timeout_pop, (GAsyncQueue * queue, guint64 timeout),
    (queue, timeout), NULL, queue)
BETWEEN (gboolean, gst_bus_post, (GstBus * bus, GstMessage *message), (bus, message), bus, NULL)
BETWEEN (GstMessage *, gst_bus_timed_pop_filtered,
    (GstBus * bus, GstClockTime timeout, GstMessageType types), (bus, timeout, types), NULL, bus)
BETWEEN (GstMessage *, gst_bus_pop, (GstBus * bus), (bus), NULL, bus)
BETWEEN (GstMessage *, gst_bus_pop_filtered, (GstBus * bus, GstMessageType types), (bus, types),
    NULL, bus)
BETWEEN (guint, g_source_attach, (GSource * source, GMainContext *context), (source, context),
    context ? (void *)context : (void *)g_main_context_default (), NULL)
