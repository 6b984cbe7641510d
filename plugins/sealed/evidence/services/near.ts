import { concat, same, utf8, fromHex, toHex } from '../../wire/bytes.ts'
import { type EvidenceMembers, evidenceMembersOf, member, textIn } from '../fields.ts'
import { digest } from '../keys.ts'
import { demand, refuse } from '../reasons.ts'
import { type TdxBody, mostQuote, readQuote } from '../tdx-quote.ts'
import { documentOf, hexMember, objectMember } from './document.ts'
import { dstackMachine } from './dstack.ts'
import type { Machine, ReadService } from './machine.ts'

const mostModels = 16
const mostActions = 4096

/** Members of an action in the order in which its manager hashes them. */
const actionMembers = ['timestamp', 'action', 'tag', 'commit', 'file', 'file_sha256', 'services']

/** One action as its manager writes it: compact, its members in their order. */
const printedAction = (value: unknown): { readonly text: string; readonly starts: string | null } => {
  const action = evidenceMembersOf(value, 'actions')
  const names = Object.keys(action)
  demand(
    names.every((name) => actionMembers.includes(name)),
    'evidence_malformed',
    'actions',
  )
  const ordered = actionMembers.filter((name) => names.includes(name)).map((name) => [name, action[name]])
  const isStop = member(action, 'action') === 'compose_down'
  return {
    text: JSON.stringify(Object.fromEntries(ordered)),
    starts: isStop ? null : toHex(hexMember(action, 'file_sha256', 32)),
  }
}

/** Registers in which two quotes of one machine are equal: among them the one that an instance's id was measured into. */
const registersOf = ({ mrtd, rtmr, configId }: TdxBody): Uint8Array => concat(mrtd, ...rtmr, configId)

/**
 * What a measured manager started later on the machine of a model. The manager's report binds the list of its actions, so
 * that the files which it started are compared with those of the policy.
 */
const managerOf = async (document: EvidenceMembers, model: Machine): Promise<Machine> => {
  const manager = objectMember(document, 'compose_manager_attestation')
  const actions = member(manager, 'actions')
  if (!Array.isArray(actions) || actions.length > mostActions) return refuse('evidence_malformed', 'actions')
  const printed = (actions as readonly unknown[]).map(printedAction)
  const hash = await digest('SHA-256', utf8(`[${printed.map(({ text }) => text).join(',')}]`))
  const nonce = hexMember(manager, 'nonce', 32)
  const report = fromHex(textIn(manager, 'quote', 2 * mostQuote), mostQuote) ?? refuse('evidence_malformed', 'quote')
  const [own, other] = [report, model.report].map((quote) => registersOf(readQuote(quote).body))
  demand(same(own!, other!), 'measurement_not_allowed', 'the manager is of another machine')
  return {
    role: 'manager',
    platform: 'tdx',
    report,
    nonce,
    reportData: concat(hash, nonce),
    keys: [],
    checkImage(_, { near }) {
      const strange = printed.find(({ starts }) => starts !== null && near?.workloads.includes(starts) !== true)
      demand(strange === undefined, 'measurement_not_allowed', 'a file that the manager started')
      return `${printed.length} actions of the manager`
    },
    hasRawGpuEvidence: false,
  }
}

const modelMachines = async (document: EvidenceMembers): Promise<readonly Machine[]> => {
  const hasManager = member(document, 'compose_manager_attestation') !== undefined
  const model = await dstackMachine(document, 'model', (lists) => {
    // A model without its manager shows nothing of what was started later.
    const isHidden = !hasManager && (lists.near?.workloads.length ?? 0) > 0
    demand(!isHidden, 'measurement_not_allowed', 'the manager says nothing')
    return lists.near?.model
  })
  return hasManager ? [model, await managerOf(document, model)] : [model]
}

/** NEAR's models of one machine each, reached directly or by NEAR's own gateway, which is a machine too. */
export const readNear: ReadService = async (text) => {
  const document = documentOf(text)
  if (member(document, 'gateway_attestation') === undefined) return modelMachines(document)
  const attested = objectMember(document, 'gateway_attestation')
  const gateway = await dstackMachine(attested, 'gateway', ({ near }) => near?.gateway)
  const models = member(document, 'model_attestations')
  if (!Array.isArray(models) || models.length === 0 || models.length > mostModels)
    return refuse('evidence_malformed', 'model_attestations')
  const machines = (models as readonly unknown[]).map((model) =>
    modelMachines(evidenceMembersOf(model, 'model_attestations')),
  )
  return [gateway, ...(await Promise.all(machines)).flat()]
}
