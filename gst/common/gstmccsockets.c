/* SPDX-License-Identifier: LGPL-2.1-or-later */
#define _GNU_SOURCE
#include "gstmccsockets.h"

#include "gstmccstats.h"

#include <errno.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>

#ifndef SO_MEMINFO
#define SO_MEMINFO 55
#endif
#define MEMINFO_RMEM_ALLOC 0
#define MEMINFO_DROPS 8 /* SK_MEMINFO_DROPS of linux/sock_diag.h */
#define MEMINFO_VARS 9
#ifndef IP_MULTICAST_ALL
#define IP_MULTICAST_ALL 49
#endif
#ifndef IPV6_MULTICAST_ALL
#define IPV6_MULTICAST_ALL 29
#endif

/* A burst of a key unit at 10 Mb/s and more must fit while a decoder holds the processor. */
#define RECEIVE_BUFFER_BYTES (2 * 1024 * 1024)
#define MEMBER "mcc-member" /* data of a socket: the interface's index of its membership */

gboolean
gst_mcc_address_parse (const gchar *text, guint port, MccAddress *out)
{
  GInetAddress *inet = text ? g_inet_address_new_from_string (text) : NULL;
  GSocketAddress *socket_address;

  if (!inet || port > G_MAXUINT16) {
    g_clear_object (&inet);
    return FALSE;
  }
  socket_address = g_inet_socket_address_new (inet, (guint16)port);
  gst_mcc_address_from_socket (socket_address, out);
  g_object_unref (socket_address);
  g_object_unref (inet);
  return TRUE;
}

gboolean
gst_mcc_address_from_socket (GSocketAddress *address, MccAddress *out)
{
  GInetSocketAddress *inet_socket;
  GInetAddress *inet;
  gsize size;

  if (!address || !G_IS_INET_SOCKET_ADDRESS (address))
    return FALSE;
  inet_socket = G_INET_SOCKET_ADDRESS (address);
  inet = g_inet_socket_address_get_address (inet_socket);
  size = g_inet_address_get_native_size (inet);
  if (size > sizeof out->bytes)
    return FALSE;
  memset (out, 0, sizeof *out);
  out->family = size == 4 ? 4 : 6;
  out->port = g_inet_socket_address_get_port (inet_socket);
  memcpy (out->bytes, g_inet_address_to_bytes (inet), size);
  return TRUE;
}

static gboolean
is_link_local (const MccAddress *address)
{
  const guint8 *bytes = address->bytes;

  return address->family == 6
         && ((bytes[0] == 0xff && (bytes[1] & 0x0f) <= 2)
             || (bytes[0] == 0xfe && (bytes[1] & 0xc0) == 0x80));
}

GSocketAddress *
gst_mcc_address_to_socket (const MccAddress *address, guint32 scope)
{
  GInetAddress *inet = g_inet_address_new_from_bytes (
      address->bytes, address->family == 6 ? G_SOCKET_FAMILY_IPV6 : G_SOCKET_FAMILY_IPV4);
  GSocketAddress *result = g_object_new (G_TYPE_INET_SOCKET_ADDRESS, "address", inet, "port",
      (guint)address->port, "scope-id", is_link_local (address) ? scope : 0, NULL);

  g_object_unref (inet);
  return result;
}

gboolean
gst_mcc_address_is_multicast (const MccAddress *address)
{
  return address->family == 6   ? address->bytes[0] == 0xff
         : address->family == 4 ? (address->bytes[0] & 0xf0) == 0xe0
                                : FALSE;
}

static GInetAddress *
to_inet (const MccAddress *address)
{
  return g_inet_address_new_from_bytes (
      address->bytes, address->family == 6 ? G_SOCKET_FAMILY_IPV6 : G_SOCKET_FAMILY_IPV4);
}

