/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "vnet.h"

typedef struct {
  VnetPacket packet;
  int refs;
} Shared;

typedef enum {
  EVENT_SENT,
  EVENT_ARRIVED,
  EVENT_UP,
  EVENT_TIMER,
  EVENT_ACK,
  EVENT_LOSS,
  EVENT_PRUNE
} EventType;

typedef struct {
  MccTime time;
  guint64 order;
  EventType type;
  int id;
  guint64 generation;
  Shared *shared;
} Event;

typedef struct {
  VnetLink config;
  VnetLinkStats stats;
  int parent;
  GArray *children; /* int */
  GArray *hosts;    /* int */
  guint hosts_below;
  guint members[VNET_GROUPS]; /* hosts below that have joined */

  GQueue queue; /* Shared; the head is being sent */
  guint64 queued_bytes;
  MccTime head_done;
} Link;

typedef struct {
  const VnetHandler *handler;
  gpointer owner;
  int link;
  MccTime up_delay, epoch;
  double drift;
  bool gone;
  guint32 groups; /* a bit each */
  guint64 generation;
  MccTime timer; /* global */
} Host;

typedef struct {
  int link;
  MccTime rtt, recover;
  guint32 packet_bytes, in_flight;
  double cwnd, ssthresh;
  bool stopped;
  guint64 acked_bytes;
} Flow;

struct Vnet {
  MccTime now;
  guint64 order;
  MccRng rng;
  GArray *heap; /* Event */
  GPtrArray *links, *hosts, *flows;
  GArray *top;       /* links below the core */
  GArray *top_hosts; /* hosts at the core */
};

static bool
before (const Event *a, const Event *b)
{
  return a->time != b->time ? a->time < b->time : a->order < b->order;
}

static void
post (Vnet *self, MccTime time, EventType type, int id, guint64 generation, Shared *shared)
{
  Event event = { MAX (time, self->now), self->order++, type, id, generation, shared };
  g_array_append_val (self->heap, event);
  Event *heap = (Event *)self->heap->data;
  for (guint i = self->heap->len - 1; i > 0 && before (&heap[i], &heap[(i - 1) / 2]);
       i = (i - 1) / 2) {
    Event swap = heap[i];
    heap[i] = heap[(i - 1) / 2];
    heap[(i - 1) / 2] = swap;
  }
}

static Event
take (Vnet *self)
{
  Event *heap = (Event *)self->heap->data;
  Event first = heap[0];
  guint n = self->heap->len - 1;
  heap[0] = heap[n];
  g_array_set_size (self->heap, n);
  for (guint i = 0;;) {
    guint least = i;
    for (guint child = 2 * i + 1; child <= 2 * i + 2; child++)
      if (child < n && before (&heap[child], &heap[least]))
        least = child;
    if (least == i)
      return first;
    Event swap = heap[i];
    heap[i] = heap[least];
    heap[least] = swap;
    i = least;
  }
}

static Shared *
shared_ref (Shared *shared)
{
  shared->refs++;
  return shared;
}

static void
shared_unref (Shared *shared)
{
  if (shared == NULL || --shared->refs > 0)
    return;
  g_free (shared->packet.app);
  g_free (shared->packet.assp);
  g_free (shared->packet.elm);
  g_free (shared);
}

static Shared *
shared_new (const VnetPacket *packet)
{
  Shared *shared = g_new0 (Shared, 1);
  shared->packet = *packet;
  if (packet->app != NULL)
    shared->packet.app = g_memdup2 (packet->app, sizeof *packet->app);
  if (packet->assp != NULL)
    shared->packet.assp = g_memdup2 (packet->assp, sizeof *packet->assp);
  if (packet->elm != NULL)
    shared->packet.elm = g_memdup2 (packet->elm, sizeof *packet->elm);
  shared->refs = 1;
  return shared;
}

