/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Whole runs: reproducible, and an error for what cannot be run.
 */
#include <fstream>

#include <glib/gstdio.h>

#include "lab.h"
#include "onoff.h"

using lab::json;

static json
Mixed (unsigned seed)
{
  json red = { { "type", "red" }, { "size", { { "packets", 60 } } },
    { "min", { { "packets", 10 } } }, { "max", { { "packets", 30 } } }, { "ecn", false } };
  json udp = lab::Udp ("u", 1e6, 0, 8);
  udp["onoff"] = { { "on", 0.5 }, { "off", 0.5 }, { "distribution", "pareto" }, { "shape", 1.5 } };
  json scenario = lab::Scenario (8, { lab::Link ("l", "a", "b", 4e6, 0.02, red) },
      { lab::Multicast ("m", 5e5, { { { "id", "r" }, { "at", "b" }, { "join", 0 } } }),
          lab::Tcp ("t", "reno", { 0, 1 }), lab::Tcp ("v", "bbr", { 0, 1 }), udp });
  scenario["links"][0]["loss"] = { { "type", "bernoulli" }, { "ratio", 0.002 } };
  scenario["seed"] = seed;
  return scenario;
}

static void
test_reproducible ()
{
  const std::string first = sim::RunScenario (Mixed (1)).dump ();
  const std::string other = sim::RunScenario (Mixed (2)).dump ();
  const std::string again = sim::RunScenario (Mixed (1)).dump ();
  g_assert_true (first == again);
  g_assert_true (first != other);
}

/* Another flow more does not change when and where the first ones are. */
static void
test_draws_are_by_name ()
{
  json scenario = lab::Scenario (
      6, { lab::Link ("l", "a", "b", 100e6, 0.02) }, { lab::Udp ("u", 1e6, 0, 6) });
  scenario["flows"][0]["start"] = { 0, 5 };
  const json alone = sim::RunScenario (scenario);
  scenario["flows"].insert (scenario["flows"].begin (), lab::Udp ("a", 1e6, 0, 6));
  const json beside = sim::RunScenario (scenario);
  g_assert_true (
      alone.at ("flows").at ("u").at ("packets") == beside.at ("flows").at ("u").at ("packets"));
}

static void
test_result ()
{
  const json result = sim::RunScenario (Mixed (1));
  g_assert_true (result.at ("scenario") == "test" && result.at ("variant") == "cbr");
  g_assert_true (result.at ("seed") == 1 && result.at ("bin") == 0.1);
  g_assert_true (result.at ("duration") == 8);
  const json &receiver = result.at ("flows").at ("m").at ("receivers").at ("r");
  /* What was sent has arrived or is lost. */
  const double all
      = lab::Sum (receiver.at ("packets"), 1, 8) + lab::Sum (receiver.at ("lost"), 1, 8);
  assert_near (all * 8000 / 7, 5e5, 0.02);
  g_assert_cmpfloat (lab::Sum (receiver.at ("lost")), <, 0.1 * all);
  g_assert_true (receiver.at ("group") == "r");
  g_assert_true (result.at ("flows").at ("m").at ("kind") == "multicast");
  g_assert_true (result.at ("flows").at ("u").at ("kind") == "udp");
  g_assert_cmpfloat (lab::Mean (receiver), >, 0.022);
  g_assert_cmpfloat (lab::Mean (receiver), <, 0.120);
  g_assert_true (result.at ("links").at ("l").at ("rate_bps") == json::parse ("[[0, 4000000]]"));
}

static void
test_onoff ()
{
  for (const char *kind : { "exponential", "pareto" }) {
    sim::Random random (5, kind);
    double sum = 0;
    for (unsigned i = 0; i < 200000; i++)
      sum += *kind == 'p' ? random.Pareto (5, 2.5) : random.Exponential (5);
    assert_near (sum / 200000, 5, 0.02);
  }
}