/* What sockets that receive get; options that a kernel lacks are no error. */
static void
set_receiving (GSocket *socket, gboolean ipv6)
{
  int fd = g_socket_get_fd (socket), off = 0, bytes = RECEIVE_BUFFER_BYTES;

  /* a wildcard socket would else hear every group that anybody on this host has joined */
  if (ipv6)
    (void)setsockopt (fd, IPPROTO_IPV6, IPV6_MULTICAST_ALL, &off, sizeof off);
  else
    (void)setsockopt (fd, IPPROTO_IP, IP_MULTICAST_ALL, &off, sizeof off);
  if (setsockopt (fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof bytes) < 0)
    (void)setsockopt (fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
}

/* What all sockets that may send get. */
static void
set_common (GSocket *socket, gboolean ipv6, const GstMccSessionSettings *settings)
{
  int fd = g_socket_get_fd (socket);

  g_socket_set_multicast_loopback (socket, settings->loop);
  g_socket_set_multicast_ttl (socket, (guint)settings->ttl_mc);
  g_socket_set_ttl (socket, (guint)MAX (settings->ttl, 1)); /* the kernel knows no 0 there */
  if (settings->qos_dscp >= 0) {
    int tos = settings->qos_dscp << 2;

    if (ipv6)
      (void)setsockopt (fd, IPPROTO_IPV6, IPV6_TCLASS, &tos, sizeof tos);
    else
      (void)setsockopt (fd, IPPROTO_IP, IP_TOS, &tos, sizeof tos);
  }
  set_receiving (socket, ipv6);
}

guint32
gst_mcc_sockets_get_scope (GstMccSockets *self)
{
  return (guint32)g_atomic_int_get (&self->scope);
}

/* Which way multicast leaves. */
static gboolean
set_output (GstMccSockets *self, GSocket *socket, GError **error)
{
  unsigned index = gst_mcc_sockets_get_scope (self);
  /* a sender's own address tells the interface too; a receiver's source-address is not its own */
  gboolean by_address = self->sender && self->source.family == 4;
  int fd = g_socket_get_fd (socket), result = 0;

  if (self->ipv6) {
    if (index)
      result = setsockopt (fd, IPPROTO_IPV6, IPV6_MULTICAST_IF, &index, sizeof index);
  } else if (index || by_address) {
    struct ip_mreqn request = { .imr_ifindex = (int)index };

    if (by_address)
      memcpy (&request.imr_address, self->source.bytes, 4);
    result = setsockopt (fd, IPPROTO_IP, IP_MULTICAST_IF, &request, sizeof request);
  }
  if (result < 0) {
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_OPEN_WRITE,
        "multicast-iface: cannot send to groups by %s (%s); choose an interface that is up and "
        "has an address",
        self->iface ? self->iface : "source-address", g_strerror (errno));
    return FALSE;
  }
  return TRUE;
}

static gboolean
bind_to (GstMccSockets *self, GSocket *socket, const MccAddress *address, gboolean shared,
    const gchar *property, GError **error)
{
  GSocketAddress *local;
  GError *why = NULL;
  gchar *text;
  gboolean good;

  local = gst_mcc_address_to_socket (address, gst_mcc_sockets_get_scope (self));
  good = g_socket_bind (socket, local, shared, &why);
  g_object_unref (local);
  if (!good) {
    text = gst_mcc_address_to_string (address);
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_OPEN_READ,
        "%s: cannot use %s (%s); choose another one, or stop what uses it", property, text,
        why->message);
    g_free (text);
    g_clear_error (&why);
  }
  return good;
}

/* ---- memberships ---- */

/* The interface that the routes have led the kernel to, once it is a member; 0: it does not tell.
 */
static unsigned
find_member (const GstMccSockets *self, GSocket *socket, const MccAddress *address)
{
  struct if_nameindex *all = if_nameindex ();
  GSocketAddress *group = gst_mcc_address_to_socket (address, 0);
  unsigned found = 0;

  for (guint i = 0; all && !found && all[i].if_index; i++) {
    struct group_filter filter = { .gf_interface = all[i].if_index };
    socklen_t size = sizeof filter;

    if (g_socket_address_to_native (group, &filter.gf_group, sizeof filter.gf_group, NULL)
        && getsockopt (g_socket_get_fd (socket), self->ipv6 ? IPPROTO_IPV6 : IPPROTO_IP,
               MCAST_MSFILTER, &filter, &size)
               == 0)
      found = all[i].if_index;
  }
  if (all)
    if_freenameindex (all);
  g_object_unref (group);
  return found;
}

