/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mccasspladder.h"

#include <assert.h>
#include <math.h>

#include "mccassplevel.h"

#define BUCKETS MCC_ASSP_LADDER_BUCKETS
#define STREAMS MCC_ASSP_STREAMS_MAX
#define NEARLY 0.98                      /* of the best: for fewer streams */
#define UNSETTLED_SHARE 0.25             /* of all receivers: wait ... */
#define UNSETTLED_TIME (60 * MCC_SECOND) /* ... but not for ever */
#define LOW_SHARE 0.75       /* of the least rate: so far it may fall and keep its stream */
#define LOW_SHARE_GUESS 0.77 /* of a rate that is a guess: begin gently */
#define REACHED 0.98         /* lambda times the bound is below the least rate */
#define OPENED 1.3           /* times the least rate: so high at most while others are to come in */
#define STAYS 16             /* score of a receiver that stays, against small preferences */

/* A run of buckets, of the receivers in it. */
typedef struct {
  unsigned first, end;
  uint64_t least_bps, most_bps;
  uint32_t count;
  bool sure; /* the least rate is */
  uint32_t in[STREAMS];
} Run;

typedef struct {
  unsigned count;
  Run run[STREAMS];
  double bps; /* what all get together */
} Plan;

void
mcc_assp_ladder_clear (MccAsspLadder *self)
{
  memset (self->bucket, 0, sizeof self->bucket);
  self->count = self->unsettled = 0;
}

void
mcc_assp_ladder_init (
    MccAsspLadder *self, uint64_t low_bps, uint64_t high_bps, unsigned max_streams, MccTime now)
{
  assert (low_bps > 0 && low_bps <= high_bps && max_streams > 0 && max_streams <= STREAMS);
  memset (self, 0, sizeof *self);
  self->low_bps = low_bps;
  self->high_bps = high_bps;
  self->max_streams = max_streams;
  self->lambda = mcc_assp_factors_default.lambda;
  self->beta = mcc_assp_factors_default.beta;
  self->changed = now;
  self->better_since = MCC_TIME_NONE;
  self->guess_not_before = now;
  self->guess_rest = MCC_ASSP_LADDER_GUESS_REST;
}

void
mcc_assp_ladder_set_gone (MccAsspLadder *self, unsigned stream, bool gone)
{
  assert (stream < STREAMS);
  if ((self->gone >> stream & 1u) == gone)
    return;
  assert (!gone || self->max_streams > 1);
  self->gone ^= 1u << stream;
  self->max_streams = gone ? self->max_streams - 1 : self->max_streams + 1;
}

static unsigned
bucket_of (const MccAsspLadder *self, uint64_t bps)
{
  double range = log ((double)self->high_bps / (double)self->low_bps);
  if (!(range > 0.0))
    return 0;
  double part = log ((double)bps / (double)self->low_bps) / range;
  unsigned i = (unsigned)(part * BUCKETS);
  return i < BUCKETS ? i : BUCKETS - 1;
}

static void
enter (const MccAsspLadder *self, MccAsspLadderBucket *buckets, unsigned stream, uint64_t bps,
    bool sure)
{
  if (bps < self->low_bps)
    bps = self->low_bps;
  if (bps > self->high_bps)
    bps = self->high_bps;
  MccAsspLadderBucket *bucket = &buckets[bucket_of (self, bps)];
  if (bucket->count == 0 || bps < bucket->least_bps)
    bucket->least_bps = bps;
  if (bps > bucket->most_bps)
    bucket->most_bps = bps;
  bucket->count++;
  bucket->sure += sure;
  bucket->in[stream]++;
}

void
mcc_assp_ladder_add (MccAsspLadder *self, unsigned stream, uint64_t bps, uint64_t sure_bps)
{
  assert (stream < STREAMS);
  enter (self, self->bucket[0], stream, bps, sure_bps >= bps);
  enter (self, self->bucket[1], stream, sure_bps < bps ? sure_bps : bps, true);
  self->count++;
}
void
mcc_assp_ladder_add_unsettled (MccAsspLadder *self)
{
  self->unsettled++;
}

/* The buckets that somebody is in, lowest first. */
static unsigned
occupied (const MccAsspLadderBucket *buckets, unsigned out[BUCKETS])
{
  unsigned n = 0;
  for (unsigned b = 0; b < BUCKETS; b++)
    if (buckets[b].count > 0)
      out[n++] = b;
  return n;
}

