import type { Domain } from '../domain.ts'

export const clinic: Domain = {
  titles: ['Information for patients of the {name} Clinic', 'House rules and procedures, {name} Clinic'],
  shared: [
    {
      heading: 'Seeing patients',
      told: [
        'Relatives may come to the wards between noon and {time}, at most two at a bedside.',
        'At {name} no more than two relatives sit at a bedside, and they leave the wards at {time}.',
      ],
      literal: 'Until when may relatives come to the wards of {name}, and how many at a bedside?',
      asked: [
        'What are the visiting hours on the wards of {name} if I want to look in on my sick aunt?',
        'How many family members are permitted to see somebody hospitalised at {name} together?',
      ],
    },
    {
      heading: 'Before an operation',
      told: [
        'Nothing may be eaten for {number} hours ahead of an anaesthetic; clear tea is allowed until dawn.',
        'Ahead of an anaesthetic {name} asks that nothing be eaten for {number} hours, though clear tea is allowed until dawn.',
      ],
      literal: 'For how many hours ahead of an anaesthetic may nothing be eaten at {name}?',
      asked: [
        'How long must I fast prior to surgery at {name}, and can I drink tea in the morning?',
        'When should my final meal be if doctors at {name} are going to put me to sleep tomorrow?',
      ],
    },
    {
      heading: 'Prescriptions',
      told: [
        'Repeat prescriptions are ready {number} working hours after they were ordered and can be fetched from the hatch.',
        'The hatch at {name} hands out repeat prescriptions {number} working hours after they were ordered.',
      ],
      literal: 'How many working hours after ordering are repeat prescriptions ready at the {name} hatch?',
      asked: [
        'My pills are nearly used up; how soon will {name} renew the prescription and at which counter do I pick it up?',
        'How much notice does {name} need to issue more of the same medicine?',
      ],
    },
    {
      heading: 'Missed appointments',
      told: [
        'Whoever stays away without cancelling a day earlier is billed {money}.',
        '{name} bills {money} to whoever stays away from an appointment without cancelling a day earlier.',
      ],
      literal: 'How much is billed by {name} for staying away without cancelling a day earlier?',
      asked: [
        'What is the penalty at {name} when a forgetful person neither shows up to see the doctor nor cancels?',
        'Will I have to pay {name} anything if I do not turn up for my consultation?',
      ],
    },
    {
      heading: 'Records',
      told: [
        'A copy of the medical file is handed over within {number} days of a signed request, without charge the first time.',
        'Within {number} days of a signed request {name} hands over a copy of the medical file.',
      ],
      literal: 'Within how many days of a signed request does {name} hand over a copy of the medical file?',
      asked: [
        'I am moving abroad and want a copy of everything {name} keeps about my health; how long does that take?',
        'How can former patients obtain what {name} wrote down on their illness and treatment?',
      ],
    },
    {
      heading: 'Vaccination',
      told: [
        'Influenza jabs are given on {day} mornings by nurse {person}, with no appointment needed.',
        'No appointment is needed for the influenza jabs that nurse {person} gives at {name} on {day} mornings.',
      ],
      literal: 'On which mornings does a nurse give influenza jabs at {name} with no appointment?',
      asked: [
        'Who administers influenza shots at {name}, and can old people simply walk in without booking?',
        'When can I get immunised against seasonal flu at {name} and do I have to book?',
      ],
    },
    {
      heading: 'Interpreters',
      told: [
        'An interpreter for sign language or any of {number} spoken tongues is called in on request.',
        'On request {name} calls in an interpreter for sign language or one of {number} spoken tongues.',
      ],
      literal: 'Is an interpreter for sign language called in at {name} on request?',
      asked: [
        'My mother is deaf; can somebody translate with hand signs when she talks to physicians at {name}?',
        'Which help does {name} offer to foreigners who do not understand what the doctor says?',
      ],
    },
    {
      heading: 'Parking',
      told: [
        'Cars stand free for the first {number} minutes under the east wing, and a blood donor keeps the space all day.',
        'Under the east wing of {name} the first {number} minutes are free for cars, and a blood donor keeps the space all day.',
      ],
      literal: 'How many minutes may cars stand free under the east wing of {name}?',
      asked: [
        'Where can I leave my car when driving to {name} for a check-up, and is any parking fee due?',
        'Is there somewhere to park gratis at {name} for people who come to give plasma?',
      ],
    },
  ],
  single: [
    {
      heading: 'Therapy',
      told: [
        'Two alpacas visit the burns unit each fortnight, because stroking them eases the dread of dressing changes.',
      ],
      literal: 'Why do alpacas visit the burns unit each fortnight?',
      asked: [
        'Are there animals like alpacas that calm people who suffer from fire injuries?',
        'Are there woolly animals that calm people who suffer from fire injuries?',
      ],
    },
    {
      heading: 'Power',
      told: ['When lightning struck the substation, the diesel generator failed and incubators ran on a fire engine.'],
      literal: 'What ran on a fire engine after lightning struck the substation?',
      asked: [
        'How were incubators kept going during the blackout caused by a thunderstorm?',
        'How were premature babies kept safe during the blackout caused by a thunderstorm?',
      ],
    },
    {
      heading: 'Research',
      told: ['A trial showed that playing slow cello music shortened recovery after hip replacement by a day.'],
      literal: 'Which trial showed that cello music shortened recovery after hip replacement?',
      asked: [
        'Does listening to a cello help patients with a new joint to heal sooner?',
        'Does listening to a string instrument help patients with a new joint to heal sooner?',
      ],
    },
    {
      heading: 'Hygiene',
      told: ['Neckties are banned for staff since swabs proved that they carried germs from bed to bed.'],
      literal: 'Why are neckties banned for staff?',
      asked: [
        'Which item of clothing were staff told to stop wearing because it spread infection?',
        'Which item of clothing were doctors told to stop wearing because it spread infection?',
      ],
    },
  ],
  around: [
    'The corridors on the ground floor are being fitted with handrails in a contrasting colour.',
    'A chaplain of any faith can be reached through the switchboard.',
    'The herb beds in the courtyard are tended by former patients.',
    'Please do not move the beds or the monitors, even when they seem to stand in the way.',
    'Televisions are fitted with headphones, which can be kept.',
    'The lift nearest to the kitchen is reserved for trolleys.',
    'Valuables are best left at home, since the lockers are few.',
    'Staff wear coloured badges, and a poster explains who is who.',
  ],
}