static gboolean
add_membership (GstMccSockets *self, GSocket *socket, const MccAddress *address, GError **error)
{
  unsigned index = self->iface ? if_nametoindex (self->iface) : 0;
  GInetAddress *group, *source;
  gboolean good;

  if (self->iface && index == 0) { /* GLib would go by the routes */
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND, "there is no such interface");
    return FALSE;
  }
  group = to_inet (address);
  source = self->ssm ? to_inet (&self->source) : NULL;
  if (source)
    good = g_socket_join_multicast_group_ssm (socket, group, source, self->iface, error);
  else
    good = g_socket_join_multicast_group (socket, group, FALSE, self->iface, error);
  g_clear_object (&source);
  g_object_unref (group);
  if (good && index == 0)
    index = find_member (self, socket, address);
  if (good)
    g_object_set_data (G_OBJECT (socket), MEMBER, GUINT_TO_POINTER (index));
  return good;
}

static const gchar *
no_route (const GstMccSockets *self)
{
  return self->ipv6 ? "there is no route to it: name an interface, or add a route (ip -6 route add "
                      "multicast ff00::/8 dev eth0 table local)"
                    : "there is no route to it: name an interface, or add a route (ip route add "
                      "224.0.0.0/4 dev eth0)";
}

/* By the index of when it was joined: the name, or the route, may lead to another interface now,
 * and it may be gone. That works for one source's membership, too. */
static void
drop_membership (GstMccSockets *self, GSocket *socket, const MccAddress *address)
{
  unsigned index = GPOINTER_TO_UINT (g_object_get_data (G_OBJECT (socket), MEMBER));
  int fd = g_socket_get_fd (socket);

  if (self->ipv6) {
    struct ipv6_mreq request = { .ipv6mr_interface = index };

    memcpy (&request.ipv6mr_multiaddr, address->bytes, sizeof request.ipv6mr_multiaddr);
    (void)setsockopt (fd, IPPROTO_IPV6, IPV6_LEAVE_GROUP, &request, sizeof request);
  } else {
    struct ip_mreqn request = { .imr_ifindex = (int)index };

    memcpy (&request.imr_multiaddr, address->bytes, sizeof request.imr_multiaddr);
    (void)setsockopt (fd, IPPROTO_IP, IP_DROP_MEMBERSHIP, &request, sizeof request);
  }
}

static gboolean
join (GstMccSockets *self, GSocket *socket, const MccAddress *address, GError **error)
{
  GError *why = NULL;
  gchar *text;

  if (add_membership (self, socket, address, &why))
    return TRUE;
  text = gst_mcc_address_to_string (address);
  g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_OPEN_READ,
      "multicast-iface: cannot join %s%s%s (%s); %s", text, self->iface ? " on " : "",
      self->iface ? self->iface : "", why->message,
      self->iface ? "choose an interface that is up and has an address" : no_route (self));
  g_free (text);
  g_clear_error (&why);
  return FALSE;
}

/* ---- making ---- */

static GSocket *
make (GstMccSockets *self, const GstMccSessionSettings *settings, GError **error)
{
  GSocket *socket = g_socket_new (self->ipv6 ? G_SOCKET_FAMILY_IPV6 : G_SOCKET_FAMILY_IPV4,
      G_SOCKET_TYPE_DATAGRAM, G_SOCKET_PROTOCOL_UDP, error);

  if (!socket)
    return NULL;
  set_common (socket, self->ipv6, settings);
  return socket;
}

/* A socket bound to the group itself, so that other groups on this port stay out. */
static GSocket *
make_member (GstMccSockets *self, const GstMccSessionSettings *settings, guint port, GError **error)
{
  GSocket *socket = make (self, settings, error);
  MccAddress address = self->group;

  if (!socket)
    return NULL;
  address.port = (uint16_t)port;
  if (!bind_to (self, socket, &address, TRUE, "port", error)
      || !join (self, socket, &address, error))
    g_clear_object (&socket);
  return socket;
}

/* A socket that sends, bound to @local (port 0: any). */
static GSocket *
make_sending (GstMccSockets *self, const GstMccSessionSettings *settings, const MccAddress *local,
    gboolean shared, const gchar *property, GError **error)
{
  GSocket *socket = make (self, settings, error);

  if (!socket)
    return NULL;
  if (!bind_to (self, socket, local, shared, property, error)
      || (self->multicast && !set_output (self, socket, error)))
    g_clear_object (&socket);
  return socket;
}

static MccAddress
wildcard (const GstMccSockets *self, guint port)
{
  MccAddress address = { .family = self->ipv6 ? 6 : 4, .port = (uint16_t)port };

  return address;
}

/* 0.0.0.0 or ::, where a unicast receiver may listen. */
static gboolean
is_wildcard (const MccAddress *address)
{
  static const guint8 zero[sizeof address->bytes];

  return memcmp (address->bytes, zero, sizeof zero) == 0;
}

