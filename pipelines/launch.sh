# SPDX-License-Identifier: LGPL-2.1-or-later
# Sourced by the send and receive scripts.

# take_source TEXT: fills `source` with the words of --source, split where a shell would split them.
take_source() {
  local words
  words=$(xargs -n 1 printf '%s\n' <<< "$1" 2>/dev/null) || {
    echo "${0##*/}: --source: the quotes do not match" >&2
    exit 2
  }
  mapfile -t source <<< "$words"
}

# launch WORD...: gst-launch-1.0 -e of these, and the end with its exit status. It says BYE and finishes
# files at SIGINT alone: here SIGTERM (systemd, kill) and SIGHUP (the terminal goes) do the same.
launch() {
  local status
  child='' signalled=1
  trap 'signalled=1; interrupt' TERM HUP
  trap 'signalled=1; interrupt_once' INT
  # They may be sent to all processes at once. Without the last trap the shell had it ignore SIGINT.
  (trap '' TERM HUP; trap - INT; exec gst-launch-1.0 -e "$@") <&0 &
  child=$!
  while [ $signalled = 1 ]; do # a signal ends wait, too
    signalled=0 status=0
    wait "$child" || status=$?
  done
  exit "$status"
}

interrupt() {
  kill -INT "$child" 2>/dev/null || true
}

# Ctrl-C is sent to gst-launch, too, and a second SIGINT would kill it before its BYE: it catches the
# first one only.
interrupt_once() {
  sleep 0.3 || true
  if grep -q '^SigCgt:.*[2367abef]$' "/proc/$child/status" 2>/dev/null; then interrupt; fi
}
