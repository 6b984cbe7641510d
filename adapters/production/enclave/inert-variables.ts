/** Variables that change no code, trust or network of the enclave process. */
const names: ReadonlySet<string> = new Set([
  // The paths of programs, home and temporary files, and the formats of times and texts.
  ...['PATH', 'HOME', 'TMPDIR', 'TZ', 'LANG', 'LANGUAGE'],
  // A login and its shell.
  ...['PWD', 'OLDPWD', 'SHLVL', '_', 'SHELL', 'USER', 'LOGNAME', 'MAIL', 'TERM', 'COLORTERM', 'HOSTNAME'],
  // Facts from systemd about the unit.
  ...['INVOCATION_ID', 'JOURNAL_STREAM', 'SYSTEMD_EXEC_PID', 'NOTIFY_SOCKET', 'CREDENTIALS_DIRECTORY'],
  ...['MEMORY_PRESSURE_WATCH', 'MEMORY_PRESSURE_WRITE', 'CONFIGURATION_DIRECTORY', 'RUNTIME_DIRECTORY'],
  ...['STATE_DIRECTORY', 'CACHE_DIRECTORY', 'LOGS_DIRECTORY'],
  // Podman, Node's official image, and our own image. Node itself reads none of the four.
  ...['container', 'NODE_VERSION', 'YARN_VERSION', 'NODE_ENV'],
  // macOS sets this variable in every process.
  '__CF_USER_TEXT_ENCODING',
  // The image sets `SEALGATE_DATA` for the gateway.
  ...['SEALGATE_CONFIG', 'SEALGATE_DATA'],
])

/** The parts of a locale, and Kubernetes' variables for its own service, which a manifest cannot disable. */
const shapes = [/^LC_[A-Z]+$/, /^KUBERNETES_(SERVICE_(HOST|PORT(_HTTPS)?)|PORT(_\d+_TCP(_(PROTO|PORT|ADDR))?)?)$/]

/** A name outside of both lists is refused unless the configuration itself names it. */
export const isInert = (name: string): boolean => names.has(name) || shapes.some((shape) => shape.test(name))

/** Variables of Node, OpenSSL, V8, libuv and libc. Even the configuration may not name them. */
export const isOfRuntime = (name: string): boolean =>
  /^(NODE|NPM|LD|DYLD|UV|V8|ICU|SSL|OPENSSL|GLIBC|MALLOC|GCONV|RES|RESOLV)_/i.test(name) ||
  /^(SSLKEYLOGFILE|LOCPATH|NLSPATH|TZDIR|LOCALDOMAIN|HOSTALIASES|(HTTPS?|ALL|NO)_PROXY)$/i.test(name)