static gboolean refuse (GError **error, const gchar *format, ...) G_GNUC_PRINTF (2, 3);

static gboolean
refuse (GError **error, const gchar *format, ...)
{
  va_list args;

  va_start (args, format);
  if (error)
    *error = g_error_new_valist (GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS, format, args);
  va_end (args);
  return FALSE;
}

static void
find_feedback (GstMccSockets *self, const GstMccSessionSettings *settings)
{
  const gchar *text
      = settings->feedback_address ? settings->feedback_address : settings->source_address;
  guint port = settings->feedback_port ? settings->feedback_port : settings->port + 1;

  if (text)
    gst_mcc_address_parse (text, port, &self->feedback);
}

/* Whether a socket of another program, or sender, has this port of all addresses. Those of groups
 * have not, and are why ours has to be shared; of two that both have it the kernel would give each
 * a part of the reports (SO_REUSEPORT, which GLib sets with SO_REUSEADDR). */
static gboolean
is_taken (const GstMccSockets *self, guint port)
{
  GSocketFamily family = self->ipv6 ? G_SOCKET_FAMILY_IPV6 : G_SOCKET_FAMILY_IPV4;
  GSocket *probe = g_socket_new (family, G_SOCKET_TYPE_DATAGRAM, G_SOCKET_PROTOCOL_UDP, NULL);
  GInetAddress *host = g_inet_address_new_loopback (family);
  GSocketAddress *address = g_inet_socket_address_new (host, (guint16)port);
  GError *why = NULL;
  gboolean taken = probe && !g_socket_bind (probe, address, FALSE, &why)
                   && g_error_matches (why, G_IO_ERROR, G_IO_ERROR_ADDRESS_IN_USE);

  g_clear_error (&why);
  g_object_unref (address);
  g_object_unref (host);
  g_clear_object (&probe);
  return taken;
}

/* What is announced may be the outer address of a NAT: then on all of ours. */
static GSocket *
make_listening (GstMccSockets *self, const GstMccSessionSettings *settings, GError **error)
{
  GSocket *socket = make_sending (self, settings, &self->feedback, FALSE, "feedback-address", NULL);
  MccAddress local = wildcard (self, self->feedback.port);

  if (socket)
    return socket;
  if (is_taken (self, local.port)) {
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_OPEN_READ,
        "feedback-port: cannot use %u (%s); choose another one, or stop what uses it", local.port,
        g_strerror (EADDRINUSE));
    return NULL;
  }
  return make_sending (self, settings, &local, TRUE, "feedback-port", error);
}

static gboolean
open_sender (GstMccSockets *self, const GstMccSessionSettings *settings, GError **error)
{
  MccAddress local = wildcard (self, 0);

  if (self->source.family) {
    local = self->source;
    local.port = 0;
  }
  self->rtp = make_sending (self, settings, &local, FALSE, "source-address", error);
  if (!self->rtp)
    return FALSE;
  if (self->feedback.family)
    self->rtcp = make_listening (self, settings, error);
  else
    self->rtcp = make_sending (self, settings, &local, FALSE, "source-address", error);
  if (!self->rtcp)
    return FALSE;
  if (self->multicast && !self->ssm) {
    self->rtcp_group = make_member (self, settings, settings->port + 1, error);
    return self->rtcp_group != NULL;
  }
  return TRUE;
}

static gboolean
open_receiver (
    GstMccSockets *self, const GstMccSessionSettings *settings, gboolean streams, GError **error)
{
  MccAddress local;

  if (!self->multicast) {
    /* not shared: two programs on one unicast port would each get a part of the packets */
    if (!streams
        && (!(self->rtp = make (self, settings, error))
            || !bind_to (self, self->rtp, &self->group, FALSE, "address and port", error)))
      return FALSE;
    local = self->group;
    local.port = (uint16_t)(settings->port + 1);
    self->rtcp = make_sending (self, settings, &local, FALSE, "address and port", error);
    return self->rtcp != NULL;
  }
  if (!streams && !(self->rtp = make_member (self, settings, settings->port, error)))
    return FALSE;
  self->rtcp_group = make_member (self, settings, settings->port + 1, error);
  if (!self->rtcp_group)
    return FALSE;
  local = wildcard (self, 0);
  self->rtcp = make_sending (self, settings, &local, FALSE, "port", error);
  return self->rtcp != NULL;
}

