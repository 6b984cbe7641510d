import type { Native } from '../../ports/upstream.ts'
import { holds, isFields, stateless, type Fields } from '../fields.ts'
import { isKeepsake } from '../keepsake.ts'
import { dropping, type Drop } from '../understood.ts'
import type { GenerateRequest } from './shape.ts'
import { camel } from './spelling.ts'
import { isStored } from './turns.ts'

const passed = new Set(['contents', 'systemInstruction', 'tools', 'toolConfig', 'generationConfig', 'safetySettings'])

/** The request for a backend of the same dialect, and the members that it lacks. */
export const nativeOf = (
  request: GenerateRequest,
): { readonly native: Native; readonly dropped: readonly string[] } => {
  const { drop, paths } = dropping()
  const body: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(camel(request))) {
    if (passed.has(name)) body[name] = value
    else if (value != null) drop(name)
  }
  body['contents'] = request.contents.map((content, at) => ({
    ...content,
    parts: content.parts.flatMap((part, index) => partOf(part, `contents.${at}.parts.${index}`, drop)),
  }))
  const tools = (request.tools ?? []).flatMap((tool) => functionsIn(tool, drop))
  if (tools.length > 0) body['tools'] = tools
  else delete body['tools']
  return { native: { dialect: 'generate-content', body, headers: {} }, dropped: paths() }
}

/** The caller runs functions itself; every other kind of tool is the vendor's to run. */
export const functionsIn = (tool: Fields, drop: Drop): readonly Fields[] => {
  const { functionDeclarations, ...others } = camel(tool)
  for (const name of Object.keys(others)) drop(`tools.${name}`)
  return functionDeclarations === undefined ? [] : [{ functionDeclarations }]
}

/** Members whose content a caller's own function was given, or gave. */
const free: ReadonlySet<string> = new Set(['args', 'response'])

const partOf = (part: Fields, path: string, drop: Drop): readonly Fields[] => {
  const { thoughtSignature, ...rest } = camel(part)
  if (isFields(rest['fileData']) && isStored(camel(rest['fileData'])['fileUri'])) stateless(`${path}.fileData.fileUri`)
  const { fileData: _, ...others } = rest
  if (holds(others, 'fileUri', free) || holds(others, 'file_uri', free)) stateless(`${path}.fileUri`)
  if (!isKeepsake(thoughtSignature)) return [part]
  drop('contents.parts.thoughtSignature')
  return rest['text'] === '' || rest['thought'] === true ? [] : [rest]
}
