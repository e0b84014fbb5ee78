# SPDX-License-Identifier: LGPL-2.1-or-later
# Sourced by the send scripts.

# receive_hint SCHEME ADDRESS PORT WORD...: how to receive what is sent there with these properties.
receive_hint() {
  local scheme=$1 address=$2 port=$3 source='' query='' note='' iface='' word
  shift 3
  for word in "$@"; do
    case $word in
      address=*) address=${word#*=} ;;
      port=*) port=${word#*=} ;;
      source-address=*) source=$(in_uri "${word#*=}")@ ;;
      multicast-iface=*) iface=${word#*=} ;;
      srtp-key-file=* | srtp-cipher=* | srtp-auth=*) query+="${query:+&}$(in_query "$word")" ;;
      srtp-key=*) note='     (with a file of the same key: ?srtp-key-file=FILE)' ;;
    esac
  done
  case $address in
    [fF][fF]?[012]:*) # valid on one link only
      if [ -n "$iface" ]; then
        query+="${query:+&}$(in_query "multicast-iface=$iface")"
        note+="     ($iface: the receiver's interface)"
      fi ;;
  esac
  echo "Receive with: gst-play-1.0 '$scheme://$source$(in_uri "$address"):$port${query:+?$query}'$note"
}

in_uri() {
  case $1 in *:*) echo "[$1]" ;; *) echo "$1" ;; esac
}

in_query() {
  local word=$1
  word=${word//%/%25} word=${word//&/%26} word=${word//\#/%23} word=${word//;/%3B} word=${word//\'/%27}
  echo "${word// /%20}"
}