/* RFC 4607: 232/8, ff3x::/32. */
static gboolean
is_source_specific (const MccAddress *group)
{
  const guint8 *bytes = group->bytes;

  return group->family == 4
             ? bytes[0] == 232
             : bytes[0] == 0xff && (bytes[1] & 0xf0) == 0x30 && bytes[2] == 0 && bytes[3] == 0;
}

/* Where a sender can send to, and is heard of how it arrives. */
static gboolean
check_target (const MccAddress *group, const GstMccSessionSettings *settings, GError **error)
{
  if (is_wildcard (group))
    return refuse (error,
        "address: nobody can be sent to at %s; give a group such as 239.255.12.42",
        settings->address);
  if (is_source_specific (group) && !settings->source_address && !settings->feedback_address)
    return refuse (error,
        "source-address: receivers of %s, which is source-specific, report to its source by "
        "unicast; give this host's own address, which they name, too",
        settings->address);
  return TRUE;
}

gboolean
gst_mcc_sockets_open (GstMccSockets *self, const GstMccSessionSettings *settings,
    GstMccSocketsKind kind, GError **error)
{
  gboolean sender = kind == GST_MCC_SOCKETS_SENDER;
  GSocketAddress *local;
  MccAddress address;
  gboolean good;

  memset (self, 0, sizeof *self);
  if (!gst_mcc_session_settings_check (settings, error))
    return FALSE;
  self->sender = sender;
  self->iface = g_strdup (settings->multicast_iface);
  self->scope = settings->multicast_iface ? if_nametoindex (settings->multicast_iface) : 0;
  if (settings->multicast_iface && self->scope == 0) {
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_FOUND,
        "multicast-iface: there is no interface %s; 'ip link' lists them",
        settings->multicast_iface);
    gst_mcc_sockets_close (self);
    return FALSE;
  }
  gst_mcc_address_parse (settings->address, settings->port, &self->group);
  if (sender && !check_target (&self->group, settings, error)) {
    gst_mcc_sockets_close (self);
    return FALSE;
  }
  self->ipv6 = self->group.family == 6;
  self->multicast = gst_mcc_address_is_multicast (&self->group);
  if (settings->source_address) {
    gst_mcc_address_parse (settings->source_address, 0, &self->source);
    self->ssm = self->multicast;
  }
  find_feedback (self, settings);
  good = sender ? open_sender (self, settings, error)
                : open_receiver (self, settings, kind == GST_MCC_SOCKETS_STREAMS, error);
  if (!good) {
    gst_mcc_sockets_close (self);
    return FALSE;
  }
  gst_mcc_sockets_leave (self);
  local = g_socket_get_local_address (self->rtcp, NULL);
  if (gst_mcc_address_from_socket (local, &address))
    self->rtcp_port = address.port;
  g_clear_object (&local);
  /* a full send queue must not hold up whoever reports */
  g_socket_set_blocking (self->rtcp, FALSE);
  if (self->rtcp_group)
    g_socket_set_blocking (self->rtcp_group, FALSE);
  return TRUE;
}

void
gst_mcc_sockets_close (GstMccSockets *self)
{
  g_clear_pointer (&self->iface, g_free);
  GSocket **sockets[] = { &self->rtp, &self->rtcp_group, &self->rtcp };

  for (guint i = 0; i < G_N_ELEMENTS (sockets); i++) {
    if (*sockets[i]) {
      g_socket_close (*sockets[i], NULL);
      g_clear_object (sockets[i]);
    }
  }
}

void
gst_mcc_sockets_leave (GstMccSockets *self)
{
  if (!self->multicast || self->sender)
    return;
  if (self->rtp)
    drop_membership (self, self->rtp, &self->group);
  drop_membership (self, self->rtcp_group, &self->group);
}

/* What the socket of a stream is bound to. */
static gboolean
get_group (GSocket *socket, MccAddress *out)
{
  GSocketAddress *local = g_socket_get_local_address (socket, NULL);
  gboolean good = gst_mcc_address_from_socket (local, out);

  g_clear_object (&local);
  return good;
}

/* Reads away what came in before. */
static void
empty (GSocket *socket)
{
  gchar byte[1];

  while (g_socket_receive_with_blocking (socket, byte, sizeof byte, FALSE, NULL, NULL) >= 0)
    ;
}

