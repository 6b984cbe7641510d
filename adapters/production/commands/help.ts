import written from './help.json' with { type: 'json' }

type Command = keyof typeof written.usages

/** Options that several commands take stand once: a usage names them by a line such as `{client}`. */
const options = new Map(Object.entries(written.options).map(([name, lines]) => [`{${name}}`, lines]))

const text = (lines: readonly string[]): string => lines.flatMap((line) => options.get(line) ?? line).join('\n')

/** What `sealgate --help` prints: one line for each command. */
export const helpOverview = text(written.overview)

/** What each command takes. */
export const commandUsages = Object.fromEntries(
  Object.entries(written.usages).map(([name, lines]) => [name, text(lines)]),
) as Readonly<Record<Command, string>>
