/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Payloads are written by hand from RFC 6184, 7741, 7798 and 9628.
 */
#include <glib.h>
#include <string.h>

#include "mcclayerclass.h"

typedef MccLayerError (*Read) (const uint8_t *, size_t, MccLayerSlice *);

typedef struct {
  const char *what;
  size_t size;
  uint8_t data[24];
  MccLayerError error;
  int layer;        /* -1: no slice */
  const char *says; /* k: KEY, s: SYNC, n: needed, l: LEADING */
} Row;

static void
check (Read read, const Row *rows, unsigned n)
{
  for (unsigned i = 0; i < n; i++) {
    uint8_t *exact = g_memdup2 (rows[i].data, rows[i].size);
    MccLayerSlice slice = { .layer = 77 };
    MccLayerError error = read (exact, rows[i].size, &slice);
    g_test_message ("%s", rows[i].what);
    g_assert_cmpint (error, ==, rows[i].error);
    g_free (exact);
    if (error != MCC_LAYER_GOOD) {
      g_assert_cmpuint (slice.layer, ==, 77); /* untouched */
    } else if (rows[i].layer < 0) {
      g_assert_false (slice.slice);
    } else {
      g_assert_true (slice.slice);
      g_assert_cmpuint (slice.layer, ==, rows[i].layer);
      g_assert_cmpint (slice.key, ==, strchr (rows[i].says, 'k') != NULL);
      g_assert_cmpint (slice.sync, ==, strchr (rows[i].says, 's') != NULL);
      g_assert_cmpint (slice.needed, ==, strchr (rows[i].says, 'n') != NULL);
      g_assert_cmpint (slice.leading, ==, strchr (rows[i].says, 'l') != NULL);
    }
  }
}

/* first_mb_in_slice 0 is the bit 1; slice_type P(0) 1, B(1) 010, I(2) 011, P(5) 00110, B(6) 00111,
 * I(7) 0001000: so 0xc0, 0xa0, 0xb0, 0x98, 0x9c, 0x88. */