/* One of several: @error is of the first that could not be joined. */
static gboolean
join_too (GstMccSockets *self, GSocket *socket, const MccAddress *group, GError **error)
{
  return join (self, socket, group, error && *error ? NULL : error);
}

gboolean
gst_mcc_sockets_rejoin (GstMccSockets *self, GError **error)
{
  gboolean good = TRUE;

  if (self->rtp)
    empty (self->rtp);
  if (!self->multicast || self->sender)
    return TRUE;
  gst_mcc_sockets_leave (self); /* who is in cannot join */
  if (self->rtp)
    good &= join_too (self, self->rtp, &self->group, error);
  good &= join_too (self, self->rtcp_group, &self->group, error);
  return good;
}

void
gst_mcc_sockets_renew_output (GstMccSockets *self)
{
  unsigned index = self->iface ? if_nametoindex (self->iface) : 0;

  if (!self->multicast || (self->iface && index == 0))
    return;
  g_atomic_int_set (&self->scope, index);
  if (self->sender)
    set_output (self, self->rtp, NULL);
  set_output (self, self->rtcp, NULL);
}

gboolean
gst_mcc_sockets_renew (GstMccSockets *self, GSocket *const *streams, guint n, GError **error)
{
  GSocket *own[] = { self->sender ? NULL : self->rtp, self->rtcp_group };
  gboolean good = TRUE;

  if (!self->multicast)
    return TRUE;
  gst_mcc_sockets_renew_output (self);
  /* All leave before one joins: several sockets in one group are one member for the network. */
  for (guint i = 0; i < G_N_ELEMENTS (own); i++)
    if (own[i])
      drop_membership (self, own[i], &self->group);
  for (guint i = 0; i < n; i++)
    gst_mcc_sockets_leave_stream (self, streams[i]);
  for (guint i = 0; i < G_N_ELEMENTS (own); i++)
    if (own[i])
      good &= join_too (self, own[i], &self->group, error);
  for (guint i = 0; i < n; i++) {
    MccAddress group;

    good &= get_group (streams[i], &group) && join_too (self, streams[i], &group, error);
  }
  return good;
}

GSocket *
gst_mcc_sockets_open_stream (GstMccSockets *self, MccPlace place, GError **error)
{
  MccAddress address;
  GSocket *socket;

  if (!self->multicast)
    place.address_offset = 0;
  if (mcc_place_address (&self->group, place, &address) != MCC_PLACE_GOOD) {
    refuse (error, "a stream at address + %u, port + %u is out of its block", place.address_offset,
        place.port_offset);
    return NULL;
  }
  socket = g_socket_new (self->ipv6 ? G_SOCKET_FAMILY_IPV6 : G_SOCKET_FAMILY_IPV4,
      G_SOCKET_TYPE_DATAGRAM, G_SOCKET_PROTOCOL_UDP, error);
  if (!socket)
    return NULL;
  set_receiving (socket, self->ipv6);
  if (!bind_to (self, socket, &address, self->multicast, "port", error)
      || (self->multicast && !join (self, socket, &address, error)))
    g_clear_object (&socket);
  return socket;
}

void
gst_mcc_sockets_leave_stream (GstMccSockets *self, GSocket *socket)
{
  MccAddress group;

  if (self->multicast && get_group (socket, &group))
    drop_membership (self, socket, &group);
}

void
gst_mcc_sockets_set_ttl (GstMccSockets *self, guint8 ttl)
{
  if (self->rtcp && self->multicast)
    g_socket_set_multicast_ttl (self->rtcp, ttl);
}

void
gst_mcc_sockets_set_ect (GstMccSockets *self, gboolean ect)
{
  int level = self->ipv6 ? IPPROTO_IPV6 : IPPROTO_IP;
  int option = self->ipv6 ? IPV6_TCLASS : IP_TOS, tos = 0;
  socklen_t size = sizeof tos;

  if (!self->rtp || getsockopt (g_socket_get_fd (self->rtp), level, option, &tos, &size) < 0)
    return;
  tos = (tos & 0xfc) | (ect ? MCC_ECN_ECT0 : MCC_ECN_NOT_ECT);
  (void)setsockopt (g_socket_get_fd (self->rtp), level, option, &tos, sizeof tos);
}

