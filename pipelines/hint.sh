# Sourced by the send scripts.

# receive_hint SCHEME ADDRESS PORT WORD...: how to receive what is sent there with these properties.
receive_hint() {
  local scheme=$1 address=$2 port=$3 source='' query='' note='' word
  shift 3
  for word in "$@"; do
    case $word in
      address=*) address=${word#*=} ;;
      port=*) port=${word#*=} ;;
      source-address=*) source=$(in_uri "${word#*=}")@ ;;
      srtp-key-file=* | srtp-cipher=* | srtp-auth=*)
        word=${word//%/%25} word=${word//&/%26} word=${word//\#/%23} word=${word//;/%3B} word=${word//\'/%27}
        query+="${query:+&}${word// /%20}" ;;
      srtp-key=*) note='     (with a file of the same key: ?srtp-key-file=FILE)' ;;
    esac
  done
  echo "Receive with: gst-play-1.0 '$scheme://$source$(in_uri "$address"):$port${query:+?$query}'$note"
}

in_uri() {
  case $1 in *:*) echo "[$1]" ;; *) echo "$1" ;; esac
}
