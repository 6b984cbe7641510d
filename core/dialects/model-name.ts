import * as v from 'valibot'

/** What callers send for a model: its name, or the whole number that a catalog gives as its `id`. */
export const ModelName = v.pipe(
  v.union([v.string(), v.pipe(v.number(), v.integer(), v.minValue(0))]),
  v.transform(String),
  v.minLength(1),
  v.maxLength(256),
)

/**
 * The JSON of an answer with another value for the member that names its model, and no other byte changed. Null where the
 * place of the name is not certain, so that the answer must be printed anew.
 */
export const renamed = (json: string, member: 'model' | 'modelVersion', from: unknown, to: string): string | null => {
  if (from === to) return json
  const places = [...json.matchAll(members[member])]
  const [place] = places
  if (places.length !== 1 || place === undefined || JSON.parse(place[2]!) !== from) return null
  const begin = place.index + place[1]!.length
  return json.slice(0, begin) + JSON.stringify(to) + json.slice(begin + place[2]!.length)
}

// A quote within a text is escaped, so no text looks like a member.
const members = {
  model: /("model"\s*:\s*)("(?:[^"\\]|\\.)*")/g,
  modelVersion: /("modelVersion"\s*:\s*)("(?:[^"\\]|\\.)*")/g,
} as const
