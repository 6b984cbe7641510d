import type { Domain } from '../domain.ts'

export const machine: Domain = {
  titles: ['{name} bottling line: instructions for use', '{name} bottling line: maintenance manual'],
  shared: [
    {
      heading: 'Starting up',
      told: [
        'Turn the main switch to II and wait {number} seconds until the drum has reached its speed.',
        'On the {name} line, turn the main switch to II and wait {number} seconds until the drum has reached its speed.',
      ],
      literal: 'How many seconds until the drum of the {name} line has reached its speed after the main switch?',
      asked: [
        'How does an operator switch the {name} equipment on in the morning, and is there a delay until it is operational?',
        'What is the correct procedure to get the {name} unit going in the morning?',
      ],
    },
    {
      heading: 'Lubrication',
      told: [
        'Grease the bearings of the conveyor after every {number} operating hours with a lithium soap.',
        'After every {number} operating hours the conveyor bearings of the {name} line are greased with a lithium soap.',
      ],
      literal: 'After how many operating hours are the conveyor bearings of the {name} line greased?',
      asked: [
        'How frequently should bearings of the {name} equipment be oiled, and which product is suitable?',
        'What lubricant does a technician apply to the {name} unit, and at what interval?',
      ],
    },
    {
      heading: 'Jams',
      told: [
        'When a flask is wedged, press the red mushroom, lift the hood and pull the flask out backwards with tongs.',
        'When a flask is wedged in the {name} line, press the red mushroom, lift the hood and pull it out backwards with tongs.',
      ],
      literal: 'What is pressed and lifted when a flask is wedged in the {name} line?',
      asked: [
        'A flask got stuck inside the {name} equipment; how do I safely remove it?',
        'How should operators clear a blockage in the {name} unit without hurting their hands?',
      ],
    },
    {
      heading: 'Cleaning',
      told: [
        'Rinse the nozzles with citric acid of {percent} and then twice with water from the mains.',
        'The nozzles of the {name} line are rinsed with citric acid of {percent}, then twice with water from the mains.',
      ],
      literal: 'With which citric acid are the nozzles of the {name} line rinsed?',
      asked: [
        'How does a technician get rid of stubborn limescale in the nozzles of the {name} equipment?',
        'What solution should be used to wash the filling heads on the {name} unit?',
      ],
    },
    {
      heading: 'Warning lights',
      told: [
        'Three amber flashes mean that the air pressure fell below {number} kilopascal; look for a leaking hose first.',
        'On the {name} line three amber flashes mean air pressure below {number} kilopascal, so look for a leaking hose first.',
      ],
      literal: 'What do three amber flashes mean on the {name} line for the air pressure?',
      asked: [
        'An amber lamp keeps blinking on the {name} equipment; what fault does it indicate?',
        'How does the {name} unit signal that its pneumatics are losing compression?',
      ],
    },
    {
      heading: 'Electric supply',
      told: [
        'Connect the cabinet to three phases with a fuse of {number} amperes, never through an extension lead.',
        'The cabinet of the {name} line is connected to three phases with a fuse of {number} amperes, never through an extension lead.',
      ],
      literal: 'With a fuse of how many amperes is the cabinet of the {name} line connected to three phases?',
      asked: [
        'Which fuse rating should an electrician choose as suitable for plugging in the {name} unit?',
        'Which circuit breaker rating is suitable for plugging in the {name} unit?',
      ],
    },
    {
      heading: 'Guards',
      told: [
        'The interlock of the glass door may be bridged only by {person} and only at crawling speed.',
        'Only {person} may bridge the interlock of the glass door on the {name} line, and only at crawling speed.',
      ],
      literal: 'Who may bridge the interlock of the glass door on the {name} line at crawling speed?',
      asked: [
        'Who is authorised to override the safety interlock on the {name} equipment during adjustments?',
        'Can a mechanic disable the protective cover sensor of the {name} unit to watch it run?',
      ],
    },
    {
      heading: 'Spares',
      told: [
        'Belts and gaskets are kept in stock for {number} years after the last delivery and leave the depot overnight.',
        'For {number} years after the last delivery belts and gaskets of the {name} line are kept in stock.',
      ],
      literal: 'For how many years are belts and gaskets of the {name} line kept in stock?',
      asked: [
        'If one of the gaskets wears out on our old {name} unit, can the manufacturer still supply replacement parts?',
        'If a seal wears out on our old {name} unit, can we still order another one?',
      ],
    },
  ],
  single: [
    {
      heading: 'Noise',
      told: ['Above the capping turret hearing protection is needed, since ninety decibels were measured there.'],
      literal: 'Where is hearing protection needed for ninety decibels?',
      asked: [
        'In which spot should workers wear ear protection because it is so loud?',
        'In which spot should workers wear earmuffs because it is so loud?',
      ],
    },
    {
      heading: 'Moving',
      told: ['Before the frame is moved by forklift, bolt the pendulum with the blue shipping bracket.'],
      literal: 'What is bolted with the blue shipping bracket before the forklift?',
      asked: [
        'How do I secure the pendulum when relocating the apparatus to a different hall?',
        'How do I secure the swinging component when relocating the apparatus to a different hall?',
      ],
    },
    {
      heading: 'Foam',
      told: ['If beer foams over, lower the filling temperature by two degrees or lengthen the settling pause.'],
      literal: 'What is lowered if beer foams over?',
      asked: [
        'What adjustments help against too much foam spilling from carbonated drinks?',
        'What adjustments help against too much froth spilling from carbonated drinks?',
      ],
    },
    {
      heading: 'Software',
      told: ['Recipe R-2207 must not be loaded with returnable glass, because its grippers close too hard.'],
      literal: 'Why must recipe R-2207 not be loaded with returnable glass?',
      asked: [
        'Which recipe would crush deposit bottles with excessive force?',
        'Which program would crush deposit bottles with excessive force?',
      ],
    },
  ],
  around: [
    'Figures in brackets refer to the drawing at the end of the booklet.',
    'The panel remembers the last twenty batches.',
    'Wear shoes with a firm sole in the whole hall.',
    'Torque values are printed on the frame next to each bolt.',
    'Keep this booklet in the pocket of the cabinet.',
    'The serial number is stamped into the plate behind the ladder.',
    'Filters from other makers have not been tested.',
    'The colours of the hoses follow the usual standard.',
  ],
}
