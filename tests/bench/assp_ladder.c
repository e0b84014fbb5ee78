/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 *   assp_ladder [--seconds N] [--seeds N] [--streams K] [--only N] [--together N]
 *
 * What the live ladder of ASSP gives receivers, against the best fixed ladder with as many streams:
 * found by search over fixed ladders in the same simulation, for each population, as if whoever
 * chose it had known that; or one for several, as whoever does not know has to choose.
 */
#include <math.h>
#include <stdlib.h>

#include "vnetpopulation.h"

#define LOW_BPS 150000
#define HIGH_BPS 6000000
#define GRID 24  /* bounds that the search begins with */
#define BEGINS 6 /* of the ladders that look best on paper */
#define LAMBDA 1.2

static gint seconds = 600, seeds = 2, streams = 3, only = -1, first_seed = 1, rivals, together;
static gboolean live_only, losses;

static const GOptionEntry options[] = {
  { "seconds", 0, 0, G_OPTION_ARG_INT, &seconds, "of each run", "N" },
  { "seeds", 0, 0, G_OPTION_ARG_INT, &seeds, "runs of each ladder", "N" },
  { "first-seed", 0, 0, G_OPTION_ARG_INT, &first_seed, "of the runs", "N" },
  { "streams", 0, 0, G_OPTION_ARG_INT, &streams, "of each ladder", "K" },
  { "only", 0, 0, G_OPTION_ARG_INT, &only, "this population", "N" },
  { "together", 0, 0, G_OPTION_ARG_INT, &together, "one fixed ladder for the first N populations",
      "N" },
  { "live-only", 0, 0, G_OPTION_ARG_NONE, &live_only, "no search", NULL },
  { "rivals", 0, 0, G_OPTION_ARG_INT, &rivals, "a TCP-like flow on each N-th link", "N" },
  { "losses", 0, 0, G_OPTION_ARG_NONE, &losses, "where the rate goes", NULL },
  { NULL },
};

static void
add_loss (VnetPopulationLoss *all, const VnetPopulationLoss *one)
{
  all->ideal_bps += one->ideal_bps / seeds;
  all->partition_bps += one->partition_bps / seeds;
  all->rate_bps += one->rate_bps / seeds;
  all->shown_bps += one->shown_bps / seeds;
}

static VnetPopulationResult
measure (const VnetPopulation *population, const VnetLadder *ladder)
{
  VnetPopulationResult all = { 0 }, one;
  for (gint seed = first_seed; seed < first_seed + seeds; seed++) {
    vnet_population_run (population, ladder, (guint)seconds, (guint64)seed, &one);
    all.mean_bps += one.mean_bps / seeds;
    all.late_bps += one.late_bps / seeds;
    add_loss (&all.begin, &one.begin);
    add_loss (&all.rest, &one.rest);
    all.drop_ratio += one.drop_ratio / seeds;
    all.switches += one.switches / seeds;
    all.most = MAX (all.most, one.most);
    all.streams = MAX (all.streams, one.streams);
    all.ladders = MAX (all.ladders, one.ladders);
  }
  return all;
}

