import type { Changes } from './mutation.ts'

const guards = 'test/guards.test.ts'
const redact = 'test/plugins/guards/redact.test.ts'
const words = 'test/plugins/guards/words.test.ts'

export const guarding: readonly Changes[] = [
  {
    file: 'core/inference/wordings.ts',
    test: guards,
    changes: [
      {
        breaks: 'A request in the common format passes the guards.',
        from: 'const common = await passage.request(body, signal)',
        to: 'const common = body',
      },
      {
        breaks: 'A request in a dialect passes the guards.',
        from: 'body: await passage.request(native.body, signal) }',
        to: 'body: native.body }',
      },
    ],
  },
  {
    file: 'core/inference/answer-chat.ts',
    test: guards,
    changes: [
      {
        breaks: 'A whole answer passes the guards.',
        from: 'passage === null ? it.answer : await passage.answer(it.answer)',
        to: 'it.answer',
      },
      {
        breaks: 'A stream passes the guards.',
        from: 'passage === null ? it.answer.chunks : passage.chunks(it.answer.chunks)',
        to: 'it.answer.chunks',
      },
      {
        breaks: 'A stream tells marks.',
        from: '({ ...attemptsOf(it), ...marksOf(passage) })\n',
        to: 'attemptsOf(it)\n',
      },
    ],
  },
  {
    file: 'core/inference/guards/passage.ts',
    test: guards,
    changes: [
      { breaks: 'A guard refuses.', from: 'if (verdict.refuses) throw', to: 'if (verdict.refuses === null) throw' },
      { breaks: 'A mark is a declared word.', from: '!known.includes(mark)', to: 'false' },
      {
        breaks: 'A guard gives as many texts as it is given.',
        from: 'texts.length !== wording.texts.length',
        to: 'texts.length > wording.texts.length',
      },
      { breaks: 'Answers pass the guards in reverse.', from: 'all.toReversed().flatMap', to: 'all.flatMap' },
      {
        breaks: 'The answer in a dialect passes the guards.',
        from: 'body: await passed(answerWording(native.body), watchText)',
        to: 'body: native.body',
      },
    ],
  },
  {
    file: 'core/inference/guards/chunks.ts',
    test: guards,
    changes: [
      {
        breaks: 'What is held back comes before another text.',
        from: 'if (but.has(name)) continue',
        to: 'if (but.size > 0) continue',
      },
      {
        breaks: 'What is held back comes with the finish reason.',
        from: 'if (!isLast) return next',
        to: 'return next',
      },
      {
        breaks: 'Arguments are read as JSON.',
        from: 'await passed(jsonWording(json), watching)',
        to: 'json',
      },
      {
        breaks: 'Events of a dialect do not pass the guards unseen.',
        from: '{ native: _, ...chunk }: Chunk)',
        to: 'chunk: Chunk)',
      },
      { breaks: 'Log-probabilities are left out.', from: 'logprobs: _, ...rest } = choice', to: '...rest } = choice' },
    ],
  },
  {
    file: 'core/inference/guards/texts.ts',
    test: guards,
    changes: [
      {
        breaks: 'Arguments of a request are read as JSON.',
        from: "name === 'arguments' && !open ?",
        to: "name === '' && !open ?",
      },
    ],
  },
  {
    file: 'core/sealed/enclave/chat.ts',
    test: 'test/seal-guards.test.ts',
    changes: [
      {
        breaks: 'Guards of the enclave see sealed requests.',
        from: 'passage === null ? given : await passage.request(given, signal)',
        to: 'given',
      },
      {
        breaks: 'Guards of the enclave see sealed streams.',
        from: 'passage === null ? it.answer.chunks : marked(it.answer.chunks, passage)',
        to: 'it.answer.chunks',
      },
    ],
  },
  {
    file: 'adapters/production/commands/seal/routes.ts',
    test: 'test/seal-guards.test.ts',
    changes: [
      {
        breaks: 'Values are hidden before sealing.',
        from: '...(passage === null ? body : await passage.request(body, signal))',
        to: '...body',
      },
      {
        breaks: 'Values come back in a stream.',
        from: 'return passage === null ? sealed : passage.chunks(sealed)',
        to: 'return sealed',
      },
    ],
  },
  {
    file: 'plugins/guards/shared/piecewise.ts',
    test: redact,
    changes: [
      { breaks: 'A value that is cut is found.', from: 'return upTo(undecided(text))', to: 'return upTo(text.length)' },
      { breaks: 'Long texts take turns.', from: 'if (at + turn < text.length) await', to: 'if (at < 0) await' },
    ],
  },
  {
    file: 'plugins/guards/redact/placeholders.ts',
    test: redact,
    changes: [
      {
        breaks: 'A placeholder of the caller stands for itself.',
        from: 'if (!taken.has(name)) return name',
        to: 'return name',
      },
      { breaks: 'A value has one placeholder.', from: 'if (known !== undefined) return known', to: '' },
    ],
  },
  {
    file: 'plugins/guards/redact/card.ts',
    test: redact,
    changes: [{ breaks: 'A card passes the check of Luhn.', from: 'return sum % 10 === 0', to: 'return sum > 0' }],
  },
  {
    file: 'plugins/guards/redact/iban.ts',
    test: redact,
    changes: [{ breaks: 'An IBAN passes its check.', from: 'return rest === 1', to: 'return rest > 0' }],
  },
  {
    file: 'plugins/guards/words/pattern.ts',
    test: words,
    changes: [{ breaks: 'A word is found as a whole.', from: '`(?!${letter})` : ', to: "'' : " }],
  },
]