static guint32
get_meminfo (GSocket *socket, guint field)
{
  guint32 info[MEMINFO_VARS] = { 0 };
  socklen_t size = sizeof info;

  if (getsockopt (g_socket_get_fd (socket), SOL_SOCKET, SO_MEMINFO, info, &size) < 0
      || size < (field + 1) * sizeof info[0])
    return 0;
  return info[field];
}

guint32
gst_mcc_sockets_get_drops (GSocket *socket)
{
  return get_meminfo (socket, MEMINFO_DROPS);
}

guint32
gst_mcc_sockets_get_backlog (GSocket *socket)
{
  return get_meminfo (socket, MEMINFO_RMEM_ALLOC);
}

static gboolean
check_numbers (const GstMccSessionSettings *settings, GError **error)
{
  if (settings->port < 2 || settings->port > 65534 || settings->port % 2)
    return refuse (error, "port: %d; RTP needs an even port from 2 to 65534 (RTCP takes the next)",
        (gint)settings->port);
  if (settings->ttl < 0 || settings->ttl > 255)
    return refuse (error, "ttl: %d; choose 0 to 255", settings->ttl);
  if (settings->ttl_mc < 0 || settings->ttl_mc > 255)
    return refuse (error, "ttl-mc: %d; choose 0 to 255", settings->ttl_mc);
  if (settings->qos_dscp < -1 || settings->qos_dscp > 63)
    return refuse (error, "qos-dscp: %d; choose 0 to 63, or -1", settings->qos_dscp);
  if (settings->feedback_port > 65535)
    return refuse (error, "feedback-port: %d; choose 1 to 65535, or 0 for port + 1",
        (gint)settings->feedback_port);
  if (settings->session_bandwidth > MCC_APP_RATE_MAX)
    return refuse (error,
        "session-bandwidth: %" G_GUINT64_FORMAT " cannot be announced; choose %" G_GUINT64_FORMAT
        " or less",
        settings->session_bandwidth, (guint64)MCC_APP_RATE_MAX);
  if (settings->cname && strlen (settings->cname) > 255)
    return refuse (error, "cname: longer than 255 bytes; choose a shorter one");
  return TRUE;
}

/* An optional unicast address of the group's family. */
static gboolean
check_unicast (const gchar *property, const gchar *text, guint8 family, GError **error)
{
  MccAddress address;

  if (!text)
    return TRUE;
  if (!gst_mcc_address_parse (text, 0, &address))
    return refuse (error, "%s: '%s' is not an IP address; give a host's", property, text);
  if (address.family != family)
    return refuse (error, "%s: '%s' is not of the same IP version as address; give one that is",
        property, text);
  if (gst_mcc_address_is_multicast (&address))
    return refuse (error, "%s: '%s' is a group; give a host's address", property, text);
  return TRUE;
}

gboolean
gst_mcc_session_settings_check (const GstMccSessionSettings *settings, GError **error)
{
  MccAddress address;

  if (settings->bad_uri)
    return refuse (error, "uri: %s", settings->bad_uri);
  if (!settings->address || !gst_mcc_address_parse (settings->address, 0, &address))
    return refuse (error,
        "address: '%s' is not an IP address; give a group such as 239.255.12.42 or ff15::42",
        settings->address ? settings->address : "");
  if (!check_numbers (settings, error)
      || !check_unicast ("source-address", settings->source_address, address.family, error)
      || !check_unicast ("feedback-address", settings->feedback_address, address.family, error))
    return FALSE;
  if (settings->feedback_port && !settings->feedback_address && !settings->source_address)
    return refuse (error,
        "feedback-port: %u is the port of feedback-address, which is not set; give the sender's "
        "own "
        "address there, or leave feedback-port out",
        settings->feedback_port);
  if (address.family == 4 && memcmp (address.bytes, "\xff\xff\xff\xff", 4) == 0)
    return refuse (error, "address: %s is for broadcast; give a group such as 239.255.12.42",
        settings->address);
  if (!gst_mcc_address_is_multicast (&address))
    return TRUE;
  if (address.family == 4 && memcmp (address.bytes, "\xe0\0\0", 3) == 0)
    return refuse (error,
        "address: %s is in 224.0.0.0/24, which is for routing protocols; choose another, such as "
        "239.255.12.42",
        settings->address);
  if (address.family == 6 && (address.bytes[1] & 0x0f) <= 2 && !settings->multicast_iface)
    return refuse (error, "multicast-iface: %s is valid on one link only; name the interface",
        settings->address);
  return TRUE;
}
