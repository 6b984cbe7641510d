import { access, constants } from 'node:fs/promises'

const usualPlaces = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/usr/bin/google-chrome-stable',
  '/snap/bin/chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
]

/** The path of this machine's browser; null when none is found. */
export const findChromium = async (path?: string): Promise<string | null> => {
  for (const candidate of path === undefined ? usualPlaces : [path]) {
    const there = await access(candidate, constants.X_OK).then(
      () => true,
      () => false,
    )
    if (there) return candidate
  }
  return null
}

/**
 * Options that cut the browser off from the network even without interception. No name and no address resolves, the
 * proxy included, and WebRTC, which bypasses both, may not send without a proxy.
 */
export const offlineOptions: readonly string[] = [
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
  // Slower, but without the compilers that contain most vulnerabilities. The heap is in megabytes.
  '--js-flags=--jitless --max-old-space-size=256',
]

/** Playwright's options that no foreign page should have. */
export const unwantedOptions: readonly string[] = [
  '--enable-unsafe-swiftshader',
  '--disable-popup-blocking',
  '--disable-ipc-flooding-protection',
]

/** Runs before the scripts of every frame and removes the interfaces that bypass the interception. */
export const removeInterfaces =
  'for (const name of ["RTCPeerConnection", "webkitRTCPeerConnection", "WebTransport", "SharedWorker"]) delete globalThis[name]'
