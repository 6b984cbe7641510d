import type { Domain } from '../domain.ts'

export const museum: Domain = {
  titles: ['Visiting the {name} Museum', 'The {name} Museum: notes for staff and guides'],
  shared: [
    {
      heading: 'Admission',
      told: [
        'Adults pay {money}, and on the first {day} of the month nobody pays at all.',
        'Admission to {name} is {money} for adults, and nobody pays on the first {day} of the month.',
      ],
      literal: 'What do adults pay for admission to {name}, and when does nobody pay?',
      asked: [
        'How expensive are tickets for adults at {name}, and is there a date with free entry?',
        'Can visitors on a tight budget get into {name} without spending anything?',
      ],
    },
    {
      heading: 'Photographs',
      told: [
        'Photographs without flash are welcome except in the textile room, where the dyes fade.',
        'Except in the textile room, where the dyes fade, {name} welcomes photographs without flash.',
      ],
      literal: 'Are photographs without flash welcome at {name} except in the textile room?',
      asked: [
        'Are tourists permitted to take photographs of everything inside {name}, and where are cameras prohibited?',
        'Why does {name} forbid snapshots of historic fabrics?',
      ],
    },
    {
      heading: 'Tours',
      told: [
        'Guided tours start beneath the whale skeleton at {time} and last an hour.',
        'Beneath the whale skeleton of {name} guided tours start at {time} and last an hour.',
      ],
      literal: 'At what time do guided tours start beneath the whale skeleton of {name}?',
      asked: [
        'What is the meeting point for a guided walk with an expert through {name}, and its duration?',
        'What is the meeting point for the walk with a docent through {name}, and its duration?',
      ],
    },
    {
      heading: 'Climate',
      told: [
        'The vault is held at {number} per cent humidity, and a paper strip records every change.',
        'In the vault of {name} humidity is held at {number} per cent, with a paper strip that records every change.',
      ],
      literal: 'At how many per cent is humidity in the vault of {name} held?',
      asked: [
        'How moist is the air in the vault of {name}, and which instrument monitors the conditions?',
        'Which environmental conditions does {name} maintain so that objects do not decay?',
      ],
    },
    {
      heading: 'Loans',
      told: [
        'Objects are lent to other houses for {number} weeks at most and never without a courier.',
        '{name} lends objects to other houses for {number} weeks at most, and never without a courier.',
      ],
      literal: 'For how many weeks at most does {name} lend objects to other houses?',
      asked: [
        'How long may a foreign gallery borrow objects owned by {name}, and which escort travels along?',
        'Under what terms can an exhibition elsewhere show artefacts from {name}?',
      ],
    },
    {
      heading: 'Restoration',
      told: [
        '{person} has been cleaning the altarpiece with cotton buds since {year} and works behind a window.',
        'Behind a window at {name} {person} has been cleaning the altarpiece with cotton buds since {year}.',
      ],
      literal: 'Who has been cleaning the altarpiece at {name} with cotton buds?',
      asked: [
        'Which restorer removes dirt from the altarpiece at {name}, and may the public watch?',
        'Which restorer removes dirt from a sacred artwork at {name}?',
      ],
    },
    {
      heading: 'Cloakroom',
      told: [
        'Rucksacks and prams stay in the lockers by the coat racks, which take a coin of {number} cents and give it back.',
        'At {name} rucksacks and prams go into the lockers by the coat racks against a coin of {number} cents.',
      ],
      literal: 'Where do rucksacks and prams stay at {name}, and which coin do the lockers take?',
      asked: [
        'Where do parents deposit a rucksack and the baby buggy before entering the galleries of {name}?',
        'Is depositing luggage at {name} free, and is any deposit refunded?',
      ],
    },
    {
      heading: 'Children',
      told: [
        'Each {day} afternoon children cast coins from tin in the workshop, for ages {number} and up.',
        'In the workshop of {name} children cast coins from tin each {day} afternoon.',
      ],
      literal: 'On which afternoon do children cast coins from tin in the workshop of {name}?',
      asked: [
        'Is there a workshop with some hands-on metal activity for young visitors at {name}?',
        'What can kids make themselves at {name}, and how old must they be?',
      ],
    },
  ],
  single: [
    {
      heading: 'Theft',
      told: ['A jade buckle vanished during a concert and was posted back anonymously eleven years afterwards.'],
      literal: 'Which buckle vanished during a concert and was posted back anonymously?',
      asked: [
        'Did the stolen jade jewellery return, and how did the thief send it?',
        'Did any stolen piece of jewellery return, and how did the thief send it?',
      ],
    },
    {
      heading: 'Forgery',
      told: ['Pigment analysis found titanium white on the Madonna, which exposed the panel as a modern fake.'],
      literal: 'What exposed the Madonna panel as a modern fake?',
      asked: [
        'How did chemists prove that an allegedly medieval Madonna was counterfeit?',
        'How did chemists prove that an allegedly medieval picture was counterfeit?',
      ],
    },
    {
      heading: 'Night watch',
      told: ['A falcon is flown at dusk to keep pigeons from the marble frieze.'],
      literal: 'Why is a falcon flown at dusk?',
      asked: [
        'How are pigeons discouraged from soiling stone sculptures?',
        'How are birds discouraged from soiling stone sculptures?',
      ],
    },
    {
      heading: 'Shop',
      told: ['Replica amulets were withdrawn because the enamel contained lead.'],
      literal: 'Why were replica amulets withdrawn?',
      asked: [
        'Which amulets are no longer sold as souvenirs on account of a toxic substance?',
        'Which souvenirs are no longer sold on account of a toxic substance?',
      ],
    },
  ],
  around: [
    'The café in the courtyard closes a little before the galleries do.',
    'Benches have been placed in every second room after many requests.',
    'Labels are printed in a larger type than before.',
    'The staircase of cast iron is itself listed as a monument.',
    'School classes sketch in the cast gallery on quiet mornings.',
    'The shop sells postcards of nearly everything on display.',
    'A model of the town as it was before the fire stands near the entrance.',
    'Guides carry a small torch to point out details.',
  ],
}
