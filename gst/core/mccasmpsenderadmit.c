/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * mccasmpsenderadmit: who may become a receiver of the ASMP sender.
 */
#include "mccasmpsenderprivate.h"

static uint64_t
hash_of (const MccAsmpSender *self, const MccAddress *address, unsigned bytes)
{
  uint64_t hash = self->host_seed, word;
  for (unsigned i = 0; i < bytes; i += sizeof word) {
    memcpy (&word, address->bytes + i, sizeof word);
    hash = (hash ^ word) * UINT64_C (0x9e3779b97f4a7c15);
    hash = (hash ^ hash >> 32) * UINT64_C (0x9e3779b97f4a7c15); /* high bits reach the low ones */
    hash ^= hash >> 29;
  }
  return (hash >> 32) % MCC_SENDER_HOSTS;
}

static MccSite *
site_of (MccAsmpSender *self, const MccAddress *address)
{
  return &self->site[hash_of (self, address, mcc_address_site_bytes (address))];
}

/* One host may bring so many names and no more: a flood of them is no audience. An IPv6 /64 may
 * have been given to one host, or to a network of many: it may bring a few times as many. */
static bool
host_may (MccAsmpSender *self, const MccAddress *from)
{
  return from->family == 0
         || (mcc_bucket_take (&self->host[hash_of (self, from, sizeof from->bytes)], self->now)
             && mcc_bucket_take (&site_of (self, from)->newcomers, self->now));
}

static uint32_t
share_of (const MccAsmpSender *self, uint32_t parts)
{
  uint32_t share = self->receivers.max / parts;
  return share > MCC_SENDER_SHARE_LEAST ? share : MCC_SENDER_SHARE_LEAST;
}

/* Places are scarce, and its host has its share of them. Who falls on one place with a host that
 * has must not suffer for it: only then are they counted. */
static bool
has_its_share (MccAsmpSender *self, const MccAddress *from)
{
  uint32_t share = share_of (self, MCC_SENDER_SHARE), held = 0;
  if (self->receivers.count <= self->receivers.max / 2 || from->family == 0
      || site_of (self, from)->held < share)
    return false;
  for (uint32_t i = 0; i < self->receivers.count; i++)
    held += mcc_address_same_site (
        &mcc_receivers_get (&self->receivers, MCC_ORDER_RATE, i)->address, from);
  return held >= share;
}

void
mcc_asmp_sender_give_back (MccAsmpSender *self, const MccReceiver *receiver)
{
  site_of (self, &receiver->address)->held--;
}

/* Names. */

static bool
comes_before (const MccReceiver *a, const MccReceiver *b)
{
  bool active = a->state == MCC_RECEIVER_ACTIVE;
  return active != (b->state == MCC_RECEIVER_ACTIVE) ? active : a->since < b->since;
}

static bool
has_holder (const MccAsmpSender *self, const MccReceiver *receiver, bool of_its_host)
{
  MccReceiver *same[MCC_RECEIVERS_PER_SSRC];
  unsigned count = mcc_receivers_find_ssrc (&self->receivers, receiver->ssrc, same);
  for (unsigned i = 0; i < count; i++)
    if (same[i] != receiver && comes_before (same[i], receiver)
        && (!of_its_host || mcc_address_same_host (&same[i]->address, &receiver->address)))
      return true;
  return false;
}

/* A newcomer's, too: who hears its first report must not be able to come before its second one. */
bool
mcc_asmp_sender_holds_name (const MccAsmpSender *self, const MccReceiver *receiver)
{
  return !has_holder (self, receiver, false);
}

/* Who came first may be the forger, with a name that it has heard before the true one's report came
 * here. So after a while both count, as two members: that is no more than the forger has under a
 * name of its own. One host's ports are one receiver behind a translator that forgets. */
bool
mcc_asmp_sender_waits_for_name (const MccAsmpSender *self, const MccReceiver *receiver)
{
  bool waited = self->now >= receiver->since + MCC_SENDER_CONTENDED_TIME;
  return has_holder (self, receiver, waited);
}

/* The newest entry of a host that has several with this SSRC: first of one that does not hold it.
 */
static MccReceiver *
one_too_many (MccReceiver *const same[MCC_RECEIVERS_PER_SSRC])
{
  MccReceiver *newest = NULL;
  for (unsigned holder = 0; holder < 2 && newest == NULL; holder++)
    for (unsigned i = 0; i < MCC_RECEIVERS_PER_SSRC; i++)
      for (unsigned k = 0; k < MCC_RECEIVERS_PER_SSRC; k++)
        if ((same[i]->state == MCC_RECEIVER_ACTIVE) == holder && comes_before (same[i], same[k])
            && mcc_address_same_site (&same[i]->address, &same[k]->address)
            && (newest == NULL || comes_before (newest, same[k])))
          newest = same[k];
  return newest;
}

