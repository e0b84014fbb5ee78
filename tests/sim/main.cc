/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * mccsim [--progress] SCENARIO.json > result.json: one run of a normalised scenario.
 *
 * 0: done; 2: the scenario cannot be run, the reason is on stderr.
 */
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>

#include "experiment.h"

static void
ShowProgress (double now)
{
  std::fprintf (stderr, "%.0f\n", now);
}

int
main (int argc, char **argv)
{
  const char *file = nullptr;
  std::function<void (double)> progress;
  for (int i = 1; i < argc; i++) {
    if (std::strcmp (argv[i], "--progress") == 0)
      progress = ShowProgress;
    else if (argv[i][0] == '-' || file != nullptr)
      file = "";
    else
      file = argv[i];
  }
  if (file == nullptr || *file == '\0') {
    std::cerr << "usage: mccsim [--progress] SCENARIO.json > result.json\n";
    return 2;
  }
  std::ifstream stream (file);
  if (!stream) {
    std::cerr << "mccsim: cannot read " << file << "\n";
    return 2;
  }
  try {
    std::cout << sim::RunScenario (nlohmann::json::parse (stream), progress).dump () << "\n";
  } catch (const std::exception &error) {
    std::cerr << "mccsim: " << file << ": " << error.what () << "\n";
    return 2;
  }
  return std::cout.flush () ? 0 : 1;
}
