/** A block of code in a page, with what the comment in front of it says. */
export interface Block {
  readonly language: string
  readonly text: string
  /** Null where no comment stands in front. */
  readonly mark: string | null
}

export const blocksOf = (text: string): readonly Block[] =>
  [...text.matchAll(/(?:^<!-- (.+) -->\n)?^```(\w*)\n([\s\S]*?)\n```$/gm)].map(([, mark, language, text]) => ({
    language: language!,
    text: text!,
    mark: mark ?? null,
  }))

/** The marks of code that some test runs, or whose reason for not being run stands beside it. */
export const runMarks = /^(run|start|file|from|own file|new file|checked as|part of)\b|^not run: \S/

/** Languages of programs: such a block needs a mark. */
export const programs: ReadonlySet<string> = new Set(['sh', 'js', 'ts', 'py', 'python', 'jsonc'])

/** A pattern for what a program prints: `…` stands for anything within a line. */
export const printed = (text: string): RegExp =>
  new RegExp(
    `^${text
      .split('…')
      .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
      .join('[^\\n]*')}\\s*$`,
  )