static Run
run_of (const MccAsspLadderBucket *buckets, const unsigned *index, unsigned first, unsigned end)
{
  const MccAsspLadderBucket *low = &buckets[index[first]];
  Run run = { .first = first, .end = end, .least_bps = low->least_bps, .sure = low->sure > 0 };
  for (unsigned i = first; i < end; i++) {
    const MccAsspLadderBucket *bucket = &buckets[index[i]];
    run.count += bucket->count;
    run.most_bps = bucket->most_bps;
    for (unsigned j = 0; j < STREAMS; j++)
      run.in[j] += bucket->in[j];
  }
  return run;
}

/* best[k][a]: what those below bucket a get in k runs when the next run begins at a; from[k][a]:
 * where the run below it begins. */
typedef struct {
  double best[STREAMS + 1][BUCKETS + 1];
  unsigned char from[STREAMS + 1][BUCKETS + 1];
} Table;

static void
fill_table (const MccAsspLadder *self, const MccAsspLadderBucket *buckets, const unsigned *index,
    unsigned n, Table *table)
{
  uint32_t below[BUCKETS + 1] = { 0 }; /* receivers */
  for (unsigned i = 0; i < n; i++)
    below[i + 1] = below[i] + buckets[index[i]].count;
  for (unsigned a = 0; a <= n; a++)
    table->best[0][a] = a == 0 ? 0.0 : -1.0;
  for (unsigned k = 1; k <= self->max_streams; k++) {
    for (unsigned end = 0; end <= n; end++) {
      table->best[k][end] = -1.0;
      for (unsigned a = 0; a < end; a++) {
        double least = (double)buckets[index[a]].least_bps;
        bool apart
            = end == n || (double)buckets[index[end]].least_bps >= MCC_ASSP_LADDER_STEP * least;
        double all = table->best[k - 1][a] + least * (below[end] - below[a]);
        if (table->best[k - 1][a] >= 0.0 && apart && all > table->best[k][end]) {
          table->best[k][end] = all;
          table->from[k][end] = (unsigned char)a;
        }
      }
    }
  }
}

static void
make_plan (const MccAsspLadder *self, const MccAsspLadderBucket *buckets, Plan *plan)
{
  unsigned index[BUCKETS], n = occupied (buckets, index), k = 1;
  Table table;
  double best = 0.0;
  fill_table (self, buckets, index, n, &table);
  for (unsigned i = 1; i <= self->max_streams; i++)
    best = fmax (best, table.best[i][n]);
  while (table.best[k][n] < NEARLY * best)
    k++;
  plan->count = k;
  plan->bps = table.best[k][n];
  for (unsigned end = n; k > 0; k--) {
    unsigned first = table.from[k][end];
    plan->run[k - 1] = run_of (buckets, index, first, end);
    end = first;
  }
}

/* Where a receiver of @bps in @stream goes, by the receivers' rules. */
static unsigned
goes_to (const MccAsspLadder *self, const MccAsspStreams *streams, unsigned stream, double bps)
{
  unsigned at = stream, next;
  if (!mcc_assp_streams_open (streams, at) || bps < (double)streams->stream[at].low_bps)
    at = mcc_assp_streams_place (streams, bps);
  while ((next = mcc_assp_streams_above (streams, at)) != STREAMS
         && bps >= REACHED * self->lambda * (double)streams->stream[next].low_bps
         && bps >= self->beta * (double)streams->stream[next].average_bps)
    at = next;
  return at;
}

typedef struct {
  double bps; /* all receivers' rates together */
  double log; /* ... and their logarithms */
} Worth;

/* What all would get from @streams. */
static Worth
worth_of (
    const MccAsspLadder *self, const MccAsspLadderBucket *buckets, const MccAsspStreams *streams)
{
  uint32_t count[STREAMS] = { 0 };
  double least[STREAMS] = { 0.0 };
  Worth all = { 0.0, 0.0 };
  for (unsigned b = 0; b < BUCKETS; b++) {
    const MccAsspLadderBucket *bucket = &buckets[b];
    double bps = (double)bucket->least_bps;
    for (unsigned j = 0; j < streams->count && bucket->count > 0; j++) {
      if (bucket->in[j] == 0)
        continue;
      unsigned to = goes_to (self, streams, j, bps);
      if (count[to] == 0)
        least[to] = bps; /* buckets come in order */
      count[to] += bucket->in[j];
    }
  }
  for (unsigned j = 0; j < streams->count; j++) {
    if (count[j] == 0)
      continue;
    double bps = fmin (least[j], (double)streams->stream[j].high_bps);
    all.bps += count[j] * bps;
    all.log += count[j] * log (bps);
  }
  return all;
}

