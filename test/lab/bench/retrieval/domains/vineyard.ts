import type { Domain } from '../domain.ts'

export const vineyard: Domain = {
  titles: ['The {name} Estate and its wines', 'Cellar book of the {name} Estate'],
  shared: [
    {
      heading: 'Harvest',
      told: [
        'Picking begins in the second week of {month}, always before sunrise while the grapes are cool.',
        'At {name} picking starts before sunrise in the second week of {month} so that the grapes are still cool.',
      ],
      literal: 'In which week does picking of the grapes begin at {name} before sunrise?',
      asked: [
        'What season do labourers of {name} gather the grapes, and why do they rise so early?',
        'What is the usual harvest season at {name}, and why do labourers work in the dark?',
      ],
    },
    {
      heading: 'Ageing',
      told: [
        'The red rests for {number} months in barrels of Slavonian oak, a third of them new.',
        'For {number} months the red of {name} rests in barrels of Slavonian oak.',
      ],
      literal: 'How many months does the {name} red rest in barrels of Slavonian oak?',
      asked: [
        'How long is the best wine from {name} matured in oak casks before bottling?',
        'What casks does {name} use to age its best vintage, and for what period?',
      ],
    },
    {
      heading: 'Soil',
      told: [
        'The upper slope is crumbling schist over clay, which forces the roots of the vines deep down.',
        'Crumbling schist over clay on the upper slope drives the roots of the {name} vines deep down.',
      ],
      literal: 'What schist and clay lies on the upper slope of {name}?',
      asked: [
        'What kind of ground and rock do the vines at {name} grow in, geologically speaking?',
        'Describe the earth and rock beneath the rows on the hillside of {name}.',
      ],
    },
    {
      heading: 'Tastings',
      told: [
        'A tasting of six glasses costs {money} a head and takes place in the vaulted press house.',
        'In the vaulted press house of {name} a tasting of six glasses is offered for {money} a head.',
      ],
      literal: 'What does a tasting of six glasses cost a head in the press house of {name}?',
      asked: [
        'How expensive is a tasting for tourists at {name}, and in which building does this happen?',
        'We would like to try a selection from {name} on holiday; what is the price per person?',
      ],
    },
    {
      heading: 'Frost',
      told: [
        'On nights of frost in spring, {number} wind machines are started to mix the cold air with warmer layers.',
        'In spring {name} fights frost with {number} wind machines that mix the cold air with warmer layers.',
      ],
      literal: 'How many wind machines does {name} start on nights of frost in spring?',
      asked: [
        'How does {name} keep young buds safe from frost when temperatures drop below zero?',
        'What equipment guards the blossoms of {name} against an icy April dawn?',
      ],
    },
    {
      heading: 'People',
      told: [
        '{person} took over the cellar in {year} after learning the trade in Georgia.',
        'Since {year} the cellar of {name} has been run by {person}, who learned the trade in Georgia.',
      ],
      literal: 'Who took over the cellar of {name} after learning the trade in Georgia?',
      asked: [
        'Who is the winemaker responsible for the cellar at {name} these days, and what professional background brought the person there?',
        'Who is responsible for the winemaking at {name} these days?',
      ],
    },
    {
      heading: 'Shipping',
      told: [
        'Orders of {number} bottles or more are sent free of carriage within the country, packed in recycled pulp.',
        'From {number} bottles on, {name} sends orders within the country free of carriage.',
      ],
      literal: 'From how many bottles are {name} orders sent free of carriage within the country?',
      asked: [
        'How many bottles should a customer buy from {name} at once to avoid a delivery fee?',
        'When does {name} waive the postage for customers who purchase wine from home?',
      ],
    },
    {
      heading: 'Pests',
      told: [
        'Instead of spraying against moths, the estate hangs out {number} pheromone dispensers per hectare.',
        'Against moths {name} hangs out {number} pheromone dispensers per hectare instead of spraying.',
      ],
      literal: 'How many pheromone dispensers per hectare does {name} hang out against moths?',
      asked: [
        'How does {name} control moths and other harmful insects without poison or chemicals?',
        'Which organic method protects the crop at {name} from caterpillars and butterflies?',
      ],
    },
  ],
  single: [
    {
      heading: 'A find',
      told: ['While digging a drain, workers came upon a Roman mosaic of Bacchus with a leopard.'],
      literal: 'Who came upon a Roman mosaic of Bacchus while digging a drain?',
      asked: [
        'Was any Roman treasure from antiquity unearthed by accident?',
        'Was any archaeological treasure from antiquity unearthed by accident?',
      ],
    },
    {
      heading: 'Grazing',
      told: ['Dwarf sheep keep the grass short between the rows from November until the buds swell.'],
      literal: 'Which sheep keep the grass short between the rows?',
      asked: [
        'Which sheep or other livestock is used in winter as a substitute for mowing?',
        'What livestock is used in winter as a substitute for mowing?',
      ],
    },
    {
      heading: 'Corks',
      told: ['After a tainted vintage all corks were given up for glass stoppers with a silicone ring.'],
      literal: 'Why were corks given up for glass stoppers?',
      asked: [
        'What kind of closure replaced corks on bottles that had gone off?',
        'What kind of closure replaced the traditional one on bottles that had gone off?',
      ],
    },
    {
      heading: 'Label',
      told: ['The heron on the label was drawn by a blind lithographer who modelled the bird in clay first.'],
      literal: 'Who drew the heron on the label?',
      asked: ['Which blind artist designed the logo?', 'Which artist without eyesight designed the logo?'],
    },
  ],
  around: [
    'The old weighbridge still stands by the gate, though it has not been used in living memory.',
    'Swallows nest above the fermentation hall and are left in peace.',
    'A walking path with benches leads around the lower parcels.',
    'The cooper comes twice a year to check the hoops.',
    'Olive trees mark the border with the neighbouring farm.',
    'Last year was dry, and yields were modest but sound.',
    'The chapel at the top of the lane is opened on feast days.',
    'Rainwater from the roofs is led into a cistern.',
  ],
}
