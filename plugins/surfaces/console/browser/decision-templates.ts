import type { Draft, DraftOption, DraftQuestion, QuestionType } from './decision-draft.ts'

export interface DecisionTemplate {
  /** In the address of the page. */
  readonly name: string
  readonly words: string
  readonly draft: Draft
}

/** How many options a new question begins with. */
const first: Readonly<Record<QuestionType, number>> = { choice: 2, score: 3, noul: 2 }

export const emptyOptions = (type: QuestionType): readonly DraftOption[] =>
  Array.from({ length: first[type] }, () => ({ label: '', meaning: '' }))

const plain = { isJson: false, samples: null, steps: null, provider: '' } as const

const choice = (id: string, instructions: string, labels: Readonly<Record<string, string>>): DraftQuestion => ({
  ...{ id, type: 'choice', instructions },
  options: Object.entries(labels).map(([label, meaning]) => ({ label, meaning })),
})

const meant = (...meanings: readonly string[]): readonly DraftOption[] =>
  meanings.map((meaning) => ({ label: '', meaning }))

const noul = (id: string, yes: string, no: string): DraftQuestion => ({
  ...{ id, type: 'noul', instructions: '' },
  options: meant(yes, no),
})

const wish = choice('wish', 'What does the guest want?', {
  book: 'book a room',
  cancel: 'cancel a booking',
  change: 'change the dates of a booking',
})

/** One for each shape of question, and for each field that makes answers more accurate. */
export const decisionTemplates: readonly DecisionTemplate[] = [
  {
    name: 'choice',
    words: 'Choice: route a ticket',
    draft: {
      ...plain,
      state: 'I was charged twice for March.',
      questions: [
        choice('team', 'Which team should handle this ticket?', {
          billing: 'charges, refunds, invoices and payment',
          technical: 'errors, crashes and things that do not work',
          shipping: 'delivery, parcels and addresses',
        }),
      ],
    },
  },
  {
    name: 'score',
    words: 'Score: grade a review',
    draft: {
      ...plain,
      state: 'It does what it should, no more.',
      questions: [
        {
          id: 'mood',
          type: 'score',
          instructions: 'How satisfied is the reviewer?',
          options: meant('very disappointed', 'disappointed', 'neither', 'pleased', 'delighted'),
        },
      ],
    },
  },
  {
    name: 'noul',
    words: 'Yes or no: facts of an advertisement',
    draft: {
      ...plain,
      state: 'Two rooms near the station. Your dog is welcome. Sorry, there is nowhere to park.',
      questions: [
        noul('pets', 'Dogs and cats are welcome', 'No pets are allowed'),
        noul('parking', 'There is a place to park the car', 'There is nowhere to park the car'),
      ],
    },
  },
  {
    name: 'samples',
    words: 'Samples: compare two replies in both orders',
    draft: {
      ...{ ...plain, samples: 2 },
      state: 'My printer does not print, and its light blinks red.',
      questions: [
        choice('better', 'Which reply helps this customer more?', {
          first: 'A red light means that paper is stuck. Open the cover at the back of the printer and pull it out.',
          second: 'Thank you for your message. We value your opinion.',
        }),
      ],
    },
  },
  {
    name: 'steps',
    words: 'Steps: denoise an answer, by models that know them',
    draft: { ...{ ...plain, steps: 4 }, state: 'Something came up.', questions: [wish] },
  },
]
