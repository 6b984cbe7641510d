import { access } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { basename, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import pLimit from 'p-limit'
import * as v from 'valibot'
import { wireUsage } from '../../core/dialects/chat-completions.ts'
import { BadRequest, GatewayError, UpstreamFailed } from '../../core/errors.ts'
import { collectChunks } from '../../core/inference/collect-chunks.ts'
import { promptOf, type Chat, type Model, type Sequence, type Token } from './llama/local-model.ts'
import { pushToPull } from './llama/push-to-pull.ts'
import { turnsOf } from './llama/local-chat-turns.ts'
import { decideByVocabulary, isMark, type NextTokens } from './llama/decide-by-logits.ts'
import { plugin } from '../../core/plugin.ts'
import { Clock, Random } from '../../core/ports/platform.ts'
import { Upstream, type ChatBody, type ChatCall, type Chunk, type Usage } from '../../core/ports/upstream.ts'
import { unlessAborted } from '../../core/abort.ts'

// The used part of node-llama-cpp: an optional peer, whose own types may be missing.
interface Package {
  getLlama(options: object): Promise<{
    loadModel(options: { readonly modelPath: string }): Promise<Model>
    createGrammarForJsonSchema(schema: object): Promise<object>
    getGrammarFor(type: 'json'): Promise<object>
    dispose(): Promise<void>
  }>
  readonly LlamaChat: new (options: { readonly contextSequence: Sequence }) => Chat
}

interface Piece {
  readonly text: string
  readonly segmentType?: string | undefined
}

/** Callers that may wait for each sequence: more would all be late. */
const mostWaiting = 64
const missing = 'This model needs the package node-llama-cpp'

/** A model file in this process, by node-llama-cpp. The first call loads the file. */
export default plugin({
  port: Upstream,
  name: 'llama',
  settings: v.strictObject({
    /** A GGUF file. */
    file: v.string(),
    /** Tokens that prompt and answer may have together. */
    contextSize: v.optional(v.pipe(v.number(), v.integer(), v.minValue(64)), 4096),
    /** As many as the machine has when absent. */
    threads: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1))),
    /** The folder whose packages hold node-llama-cpp, when it is not installed beside this one. */
    packages: v.optional(v.string()),
  }),
  needs: { clock: Clock, random: Random },
  create: ({ clock, random }, { file, contextSize, threads, packages }, name): Upstream => {
    const id = basename(file, '.gguf')

    /** Null before the first search, and after a search that failed. */
    let found: Promise<Package> | null = null
    const find = (): Promise<Package> => {
      found ??= (async () => {
        const near = createRequire(packages === undefined ? import.meta.url : resolve(packages, 'package.json'))
        return (await import(pathToFileURL(near.resolve('node-llama-cpp')).href)) as Package
      })().catch((cause: unknown) => {
        found = null
        throw new UpstreamFailed(missing, { cause })
      })
      return found
    }

    /** Loads the file and makes two sequences, for conversations and for decisions. */
    const open = async () => {
      const { getLlama, LlamaChat } = await find()
      try {
        const llama = await getLlama({
          build: 'never',
          skipDownload: true,
          progressLogs: false,
          // Its log quotes what it reads.
          logger() {},
          ...(threads !== undefined && { maxThreads: threads }),
        })
        const model = await llama.loadModel({ modelPath: file })
        const context = await model.createContext({ contextSize, sequences: 2 })
        const [talk, look] = [context.getSequence(), context.getSequence()]
        const marks = new Map<Token, string>()
        for (const token of model.iterateAllTokens()) {
          const text = model.isSpecialToken(token) ? '' : model.detokenize([token])
          if (isMark(text)) marks.set(token, text)
        }
        const chat = new LlamaChat({ contextSequence: talk })
        return { llama, model, talk, look, chat, marks, size: context.contextSize }
      } catch (cause) {
        throw new UpstreamFailed('The model file can not be loaded', { cause })
      }
    }

    type Opened = Awaited<ReturnType<typeof open>>
    /** Null before the first call, and after a loading that failed. */
    let opened: Promise<Opened> | null = null
    const use = (): Promise<Opened> => {
      opened ??= open().catch((cause: unknown) => {
        opened = null
        throw cause
      })
      return opened
    }

    // Each sequence holds one conversation at a time, and forgets it afterwards.
    const talking = pLimit(1)
    const looking = pLimit(1)
    const alone = async <T>(limit: typeof talking, sequence: Sequence, signal: AbortSignal, work: () => Promise<T>) => {
      if (limit.pendingCount >= mostWaiting) {
        throw new UpstreamFailed('Too many requests wait for the model', { again: true, retryAfter: 1000 })
      }
      try {
        const turn = limit(async () => {
          signal.throwIfAborted()
          try {
            return await work()
          } finally {
            await sequence.clearHistory()
          }
        })
        return await unlessAborted(turn, signal)
      } catch (cause) {
        if (cause instanceof GatewayError || cause === signal.reason) throw cause
        throw new UpstreamFailed('The model failed', { cause })
      }
    }

    /** What would come next behind a prompt; what it shares with the one before is not read again. */
    const glance = async ({ model, look, chat, marks, size }: Opened, prompt: string): Promise<NextTokens> => {
      const tokens = promptOf(prompt, model, chat)
      if (tokens.length > size) throw tooLong()
      const last = tokens.pop()!
      await look.adaptStateToTokens(tokens, false)
      const cached = look.nextTokenIndex
      const logits = { filter: { tokens: [...marks.keys()], includeTop: 1 } }
      const read = await look.controlledEvaluate([
        ...tokens.slice(cached),
        [last, { generateNext: { logits, totalLogitWeight: true } }],
      ])
      const { logits: seen, totalLogitWeight } = read.at(-1)!.next
      const most = Math.max(...seen.values())
      const probabilities = new Map<string, number>()
      for (const [token, text] of marks) {
        const probability = Math.exp((seen.get(token) ?? -Infinity) - most) / totalLogitWeight
        probabilities.set(text, (probabilities.get(text) ?? 0) + probability)
      }
      return { probabilities, usage: { input: tokens.length + 1, output: 1, cached } }
    }

    /** Everything that may be the caller's mistake is found before the first chunk. */
    const prepare = async (call: ChatCall, { llama, model, chat, size }: Opened) => {
      const history = turnsOf(call)
      const { contextText } = chat.chatWrapper.generateContextState({ chatHistory: history })
      if (contextText.tokenize(model.tokenizer).length >= size) throw tooLong()
      return { history, options: { maxTokens: size, ...(await optionsOf(call.body, llama)) } }
    }

    /** The chunk before the last has the reason, and the last chunk has the usage. */
    async function* chunksOf(
      call: ChatCall,
      { talk, chat }: Opened,
      { history, options }: Awaited<ReturnType<typeof prepare>>,
      signal: AbortSignal,
    ): AsyncGenerator<Chunk, undefined> {
      const head = {
        id: `chatcmpl-${Buffer.from(random.bytes(12)).toString('hex')}`,
        object: 'chat.completion.chunk',
        created: Math.floor(clock.now() / 1000),
        model: call.model,
      }
      const chunk = (delta: Chunk['choices'][number]['delta'], finish_reason: string | null = null): Chunk => ({
        ...head,
        choices: [{ index: 0, delta, finish_reason }],
      })
      yield chunk({ role: 'assistant', content: '' })
      const speech = pushToPull<Chunk, { readonly reason: string; readonly usage: Usage }>(
        (tell, signal) =>
          alone(talking, talk, signal, async () => {
            const before = talk.tokenMeter.usedOutputTokens
            const { metadata } = await chat.generateResponse(history, {
              ...options,
              signal,
              onResponseChunk({ text, segmentType }: Piece) {
                if (text !== '')
                  tell(chunk(segmentType === 'thought' ? { reasoning_content: text } : { content: text }))
              },
            })
            const output = talk.tokenMeter.usedOutputTokens - before
            return {
              reason: metadata.stopReason === 'maxTokens' ? 'length' : 'stop',
              usage: { input: Math.max(0, talk.contextTokens.length - output), output },
            }
          }),
        signal,
      )
      const { reason, usage } = yield* speech
      yield chunk({}, reason)
      yield { ...head, choices: [], usage: wireUsage(usage) }
    }

    return {
      name,

      async models(signal) {
        signal.throwIfAborted()
        await find()
        await access(file).catch((cause: unknown) => {
          throw new UpstreamFailed('The model file is not there', { cause })
        })
        return [{ id, type: 'CHAT', description: 'A model file in this process', modalities: ['text'] }]
      },

      async chat(call, signal) {
        const loaded = await unlessAborted(use(), signal)
        const chunks = chunksOf(call, loaded, await prepare(call, loaded), signal)
        return call.stream
          ? { kind: 'chunks', chunks }
          : { kind: 'completion', completion: await collectChunks(chunks) }
      },

      async decide(call, signal) {
        const loaded = await unlessAborted(use(), signal)
        return alone(looking, loaded.look, signal, () =>
          decideByVocabulary(
            (prompt, signal) => {
              signal.throwIfAborted()
              return glance(loaded, prompt)
            },
            call,
            signal,
          ),
        )
      },

      async dispose() {
        const loaded = await opened?.catch(() => null)
        await loaded?.llama.dispose()
      },
    }
  },
})

const tooLong = () => new BadRequest('The request is longer than the context of the model')

/** Options of the package by the fields of the request. The temperature is 1 where the caller names none. */
const optionsOf = async (body: ChatBody, llama: Awaited<ReturnType<Package['getLlama']>>) => {
  const number = (from: string, to = from) => (typeof body[from] === 'number' ? { [to]: body[from] } : {})
  const stop = typeof body['stop'] === 'string' ? [body['stop']] : body['stop']
  const format = body['response_format'] as
    { readonly type?: string; readonly json_schema?: { readonly schema?: object } } | null | undefined
  return {
    ...number('max_tokens', 'maxTokens'),
    ...number('max_completion_tokens', 'maxTokens'),
    temperature: 1,
    ...number('temperature'),
    ...number('top_p', 'topP'),
    ...number('top_k', 'topK'),
    ...number('min_p', 'minP'),
    ...number('seed'),
    ...(Array.isArray(stop) && { customStopTriggers: stop }),
    ...(format?.type === 'json_object' && { grammar: await llama.getGrammarFor('json') }),
    ...(format?.type === 'json_schema' && {
      grammar: await llama.createGrammarForJsonSchema(format.json_schema?.schema ?? {}),
    }),
  }
}
