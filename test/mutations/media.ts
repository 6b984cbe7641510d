import type { Changes } from './mutation.ts'

const media = 'test/media.test.ts'
const interfaces = 'test/interface.test.ts'

export const medias: readonly Changes[] = [
  {
    file: 'core/dialects/transcript-formats.ts',
    test: media,
    changes: [
      { breaks: 'Segments stay as the backend gave them.', from: '  ...own,\n', to: '' },
      { breaks: 'A segment has all fields that stock clients ask for.', from: '  no_speech_prob: 0,\n', to: '' },
      { breaks: 'Usage of a transcript is kept.', from: "...pickedMembers(it, ['logprobs', 'usage'])", to: '' },
    ],
  },
  {
    file: 'core/calls/media/transcription.ts',
    test: media,
    changes: [
      {
        breaks: 'A stream of a transcript is never silent.',
        from: 'if (stream) return streamed(',
        to: 'if (false) return streamed(',
      },
      {
        breaks: 'A stream in another format is refused.',
        from: "if (stream && format !== 'json'",
        to: "if (!stream && format === 'srt'",
      },
      {
        breaks: 'Translations have a scope of their own.',
        from: "verb === 'translations' ? 'audio.translation' : 'audio.transcription'",
        to: "'audio.transcription'",
      },
    ],
  },
  {
    file: 'core/calls/media/draw-images.ts',
    test: media,
    changes: [
      { breaks: 'The prompt that was drawn is kept.', from: ', ...revised(picture) }))', to: ' }))' },
      { breaks: 'What a backend tells beside its images is kept.', from: 'data, ...drawn.about }', to: 'data }' },
      {
        breaks: 'Images are charged as the backend counts them.',
        from: 'isCount(input) && isCount(output) ? { input, output } : null',
        to: 'null',
      },
    ],
  },
  {
    file: 'core/calls/media/speech.ts',
    test: media,
    changes: [
      {
        breaks: 'Speech is passed on as it comes.',
        from: 'await upstream.streamSpeech?.({ ...call, model }, signal)',
        to: 'undefined as { mime: string; parts: AsyncIterable<Uint8Array> } | undefined',
      },
    ],
  },
  {
    file: 'core/inference/media/ongoing.ts',
    test: media,
    changes: [
      {
        breaks: 'An answer without parts is a failure of the backend.',
        from: 'if (first.done) throw',
        to: 'if (first.done && first.value === 0) throw',
      },
      {
        breaks: 'A caller who leaves ends what goes on.',
        from: 'const leave = () => controller.abort(signal.reason)',
        to: 'const leave = () => {}',
      },
    ],
  },
  {
    file: 'core/inference/models/model-able.ts',
    test: media,
    changes: [
      { breaks: 'Backends that can’t do it are not asked.', from: 'can(upstream))', to: 'can(upstream) || true)' },
    ],
  },
  {
    file: 'plugins/providers/shared/transcript-stream.ts',
    test: media,
    changes: [
      {
        breaks: 'A transcript that is cut off is no whole one.',
        from: 'if (ended) throw',
        to: 'if (ended) return\n      if (ended) throw',
      },
    ],
  },
  {
    file: 'core/sealed/enclave/audio.ts',
    test: interfaces,
    changes: [
      {
        breaks: 'The model of both places is one.',
        from: ' || (open !== null && open !== named)',
        to: '',
      },
      {
        breaks: 'Bound requests name the model inside.',
        from: 'model ?? (requireBinding ? null : open)',
        to: 'model ?? open',
      },
      {
        breaks: 'An option without effect is told.',
        from: '...(ignored.length > 0 && { ignored })',
        to: '',
      },
    ],
  },
]