static void
link_free (gpointer data)
{
  Link *link = data;
  g_array_unref (link->children);
  g_array_unref (link->hosts);
  g_queue_clear_full (&link->queue, (GDestroyNotify)shared_unref);
  g_free (link);
}

Vnet *
vnet_new (guint64 seed)
{
  Vnet *self = g_new0 (Vnet, 1);
  mcc_rng_init (&self->rng, seed);
  self->heap = g_array_new (FALSE, FALSE, sizeof (Event));
  self->links = g_ptr_array_new_with_free_func (link_free);
  self->hosts = g_ptr_array_new_with_free_func (g_free);
  self->flows = g_ptr_array_new_with_free_func (g_free);
  self->top = g_array_new (FALSE, FALSE, sizeof (int));
  self->top_hosts = g_array_new (FALSE, FALSE, sizeof (int));
  return self;
}

void
vnet_free (Vnet *self)
{
  for (guint i = 0; i < self->heap->len; i++)
    shared_unref (g_array_index (self->heap, Event, i).shared);
  g_array_unref (self->heap);
  g_ptr_array_unref (self->links);
  g_ptr_array_unref (self->hosts);
  g_ptr_array_unref (self->flows);
  g_array_unref (self->top);
  g_array_unref (self->top_hosts);
  g_free (self);
}

static Link *
get_link (Vnet *self, int link)
{
  return g_ptr_array_index (self->links, (guint)link);
}

static Host *
get_host (Vnet *self, int host)
{
  return g_ptr_array_index (self->hosts, (guint)host);
}

static Flow *
get_flow (Vnet *self, int flow)
{
  return g_ptr_array_index (self->flows, (guint)flow);
}

int
vnet_add_link (Vnet *self, int parent, const VnetLink *config)
{
  Link *link = g_new0 (Link, 1);
  link->config = *config;
  link->parent = parent;
  link->children = g_array_new (FALSE, FALSE, sizeof (int));
  link->hosts = g_array_new (FALSE, FALSE, sizeof (int));
  g_queue_init (&link->queue);
  int id = (int)self->links->len;
  g_ptr_array_add (self->links, link);
  g_array_append_val (parent == VNET_CORE ? self->top : get_link (self, parent)->children, id);
  return id;
}

static MccTime
to_local (const Host *host, MccTime time)
{
  return host->epoch + time + (MccTime)(gint64)((double)time * host->drift);
}

static MccTime
to_global (const Host *host, MccTime local)
{
  if (local <= host->epoch)
    return 0;
  MccTime time = (MccTime)((double)(local - host->epoch) / (1.0 + host->drift));
  while (to_local (host, time) < local)
    time++;
  return time;
}

void
vnet_wake (Vnet *self, int id)
{
  Host *host = get_host (self, id);
  MccTime next = host->gone ? MCC_TIME_NONE : host->handler->next_timeout (host->owner);
  MccTime time = next == MCC_TIME_NONE ? next : MAX (to_global (host, next), self->now);
  if (time == host->timer)
    return;
  host->timer = time;
  host->generation++;
  if (time != MCC_TIME_NONE)
    post (self, time, EVENT_TIMER, id, host->generation, NULL);
}

int
vnet_add_host (Vnet *self, int link, MccTime up_delay, MccTime epoch, double drift_ppm,
    const VnetHandler *handler, gpointer owner)
{
  Host *host = g_new0 (Host, 1);
  *host = (Host){ .handler = handler,
    .owner = owner,
    .link = link,
    .up_delay = up_delay,
    .epoch = epoch,
    .drift = drift_ppm * 1e-6,
    .timer = MCC_TIME_NONE };
  int id = (int)self->hosts->len;
  g_ptr_array_add (self->hosts, host);
  g_array_append_val (link == VNET_CORE ? self->top_hosts : get_link (self, link)->hosts, id);
  for (int l = link; l != VNET_CORE; l = get_link (self, l)->parent) {
    get_link (self, l)->hosts_below++;
  }
  return id;
}