static void
test_h264 (void)
{
  static const Row rows[] = {
    { "IDR", 3, { 0x65, 0x88, 0x84 }, 0, 0, "kn" },
    { "P", 3, { 0x41, 0x9a, 0x00 }, 0, 0, "n" },
    { "P of this slice only", 2, { 0x41, 0xc0 }, 0, 0, "n" },
    { "I, not IDR", 2, { 0x61, 0x88 }, 0, 0, "n" },
    { "I of this slice only", 2, { 0x61, 0xb0 }, 0, 0, "n" },
    { "P that nothing needs", 2, { 0x01, 0x98 }, 0, 0, "" },
    { "B, nal_ref_idc 2", 3, { 0x41, 0x9e, 0x00 }, 0, 1, "n" },
    { "B, nal_ref_idc 1, of this slice only", 2, { 0x21, 0xa0 }, 0, 1, "n" },
    { "B, nal_ref_idc 0", 2, { 0x01, 0x9c }, 0, 2, "" },
    /* first_mb 1320: ten zeros, then 1321 = 10100101001; P(0) is 1 */
    { "a later slice", 4, { 0x41, 0x00, 0x29, 0x4c }, 0, 0, "n" },
    { "SPS", 4, { 0x67, 0x42, 0xc0, 0x1f }, 0, -1, "" },
    { "AUD", 2, { 0x09, 0xf0 }, 0, -1, "" },
    { "end of sequence", 1, { 0x0a }, 0, -1, "" },
    { "partition A, B", 2, { 0x22, 0x9c }, 0, 1, "n" },
    { "STAP-A: SPS, PPS, IDR", 15,
        { 0x78, 0, 3, 0x67, 0x42, 0xc0, 0, 2, 0x68, 0xce, 0, 3, 0x65, 0x88, 0x84 }, 0, 0, "kn" },
    { "STAP-A: AUD, b, a unit of no bytes", 11, { 0x18, 0, 2, 0x09, 0xf0, 0, 2, 0x01, 0x9c, 0, 0 },
        MCC_LAYER_MALFORMED, -1, "" },
    { "STAP-A: AUD, b", 9, { 0x18, 0, 2, 0x09, 0xf0, 0, 2, 0x01, 0x9c }, 0, 2, "" },
    { "STAP-A: B, then P of the same picture", 9, { 0x58, 0, 2, 0x41, 0x9c, 0, 2, 0x41, 0x98 }, 0,
        0, "n" },
    { "FU-A, start of b", 4, { 0x1c, 0x81, 0x9c, 0x00 }, 0, 2, "" },
    { "FU-A, start of B", 4, { 0x5c, 0x81, 0x9c, 0x00 }, 0, 1, "n" },
    { "FU-A, start of IDR", 4, { 0x7c, 0x85, 0x88, 0x80 }, 0, 0, "kn" },
    { "FU-A, middle", 3, { 0x1c, 0x01, 0x9c }, 0, -1, "" },
    { "FU-A, end", 3, { 0x1c, 0x41, 0x9c }, 0, -1, "" },
    { "a number that does not end", 9, { 0x41, 0x00, 0x00, 0x03, 0x00, 0x03, 0x00, 0x80, 0x00 },
        MCC_LAYER_MALFORMED, -1, "" },
    { "a number of more than 32 bits", 9, { 0x41, 0x00, 0x00, 0x03, 0x00, 0x00, 0x03, 0x00, 0xff },
        MCC_LAYER_MALFORMED, -1, "" },
    /* first_mb 65535: 16 zeros, 1, 16 zeros; B(6) is 00111 */
    { "emulation prevention is no part of a number", 7,
        { 0x01, 0x00, 0x00, 0x03, 0x80, 0x00, 0x1c }, 0, 2, "" },
    { "nothing", 0, { 0 }, MCC_LAYER_MALFORMED, -1, "" },
    { "forbidden bit", 2, { 0xe5, 0x88 }, MCC_LAYER_MALFORMED, -1, "" },
    { "type 0", 2, { 0x60, 0x88 }, MCC_LAYER_MALFORMED, -1, "" },
    { "type 30", 2, { 0x7e, 0x88 }, MCC_LAYER_MALFORMED, -1, "" },
    { "slice without a header", 1, { 0x41 }, MCC_LAYER_MALFORMED, -1, "" },
    { "slice that ends in first_mb", 2, { 0x41, 0x00 }, MCC_LAYER_MALFORMED, -1, "" },
    { "slice that ends in its type", 2, { 0x41, 0x80 }, MCC_LAYER_MALFORMED, -1, "" },
    { "slice type 10", 3, { 0x41, 0x8b, 0xff }, MCC_LAYER_MALFORMED, -1, "" },
    { "STAP-A: empty", 1, { 0x78 }, MCC_LAYER_MALFORMED, -1, "" },
    { "STAP-A: half a size", 2, { 0x78, 0 }, MCC_LAYER_MALFORMED, -1, "" },
    { "STAP-A: more than there is", 5, { 0x78, 0, 3, 0x65, 0x88 }, MCC_LAYER_MALFORMED, -1, "" },
    { "STAP-A: a unit of no bytes", 3, { 0x78, 0, 0 }, MCC_LAYER_MALFORMED, -1, "" },
    { "STAP-A in a STAP-A", 6, { 0x78, 0, 3, 0x78, 0, 0 }, MCC_LAYER_MALFORMED, -1, "" },
    { "FU-A: no payload", 2, { 0x7c, 0x85 }, MCC_LAYER_MALFORMED, -1, "" },
    { "FU-A: start and end", 3, { 0x7c, 0xc5, 0x88 }, MCC_LAYER_MALFORMED, -1, "" },
    { "FU-A of a STAP-A", 3, { 0x7c, 0x98, 0x88 }, MCC_LAYER_MALFORMED, -1, "" },
    { "STAP-B", 5, { 0x79, 0, 0, 0, 0 }, MCC_LAYER_UNSUPPORTED, -1, "" },
    { "FU-B", 5, { 0x7d, 0x85, 0, 0, 0 }, MCC_LAYER_UNSUPPORTED, -1, "" },
  };
  check (mcc_layer_h264, rows, G_N_ELEMENTS (rows));
}

