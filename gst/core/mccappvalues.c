/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * mccappvalues: what the fields of decoded APP packets mean together.
 */
#include "mccapp.h"
#include "mccrtt.h"

bool
mcc_app_report_plausible (const MccAppReport *report)
{
  bool no_limit = (report->flags & MCC_REPORT_NO_LIMIT) != 0;
  /* Without a limit the rate says nothing, so 0 is fine there. */
  return (report->rate_bps > 0 || no_limit) && report->rate_bps <= MCC_APP_REPORT_RATE_MAX
         && report->received_bps <= MCC_APP_REPORT_RATE_MAX && report->loss_ratio >= 0.0
         && report->loss_ratio <= 1.0 && report->rtt <= MCC_RTT_MAX;
}

bool
mcc_app_session_feedback (
    const MccAppSession *session, const MccAddress *announcer, MccAddress *out)
{
  bool own = session->feedback.family == 0 || mcc_address_same_host (&session->feedback, announcer);
  *out = own ? session->feedback : (MccAddress){ 0 };
  return own;
}

void
mcc_app_session_complete (MccAppSession *session, const MccAppSession *known)
{
  if (session->payload_type == MCC_APP_NO_PAYLOAD_TYPE || session->encoding_name[0] != '\0')
    return;
  if (known == NULL || known->media_ssrc != session->media_ssrc
      || known->payload_type != session->payload_type || known->clock_rate != session->clock_rate) {
    session->payload_type = MCC_APP_NO_PAYLOAD_TYPE;
    return;
  }
  memcpy (session->media, known->media, sizeof session->media);
  memcpy (session->encoding_name, known->encoding_name, sizeof session->encoding_name);
  memcpy (session->parameters, known->parameters, sizeof session->parameters);
}
