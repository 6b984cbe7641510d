import { ask, judged, type Traffic } from '../traffic.ts'

const questions = {
  team: {
    type: 'choice',
    instructions: 'Who takes it?',
    criteria: { sales: 'Buys', support: 'Has trouble', other: null },
  },
  urgent: { type: 'noul', instructions: 'Is it urgent?' },
  mood: { type: 'score', instructions: 'How content?', criteria: ['angry', 'calm', 'glad'] },
}

const isAnswered = (text: string): boolean => {
  const { answers } = JSON.parse(text)
  return answers.team.choice in questions.team.criteria && answers.urgent.noul > 0.5 && answers.mood.score > 0
}

export const traffic: Traffic = {
  name: 'decisions',
  weight: 4,
  ms: 100,
  models: { deciding: { decide: true, upstreams: [{ provider: 'soak' }] } },
  async call(target, leave) {
    const state = { mail: 'It broke again. '.repeat(1 + Math.floor(Math.random() * 50)) }
    const body = JSON.stringify({ model: 'deciding', state, questions })
    return judged(await ask(target, '/compat/v1/decision', { body }, leave), 200, isAnswered)
  },
}
