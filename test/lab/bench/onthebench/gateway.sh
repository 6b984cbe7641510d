#!/usr/bin/env bash
# The manifest of sealgate for the public board onthebench: how it is installed, started, asked and stopped.
# The harness gives CORES, MOCK_PORT and GW_DIR; SEALGATE_COMMAND starts another release than the registry's newest.
GW_KIND=native
GW_DISPLAY="sealgate"
GW_LANG=Node
GW_CLASS="confidential AI gateway"
GW_REPO=https://www.npmjs.com/package/sealgate
GW_PORT="${GW_PORT:-8787}"
GW_PATH=/v1/chat/completions
GW_MODEL=mock
GW_AUTH=
GW_HEADERS=()
GW_MATRIX_EGRESS="openai openai-responses anthropic gemini"

SEALGATE_COMMAND="${SEALGATE_COMMAND:-npx -y sealgate@${SEALGATE_VERSION:-latest}}"
sealgate_data="$GW_DIR/data"

gw_build() { command -v node >/dev/null || { echo "sealgate needs Node 20.19 or newer"; return 1; }; }

# A backend of each dialect at the harness's mock; the key is checked and calls are counted, as in any installation.
sealgate_configured() { # provider, with its settings as members of JSON
  mkdir -p "$GW_DIR"
  cat >"$GW_DIR/sealgate.json" <<JSON
{
  "log": { "level": "warn" },
  "limits": {
    "key": { "requestsPerSecond": null },
    "organization": { "requestsPerSecond": null }
  },
  "providers": { "mock": { $1 } },
  "models": { "$GW_MODEL": { "upstreams": [{ "provider": "mock", "model": "$GW_MODEL" }] } }
}
JSON
}

gw_matrix_egress() {
  local host="http://127.0.0.1:${MOCK_PORT:-8000}"
  case "$1" in
    openai) sealgate_configured "\"use\": \"openai\", \"apiKey\": \"k\", \"baseUrl\": \"$host/v1\"" ;;
    openai-responses) sealgate_configured "\"use\": \"openai\", \"api\": \"responses\", \"apiKey\": \"k\", \"baseUrl\": \"$host/v1\"" ;;
    anthropic) sealgate_configured "\"use\": \"anthropic\", \"apiKey\": \"k\", \"baseUrl\": \"$host\"" ;;
    gemini) sealgate_configured "\"use\": \"gemini\", \"apiKey\": \"k\", \"baseUrl\": \"$host/v1beta\"" ;;
    *) return 1 ;;
  esac
  sealgate_started
}

gw_launch() { gw_matrix_egress openai; }

sealgate_started() {
  gw_stop
  local pinned=()
  [ -n "${CORES:-}" ] && pinned=(taskset -c "$CORES")
  # The command is several words.
  # shellcheck disable=SC2086
  SEALGATE_CONFIG="$GW_DIR/sealgate.json" SEALGATE_DATA="$sealgate_data" PORT="$GW_PORT" \
    setsid "${pinned[@]}" $SEALGATE_COMMAND </dev/null >"$GW_DIR/launch.log" 2>&1 &
  echo $! >"$GW_DIR/pid"
  local tries
  for ((tries = 0; tries < 600; tries++)); do
    [ -s "$sealgate_data/first-key" ] && (: >"/dev/tcp/127.0.0.1/$GW_PORT") 2>/dev/null && break
    sleep 0.1
  done
  GW_AUTH="$(cat "$sealgate_data/first-key")"
}

sealgate_group() { [ -f "$GW_DIR/pid" ] && pgrep -g "$(cat "$GW_DIR/pid")"; }
sealgate_memory() { # the field of /proc, added up over gateway, enclave and helpers, in MiB
  local pid
  for pid in $(sealgate_group); do grep -h "^$1:" "/proc/$pid/status" 2>/dev/null; done |
    awk '{ sum += $2 } END { printf "%.1f", sum / 1024 }'
}
gw_rss() { sealgate_memory VmRSS; }
gw_hwm() { sealgate_memory VmHWM; }
gw_version() { $SEALGATE_COMMAND --version 2>/dev/null | sed 's/^/sealgate@/'; }
gw_diag() {
  echo "processes: $(sealgate_group | tr '\n' ' ')"
  tail -n 20 "$GW_DIR/launch.log" 2>/dev/null
}
gw_stop() {
  local pid
  pid="$(cat "$GW_DIR/pid" 2>/dev/null)" || return 0
  kill -- "-$pid" 2>/dev/null
  while kill -0 -- "-$pid" 2>/dev/null; do sleep 0.1; done
  rm -f "$GW_DIR/pid"
}