/* The stream of each run: as many receivers as possible stay. Exact, over sets of streams. */
static void
assign (const MccAsspLadder *self, const MccAsspStreams *streams, const Plan *plan,
    unsigned stream_of[STREAMS])
{
  static const uint64_t none = 0;
  uint64_t best[1u << STREAMS] = { none };
  unsigned char last[STREAMS][1u << STREAMS];
  unsigned sets = 1u << streams->count, at = 0;
  uint64_t members[STREAMS] = { 0 };
  for (unsigned k = 0; k < plan->count; k++)
    for (unsigned j = 0; j < STREAMS; j++)
      members[j] += plan->run[k].in[j];
  /* A set of k + 1 streams serves runs 0..k. */
  for (unsigned set = 1; set < sets; set++) {
    unsigned bits = 0;
    for (unsigned j = 0; j < streams->count; j++)
      bits += set >> j & 1u;
    if (bits > plan->count || (set & self->gone))
      continue;
    const Run *run = &plan->run[bits - 1];
    bool any = false;
    for (unsigned j = 0; j < streams->count; j++) {
      if (!(set >> j & 1u))
        continue;
      uint64_t score = best[set & ~(1u << j)] + STAYS * (uint64_t)run->in[j]
                       + (members[j] == 0 ? 2 : 0) + (j == bits - 1 ? 1 : 0);
      if (!any || score > best[set]) {
        best[set] = score;
        last[bits - 1][set] = (unsigned char)j;
        any = true;
      }
    }
    if (bits == plan->count && (at == 0 || best[set] > best[at]))
      at = set;
  }
  for (unsigned k = plan->count; k-- > 0;) {
    stream_of[k] = last[k][at];
    at &= ~(1u << stream_of[k]);
  }
}

/* The bound between two runs. */
static uint64_t
bound_between (const MccAsspLadder *self, const Run *below, const Run *above)
{
  double least = (double)above->least_bps;
  if (!above->sure)
    return (uint64_t)fmax (LOW_SHARE_GUESS * least, (double)below->least_bps);
  double bps = LOW_SHARE * least;
  bps = fmax (bps, sqrt (least * (double)below->most_bps) / self->lambda);
  bps = fmax (bps, (double)below->least_bps);
  bps = fmin (bps, REACHED * least / self->lambda);
  return (uint64_t)fmax (bps, (double)self->low_bps);
}

/* While some of a run are to come into a stream that is faster than they bear, it must not shut
 * them out (beta, eq. 9). */
static uint64_t
high_of (const MccAsspLadder *self, const MccAsspStream *stream, const Run *run, unsigned j,
    uint64_t high_bps)
{
  bool all_there = run->in[j] == run->count || run->in[j] == 0;
  double most = OPENED * (double)run->least_bps;
  if (all_there || !run->sure || most >= (double)high_bps
      || self->beta * (double)stream->average_bps < REACHED * (double)run->least_bps)
    return high_bps;
  return (uint64_t)most;
}

static uint64_t
within (const MccAsspStream *stream, uint64_t bps)
{
  if (bps < stream->low_bps)
    return stream->low_bps;
  return bps > stream->high_bps ? stream->high_bps : bps;
}

/* The bounds of @plan; averages as they will be. */
static void
apply (const MccAsspLadder *self, const Plan *plan, MccAsspStreams *streams)
{
  unsigned stream_of[STREAMS];
  uint64_t low_bps = self->low_bps;
  assign (self, streams, plan, stream_of);
  for (unsigned j = 0; j < streams->count; j++)
    streams->stream[j].flags |= MCC_ASSP_CLOSED;
  for (unsigned k = 0; k < plan->count; k++) {
    const Run *run = &plan->run[k];
    MccAsspStream *stream = &streams->stream[stream_of[k]];
    bool last = k + 1 == plan->count;
    uint64_t high_bps = last ? self->high_bps : bound_between (self, run, &plan->run[k + 1]);
    if (high_bps < low_bps)
      high_bps = low_bps;
    stream->flags &= ~MCC_ASSP_CLOSED;
    stream->low_bps = low_bps;
    stream->high_bps = last ? high_bps : high_of (self, stream, run, stream_of[k], high_bps);
    if (stream->high_bps < low_bps)
      stream->high_bps = low_bps;
    stream->average_bps = within (stream, run->least_bps);
    low_bps = high_bps;
  }
}

