import type { Script } from './scripted.ts'

/** Thinks, speaks, asks for two tools at once, then for one, then answers. */
export const weatherScript: Script = (turn, [tool = 'weather']) =>
  [
    [
      { think: 'Let me look.', signature: 'c2lnbmVkIG9uZQ==' },
      { say: 'I look.' },
      { call: tool, args: { city: 'Lima' }, signature: 'Z29vZ2xlIG9uZQ==' },
      { call: tool, args: { city: 'Rome' } },
    ],
    [],
    [
      { think: 'Once more.', signature: 'c2lnbmVkIHR3bw==' },
      { call: tool, args: { city: 'Oslo' }, signature: 'Z29vZ2xlIHR3bw==' },
    ],
    [{ say: 'It is sunny.' }],
  ][turn]!

/** The parameters of the tool, and what it tells. */
export const weatherSchema = { type: 'object', properties: { city: { type: 'string' } } } as const
export const told = (city: string) => `${city}: sunny`