void
vnet_remove_host (Vnet *self, int id)
{
  get_host (self, id)->gone = true;
  vnet_wake (self, id);
}

void
vnet_join (Vnet *self, int id, guint group)
{
  Host *host = get_host (self, id);
  if (host->groups & 1u << group)
    return;
  host->groups |= 1u << group;
  for (int l = host->link; l != VNET_CORE; l = get_link (self, l)->parent)
    get_link (self, l)->members[group]++;
}

void
vnet_leave (Vnet *self, int id, guint group, MccTime latency)
{
  Host *host = get_host (self, id);
  if (!(host->groups & 1u << group))
    return;
  host->groups &= ~(1u << group);
  for (int l = host->link; l != VNET_CORE; l = get_link (self, l)->parent)
    post (self, self->now + latency, EVENT_PRUNE, l, group, NULL);
}

VnetLink *
vnet_link (Vnet *self, int link)
{
  return &get_link (self, link)->config;
}

void
vnet_set_rate (Vnet *self, int link, guint64 rate_bps)
{
  get_link (self, link)->config.rate_bps = rate_bps; /* from the next packet on */
}

const VnetLinkStats *
vnet_link_stats (Vnet *self, int link)
{
  return &get_link (self, link)->stats;
}

static MccTime
transmission (const Link *link, guint64 bytes)
{
  if (link->config.rate_bps == 0)
    return 0;
  return (MccTime)((double)bytes * 8e9 / (double)link->config.rate_bps);
}

MccTime
vnet_queue_delay (Vnet *self, int id)
{
  Link *link = get_link (self, id);
  Shared *head = g_queue_peek_head (&link->queue);
  if (head == NULL)
    return 0;
  return link->head_done - self->now + transmission (link, link->queued_bytes - head->packet.bytes);
}

MccRng *
vnet_rng (Vnet *self)
{
  return &self->rng;
}

MccTime
vnet_now (Vnet *self)
{
  return self->now;
}

MccTime
vnet_host_now (Vnet *self, int host)
{
  return to_local (get_host (self, host), self->now);
}

static void
start_head (Vnet *self, int id)
{
  Link *link = get_link (self, id);
  Shared *head = g_queue_peek_head (&link->queue);
  if (head == NULL)
    return;
  link->head_done = self->now + transmission (link, head->packet.bytes);
  post (self, link->head_done, EVENT_SENT, id, 0, NULL);
}

/* A packet of a flow was dropped: the sender learns it a round trip later. */
static void
note_drop (Vnet *self, int id, const VnetPacket *packet)
{
  Link *link = get_link (self, id);
  if (packet->kind == VNET_RTP)
    link->stats.rtp_dropped++;
  if (packet->kind == VNET_FLOW) {
    Flow *flow = get_flow (self, packet->from);
    MccTime rtt = vnet_queue_delay (self, id) + link->config.delay + flow->rtt;
    post (self, self->now + rtt, EVENT_LOSS, packet->from, 0, NULL);
  }
}

/* A reference: @shared, or a copy with other ECN bits; NULL: dropped. */
static Shared *
pass_ecn (Vnet *self, int id, Shared *shared)
{
  Link *link = get_link (self, id);
  const VnetPacket *packet = &shared->packet;
  MccEcn ecn = packet->rtp.ecn;
  bool ect = packet->kind == VNET_RTP && packet->rtp.ecn != MCC_ECN_NOT_ECT;
  bool mark = link->config.mark_delay > 0 && vnet_queue_delay (self, id) > link->config.mark_delay;
  if ((mark && !ect) || (ect && link->config.ecn == VNET_ECN_DROPS)) {
    link->stats.dropped++;
    note_drop (self, id, packet);
    return NULL;
  }
  if (ect && (mark || link->config.ecn == VNET_ECN_MARKS_ALL)) {
    ecn = MCC_ECN_CE;
    link->stats.marked++;
  }
  if (ect && link->config.ecn == VNET_ECN_BLEACHES)
    ecn = MCC_ECN_NOT_ECT;
  if (ecn == packet->rtp.ecn)
    return shared_ref (shared);
  Shared *changed = shared_new (packet);
  changed->packet.rtp.ecn = ecn;
  return changed;
}

