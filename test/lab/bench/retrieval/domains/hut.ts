import type { Domain } from '../domain.ts'

export const hut: Domain = {
  titles: ['{name} Hut: advice for walkers', 'Log of the wardens of {name} Hut'],
  shared: [
    {
      heading: 'Beds',
      told: [
        'There are {number} bunks under the roof, and a sleeping bag liner is compulsory.',
        'Under its roof {name} Hut has {number} bunks, for which a sleeping bag liner is compulsory.',
      ],
      literal: 'How many bunks does {name} Hut have, and is a sleeping bag liner compulsory?',
      asked: [
        'How many hikers find bunks at {name} overnight, and should our party pack its own linen?',
        'What is the overnight accommodation capacity of {name}, and is linen provided to guests?',
      ],
    },
    {
      heading: 'Water',
      told: [
        'The spring behind the woodshed dries up in {month}; from then on water is carried up in canisters.',
        'In {month} the spring behind the woodshed of {name} dries up and water is carried up in canisters.',
      ],
      literal: 'In which month does the spring behind the woodshed of {name} dry up?',
      asked: [
        'Can we refill our flasks with water at {name} late in the season, or does supply get scarce?',
        'When does {name} run out of something to drink from its natural source?',
      ],
    },
    {
      heading: 'The way up',
      told: [
        'From the {city} car park the marked path takes {number} quarter hours and crosses one cable bridge.',
        'The marked path from the {city} car park to {name} crosses one cable bridge and takes {number} quarter hours.',
      ],
      literal: 'How long does the marked path from the car park to {name} take with its cable bridge?',
      asked: [
        'What is the walking time on the path to {name} for hikers who leave their vehicle in the valley?',
        'Where does the trail to {name} start, and is there anything scary for people afraid of heights?',
      ],
    },
    {
      heading: 'Meals',
      told: [
        'Supper is dished up once, at {time}, and those who come later get bread and cheese.',
        'At {time} {name} dishes up supper, once only; whoever comes later gets bread and cheese.',
      ],
      literal: 'At what time is supper dished up at {name}, and who gets bread and cheese?',
      asked: [
        'When do guests eat supper at {name}, and what about hikers whose tour is delayed until dark?',
        'Will there still be a hot meal cooked at {name} if our tired party gets in after dark?',
      ],
    },
    {
      heading: 'Snow',
      told: [
        'The gully below the saddle avalanches after {number} centimetres of fresh snow and is then closed with a rope.',
        'After {number} centimetres of fresh snow the gully below the saddle near {name} is closed with a rope, since it avalanches.',
      ],
      literal: 'After how many centimetres of fresh snow is the gully near {name} closed with a rope?',
      asked: [
        'How much snow makes the winter approach to {name} too dangerous for skiers, so that it is blocked?',
        'Is there a risk of slides on the ski route near {name}, and who stops people from going?',
      ],
    },
    {
      heading: 'Paying',
      told: [
        'Members of the alpine club pay {money} a night, everyone else double, in coins or notes only.',
        'A night at {name} is {money} for members of the alpine club and double for everyone else, in coins or notes only.',
      ],
      literal: 'What do members of the alpine club pay a night at {name} in coins or notes?',
      asked: [
        'How expensive is a night at {name} for ordinary hikers, and are credit cards accepted?',
        'Is there a discount at {name} for people who belong to the mountaineering association?',
      ],
    },
    {
      heading: 'Warden',
      told: [
        'The warden is {person}, who also mends boots and reads the barometer aloud at breakfast.',
        '{person}, the warden of {name}, mends boots and reads the barometer aloud at breakfast.',
      ],
      literal: 'Which warden of {name} mends boots and reads the barometer at breakfast?',
      asked: [
        'Which warden looks after guests at {name} and could fix my broken footwear?',
        'What is the host of {name} called who announces the weather each morning?',
      ],
    },
    {
      heading: 'Emergencies',
      told: [
        'The nearest place with a telephone signal is the cairn {number} steps uphill from the flagpole.',
        'A telephone signal is found at the cairn {number} steps uphill from the flagpole of {name}.',
      ],
      literal: 'How many steps uphill from the flagpole of {name} is a telephone signal found?',
      asked: [
        'Where can hikers get a mobile signal around {name} to call for rescue after an accident?',
        'If somebody breaks a leg at {name}, how do we reach the outside world?',
      ],
    },
  ],
  single: [
    {
      heading: 'Marmots',
      told: ['Marmots chew the brake hoses of parked cars, so drivers wrap chicken wire around the wheels.'],
      literal: 'Why do drivers wrap chicken wire around the wheels?',
      asked: [
        'How can visitors protect their vehicle from marmots that gnaw on rubber?',
        'How can I protect my vehicle from rodents that gnaw on rubber?',
      ],
    },
    {
      heading: 'The bell',
      told: ['In fog the bronze bell is struck every five minutes until all parties in the book have come in.'],
      literal: 'When is the bronze bell struck every five minutes?',
      asked: [
        'How does a bell guide climbers back when visibility is poor?',
        'How are climbers guided back when visibility is poor?',
      ],
    },
    {
      heading: 'Energy',
      told: ['A turbine no bigger than a bucket makes electricity from the brook until it freezes over.'],
      literal: 'What makes electricity from the brook until it freezes over?',
      asked: [
        'Is there a turbine in the stream for the lamps, and does it function in winter?',
        'Is there hydropower for the lamps, and does it function in winter?',
      ],
    },
    {
      heading: 'Rescue',
      told: ['Two students were dug out alive after nine hours because their terrier would not stop barking.'],
      literal: 'Why were two students dug out alive after nine hours?',
      asked: [
        'How did a terrier save young people who had been buried?',
        'How did a pet save young people who had been buried?',
      ],
    },
  ],
  around: [
    'Boots are left in the porch, where the stove dries them overnight.',
    'The guest book goes back three generations and may be leafed through.',
    'Rubbish is carried down again by those who brought it.',
    'Choughs will take anything that is not held down.',
    'The shutters were painted last summer by apprentices from the village.',
    'A deck of cards and a guitar with five strings are in the cupboard.',
    'Stargazing is best from the bench on the north side.',
    'The blankets were aired in June and smell of hay.',
  ],
}
