/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstmccreader.h"

#include <gst/gst.h>

#include "gstmccsockets.h"

#define DATAGRAM_BYTES 65536
#define BATCH 64 /* datagrams from one socket before the other has its turn */

struct _GstMccReader {
  GSocket *sockets[2];
  guint n_sockets;
  GstMccReaderFunc func;
  gpointer owner;
  GCancellable *cancellable;
  GThread *thread;
};

static void
read_batch (GstMccReader *self, GSocket *socket, guint8 *data)
{
  for (guint i = 0; i < BATCH; i++) {
    GSocketAddress *address = NULL;
    GError *error = NULL;
    MccAddress from;
    gssize size;

    size = g_socket_receive_from (socket, &address, (gchar *)data, DATAGRAM_BYTES, NULL, &error);
    if (size < 0) {
      /* ICMP errors of what we sent are told here, once each; then it would block */
      gboolean done = g_error_matches (error, G_IO_ERROR, G_IO_ERROR_WOULD_BLOCK);

      g_clear_error (&error);
      g_clear_object (&address);
      if (done)
        return;
      continue;
    }
    if (gst_mcc_address_from_socket (address, &from))
      self->func (self->owner, data, (gsize)size, &from);
    g_clear_object (&address);
  }
}

static gpointer
reader_thread (gpointer data)
{
  GstMccReader *self = data;
  guint8 *datagram = g_malloc (DATAGRAM_BYTES);
  GPollFD fds[3];
  guint n = self->n_sockets;

  for (guint i = 0; i < n; i++)
    fds[i] = (GPollFD){ g_socket_get_fd (self->sockets[i]), G_IO_IN, 0 };
  fds[n].events = 0;
  if (g_cancellable_make_pollfd (self->cancellable, &fds[n])) {
    while (!g_cancellable_is_cancelled (self->cancellable)) {
      if (g_poll (fds, n + 1, -1) < 0 && errno != EINTR)
        break;
      for (guint i = 0; i < n; i++)
        if (fds[i].revents)
          read_batch (self, self->sockets[i], datagram);
    }
    g_cancellable_release_fd (self->cancellable);
  }
  g_free (datagram);
  return NULL;
}

GstMccReader *
gst_mcc_reader_new (GSocket *first, GSocket *second, GstMccReaderFunc func, gpointer owner)
{
  GstMccReader *self = g_new0 (GstMccReader, 1);

  self->sockets[self->n_sockets++] = g_object_ref (first);
  if (second)
    self->sockets[self->n_sockets++] = g_object_ref (second);
  self->func = func;
  self->owner = owner;
  self->cancellable = g_cancellable_new ();
  self->thread = g_thread_try_new ("mcc-rtcp", reader_thread, self, NULL);
  if (!self->thread)
    g_clear_pointer (&self, gst_mcc_reader_free);
  return self;
}

void
gst_mcc_reader_free (GstMccReader *self)
{
  if (!self)
    return;
  g_cancellable_cancel (self->cancellable);
  if (self->thread)
    g_thread_join (self->thread);
  for (guint i = 0; i < self->n_sockets; i++)
    g_object_unref (self->sockets[i]);
  g_object_unref (self->cancellable);
  g_free (self);
}
