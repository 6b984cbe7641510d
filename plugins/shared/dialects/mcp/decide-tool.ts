import * as v from 'valibot'

const text = (about: string) => v.pipe(v.string(), v.description(about))

/** The tool `decide`, as both servers of the protocol list it. */
export const decideTool = {
  name: 'decide',
  about: 'Answers typed questions about a text, with probabilities.',
  params: {
    state: text('What the questions are about'),
    questions: v.pipe(
      v.record(v.string(), v.looseObject({ type: v.picklist(['choice', 'noul', 'score']), instructions: v.string() })),
      v.description('By id; criteria: for choice labels with descriptions, for score levels in their order'),
    ),
  },
} as const