static void
test_vp8 (void)
{
  static const Row rows[] = {
    { "key frame, one byte of descriptor", 4, { 0x10, 0x90, 0x12, 0x00 }, 0, 0, "kn" },
    { "inter frame", 2, { 0x10, 0x91 }, 0, 0, "n" },
    { "second packet of a frame", 2, { 0x00, 0x90 }, 0, 0, "n" },
    { "another partition", 2, { 0x11, 0x90 }, 0, 0, "n" },
    { "TID 2, Y, 15-bit picture id", 7, { 0x90, 0xe0, 0x80, 0x05, 0x01, 0xa0, 0x91 }, 0, 2, "sn" },
    { "TID 1, no Y, 7-bit picture id", 6, { 0x90, 0xe0, 0x05, 0x01, 0x40, 0x91 }, 0, 1, "n" },
    { "TID 3 that nothing needs", 4, { 0xb0, 0x20, 0xc0, 0x91 }, 0, 3, "" },
    { "TID 0 of a key frame", 7, { 0x90, 0xe0, 0x80, 0x05, 0x01, 0x00, 0x90 }, 0, 0, "kn" },
    { "KEYIDX without TID: its TID does not count", 4, { 0x90, 0x10, 0xe3, 0x91 }, 0, 0, "n" },
    { "X and nothing in it", 3, { 0x90, 0x00, 0x91 }, 0, 0, "n" },
    { "nothing", 0, { 0 }, MCC_LAYER_MALFORMED, -1, "" },
    { "no payload", 1, { 0x10 }, MCC_LAYER_MALFORMED, -1, "" },
    { "X, no extension", 1, { 0x90 }, MCC_LAYER_MALFORMED, -1, "" },
    { "X, no payload", 2, { 0x90, 0x00 }, MCC_LAYER_MALFORMED, -1, "" },
    { "I, no picture id", 2, { 0x90, 0x80 }, MCC_LAYER_MALFORMED, -1, "" },
    { "M, half a picture id", 3, { 0x90, 0x80, 0x80 }, MCC_LAYER_MALFORMED, -1, "" },
    { "L without T", 4, { 0x90, 0x40, 0x01, 0x91 }, MCC_LAYER_MALFORMED, -1, "" },
    { "L, no TL0PICIDX", 2, { 0x90, 0x60 }, MCC_LAYER_MALFORMED, -1, "" },
    { "T, no TID", 3, { 0x90, 0x60, 0x01 }, MCC_LAYER_MALFORMED, -1, "" },
    { "TID, no payload", 4, { 0x90, 0x60, 0x01, 0x40 }, MCC_LAYER_MALFORMED, -1, "" },
    { "all of the descriptor, no payload", 6, { 0x90, 0xf0, 0x80, 0x05, 0x01, 0xa0 },
        MCC_LAYER_MALFORMED, -1, "" },
  };
  check (mcc_layer_vp8, rows, G_N_ELEMENTS (rows));
}

