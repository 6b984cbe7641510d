import { folded } from './fold.ts'

/** Languages with endings and common words of their own, by ISO 639-1. Other languages are read as English. */
export type Language = 'en' | 'de' | 'nl' | 'fr' | 'es' | 'it' | 'pt' | 'ru' | 'ar'

/** Folded, since words are compared folded. */
const setOf = (words: string): ReadonlySet<string> => new Set(words.split(/\s+/).map(folded))

/** Words of most sentences by language. A text that answers a question may lack them, and they tell its language. */
export const commonWords: Readonly<Record<Language, ReadonlySet<string>>> = {
  en: setOf(`a an and any are as at be been but by can could did do does for from had has have how i if in into is it
    its may me might must my no nor not of off on or our should so some than that the their them then there these they
    this those to was we were what when where which who whom whose why will with would you your`),
  de: setOf(`aber alle allen als also am an andere anderen auch auf aus bei beim bin bis da dabei damit dann daran darf
    darüber das dass dein dem den denn der deren des dessen die dies diese diesem diesen dieser dieses doch du durch
    ein eine einem einen einer eines er es etwas für gegen habe haben hat hatte hier ich ihm ihn ihr ihre im immer in
    ins ist ja jede jeden jeder jedes kann kein keine können man mehr mein mich mir mit muss müssen nach nicht nichts
    noch nur ob oder ohne schon sehr sein seine seinen seiner sich sie sind so soll sollen sondern über um und uns unser
    unter viel vom von vor war waren warum was weil welche welchem welchen welcher welches wem wen wenn wer werden
    wessen wie wieder wieviel will wir wird wo wohin wurde wurden zu zum zur zwischen`),
  nl: setOf(`aan als bij dat de deze die dit door dus een en er geen haar had hadden heb hebben heeft hem het hier hij
    hoe hun ik in is je kan kunnen maar me meer men met mij mijn moet na naar niet nog nu of om omdat ons ook op over
    te tegen toch tot uit van veel voor waar waarom was wat we welke wel werd wie wij wilt worden wordt ze zich zij
    zijn zo zonder zou`),
  fr: setOf(`a afin ai ainsi alors au aucun aussi autre autres aux avait avec avez avoir c ce cela ces cette ceux chaque
    comme comment d dans de depuis des doit donc dont du elle elles en entre est et être eu faut il ils j je l la
    laquelle le les leur leurs lors lui mais me même mes mon n ne ni nos notre nous on ont ou où par pas peut plus pour
    pourquoi qu quand que quel quelle quelles quels qui quoi s sa sans se ses si son sont sous sur ta te tous tout
    toute toutes tu un une vos votre vous y`),
  es: setOf(`a al algo ante antes aunque bajo cada como con cual cuales cuando cuanto de debe del desde donde dos e el
    él ella ellas ellos en entre era es esa ese eso esta está están estas este esto estos fue fueron ha hace han hasta
    hay la las le les lo los más me mi muy nada ni no nos o otra otras otro otros para pero por porque pueden puede qué
    que quien quién se sea ser si sí sin sobre son su sus también tanto te tiene tienen toda todas todo todos tu un una
    uno unos y ya yo`),
  it: setOf(`a ad ai al alla alle allo anche che chi ci come con cosa cui da dai dal dalla dalle degli dei del dell della
    delle dello deve di dove e è ed era essere fra gli ha hanno i il in io l la le lo loro ma mi ne nei nel nella nelle
    no noi non nostro o ogni per perché più può qual quale quali quando quanto quella quelle quelli quello questa
    queste questi questo se senza si sia sono sua sue sugli sul sulla suo suoi tra tutte tutti tutto un una uno vi voi`),
  pt: setOf(`a ainda ao aos as até cada com como da das de deve depois do dos e é ela elas ele eles em entre era essa
    esse esta está estas este estes eu foi foram há isso isto já la lhe mais mas me mesmo meu minha muito na não nas
    nem no nos nossa nosso o onde os ou para pela pelas pelo pelos pode podem por porque qual quais quando quanto que
    quem se seja sem ser seu seus só sobre sua suas são também tem têm tinha toda todas todo todos tu um uma você`),
  ru: setOf(`а без более бы был была были было быть в вам вас весь во вот все всего всех вы где да для до его ее если
    есть еще же за здесь и из или им их к каждый как какая какие какой ко когда кто куда ли между меня мне может мы на
    над нам нас не него нет ни но ну о об один он она они оно от очень по под после почему при с сам свои себя сколько
    со так также такой там то того тоже только том ты у уже чего чем через что чтобы эта эти это этого этой этот я`),
  ar: setOf(`في من على إلى الى عن أن إن ان ما لا هو هي هم هذا هذه ذلك تلك التي الذي الذين كان كانت يكون قد لم لن كل بعد قبل
    بين مع أو او ثم حتى إذا اذا هل كيف متى أين ماذا لماذا كم عند غير لكل له لها وفي ومن وعلى ولا وأن كما لكن`),
}
