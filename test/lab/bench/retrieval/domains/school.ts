import type { Domain } from '../domain.ts'

export const school: Domain = {
  titles: ['Handbook for families of {name} School', 'Minutes of the governors of {name} School'],
  shared: [
    {
      heading: 'Mornings',
      told: [
        'The gate is locked at {time}, and pupils who arrive later must sign in at the office.',
        'At {time} the gate of {name} is locked; whoever arrives later signs in at the office.',
      ],
      literal: 'When is the gate of {name} locked and where must pupils sign in later?',
      asked: [
        'By what hour do pupils have to be inside {name}, and what happens to the tardy ones?',
        'By what hour do children have to be inside {name}, and what happens to the tardy ones?',
      ],
    },
    {
      heading: 'Lunch',
      told: [
        'A cooked lunch costs {money}, and dishes without meat are offered every day.',
        'For {money} {name} offers a cooked lunch, with a dish without meat every day.',
      ],
      literal: 'What does a cooked lunch cost at {name}, and are dishes without meat offered?',
      asked: [
        'How much do parents spend on a canteen lunch at {name}, and is there something for vegetarians?',
        'Can my vegetarian son eat in the cafeteria of {name}, and at what price?',
      ],
    },
    {
      heading: 'Clothing',
      told: [
        'A navy jumper with the crest is worn from the first form on; trainers are kept for the gymnasium.',
        'From the first form on, everyone at {name} wears a navy jumper with the crest and keeps trainers for the gymnasium.',
      ],
      literal: 'From which form on is a navy jumper with the crest worn at {name}?',
      asked: [
        'Is there a uniform at {name}, for example a particular jumper, and which footwear is banned in class?',
        'Is there a dress code at {name} for kids, for example about sweaters and footwear?',
      ],
    },
    {
      heading: 'Absence',
      told: [
        'Leave during term is granted only by {person}, who must receive a written request {number} days earlier.',
        'Only {person} grants leave from {name} during term, on a written request received {number} days earlier.',
      ],
      literal: 'Who grants leave from {name} during term on a written request?',
      asked: [
        'Whom do we ask if our family wants leave from {name} for a holiday, and how far ahead?',
        'How can a pupil get permission to be away from {name} for her cousin’s wedding?',
      ],
    },
    {
      heading: 'Homework',
      told: [
        'Written tasks for the evening should take no more than {number} minutes in the lower forms.',
        'In the lower forms of {name} written tasks for the evening take {number} minutes at most.',
      ],
      literal: 'How many minutes should written tasks for the evening take in the lower forms of {name}?',
      asked: [
        'How many minutes of homework do teachers give the youngest kids at {name}, roughly speaking?',
        'My little boy sits over his assignments from {name} until bedtime; what is the intended duration?',
      ],
    },
    {
      heading: 'Music',
      told: [
        'Instruments can be hired for {money} a term, and lessons are given in groups of three.',
        '{name} hires out instruments for {money} a term and gives lessons in groups of three.',
      ],
      literal: 'For how much a term can instruments be hired at {name}?',
      asked: [
        'Is it possible to borrow instruments from {name} instead of buying one, and what would it cost us?',
        'How does {name} teach children to play the trumpet or clarinet, alone or together with classmates?',
      ],
    },
    {
      heading: 'Illness',
      told: [
        'A child with a fever stays at home until {number} hours have passed without a raised temperature.',
        '{name} asks that a child with a fever stay at home until {number} hours have passed without a raised temperature.',
      ],
      literal:
        'How many hours without a raised temperature must have passed before a child with fever returns to {name}?',
      asked: [
        'When may my sick son attend classes at {name} again after he recovered from a fever?',
        'How long should an unwell kid be kept away from {name} following a bug?',
      ],
    },
    {
      heading: 'Excursions',
      told: [
        'One adult accompanies every {number} pupils on an excursion, and the route is left at the reception.',
        'On an excursion of {name} every {number} pupils are accompanied by one adult.',
      ],
      literal: 'How many pupils does one adult accompany on an excursion of {name}?',
      asked: [
        'How many grown-ups does {name} send along to supervise the pupils when classes go on outings?',
        'How many grown-ups does {name} send along when the children go on outings?',
      ],
    },
  ],
  single: [
    {
      heading: 'The orchard',
      told: ['Quinces from the orchard are boiled into jelly, and the profit buys goggles for chemistry.'],
      literal: 'What does the profit from quinces boiled into jelly buy?',
      asked: [
        'How is protective eyewear for the science lab funded by selling jelly?',
        'How is protective eyewear for the science lab funded by selling preserves?',
      ],
    },
    {
      heading: 'Roof',
      told: ['Hail the size of walnuts broke forty panes of the greenhouse during the botany examination.'],
      literal: 'What broke forty panes of the greenhouse?',
      asked: [
        'What damage did the hail do while candidates sat a test about plants?',
        'What damage did the bad weather do while candidates sat a test about plants?',
      ],
    },
    {
      heading: 'Chess',
      told: ['The chess circle defeated the police academy and was given a set carved from walrus bone.'],
      literal: 'Who defeated the police academy and was given a set carved from walrus bone?',
      asked: [
        'What prize did the winners of a chess match against young officers take home?',
        'What prize did the winners of a board game match against young officers take home?',
      ],
    },
    {
      heading: 'Telephone rule',
      told: ['Phones are put into a padded box at nine and given back after the last bell.'],
      literal: 'When are phones put into a padded box?',
      asked: [
        'How does the staff prevent students from using their phones in class?',
        'How does the staff prevent students from using mobile devices in class?',
      ],
    },
  ],
  around: [
    'The governors welcomed two new members and thanked the one who is leaving.',
    'The playground has a shaded corner where the younger ones can read.',
    'Lost property is displayed on a table in the hall before each holiday.',
    'Parents who can sew are warmly invited to help with the costumes.',
    'The clock above the entrance has been five minutes fast for as long as anyone can say.',
    'Reports are sent home at the end of each term.',
    'The pond is fenced, and newts have returned to it.',
    'A calendar of events hangs beside the staircase.',
  ],
}
