/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Precompiled: what most files here read, and what takes them longest. Every file still includes
 * what it uses; without precompiled headers (-Db_pch=false) all builds as well.
 */
#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>
#include <ns3/ipv4.h>
#include <ns3/node.h>
#include <ns3/packet.h>
#include <ns3/simulator.h>
#include <ns3/socket.h>
