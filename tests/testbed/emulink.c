/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "emulink.h"
#include "emuip.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

EmuPacket *
emu_packet_new (const uint8_t *data, size_t bytes)
{
  EmuPacket *packet = malloc (sizeof *packet + bytes);

  assert (packet);
  packet->next = NULL;
  packet->time = 0;
  packet->entered = 0;
  packet->bytes = (uint32_t)bytes;
  packet->multicast = false;
  memcpy (packet->data, data, bytes);
  return packet;
}

EmuPacket *
emu_packet_copy (const EmuPacket *packet)
{
  EmuPacket *copy = emu_packet_new (packet->data, packet->bytes);

  copy->multicast = packet->multicast;
  copy->entered = packet->entered;
  return copy;
}

void
emu_link_config_init (EmuLinkConfig *config)
{
  memset (config, 0, sizeof *config);
  config->queue_packets = 100;
  config->reorder_delay = 10 * EMU_MSECOND;
  config->red.max_p = 0.1;
  config->red.weight = 0.002;
  config->red.gentle = true;
  config->up = true;
}

void
emu_link_init (EmuLink *self, const EmuLinkConfig *config, uint64_t seed)
{
  memset (self, 0, sizeof *self);
  self->config = *config;
  self->rng.state = seed;
  self->tail = &self->head;
  self->sent_at = EMU_TIME_NONE;
}

void
emu_link_clear (EmuLink *self)
{
  EmuPacket *packet;

  while ((packet = self->head)) {
    self->head = packet->next;
    free (packet);
  }
  free (self->sending);
  for (uint32_t i = 0; i < self->n_flights; i++)
    free (self->flights[i].packet);
  free (self->flights);
  memset (self, 0, sizeof *self);
}

static EmuTime
serialisation_time (double rate_bps, double bits)
{
  return rate_bps > 0.0 ? (EmuTime)(bits * 1e9 / rate_bps + 0.5) : 0;
}

void
emu_link_configure (EmuLink *self, const EmuLinkConfig *config, EmuTime now)
{
  if (self->sending && config->rate_bps != self->config.rate_bps && self->sent_at > now) {
    double left_bits = (double)(self->sent_at - now) * 1e-9 * self->config.rate_bps;
    self->sent_at = now + serialisation_time (config->rate_bps, left_bits);
  }
  if (config->red.max != self->config.red.max)
    memset (&self->red, 0, sizeof self->red);
  if (config->gilbert_p != self->config.gilbert_p)
    self->bad = false;
  self->config = *config;
}

static bool
flight_before (const EmuFlight *a, const EmuFlight *b)
{
  return a->time != b->time ? a->time < b->time : a->order < b->order;
}

static void
flights_push (EmuLink *self, EmuPacket *packet, EmuTime time)
{
  EmuFlight flight = { time, self->order++, packet };
  uint32_t i;

  if (self->n_flights == self->size_flights) {
    self->size_flights = self->size_flights ? 2 * self->size_flights : 64;
    self->flights = realloc (self->flights, self->size_flights * sizeof *self->flights);
    assert (self->flights);
  }
  for (i = self->n_flights++; i > 0; i = (i - 1) / 2) {
    if (!flight_before (&flight, &self->flights[(i - 1) / 2]))
      break;
    self->flights[i] = self->flights[(i - 1) / 2];
  }
  self->flights[i] = flight;
}

static EmuPacket *
flights_pop (EmuLink *self)
{
  EmuPacket *packet = self->flights[0].packet;
  EmuFlight last = self->flights[--self->n_flights];
  uint32_t i = 0, child;

  packet->time = self->flights[0].time;
  while ((child = 2 * i + 1) < self->n_flights) {
    if (child + 1 < self->n_flights
        && flight_before (&self->flights[child + 1], &self->flights[child]))
      child++;
    if (!flight_before (&self->flights[child], &last))
      break;
    self->flights[i] = self->flights[child];
    i = child;
  }
  if (self->n_flights)
    self->flights[i] = last;
  return packet;
}

static void
tell (const EmuLink *self, EmuSeen what, const EmuPacket *packet, EmuTime value, EmuTime now)
{
  if (self->observe)
    self->observe (self->observe_data, what, self->observe_where, packet, value, now);
}

/* A ratio of 0 draws nothing, so that switching one impairment on leaves the others' draws. */
static bool
draw (EmuLink *self, double ratio)
{
  return ratio > 0.0 && emu_rng_uniform (&self->rng) < ratio;
}

static bool
is_lost (EmuLink *self)
{
  const EmuLinkConfig *config = &self->config;
  bool lost = false;

  if (self->config.drop_next > 0) {
    self->config.drop_next--;
    lost = true;
  }
  if (config->gilbert_p > 0.0) {
    if (draw (self, self->bad ? config->gilbert_r : config->gilbert_p))
      self->bad = !self->bad;
    lost |= draw (self, self->bad ? config->gilbert_bad : config->gilbert_good);
  }
  lost |= draw (self, config->loss_ratio);
  return lost;
}

