#!/bin/sh
# Makes, in the folder that is named, an authority for the line between gateways and enclaves, and a certificate for each side.
# An authority that is there stays: the certificates of both sides are renewed, and replaced one after another.
# authority.key makes more of them: whoever has it can pass for either side, so keep it off the machines.
set -eu
folder=${1:-certificates}
days=${2:-365}
curve='-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes'
umask 077
mkdir -p "$folder"
cd "$folder"

[ -f authority.key ] ||
  openssl req -x509 $curve -days 3650 -subj '/CN=sealgate line' -keyout authority.key -out authority.crt

side() { # name, its names in the network
  mkdir -p "$1"
  # Closed for writing by the last run.
  rm -f "$1/tls.key" "$1/tls.crt" "$1/ca.crt"
  openssl req $curve -subj "/CN=$1" -keyout "$1/tls.key" -out "$1.csr"
  printf 'subjectAltName=%s\nextendedKeyUsage=serverAuth,clientAuth\n' "$2" >"$1.ext"
  openssl x509 -req -in "$1.csr" -CA authority.crt -CAkey authority.key -CAcreateserial -days "$days" \
    -extfile "$1.ext" -out "$1/tls.crt"
  cp authority.crt "$1/ca.crt"
  # Compose hands over the file as it is, and the user in the container is none of this machine; the folder stays closed.
  chmod 444 "$1/tls.key" "$1/tls.crt" "$1/ca.crt"
  rm "$1.csr" "$1.ext"
}

side gateway 'DNS:gateway'
side enclave 'DNS:enclave-0.enclave,DNS:enclave-1.enclave,IP:127.0.0.1'
