/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the host drops for want of room may be a receiver of any stream.
 */
#include "assp_sender_fixture.h"

static void
test_no_rise (void)
{
  Fixture self = fixture_new (MCC_VARIANT_ENHANCED);

  for (unsigned n = 0; n < 60; n++) {
    report (&self, 1, 1, 3000000);
    report (&self, 2, 2, 6000000);
    run (&self, 500 * MCC_MSECOND);
  }
  g_assert_cmpuint (self.target[1], ==, 3000000);
  g_assert_cmpuint (self.target[2], ==, 6000000);
  for (unsigned n = 0; n < 120; n++) {
    if (n < 60 && n % 10 == 0)
      mcc_assp_sender_handle_dropped (self.sender, MCC_DROP_TABLE_FULL, 9, self.now);
    report (&self, 1, 1, 4000000);
    report (&self, 2, 2, 8000000);
    run (&self, 500 * MCC_MSECOND);
    g_assert_true (n > 60 || (self.target[1] == 3000000 && self.target[2] == 6000000));
  }
  g_assert_cmpuint (self.target[1], ==, 4000000);
  g_assert_cmpuint (self.target[2], ==, 8000000);
  mcc_assp_sender_free (self.sender);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/assp-sender/unheard/no-rise", test_no_rise);
  return g_test_run ();
}
