import type { Domain } from '../domain.ts'

export const employer: Domain = {
  titles: ['{name} Works: handbook for employees', '{name} Works: agreement with the works council'],
  shared: [
    {
      heading: 'Holidays',
      told: [
        'Everyone has {number} days of leave a year, of which five may be carried into the spring.',
        '{name} Works gives everyone {number} days of leave a year and lets five be carried into the spring.',
      ],
      literal: 'How many days of leave a year does everyone at {name} Works have?',
      asked: [
        'How many days of paid vacation does a new contract with {name} typically include, and can unused time roll over?',
        'How much paid time off does a contract with {name} include?',
      ],
    },
    {
      heading: 'Sickness',
      told: [
        'A doctor’s note is due from day {number} of sickness on, and a call to the shift leader before {time}.',
        'From day {number} of sickness on {name} Works wants a doctor’s note, and a call to the shift leader before {time}.',
      ],
      literal: 'From which day of sickness on is a doctor’s note due at {name} Works?',
      asked: [
        'When do I have to hand a medical note to {name} if I am unwell and stay in bed?',
        'Whom must employees of {name} phone in the morning when they feel ill?',
      ],
    },
    {
      heading: 'Remote work',
      told: [
        'Up to {number} hours a month may be worked from home once the desk there was inspected.',
        '{name} Works lets up to {number} hours a month be worked from home once the desk there was inspected.',
      ],
      literal: 'Up to how many hours a month may be worked from home at {name} Works?',
      asked: [
        'Does {name} permit telecommuting from home, and is my private office checked for ergonomics?',
        'How often can clerks of {name} stay away from the office and do their job remotely?',
      ],
    },
    {
      heading: 'Expenses',
      told: [
        'Travel costs are refunded within {number} days when the slips are pasted on the green form.',
        'Within {number} days {name} Works refunds travel costs whose slips are pasted on the green form.',
      ],
      literal: 'Within how many days are travel costs refunded by {name} Works on the green form?',
      asked: [
        'How should staff submit travel receipts to {name}, and when will their money be transferred to the bank?',
        'How should staff submit receipts to {name}, and when will they have their money back?',
      ],
    },
    {
      heading: 'Parents',
      told: [
        'After a birth both parents may halve their week for {number} months and keep {percent} of the pay.',
        'At {name} Works both parents may halve their week for {number} months after a birth and keep {percent} of the pay.',
      ],
      literal: 'For how many months after a birth may both parents halve their week at {name} Works?',
      asked: [
        'Can parents reduce working hours at {name} to look after an infant, and what happens to the salary?',
        'Can fathers reduce working hours at {name} to care for an infant?',
      ],
    },
    {
      heading: 'Training',
      told: [
        'Evening courses are paid in full if the examination is passed and the person stays {number} months longer.',
        '{name} Works pays evening courses in full if the examination is passed and the person stays {number} months longer.',
      ],
      literal: 'When does {name} Works pay evening courses in full if the examination is passed?',
      asked: [
        'Will {name} fund evening studies for a qualification, and does that bind me to the firm?',
        'Who bears the tuition fees when somebody from {name} studies for a qualification after hours?',
      ],
    },
    {
      heading: 'Shoes and tools',
      told: [
        'Safety shoes are replaced each {month}, and a lost gauge is deducted at {money}.',
        'Each {month} {name} Works replaces safety shoes; a lost gauge is deducted at {money}.',
      ],
      literal: 'When are safety shoes replaced at {name} Works, and what is deducted for a lost gauge?',
      asked: [
        'How often am I given fresh safety boots by {name} when the soles of mine wear out?',
        'Do workers of {name} have to pay if they mislay a measuring instrument?',
      ],
    },
    {
      heading: 'Complaints',
      told: [
        'Whoever feels bullied may speak to {person}, who keeps names secret from the management.',
        'Whoever feels bullied at {name} Works may speak to {person}, who keeps names secret from the management.',
      ],
      literal: 'To whom may those speak who feel bullied at {name} Works, with names kept secret?',
      asked: [
        'My supervisor bullied a colleague; is there a confidential contact at {name} whom victims can trust?',
        'Where can victims of mobbing inside {name} turn without their boss finding out?',
      ],
    },
  ],
  single: [
    {
      heading: 'The canteen vote',
      told: ['Liver was struck from the menu after a petition with three hundred names.'],
      literal: 'What was struck from the menu after a petition?',
      asked: [
        'Which dish did the workforce get rid of through a petition?',
        'Which dish did the workforce get rid of by collecting signatures?',
      ],
    },
    {
      heading: 'Patents',
      told: ['An apprentice invented a valve for kettles and received a tenth of the licence income.'],
      literal: 'Who invented a valve for kettles and received licence income?',
      asked: [
        'Did any apprentice earn royalties from an innovation?',
        'Did any trainee earn royalties from an innovation?',
      ],
    },
    {
      heading: 'Naps',
      told: ['A darkened room with hammocks may be used for twenty minutes during the night shift.'],
      literal: 'For how long may the room with hammocks be used during the night shift?',
      asked: [
        'Is it OK to take a short sleep in a hammock when working after midnight?',
        'Is it OK to take a short sleep when working after midnight?',
      ],
    },
    {
      heading: 'Strike',
      told: ['The strike over piece rates ended on its ninth day, when the owner’s widow stepped in.'],
      literal: 'When did the strike over piece rates end?',
      asked: ['Who settled the industrial strike about wages?', 'Who settled the industrial dispute about wages?'],
    },
  ],
  around: [
    'The canteen has new chairs, which scrape less.',
    'Jubilees are announced on the board by the time clock.',
    'The choir of the fitters rehearses in the old pattern shop.',
    'Visitors wear a yellow helmet and are never left alone.',
    'The showers are cleaned twice in each shift.',
    'Suggestions go into the wooden box and are read aloud once a quarter.',
    'The north gate remains shut while the crane track is renewed.',
    'A photograph of the founders hangs in the drawing office.',
  ],
}