static void
enter_link (Vnet *self, int id, Shared *shared)
{
  Link *link = get_link (self, id);
  const VnetPacket *packet = &shared->packet;
  if (packet->kind == VNET_APP)
    link->stats.app_bytes += packet->bytes;
  if (link->config.loss_ratio > 0.0 && mcc_rng_uniform (&self->rng) < link->config.loss_ratio) {
    link->stats.lost++;
    note_drop (self, id, packet);
    return;
  }
  bool full = (link->config.queue_bytes > 0
                  && link->queued_bytes + packet->bytes > link->config.queue_bytes)
              || (link->config.queue_packets > 0
                  && g_queue_get_length (&link->queue) >= link->config.queue_packets);
  if (full && !g_queue_is_empty (&link->queue)) {
    link->stats.dropped++;
    note_drop (self, id, packet);
    return;
  }
  Shared *passed = pass_ecn (self, id, shared);
  if (passed == NULL)
    return;
  g_queue_push_tail (&link->queue, passed);
  link->queued_bytes += packet->bytes;
  if (g_queue_get_length (&link->queue) == 1)
    start_head (self, id);
}

static void
deliver (Vnet *self, GArray *hosts, const VnetPacket *packet)
{
  for (guint i = 0; i < hosts->len; i++) {
    int id = g_array_index (hosts, int, i);
    Host *host = get_host (self, id);
    bool member = packet->group == 0 || (host->groups & 1u << packet->group) != 0;
    if (id == packet->from || host->gone || !member)
      continue;
    host->handler->handle_packet (host->owner, packet, to_local (host, self->now));
    vnet_wake (self, id);
  }
}

/* To the hosts here and into the links below, but not back where it came from. */
static void
forward (Vnet *self, GArray *hosts, GArray *links, int came_from, Shared *shared)
{
  deliver (self, hosts, &shared->packet);
  for (guint i = 0; i < links->len; i++) {
    int id = g_array_index (links, int, i);
    const Link *link = get_link (self, id);
    guint group = shared->packet.group;
    if (id != came_from && (group == 0 ? link->hosts_below : link->members[group]) > 0)
      enter_link (self, id, shared);
  }
}

/* A packet that climbs is at the router below link @id (VNET_CORE: at the core): siblings get it
 * here, as from a multicast router. */
static void
climb (Vnet *self, int id, int came_from, Shared *shared)
{
  if (id == VNET_CORE) {
    forward (self, self->top_hosts, self->top, came_from, shared);
    return;
  }
  Link *link = get_link (self, id);
  forward (self, link->hosts, link->children, came_from, shared);
  post (self, self->now + link->config.delay, EVENT_UP, link->parent, (guint64)(id + 1),
      shared_ref (shared));
}

void
vnet_send (Vnet *self, int host, const VnetPacket *packet)
{
  Shared *shared = shared_new (packet);
  shared->packet.from = host;
  shared->packet.address = (MccAddress){ .family = 4, .port = 5004 };
  shared->packet.address.bytes[2] = (guint8)(host >> 8);
  shared->packet.address.bytes[3] = (guint8)host;
  const Host *sender = get_host (self, host);
  post (self, self->now + sender->up_delay, EVENT_UP, sender->link, 0, shared);
}

static void
fill_window (Vnet *self, int id)
{
  Flow *flow = get_flow (self, id);
  while (!flow->stopped && flow->in_flight < (guint32)flow->cwnd) {
    VnetPacket packet = { .kind = VNET_FLOW, .from = id, .bytes = flow->packet_bytes };
    Shared *shared = shared_new (&packet);
    flow->in_flight++;
    enter_link (self, flow->link, shared);
    shared_unref (shared);
  }
}

