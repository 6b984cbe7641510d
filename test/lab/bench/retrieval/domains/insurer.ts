import type { Domain } from '../domain.ts'

export const insurer: Domain = {
  titles: ['{name} Mutual: conditions of household cover', '{name} Mutual: questions and answers'],
  shared: [
    {
      heading: 'Excess',
      told: [
        'The first {money} of every loss are borne by the policyholder.',
        'Of every loss {name} leaves the first {money} to be borne by the policyholder.',
      ],
      literal: 'How much of every loss is borne by the policyholder of {name}?',
      asked: [
        'What part of a loss must customers of {name} pay out of their own pocket before insurance steps in?',
        'Which amount does {name} not reimburse when a customer files a claim?',
      ],
    },
    {
      heading: 'Reporting',
      told: [
        'Burglary must be reported within {number} hours, together with the number of the police protocol.',
        'Within {number} hours burglary must be reported to {name} with the number of the police protocol.',
      ],
      literal: 'Within how many hours must burglary be reported to {name} with the police protocol?',
      asked: [
        'After a burglary in our flat, how soon should the tenant notify {name} and which document is required?',
        'What is the deadline at {name} for telling them that my home was robbed?',
      ],
    },
    {
      heading: 'Water',
      told: [
        'Damage from burst pipes is covered, but seepage that went unnoticed for more than {number} weeks is not.',
        '{name} covers damage from burst pipes, though not seepage that went unnoticed for more than {number} weeks.',
      ],
      literal: 'Does {name} cover burst pipes and seepage that went unnoticed for weeks?',
      asked: [
        'Will {name} reimburse me if burst plumbing flooded my kitchen, or a slow drip ruined the wall?',
        'Is a long-lasting leak behind the bathroom tiles something {name} pays for?',
      ],
    },
    {
      heading: 'Bicycles',
      told: [
        'A bicycle is covered up to {money} when it was fastened to something fixed with a listed lock.',
        'Up to {money} is given by {name} for a bicycle that was fastened to something fixed with a listed lock.',
      ],
      literal: 'Up to which sum is a bicycle with a listed lock covered by {name}?',
      asked: [
        'Somebody stole my bicycle outside the station; what compensation can I expect from {name}?',
        'How should I chain up my racer so that {name} cannot refuse to pay after a theft?',
      ],
    },
    {
      heading: 'Leaving',
      told: [
        'The contract can be ended {number} weeks before it renews, or at once after a loss was settled.',
        'A contract with {name} can be ended {number} weeks before it renews or at once after a loss was settled.',
      ],
      literal: 'How many weeks before it renews can a {name} contract be ended?',
      asked: [
        'What is the notice period if a dissatisfied customer wants to cancel a contract with {name} and switch?',
        'How does a dissatisfied customer get out of a policy from {name} and switch to another company?',
      ],
    },
    {
      heading: 'Valuables',
      told: [
        'Jewellery outside a safe is compensated up to {percent} of the insured sum.',
        '{name} compensates jewellery outside a safe up to {percent} of the insured sum.',
      ],
      literal: 'Up to how many per cent of the insured sum does {name} compensate jewellery outside a safe?',
      asked: [
        'Are jewellery and gold watches protected by {name} if they lie in an ordinary bedroom drawer?',
        'What share would {name} pay for stolen diamonds that had not been locked away?',
      ],
    },
    {
      heading: 'Away from home',
      told: [
        'Belongings in a hotel room abroad are protected for {number} days of each journey.',
        'For {number} days of each journey {name} protects belongings in a hotel room abroad.',
      ],
      literal: 'For how many days of each journey are belongings in a hotel room abroad protected by {name}?',
      asked: [
        'While our family is on vacation abroad, does {name} insure the suitcases against thieves?',
        'How long does my policy from {name} follow me when I travel overseas?',
      ],
    },
    {
      heading: 'Paying the premium',
      told: [
        'Whoever pays for the whole year in {month} is granted a rebate of {percent}.',
        'A rebate of {percent} is granted by {name} to whoever pays for the whole year in {month}.',
      ],
      literal: 'Which rebate is granted by {name} to whoever pays for the whole year?',
      asked: [
        'Is it cheaper with {name} to settle one annual bill for the year in advance instead of small instalments?',
        'How can clients of {name} get a cheaper annual bill by settling everything in advance?',
      ],
    },
  ],
  single: [
    {
      heading: 'Bees',
      told: ['Hives are insured against bears, provided that an electric fence of three wires surrounds them.'],
      literal: 'Are hives insured against bears with an electric fence?',
      asked: [
        'Can a beekeeper claim for destruction by bears looking for honey?',
        'Can a beekeeper claim for destruction by a large predator looking for honey?',
      ],
    },
    {
      heading: 'Drones',
      told: ['A drone that falls into a neighbour’s conservatory counts as liability and is settled without excess.'],
      literal: 'Does a drone that falls into a conservatory count as liability?',
      asked: [
        'Who pays when my drone smashes the glass next door?',
        'Who pays when my remote controlled aircraft smashes the glass next door?',
      ],
    },
    {
      heading: 'Freezers',
      told: ['Spoiled food in a freezer is paid for after a power cut that lasted longer than six hours.'],
      literal: 'When is spoiled food in a freezer paid for after a power cut?',
      asked: [
        'Will I be refunded for freezer meat that thawed because the electricity failed?',
        'Will I be refunded for meat that thawed because the electricity failed?',
      ],
    },
    {
      heading: 'Pianos',
      told: ['The transport of a grand piano by crane is excluded unless an endorsement was bought beforehand.'],
      literal: 'Is the transport of a grand piano by crane excluded?',
      asked: [
        'What if my piano is dropped while being hoisted through the window?',
        'What if my big musical instrument is dropped while being hoisted through the window?',
      ],
    },
  ],
  around: [
    'The words printed in italics are explained in the glossary.',
    'Letters are sent to the last address that was made known to us.',
    'Our assessors identify themselves with a card that shows a photograph.',
    'Photographs help, but please do not put yourself in danger to take them.',
    'The general assembly takes place in spring and is open to all members.',
    'Nothing in this leaflet changes the contract itself.',
    'Receipts may be handed in as scans.',
    'Complaints are read by somebody who was not involved before.',
  ],
}