/* Errors, no crash, for a scenario without one of its fields. */
static void
test_missing_fields ()
{
  const json whole = Mixed (1);
  for (const char *path :
      { "/id", "/variant", "/seed", "/duration", "/network", "/clocks", "/leave_latency", "/access",
          "/access/rate", "/access/delay", "/links", "/links/0/id", "/links/0/from", "/links/0/to",
          "/links/0/rate", "/links/0/delay", "/links/0/queue", "/links/0/queue/type",
          "/links/0/queue/size", "/links/0/loss/ratio", "/flows", "/flows/0/id", "/flows/0/type",
          "/flows/0/from", "/flows/0/max_rate", "/flows/0/receivers", "/flows/0/receivers/0/id",
          "/flows/0/receivers/0/at", "/flows/0/receivers/0/join", "/flows/1/congestion",
          "/flows/1/segment", "/flows/1/to", "/flows/3/rate", "/flows/3/packet_size" }) {
    json broken = whole;
    const json::json_pointer pointer (path);
    broken[pointer.parent_pointer ()].erase (pointer.back ());
    bool failed = false;
    try {
      sim::RunScenario (broken);
    } catch (const std::exception &error) {
      failed = true;
      const std::string field = pointer.back ();
      if (std::string (error.what ()).find (field) == std::string::npos)
        g_error ("%s: \"%s\" does not name the field", path, error.what ());
    }
    if (!failed)
      g_error ("a scenario without %s runs", path);
  }
}

static void
test_wrong_values ()
{
  const std::pair<const char *, json> wrong[] = { { "/variant", "nobody" },
    { "/network", "token-ring" }, { "/links/0/queue/type", "magic" },
    { "/links/0/loss/type", "magic" }, { "/flows/0/type", "carrier-pigeon" },
    { "/flows/1/congestion", "magic" }, { "/flows/1/from", "nowhere" },
    { "/flows/3/onoff/distribution", "magic" }, { "/flows/0/receivers/0/at", "nowhere" },
    { "/links/0/rate", "fast" }, { "/links/0/to", "a" },
    { "/links/1", { { "id", "k" }, { "from", "b" }, { "to", "a" }, { "rate", 1e6 },
                      { "delay", 0.01 }, { "queue", lab::DropTail (10) } } } };
  for (const auto &[path, value] : wrong) {
    json broken = Mixed (1);
    broken[json::json_pointer (path)] = value;
    bool failed = false;
    try {
      sim::RunScenario (broken);
    } catch (const std::exception &) {
      failed = true;
    }
    if (!failed)
      g_error ("a scenario with %s = %s runs", path, value.dump ().c_str ());
  }
}

static int
RunProgram (const std::string &text, std::string *out, std::string *err)
{
  char *name = nullptr;
  const int fd = g_file_open_tmp ("mccsim-XXXXXX.json", &name, nullptr);
  g_assert_cmpint (fd, >=, 0);
  g_close (fd, nullptr);
  std::ofstream (name) << text;
  char *argv[] = { g_strdup (g_getenv ("MCCSIM")), name, nullptr };
  char *output = nullptr, *errors = nullptr;
  int status = -1;
  g_assert_true (g_spawn_sync (nullptr, argv, nullptr, G_SPAWN_DEFAULT, nullptr, nullptr, &output,
      &errors, &status, nullptr));
  *out = output;
  *err = errors;
  g_unlink (name);
  g_free (name);
  g_free (argv[0]);
  g_free (output);
  g_free (errors);
  return status;
}

static void
test_program ()
{
  std::string out, err;
  g_assert_cmpint (RunProgram (Mixed (1).dump (), &out, &err), ==, 0);
  g_assert_true (json::parse (out) == sim::RunScenario (Mixed (1)));
  GError *error = nullptr;
  g_assert_false (g_spawn_check_wait_status (RunProgram ("{", &out, &err), &error));
  g_assert_cmpint (error->code, ==, 2);
  g_clear_error (&error);
  g_assert_true (out.empty ());
  g_assert_false (err.empty ());
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, nullptr);
  g_test_add_func ("/experiment/reproducible", test_reproducible);
  g_test_add_func ("/experiment/draws-are-by-name", test_draws_are_by_name);
  g_test_add_func ("/experiment/result", test_result);
  g_test_add_func ("/experiment/onoff-means", test_onoff);
  g_test_add_func ("/experiment/missing-fields", test_missing_fields);
  g_test_add_func ("/experiment/wrong-values", test_wrong_values);
  g_test_add_func ("/experiment/program", test_program);
  return g_test_run ();
}
