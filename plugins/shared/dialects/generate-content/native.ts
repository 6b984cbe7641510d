import type { Native } from '../../../../core/ports/upstream.ts'
import { memberNamed, isJsonObject, type JsonObject } from '../../../../core/dialects/json-object.ts'
import { sameOr, refuseStoredState } from '../../members.ts'
import { isKeepsake } from '../keepsake.ts'
import { leaveOut, type ServerTools } from '../server-tools.ts'
import { passedMembers, type Drop } from '../translated-request.ts'
import type { GenerateRequest } from './shape.ts'
import { camel } from './spelling.ts'
import { isStored } from './turns.ts'

const passed = new Set(['contents', 'systemInstruction', 'tools', 'toolConfig', 'generationConfig', 'safetySettings'])

/** The request for a backend of the same dialect, and the members that it lacks. */
export const nativeOf = (
  request: GenerateRequest,
  serverTools: ServerTools,
): { readonly native: Native; readonly dropped: readonly string[] } => {
  const { body, drop, paths } = passedMembers(camel(request), passed)
  body['contents'] = sameOr(request.contents, (content, at) => {
    const parts = content.parts.flatMap((part, index) => partOf(part, `contents.${at}.parts.${index}`, drop))
    const isSame = parts.length === content.parts.length && parts.every((part, index) => part === content.parts[index])
    return isSame ? content : { ...content, parts: parts as typeof content.parts }
  })
  const given = request.tools ?? []
  const own =
    serverTools === 'pass' ? given : given.flatMap((tool, at) => functionsIn(tool, `tools.${at}`, serverTools, drop))
  // Tools of functions alone, in the spelling of the documentation, go on as they came.
  const tools = given.every((tool) => Object.keys(tool).join() === 'functionDeclarations') ? given : own
  if (tools.length > 0) body['tools'] = tools
  else delete body['tools']
  return { native: { dialect: 'generate-content', body, headers: {} }, dropped: paths() }
}

/** The caller runs functions itself; every other kind of tool is the vendor's to run. */
export const functionsIn = (
  tool: JsonObject,
  path: string,
  serverTools: ServerTools,
  drop: Drop,
): readonly JsonObject[] => {
  const { functionDeclarations, ...others } = camel(tool)
  for (const name of Object.keys(others)) leaveOut(serverTools, { name, path: `${path}.${name}`, forced: false }, drop)
  return functionDeclarations === undefined ? [] : [{ functionDeclarations }]
}

/** Members whose content a caller's own function was given, or gave. */
const free: ReadonlySet<string> = new Set(['args', 'response'])

const partOf = (part: JsonObject, path: string, drop: Drop): readonly JsonObject[] => {
  const { thoughtSignature, ...rest } = camel(part)
  if (isJsonObject(rest['fileData']) && isStored(camel(rest['fileData'])['fileUri']))
    refuseStoredState(`${path}.fileData.fileUri`)
  const { fileData: _, ...others } = rest
  if (memberNamed(others, ['fileUri', 'file_uri'], free) !== undefined) refuseStoredState(`${path}.fileUri`)
  if (!isKeepsake(thoughtSignature)) return [part]
  drop('contents.parts.thoughtSignature')
  return rest['text'] === '' || rest['thought'] === true ? [] : [rest]
}