static int
compare (const void *a, const void *b)
{
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* On paper: each in the highest stream that lambda lets it into, which runs at the least. */
static double
on_paper_half (const VnetPopulation *population, const VnetLadder *ladder, bool after)
{
  double rate[VNET_POPULATION_MAX], sum = 0.0, least = 0.0;
  guint n = 0;
  for (guint i = 0; i < population->count; i++) {
    guint64 bps = after ? population->member[i].after_bps : population->member[i].before_bps;
    if (bps > 0)
      rate[n++] = (double)bps;
  }
  qsort (rate, n, sizeof rate[0], compare);
  for (guint i = 0, at = G_MAXUINT; i < n; i++) {
    guint j = 0;
    while (j + 1 < ladder->count && rate[i] > LAMBDA * (double)ladder->bound_bps[j + 1])
      j++;
    if (j != at)
      least = MIN (rate[i], (double)ladder->bound_bps[j + 1]);
    at = j;
    sum += least;
  }
  return sum / n;
}

static double
on_paper (const VnetPopulation *population, const VnetLadder *ladder)
{
  return on_paper_half (population, ladder, false) + on_paper_half (population, ladder, true);
}

typedef struct {
  VnetLadder ladder;
  double paper;
  VnetPopulationResult result;
} Candidate;

static int
by_paper (const void *a, const void *b)
{
  double x = ((const Candidate *)a)->paper, y = ((const Candidate *)b)->paper;
  return (x < y) - (x > y);
}

static guint64
grid_bps (guint i)
{
  return (guint64)(LOW_BPS * pow ((double)HIGH_BPS / LOW_BPS, (double)i / GRID));
}

/* All ladders of the grid. */
static void
enumerate (const VnetPopulation *populations, guint count, VnetLadder *ladder, guint at, guint from,
    GArray *out)
{
  if (at == ladder->count) {
    Candidate candidate = { .ladder = *ladder };
    for (guint i = 0; i < count; i++)
      candidate.paper += on_paper (&populations[i], ladder);
    g_array_append_val (out, candidate);
    return;
  }
  for (guint i = from; i < GRID; i++) {
    ladder->bound_bps[at] = grid_bps (i);
    enumerate (populations, count, ladder, at + 1, i + 1, out);
  }
}

/* The result of one population; of several, its mean only. */
static VnetPopulationResult
measure_all (const VnetPopulation *populations, guint count, const VnetLadder *ladder)
{
  VnetPopulationResult all = measure (&populations[0], ladder);
  for (guint i = 1; i < count; i++)
    all.mean_bps += measure (&populations[i], ladder).mean_bps;
  all.mean_bps /= count;
  return all;
}

/* By the mean over populations of the mean over receivers. */
static Candidate
best_fixed (const VnetPopulation *populations, guint count)
{
  VnetLadder ladder = { .count = (unsigned)streams };
  ladder.bound_bps[0] = LOW_BPS;
  ladder.bound_bps[streams] = HIGH_BPS;
  GArray *all = g_array_new (FALSE, FALSE, sizeof (Candidate));
  enumerate (populations, count, &ladder, 1, 1, all);
  qsort (all->data, all->len, sizeof (Candidate), by_paper);
  Candidate best = { 0 };
  for (guint i = 0; i < BEGINS && i < all->len; i++) {
    Candidate *candidate = &g_array_index (all, Candidate, i);
    candidate->result = measure_all (populations, count, &candidate->ladder);
    if (candidate->result.mean_bps > best.result.mean_bps)
      best = *candidate;
  }
  g_array_unref (all);
  /* Up the hill: each bound, by ever smaller steps. */
  for (double step = 0.16; step > 0.03; step /= 2.0) {
    for (guint k = 1; k < best.ladder.count; k++) {
      for (int sign = -1; sign <= 1; sign += 2) {
        Candidate next = best;
        next.ladder.bound_bps[k]
            = (guint64)((double)best.ladder.bound_bps[k] * (1.0 + sign * step));
        if (next.ladder.bound_bps[k] <= next.ladder.bound_bps[k - 1]
            || next.ladder.bound_bps[k] >= next.ladder.bound_bps[k + 1])
          continue;
        next.result = measure_all (populations, count, &next.ladder);
        if (next.result.mean_bps > best.result.mean_bps)
          best = next;
      }
    }
  }
  return best;
}

static void
print_loss (const char *when, const VnetPopulationLoss *loss)
{
  g_print ("# %s: ideal %.0f = shown %.0f + wrong partition %.0f + slow streams %.0f + gaps %.0f\n",
      when, loss->ideal_bps / 1e3,
      (loss->ideal_bps - loss->partition_bps - loss->rate_bps - loss->shown_bps) / 1e3,
      loss->partition_bps / 1e3, loss->rate_bps / 1e3, loss->shown_bps / 1e3);
}

static void
print_row (const char *name, const char *what, const VnetLadder *ladder,
    const VnetPopulationResult *result)
{
  GString *bounds = g_string_new (NULL);
  for (unsigned k = 1; k < ladder->count && !ladder->live; k++)
    g_string_append_printf (bounds, " %.2f", (double)ladder->bound_bps[k] / 1e6);
  g_print ("| %s | %s%s | %.0f | %.0f | %.2f | %.2f | %u | %u | %u |\n", name, what, bounds->str,
      result->mean_bps / 1e3, result->late_bps / 1e3, 100.0 * result->drop_ratio, result->switches,
      result->most, result->streams, result->ladders);
  if (losses) {
    print_loss ("within 60 s of a begin", &result->begin);
    print_loss ("later", &result->rest);
  }
  g_string_free (bounds, TRUE);
}

int
main (int argc, char **argv)
{
  GError *error = NULL;
  GOptionContext *context = g_option_context_new ("- ASSP's live ladder");
  g_option_context_add_main_entries (context, options, NULL);
  if (!g_option_context_parse (context, &argc, &argv, &error) || streams < 1
      || streams > MCC_ASSP_STREAMS_MAX || seeds < 1 || seconds < 2 || together < 0
      || together > VNET_POPULATIONS) {
    g_printerr ("%s\n", error != NULL ? error->message : "an argument is out of range");
    return 2;
  }
  g_print ("| population | ladder (Mb/s between streams) | mean kb/s | second half |"
           " %% dropped | switches/receiver/min | most in a minute | streams | changes |\n"
           "|---|---|---|---|---|---|---|---|---|\n");
  VnetPopulation populations[VNET_POPULATIONS];
  for (guint i = 0; i < VNET_POPULATIONS; i++) {
    vnet_population_make (&populations[i], i);
    populations[i].rivals = (guint)MAX (rivals, 0);
  }
  Candidate best = { 0 };
  if (together > 0)
    best = best_fixed (populations, (guint)together);
  for (guint i = 0; i < VNET_POPULATIONS; i++) {
    const VnetPopulation *population = &populations[i];
    VnetLadder live = { .count = (unsigned)streams, .live = true };
    if ((only >= 0 && (guint)only != i) || (together > 0 && i >= (guint)together))
      continue;
    MccAsspStreams even = { 0 };
    mcc_assp_ladder_even (&even, live.count, LOW_BPS, HIGH_BPS);
    for (unsigned j = 0; j < live.count; j++)
      live.bound_bps[j] = even.stream[j].low_bps;
    live.bound_bps[live.count] = HIGH_BPS;
    VnetPopulationResult result = measure (population, &live);
    print_row (population->name, "live", &live, &result);
    live.live = false;
    result = measure (population, &live);
    print_row (population->name, "even", &live, &result);
    if (together > 0)
      best.result = measure (population, &best.ladder);
    else if (!live_only)
      best = best_fixed (population, 1);
    if (best.ladder.count > 0)
      print_row (population->name, together > 0 ? "fixed for all" : "best fixed", &best.ladder,
          &best.result);
  }
  g_option_context_free (context);
  return 0;
}
