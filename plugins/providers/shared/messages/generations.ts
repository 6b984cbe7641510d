import type { Generation } from './messages.ts'

/** Each generation but the newest can be forced to call a tool. */
const generation = (
  thinks: Generation['thinks'],
  formats: boolean,
  samples: boolean,
  maxTokens = 32_000,
): Generation => ({
  thinks,
  formats,
  forces: true,
  samples,
  both: false,
  maxTokens,
})

/** Names of the past, which stay as they are. Whatever is not here is newer. */
const older: readonly (readonly [RegExp, Generation])[] = [
  [/^claude-(instant|2|3-(opus|sonnet|haiku))/, { ...generation('never', false, true, 4096), both: true }],
  [/^claude-3-5/, { ...generation('never', false, true, 8192), both: true }],
  [/^claude-opus-4-1(-\d{8}|$)/, generation('budget', false, true)],
  [/^claude-(3-7|(opus|sonnet)-4(-0)?(-\d{8}|$))/, { ...generation('budget', false, true), both: true }],
  [/^claude-(opus|sonnet|haiku)-4-5/, generation('budget', true, true)],
  [/^claude-(opus|sonnet)-4-6/, generation('effort', true, true)],
  [/^claude-(opus-4-[78]|\w+-5(-\d{8}|$))/, generation('effort', true, false)],
]
const newest: Generation = { ...generation('effort', true, false), forces: false }

/** What a Claude model understands, by its name at Anthropic, or at a cloud that adds a region or a revision to it. */
export const generationOf = (model: string): Generation => {
  const name = model
    .slice(Math.max(0, model.lastIndexOf('claude-')))
    .replace('@', '-')
    .replace(/-v\d+(:\d+)?$/, '')
  return older.find(([named]) => named.test(name))?.[1] ?? newest
}
