import { readFileSync } from 'node:fs'
import type { Asked, Take } from '../recorded.ts'
import { vendorChecks } from './vendor-checks.ts'

type Json = Record<string, any>

/** A published rule of a vendor, and what the vendor answers to those who break it. */
export interface Rule {
  readonly rule: string
  readonly source: string
  readonly path: string
  readonly model?: string
  /** A member that the rule forbids. */
  readonly has?: string
  /** The only members that the rule allows. */
  readonly members?: readonly string[]
  /** A rule of structure, by the name of its check. */
  readonly check?: keyof typeof checks
  readonly status: number
  readonly error: Json
  /** A body that breaks this rule alone. */
  readonly wrong?: Json
}

const items = ({ input }: Json): readonly Json[] => (Array.isArray(input) ? input : [])
const isCall = ({ type }: Json): boolean => /^(function|custom_tool)_call$/.test(type ?? '')

/** True for a request that keeps the rule. */
const checks = {
  ...vendorChecks,
  room: ({ max_output_tokens: most }: Json) => most == null || most >= 16,
  encrypted: (asked: Json) =>
    items(asked).every(({ type, encrypted_content: text }) => type !== 'reasoning' || /^gAAAA-/.test(text ?? '')),
  stored: (asked: Json) =>
    asked['previous_response_id'] == null && items(asked).every(({ type }) => type !== 'item_reference'),
  paired(asked: Json) {
    const ids = (end: RegExp) =>
      items(asked).flatMap(({ type, call_id }) => (end.test(type ?? '') ? [call_id as string] : []))
    const [calls, outputs] = [ids(/_call$/), ids(/_call_output$/)]
    return calls.every((id) => outputs.includes(id)) && outputs.every((id) => calls.includes(id))
  },
  followed(asked: Json) {
    const all = items(asked)
    return all.every(({ type }, at) => {
      const next = all[at + 1]
      return type !== 'reasoning' || (next !== undefined && (isCall(next) || next['role'] === 'assistant'))
    })
  },
  flat: ({ tools }: Json) =>
    (tools ?? []).every(({ type, name }: Json) => !/^(function|custom)$/.test(type) || typeof name === 'string'),
} as const

const folder = new URL(/\/dist\/test\/fakes\//.test(import.meta.url) ? '../../../../test/fakes/rules/' : './', import.meta.url) // prettier-ignore

/** The rules of one vendor. */
export const rulesOf = (vendor: string): readonly Rule[] =>
  JSON.parse(readFileSync(new URL(`${vendor}.json`, folder), 'utf8'))

/** The member by which a body breaks this rule; null where the body keeps it. */
export const breaks = ({ path, model, has, members, check }: Rule, request: Asked, body: Json): string | null => {
  if (!new RegExp(path).test(request.path) || (model !== undefined && !new RegExp(model).test(body['model'])))
    return null
  if (has !== undefined) return Array.isArray(body[has]) && body[has].length > 0 ? has : null
  if (members !== undefined) return Object.keys(body).find((name) => !members.includes(name)) ?? null
  return check === undefined || !checks[check](body) ? (check ?? 'model') : null
}

/** A backend that refuses whatever breaks a rule, and otherwise plays. `broken` gets the rules that were broken. */
export const ruled =
  (rules: readonly Rule[], play: (request: Asked) => Take, broken: string[] = []) =>
  (request: Asked): Take => {
    if (request.method !== 'POST') return play(request)
    const body = JSON.parse(request.body.toString()) as Json
    for (const rule of rules) {
      const member = breaks(rule, request, body)
      if (member === null) continue
      broken.push(rule.rule)
      const told = JSON.stringify({ error: rule.error })
        .replaceAll('{model}', body['model'])
        .replaceAll('{member}', member)
      return { status: rule.status, headers: { 'content-type': 'application/json' }, body: told }
    }
    return play(request)
  }
