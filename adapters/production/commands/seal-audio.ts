import type { Hearing, Heard } from '../../../core/sealed/client/audio.ts'
import { Refused } from './seal-errors.ts'

const formats = ['json', 'text', 'verbose_json'] as const

interface Timed {
  readonly start: number
  readonly end: number
}

interface Results {
  readonly channels: readonly {
    readonly detected_language?: string
    readonly alternatives: readonly {
      readonly transcript: string
      readonly words?: readonly (Timed & { word: string })[]
    }[]
  }[]
  readonly utterances?: readonly (Timed & { readonly transcript: string })[]
}

/** A form as the common audio format has it, sealed, and the answer in the form that it asks for. */
export const heard = async (
  hearing: Hearing,
  type: string,
  body: Buffer,
  signal: AbortSignal,
): Promise<{ readonly type: string; readonly body: string }> => {
  const form = await new Response(new Uint8Array(body), { headers: { 'content-type': type } }).formData().catch(() => {
    throw new Refused(400, 'The body is not a form')
  })
  const text = (name: string): string | null => {
    const value = form.get(name)
    return typeof value === 'string' ? value : null
  }
  const file = form.get('file')
  const [model, language, prompt] = [text('model'), text('language'), text('prompt')]
  const format = text('response_format') ?? 'json'
  if (file === null || typeof file === 'string') throw new Refused(400, 'An audio file is expected', 'file')
  if (model === null) throw new Refused(400, 'A model is expected', 'model')
  if (!formats.some((it) => it === format))
    throw new Refused(400, `${formats.join(', ')} are spoken here`, 'response_format')
  const granularities = form.getAll('timestamp_granularities[]') as ('word' | 'segment')[]

  const answer = await hearing.create(
    {
      model,
      file,
      ...(language !== null && { language }),
      ...(prompt !== null && { prompt }),
      ...(granularities.length > 0 && { timestamp_granularities: granularities }),
    },
    { signal },
  )
  return written(answer, format)
}

const written = ({ metadata, results }: Heard, format: string) => {
  const { channels, utterances = [] } = results as Results
  const { transcript: text = '', words = [] } = channels[0]?.alternatives[0] ?? {}
  if (format === 'text') return { type: 'text/plain; charset=utf-8', body: `${text}\n` }
  const verbose = format === 'verbose_json' && {
    task: 'transcribe',
    language: channels[0]?.detected_language ?? '',
    duration: metadata['duration'] ?? utterances.at(-1)?.end ?? 0,
    segments: utterances.map(({ transcript, ...rest }, id) => ({ id, ...rest, text: transcript })),
    words: words.map(({ word, start, end }) => ({ word, start, end })),
  }
  return { type: 'application/json', body: JSON.stringify({ text, ...verbose }) }
}
