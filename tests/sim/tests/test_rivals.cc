/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The baselines on hosts: what their wrappers (apps/tfmcc.cc, apps/pgmcc.cc) add.
 */
#include <glib.h>

#include "lab.h"

using lab::json;

namespace
{

/* One flow from 100 kb/s to 10 Mb/s, alone on 2 Mb/s with 40 ms of delay. */
json
Alone (const char *variant, double start_bps)
{
  json flow = lab::Multicast ("m", start_bps, { { { "id", "r" }, { "at", "b" }, { "join", 0 } } });
  flow["min_rate"] = 1e5;
  flow["max_rate"] = 1e7;
  json scenario
      = lab::Scenario (10, { lab::Link ("l", "a", "b", 2e6, 0.04, lab::DropTail (20)) }, { flow });
  scenario["variant"] = variant;
  return scenario;
}

const json &
Sender (const json &result)
{
  return result.at ("flows").at ("m").at ("sender");
}

/* Everybody starts at the flow's rate; RFC 4654 3.1: one packet per R_max, not below min_rate. */
void
tfmcc_starts_at_the_start_rate ()
{
  json scenario = Alone ("tfmcc", 5e5);

  assert_near (Sender (sim::RunScenario (scenario)).at ("target_bps")[0][1], 5e5, 1e-9);
  scenario["flows"][0]["options"] = { { "rfc_start", true } };
  assert_near (Sender (sim::RunScenario (scenario)).at ("target_bps")[0][1], 1e5, 1e-9);
}

} // namespace

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/sim/rivals/tfmcc-starts-at-the-start-rate", tfmcc_starts_at_the_start_rate);
  return g_test_run ();
}
