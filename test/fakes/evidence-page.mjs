import { appraise } from './dist/plugins/sealed/evidence/appraise.js'
import { judgeService } from './dist/plugins/sealed/evidence/services/judge.js'
import { Refusal } from './dist/plugins/sealed/evidence/reasons.js'
const bytes = (hex) => Uint8Array.from(hex.match(/../g), (it) => parseInt(it, 16))
const rooted = ({ snp, tdx, nitro }) => ({
  ...(snp && { 'sev-snp': { Genoa: bytes(snp) } }),
  ...(tdx && { tdx: bytes(tdx) }),
  ...(nitro && { nitro: bytes(nitro) }),
})
globalThis.judged = async ({ service, document, lists, testRoots, nonce, now, evidence }) => {
  const own = Object.fromEntries(
    Object.entries(testRoots).map(([platform, root]) => [
      platform,
      typeof root === 'string' ? bytes(root) : { Genoa: bytes(root.Genoa) },
    ]),
  )
  const complete = async (_, report) => evidence[[...report].map((byte) => byte.toString(16).padStart(2, '0')).join('')]
  const question = { nonce: bytes(nonce), tlsKey: null, gpu: null, now }
  return judgeService(service, document, { platform: { testRoots: own }, lists }, question, complete).then(
    ({ verified }) => verified,
    (error) => (error instanceof Refusal ? error.reason : 'another error: ' + error),
  )
}
globalThis.tried = async ({ evidence, policy, roots, now, reportData, times }) => {
  const half = (from) => bytes(reportData.slice(from, from + 64))
  const question = { keysetHash: half(0), challenge: half(64), releaseDigest: new Uint8Array(32), now }
  const own = roots ? { ...policy, testRoots: rooted(roots) } : policy
  const once = () =>
    appraise(evidence, own, question).then(
      ({ verified, platform }) => verified + ' ' + platform,
      (error) => (error instanceof Refusal ? error.reason : 'another error: ' + error),
    )
  const said = await once()
  const ms = []
  while (ms.length < times) {
    const began = performance.now()
    await once()
    ms.push(performance.now() - began)
  }
  return { said, ms }
}
globalThis.signing = async (times) => {
  const curve = { name: 'ECDSA', namedCurve: 'P-384', hash: 'SHA-384' }
  const { privateKey, publicKey } = await crypto.subtle.generateKey(curve, false, ['sign', 'verify'])
  const text = new Uint8Array(672)
  const signature = await crypto.subtle.sign(curve, privateKey, text)
  const ms = []
  while (ms.length < times) {
    const began = performance.now()
    await crypto.subtle.verify(curve, publicKey, signature, text)
    ms.push(performance.now() - began)
  }
  return ms
}
