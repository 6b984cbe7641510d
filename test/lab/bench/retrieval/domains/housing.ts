import type { Domain } from '../domain.ts'

export const housing: Domain = {
  titles: ['Rules of the {name} Court housing cooperative', 'Letter to residents of {name} Court'],
  shared: [
    {
      heading: 'Noise',
      told: [
        'Drills and hammers rest from {time} in the evening, and all day on Sundays.',
        'From {time} in the evening, and all day on Sundays, drills and hammers rest in {name} Court.',
      ],
      literal: 'From when in the evening do drills and hammers rest in {name} Court?',
      asked: [
        'Until how late in the evening may I do noisy renovation work in my apartment at {name}?',
        'Is loud home improvement prohibited at weekends by the rules of {name}?',
      ],
    },
    {
      heading: 'Laundry',
      told: [
        'The drying loft is allotted by the week; names are entered on the slate by the boiler.',
        'In {name} Court the drying loft is allotted by the week to those who enter their names on the slate by the boiler.',
      ],
      literal: 'Where are names entered for the drying loft of {name} Court?',
      asked: [
        'How do tenants of {name} sign up for the loft to hang their wet clothes?',
        'Where can I put my washing after the machine in {name}, and do I need to register?',
      ],
    },
    {
      heading: 'Deposit',
      told: [
        'A new tenant pays a deposit of {number} hundred euros, which earns interest and is returned {number2} weeks after the keys.',
        '{name} Court takes a deposit of {number} hundred euros from a new tenant and returns it {number2} weeks after the keys.',
      ],
      literal: 'What deposit does a new tenant of {name} Court pay, and when is it returned?',
      asked: [
        'After somebody moves out of {name}, how soon is the deposit transferred to their bank account?',
        'How much must be put down as a guarantee for renting a flat in {name}?',
      ],
    },
    {
      heading: 'Heating',
      told: [
        'Radiators are switched on when three days in a row stay below {number} degrees, whatever the calendar says.',
        'Whatever the calendar says, {name} Court switches the radiators on when three days in a row stay below {number} degrees.',
      ],
      literal: 'Below how many degrees are the radiators of {name} Court switched on?',
      asked: [
        'What outdoor temperature makes the caretaker of {name} turn on the radiators in autumn?',
        'What outdoor temperature triggers the warm season for the boilers at {name}?',
      ],
    },
    {
      heading: 'Bins',
      told: [
        'Glass and paper are collected on {day}, and the bins must stand at the kerb by dawn.',
        'On {day} glass and paper are collected from {name} Court, with the bins at the kerb by dawn.',
      ],
      literal: 'On which day are glass and paper collected from the bins of {name} Court?',
      asked: [
        'When does the recycling lorry come to {name}, and does the caretaker wheel the bins out to the street?',
        'What is the schedule for disposing of bottles and cardboard at {name}?',
      ],
    },
    {
      heading: 'Guests',
      told: [
        'The guest flat in the gatehouse can be had for {number} nights in a row at {money} each.',
        'At {money} a night the guest flat in the gatehouse of {name} Court can be had for {number} nights in a row.',
      ],
      literal: 'For how many nights in a row can the guest flat in the gatehouse of {name} Court be had?',
      asked: [
        'My parents are coming to see us at {name}; is there a guest apartment on the premises where both could sleep?',
        'How long may visitors rent the spare accommodation of {name}, and what is the price?',
      ],
    },
    {
      heading: 'Lift',
      told: [
        'If the lift sticks, press the yellow knob for {number} seconds; the engineer is {person}.',
        'Press the yellow knob for {number} seconds if the lift of {name} Court sticks; {person} is the engineer.',
      ],
      literal: 'What is pressed for how many seconds if the lift of {name} Court sticks?',
      asked: [
        'I am trapped in the lift at {name} between two floors; how do I raise the alarm and call a technician?',
        'Who repairs the elevator in {name} when it breaks down?',
      ],
    },
    {
      heading: 'Pets',
      told: [
        'One cat or one dog is allowed in each dwelling, and reptiles need the consent of the board.',
        '{name} Court allows one cat or one dog in each dwelling; reptiles need the consent of the board.',
      ],
      literal: 'Is one cat or dog allowed in each dwelling of {name} Court, and do reptiles need consent?',
      asked: [
        'Could a tenant keep reptiles such as a snake or a lizard in an apartment at {name}, and who must approve?',
        'What animals may tenants have at {name}, for instance a puppy or two kittens?',
      ],
    },
  ],
  single: [
    {
      heading: 'Roof garden',
      told: ['Tomatoes may be planted on the roof as long as the tubs weigh less than a person when wet.'],
      literal: 'May tomatoes be planted in tubs on the roof?',
      asked: [
        'Are neighbours permitted to grow tomatoes up on top of the building, and how heavy can containers be?',
        'Are neighbours permitted to grow vegetables up on top of the building, and how heavy can containers be?',
      ],
    },
    {
      heading: 'Asbestos',
      told: [
        'Asbestos was found behind the meter cupboards, so nobody should bore holes there until men in suits have been.',
      ],
      literal: 'Where was asbestos found behind cupboards?',
      asked: [
        'Is there asbestos in the walls, making it unsafe to put up shelves?',
        'What hazardous material is in the walls, making it unsafe to put up shelves?',
      ],
    },
    {
      heading: 'Mural',
      told: ['The mural of flying pike on the gable was voted for by sixty households and against by eleven.'],
      literal: 'How many households voted for the mural of flying pike?',
      asked: [
        'What was the result of the ballot about painting a mural onto the facade?',
        'What was the result of the ballot about painting fish onto the facade?',
      ],
    },
    {
      heading: 'Prams',
      told: ['Prams chained to the banister are cut loose by the fire brigade at the owner’s expense.'],
      literal: 'Who cuts loose prams chained to the banister?',
      asked: [
        'What happens with prams that obstruct the escape route in the stairwell?',
        'What happens with buggies that obstruct the escape route in the stairwell?',
      ],
    },
  ],
  around: [
    'The lime trees in the yard will be pruned as soon as the fledglings have left.',
    'Thanks to all who shovelled snow without being asked.',
    'The notice board is cleared on the first of the month.',
    'A borrowed ladder is still missing from the cellar corridor.',
    'The new letter boxes are a little narrower than the old ones.',
    'The summer feast was rained on and went on under umbrellas.',
    'Please air the stairwell rather than scent it.',
    'The board meets on odd weeks and can be spoken to afterwards.',
  ],
}
