import type { Domain } from '../domain.ts'

export const library: Domain = {
  titles: ['A guide for readers of {name} Library', 'Annual notes of the {name} Library committee'],
  shared: [
    {
      heading: 'When we are open',
      told: [
        'On Saturdays {name} Library shuts its doors at {time}, two hours earlier than from Monday to Friday.',
        'Saturday visitors should note that closing is at {time}, well before the usual evening bell.',
      ],
      literal: 'When does {name} Library shut its doors on Saturdays?',
      asked: [
        'Until how late may students stay and work quietly at {name} on a Saturday?',
        'How late can I still pick up novels from {name} if I am only free at the end of the week?',
      ],
    },
    {
      heading: 'Overdue loans',
      told: [
        'A book that comes back late costs {money} for each week it is overdue, and the charge stops growing after ten weeks.',
        'Overdue loans are charged at {money} a week, up to a ceiling of ten weeks.',
      ],
      literal: 'What is charged at {name} for each week a book is overdue?',
      asked: [
        'What penalty does {name} impose if I forgot to return a borrowed book by the deadline?',
        'How large a fine must be paid to {name} after keeping a borrowed volume longer than permitted?',
      ],
    },
    {
      heading: 'Membership',
      told: [
        'A reader under sixteen joins {name} without paying, provided that a parent signs the form.',
        'Those younger than sixteen join free of charge once a parent has put a signature on the form.',
      ],
      literal: 'Can a reader under sixteen join {name} free when a parent signs the form?',
      asked: [
        'My niece is twelve; what must her parents do before she is given a borrowing card for {name}?',
        'What do teenagers have to do to get a borrowing card at {name}, and is there a fee?',
      ],
    },
    {
      heading: 'Rooms for groups',
      told: [
        'The meeting room beside the atlas shelves holds {number} people and is booked at the front desk.',
        'Groups of up to {number} people may book the meeting room through the front desk of {name}.',
      ],
      literal: 'How many people does the meeting room of {name} hold and where is it booked?',
      asked: [
        'Our reading circle needs a space to gather at {name}; how many people would fit and whom do we talk to?',
        'How do I reserve a place for a club session inside {name}, and for what headcount?',
      ],
    },
    {
      heading: 'Printing and copying',
      told: [
        'Black and white printing costs {number} cents a page at {name}, colour three times as much.',
        'At the copier each printed page is {number} cents in black and white and triple that in colour.',
      ],
      literal: 'What does colour printing cost a page at {name}?',
      asked: [
        'I want my dissertation on paper; how expensive is it to run a page off at {name}?',
        'What would I spend at {name} on hard copies of a document from my memory stick?',
      ],
    },
    {
      heading: 'Books we do not hold',
      told: [
        'Titles that are missing from the shelves can be requested from partner libraries and arrive within {number} days.',
        'Through the exchange with partner libraries, {name} obtains a missing title within {number} days.',
      ],
      literal: 'Within how many days does a missing title arrive at {name} from partner libraries?',
      asked: [
        'If {name} lacks the novel I am after, how many days until another institution sends a copy over?',
        'How quickly will something that {name} does not own be borrowed on my behalf from elsewhere?',
      ],
    },
    {
      heading: 'The quiet floor',
      told: [
        'On the second floor of {name} telephones must be silent and no food is allowed, only water in a closed bottle.',
        'No food and no ringing telephones are tolerated on the second floor; water in a closed bottle is fine.',
      ],
      literal: 'Is food allowed on the second floor of {name}, or only water in a closed bottle?',
      asked: [
        'May I eat my sandwich or take a call upstairs at {name}, or is such food banned?',
        'What are the rules about snacks and mobiles in the study area upstairs at {name}?',
      ],
    },
    {
      heading: 'People who help',
      told: [
        'Every {day} a volunteer named {person} teaches beginners how to use the catalogue computers.',
        '{person}, a volunteer at {name}, explains the catalogue computers to beginners every {day}.',
      ],
      literal: 'Which volunteer teaches beginners the catalogue computers at {name}?',
      asked: [
        'Who gives beginners lessons at {name} in finding novels on the search terminals?',
        'My grandmother is afraid of the screens at {name}; is there somebody patient who shows seniors around them?',
      ],
    },
  ],
  single: [
    {
      heading: 'A gift',
      told: [
        'A retired sea captain left us his collection of star charts from the age of sail, which now hang in the stairwell.',
      ],
      literal: 'Which retired captain left a collection of star charts?',
      asked: [
        'Which old mariner bequeathed his charts of the night sky?',
        'Which old mariner bequeathed maps of the night sky?',
      ],
    },
    {
      heading: 'Repairs',
      told: [
        'Termites were discovered in the oak panelling of the rare prints cabinet, and a specialist fumigated it.',
      ],
      literal: 'Where were termites discovered in oak panelling?',
      asked: [
        'What happened with the insects that infested antique oak furniture?',
        'What happened with the wood eating insects that infested antique furniture?',
      ],
    },
    {
      heading: 'On the road',
      told: [
        'A converted horse trailer brings picture books to the villages in the hills, where no bus has run since the landslide.',
      ],
      literal: 'What brings picture books to the villages in the hills?',
      asked: [
        'How do remote hill communities without public transport get books to read to their children?',
        'How do remote mountain communities without public transport get something to read for their children?',
      ],
    },
    {
      heading: 'Sound archive',
      told: ['Wax cylinders with lullabies sung by weavers were transferred to digital files by a sound engineer.'],
      literal: 'Who transferred the wax cylinders with lullabies to digital files?',
      asked: [
        'Were historical recordings of lullabies preserved electronically?',
        'Were historical recordings of bedtime songs preserved electronically?',
      ],
    },
  ],
  around: [
    'The reading lamps were replaced this spring, and many regulars have remarked on the warmer light.',
    'Lost umbrellas are kept behind the desk until the end of the season.',
    'A small exhibition of bookplates can be seen in the entrance hall.',
    'The returns slot beside the gate is emptied every morning before the first visitors arrive.',
    'Our poetry shelf has grown by forty volumes, most of them in translation.',
    'The committee thanks everyone who carried boxes during the move of the periodicals.',
    'Bicycles lean against the east wall, which is tolerated as long as the ramp stays clear.',
    'Schools are asked to announce visits of whole classes in advance.',
  ],
}
