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

/* After a pause of the sender its receiver takes what comes, and asks for more. */
void
tfmcc_goes_on_after_a_pause ()
{
  json scenario = Alone ("tfmcc", 5e5);

  scenario["duration"] = 40;
  scenario["flows"][0]["stop"] = 10;
  scenario["flows"][0]["again"] = json::array ({ { 20, 40 } });
  const json result = sim::RunScenario (scenario);
  const json &receiver = result.at ("flows").at ("m").at ("receivers").at ("r");
  g_assert_cmpfloat (lab::Rate (receiver.at ("bytes"), 5, 10), >, 1e6);
  g_assert_cmpfloat (lab::Sum (receiver.at ("bytes"), 10.5, 20), ==, 0);
  g_assert_cmpfloat (lab::Sum (receiver.at ("reports"), 20, 25), >, 20);
  g_assert_cmpfloat (lab::Rate (receiver.at ("bytes"), 25, 40), >, 1e6);
  g_assert_cmpfloat (lab::Sum (receiver.at ("lost"), 20, 20.5), ==, 0);
}

/* The record's losses are packets that did not come, not marks. */
void
pgmcc_marks_are_no_losses ()
{
  json scenario = Alone ("pgmcc", 5e5);
  scenario["duration"] = 30;
  scenario["flows"][0]["ecn"] = true;
  scenario["links"][0]["queue"] = { { "type", "red" }, { "size", { { "packets", 100 } } },
    { "min", { { "packets", 5 } } }, { "max", { { "packets", 15 } } }, { "ecn", true } };
  const json result = sim::RunScenario (scenario);
  const json &link = result.at ("links").at ("l");
  const json &receiver = result.at ("flows").at ("m").at ("receivers").at ("r");
  g_assert_cmpfloat (lab::Sum (link.at ("marks")), >, 5);
  g_assert_cmpfloat (lab::Sum (link.at ("queue_drops")), ==, 0);
  g_assert_cmpfloat (lab::Sum (receiver.at ("lost")), ==, 0);
}

} // namespace

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/sim/rivals/tfmcc-starts-at-the-start-rate", tfmcc_starts_at_the_start_rate);
  g_test_add_func ("/sim/rivals/tfmcc-goes-on-after-a-pause", tfmcc_goes_on_after_a_pause);
  g_test_add_func ("/sim/rivals/pgmcc-marks-are-no-losses", pgmcc_marks_are_no_losses);
  return g_test_run ();
}
