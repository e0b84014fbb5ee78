/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * topology: what every network of the laboratory offers to an experiment.
 */
#pragma once

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>

#include <nlohmann/json.hpp>

#include "port.h"

namespace sim
{

/* A scenario that cannot be run; what () names the place. */
class ScenarioError : public std::runtime_error
{
public:
  using std::runtime_error::runtime_error;
};

/* Runs @build; an error of it says that it happened in @place. */
void WithPlace (const std::string &place, const std::function<void ()> &build);

class Topology
{
public:
  virtual ~Topology () = default;

  /* A host on a link of its own to @router; ids count from 0 in the order of creation. @access
   * as in a scenario ({"rate":, "delay":}); null: the scenario's. @name seeds what is random about
   * this host, so that it is the same in every variant. All hosts come before the first port. */
  virtual HostId AddHost (
      const std::string &name, const std::string &router, const nlohmann::json &access)
      = 0;
  /* Different flows have different groups. */
  virtual std::unique_ptr<Port> NewPort (HostId host, unsigned flow) = 0;
  /* "links" of the result. */
  virtual nlohmann::json Links () const = 0;
};

/* The networks by a scenario's "network". */
std::unique_ptr<Topology> NewLightStar (const nlohmann::json &scenario); /* light.cc */

} // namespace sim
