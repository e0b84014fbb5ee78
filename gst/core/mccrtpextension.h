/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * mccrtpextension: elements of RTP header extensions, with one-byte and with two-byte headers (RFC
 * 8285 4.2, 4.3). Of several with one id the last counts: ours is put behind what a packet brings
 * along, of an id that its caps do not name.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* The element @id of the extension @data, which begins with its profile and length; *bytes: its
 * length. NULL: not there, or something is not as long as it says. Nothing is read behind @size. */
const uint8_t *mcc_rtp_extension_element (
    const uint8_t *data, size_t size, uint8_t id, size_t *bytes);
/* ... of the RTP packet @data. */
const uint8_t *mcc_rtp_packet_element (const uint8_t *data, size_t size, uint8_t id, size_t *bytes);
