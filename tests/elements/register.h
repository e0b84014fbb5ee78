/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * register: the plugin's elements, from this very build.
 */
#pragma once

void register_elements (void);
