import type { Chance } from './chance.ts'

const fronts = 'Lark,Raven,Ash,Tind,Corrie,Wex,Hollin,Marrow,Pen,Quill,Thorn,Oak,Sel,Bracken'.split(',')
const backs = 'spur,moor,grove,combe,hallow,by,haven,dale,wick'.split(',')

/** What something is called; some things are called the same, and many alike. */
export const names: readonly string[] = fronts.flatMap((front) => backs.map((back) => front + back))

const people = (
  'Agnes Holm,Tobias Wren,Mirela Popa,Kofi Mensah,Ingrid Saar,Luis Ortega,Hana Novak,Pieter Vos,Amina Diallo,Rhys Morgan,' +
  'Yuki Tanabe,Clara Benz,Dmitri Levin,Noor Haddad,Oskar Lind,Bridget Quinn'
).split(',')
const cities = 'Bergen,Toulouse,Graz,Porto,Lublin,Turku,Ghent,Parma,Malmö,Brno'.split(',')
const days = 'Monday,Tuesday,Wednesday,Thursday,Friday'.split(',')
const months = 'January,March,April,May,June,July,August,September,October,November'.split(',')
const times =
  'four,half past four,five,a quarter past five,half past six,seven,a quarter to eight,eight,half past nine'.split(',')

/** A value for a place that a sentence leaves open. */
export const fillings = (slot: string, luck: Chance): string => {
  switch (slot) {
    case 'person':
      return luck.pick(people)
    case 'city':
      return luck.pick(cities)
    case 'day':
      return luck.pick(days)
    case 'month':
      return luck.pick(months)
    case 'time':
      return luck.pick(times)
    case 'money':
      return `${2 + luck.below(88)} euros`
    case 'percent':
      return `${3 + luck.below(60)} per cent`
    case 'year':
      return `${1975 + luck.below(45)}`
    default:
      return `${2 + luck.below(60)}`
  }
}

/** What could stand in any document. */
export const general: readonly string[] = [
  'This page replaces the one that was handed out before.',
  'Whoever finds a mistake here is asked to tell us, however small it seems.',
  'Large parts were rewritten after readers said that they could not follow.',
  'A shorter version in plain language can be had on request.',
  'We were helped by many people whose names would not fit here.',
  'What is said about the past rests on letters and on memory.',
  'Some of the details may differ from one season to the next.',
  'The drawings were made by hand and are not to scale.',
  'Older copies should be thrown away so that nobody relies on them.',
  'Questions are best put early in the week, when things are calmer.',
  'An overview of everything stands on the last sheet.',
  'Nothing has changed in this chapter since the previous edition.',
  'It is worth reading the whole text once before it is needed.',
  'Much of it has grown over the years, and it shows.',
  'The weather has been kind, which everybody agreed was about time.',
  'There was coffee, and the conversation went on longer than planned.',
]