int
vnet_add_flow (Vnet *self, int link, MccTime rtt, guint32 packet_bytes)
{
  Flow *flow = g_new0 (Flow, 1);
  *flow = (Flow){
    .link = link, .rtt = rtt, .packet_bytes = packet_bytes, .cwnd = 2.0, .ssthresh = 1e9
  };
  int id = (int)self->flows->len;
  g_ptr_array_add (self->flows, flow);
  fill_window (self, id);
  return id;
}

void
vnet_stop_flow (Vnet *self, int flow)
{
  get_flow (self, flow)->stopped = true;
}

guint64
vnet_flow_bytes (Vnet *self, int flow)
{
  return get_flow (self, flow)->acked_bytes;
}

static void
handle_ack (Vnet *self, int id)
{
  Flow *flow = get_flow (self, id);
  flow->in_flight--;
  flow->acked_bytes += flow->packet_bytes;
  flow->cwnd += flow->cwnd < flow->ssthresh ? 1.0 : 1.0 / flow->cwnd;
  fill_window (self, id);
}

static void
handle_loss (Vnet *self, int id)
{
  Flow *flow = get_flow (self, id);
  flow->in_flight--;
  if (self->now >= flow->recover) {
    flow->cwnd = flow->ssthresh = MAX (flow->cwnd / 2.0, 2.0);
    flow->recover = self->now + flow->rtt + vnet_queue_delay (self, flow->link)
                    + get_link (self, flow->link)->config.delay;
  }
  fill_window (self, id);
}

static void
handle_sent (Vnet *self, int id)
{
  Link *link = get_link (self, id);
  Shared *shared = g_queue_pop_head (&link->queue);
  const VnetPacket *packet = &shared->packet;
  link->queued_bytes -= packet->bytes;
  link->stats.packets++;
  link->stats.bytes += packet->bytes;
  if (packet->kind == VNET_RTP) {
    link->stats.rtp_packets++;
    link->stats.rtp_bytes += packet->bytes;
  } else if (packet->kind == VNET_FLOW) {
    link->stats.flow_bytes += packet->bytes;
  }
  post (self, self->now + link->config.delay, EVENT_ARRIVED, id, 0, shared);
  start_head (self, id);
}

static void
handle_event (Vnet *self, Event *event)
{
  switch (event->type) {
    case EVENT_SENT:
      handle_sent (self, event->id);
      break;
    case EVENT_ARRIVED:
      if (event->shared->packet.kind == VNET_FLOW) {
        int flow = event->shared->packet.from;
        post (self, self->now + get_flow (self, flow)->rtt, EVENT_ACK, flow, 0, NULL);
      } else {
        Link *link = get_link (self, event->id);
        forward (self, link->hosts, link->children, VNET_CORE, event->shared);
      }
      break;
    case EVENT_UP:
      climb (self, event->id, (int)event->generation - 1, event->shared);
      break;
    case EVENT_TIMER: {
      Host *host = get_host (self, event->id);
      if (host->gone || event->generation != host->generation)
        break;
      host->timer = MCC_TIME_NONE;
      host->handler->handle_timeout (host->owner, to_local (host, self->now));
      vnet_wake (self, event->id);
      break;
    }
    case EVENT_ACK:
      handle_ack (self, event->id);
      break;
    case EVENT_LOSS:
      handle_loss (self, event->id);
      break;
    case EVENT_PRUNE:
      get_link (self, event->id)->members[event->generation]--;
      break;
  }
  shared_unref (event->shared);
}

void
vnet_run (Vnet *self, MccTime until)
{
  while (self->heap->len > 0 && g_array_index (self->heap, Event, 0).time <= until) {
    Event event = take (self);
    self->now = event.time;
    handle_event (self, &event);
  }
  self->now = MAX (self->now, until);
}
