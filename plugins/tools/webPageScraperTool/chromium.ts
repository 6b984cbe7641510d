import { access, constants } from 'node:fs/promises'

const usual = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/usr/bin/google-chrome-stable',
  '/snap/bin/chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
]

/** The browser of this machine, or null. */
export const findChromium = async (path?: string): Promise<string | null> => {
  for (const candidate of path === undefined ? usual : [path]) {
    const there = await access(candidate, constants.X_OK).then(
      () => true,
      () => false,
    )
    if (there) return candidate
  }
  return null
}

/**
 * Starts it so that it reaches nothing by itself, were there no interception at all: no name and no address resolves, the
 * proxy that everything has to take included, and WebRTC, which goes around both, may not send without a proxy.
 */
export const walls: readonly string[] = [
  '--proxy-server=http://nowhere.invalid:9',
  '--proxy-bypass-list=<-loopback>',
  '--host-resolver-rules=MAP * ~NOTFOUND',
  '--webrtc-ip-handling-policy=disable_non_proxied_udp',
  '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
  '--dns-prefetch-disable',
  '--disable-quic',
  '--no-pings',
  '--block-new-web-contents',
  '--disable-gpu',
  '--disable-3d-apis',
  '--disable-crash-reporter',
  // Slower, and without the compilers that most holes are in. Megabytes of heap.
  '--js-flags=--jitless --max-old-space-size=256',
]

/** What Playwright starts it with and no page of a stranger should have. */
export const unwanted: readonly string[] = [
  '--enable-unsafe-swiftshader',
  '--disable-popup-blocking',
  '--disable-ipc-flooding-protection',
]

/** Run before the scripts of every frame: what would go around the interception is not there to be called. */
export const without =
  'for (const name of ["RTCPeerConnection", "webkitRTCPeerConnection", "WebTransport", "SharedWorker"]) delete globalThis[name]'