/* Room. */

/* Somebody may now be unheard: fail closed. */
static void
hold_rate (MccAsmpSender *self)
{
  self->full_until = self->now + MCC_SENDER_FULL_HOLD;
}

void
mcc_asmp_sender_handle_unheard (MccAsmpSender *self, MccTime now)
{
  mcc_asmp_sender_advance (self, now);
  hold_rate (self);
}

void
mcc_asmp_sender_no_stranger (MccAsmpSender *self, MccReceiver *receiver)
{
  self->strangers -= receiver->stranger;
  receiver->stranger = false;
}

/* The unproven one that came first; while there are strangers, of them: others get to the end, a
 * step or two for each newcomer on the mean. */
static MccReceiver *
oldest_unproven (MccAsmpSender *self)
{
  MccReceiver *oldest = mcc_receivers_head (&self->receivers, MCC_LIST_UNPROVEN);
  while (self->strangers > 0 && !oldest->stranger) {
    mcc_receivers_append (&self->receivers, oldest, MCC_LIST_UNPROVEN);
    oldest = mcc_receivers_head (&self->receivers, MCC_LIST_UNPROVEN);
  }
  return oldest;
}

/* One who has named our media may be no stranger, unless he had time for two reports. */
static bool
make_room (MccAsmpSender *self)
{
  MccReceiver *oldest = oldest_unproven (self);
  if (oldest == NULL)
    return false;
  if (mcc_asmp_sender_hears (self, oldest)
      && self->now - oldest->last_report < MCC_SENDER_PROBATION_TIME)
    hold_rate (self);
  mcc_asmp_sender_remove (self, oldest, MCC_RECEIVER_TIMED_OUT);
  return true;
}

static MccReceiver *
add (MccAsmpSender *self, uint32_t ssrc, const MccAddress *from, bool plain)
{
  bool named = self->named.ssrc == ssrc && mcc_address_equal (&self->named.address, from);
  bool hears = mcc_asmp_sender_hears (self, &(MccReceiver){ .plain = plain, .hears = named });
  if (!hears && self->strangers >= share_of (self, MCC_SENDER_STRANGERS))
    make_room (self);
  MccReceiver *receiver = mcc_receivers_add (&self->receivers, ssrc, from);
  if (receiver == NULL && (hears || self->strangers > 0) && make_room (self))
    receiver = mcc_receivers_add (&self->receivers, ssrc, from);
  if (receiver == NULL) {
    if (hears)
      hold_rate (self);
    return NULL;
  }
  receiver->hears = named;
  receiver->stranger = !hears;
  self->strangers += !hears;
  return receiver;
}

MccReceiver *
mcc_asmp_sender_admit (
    MccAsmpSender *self, uint32_t ssrc, const MccAddress *from, bool plain, MccDrop *drop)
{
  MccReceiver *same[MCC_RECEIVERS_PER_SSRC];
  bool full = mcc_receivers_find_ssrc (&self->receivers, ssrc, same) == MCC_RECEIVERS_PER_SSRC;
  MccReceiver *gives_way = full ? one_too_many (same) : NULL;
  if (full && gives_way == NULL) {
    *drop = MCC_DROP_ADDRESS;
    return NULL;
  }
  if (!host_may (self, from)) {
    *drop = MCC_DROP_RATE_LIMITED;
    return NULL;
  }
  /* That is no reason to hold the rate: it would be one that a single host can give for ever. */
  if (has_its_share (self, from)) {
    *drop = MCC_DROP_TABLE_FULL;
    return NULL;
  }
  if (gives_way != NULL)
    mcc_asmp_sender_remove (self, gives_way, MCC_RECEIVER_TIMED_OUT);
  MccReceiver *receiver = add (self, ssrc, from, plain);
  if (receiver == NULL) {
    *drop = MCC_DROP_TABLE_FULL;
    return NULL;
  }
  self->admitted = mcc_time_max (self->now, self->admitted + 1);
  receiver->since = self->admitted;
  receiver->state = MCC_RECEIVER_PROBATION;
  site_of (self, from)->held++;
  self->unproven++;
  mcc_receivers_append (&self->receivers, receiver, MCC_LIST_UNPROVEN);
  return receiver;
}