static void
test_h265 (void)
{
  static const Row rows[] = {
    { "IDR_W_RADL", 3, { 0x26, 0x01, 0xaf }, 0, 0, "kn" },
    { "CRA", 3, { 0x2a, 0x01, 0xaf }, 0, 0, "kn" },
    { "TRAIL_R", 3, { 0x02, 0x01, 0xd0 }, 0, 0, "n" },
    { "TRAIL_N, TID 1", 3, { 0x00, 0x02, 0xd0 }, 0, 1, "" },
    { "TSA_N, TID 1", 3, { 0x04, 0x02, 0xd0 }, 0, 1, "s" },
    { "TSA_R, TID 2", 3, { 0x06, 0x03, 0xd0 }, 0, 2, "sn" },
    { "STSA_R, TID 1", 3, { 0x0a, 0x02, 0xd0 }, 0, 1, "sn" },
    { "RASL_N, TID 1", 3, { 0x10, 0x02, 0xd0 }, 0, 1, "l" },
    { "RADL_R", 3, { 0x0e, 0x01, 0xd0 }, 0, 0, "n" },
    { "VPS", 4, { 0x40, 0x01, 0x0c, 0x01 }, 0, -1, "" },
    { "end of sequence", 2, { 0x48, 0x01 }, 0, -1, "" },
    { "AP: VPS, IDR", 12, { 0x60, 0x01, 0, 3, 0x40, 0x01, 0x0c, 0, 3, 0x26, 0x01, 0xaf }, 0, 0,
        "kn" },
    { "AP: slices of two layers", 12,
        { 0x60, 0x01, 0, 3, 0x02, 0x01, 0xd0, 0, 3, 0x00, 0x02, 0xd0 }, MCC_LAYER_MIXED, -1, "" },
    { "FU, start of TSA_N, TID 1", 4, { 0x62, 0x02, 0x82, 0xd0 }, 0, 1, "s" },
    { "FU, middle: it says its type too", 4, { 0x62, 0x02, 0x02, 0xd0 }, 0, 1, "s" },
    { "nothing", 0, { 0 }, MCC_LAYER_MALFORMED, -1, "" },
    { "half a header", 1, { 0x26 }, MCC_LAYER_MALFORMED, -1, "" },
    { "forbidden bit", 3, { 0xa6, 0x01, 0xaf }, MCC_LAYER_MALFORMED, -1, "" },
    { "TemporalId plus 1 is 0", 3, { 0x26, 0x00, 0xaf }, MCC_LAYER_MALFORMED, -1, "" },
    { "IDR above layer 0", 3, { 0x26, 0x02, 0xaf }, MCC_LAYER_MALFORMED, -1, "" },
    { "type 51", 3, { 0x66, 0x01, 0xaf }, MCC_LAYER_MALFORMED, -1, "" },
    { "AP: empty", 2, { 0x60, 0x01 }, MCC_LAYER_MALFORMED, -1, "" },
    { "AP: half a size", 3, { 0x60, 0x01, 0 }, MCC_LAYER_MALFORMED, -1, "" },
    { "AP: more than there is", 6, { 0x60, 0x01, 0, 4, 0x26, 0x01 }, MCC_LAYER_MALFORMED, -1, "" },
    { "AP: half a header", 5, { 0x60, 0x01, 0, 1, 0x26 }, MCC_LAYER_MALFORMED, -1, "" },
    { "AP in an AP", 6, { 0x60, 0x01, 0, 2, 0x60, 0x01 }, MCC_LAYER_MALFORMED, -1, "" },
    { "FU: no payload", 3, { 0x62, 0x01, 0x93 }, MCC_LAYER_MALFORMED, -1, "" },
    { "FU: start and end", 4, { 0x62, 0x01, 0xd3, 0xaf }, MCC_LAYER_MALFORMED, -1, "" },
    { "FU of an AP", 4, { 0x62, 0x01, 0xb0, 0xaf }, MCC_LAYER_MALFORMED, -1, "" },
    { "PACI", 5, { 0x64, 0x01, 0x26, 0x00, 0xaf }, MCC_LAYER_UNSUPPORTED, -1, "" },
    { "nuh_layer_id 1", 3, { 0x26, 0x09, 0xaf }, MCC_LAYER_UNSUPPORTED, -1, "" },
  };
  check (mcc_layer_h265, rows, G_N_ELEMENTS (rows));
}

static void
test_vp9 (void)
{
  static const Row rows[] = {
    { "key frame, its first packet", 3, { 0x88, 0x05, 0x82 }, 0, 0, "kn" },
    { "key frame, 15-bit picture id", 4, { 0x8c, 0x80, 0x05, 0x82 }, 0, 0, "kn" },
    { "key frame, a later packet", 3, { 0x80, 0x05, 0x82 }, 0, 0, "n" },
    { "inter frame", 3, { 0xc8, 0x06, 0x86 }, 0, 0, "n" },
    { "inter frame, its last packet", 3, { 0xc4, 0x06, 0x86 }, 0, 0, "n" },
    { "nothing", 0, { 0 }, MCC_LAYER_MALFORMED, -1, "" },
    { "no payload", 1, { 0x08 }, MCC_LAYER_MALFORMED, -1, "" },
  };
  check (mcc_layer_vp9, rows, G_N_ELEMENTS (rows));
}

/* ---- units ---- */

enum { KEY = MCC_LAYER_KEY, SYNC = MCC_LAYER_SYNC, CLEAN = MCC_LAYER_CLEAN };

typedef struct {
  const char *what;
  size_t size;
  uint8_t data[8];
  uint8_t layer, flags;
} Unit;

static void
check_units (MccLayerCodec codec, unsigned count, const Unit *units, unsigned n)
{
  MccLayerClass class;
  mcc_layer_class_init (&class, codec, count);
  for (unsigned i = 0; i < n; i++) {
    MccLayerUnit unit;
    g_test_message ("%s", units[i].what);
    mcc_layer_class_add (&class, units[i].data, units[i].size);
    unit = mcc_layer_class_end (&class);
    g_assert_cmpint (unit.error, ==, MCC_LAYER_GOOD);
    g_assert_cmpuint (unit.layer, ==, units[i].layer);
    g_assert_cmphex (unit.flags, ==, units[i].flags);
  }
}

