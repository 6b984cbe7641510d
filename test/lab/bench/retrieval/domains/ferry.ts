import type { Domain } from '../domain.ts'

export const ferry: Domain = {
  titles: ['Travelling with the {name} Ferry', 'Operating rules of the {name} Ferry line'],
  shared: [
    {
      heading: 'Last sailing',
      told: [
        'The last boat of the evening leaves the mainland pier at {time}; after that only a water taxi crosses.',
        'After the final sailing at {time} nothing but a water taxi leaves the mainland pier.',
      ],
      literal: 'At what time does the last {name} boat of the evening leave the mainland pier?',
      asked: [
        'If my train gets in late in the evening, how can I still reach the island with {name}?',
        'What is the deadline after dinner for getting over to the island on {name}?',
      ],
    },
    {
      heading: 'Animals',
      told: [
        'Dogs travel free on {name} when they wear a muzzle and stay on the open deck.',
        'A muzzled dog that remains on the open deck needs no ticket.',
      ],
      literal: 'Do dogs travel free on {name} when they wear a muzzle on the open deck?',
      asked: [
        'Can I bring my dog along with {name} on holiday, and would its fare cost anything?',
        'What conditions apply on {name} for passengers who come with a four-legged companion?',
      ],
    },
    {
      heading: 'Vehicles',
      told: [
        'Motorhomes longer than {number} feet must be reserved by telephone, since the car deck has a single tall lane.',
        'A single tall lane on the car deck of {name} means that motorhomes above {number} feet need a reservation by telephone.',
      ],
      literal: 'Must motorhomes be reserved by telephone for the car deck of {name}?',
      asked: [
        'We drive a big motorhome; do we have to arrange a spot on {name} ahead of our trip?',
        'Are there limits at {name} for holidaymakers touring with oversized recreational vehicles?',
      ],
    },
    {
      heading: 'When the sea is rough',
      told: [
        'Crossings are cancelled when gusts exceed {number} knots, and the harbour office raises a red flag.',
        'The harbour office of {name} raises a red flag and cancels crossings in gusts above {number} knots.',
      ],
      literal: 'Above how many knots are {name} crossings cancelled and a red flag raised?',
      asked: [
        'How strong must gusts blow before {name} stops running, and how would passengers learn of it?',
        'What wind speed makes {name} call off its trips, and is there any signal to look for?',
      ],
    },
    {
      heading: 'Concessions',
      told: [
        'Pensioners and students receive {percent} off the ordinary fare on weekdays.',
        'On weekdays the ordinary fare of {name} is reduced by {percent} for pensioners and students.',
      ],
      literal: 'How much is taken off the ordinary {name} fare for pensioners and students on weekdays?',
      asked: [
        'Is there a discount with {name} for students, retired people or anybody else with little money?',
        'How much cheaper does {name} get for elderly passengers and young folk in education?',
      ],
    },
    {
      heading: 'Luggage',
      told: [
        'A trunk or crate over {number} kilograms goes into the hold and must be handed in before boarding begins.',
        'Before boarding begins, {name} takes trunks and crates over {number} kilograms into the hold.',
      ],
      literal: 'Must a crate over so many kilograms be handed in for the hold before boarding {name}?',
      asked: [
        'What is to be done at {name} with a very heavy trunk that no single person could carry up the gangway steps?',
        'From what weight on does {name} demand that bulky belongings be stowed below?',
      ],
    },
    {
      heading: 'Help on board',
      told: [
        'Passengers in wheelchairs are met at the ramp by a crew member if they announce themselves a day earlier.',
        'A crew member of {name} meets passengers in wheelchairs at the ramp, provided they announce themselves a day earlier.',
      ],
      literal: 'Are passengers in wheelchairs met at the ramp of {name} by a crew member?',
      asked: [
        'My father uses a wheelchair; will staff at {name} assist him if I notify them the previous afternoon?',
        'How does somebody with a disability arrange support for getting onto {name}?',
      ],
    },
    {
      heading: 'Food on board',
      told: [
        'The galley serves soup and flatbread until the halfway buoy; afterwards only the coffee machine works.',
        'Soup and flatbread come out of the galley of {name} until the halfway buoy is passed, then only the coffee machine works.',
      ],
      literal: 'Until where does the galley of {name} serve soup and flatbread?',
      asked: [
        'Can hungry passengers get a bowl of soup while travelling with {name}, and when does the kitchen stop cooking?',
        'What is there to eat during the voyage on {name}, and when does the kitchen stop?',
      ],
    },
  ],
  single: [
    {
      heading: 'History',
      told: ['In the winter of the great frost the strait froze, and mail was hauled over the ice on sledges.'],
      literal: 'When was mail hauled over the ice on sledges?',
      asked: [
        'How were letters carried across the ice in the coldest season anyone remembers?',
        'How were letters delivered in the coldest season anyone remembers?',
      ],
    },
    {
      heading: 'Propulsion',
      told: ['The newest vessel runs on batteries that are topped up by a robotic arm at either quay.'],
      literal: 'Which vessel runs on batteries topped up by a robotic arm?',
      asked: [
        'Is there a ship with batteries, and how does it get recharged in port?',
        'Is there an electric ship, and how is it recharged in port?',
      ],
    },
    {
      heading: 'Wildlife',
      told: ['Skippers slow to walking pace where porpoises calve, in a zone marked by yellow spars.'],
      literal: 'Where do skippers slow down because porpoises calve?',
      asked: [
        'What do skippers do to protect marine mammals with newborns?',
        'What do captains do to protect marine mammals with newborns?',
      ],
    },
    {
      heading: 'Weddings',
      told: ['Couples may be married by the master in midstream, weather allowing, with at most forty guests.'],
      literal: 'May couples be married by the master in midstream with forty guests?',
      asked: [
        'Is it possible for couples to hold their wedding out on the water, and how many relatives can attend?',
        'Is it possible to hold our nuptials out on the water, and how many relatives can attend?',
      ],
    },
  ],
  around: [
    'The ticket office has been repainted in the old company colours, cream and bottle green.',
    'Gulls are quick, and children are advised not to hold sandwiches over the rail.',
    'A timetable in large print hangs beside the vending machines.',
    'Life jackets are stowed under the benches and in the lockers amidships.',
    'Photographs of earlier vessels line the passage to the saloon.',
    'The pier was resurfaced after the spring tides lifted several planks.',
    'Announcements are made in two languages, the second of them briefly.',
    'Smoking is confined to the stern, behind the funnel.',
  ],
}
