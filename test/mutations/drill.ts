import type { Changes } from './mutation.ts'

const test = 'test/drill.test.ts'
const parts = 'test/plugins/surfaces/console/browser.test.ts'
const page = 'test/console-live.test.ts'

/** Faults of scripted backends, played against a running configuration. */
export const drills: readonly Changes[] = [
  {
    file: 'core/routes/drill.ts',
    test,
    changes: [
      { breaks: 'Only operators play a drill.', from: `'api_key.update', operators: true`, to: `'api_key.update'` },
      { breaks: 'A key that changes nothing plays no drill.', from: `'api_key.update'`, to: `'api_key.read'` },
      { breaks: 'One drill plays at a time.', from: 'if (isPlaying) throw', to: 'if (false) throw' },
      {
        breaks: 'A gateway that drains ends its drill at once.',
        from: ', lifecycle.closing, lifecycle.draining]',
        to: ', lifecycle.closing]',
      },
      { breaks: 'A drill leaves its place.', from: 'if (isMine) isPlaying = false', to: '' },
      {
        breaks: 'A drill that was refused takes no place from the one that plays.',
        from: 'if (isMine) isPlaying',
        to: 'isPlaying',
      },
      { breaks: 'A scene that nobody has is refused.', from: 'all.every(({ scene }) => scene !== name)', to: 'false' },
      { breaks: 'A gateway without a drill says so.', from: 'if (all.length === 0) throw', to: 'if (false) throw' },
      {
        breaks: 'A model is drilled as its backends are.',
        from: 'continues: model.continues,',
        to: 'continues: false,',
      },
      { breaks: 'A drill stands in the audit.', from: 'await show.record(begin)', to: 'await begin()' },
      {
        breaks: 'A model that is not served in the clear is not drilled.',
        from: `await servedModel(catalog, caller, input.model, 'chat', signal)`,
        to: `(await catalog.find(input.model, signal)) ?? (await servedModel(catalog, caller, 'none', 'chat', signal))`,
      },
    ],
  },
  {
    file: 'adapters/drill/drill.ts',
    test,
    changes: [
      { breaks: 'The thread of a drill ends with its reader.', from: 'await thread.terminate()', to: '' },
      {
        breaks: 'A drill notices that its reader leaves.',
        from: `signal.addEventListener('abort', () => failed(signal.reason), { once: true })`,
        to: '',
      },
    ],
  },
  {
    file: 'adapters/drill/planned-acts.ts',
    test,
    changes: [
      {
        breaks: 'A backend that refuses connections comes first.',
        from: 'refused === true\n',
        to: 'refused === null\n',
      },
      {
        breaks: 'A scene whose backend cannot go on is played so.',
        from: 'continues && scene.continues !== false',
        to: 'continues',
      },
      {
        breaks: 'The retries are those of the configuration.',
        from: '{ ...settings, timeouts, routing }',
        to: 'settings',
      },
      {
        breaks: 'A silence meets the times of the configuration.',
        from: 'firstToken: ms(firstToken),',
        to: 'firstToken: 60_000,',
      },
    ],
  },
  {
    file: 'adapters/drill/drill-thread.ts',
    test,
    changes: [
      {
        breaks: 'The times of a silence are told at their whole length.',
        from: 'silent === true ? pace : 1',
        to: '1',
      },
    ],
  },
  {
    file: 'plugins/surfaces/console/browser/drill-run.ts',
    test: parts,
    changes: [
      { breaks: 'A worse mark is told as worse.', from: `step < 0 ? 'better' : 'worse'`, to: `'better'` },
      {
        breaks: 'Every mark that stayed is left out of the difference.',
        from: `!['same', null].includes(changeOf(row))`,
        to: 'changeOf(row) !== null',
      },
      {
        breaks: 'Runs of one model are compared.',
        from: 'last(begins.model)',
        to: '[...kept.values()].at(-1) ?? null',
      },
      { breaks: 'A drill remembers one run before.', from: 'before && { ...before, before: null }', to: 'before' },
    ],
  },
  {
    file: 'plugins/surfaces/console/browser/pages/drill.ts',
    test: page,
    changes: [
      { breaks: 'Only who may play sees the page.', from: '({ steers }) => steers', to: '() => true' },
      { breaks: 'A whole run is compared with the next one.', from: 'return drillRuns.keep(run)', to: 'return' },
      {
        breaks: 'A drill ends with its page.',
        from: 'AbortSignal.any([signal, stopping.signal])',
        to: 'stopping.signal',
      },
    ],
  },
  {
    file: 'plugins/surfaces/console/browser/pages/home.ts',
    test: 'test/console-browser.test.ts',
    changes: [
      {
        breaks: 'A Home shows what its key may see, and no refusal.',
        from: 'unlessRefused(modelsOf(gateway, sight), 403)',
        to: 'unlessRefused(modelsOf(gateway, sight), 999)',
      },
    ],
  },
  {
    file: 'plugins/surfaces/console/browser/parts.ts',
    test: 'test/console-sealed.test.ts',
    changes: [
      {
        breaks: 'Words in backticks are code.',
        from: `at % 2 === 1 ? el('code', {}, part) : part`,
        to: 'part',
      },
    ],
  },
]