static void
test_pyramid (void)
{
  static const Unit three[] = {
    { "IDR", 3, { 0x65, 0x88, 0x84 }, 0, KEY | SYNC | CLEAN },
    { "P", 3, { 0x41, 0x9a, 0x00 }, 0, CLEAN },
    { "B", 3, { 0x41, 0x9e, 0x00 }, 1, SYNC },
    { "b", 2, { 0x01, 0x9c }, 2, SYNC },
    { "b again", 2, { 0x01, 0x9c }, 2, SYNC },
    { "another B before the next P may need the first", 3, { 0x41, 0x9e, 0x00 }, 1, 0 },
    { "P", 3, { 0x41, 0x9a, 0x00 }, 0, CLEAN },
    { "B", 3, { 0x41, 0x9e, 0x00 }, 1, SYNC },
  };
  static const Unit two[] = {
    { "IDR", 3, { 0x65, 0x88, 0x84 }, 0, KEY | SYNC | CLEAN },
    { "B", 3, { 0x41, 0x9e, 0x00 }, 1, SYNC },
    { "b needs B, which is in the same layer now", 2, { 0x01, 0x9c }, 1, 0 },
  };
  check_units (MCC_LAYER_CODEC_H264, 3, three, G_N_ELEMENTS (three));
  check_units (MCC_LAYER_CODEC_H264, 2, two, G_N_ELEMENTS (two));
}

static void
test_vp8_units (void)
{
  static const Unit units[] = {
    { "key", 5, { 0x90, 0x20, 0x00, 0x90, 0 }, 0, KEY | SYNC | CLEAN },
    { "TID 2, the first since the key", 4, { 0x90, 0x20, 0x80, 0x91 }, 2, SYNC },
    { "TID 1, Y", 4, { 0x90, 0x20, 0x60, 0x91 }, 1, SYNC },
    { "TID 2", 4, { 0x90, 0x20, 0x80, 0x91 }, 2, 0 },
    { "TID 0: what is behind may need what was before", 4, { 0x90, 0x20, 0x00, 0x91 }, 0, 0 },
    { "TID 1", 4, { 0x90, 0x20, 0x40, 0x91 }, 1, 0 },
    { "TID 2, Y", 4, { 0x90, 0x20, 0xa0, 0x91 }, 2, SYNC },
  };
  check_units (MCC_LAYER_CODEC_VP8, 3, units, G_N_ELEMENTS (units));
}

static void
test_h265_units (void)
{
  static const Unit two[] = {
    { "IDR", 3, { 0x26, 0x01, 0xaf }, 0, KEY | SYNC | CLEAN },
    { "TRAIL_R", 3, { 0x02, 0x01, 0xd0 }, 0, 0 },
    { "TRAIL_N, TID 1: no unit of its layer needs another", 3, { 0x00, 0x02, 0xd0 }, 1, SYNC },
    { "TRAIL_N, TID 1", 3, { 0x00, 0x02, 0xd0 }, 1, SYNC },
    { "TRAIL_R, TID 1", 3, { 0x02, 0x02, 0xd0 }, 1, SYNC },
    { "TRAIL_N, TID 1, behind one that it may need", 3, { 0x00, 0x02, 0xd0 }, 1, 0 },
    { "TSA_N, TID 1", 3, { 0x04, 0x02, 0xd0 }, 1, SYNC },
    { "TSA_N, TID 2, where there are two layers", 3, { 0x04, 0x03, 0xd0 }, 1, 0 },
  };
  check_units (MCC_LAYER_CODEC_H265, 2, two, G_N_ELEMENTS (two));
}

/* One layer; a picture begins only with a key frame, whose first packet alone says so. */
static void
test_vp9_units (void)
{
  static const Unit units[] = {
    { "key", 3, { 0x8c, 0x05, 0x82 }, 0, KEY | SYNC | CLEAN },
    { "inter", 3, { 0xcc, 0x06, 0x86 }, 0, 0 },
    { "inter again", 3, { 0xcc, 0x07, 0x86 }, 0, 0 },
    { "key again", 3, { 0x8c, 0x08, 0x82 }, 0, KEY | SYNC | CLEAN },
  };
  static const uint8_t first[] = { 0x88, 0x05, 0x82 }, last[] = { 0x84, 0x05, 0x00 };
  MccLayerClass class;
  check_units (MCC_LAYER_CODEC_VP9, 3, units, G_N_ELEMENTS (units));
  mcc_layer_class_init (&class, MCC_LAYER_CODEC_VP9, 3);
  mcc_layer_class_add (&class, first, sizeof first);
  mcc_layer_class_add (&class, last, sizeof last);
  g_assert_cmphex (mcc_layer_class_end (&class).flags, ==, KEY | SYNC | CLEAN);
  mcc_layer_class_add (&class, first, 0);
  g_assert_cmpint (mcc_layer_class_end (&class).error, ==, MCC_LAYER_MALFORMED);
}

