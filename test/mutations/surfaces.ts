import type { Changes } from './mutation.ts'

const test = 'test/surfaces.test.ts'

export const surfaces: readonly Changes[] = [
  {
    file: 'core/routes/doors.ts',
    test,
    changes: [
      {
        breaks: 'A route without access ends the start.',
        from: 'if (!saysWhoMayCall(route))',
        to: 'if (route === undefined)',
      },
      {
        breaks: 'A word that is no access ends the start.',
        from: 'openings.has(access) ||',
        to: "typeof access === 'string' ||",
      },
      {
        breaks: 'An access without a scope ends the start.',
        from: " && typeof access.scope === 'string'",
        to: '',
      },
      {
        breaks: 'Two doors with one path end the start.',
        from: 'isOpen(other) ? takes(other, one) : one === other',
        to: 'isOpen(other) && takes(other, one)',
      },
      {
        breaks: 'A parameter takes a fixed path of another door.',
        from: 'isOpen(other) ? takes(other, one) : one === other',
        to: 'one === other',
      },
      {
        breaks: 'A fixed path is taken by a parameter of another door.',
        from: 'if (!isOpen(other)) return takes(one, other)',
        to: 'if (!isOpen(other)) return false',
      },
      {
        breaks: 'A fixed path needs the ending behind a parameter.',
        from: ' && text.endsWith(tail)',
        to: '',
      },
      {
        breaks: 'Two parameters with other endings never meet.',
        from: '(its.tail.endsWith(others.tail) || others.tail.endsWith(its.tail))',
        to: 'its.tail !== null',
      },
      {
        breaks: 'A route without an ending meets one with an ending.',
        from: 'its.tail.endsWith(others.tail) || ',
        to: '',
      },
      {
        breaks: 'A surface gets no path that a name of the settings gives.',
        from: 'path: namedPath(route.path, settings) })',
        to: 'path: route.path })',
      },
      {
        breaks: 'Another method is another route.',
        from: 'it.route.method === route.method && ',
        to: '',
      },
      {
        breaks: 'The standard routes may be called like those of v1.',
        from: "before.name === 'v1' &&",
        to: "before.name === '' &&",
      },
      {
        breaks: 'The standard routes alone share paths with v1.',
        from: " && path.startsWith('/std/')",
        to: '',
      },
    ],
  },
  {
    file: 'core/routes/served.ts',
    test,
    changes: [
      { breaks: 'The name v1 serves Gemini too.', from: ', surface.servedWith]', to: ']' },
      { breaks: 'A path in the configuration serves its surface.', from: '[label, surface.name', to: '[surface.name' },
      {
        breaks: 'A surface stands before those that it brings along.',
        from: 'Number(other === name) - Number(one === name)',
        to: 'Number(one === name) - Number(other === name)',
      },
      { breaks: 'An unknown name ends the start.', from: 'if (surfaces.length === 0)', to: 'if (surfaces.length < 0)' },
      { breaks: 'Two surfaces with one name end the start.', from: 'names.indexOf(name) !== at || ', to: '' },
      { breaks: 'A surface with the name of a chapter ends the start.', from: ' || isChapter(name)', to: '' },
      { breaks: 'A surface that the setting does not name is not served.', from: '(asked ?? all)', to: '(all)' },
      {
        breaks: 'Without the setting, an own surface is served.',
        from: '(asked ?? all)',
        to: '(asked ?? chapterNames)',
      },
    ],
  },
  {
    file: 'core/routes/served.ts',
    test: 'test/dialects/keys-and-models.test.ts',
    changes: [
      {
        breaks: 'Standard routes that are called v1 stay what they were.',
        from: "Number(other.name === 'v1') - Number(one.name === 'v1')",
        to: "Number(one.name === 'v1') - Number(other.name === 'v1')",
      },
    ],
  },
  {
    file: 'core/gateway.ts',
    test,
    changes: [
      {
        breaks: 'The reference has the chapters of surfaces.',
        from: 'return referenceOf(tools, chapters)',
        to: 'return referenceOf(tools, [])',
      },
      {
        breaks: 'A surface gets no path of the reference itself.',
        from: "[...doors, { name: 'docs', routes: documented }]",
        to: 'doors',
      },
    ],
  },
  {
    file: 'core/http/openapi.ts',
    test,
    changes: [
      {
        breaks: 'A header of keys is a scheme of its own.',
        from: '{ ...securitySchemes, ...keyHeadersOf(routes) }',
        to: 'securitySchemes',
      },
      {
        breaks: 'Chapters of one name are one tag.',
        from: 'chapters.findIndex((it) => it.name === name) === at',
        to: 'at >= 0 && name !== null',
      },
    ],
  },
  {
    file: 'core/routes/front-page.ts',
    test,
    changes: [
      { breaks: 'The front links surfaces.', from: "    ...pathsOf(served, settings, 'links'),\n", to: '' },
      {
        breaks: 'Names of clients are text.',
        from: '<th scope="row">${escapeHtml(client)}',
        to: '<th scope="row">${client}',
      },
    ],
  },
  {
    file: 'core/routes/front.ts',
    test,
    changes: [
      {
        breaks: 'A look for the gateway asks no store.',
        from: '[front(served), greet]',
        to: '[front(served), ...[greet].slice(1)]',
      },
    ],
  },
  {
    file: 'adapters/production/config/surfaces.ts',
    test,
    changes: [
      {
        breaks: 'Chapters alone load no surface.',
        from: 'asking.surfaces !== undefined && chosen.size === 0',
        to: 'asking.surfaces === null',
      },
      {
        breaks: 'A surface with settings is loaded once.',
        from: '.filter((name) => !named.includes(name))',
        to: '',
      },
      {
        breaks: 'An unknown name is a fault of the configuration.',
        from: ' && !surfaceNames.includes(dataset.value)',
        to: ' && surfaceNames.length === 0',
      },
    ],
  },
]
