import type { ChatBody, Dialect, Native } from '../../../../core/ports/upstream.ts'
import { isJsonObject, type JsonObject } from '../../../../core/dialects/json-object.ts'
import { memberNamed, objectIn, objectsIn, refuseStoredState, textIn, sameOr } from '../../members.ts'
import { type Seal, type TurnsContext, isKeepsake } from '../keepsake.ts'
import { droppedMembers, type Drop, type TranslatedRequest, passedMembers } from '../translated-request.ts'
import { type ServerTools, leaveOut } from '../server-tools.ts'
import type { GenerateRequest } from './shape.ts'
import { camel, jsonSchema } from './spelling.ts'
import { instructionOf, messagesOf, isStored } from './turns.ts'

/** Members of the configuration by their names in the common format. */
const same: Readonly<Record<string, string>> = {
  temperature: 'temperature',
  topP: 'top_p',
  maxOutputTokens: 'max_completion_tokens',
  seed: 'seed',
  presencePenalty: 'presence_penalty',
  frequencyPenalty: 'frequency_penalty',
  candidateCount: 'n',
  stopSequences: 'stop',
  logprobs: 'top_logprobs',
  responseLogprobs: 'logprobs',
}

/** Members of the configuration that are carried over in another way. */
const formats = new Set(['responseMimeType', 'responseSchema', 'responseJsonSchema', 'thinkingConfig', 'topK'])

const known = new Set(['contents', 'systemInstruction', 'tools', 'toolConfig', 'generationConfig'])

/** The request for a backend of this dialect. Throws BadRequest for state at the vendor and for what is malformed. */
export const translateContent = (
  request: GenerateRequest,
  to: Dialect | undefined,
  seal: Seal,
  serverTools?: ServerTools,
): TranslatedRequest => {
  const spelled = camel(request) as GenerateRequest
  if (spelled['cachedContent'] != null) refuseStoredState('cachedContent')
  const { drop, paths } = droppedMembers()
  // The native request has the say where there is one.
  const body = bodyOf(spelled, { to, seal, drop }, to === 'generate-content' ? 'drop' : serverTools)
  if (to !== 'generate-content') return { body, dropped: paths() }
  const { native, dropped } = nativeOf(spelled, serverTools)
  return { body, native, dropped }
}

const bodyOf = (request: GenerateRequest, telling: TurnsContext, serverTools: ServerTools): ChatBody => {
  const { to, drop } = telling
  for (const name in request) if (!known.has(name) && request[name] != null) drop(name)
  const begun = instructionOf(request.systemInstruction, drop)
  const turns = messagesOf(request, telling)
  const config = camel(request.generationConfig ?? {})
  const body: Record<string, unknown> & { messages: ChatBody['messages'] } = {
    messages: begun === '' ? turns : [{ role: 'system', content: begun }, ...turns],
  }
  for (const name in config) {
    const value = config[name]
    // A backend of the common format refuses an empty list.
    if (value == null || (name === 'stopSequences' && Array.isArray(value) && value.length === 0)) continue
    if (Object.hasOwn(same, name)) body[same[name]!] = value
    else if (!formats.has(name)) drop(`generationConfig.${name}`)
  }
  if (config['topK'] != null) {
    if (to === undefined) drop('generationConfig.topK')
    else body['top_k'] = config['topK']
  }
  const thoughts = camel(objectIn(config, 'thinkingConfig', 'generationConfig'))
  Object.assign(body, formatOf(config, drop), thoughtsOf(thoughts, drop), toolsOf(request, drop, serverTools))
  return body
}

/** A schema counts only beside the media type of JSON. */
const formatOf = (config: JsonObject, drop: Drop): JsonObject => {
  const { responseMimeType, responseSchema, responseJsonSchema } = config
  if (responseMimeType == null || responseMimeType === 'text/plain') return {}
  if (responseMimeType !== 'application/json') {
    drop('generationConfig.responseMimeType')
    return {}
  }
  const schema = responseJsonSchema ?? (responseSchema == null ? null : jsonSchema(responseSchema))
  if (schema == null) return { response_format: { type: 'json_object' } }
  return { response_format: { type: 'json_schema', json_schema: { name: 'answer', schema } } }
}

/** A budget of tokens as an effort; a negative one leaves it to the model. */
const thoughtsOf = ({ thinkingBudget, thinkingLevel }: JsonObject, drop: Drop): JsonObject => {
  if (typeof thinkingLevel === 'string' && thinkingLevel !== 'THINKING_LEVEL_UNSPECIFIED')
    return { reasoning_effort: thinkingLevel.toLowerCase() }
  if (typeof thinkingBudget !== 'number' || thinkingBudget < 0) return {}
  if (thinkingBudget === 0) {
    drop('generationConfig.thinkingConfig.thinkingBudget')
    return {}
  }
  return { reasoning_effort: thinkingBudget <= 2048 ? 'low' : thinkingBudget <= 12_288 ? 'medium' : 'high' }
}

/** The functions of the caller, narrowed to the allowed names where the caller lists some. */
const toolsOf = (request: GenerateRequest, drop: Drop, serverTools: ServerTools): JsonObject => {
  const offered = (request.tools ?? []).flatMap((tool, at) =>
    functionsIn(tool, `tools.${at}`, serverTools, drop).flatMap((declared) =>
      objectsIn(declared, 'functionDeclarations', `tools.${at}`).map(functionOf),
    ),
  )
  if (offered.length === 0) return {}
  const { toolConfig } = request
  const calling = camel(objectIn(camel(toolConfig ?? {}), 'functionCallingConfig', 'toolConfig'))
  const { mode, allowedFunctionNames: names } = calling
  const among = Array.isArray(names) && names.length > 0 ? new Set(names) : null
  const tools = among === null ? offered : offered.filter((tool) => among.has((tool['function'] as JsonObject)['name']))
  return { tools, ...(typeof mode === 'string' && Object.hasOwn(modes, mode) && { tool_choice: modes[mode] }) }
}

/** Modes of calling by their names in the dialect. */
const modes: Readonly<Record<string, string>> = { AUTO: 'auto', NONE: 'none', ANY: 'required', VALIDATED: 'auto' }

/** The dialect has two kinds of schemas: its own with upper-case types, and JSON schema. */
const functionOf = (declaration: JsonObject): JsonObject => {
  const camelled = camel(declaration)
  const { description, parameters, parametersJsonSchema } = camelled
  const schema = parametersJsonSchema ?? (isJsonObject(parameters) ? jsonSchema(parameters) : undefined)
  return {
    type: 'function',
    function: {
      name: textIn(camelled, 'name', 'tools.functionDeclarations'),
      ...(description != null && { description }),
      ...(schema !== undefined && { parameters: schema }),
    },
  }
}

const passed = new Set(['contents', 'systemInstruction', 'tools', 'toolConfig', 'generationConfig', 'safetySettings'])

/** The request for a backend of the same dialect, and the members that it lacks. */
const nativeOf = (
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
const functionsIn = (tool: JsonObject, path: string, serverTools: ServerTools, drop: Drop): readonly JsonObject[] => {
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