static void
test_other_units (void)
{
  static const Unit units[] = {
    { "anything", 1, { 0 }, 0, KEY | SYNC | CLEAN },
    { "anything", 1, { 0xff }, 0, KEY | SYNC | CLEAN },
  };
  check_units (MCC_LAYER_CODEC_OTHER, 1, units, G_N_ELEMENTS (units));
}

/* Delimiter and SEI come before the slice and have no layer: it is the unit that has one. */
static void
test_whole_unit (void)
{
  static const uint8_t aud[] = { 0x09, 0xf0 }, sei[] = { 0x06, 0x05, 0x01, 0x00 },
                       b[] = { 0x1c, 0x81, 0x9c, 0x00 }, rest[] = { 0x1c, 0x41, 0x65 };
  MccLayerClass class;
  MccLayerUnit unit;
  mcc_layer_class_init (&class, MCC_LAYER_CODEC_H264, 3);
  mcc_layer_class_add (&class, aud, sizeof aud);
  mcc_layer_class_add (&class, sei, sizeof sei);
  mcc_layer_class_add (&class, b, sizeof b);
  mcc_layer_class_add (&class, rest, sizeof rest);
  unit = mcc_layer_class_end (&class);
  g_assert_cmpuint (unit.layer, ==, 2);
  /* and nothing of it is left for the next one */
  mcc_layer_class_add (&class, aud, sizeof aud);
  unit = mcc_layer_class_end (&class);
  g_assert_cmpuint (unit.layer, ==, 0);
  g_assert_cmphex (unit.flags, ==, 0);
}

/* A unit that cannot be read goes to everybody, and nobody begins with it. */
static void
test_errors (void)
{
  static const uint8_t key[] = { 0x90, 0x20, 0x00, 0x90 }, cut[] = { 0x90, 0x60, 0x01 },
                       high[] = { 0x90, 0x20, 0x80, 0x91 };
  MccLayerClass class;
  MccLayerUnit unit;
  mcc_layer_class_init (&class, MCC_LAYER_CODEC_VP8, 3);
  mcc_layer_class_add (&class, key, sizeof key);
  mcc_layer_class_add (&class, cut, sizeof cut);
  unit = mcc_layer_class_end (&class);
  g_assert_cmpint (unit.error, ==, MCC_LAYER_MALFORMED);
  g_assert_cmpuint (unit.layer, ==, 0);
  g_assert_cmphex (unit.flags, ==, 0);
  mcc_layer_class_add (&class, high, sizeof high);
  mcc_layer_class_add (&class, key, sizeof key);
  unit = mcc_layer_class_end (&class);
  g_assert_cmpint (unit.error, ==, MCC_LAYER_MIXED);
  g_assert_cmphex (unit.flags, ==, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/layer-class/h264-payloads-of-rfc-6184", test_h264);
  g_test_add_func ("/layer-class/vp8-descriptors-of-rfc-7741", test_vp8);
  g_test_add_func ("/layer-class/h265-payloads-of-rfc-7798", test_h265);
  g_test_add_func ("/layer-class/vp9-descriptors-of-rfc-9628", test_vp9);
  g_test_add_func ("/layer-class/what-a-unit-of-a-strict-pyramid-needs", test_pyramid);
  g_test_add_func ("/layer-class/vp8-layers-begin-where-y-says", test_vp8_units);
  g_test_add_func ("/layer-class/h265-layers-begin-where-nothing-is-needed", test_h265_units);
  g_test_add_func ("/layer-class/vp9-begins-with-a-key-frame", test_vp9_units);
  g_test_add_func ("/layer-class/unknown-encodings-have-one-layer", test_other_units);
  g_test_add_func ("/layer-class/it-is-the-whole-unit-that-has-a-layer", test_whole_unit);
  g_test_add_func ("/layer-class/malformed-units-go-to-all-and-begin-nothing", test_errors);
  return g_test_run ();
}
