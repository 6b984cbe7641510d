/** The letters beyond ASCII that identify a language: all of them, the most frequent first. */
export interface Alphabet {
  readonly script: 'latin' | 'other' | 'wide'
  /** The letters of the language. */
  readonly letters: ReadonlySet<string>
  /** The letters that make up most of a text. */
  readonly frequent: ReadonlySet<string>
}

const alphabet = (script: Alphabet['script'], letters: string, frequent = letters): Alphabet => ({
  script,
  letters: new Set(letters + letters.toUpperCase()),
  frequent: new Set(frequent),
})

const latin = (letters: string) => alphabet('latin', letters)

export const german = latin('äöüß')
export const french = latin('éèêàçùûôîïëâœæ')
export const iberian = latin('ñáéíóúüãõçâêôàïèò')
export const italian = latin('àèéìòù')
export const nordic = latin('åäöøæé')
export const icelandic = latin('áéíóúýþæöð')
export const polish = latin('ąćęłńóśźż')
export const czech = latin('áčďéěíňóřšťúůýžľĺŕäô')
export const hungarian = latin('áéíóöőúüű')
export const romanian = latin('ăâîșțşţ')
export const croatian = latin('čćđšž')
export const turkish = latin('çğıöşüİâî')
export const lithuanian = latin('ąčęėįšųūž')
export const latvian = latin('āčēģīķļņšūž')
export const estonian = latin('äöõüšž')
export const vietnamese = latin('ăâđêôơưàáãèéêìíòóõùúýạảấầẩẫậắằẳẵặẹẻẽếềểễệỉịọỏốồổỗộớờởỡợụủứừửữựỳỵỷỹ')

const other = (letters: string, frequent: string) => alphabet('other', letters, frequent)

export const russian = other('абвгдеёжзийклмнопрстуфхцчшщъыьэюя', 'оеаинтсрвлкмдпуыя')
export const ukrainian = other('абвгґдеєжзиіїйклмнопрстуфхцчшщьюя', 'оанівиертскдлупм')
export const greek = other('αβγδεζηθικλμνξοπρσςτυφχψωάέήίόύώϊϋΐΰ', 'αοιετσνηυρπκμλςωάίό')
export const hebrew = other('אבגדהוזחטיךכלםמןנסעףפץצקרשת', 'יוהלאתרשמבנםד')
export const arabic = other('ءآأؤإئابةتثجحخدذرزسشصضطظعغفقكلمنهوىي', 'اليمنوترةبعدسهفكأ')
export const persian = other('ءآأؤئابپتثجچحخدذرزژسشصضطظعغفقکگلمنهویيك', 'اینردهموتسشبکگ')
export const thai = other('กขคฆงจฉชซฌญฎฏฐฑฒณดตถทธนบปผฝพฟภมยรลวศษสหฬอฮฯะัาำิีึืฺุูเแโใไๅๆ็่้๊๋์ํ', 'านรอกเงมยลวดทสตะัี่้ปบคแหไ')

/** Scripts with too many letters for a list: the frequent ones alone tell the language. */
const wide = (frequent: string) => alphabet('wide', '', frequent)

export const simplified = wide(
  '的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年过发后作里用道行所然家种事成方多经么去法学如都同现当没动面起看定天分还进好小部其些主样理心她本前开但因只从想实',
)
export const traditional = wide(
  '的一是不了在人有我他這個們中來上大為和國地到以說時要就出會可也你對生能而子那得於著下自之年過發後作裡用道行所然家種事成方多經麼去法學如都同現當沒動面起看定天分還進好小部其些主樣理心她本前開但因只從想實',
)
export const korean = wide(
  '이다는을의에가고하지은로도를사기아리한인어서자대그나시으정일해들부전수제보적과라있었니만게여면습무장안주국년성공상구신우오방화문',
)
export const japanese = wide(
  'あいうえおかがきぎくぐけげこごさざしじすずせぜそぞただちっつづてでとどなにぬねのはばぱひびふぶへべほぼまみむめもやゃゆゅよょらりるれろわをんアイウエオカガキギクグケゲコゴサザシジスズセタダチッツテデトドナニネノハバパヒビピフブプヘベペホボポマミムメモヤャユュヨョラリルレロワヴンー',
)