typedef struct {
  double bps;      /* of the mean rate */
  double relative; /* a receiver's, of its rate: the geometric mean */
} Gain;

/* What the best ladder for @buckets would give, of what the present one does; *out gets it. */
static Gain
gain_of (MccAsspLadder *self, const MccAsspLadderBucket *buckets, const MccAsspStreams *streams,
    MccAsspStreams *out)
{
  Plan plan;
  make_plan (self, buckets, &plan);
  *out = *streams;
  apply (self, &plan, out);
  /* As receivers will go by their rules, which the plan's bounds can only come near to. */
  Worth now = worth_of (self, buckets, streams), planned = worth_of (self, buckets, out);
  self->now_bps = now.bps / self->count;
  self->plan_bps = planned.bps / self->count;
  Gain gain = { planned.bps / now.bps - 1.0, expm1 ((planned.log - now.log) / self->count) };
  return gain;
}

/* Whether somebody would have to leave its stream. */
static bool
disturbs (const MccAsspLadderBucket *buckets, const MccAsspStreams *planned)
{
  for (unsigned b = 0; b < BUCKETS; b++)
    for (unsigned j = 0; j < planned->count; j++)
      if (buckets[b].in[j] > 0
          && (!mcc_assp_streams_open (planned, j)
              || buckets[b].least_bps < planned->stream[j].low_bps))
        return true;
  return false;
}

bool
mcc_assp_ladder_decide (MccAsspLadder *self, MccAsspStreams *streams, MccTime now)
{
  MccAsspStreams planned;
  uint32_t all = self->count + self->unsettled;
  if (self->count == 0
      || (self->unsettled > UNSETTLED_SHARE * all && now - self->changed < UNSETTLED_TIME))
    return false;
  Gain gains = gain_of (self, self->bucket[1], streams, &planned);
  bool easy = gains.bps < MCC_ASSP_LADDER_GAIN && !disturbs (self->bucket[1], &planned);
  /* The slow ones' are hardly seen in the mean. */
  double gain = easy && gains.bps >= 0.0 ? fmax (gains.bps, gains.relative) : gains.bps;
  double least = easy ? MCC_ASSP_LADDER_GAIN_EASY : MCC_ASSP_LADDER_GAIN;
  bool guess = gain < least && now >= self->guess_not_before;
  if (guess) {
    gain = gain_of (self, self->bucket[0], streams, &planned).bps;
    least
        = disturbs (self->bucket[0], &planned) ? MCC_ASSP_LADDER_GAIN_GUESS : MCC_ASSP_LADDER_GAIN;
  }
  if (gain < least) {
    self->better_since = MCC_TIME_NONE;
    return false;
  }
  if (self->better_since == MCC_TIME_NONE)
    self->better_since = now;
  bool great = gain >= MCC_ASSP_LADDER_GREAT;
  if (now - self->better_since < MCC_ASSP_LADDER_PATIENCE
      || now - self->changed < (great ? MCC_ASSP_LADDER_REST_GREAT : MCC_ASSP_LADDER_REST))
    return false;
  self->changed = now;
  self->better_since = MCC_TIME_NONE;
  if (guess) {
    self->guess_not_before = now + self->guess_rest;
    self->guess_rest = mcc_time_min (2 * self->guess_rest, MCC_ASSP_LADDER_GUESS_REST_MAX);
  }
  for (unsigned j = 0; j < streams->count; j++)
    planned.stream[j].average_bps = streams->stream[j].average_bps;
  *streams = planned;
  return true;
}

void
mcc_assp_ladder_even (MccAsspStreams *streams, unsigned count, uint64_t low_bps, uint64_t high_bps)
{
  assert (count > 0 && count <= STREAMS && low_bps > 0 && low_bps <= high_bps);
  double ratio = pow ((double)high_bps / (double)low_bps, 1.0 / count), bound = (double)low_bps;
  for (unsigned j = 0; j < count; j++) {
    streams->stream[j].low_bps = (uint64_t)bound;
    bound *= ratio;
    streams->stream[j].high_bps = j + 1 == count ? high_bps : (uint64_t)bound;
  }
  streams->count = count;
}
