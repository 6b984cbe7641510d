/** What the console may load, run and talk to: this origin alone, and no text becomes a script. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data: blob:",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'none'",
  "require-trusted-types-for 'script'",
].join('; ')

/** No other origin may read or embed these answers. */
const alone = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
} as const

/** `no-cache` has a browser ask again: the page names the files of the running release. */
export const consoleHeaders = {
  ...alone,
  'content-security-policy': policy,
  'cross-origin-opener-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=()',
  'cache-control': 'no-cache',
} as const

/** The address of a file contains the hash of its bytes, so a browser asks for it once. */
export const fileHeaders = { ...alone, 'cache-control': 'public, max-age=31536000, immutable' } as const
