import { Refusal, demand, readable } from './reasons.ts'
import { Misshapen, type Reader, anObject, list, oneOf, optional, text, upperHex, whole } from './shape.ts'

/** Ordered from best to worst; the worst status of several counts. */
export const statuses = [
  'UpToDate',
  'SWHardeningNeeded',
  'ConfigurationNeeded',
  'ConfigurationAndSWHardeningNeeded',
  'OutOfDate',
  'OutOfDateConfigurationNeeded',
  'Revoked',
] as const
export type Status = (typeof statuses)[number]

const status = oneOf(...statuses)
const advisories = optional(list(text(1, 64), 0, 256))

const instant: Reader<number> = (value, path) => {
  const found = typeof value === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(value) ? Date.parse(value) : NaN
  if (Number.isNaN(found)) throw new Misshapen(path, 'no time')
  return found
}

const svn = whole(0, 65_535)
const components = list(anObject({ svn: whole(0, 255) }), 16, 16)
const enclaveLevel = anObject({ tcb: anObject({ isvsvn: svn }), tcbStatus: status, advisoryIDs: advisories })

const common = { issueDate: instant, nextUpdate: instant, tcbEvaluationDataNumber: svn }
const module = { mrsigner: upperHex(48), attributes: upperHex(8), attributesMask: upperHex(8) }

const platform = anObject({
  id: oneOf('TDX'),
  version: whole(3, 3),
  tcbType: whole(0, 0),
  ...common,
  fmspc: upperHex(6),
  pceId: upperHex(2),
  tdxModule: anObject(module),
  tdxModuleIdentities: optional(
    list(anObject({ id: text(1, 32), ...module, tcbLevels: list(enclaveLevel, 1, 256) }), 0, 256),
  ),
  tcbLevels: list(
    anObject({
      tcb: anObject({ sgxtcbcomponents: components, pcesvn: svn, tdxtcbcomponents: components }),
      tcbStatus: status,
      advisoryIDs: advisories,
    }),
    1,
    256,
  ),
})

const quoting = anObject({
  id: oneOf('TD_QE'),
  version: whole(2, 3),
  ...common,
  miscselect: upperHex(4),
  miscselectMask: upperHex(4),
  attributes: upperHex(16),
  attributesMask: upperHex(16),
  mrsigner: upperHex(32),
  isvprodid: svn,
  tcbLevels: list(enclaveLevel, 1, 256),
})

/** Intel's levels for one kind of platform. */
export type PlatformLevels = ReturnType<typeof platform>
export type PlatformLevel = PlatformLevels['tcbLevels'][number]
/** Intel's description of its quoting enclave. */
export type QuotingIdentity = ReturnType<typeof quoting>
/** A level of an enclave or a module. */
export type EnclaveLevel = QuotingIdentity['tcbLevels'][number]

const reading =
  <T>(read: Reader<T>, name: string) =>
  (file: string): T => {
    const value = readable(() => JSON.parse(file) as unknown, name)
    try {
      return read(value, name)
    } catch (error) {
      throw error instanceof Misshapen ? new Refusal('collateral_invalid', name, error) : error
    }
  }

/** Reads a text whose signature is valid. Throws `collateral_invalid` when the text describes another thing. */
export const readPlatformLevels = reading(platform, 'tcb_info')
export const readQuotingIdentity = reading(quoting, 'qe_identity')

/** Throws unless the text is current. The text has no grace period. */
export const checkCurrency = (
  { issueDate, nextUpdate, tcbEvaluationDataNumber }: PlatformLevels | QuotingIdentity,
  name: string,
  now: number,
  { skew, minimumEvaluation }: { readonly skew: number; readonly minimumEvaluation: number },
): void => {
  demand(issueDate <= now + skew, 'collateral_invalid', `${name} is of the future`)
  demand(now <= nextUpdate, 'collateral_expired', name)
  demand(tcbEvaluationDataNumber >= minimumEvaluation, 'collateral_expired', `evaluation number of ${name}`)
}