static void
launch (EmuLink *self, EmuPacket *packet, EmuTime now)
{
  const EmuLinkConfig *config = &self->config;
  EmuTime arrival = now + config->delay;

  self->stats.tx_packets++;
  self->stats.tx_bytes += packet->bytes;
  if (is_lost (self)) {
    self->stats.drops_loss++;
    tell (self, EMU_SEEN_DROP_LOSS, packet, 0, now);
    free (packet);
    return;
  }
  if (config->trace)
    tell (self, EMU_SEEN_LEFT, packet, packet->time, now);
  if (config->jitter)
    arrival += (EmuTime)(emu_rng_uniform (&self->rng) * (double)config->jitter);
  if (draw (self, config->reorder_ratio)) {
    self->stats.reordered++;
    arrival += config->reorder_delay;
  } else {
    if (arrival < self->last_arrival)
      arrival = self->last_arrival;
    self->last_arrival = arrival;
  }
  flights_push (self, packet, arrival);
  if (draw (self, config->duplicate_ratio)) {
    self->stats.duplicated++;
    flights_push (self, emu_packet_copy (packet), arrival);
  }
}

static void
start_sending (EmuLink *self, EmuPacket *packet, EmuTime now)
{
  packet->time = now - packet->time; /* from now on how long it waited */
  self->stats.wait_sum += packet->time;
  self->sending = packet;
  self->sent_at = now + serialisation_time (self->config.rate_bps, 8.0 * packet->bytes);
}

/* Whether RED lets it in; marked, if that is what it does. */
static bool
early (EmuLink *self, EmuPacket *packet, EmuTime now)
{
  const EmuLinkConfig *config = &self->config;
  double queued = config->red.in_bytes ? (double)self->queued_bytes : self->queued_packets;
  double idle_s = self->sending ? 0.0 : (double)(now - self->idle_since) * 1e-9;
  EmuRedVerdict verdict;

  if (config->red.max <= 0.0 || config->rate_bps <= 0.0)
    return true;
  verdict = emu_red_arrive (&self->red, &config->red, queued, self->queued_packets, packet->bytes,
      idle_s, config->rate_bps, &self->rng);
  if (verdict == EMU_RED_PICK && config->red.ecn && emu_ip_mark (packet->data)) {
    self->stats.marks++;
    tell (self, EMU_SEEN_MARKED, packet, 0, now);
    return true;
  }
  return verdict == EMU_RED_PASS;
}

static void
drop_queue (EmuLink *self, EmuPacket *packet, EmuTime now)
{
  self->stats.drops_queue++;
  tell (self, EMU_SEEN_DROP_QUEUE, packet, 0, now);
  free (packet);
}

void
emu_link_send (EmuLink *self, EmuPacket *packet, EmuTime now)
{
  const EmuLinkConfig *config = &self->config;

  self->stats.in_packets++;
  self->stats.in_bytes += packet->bytes;
  packet->time = now;
  packet->next = NULL;
  if (!config->up) {
    self->stats.drops_down++;
    tell (self, EMU_SEEN_DROP_DOWN, packet, 0, now);
    free (packet);
    return;
  }
  if (!early (self, packet, now)) {
    drop_queue (self, packet, now);
    return;
  }
  if (!self->sending) {
    if (config->rate_bps > 0.0)
      start_sending (self, packet, now);
    else {
      packet->time = 0;
      launch (self, packet, now);
    }
    return;
  }
  if ((config->queue_packets && self->queued_packets >= config->queue_packets)
      || (config->queue_bytes && self->queued_bytes + packet->bytes > config->queue_bytes)) {
    drop_queue (self, packet, now);
    return;
  }
  *self->tail = packet;
  self->tail = &packet->next;
  self->queued_packets++;
  self->queued_bytes += packet->bytes;
  if (self->queued_packets > self->peak_packets)
    self->peak_packets = self->queued_packets;
}

EmuTime
emu_link_next_timeout (const EmuLink *self)
{
  EmuTime next = self->sending ? self->sent_at : EMU_TIME_NONE;

  if (self->n_flights && self->flights[0].time < next)
    next = self->flights[0].time;
  return next;
}

void
emu_link_handle_timeout (EmuLink *self, EmuTime now)
{
  while (self->sending && self->sent_at <= now) {
    EmuPacket *packet = self->sending;
    EmuTime sent_at = self->sent_at;

    self->sending = NULL;
    self->idle_since = sent_at;
    launch (self, packet, sent_at);
    if ((packet = self->head)) {
      self->head = packet->next;
      if (!self->head)
        self->tail = &self->head;
      packet->next = NULL;
      self->queued_packets--;
      self->queued_bytes -= packet->bytes;
      start_sending (self, packet, sent_at);
    }
  }
}

EmuPacket *
emu_link_poll (EmuLink *self, EmuTime now)
{
  EmuPacket *packet;

  if (!self->n_flights || self->flights[0].time > now)
    return NULL;
  packet = flights_pop (self);
  self->stats.rx_packets++;
  self->stats.rx_bytes += packet->bytes;
  if (packet->multicast) {
    self->stats.rx_multicast_packets++;
    self->stats.rx_multicast_bytes += packet->bytes;
  }
  return packet;
}

uint32_t
emu_link_take_peak (EmuLink *self)
{
  uint32_t peak = self->peak_packets;

  self->peak_packets = self->queued_packets;
  return peak;
}
